// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The contract between applications and an RDMA driver, clause by clause:
 *
 *	conform [-d DEVICE] [-q rc|ud|srd] CASE [ARGUMENT]
 *
 * QPs are of that kind, RC by default.
 * Exit status 0: the clause holds; else what does not is told. The cases are
 * the functions below; tests/guest/conformance/README.md lists the clauses.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEPTH	32
/* What a QP of InfiniBand's kind is to let others do. */
#define QP_ACCESS	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define QKEY	0x1234567
#define MESSAGE	8

static const char *device = "erdma_0", *argument = "";
/* IBV_QPT_DRIVER: EFA's SRD. */
static enum ibv_qp_type type = IBV_QPT_RC;
static struct ibv_device_attr limits;

#define NEED(cond) \
	do { \
		if (!(cond)) { \
			printf("line %d: not so: %s (errno %d)\n", __LINE__, #cond, errno); \
			return false; \
		} \
	} while (0)

struct set {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *send_cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	char buf[4096];
};

static struct ibv_device *find(struct ibv_device **list)
{
	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), device))
			return list[i];
	return NULL;
}

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *dev = find(list);
	struct ibv_context *ctx = dev ? ibv_open_device(dev) : NULL;

	if (list)
		ibv_free_device_list(list);
	return ctx;
}

/* Not RC: each request says where to, and with which key. */
static bool has_no_connection(void)
{
	return type != IBV_QPT_RC;
}

static struct ibv_qp *create_qp(struct set *s, struct ibv_qp_init_attr *attr)
{
	return type == IBV_QPT_DRIVER ?
	       efadv_create_driver_qp(s->pd, attr, EFADV_QP_DRIVER_TYPE_SRD) :
	       ibv_create_qp(s->pd, attr);
}

static struct ibv_qp *make_qp_of(struct set *s, uint32_t sends, uint32_t recvs,
				 uint32_t recv_sges)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = s->send_cq ?: s->cq, .recv_cq = s->cq, .qp_type = type,
		.cap = { .max_send_wr = sends, .max_recv_wr = recvs, .max_send_sge = 1,
			 .max_recv_sge = recv_sges },
	};

	return create_qp(s, &attr);
}

static struct ibv_qp *make_qp(struct set *s, uint32_t wrs, uint32_t recv_sges)
{
	return make_qp_of(s, wrs, wrs, recv_sges);
}

/* Those of iWARP are there when they are made; all others take receives from INIT on. */
static bool has_states(const struct set *s)
{
	return s->ctx->device->transport_type != IBV_TRANSPORT_IWARP;
}

static bool begin(struct set *s, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = QP_ACCESS,
		.qkey = QKEY,
	};

	return !has_states(s) ||
	       !ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					 (has_no_connection() ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

static bool make(struct set *s)
{
	NEED((s->ctx = open_device()));
	NEED((s->pd = ibv_alloc_pd(s->ctx)));
	NEED((s->cq = ibv_create_cq(s->ctx, 4 * DEPTH, NULL, NULL, 0)));
	NEED((s->mr = ibv_reg_mr(s->pd, s->buf, sizeof(s->buf), IBV_ACCESS_LOCAL_WRITE)));
	NEED((s->qp = make_qp(s, DEPTH, 1)));
	NEED(begin(s, s->qp));
	NEED(!ibv_query_device(s->ctx, &limits));
	return true;
}

static bool destroy(struct set *s)
{
	NEED(!s->qp || !ibv_destroy_qp(s->qp));
	NEED(!s->ah || !ibv_destroy_ah(s->ah));
	NEED(!s->mr || !ibv_dereg_mr(s->mr));
	NEED(!s->cq || !ibv_destroy_cq(s->cq));
	NEED(!s->send_cq || !ibv_destroy_cq(s->send_cq));
	NEED(!s->channel || !ibv_destroy_comp_channel(s->channel));
	NEED(!s->pd || !ibv_dealloc_pd(s->pd));
	NEED(!s->ctx || !ibv_close_device(s->ctx));
	return true;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static int post_list(struct set *s, struct ibv_recv_wr *wr, unsigned int count,
		     struct ibv_recv_wr **bad)
{
	static struct ibv_sge sge;

	sge = (struct ibv_sge) { (uintptr_t)s->buf, 64, s->mr->lkey };
	for (unsigned int i = 0; i < count; i++)
		wr[i] = (struct ibv_recv_wr) {
			.wr_id = i, .sg_list = &sge, .num_sge = 1,
			.next = i + 1 < count ? &wr[i + 1] : NULL,
		};
	*bad = NULL;
	return ibv_post_recv(s->qp, wr, bad);
}

static int stop(struct set *s)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return ibv_modify_qp(s->qp, &attr, IBV_QP_STATE);
}

/* Waits until count completions can be had by one call. */
static bool reap_at_once(struct set *s, int count)
{
	struct ibv_wc wc[4 * DEPTH];
	int n = 0, got = 0;

	/* All are there after a while; what one call gives is what counts. */
	for (int64_t end = now_ms() + 5000; now_ms() < end; usleep(1000)) {
		got = ibv_poll_cq(s->cq, n ? 4 * DEPTH : 1, wc + n);
		NEED(got >= 0 && n + got <= count);
		n += got;
		if (n == count)
			break;
		if (n == 1)
			usleep(200000);
	}
	NEED(n == count);
	NEED(got == count - 1);
	for (int i = 0; i < n; i++) {
		NEED(wc[i].wr_id == (uint64_t)i);
		NEED(wc[i].qp_num == s->qp->qp_num);
		NEED(wc[i].status == IBV_WC_WR_FLUSH_ERR);
	}
	return true;
}

/* ---- Messages to itself, of QPs without connections ---------------------- */

static bool may_send(struct set *s)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };

	NEED(!ibv_modify_qp(s->qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	NEED(!ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return true;
}

static bool know_itself(struct set *s)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };

	NEED(!ibv_query_gid(s->ctx, 1, 0, &attr.grh.dgid));
	NEED((s->ah = ibv_create_ah(s->pd, &attr)));
	return true;
}

