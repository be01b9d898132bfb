// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "eadm test server": sends messages back, and provides memory for writes and reads. It
 * uses a single thread; slow or vanished clients do not affect other clients.
 */
#include "../signals.h"
#include "server.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- connections --------------------------------------------------------------------- */

/* Adds a connection before it is established. Returns NULL if out of memory. */
struct link *server_add(struct server *s)
{
	struct link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->setup = s->test->setup;
	link->fd = -1;
	link->next = s->links;
	s->links = link;
	s->n_links++;
	return link;
}

void server_drop(struct server *s, struct link *link)
{
	struct link **at = &s->links;
	char text[INET6_ADDRSTRLEN];

	while (*at != link)
		at = &(*at)->next;
	if (link->why[0]) {
		s->failures++;
		note(s->test->cli, "%s: %s",
		     address_text(&link->peer, text, sizeof(text)), link->why);
	}
	s->messages += link->messages;
	s->bytes += link->bytes;
	*at = link->next;
	s->n_links--;
	if (link->last && s->test->cli->args.opt[OPT_ONCE])
		s->leave = true;
	s->test->setup->release(link);
	free(link);
}

/* Merge the path of a connection into the path that the server's rows show. */
void server_path(struct server *s, const struct path *path)
{
	s->connections++;
	path_merge(&s->path, path);
}

/* ---- messages -------------------------------------------------------------------------- */

/*
 * Send back received messages in order. The receive is posted again first: the client
 * sends its next message as soon as it has the response, and if no receive is posted by
 * then, the client's adapter waits up to 655 ms.
 */
static int send_back(struct link *link)
{
	uint32_t slot;

	for (; link->n_held; link->n_held--) {
		slot = link->held[link->first_held].slot;
		/* Try again when the completion of the previous reply arrives. */
		if (link->sending[slot])
			return 0;
		memcpy(link_send_place(link, slot), link_recv_place(link, slot),
		       link->held[link->first_held].len);
		link->sending[slot] = true;
		if (link_post_recv(link, slot) ||
		    link_post_send(link, link_send_place(link, slot),
				   link->held[link->first_held].len, slot))
			return -1;
		link->first_held = (link->first_held + 1) % TEST_MAX_DEPTH;
	}
	return 0;
}

/* @held cannot overflow: there are never more messages than receives. */
static int take(struct link *link, const struct ibv_wc *wc)
{
	unsigned int last = (link->first_held + link->n_held) % TEST_MAX_DEPTH;

	link->messages++;
	link->bytes += wc->byte_len;
	link->held[last].slot = wc->wr_id;
	link->held[last].len = wc->byte_len;
	link->n_held++;
	return send_back(link);
}

static int sent(struct link *link, const struct ibv_wc *wc)
{
	link->sending[wc->wr_id] = false;
	return send_back(link);
}

/* A flushed work request is not an error: the connection has ended. */
static bool is_over(struct link *link, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		return false;
	if (wc->status != IBV_WC_WR_FLUSH_ERR)
		link_fail(link, "%s (syndrome %#x)",
			  verbs.ibv_wc_status_str(wc->status), wc->vendor_err);
	return true;
}

static void drain(struct link *link)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(link->send_cq, 1, &wc);
		if (n > 0 && (is_over(link, &wc) || sent(link, &wc)))
			return;
		if (n)
			continue;
		n = ibv_poll_cq(link->recv_cq, 1, &wc);
		if (n > 0 && (is_over(link, &wc) || take(link, &wc)))
			return;
	} while (n > 0);
}

static void on_completion(struct link *link)
{
	struct ibv_cq *cq;
	void *context;
	int i;

	for (i = 0; i < 2; i++) {
		struct pollfd pfd = { .events = POLLIN };

		cq = i ? link->recv_cq : link->send_cq;
		pfd.fd = cq->channel->fd;
		if (poll(&pfd, 1, 0) > 0 &&
		    !verbs.ibv_get_cq_event(cq->channel, &cq, &context))
			verbs.ibv_ack_cq_events(cq, 1);
		if (ibv_req_notify_cq(i ? link->recv_cq :
					  link->send_cq, 0))
			link_fail(link, "requesting completion events failed: %s",
				  strerror(errno));
	}
	/* Drain the queues after arming, so that later messages raise an event. */
	drain(link);
}

static int channel_fd(const struct ibv_cq *cq)
{
	return cq ? cq->channel->fd : -1;
}

static void serve(struct server *s)
{
	const struct setup *setup = s->test->setup;
	struct pollfd fds[1 + 3 * MAX_LINKS], *of;
	struct link *link, *at[MAX_LINKS];
	unsigned int n, i;
	int wait;

	while (!s->leave && !interrupted) {
		/* This may drop connections. */
		wait = setup->wait_ms ? setup->wait_ms(s) : -1;
		fds[0] = (struct pollfd){ setup->events_fd(s), POLLIN, 0 };
		for (n = 0, link = s->links; link; link = link->next, n++) {
			at[n] = link;
			of = &fds[1 + 3 * n];
			of[0] = (struct pollfd){ channel_fd(link->recv_cq), POLLIN, 0 };
			of[1] = (struct pollfd){ channel_fd(link->send_cq), POLLIN, 0 };
			of[2] = (struct pollfd){ link->fd, POLLIN, 0 };
		}
		if (poll(fds, 1 + 3 * n, wait) < 0)
			continue;
		for (i = 0; i < n; i++) {
			of = &fds[1 + 3 * i];
			if (of[0].revents || of[1].revents)
				on_completion(at[i]);
			/* This comes last, because it may destroy the connection. */
			if (of[2].revents)
				setup->on_peer(s, at[i]);
		}
		/* This may also destroy connections. */
		if (fds[0].revents)
			setup->on_event(s);
	}
}

/* ---- entry point ------------------------------------------------------------------------- */

/*
 * Report the numbers of connections and messages as rows; failures are counted per
 * connection.
 */
static int tell(struct server *s)
{
	struct result results[] = {
		{ .test = "connections", .count = s->connections,
		  .path = &s->path, .setup = s->test->setup->key },
		{ .test = "messages", .count = s->messages,
		  .size = s->bytes, .path = &s->path,
		  .setup = s->test->setup->key },
	};
	struct table table = { 0 };
	char why[60];
	int status;
	size_t i;

	snprintf(why, sizeof(why), "%llu failed",
		 (unsigned long long)s->failures);
	if (s->failures)
		results[0].why = why;
	status = report_begin(s->test->cli, &table);
	for (i = 0; !status && i < ARRAY_SIZE(results); i++)
		report_result(s->test->cli, &results[i]);
	status = write_end(s->test->cli, s->failures ? STATUS_FAILED : status);
	columns_free(&table);
	return status;
}

int test_server(struct test *test)
{
	struct server s = { .test = test, .socket = -1 };
	int status = test->setup->listen(&s);

	if (!status) {
		serve(&s);
		while (s.links)
			server_drop(&s, s.links);
		status = tell(&s);
	}
	test->setup->close(&s);
	return status;
}
