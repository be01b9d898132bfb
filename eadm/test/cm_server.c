// SPDX-License-Identifier: GPL-2.0-or-later
/* The server's connections through rdma_cm. */
#include "cm.h"
#include "server.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- connections --------------------------------------------------------------------- */

static struct link *find(const struct server *s, const struct rdma_cm_id *id)
{
	struct link *link = s->links;

	while (link && link->id != id)
		link = link->next;
	return link;
}

/* Returns the reason for refusing a connection request, or NULL to accept it. */
static const char *refuse(const struct server *s,
			  const struct rdma_cm_event *event)
{
	const struct cm_hello *hello = event->param.conn.private_data;
	const char *wanted = s->test->cli->args.opt[OPT_DEVICE];

	if (event->param.conn.private_data_len < sizeof(*hello) ||
	    ntohl(hello->magic) != CM_MAGIC)
		return "not an 'eadm test client'";
	if (ntohs(hello->version) != CM_VERSION)
		return "the client runs a different version of eadm";
	if (!hello->size || ntohl(hello->size) > TEST_MAX_SIZE ||
	    !hello->depth || ntohs(hello->depth) > TEST_MAX_DEPTH)
		return "client request exceeds limits";
	if (wanted && strcmp(wanted, event->id->verbs->device->name) != 0)
		return "routed through a different device";
	return s->n_links == MAX_LINKS ? "too many clients at once" : NULL;
}

static int accept_link(struct link *link)
{
	struct cm_welcome welcome = {
		.magic = htonl(CM_MAGIC),
		.rkey = htonl(link->mr->rkey),
		.addr = htobe64((uintptr_t)link_shared_place(link)),
		.len = htonl(link->shared),
	};
	struct rdma_conn_param param = {
		.private_data = &welcome,
		.private_data_len = sizeof(welcome),
		.responder_resources = 1,
		.initiator_depth = 1,
		.rnr_retry_count = 7,
	};

	/*
	 * Arm before the client can send, because messages that arrive before arming
	 * raise no event.
	 */
	if (ibv_req_notify_cq(link->recv_cq, 0))
		return link_fail(link, "requesting completion events failed: %s",
				 strerror(errno));
	if (cm.rdma_accept(link->id, &param))
		return link_fail(link, "accepting the connection failed: %s",
				 strerror(errno));
	return 0;
}

static void on_request(struct server *s, struct rdma_cm_event *event)
{
	const struct cm_hello *hello = event->param.conn.private_data;
	const char *why = refuse(s, event);
	struct rdma_cm_id *id = event->id;
	char text[INET6_ADDRSTRLEN];
	struct link *link;
	struct path path;

	link = why ? NULL : server_add(s);
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
	cm_path(&path, id);
	server_path(s, &path);
	/*
	 * Acknowledge the event before server_drop(): an unacknowledged event may
	 * prevent the ID from being destroyed.
	 */
	if (cm_make(link, id, ntohl(hello->size), ntohs(hello->depth)))
		cm.rdma_reject(id, NULL, 0);
	else
		accept_link(link);
	cm.rdma_ack_cm_event(event);
	if (link->why[0])
		server_drop(s, link);
}

void cm_on_event(struct server *s)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct link *link;

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
		link = find(s, id);
		if (link)
			link_fail(link, "%s", cm.rdma_event_str(type));
		break;
	}
	cm.rdma_ack_cm_event(event);
	link = find(s, id);
	if (!link)
		return;
	if (type == RDMA_CM_EVENT_DISCONNECTED)
		cm.rdma_disconnect(id);
	server_drop(s, link);
}

/* ---- listening ----------------------------------------------------------------------- */

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
	 * If this listener or an existing listener uses all addresses, the RDMA CM
	 * returns EADDRNOTAVAIL even if the port is in use.
	 */
	if (error == EADDRNOTAVAIL && is_local(addr)) {
		error = EADDRINUSE;
		not_found = false;
	}
	return fail(t->cli, not_found ? STATUS_NOT_FOUND : STATUS_FAILED,
		    t->bind ? t->bind : "listen", "%s", error == ENODEV ?
		    "no RDMA device has this address" : strerror(error));
}

int cm_listen(struct server *s)
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
			    errno == ENODEV ? "no RDMA device found" :
					      strerror(errno));
	if (cm.rdma_bind_addr(s->listener, (struct sockaddr *)&addr) ||
	    cm.rdma_listen(s->listener, 16))
		return cannot_listen(t, &addr, errno);
	note(t->cli, "listening on %s port %s (%s)",
	     t->bind ? address_text(&addr, text, sizeof(text)) :
		       "all addresses", t->port, t->setup->name);
	return 0;
}

int cm_events_fd(const struct server *s)
{
	return s->test->channel->fd;
}

void cm_close(struct server *s)
{
	if (s->listener)
		cm.rdma_destroy_id(s->listener);
}