static bool send_with(struct set *s, uint32_t lkey)
{
	struct ibv_sge sge = { (uintptr_t)s->buf, MESSAGE, lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = s->ah, .remote_qpn = s->qp->qp_num, .remote_qkey = QKEY },
	};

	NEED(!ibv_post_send(s->qp, &wr, &bad));
	return true;
}

/* One completion, which need not be there yet. */
static bool take(struct ibv_cq *cq, struct ibv_wc *wc)
{
	int got = 0;

	for (int64_t end = now_ms() + 10000; !got && now_ms() < end; usleep(1000))
		got = ibv_poll_cq(cq, 1, wc);
	NEED(got == 1);
	return true;
}

/* By the number of its QP: both completions have it. */
static bool reaches_itself(struct set *s)
{
	struct ibv_recv_wr wr[1], *bad;
	struct ibv_wc wc;

	NEED(!post_list(s, wr, 1, &bad) && send_with(s, s->mr->lkey));
	for (int i = 0; i < 2; i++) {
		NEED(take(s->cq, &wc));
		NEED(!wc.status && wc.qp_num == s->qp->qp_num);
	}
	return true;
}

/* A message of which the sender knows that it arrived, so that its completion is there. */
static bool send_and_wait(struct set *s)
{
	struct ibv_wc wc;

	NEED(send_with(s, s->mr->lkey) && take(s->send_cq, &wc));
	NEED(!wc.status);
	return true;
}

/* A QP whose receives complete to a CQ with a channel, and its sends to another. */
static bool make_notified(struct set *s)
{
	NEED((s->cq = ibv_create_cq(s->ctx, 4 * DEPTH, NULL, s->channel, 0)));
	NEED((s->qp = make_qp(s, DEPTH, 1)) && begin(s, s->qp) && may_send(s));
	return true;
}

static bool begin_notified(struct set *s)
{
	NEED(!ibv_destroy_qp(s->qp));
	s->qp = NULL;
	NEED(!ibv_destroy_cq(s->cq));
	s->cq = NULL;
	NEED((s->channel = ibv_create_comp_channel(s->ctx)));
	NEED((s->send_cq = ibv_create_cq(s->ctx, 4 * DEPTH, NULL, NULL, 0)));
	return know_itself(s);
}

static bool notified(struct set *s, int ms)
{
	struct pollfd fd = { .fd = s->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, ms) <= 0)
		return false;
	NEED(!ibv_get_cq_event(s->channel, &cq, &context));
	NEED(cq == s->cq);
	ibv_ack_cq_events(cq, 1);
	return true;
}

/* ---- Cases --------------------------------------------------------------- */

