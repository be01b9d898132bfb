// SPDX-License-Identifier: GPL-2.0-or-later
#include "managed.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "../signals.h"
#include "../test/cm.h"

#define TYPE "RCCM"
#define LOOK_MS 50		/* interval between checks of the peer's view */
#define MAX_TOKEN 0xffffff

/* Private data of a connection, big-endian. */
struct greeting {
	uint32_t magic, token;
};

const char *managed_open(void)
{
	return cm_open();
}

/* ---- creation ------------------------------------------------------------------------ */

static void to_sockaddr(const uint8_t gid[16], uint16_t port,
			struct sockaddr_storage *to)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;
	struct sockaddr_in *in = (struct sockaddr_in *)to;
	struct in6_addr addr;

	memcpy(&addr, gid, sizeof(addr));
	memset(to, 0, sizeof(*to));
	if (IN6_IS_ADDR_V4MAPPED(&addr)) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, &addr.s6_addr[12], 4);
		return;
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	in6->sin6_addr = addr;
}

static int query(struct managed *m, const struct adapter *adapter)
{
	struct ibv_port_attr port = { 0 };
	int ret;

	if (!m->id->verbs || strcmp(m->id->verbs->device->name, adapter->device) != 0)
		return link_fail(m->link, "%s cannot be opened: rdma_cm uses a different device for its address",
				 adapter->device);
	ret = verbs.ibv_query_port(m->id->verbs, adapter->port,
				   (struct _compat_ibv_port_attr *)&port);
	if (ret)
		return link_fail(m->link, "port %u of %s: %s", adapter->port,
				 adapter->device, strerror(ret));
	if (port.state != IBV_PORT_ACTIVE)
		return link_fail(m->link, "port %u of %s is not active",
				 adapter->port, adapter->device);
	m->mtu = port.active_mtu;
	return 0;
}

int managed_make(struct managed *m, const struct rail *rail)
{
	const char *device = rail->adapter.device;
	struct sockaddr_storage local;

	m->address = rail->address;
	if (getrandom(&m->token, sizeof(m->token), 0) != sizeof(m->token))
		return link_fail(m->link, "getting random numbers failed: %s",
				 strerror(errno));
	m->token &= MAX_TOKEN;
	m->events = cm.rdma_create_event_channel();
	if (!m->events)
		return link_fail(m->link, "%s cannot be opened: rdma_cm: %s", device,
				 strerror(errno));
	m->link->fd = m->events->fd;
	m->link->setup = &setup_cm;
	to_sockaddr(m->address.raw, 0, &local);
	if (cm.rdma_create_id(m->events, &m->id, NULL, RDMA_PS_TCP) ||
	    cm.rdma_bind_addr(m->id, (struct sockaddr *)&local))
		return link_fail(m->link, "%s cannot be opened: rdma_cm: %s", device,
				 strerror(errno));
	if (query(m, &rail->adapter))
		return -1;
	if (!m->first && cm.rdma_listen(m->id, 4))
		return link_fail(m->link, "%s cannot be opened: listening failed: %s",
				 device, strerror(errno));
	m->port = ntohs(cm.rdma_get_src_port(m->id));
	return 0;
}

void managed_describe(const struct managed *m, struct exchange *message)
{
	*message = (struct exchange){
		.can_read = true,
		.can_write = true,
		.mtu = m->mtu,
		.type = TYPE,
		.qpn = m->port,
		.psn = m->token,
		.depth = m->depth,
		.size = m->size,
		.shared = m->size,
	};
	memcpy(message->gid, &m->address, sizeof(message->gid));
}

/* ---- connecting ---------------------------------------------------------------------- */

/* The caller must acknowledge the event. */
static struct rdma_cm_event *next_event(struct managed *m)
{
	struct pollfd pfd = { .fd = m->events->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	while (poll(&pfd, 1, LOOK_MS) <= 0) {
		if (!interrupted && monotonic_ns() < m->until &&
		    !m->failed(m->context))
			continue;
		link_fail(m->link, "connection failed: the peer does not respond");
		return NULL;
	}
	if (!cm.rdma_get_cm_event(m->events, &event))
		return event;
	link_fail(m->link, "waiting for events failed: %s", strerror(errno));
	return NULL;
}

static void wrong_event(struct managed *m, const struct rdma_cm_event *event)
{
	const char *what = cm.rdma_event_str(event->event);
	int status = event->status;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		if (status == -ETIMEDOUT)
			link_fail(m->link, "address resolution failed: no neighbour has this address");
		else
			link_fail(m->link, "route resolution failed: no RDMA device has a route to this address (status %d)",
				  status);
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		link_fail(m->link, "route resolution failed: status %d", status);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		link_fail(m->link, "connection failed: the peer does not respond (%s, status %d)",
			  what, status);
		break;
	case RDMA_CM_EVENT_REJECTED:
		link_fail(m->link, "connection failed: the peer refused the connection (status %d)",
			  status);
		break;
	default:
		link_fail(m->link, "connection failed: %s, status %d", what, status);
		break;
	}
}

