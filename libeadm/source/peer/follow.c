// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Follows the flight recorder of a program: new records are requested periodically, as
 * with the probe. The program overwrites records that are not read and reports the number
 * of lost records; a stalled reader does not affect the program.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "eadm_nl.h"
#include "follow.h"
#include "model/attr.h"

#define INTERVAL_NS 100000000

struct peer_follow {
	struct eadm_stream stream;
	struct eadm_ctx *ctx;
	struct eadm_link *link;
	struct eadm_query query;	/* request for records from a number on */
	uint64_t from;
	struct eadm_stream *answer;	/* NULL: to be requested at the next period */
	struct eadm_chunk chunk;	/* chunk of the response; used up to pos */
	size_t pos;
};

/* ---- records ------------------------------------------------------------------ */

struct numbers {
	uint64_t seq;
	bool pending;
};

/* Returns false if the message is not a record. */
static bool numbers_of(const struct nlmsghdr *nlh, struct numbers *numbers)
{
	struct eadm_attrs attrs = eadm_attr_msg(nlh, GENL_HDRLEN);
	const struct nlattr *attr;
	uint64_t value;

	*numbers = (struct numbers){ 0 };
	while (eadm_attr_next(&attrs, &attr) > 0) {
		if (eadm_attr_len(attr) != 4 && eadm_attr_len(attr) != 8)
			continue;
		value = eadm_load(eadm_attr_data(attr), eadm_attr_len(attr));
		if (eadm_attr_type(attr) == EADM_A_CMD_SEQ)
			numbers->seq = value;
		else if (eadm_attr_type(attr) == EADM_A_CMD_STATE)
			numbers->pending = value == EADM_CMD_STATE_PENDING;
	}
	return numbers->seq;
}

/* Returns the next complete message of a chunk, or NULL. */
static const struct nlmsghdr *next_message(struct peer_follow *f)
{
	size_t left = f->chunk.len - f->pos;
	const struct nlmsghdr *nlh;

	nlh = (const void *)((const char *)f->chunk.data + f->pos);
	if (left < NLMSG_HDRLEN || nlh->nlmsg_len < NLMSG_HDRLEN ||
	    nlh->nlmsg_len > left)
		return NULL;
	f->pos += NLMSG_ALIGN(nlh->nlmsg_len) < left ?
			  NLMSG_ALIGN(nlh->nlmsg_len) : left;
	return nlh;
}

static int ask(struct peer_follow *f)
{
	f->query.args[1].u = f->from;
	f->chunk.len = f->pos = 0;
	return eadm_link_query(f->link, &f->query, f->stream.seq, &f->answer);
}

/* If a program that could be reached before no longer has its socket, it has exited. */
static int ended(const struct peer_follow *f, int err)
{
	if (err != -ECONNRESET && err != -ECONNREFUSED && err != -ENOENT)
		return err;
	return eadm_fail(f->ctx, -ENODEV, "%s: the program has exited",
			 eadm_link_path(f->link));
}

static void end_answer(struct peer_follow *f)
{
	if (f->answer)
		f->answer->ops->end(f->answer);
	f->answer = NULL;
}

/*
 * Sets *record to the next record of the response, NULL at its end; or returns an error.
 * The program has at most one command in progress, which is the last record: it is
 * returned once the command has ended.
 */
static int next_record(struct peer_follow *f, const struct nlmsghdr **record)
{
	const struct nlmsghdr *nlh;
	struct numbers numbers;
	int ret;

	for (;;) {
		nlh = next_message(f);
		if (!nlh) {
			f->pos = 0;
			ret = f->answer->ops->next(f->answer, &f->chunk);
			if (ret > 0)
				continue;
			f->chunk.len = 0;
			*record = NULL;
			return ret;
		}
		*record = nlh;
		if (nlh->nlmsg_type == NLMSG_ERROR)
			return 0;
		if (nlh->nlmsg_type != f->query.type ||
		    !numbers_of(nlh, &numbers) || numbers.pending ||
		    numbers.seq < f->from)
			continue;
		f->from = numbers.seq + 1;
		return 0;
	}
}

static int follow_next(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct peer_follow *f = (struct peer_follow *)stream;
	const struct nlmsghdr *nlh;
	uint64_t times;
	int ret;

	if (!f->answer) {
		if (read(stream->fd, &times, sizeof(times)) < 0)
			return errno == EAGAIN || errno == EINTR ? -EAGAIN :
								   -errno;
		ret = ask(f);
		if (ret)
			return ended(f, ret);
	}
	ret = next_record(f, &nlh);
	if (ret || !nlh) {
		end_answer(f);
		return ret ? ended(f, ret) : -EAGAIN;
	}
	*chunk = (struct eadm_chunk){
		.data = nlh, .len = nlh->nlmsg_len, .time = f->chunk.time,
	};
	return 1;
}

/* ---- life ------------------------------------------------------------------------ */

/* Find the number of the next record, or that of the command in progress. */
static int find_end(struct peer_follow *f)
{
	const struct nlmsghdr *nlh;
	int ret;

	eadm_query_arg(&f->query, EADM_A_CMD_FIELDS, EADM_ARG_U64,
		       1ULL << EADM_A_CMD_SEQ | 1ULL << EADM_A_CMD_STATE, NULL,
		       false);
	ret = ask(f);
	/* Errors are reported when records are requested. */
	do {
		if (!ret)
			ret = next_record(f, &nlh);
	} while (!ret && nlh && nlh->nlmsg_type != NLMSG_ERROR);
	end_answer(f);
	f->query.n_args--;
	/* Record numbers begin at 1. */
	if (!f->from)
		f->from = 1;
	return ret;
}

static void follow_end(struct eadm_stream *stream)
{
	struct peer_follow *f = (struct peer_follow *)stream;

	end_answer(f);
	if (stream->fd >= 0)
		close(stream->fd);
	eadm_link_put(f->link);
	free(f);
}

static const struct eadm_stream_ops follow_ops = {
	.next = follow_next,
	.end = follow_end,
};

int eadm_peer_follow(struct eadm_ctx *ctx, struct eadm_link *link,
		     const struct eadm_query *query, uint32_t seq,
		     struct eadm_stream **stream)
{
	const struct itimerspec interval = {
		.it_interval.tv_nsec = INTERVAL_NS, .it_value.tv_nsec = 1,
	};
	struct peer_follow *f = calloc(1, sizeof(*f));
	int ret = 0;

	if (!f)
		return eadm_oom(ctx);
	f->stream = (struct eadm_stream){ .ops = &follow_ops, .seq = seq };
	f->ctx = ctx;
	f->link = eadm_link_get(link);
	f->query = *query;
	f->query.n_args = 1;
	eadm_query_arg(&f->query, EADM_A_CMD_FROM_SEQ, EADM_ARG_U64, 0, NULL,
		       false);
	f->stream.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (f->stream.fd < 0 ||
	    timerfd_settime(f->stream.fd, 0, &interval, NULL))
		ret = eadm_fail(ctx, -errno, "timer: %s", strerror(errno));
	if (!ret && query->n_args == 1)
		ret = find_end(f);
	if (ret)
		follow_end(&f->stream);
	else
		*stream = &f->stream;
	return ret;
}
