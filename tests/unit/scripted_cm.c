// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "scripted_cm.h"

struct verbs verbs;
struct cm cm;
struct cm_script script;

static struct ibv_device device = { .name = "fake_0" };
static struct ibv_context context = { .device = &device };
static struct rdma_event_channel channel;
static struct rdma_cm_id id = { .verbs = &context };
static struct rdma_cm_event event;

/* ---- librdmacm ----------------------------------------------------------------------- */

static int happens_after(int ms, enum rdma_cm_event_type type, int status)
{
	const struct itimerspec due = {
		.it_value = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L + 1 },
	};

	event = (struct rdma_cm_event){ .event = type, .status = status };
	if (type == RDMA_CM_EVENT_ESTABLISHED) {
		event.param.conn.private_data = script.reply;
		event.param.conn.private_data_len = script.reply_len;
	}
	return timerfd_settime(channel.fd, 0, &due, NULL);
}

static int happens(enum rdma_cm_event_type type, int status)
{
	return happens_after(0, type, status);
}

static int get_event(struct rdma_event_channel *ch, struct rdma_cm_event **to)
{
	uint64_t count;

	*to = &event;
	return read(ch->fd, &count, sizeof(count)) == sizeof(count) ? 0 : -1;
}

static int ack(struct rdma_cm_event *e)
{
	(void)e;
	return 0;
}

static const char *event_text(enum rdma_cm_event_type type)
{
	(void)type;
	return "an event";
}

static struct rdma_event_channel *create_channel(void)
{
	return &channel;
}

static int create_id(struct rdma_event_channel *ch, struct rdma_cm_id **to, void *data,
		     enum rdma_port_space ps)
{
	(void)ch;
	(void)data;
	(void)ps;
	*to = &id;
	return 0;
}

static int bind_addr(struct rdma_cm_id *i, struct sockaddr *addr)
{
	(void)i;
	(void)addr;
	return 0;
}

static __be16 source_port(struct rdma_cm_id *i)
{
	(void)i;
	return 0;
}

static int resolve_addr(struct rdma_cm_id *i, struct sockaddr *from, struct sockaddr *to,
			int ms)
{
	(void)i;
	(void)from;
	(void)to;
	if (ms > script.longest)
		script.longest = ms;
	if (script.asked++ >= script.missed)
		return happens(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	/* The kernel gives up after that time. */
	return happens_after(script.status == -ETIMEDOUT ? ms : 0, RDMA_CM_EVENT_ADDR_ERROR,
			     script.status);
}

static int resolve_route(struct rdma_cm_id *i, int ms)
{
	(void)i;
	(void)ms;
	return happens(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

static int connect_id(struct rdma_cm_id *i, struct rdma_conn_param *param)
{
	(void)i;
	(void)param;
	return happens(RDMA_CM_EVENT_ESTABLISHED, 0);
}

static int query_port(struct ibv_context *ctx, uint8_t port,
		      struct _compat_ibv_port_attr *attr)
{
	(void)ctx;
	(void)port;
	*(struct ibv_port_attr *)attr = (struct ibv_port_attr){
		.state = IBV_PORT_ACTIVE, .active_mtu = IBV_MTU_1024,
	};
	return 0;
}

struct rdma_event_channel *script_begin(void)
{
	verbs.ibv_query_port = query_port;
	cm.rdma_create_event_channel = create_channel;
	cm.rdma_create_id = create_id;
	cm.rdma_bind_addr = bind_addr;
	cm.rdma_get_src_port = source_port;
	cm.rdma_resolve_addr = resolve_addr;
	cm.rdma_resolve_route = resolve_route;
	cm.rdma_connect = connect_id;
	cm.rdma_get_cm_event = get_event;
	cm.rdma_ack_cm_event = ack;
	cm.rdma_event_str = event_text;
	channel.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	return &channel;
}

/* ---- other parts of eadm ------------------------------------------------------------- */

const struct setup setup_cm;

const char *cm_open(void)
{
	return NULL;
}

int cm_make(struct link *link, struct rdma_cm_id *i, uint32_t size, uint32_t depth)
{
	(void)size;
	(void)depth;
	link->id = i;
	return 0;
}

void cm_release(struct link *link)
{
	(void)link;
}

void cm_path(struct path *path, struct rdma_cm_id *i)
{
	(void)path;
	(void)i;
}
