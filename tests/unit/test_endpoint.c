// SPDX-License-Identifier: GPL-2.0-or-later
/* Queue pairs of "eadm test" without a connection manager, on a fake adapter. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "test/endpoint.h"

#define HEADER 40		/* of a received datagram */
#define DEPTH 2

/* The last requests. */
static struct {
	enum ibv_qp_type type;
	int init_mask, rtr_mask, access;
	uint32_t qkey, recv_len, recvs;
	struct ibv_send_wr sent;
	uint32_t sent_len, arrives;
	unsigned int loads, own;	/* calls of the driver's functions */
} seen;

struct verbs verbs;

/* ---- other parts of eadm ------------------------------------------------------------- */

int fail(struct cli *cli, int status, const char *what, const char *fmt, ...)
{
	(void)cli;
	(void)what;
	(void)fmt;
	return status;
}

const char *adapter_type(const struct adapter *adapter)
{
	return adapter->ud ? "UD" : adapter->driver ? adapter->driver->type : "RC";
}

/* ---- the adapter --------------------------------------------------------------------- */

static struct ibv_device device = { .name = "fake_0" }, *devices[] = { &device, NULL };
static struct ibv_context context;
static struct ibv_comp_channel channel;
static struct ibv_cq cqs[2];
static struct ibv_qp qp = { .qp_num = 7 };
static struct ibv_pd pd;
static struct ibv_mr mr;
static struct ibv_ah ah;

static struct ibv_device **get_list(int *n)
{
	(void)n;
	return devices;
}

static void free_list(struct ibv_device **list)
{
	(void)list;
}

static struct ibv_context *open_device(struct ibv_device *d)
{
	(void)d;
	return &context;
}

static int query_port(struct ibv_context *ctx, uint8_t port,
		      struct _compat_ibv_port_attr *attr)
{
	(void)ctx;
	(void)port;
	*(struct ibv_port_attr *)attr = (struct ibv_port_attr){
		.state = IBV_PORT_ACTIVE, .active_mtu = IBV_MTU_1024,
		.max_msg_sz = 1 << 30,
	};
	return 0;
}

static struct ibv_pd *alloc_pd(struct ibv_context *ctx)
{
	(void)ctx;
	return &pd;
}

static struct ibv_comp_channel *create_channel(struct ibv_context *ctx)
{
	(void)ctx;
	return &channel;
}

static struct ibv_cq *create_cq(struct ibv_context *ctx, int entries, void *data,
				struct ibv_comp_channel *ch, int vector)
{
	static unsigned int n;

	(void)entries;
	(void)data;
	(void)ch;
	(void)vector;
	cqs[n % 2].context = ctx;
	return &cqs[n++ % 2];
}

static struct ibv_qp *create_qp(struct ibv_pd *p, struct ibv_qp_init_attr *attr)
{
	(void)p;
	seen.type = attr->qp_type;
	qp.context = &context;
	return &qp;
}

static int modify_qp(struct ibv_qp *q, struct ibv_qp_attr *attr, int mask)
{
	(void)q;
	if (attr->qp_state == IBV_QPS_INIT) {
		seen.init_mask = mask;
		seen.qkey = attr->qkey;
		seen.access = attr->qp_access_flags;
	} else if (attr->qp_state == IBV_QPS_RTR) {
		seen.rtr_mask = mask;
	}
	return 0;
}

static struct ibv_mr *reg_mr(struct ibv_pd *p, void *addr, size_t len, int access)
{
	(void)p;
	(void)addr;
	(void)len;
	(void)access;
	return &mr;
}

static struct ibv_ah *create_ah(struct ibv_pd *p, struct ibv_ah_attr *attr)
{
	(void)p;
	(void)attr;
	return &ah;
}

static int post_recv(struct ibv_qp *q, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)q;
	(void)bad;
	seen.recv_len = wr->sg_list->length;
	seen.recvs++;
	return 0;
}

static int post_send(struct ibv_qp *q, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)q;
	(void)bad;
	seen.sent = *wr;
	seen.sent_len = wr->sg_list->length;
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq;
	(void)n;
	*wc = (struct ibv_wc){ .status = IBV_WC_SUCCESS, .byte_len = seen.arrives };
	return 1;
}

static void set_up(void)
{
	context.ops.post_recv = post_recv;
	context.ops.post_send = post_send;
	context.ops.poll_cq = poll_cq;
	verbs.ibv_get_device_list = get_list;
	verbs.ibv_free_device_list = free_list;
	verbs.ibv_open_device = open_device;
	verbs.ibv_query_port = query_port;
	verbs.ibv_alloc_pd = alloc_pd;
	verbs.ibv_create_comp_channel = create_channel;
	verbs.ibv_create_cq = create_cq;
	verbs.ibv_create_qp = create_qp;
	verbs.ibv_modify_qp = modify_qp;
	verbs.ibv_reg_mr = reg_mr;
	verbs.ibv_create_ah = create_ah;
}

