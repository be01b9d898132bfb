// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake-verbs.h"

#define WCS 1024

struct fake_cq {
	struct ibv_cq cq;
	struct ibv_wc wcs[WCS];
	unsigned int head, tail;
	bool armed, told;
	struct fake_cq *next;
};

struct fake_device fake = { .link_layer = IBV_LINK_LAYER_ETHERNET };

static struct ibv_device device;
static struct ibv_device *devices[2];
static struct ibv_context context;
static struct fake_cq *cqs;
static struct ibv_async_event events[16];
static unsigned int n_events;
static uint32_t next_qpn = 0x11;

static void ring(int fd)
{
	const uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		abort();
}

/* ---- what the test does */

static void complete(struct ibv_cq *ibv_cq, const struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)(void *)ibv_cq;

	cq->wcs[cq->tail++ % WCS] = *wc;
	if (!cq->armed)
		return;
	cq->armed = false;
	cq->told = true;
	ring(cq->cq.channel->fd);
}

void fake_sent(struct fake_qp *qp, unsigned int n, enum ibv_wc_status status)
{
	const struct ibv_wc wc = {
		.wr_id = qp->sends[n].wr_id, .status = status, .qp_num = qp->qp.qp_num,
	};

	complete(qp->qp.send_cq, &wc);
}

void fake_received(struct fake_qp *qp, uint64_t wr_id, enum ibv_wc_status status)
{
	const struct ibv_wc wc = {
		.wr_id = wr_id, .status = status, .qp_num = qp->qp.qp_num, .opcode = IBV_WC_RECV,
		.byte_len = 64,
	};

	complete(qp->qp.recv_cq, &wc);
}

void fake_received_as(struct fake_qp *qp, const struct ibv_wc *wc)
{
	complete(qp->qp.recv_cq, wc);
}

void fake_event(enum ibv_event_type type, struct ibv_qp *qp)
{
	struct ibv_async_event *event = &events[n_events++];

	*event = (struct ibv_async_event){ .event_type = type };
	if (qp)
		event->element.qp = qp;
	else
		event->element.port_num = 1;
	ring(context.async_fd);
}

void fake_srq_event(enum ibv_event_type type)
{
	events[n_events++] = (struct ibv_async_event){ .event_type = type, .element.srq = fake.srq };
	ring(context.async_fd);
}

static int taken(int *error)
{
	int err = *error;

	*error = 0;
	errno = err;
	return err;
}

/* ---- the data path, which libibverbs takes from the device's context */

static int post_send(struct ibv_qp *ibv_qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)(void *)ibv_qp;

	*bad = wr;
	if (taken(&fake.send_error))
		return errno;
	if (qp->n_sends == FAKE_POSTS)
		return ENOMEM;
	if (wr->num_sge)
		qp->sges[qp->n_sends] = wr->sg_list[0];
	qp->sends[qp->n_sends++] = *wr;
	return 0;
}

static int post_recv(struct ibv_qp *ibv_qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)(void *)ibv_qp;

	*bad = wr;
	if (taken(&fake.recv_error))
		return errno;
	qp->recvs[qp->n_recvs++] = wr->wr_id;
	return 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)srq;
	*bad = wr;
	fake.srq_recvs[fake.n_srq_recvs++] = wr->wr_id;
	return 0;
}

static int poll_cq(struct ibv_cq *ibv_cq, int most, struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)(void *)ibv_cq;
	int n;

	for (n = 0; n < most && cq->head != cq->tail; n++)
		wc[n] = cq->wcs[cq->head++ % WCS];
	return n;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited)
{
	(void)solicited;
	((struct fake_cq *)(void *)cq)->armed = true;
	return 0;
}

/* ---- the library */

struct ibv_device **ibv_get_device_list(int *n)
{
	(void)n;
	devices[0] = &device;
	return devices;
}

void ibv_free_device_list(struct ibv_device **list)
{
	(void)list;
}

const char *ibv_get_device_name(struct ibv_device *dev)
{
	(void)dev;
	return "fake0";
}

struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	context = (struct ibv_context){
		.device = dev,
		.ops = {
			.post_send = post_send, .post_recv = post_recv, .poll_cq = poll_cq,
			.req_notify_cq = req_notify_cq, .post_srq_recv = post_srq_recv,
		},
		.async_fd = eventfd(0, EFD_NONBLOCK),
	};
	return &context;
}

int ibv_close_device(struct ibv_context *ctx)
{
	return close(ctx->async_fd);
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *ctx, uint8_t port, struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)(void *)compat;

	(void)ctx;
	if (port != 1)
		return EINVAL;
	attr->state = IBV_PORT_ACTIVE;
	attr->active_mtu = attr->max_mtu = IBV_MTU_4096;
	attr->gid_tbl_len = 8;
	attr->max_msg_sz = 1u << 30;
	attr->link_layer = fake.link_layer;
	return 0;
}

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	(void)ctx;
	*attr = (struct ibv_device_attr){
		.max_mr_size = UINT64_MAX, .max_qp = 100, .max_qp_wr = 100, .max_sge = 3, .max_cq = 50,
		.max_cqe = 1000, .max_mr = 60, .max_pd = 70, .max_srq = 20, .max_srq_wr = 64,
		.max_srq_sge = 2, .max_ah = 10, .device_cap_flags = IBV_DEVICE_MEM_MGT_EXTENSIONS,
	};
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *ctx, struct ibv_gid_entry *entries, size_t most,
			     uint32_t flags, size_t size)
{
	(void)ctx;
	(void)most;
	(void)flags;
	(void)size;
	entries[0] = (struct ibv_gid_entry){
		.gid = fake.gid, .gid_index = 3, .port_num = 1, .gid_type = IBV_GID_TYPE_ROCE_V2,
	};
	return 1;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
	struct ibv_comp_channel *channel = calloc(1, sizeof(*channel));

	channel->context = ctx;
	channel->fd = eventfd(0, EFD_NONBLOCK);
	return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	free(channel);
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	pd->context = ctx;
	fake.pds++;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	fake.pds--;
	return 0;
}