static bool many_opens(struct set *s)
{
	struct set other = {};
	struct ibv_context *more[20];

	for (int i = 0; i < 20; i++)
		NEED((more[i] = open_device()));
	NEED(make(&other));
	NEED(destroy(&other));
	for (int i = 0; i < 20; i++)
		NEED(!ibv_close_device(more[i]));
	NEED(!stop(s));
	return true;
}

/*
 * libefa has unmapped the CQ's ring when the kernel refuses, and the CQ is to work on: for EFA
 * only the call to the kernel is made.
 */
static int destroy_busy_cq(struct set *s)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_cq cmd;
	} __attribute__((packed)) req = {
		.hdr = { .command = IB_USER_VERBS_CMD_DESTROY_CQ, .in_words = sizeof(req) / 4,
			 .out_words = sizeof(resp) / 4 },
		.cmd = { .response = (uintptr_t)&resp, .cq_handle = s->cq->handle },
	};

	if (!has_no_connection())
		return ibv_destroy_cq(s->cq);
	return write(s->ctx->cmd_fd, &req, sizeof(req)) == -1 ? errno : 0;
}

static bool busy_objects(struct set *s)
{
	struct ibv_recv_wr wr[4], *bad;

	NEED(destroy_busy_cq(s) == EBUSY);
	NEED(ibv_dealloc_pd(s->pd) == EBUSY);
	/* They are as before. */
	NEED(!post_list(s, wr, 4, &bad));
	NEED(!stop(s));
	return reap_at_once(s, 4);
}

static bool post_many(struct set *s)
{
	struct ibv_recv_wr wr[DEPTH], *bad;

	NEED(!post_list(s, wr, DEPTH / 2, &bad));
	NEED(!stop(s));
	return reap_at_once(s, DEPTH / 2);
}

/* What is outstanding for lack of a receive ends with the QP. */
static bool flush_sends(struct set *s)
{
	struct ibv_wc wc;

	NEED(may_send(s) && know_itself(s));
	for (int i = 0; i < DEPTH / 2; i++)
		NEED(send_with(s, s->mr->lkey));
	NEED(!ibv_poll_cq(s->cq, 1, &wc));
	NEED(!stop(s));
	for (int i = 0; i < DEPTH / 2; i++) {
		NEED(take(s->cq, &wc));
		NEED(wc.status == IBV_WC_WR_FLUSH_ERR && wc.qp_num == s->qp->qp_num);
	}
	NEED(!ibv_poll_cq(s->cq, 1, &wc));
	return true;
}

static bool notify_once(struct set *s)
{
	struct ibv_recv_wr wr[DEPTH], *bad;
	struct ibv_wc wc[DEPTH];

	NEED(begin_notified(s) && make_notified(s));
	NEED(!post_list(s, wr, DEPTH, &bad));
	NEED(send_and_wait(s));
	NEED(!notified(s, 300));
	NEED(take(s->cq, wc));
	/* One for several completions. */
	NEED(!ibv_req_notify_cq(s->cq, 0));
	NEED(send_and_wait(s) && notified(s, 10000));
	NEED(send_and_wait(s) && !notified(s, 300));
	NEED(take(s->cq, wc) && take(s->cq, wc));
	/* What came before the request is found by polling after it, if not by an event. */
	NEED(send_and_wait(s));
	NEED(!ibv_req_notify_cq(s->cq, 0));
	NEED(ibv_poll_cq(s->cq, DEPTH, wc) == 1);
	NEED(send_and_wait(s) && notified(s, 10000) && !notified(s, 300));
	NEED(take(s->cq, wc));
	return true;
}

/* Events are under way, or have come and were not read, when their CQ ends; none comes later. */
static bool destroy_in_callback(struct set *s)
{
	struct ibv_recv_wr wr[1], *bad;
	struct pollfd fd = { .events = POLLIN };

	NEED(begin_notified(s));
	for (int i = 0; i < 50; i++) {
		NEED(make_notified(s));
		fd.fd = s->channel->fd;
		NEED(!post_list(s, wr, 1, &bad));
		NEED(!ibv_req_notify_cq(s->cq, 0));
		NEED(send_with(s, s->mr->lkey));
		if (i % 2)
			NEED(poll(&fd, 1, 10000) == 1);
		NEED(!ibv_destroy_qp(s->qp));
		s->qp = NULL;
		NEED(!ibv_destroy_cq(s->cq));
		s->cq = NULL;
		NEED(!notified(s, 0));
	}
	NEED(!notified(s, 300));
	return true;
}