static int await(struct managed *m, enum rdma_cm_event_type want)
{
	struct rdma_cm_event *event = next_event(m);
	bool good;

	if (!event)
		return -1;
	good = event->event == want;
	if (!good)
		wrong_event(m, event);
	cm.rdma_ack_cm_event(event);
	return good ? 0 : -1;
}

static struct rdma_conn_param parameters(const struct greeting *greeting)
{
	return (struct rdma_conn_param){
		.private_data = greeting,
		.private_data_len = sizeof(*greeting),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

static int wait_ms(const struct managed *m)
{
	uint64_t now = monotonic_ns();

	return now < m->until ? (m->until - now) / 1000000 + 1 : 1;
}

static int resolve(struct managed *m, struct sockaddr_storage *to)
{
	int part = wait_ms(m) / CM_ASKS + 1, ask = part < CM_ASK_MS ? part : CM_ASK_MS;
	struct rdma_cm_event *event;
	bool good, again;

	do {
		if (cm.rdma_resolve_addr(m->id, NULL, (struct sockaddr *)to, ask))
			return link_fail(m->link, "route resolution failed: %s", strerror(errno));
		event = next_event(m);
		if (!event)
			return -1;
		good = event->event == RDMA_CM_EVENT_ADDR_RESOLVED;
		again = event->event == RDMA_CM_EVENT_ADDR_ERROR &&
			event->status == -ETIMEDOUT && wait_ms(m) > ask;
		if (!good && !again)
			wrong_event(m, event);
		cm.rdma_ack_cm_event(event);
	} while (again);
	return good ? 0 : -1;
}

static int call(struct managed *m, const struct exchange *peer)
{
	struct greeting greeting = { htonl(CM_MAGIC), htonl(peer->psn) };
	struct rdma_conn_param param = parameters(&greeting);
	struct sockaddr_storage to;

	to_sockaddr(peer->gid, peer->qpn, &to);
	if (resolve(m, &to))
		return -1;
	if (cm.rdma_resolve_route(m->id, wait_ms(m)))
		return link_fail(m->link, "route resolution failed: %s", strerror(errno));
	if (await(m, RDMA_CM_EVENT_ROUTE_RESOLVED) ||
	    cm_make(m->link, m->id, m->size, m->depth))
		return -1;
	if (cm.rdma_connect(m->id, &param))
		return link_fail(m->link, "connection failed: %s", strerror(errno));
	return await(m, RDMA_CM_EVENT_ESTABLISHED);
}

static bool is_peer(const struct managed *m, const struct rdma_cm_event *event)
{
	const struct greeting *greeting = event->param.conn.private_data;

	return event->param.conn.private_data_len >= sizeof(*greeting) &&
	       ntohl(greeting->magic) == CM_MAGIC &&
	       ntohl(greeting->token) == m->token;
}

/* Any program that reaches the port can connect: reject all except the peer. */
static struct rdma_cm_id *await_peer(struct managed *m)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	bool request, ours;

	while ((event = next_event(m))) {
		id = event->id;
		request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
		ours = request && is_peer(m, event);
		if (!request)
			wrong_event(m, event);
		/* Acknowledge the event before the ID is destroyed. */
		cm.rdma_ack_cm_event(event);
		if (ours)
			return id;
		if (!request)
			return NULL;
		cm.rdma_reject(id, NULL, 0);
		cm.rdma_destroy_id(id);
	}
	return NULL;
}

static int answer(struct managed *m)
{
	struct greeting greeting = { htonl(CM_MAGIC), htonl(m->token) };
	struct rdma_conn_param param = parameters(&greeting);
	struct rdma_cm_id *id = await_peer(m);

	if (!id)
		return -1;
	if (cm_make(m->link, id, m->size, m->depth)) {
		cm.rdma_reject(id, NULL, 0);
		return -1;
	}
	if (cm.rdma_accept(id, &param))
		return link_fail(m->link, "connection failed: %s", strerror(errno));
	return await(m, RDMA_CM_EVENT_ESTABLISHED);
}

int managed_connect(struct managed *m, const struct exchange *peer, uint64_t until)
{
	m->until = until;
	if (peer->size < m->size)
		m->size = peer->size;
	if (peer->depth < m->depth)
		m->depth = peer->depth;
	m->connected = !(m->first ? call(m, peer) : answer(m));
	return m->connected ? 0 : -1;
}

void managed_release(struct managed *m)
{
	bool own = m->link->id == m->id;

	if (m->connected)
		cm.rdma_disconnect(m->link->id);
	cm_release(m->link);
	if (m->id && !own)
		cm.rdma_destroy_id(m->id);
	if (m->events)
		cm.rdma_destroy_event_channel(m->events);
}
