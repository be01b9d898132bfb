// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of several sources as one stream, whose descriptor is an epoll instance. The
 * instance includes a timer to detect programs that are started later.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "link.h"
#include "news.h"

#define LOOK_SECONDS 1

struct part {
	struct eadm_stream *stream;
	struct eadm_link *link;		/* NULL: the kernel */
};

struct news {
	struct eadm_stream stream;
	struct eadm_found *found;
	struct eadm_ctx *ctx;
	struct eadm_query query;
	int timer;
	struct part parts[1 + EADM_MAX_PROGRAMS];
	unsigned int n, turn;
};

static int watch(const struct news *news, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(news->stream.fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static bool is_part(const struct news *news, const struct eadm_link *link)
{
	unsigned int i;

	for (i = 0; i < news->n; i++) {
		if (news->parts[i].link == link)
			return true;
	}
	return false;
}

static void add_program(struct news *news, struct eadm_link *link)
{
	struct part *part = &news->parts[news->n];

	if (eadm_link_listen(link, &news->query, news->stream.seq, &part->stream) ||
	    watch(news, part->stream->fd)) {
		if (part->stream)
			part->stream->ops->end(part->stream);
		part->stream = NULL;
		eadm_log(news->ctx, EADM_LOG_WARNING, "left out: %s", news->ctx->errmsg);
		return;
	}
	part->link = eadm_link_get(link);
	news->n++;
}

static void look(struct news *news)
{
	unsigned int i, n = eadm_found_look(news->found);
	struct eadm_link *link;

	for (i = 0; i < n && news->n < EADM_ARRAY_SIZE(news->parts); i++) {
		link = eadm_found_link(news->found, i);
		if (!is_part(news, link))
			add_program(news, link);
	}
}

static void remove_part(struct news *news, unsigned int i)
{
	struct part *part = &news->parts[i];

	/* Closing the descriptor removes it from the epoll instance. */
	part->stream->ops->end(part->stream);
	if (part->link)
		eadm_link_put(part->link);
	memmove(part, part + 1, (--news->n - i) * sizeof(*part));
	news->parts[news->n] = (struct part){ 0 };
}

/* Sources take turns, so that none of them delays the others. */
static int news_next(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct news *news = (struct news *)stream;
	unsigned int tried = 0, i;
	struct part *part;
	uint64_t expired;
	int ret;

	if (read(news->timer, &expired, sizeof(expired)) > 0)
		look(news);
	while (tried < news->n) {
		i = news->turn++ % news->n;
		part = &news->parts[i];
		ret = part->stream->ops->next(part->stream, chunk);
		if (ret > 0 || ret == -ENOBUFS || (ret != -EAGAIN && !part->link))
			return ret;
		if (ret == -EAGAIN) {
			tried++;
			continue;
		}
		eadm_log(news->ctx, EADM_LOG_WARNING, "left out: %s", news->ctx->errmsg);
		remove_part(news, i);
	}
	return -EAGAIN;
}

static void news_end(struct eadm_stream *stream)
{
	struct news *news = (struct news *)stream;

	while (news->n)
		remove_part(news, news->n - 1);
	if (news->timer >= 0)
		close(news->timer);
	if (stream->fd >= 0)
		close(stream->fd);
	free(news);
}

static const struct eadm_stream_ops news_ops = {
	.next = news_next,
	.end = news_end,
};

static int begin(struct news *news)
{
	const struct itimerspec often = {
		.it_interval.tv_sec = LOOK_SECONDS, .it_value.tv_sec = LOOK_SECONDS,
	};
	int ret;

	news->stream.fd = epoll_create1(EPOLL_CLOEXEC);
	news->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (news->stream.fd < 0 || news->timer < 0 ||
	    timerfd_settime(news->timer, 0, &often, NULL))
		return -errno;
	ret = watch(news, news->timer);
	return ret || !news->n ? ret : watch(news, news->parts[0].stream->fd);
}

int eadm_news_listen(struct eadm_found *found, const struct eadm_query *query, uint32_t seq,
		     struct eadm_stream *first, struct eadm_stream **stream)
{
	struct eadm_ctx *ctx = eadm_found_ctx(found);
	struct news *news = calloc(1, sizeof(*news));
	int ret;

	if (!news) {
		if (first)
			first->ops->end(first);
		return eadm_oom(ctx);
	}
	news->stream = (struct eadm_stream){ .ops = &news_ops, .seq = seq, .fd = -1 };
	news->found = found;
	news->ctx = ctx;
	news->query = *query;
	news->timer = -1;
	news->parts[0].stream = first;
	news->n = first ? 1 : 0;
	ret = begin(news);
	if (ret) {
		news_end(&news->stream);
		return eadm_fail(ctx, ret, "events: %s", strerror(-ret));
	}
	look(news);
	*stream = &news->stream;
	return 0;
}
