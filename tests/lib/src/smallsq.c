// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A QP whose send queue has fewer bytes than its work requests need:
 *
 *	smallsq EFA_DEVICE BYTES
 *
 * The provider's request to the driver is altered. Prints the QP's number, and keeps the QP until
 * the end of input; or prints "refused: ERROR". Ends with 0 in both cases, 2 if it could not begin.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH 16

/* What libefa requests (hw/efa.md 12.6). */
struct request {
	uint32_t mask, rq_bytes, sq_bytes, type;
};

static uint32_t bytes;
static bool altered;

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

/* In place of the C library's, for libibverbs. */
int ioctl(int fd, unsigned long request, ...)
{
	struct ib_uverbs_ioctl_hdr *call;
	struct request *theirs;
	va_list args;

	va_start(args, request);
	call = va_arg(args, void *);
	va_end(args);
	for (int i = 0; request == RDMA_VERBS_IOCTL && call->object_id == UVERBS_OBJECT_QP &&
			call->method_id == UVERBS_METHOD_QP_CREATE && i < call->num_attrs; i++) {
		if (call->attrs[i].attr_id != UVERBS_ATTR_UHW_IN ||
		    call->attrs[i].len < sizeof(*theirs))
			continue;
		theirs = (void *)(uintptr_t)call->attrs[i].data;
		theirs->sq_bytes = bytes;
		altered = true;
	}
	return syscall(SYS_ioctl, fd, request, call);
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_context *ctx = NULL;
	struct ibv_pd *pd;
	struct ibv_qp *qp;

	setlinebuf(stdout);
	need(argc == 3, "usage: smallsq EFA_DEVICE BYTES");
	bytes = atoi(argv[2]);
	for (int i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), argv[1]))
			ctx = ibv_open_device(list[i]);
	need(ctx, argv[1]);
	pd = ibv_alloc_pd(ctx);
	attr.send_cq = ibv_create_cq(ctx, DEPTH, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	need(pd && attr.send_cq, "objects");
	qp = ibv_create_qp(pd, &attr);
	if (!altered) {
		fprintf(stderr, "the library does not create QPs as expected\n");
		return 2;
	}
	if (!qp) {
		printf("refused: %s\n", strerror(errno));
		return 0;
	}
	printf("%u\n", qp->qp_num);
	while (getchar() != EOF)
		;
	return ibv_destroy_qp(qp) ? 1 : 0;
}
