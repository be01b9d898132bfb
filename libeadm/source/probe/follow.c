// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Follows the probe: new records are copied periodically. The kernel overwrites records
 * that are not read, so a stalled reader does not affect it; the numbers of the next
 * records show how many the reader missed.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/root.h"
#include "eadm_nl.h"
#include "follow.h"
#include "model/fields.h"
#include "row.h"
#include "source/message.h"

#define INTERVAL_NS 100000000

struct follow {
	struct eadm_stream stream;
	struct eadm_answer answer;	/* from pos on: not returned yet */
	size_t pos;
	struct eadm_probe_view view;
	bool calls, whole;		/* calls: not events; whole: existing records, too */
	uint64_t *from;			/* next record of each CPU */
	uint64_t last[EADM_PROBE_DEVS];	/* last number returned for each device */
};

static uint64_t number_of(const struct follow *f,
			  const struct eadm_probe_dev *cell)
{
	return f->calls ? cell->calls : cell->events;
}

/*
 * Returns the number of records of this kind that were overwritten since the previous
 * one.
 */
static uint64_t missed(struct follow *f, const struct eadm_probe_rec *rec)
{
	uint64_t *last = &f->last[rec->dev & (EADM_PROBE_DEVS - 1)];
	uint64_t n;

	if (!rec->seq)
		return 0;
	/* The cell is now used by a different device. */
	if (rec->seq <= *last)
		*last = 0;
	n = rec->seq - *last - 1;
	*last = rec->seq;
	return n;
}

static void put(struct follow *f, const struct eadm_probe_rec *rec)
{
	struct eadm_answer *answer = &f->answer;
	uint64_t lost = missed(f, rec);
	size_t at = answer->out.len;

	if (f->calls)
		eadm_probe_put_call(&f->view, answer, rec);
	else
		eadm_probe_put_event(&f->view, answer, rec, 0);
	if (!lost)
		return;
	if (f->calls)
		eadm_probe_put_u64(answer, EADM_A_CMD_LOST, lost);
	else
		eadm_message_put_u32(&answer->out, EADM_A_EVENT_LOST, lost);
	eadm_message_end(&answer->out, at);
}

/* Late records stay in the list until the next refill. */
static int refill(struct follow *f)
{
	struct eadm_probe_list *list = &f->view.list;
	size_t i, k;
	int ret;

	f->answer.out.len = f->pos = 0;
	ret = eadm_probe_view_begin(&f->view);
	if (!ret)
		ret = eadm_probe_copy(&f->view.maps, f->from, list);
	if (ret)
		return ret;
	eadm_probe_view_sort(&f->view);
	for (i = k = 0; i < list->n; i++) {
		if ((list->rec[i].kind == EADM_PROBE_CALL) != f->calls)
			continue;
		if (eadm_probe_view_is_late(&f->view, &list->rec[i]))
			list->rec[k++] = list->rec[i];
		else
			put(f, &list->rec[i]);
	}
	list->n = k;
	return f->answer.out.fail ? -ENOMEM : 0;
}

static int follow_next(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct follow *f = (struct follow *)stream;
	const struct nlmsghdr *nlh;
	uint64_t times;
	int ret;

	if (f->pos == f->answer.out.len) {
		if (read(stream->fd, &times, sizeof(times)) < 0)
			return errno == EAGAIN || errno == EINTR ? -EAGAIN :
								   -errno;
		ret = refill(f);
		if (ret)
			return eadm_fail(f->answer.ctx, ret, "out of memory");
		/* If the probe was stopped, no more records follow. */
		if (f->answer.out.len == 0)
			return eadm_root_access(f->answer.ctx, F_OK,
						EADM_PROBE_DIR "/info") ?
				       eadm_fail(f->answer.ctx, -ENODEV,
						 "the probe was stopped") :
				       -EAGAIN;
	}
	nlh = (const void *)(f->answer.out.p + f->pos);
	*chunk = (struct eadm_chunk){
		.data = nlh, .len = nlh->nlmsg_len,
		.time = eadm_now(f->answer.ctx),
	};
	f->pos += NLMSG_ALIGN(nlh->nlmsg_len);
	return 1;
}

static void follow_end(struct eadm_stream *stream)
{
	struct follow *f = (struct follow *)stream;

	if (stream->fd >= 0)
		close(stream->fd);
	eadm_probe_view_close(&f->view);
	free(f->answer.out.p);
	free(f->from);
	free(f);
}

static const struct eadm_stream_ops follow_ops = {
	.next = follow_next,
	.end = follow_end,
};

static int start(struct follow *f)
{
	const struct itimerspec interval = {
		.it_interval.tv_nsec = INTERVAL_NS,
		.it_value.tv_nsec = INTERVAL_NS,
	};
	struct eadm_probe_maps *maps = &f->view.maps;
	struct eadm_probe_cpu *cpus;
	unsigned int i;
	int ret;

	f->stream.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (f->stream.fd < 0 ||
	    timerfd_settime(f->stream.fd, 0, &interval, NULL))
		return -errno;
	f->from = calloc(maps->info.cpus, sizeof(*f->from));
	if (!f->from)
		return -ENOMEM;
	if (f->whole)
		return 0;
	/* Read the numbers first: records added in between are new and are shown. */
	ret = eadm_probe_view_begin(&f->view);
	for (i = 0; !ret && i < EADM_PROBE_DEVS; i++)
		f->last[i] = number_of(f, &f->view.limit[i]);
	cpus = calloc(maps->info.cpus, sizeof(*cpus));
	if (!ret)
		ret = cpus ? eadm_probe_copy_cpus(maps, cpus) : -ENOMEM;
	for (i = 0; !ret && i < maps->info.cpus; i++)
		f->from[i] = cpus[i].head;
	free(cpus);
	return ret;
}

/* Follow calls or events, depending on the query's command. */
int eadm_probe_follow(struct eadm_ctx *ctx, const struct eadm_query *query,
		      uint32_t seq, struct eadm_stream **stream)
{
	struct follow *f = calloc(1, sizeof(*f));
	int ret;

	if (!f)
		return eadm_oom(ctx);
	f->stream = (struct eadm_stream){ .ops = &follow_ops, .seq = seq,
					  .fd = -1 };
	f->answer = (struct eadm_answer){ .ctx = ctx, .type = query->type,
					  .cmd = query->cmd, .seq = seq };
	f->whole = query->n_args;
	f->calls = query->cmd == eadm_spec_objects[EADM_SPEC_OBJ_CMD].cmd;
	ret = eadm_probe_view_open(ctx, &f->view);
	if (!ret)
		ret = start(f);
	if (ret) {
		follow_end(&f->stream);
		return eadm_fail(ctx, ret, "cannot read the probe's records");
	}
	*stream = &f->stream;
	return 0;
}