#undef ibv_reg_mr_iova
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	struct ibv_mr *mr;

	(void)access;
	if (taken(&fake.reg_error))
		return NULL;
	fake.first = ((unsigned char *)addr)[0];
	fake.last = ((unsigned char *)addr)[length - 1];
	mr = calloc(1, sizeof(*mr));
	*mr = (struct ibv_mr){
		.context = pd->context, .pd = pd, .addr = (void *)(uintptr_t)iova, .length = length,
		.lkey = 0x1111, .rkey = 0x2222,
	};
	fake.mr = mr;
	__atomic_add_fetch(&fake.mrs, 1, __ATOMIC_SEQ_CST);
	return mr;
}

/* Which of both it is, the header decides. */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	return ibv_reg_mr_iova(pd, addr, length, iova, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	free(mr);
	if (pthread_equal(pthread_self(), fake.loop))
		fake.loop_deregs++;
	__atomic_sub_fetch(&fake.mrs, 1, __ATOMIC_SEQ_CST);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *arg,
			     struct ibv_comp_channel *channel, int vector)
{
	struct fake_cq *cq = calloc(1, sizeof(*cq));

	(void)vector;
	cq->cq = (struct ibv_cq){ .context = ctx, .cq_context = arg, .channel = channel, .cqe = cqe };
	cq->next = cqs;
	cqs = cq;
	fake.cqs++;
	return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct fake_cq **at;

	for (at = &cqs; &(*at)->cq != cq; at = &(*at)->next)
		;
	*at = (*at)->next;
	free(cq);
	fake.cqs--;
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **found, void **arg)
{
	struct fake_cq *cq;
	uint64_t count;

	for (cq = cqs; cq; cq = cq->next) {
		if (!cq->told)
			continue;
		cq->told = false;
		*found = &cq->cq;
		*arg = cq->cq.cq_context;
		return 0;
	}
	if (read(channel->fd, &count, sizeof(count)) < 0)
		errno = EAGAIN;
	return -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	(void)cq;
	(void)n;
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	uint64_t count;

	if (!n_events) {
		if (read(ctx->async_fd, &count, sizeof(count)) < 0)
			errno = EAGAIN;
		return -1;
	}
	*event = events[--n_events];
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct ibv_srq *srq = calloc(1, sizeof(*srq));

	srq->context = pd->context;
	srq->srq_context = init->srq_context;
	srq->pd = pd;
	fake.srq = srq;
	fake.srqs++;
	return srq;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	(void)srq;
	if (mask & IBV_SRQ_LIMIT)
		fake.srq_limit = attr->srq_limit;
	return 0;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	(void)srq;
	if (taken(&fake.query_srq_error))
		return errno;
	*attr = (struct ibv_srq_attr){ .srq_limit = fake.srq_limit };
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	free(srq);
	fake.srqs--;
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct fake_qp *qp = calloc(1, sizeof(*qp));

	qp->qp = (struct ibv_qp){
		.context = pd->context, .qp_context = init->qp_context, .pd = pd,
		.send_cq = init->send_cq, .recv_cq = init->recv_cq, .srq = init->srq,
		.qp_num = next_qpn++, .qp_type = init->qp_type,
	};
	fake.qp = qp;
	__atomic_add_fetch(&fake.qps, 1, __ATOMIC_SEQ_CST);
	return &qp->qp;
}

int ibv_modify_qp(struct ibv_qp *ibv_qp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *qp = (struct fake_qp *)(void *)ibv_qp;
	enum ibv_qp_state state = qp->attr.qp_state;

	if (taken(&fake.modify_error))
		return errno;
	qp->attr = *attr;
	if (!(mask & IBV_QP_STATE))
		qp->attr.qp_state = state;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	(void)mask;
	(void)init;
	*attr = ((struct fake_qp *)(void *)qp)->attr;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	while (__atomic_load_n(&fake.slow_end, __ATOMIC_SEQ_CST))
		sched_yield();
	free(qp);
	__atomic_sub_fetch(&fake.qps, 1, __ATOMIC_SEQ_CST);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah;

	(void)attr;
	__atomic_add_fetch(&fake.ah_calls, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&fake.slow_ah, __ATOMIC_SEQ_CST))
		sched_yield();
	if (taken(&fake.ah_error))
		return NULL;
	ah = calloc(1, sizeof(*ah));
	ah->pd = pd;
	__atomic_add_fetch(&fake.ahs, 1, __ATOMIC_SEQ_CST);
	return ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	free(ah);
	__atomic_sub_fetch(&fake.ahs, 1, __ATOMIC_SEQ_CST);
	return 0;
}
