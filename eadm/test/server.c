// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "eadm test server": sends messages back, and offers memory for writes and
 * reads. A single thread; slow or vanished clients do not affect the others.
 */
#include "../signals.h"
#include "test.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINKS 64

struct server {
	struct test *test;
	struct rdma_cm_id *listener;
	struct link *links;
	unsigned int n_links;
	uint64_t connections, messages, bytes, failures;
	struct path path;	/* what is the same for all connections */
	bool leave;
};

/* ---- connections --------------------------------------------------------------------- */

static struct link **find(struct server *s, const struct rdma_cm_id *id)
{
	struct link **at = &s->links;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static void drop(struct server *s, struct link **at)
{
	struct link *link = *at;
	char text[INET6_ADDRSTRLEN];

	if (!link)
		return;
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
	link_release(link);
	free(link);
}

/* The reason to refuse a connection request; NULL: none. */
static const char *refuse(const struct server *s,
			  const struct rdma_cm_event *event)
{
	const struct hello *hello = event->param.conn.private_data;
	const char *wanted = s->test->cli->args.opt[OPT_DEVICE];

	if (event->param.conn.private_data_len < sizeof(*hello) ||
	    ntohl(hello->magic) != TEST_MAGIC)
		return "not an 'eadm test client'";
	if (ntohs(hello->version) != TEST_VERSION)
		return "a client of another version";
	if (!hello->size || ntohl(hello->size) > TEST_MAX_SIZE ||
	    !hello->depth || ntohs(hello->depth) > TEST_MAX_DEPTH)
		return "the client requests too much";
	if (wanted && strcmp(wanted, event->id->verbs->device->name) != 0)
		return "through another device";
	return s->n_links == MAX_LINKS ? "too many clients at once" : NULL;
}

static int accept_link(struct link *link)
{
	struct welcome welcome = {
		.magic = htonl(TEST_MAGIC),
		.rkey = htonl(link->mr->rkey),
		.addr = htobe64((uintptr_t)link_shared_place(link)),
		.len = htonl(link->size),
	};
	struct rdma_conn_param param = {
		.private_data = &welcome,
		.private_data_len = sizeof(welcome),
		.responder_resources = 1,
		.initiator_depth = 1,
		.rnr_retry_count = 7,
	};

	/* Before the client may send: what came before arming raises no event. */
	if (ibv_req_notify_cq(link->id->recv_cq, 0))
		return link_fail(link, "arm: %s", strerror(errno));
	if (cm.rdma_accept(link->id, &param))
		return link_fail(link, "accept: %s", strerror(errno));
	return 0;
}

static void on_request(struct server *s, struct rdma_cm_event *event)
{
	const struct hello *hello = event->param.conn.private_data;
	const char *why = refuse(s, event);
	struct rdma_cm_id *id = event->id;
	char text[INET6_ADDRSTRLEN];
	struct link *link;
	struct path path;

	link = why ? NULL : calloc(1, sizeof(*link));
	if (!link) {
		struct sockaddr_storage peer = { 0 };

		memcpy(&peer, &id->route.addr.dst_addr,
		       sizeof(id->route.addr.dst_storage));
		note(s->test->cli, "%s: refused: %s",
		     address_text(&peer, text, sizeof(text)),
		     why ? why : "out of memory");
		cm.rdma_reject(id, NULL, 0);
		cm.rdma_ack_cm_event(event);
		cm.rdma_destroy_id(id);
		return;
	}
	memcpy(&link->peer, &id->route.addr.dst_addr,
	       sizeof(id->route.addr.dst_storage));
	link->last = hello->last != 0;
	link->next = s->links;
	s->links = link;
	s->n_links++;
	s->connections++;
	path_of(&path, id);
	path_merge(&s->path, &path);
	/* An unacknowledged event may keep the ID from being destroyed: ack it first. */
	if (link_make(link, id, ntohl(hello->size), ntohs(hello->depth))) {
		cm.rdma_reject(id, NULL, 0);
	} else {
		accept_link(link);
	}
	cm.rdma_ack_cm_event(event);
	if (link->why[0])
		drop(s, find(s, id));
}

static void on_event(struct server *s)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct link **at;

	if (cm.rdma_get_cm_event(s->test->channel, &event))
		return;
	id = event->id;
	type = event->event;
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		on_request(s, event);
		return;
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		cm.rdma_ack_cm_event(event);
		return;
	case RDMA_CM_EVENT_DISCONNECTED:
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		if (id == s->listener)
			s->leave = true;
		/* fall through */
	default:
		at = find(s, id);
		if (*at)
			link_fail(*at, "%s", cm.rdma_event_str(type));
		break;
	}
	cm.rdma_ack_cm_event(event);
	at = find(s, id);
	if (*at && type == RDMA_CM_EVENT_DISCONNECTED)
		cm.rdma_disconnect(id);
	drop(s, at);
}

/* ---- messages -------------------------------------------------------------------------- */

/*
 * Send back what was received, in its order. The receive is posted again first:
 * the client sends its next message as soon as it has the answer, and must not
 * find a receiver that is not ready, for which its adapter waits up to 655 ms.
 */