static bool post_too_many(struct set *s)
{
	struct ibv_recv_wr wr[4 * DEPTH], *bad;
	int taken;

	NEED(post_list(s, wr, 4 * DEPTH, &bad));
	NEED(bad >= wr + DEPTH && bad < wr + 4 * DEPTH);
	taken = bad - wr;
	NEED(!stop(s));
	return reap_at_once(s, taken);
}

static bool stay_within_limits(struct set *s)
{
	/* libefa 44 divides by the number of elements that receives have. */
	uint32_t recv_sges = has_no_connection();
	struct ibv_qp *qp;

	NEED((qp = make_qp(s, limits.max_qp_wr, limits.max_sge)));
	NEED(!ibv_destroy_qp(qp));
	NEED(!make_qp(s, limits.max_qp_wr + 1, 1) && (errno == EINVAL || errno == ENOMEM));
	NEED(!make_qp(s, 1, limits.max_sge + 1) && (errno == EINVAL || errno == ENOMEM));
	/* Who only sends, or only receives, asks for nothing else. */
	NEED((qp = make_qp_of(s, 1, 0, recv_sges)));
	NEED(!ibv_destroy_qp(qp));
	NEED((qp = make_qp_of(s, 0, 1, 1)));
	NEED(!ibv_destroy_qp(qp));
	NEED((qp = make_qp_of(s, 0, 0, recv_sges)));
	NEED(!ibv_destroy_qp(qp));
	NEED(!ibv_create_cq(s->ctx, limits.max_cqe + 1, NULL, NULL, 0) && errno);
	return true;
}

/* Zero when no such file, or it has no GUID. */
static uint64_t sysfs_guid(void)
{
	unsigned int part[4] = {};
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/node_guid", device);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%x:%x:%x:%x", part, part + 1, part + 2, part + 3) != 4)
		part[0] = 0;
	fclose(file);
	return (uint64_t)part[0] << 48 | (uint64_t)part[1] << 32 | part[2] << 16 | part[3];
}

static bool known_by_guid(struct set *s)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	uint64_t guid = ibv_get_device_guid(s->ctx->device);
	int same = 0;

	NEED(guid && guid == limits.node_guid);
	NEED(sysfs_guid() == be64toh(guid));
	/* EFA's adapters announce none. */
	NEED(limits.sys_image_guid || s->ctx->device->transport_type == IBV_TRANSPORT_UNSPECIFIED);
	for (int i = 0; list[i]; i++)
		same += ibv_get_device_guid(list[i]) == guid;
	NEED(same == 1);
	printf("%016llx\n", (unsigned long long)be64toh(guid));
	ibv_free_device_list(list);
	return true;
}

/* The provider's part of a request is missing, too short, or too long. */
static bool check_create_data(struct set *s)
{
	static const unsigned int extra[] = { 0, 1, 64 };

	for (unsigned int i = 0; i < 3; i++) {
		struct ib_uverbs_create_cq_resp resp[8] = {};
		struct {
			struct ib_uverbs_cmd_hdr hdr;
			struct ib_uverbs_create_cq cmd;
			uint32_t extra[64];
		} __attribute__((packed)) req = {};
		size_t len = sizeof(req.hdr) + sizeof(req.cmd) + 4 * extra[i];

		req.hdr.command = IB_USER_VERBS_CMD_CREATE_CQ;
		req.hdr.in_words = len / 4;
		req.hdr.out_words = sizeof(resp) / 4;
		req.cmd.response = (uintptr_t)resp;
		req.cmd.cqe = 16;
		req.cmd.comp_channel = -1;
		memset(req.extra, 0xff, sizeof(req.extra));
		NEED(write(s->ctx->cmd_fd, &req, len) == -1);
		NEED(errno == EINVAL || errno == EFAULT || errno == EOPNOTSUPP || errno == ENOSPC);
	}
	/* What the driver gave back is what the provider made of it. */
	NEED(s->qp->qp_num);
	if (has_no_connection())
		return may_send(s) && know_itself(s) && reaches_itself(s);
	NEED(s->qp->qp_num < (uint32_t)limits.max_qp + 1);
	return true;
}