/* A driver with queue pairs like those of EFA. */
static const char *open_library(void)
{
	seen.loads++;
	return NULL;
}

static int query_own(struct ibv_context *ctx, bool *can_read, bool *can_write,
		     uint32_t *max_bytes)
{
	(void)ctx;
	*can_read = *can_write = false;
	*max_bytes = 4096;
	return 0;
}

static struct ibv_qp *create_own(struct ibv_context *ctx,
				 struct ibv_qp_init_attr_ex *attr)
{
	(void)ctx;
	(void)attr;
	seen.own++;
	qp.context = &context;
	return &qp;
}

static const struct driver_qp own = {
	.type = "OWN", .lost = "the security group", .open = open_library,
	.query = query_own, .create = create_own,
};

/* ---- scenes -------------------------------------------------------------------------- */

static struct link link;
static struct endpoint endpoint;

static bool make(bool ud, const struct driver_qp *driver, uint32_t size)
{
	enum exchange_reason reason;

	memset(&seen, 0, sizeof(seen));
	memset(&link, 0, sizeof(link));
	endpoint = (struct endpoint){ .adapter = {
		.device = "fake_0", .ud = ud, .driver = driver, .port = 1,
	} };
	link.fd = -1;
	link.endpoint = &endpoint;
	return !endpoint_make(&link, size, 64, DEPTH, &reason);
}

static bool connect_to(uint32_t size)
{
	const struct exchange peer = { .qpn = 9, .qkey = 11, .mtu = IBV_MTU_1024,
				       .size = size, .roce = 2 };

	return !endpoint_connect(&link, &peer);
}

static void check_datagrams(void)
{
	struct exchange message;
	struct ibv_wc wc;

	ok(make(true, NULL, 65536) && seen.type == IBV_QPT_UD &&
	   seen.init_mask & IBV_QP_QKEY && seen.qkey == endpoint.qkey &&
	   !(seen.init_mask & IBV_QP_ACCESS_FLAGS) && !seen.access,
	   "a UD queue pair has a Q_Key and allows no access to memory");
	ok(link.max_message == 1024 && seen.recv_len == 1024 + HEADER &&
	   seen.recvs == DEPTH, "a message is a packet, and its receive has room for the header");
	endpoint_describe(&link, &message);
	ok(!strcmp(message.type, "UD") && message.size == 1024 && !message.can_read &&
	   !message.can_write && message.qkey == endpoint.qkey,
	   "the peer gets the type, the Q_Key and the size of a message");
	ok(connect_to(256) && seen.rtr_mask == IBV_QP_STATE && link.max_message == 256,
	   "a UD queue pair is not connected, and the smaller MTU of both ends counts");
	ok(!link_post_send(&link, link_send_place(&link, 0), 256, 0) &&
	   seen.sent_len == 256 && seen.sent.wr.ud.ah == &ah &&
	   seen.sent.wr.ud.remote_qpn == 9 && seen.sent.wr.ud.remote_qkey == 11 &&
	   seen.sent.send_flags & IBV_SEND_SIGNALED, "each request has the peer's address");
	seen.arrives = 64 + HEADER;
	ok(!link_wait(&link, link.recv_cq, monotonic_ns() + 1000000000, &wc) &&
	   wc.byte_len == 64, "the header of a received message is not counted");
	ok(link_send_place(&link, 0) >= link_recv_place(&link, DEPTH - 1) + 1024 + HEADER,
	   "places do not overlap");
	free(link.buf);
	ok(make(true, NULL, 64) && link.max_message == 64 && seen.recv_len == 64 + HEADER,
	   "a message smaller than the MTU stays that small");
	free(link.buf);
}

static void check_other_types(void)
{
	struct ibv_wc wc;

	ok(make(false, NULL, 65536) && seen.type == IBV_QPT_RC &&
	   seen.init_mask & IBV_QP_ACCESS_FLAGS && link.max_message == 65536 &&
	   seen.recv_len == 65536 && connect_to(65536) && seen.rtr_mask & IBV_QP_AV &&
	   !link.ah, "an RC queue pair is connected, with messages of any size");
	seen.arrives = 64;
	ok(!link_wait(&link, link.recv_cq, monotonic_ns() + 1000000000, &wc) &&
	   wc.byte_len == 64, "a message of RC has no header");
	free(link.buf);
	ok(make(false, &own, 65536) && seen.own == 1 && seen.loads == 1 &&
	   seen.init_mask & IBV_QP_QKEY && link.max_message == 65536,
	   "a driver with a queue pair type that only it has gets that type");
	free(link.buf);
	ok(make(true, &own, 65536) && !seen.own && !seen.loads &&
	   seen.type == IBV_QPT_UD && connect_to(65536) &&
	   !strcmp(link.lost, own.lost),
	   "or a UD queue pair, without its library");
	free(link.buf);
}

int main(void)
{
	set_up();
	check_datagrams();
	check_other_types();
	return done();
}