static int send_back(struct link *link)
{
	uint32_t slot;

	for (; link->n_held; link->n_held--) {
		slot = link->held[link->first_held].slot;
		/* Its completion comes, and this is tried again. */
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

/* There are no more messages than receives. */
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

/* Flushed work requests only mean that the connection is over. */
static bool is_over(struct link *link, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		return false;
	if (wc->status != IBV_WC_WR_FLUSH_ERR)
		link_fail(link, "%s (syndrome %#x)",
			  cm.ibv_wc_status_str(wc->status), wc->vendor_err);
	return true;
}

static void drain(struct link *link)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(link->id->send_cq, 1, &wc);
		if (n > 0 && (is_over(link, &wc) || sent(link, &wc)))
			return;
		if (n)
			continue;
		n = ibv_poll_cq(link->id->recv_cq, 1, &wc);
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

		cq = i ? link->id->recv_cq : link->id->send_cq;
		pfd.fd = cq->channel->fd;
		if (poll(&pfd, 1, 0) > 0 &&
		    !cm.ibv_get_cq_event(cq->channel, &cq, &context))
			cm.ibv_ack_cq_events(cq, 1);
		if (ibv_req_notify_cq(i ? link->id->recv_cq :
					  link->id->send_cq, 0))
			link_fail(link, "arm: %s", strerror(errno));
	}
	/* After arming, so that whatever arrives later raises an event. */
	drain(link);
}

static void serve(struct server *s)
{
	struct pollfd fds[1 + 2 * MAX_LINKS];
	struct link *link, *at[MAX_LINKS];
	unsigned int n, i;

	while (!s->leave && !interrupted) {
		fds[0] = (struct pollfd){ s->test->channel->fd, POLLIN, 0 };
		for (n = 0, link = s->links; link; link = link->next, n++) {
			at[n] = link;
			fds[1 + 2 * n] = (struct pollfd){
				link->id->recv_cq_channel->fd, POLLIN, 0 };
			fds[2 + 2 * n] = (struct pollfd){
				link->id->send_cq_channel->fd, POLLIN, 0 };
		}
		if (poll(fds, 1 + 2 * n, -1) < 0)
			continue;
		for (i = 0; i < n; i++) {
			if (fds[1 + 2 * i].revents || fds[2 + 2 * i].revents)
				on_completion(at[i]);
		}
		/* Last, because connections are destroyed here. */
		if (fds[0].revents)
			on_event(s);
	}
}

/* ---- the whole --------------------------------------------------------------------------- */

static bool is_local(const struct sockaddr_storage *addr)
{
	struct sockaddr_storage any_port = *addr;
	int fd = socket(addr->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool local;

	if (addr->ss_family == AF_INET)
		((struct sockaddr_in *)&any_port)->sin_port = 0;
	else
		((struct sockaddr_in6 *)&any_port)->sin6_port = 0;
	local = fd >= 0 && !bind(fd, (struct sockaddr *)&any_port,
				 sizeof(any_port));
	if (fd >= 0)
		close(fd);
	return local;
}

static int cannot_listen(const struct test *t,
			 const struct sockaddr_storage *addr, int error)
{
	bool not_found = error == ENODEV || error == EADDRNOTAVAIL;

	/*
	 * If one of the two listeners uses all addresses, the RDMA CM returns
	 * EADDRNOTAVAIL even for a port in use.
	 */
	if (error == EADDRNOTAVAIL && is_local(addr)) {
		error = EADDRINUSE;
		not_found = false;
	}
	return fail(t->cli, not_found ? STATUS_NOT_FOUND : STATUS_FAILED,
		    t->bind ? t->bind : "listen", "%s", error == ENODEV ?
		    "no RDMA device has this address" : strerror(error));
}

static int listen_there(struct server *s)
{
	struct test *t = s->test;
	struct sockaddr_storage addr = { 0 };
	char text[INET6_ADDRSTRLEN];
	int status;

	status = test_address(t, t->bind, true, &addr);
	if (status)
		return status;
	if (cm.rdma_create_id(t->channel, &s->listener, NULL, RDMA_PS_TCP))
		return fail(t->cli, STATUS_UNSUPPORTED, "listen", "%s",
			    errno == ENODEV ? "there is no RDMA device" :
					      strerror(errno));
	if (cm.rdma_bind_addr(s->listener, (struct sockaddr *)&addr) ||
	    cm.rdma_listen(s->listener, 16))
		return cannot_listen(t, &addr, errno);
	note(t->cli, "listening on %s port %s",
	     t->bind ? address_text(&addr, text, sizeof(text)) :
		       "all addresses", t->port);
	return 0;
}

/* Report what was served, as rows; failures are those of connections, not messages. */
static int tell(struct server *s)
{
	struct result results[] = {
		{ .test = "connections", .count = s->connections,
		  .path = &s->path },
		{ .test = "messages", .count = s->messages,
		  .size = s->bytes, .path = &s->path },
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
	struct server s = { .test = test };
	int status = listen_there(&s);

	if (!status) {
		serve(&s);
		while (s.links)
			drop(&s, &s.links);
		status = tell(&s);
	}
	if (s.listener)
		cm.rdma_destroy_id(s.listener);
	return status;
}