struct ack {
	struct ibv_context *ctx;
	sem_t came;
	int64_t acked;
};

static void *ack_late(void *arg)
{
	struct ibv_async_event event;
	struct ack *ack = arg;

	while (!ibv_get_async_event(ack->ctx, &event)) {
		bool wanted = event.event_type ==
			      (has_no_connection() ? IBV_EVENT_QP_FATAL : IBV_EVENT_CQ_ERR);

		if (wanted) {
			puts("event");
			fflush(stdout);
			sem_post(&ack->came);
			usleep(300000);
			ack->acked = now_ms();
		}
		ibv_ack_async_event(&event);
		if (wanted)
			break;
	}
	return NULL;
}

/* Somebody makes the CQ fail after "ready", or where CQs have no events, the QP. */
static bool destroy_awaits_ack(struct set *s)
{
	struct ack ack = { .ctx = s->ctx };
	struct ibv_cq *cq = s->cq;
	pthread_t thread;

	NEED(!sem_init(&ack.came, 0, 0));
	puts("ready");
	fflush(stdout);
	NEED(!pthread_create(&thread, NULL, ack_late, &ack));
	for (int64_t end = now_ms() + 20000; now_ms() < end; usleep(1000))
		if (!access(argument, F_OK))
			break;
	NEED(!ibv_destroy_qp(s->qp));
	s->qp = NULL;
	NEED(!ibv_destroy_cq(cq));
	s->cq = NULL;
	NEED(ack.acked && ack.acked <= now_ms());
	pthread_join(thread, NULL);
	return true;
}

/* The same of a CQ that has room for half of the completions only. */
static bool overrun_awaits_ack(struct set *s)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_recv_wr wr[DEPTH], *bad;
	struct ack ack = { .ctx = s->ctx };
	struct timespec limit;
	pthread_t thread;

	NEED(!sem_init(&ack.came, 0, 0));
	NEED(!ibv_destroy_qp(s->qp) && !ibv_destroy_cq(s->cq));
	NEED((s->cq = ibv_create_cq(s->ctx, DEPTH / 2, NULL, NULL, 0)));
	init.send_cq = s->cq;
	init.recv_cq = s->cq;
	NEED((s->qp = ibv_create_qp(s->pd, &init)) && begin(s, s->qp));
	NEED(!pthread_create(&thread, NULL, ack_late, &ack));
	puts("ready");
	fflush(stdout);
	NEED(!post_list(s, wr, DEPTH, &bad) && !stop(s));
	clock_gettime(CLOCK_MONOTONIC, &limit);
	limit.tv_sec += 20;
	NEED(!sem_clockwait(&ack.came, CLOCK_MONOTONIC, &limit) && !ack.acked);
	NEED(!ibv_destroy_qp(s->qp) && !ibv_destroy_cq(s->cq));
	s->qp = NULL;
	s->cq = NULL;
	NEED(ack.acked && ack.acked <= now_ms());
	pthread_join(thread, NULL);
	return true;
}

/* A transition in which something is missing that it requires. */
static bool refuses_half(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state }, now;
	struct ibv_qp_init_attr init;
	enum ibv_qp_state before;

	NEED(!ibv_query_qp(qp, &now, IBV_QP_STATE, &init));
	before = now.qp_state;
	NEED(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == EINVAL);
	NEED(!ibv_query_qp(qp, &now, IBV_QP_STATE, &init));
	NEED(now.qp_state == before);
	return true;
}

static bool keep_state_machine(struct set *s)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct ibv_qp_init_attr init;
	struct ibv_qp *fresh;

	if (has_states(s)) {
		NEED((fresh = make_qp(s, 1, 1)));
		NEED(refuses_half(fresh, IBV_QPS_INIT) && refuses_half(fresh, IBV_QPS_RTR));
		NEED(!ibv_destroy_qp(fresh));
		NEED(has_no_connection() || refuses_half(s->qp, IBV_QPS_RTR));
	}

	/* Only the connection manager connects; without connections, RTR is in between. */
	NEED(ibv_modify_qp(s->qp, &attr, IBV_QP_STATE));
	if (has_no_connection()) {
		attr.qp_state = IBV_QPS_RTR;
		NEED(!ibv_modify_qp(s->qp, &attr, IBV_QP_STATE));
		NEED(refuses_half(s->qp, IBV_QPS_RTS));
		NEED(refuses_half(s->qp, IBV_QPS_SQD));
	}
	attr.qp_state = 42;
	NEED(ibv_modify_qp(s->qp, &attr, IBV_QP_STATE));
	NEED(!stop(s));
	NEED(!ibv_query_qp(s->qp, &attr, IBV_QP_STATE, &init));
	NEED(attr.qp_state == IBV_QPS_ERR);
	NEED(init.cap.max_recv_wr >= DEPTH);
	return true;
}

