// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A sender without a peer: connects an RC QP to QP 7 at an address and sends to it.
 *
 *	lonely DEVICE GID-INDEX ADDRESS
 *
 * Prints "init" and waits for a line of input, before it changes the QP to RTR and prints "rtr ERRNO",
 * and before it sends and prints "status STATUS". It keeps the QP until end of input.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what)
{
	fprintf(stderr, "lonely: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx)
		fail("cannot open the device");
	return ctx;
}

/* False at end of input. */
static int wait_for_line(void)
{
	int c;

	fflush(stdout);
	while ((c = getchar()) != '\n' && c != EOF)
		;
	return c != EOF;
}

static int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
					IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int to_rtr(struct ibv_qp *qp, int index, const char *address)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = 7,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .sgid_index = index, .hop_limit = 64 } },
	};
	unsigned char *gid = attr.ah_attr.grh.dgid.raw;

	gid[10] = gid[11] = 0xff;
	if (inet_pton(AF_INET, address, gid + 12) != 1)
		fail(address);
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
					IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					IBV_QP_MIN_RNR_TIMER);
}

/* Each of six retries is after some 16 ms; with seven, rdma_rxe never gives up. */
static int to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = 12, .retry_cnt = 6,
		.rnr_retry = 7, .max_rd_atomic = 1,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
					IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int send_one(struct ibv_qp *qp, struct ibv_cq *cq)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int n;

	if (ibv_post_send(qp, &wr, &bad))
		fail("ibv_post_send");
	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		;
	return n < 0 ? n : (int)wc.status;
}

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	int ret;

	if (argc != 4)
		return 2;
	ctx = open_device(argv[1]);
	pd = ibv_alloc_pd(ctx);
	attr.send_cq = attr.recv_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	if (!pd || !attr.send_cq)
		fail("PD or CQ");
	qp = ibv_create_qp(pd, &attr);
	if (!qp || to_init(qp))
		fail("QP");
	puts("init");
	if (!wait_for_line())
		return 0;
	ret = to_rtr(qp, atoi(argv[2]), argv[3]);
	printf("rtr %d\n", ret);
	if (!wait_for_line())
		return 0;
	if (!ret) {
		if (to_rts(qp))
			fail("RTS");
		printf("status %d\n", send_one(qp, attr.send_cq));
	}
	while (wait_for_line())
		;
	return 0;
}