static bool tell_of_creation(struct set *s)
{
	struct ibv_qp_init_attr init, made = {
		.send_cq = s->cq, .recv_cq = s->cq, .qp_type = type, .sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr;
	struct ibv_qp *all;

	NEED(!ibv_query_qp(s->qp, &attr, IBV_QP_CAP, &init));
	NEED(init.qp_type == type && init.send_cq == s->cq && !init.srq);
	NEED(!init.sq_sig_all);
	NEED(attr.cap.max_send_wr >= DEPTH && attr.cap.max_recv_wr >= DEPTH);
	NEED(attr.qkey == (has_no_connection() ? QKEY : 0) && !attr.dest_qp_num && !attr.rq_psn && !attr.sq_psn);
	NEED(!attr.ah_attr.is_global && !attr.ah_attr.dlid && !attr.timeout);
	if (has_states(s))
		NEED(attr.qp_state == IBV_QPS_INIT && attr.port_num == 1 &&
		     attr.qp_access_flags == (has_no_connection() ? 0 : QP_ACCESS));
	NEED((all = create_qp(s, &made)));
	NEED(!ibv_query_qp(all, &attr, IBV_QP_CAP, &init));
	NEED(init.sq_sig_all);
	NEED(!ibv_destroy_qp(all));
	return true;
}

static bool forget_keys(struct set *s)
{
	uint32_t key = s->mr->lkey;
	struct ibv_wc wc;

	/* An R_Key right without local QPN is refused. */
	NEED(!ibv_reg_mr(s->pd, s->buf, 64, IBV_ACCESS_REMOTE_WRITE));
	NEED(!ibv_reg_mr(s->pd, NULL, 1 << 20, IBV_ACCESS_LOCAL_WRITE));
	NEED(!ibv_dereg_mr(s->mr));
	NEED((s->mr = ibv_reg_mr(s->pd, s->buf, sizeof(s->buf), IBV_ACCESS_LOCAL_WRITE)));
	NEED(s->mr->lkey != key);
	if (has_no_connection()) {
		NEED(may_send(s) && know_itself(s) && send_with(s, key) && take(s->cq, &wc));
		NEED(wc.status == IBV_WC_LOC_PROT_ERR);
	}
	return true;
}

static const struct {
	const char *name;
	bool (*run)(struct set *s);
} cases[] = {
	{ "many_opens", many_opens },
	{ "busy_objects", busy_objects },
	{ "post_many", post_many },
	{ "post_too_many", post_too_many },
	{ "flush", flush_sends },
	{ "notify_once", notify_once },
	{ "destroy_in_callback", destroy_in_callback },
	{ "limits", stay_within_limits },
	{ "guid", known_by_guid },
	{ "create_data", check_create_data },
	{ "destroy_awaits_ack", destroy_awaits_ack },
	{ "overrun_awaits_ack", overrun_awaits_ack },
	{ "states", keep_state_machine },
	{ "query", tell_of_creation },
	{ "keys", forget_keys },
};

static bool set_type(const char *name)
{
	static const struct {
		const char *name;
		enum ibv_qp_type type;
	} types[] = { { "rc", IBV_QPT_RC }, { "ud", IBV_QPT_UD }, { "srd", IBV_QPT_DRIVER } };

	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(name, types[i].name))
			continue;
		type = types[i].type;
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	static struct set s;
	int opt;

	while ((opt = getopt(argc, argv, "d:q:")) != -1) {
		if (opt == 'd')
			device = optarg;
		else if (opt != 'q' || !set_type(optarg))
			return 2;
	}
	if (optind + 1 < argc)
		argument = argv[optind + 1];
	for (unsigned int i = 0; optind < argc && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(argv[optind], cases[i].name))
			return !(make(&s) && cases[i].run(&s) && destroy(&s));
	fputs("usage: conform [-d DEVICE] [-q rc|ud|srd] CASE [ARGUMENT]\n", stderr);
	return 2;
}
