// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process whose QP is ready in the adapter, while the driver still waits to say so:
 *
 *	late DEVICE
 *
 * The driver's answer goes to a page that is missing. Prints "waiting" when the driver
 * waits for that page, provides it at the end of input, and prints "created" or
 * "refused: ERROR". Ends with 0 in both cases, 2 if it could not begin. Run as root.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

static char *missing;	/* the page */
static bool armed;

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

static int pass_on(int fd, unsigned long request, void *arg)
{
	return syscall(SYS_ioctl, fd, request, arg);
}

/* In place of the C library's, for libibverbs. */
int ioctl(int fd, unsigned long request, ...)
{
	struct ib_uverbs_ioctl_hdr *call;
	void *arg, *answer;
	va_list args;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	call = arg;
	if (!armed || request != RDMA_VERBS_IOCTL || call->object_id != UVERBS_OBJECT_QP ||
	    call->method_id != UVERBS_METHOD_QP_CREATE)
		return pass_on(fd, request, arg);
	for (int i = 0; i < call->num_attrs; i++) {
		struct ib_uverbs_attr *attr = &call->attrs[i];

		if (attr->attr_id != UVERBS_ATTR_UHW_OUT)
			continue;
		armed = false;
		answer = (void *)(uintptr_t)attr->data;
		attr->data = (uintptr_t)missing;
		ret = pass_on(fd, request, arg);
		attr->data = (uintptr_t)answer;
		memcpy(answer, missing, attr->len);
		return ret;
	}
	return pass_on(fd, request, arg);
}

static void *provide(void *arg)
{
	struct uffdio_zeropage zero = { .range = { .start = (uintptr_t)missing, .len = PAGE } };
	struct uffd_msg msg;
	int fd = *(int *)arg;

	need(read(fd, &msg, sizeof(msg)) == sizeof(msg) && msg.event == UFFD_EVENT_PAGEFAULT,
	     "page fault");
	puts("waiting");
	while (getchar() != EOF)
		;
	need(!pass_on(fd, UFFDIO_ZEROPAGE, &zero), "page");
	return NULL;
}

static void begin_missing(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	static pthread_t thread;
	static int fd;

	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	need(fd >= 0 && !pass_on(fd, UFFDIO_API, &api), "userfaultfd");
	missing = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(missing != MAP_FAILED, "mmap");
	range.range.start = (uintptr_t)missing;
	range.range.len = PAGE;
	need(!pass_on(fd, UFFDIO_REGISTER, &range), "register");
	errno = pthread_create(&thread, NULL, provide, &fd);
	need(!errno, "thread");
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_context *ctx = NULL;
	struct ibv_pd *pd;
	struct ibv_qp *qp;

	setlinebuf(stdout);
	need(argc == 2, "usage: late DEVICE");
	for (int i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), argv[1]))
			ctx = ibv_open_device(list[i]);
	need(ctx, argv[1]);
	attr.qp_type = strncmp(argv[1], "efa", 3) ? IBV_QPT_RC : IBV_QPT_UD;
	pd = ibv_alloc_pd(ctx);
	attr.send_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	attr.recv_cq = attr.send_cq;
	need(pd && attr.send_cq, "objects");
	begin_missing();
	armed = true;
	qp = ibv_create_qp(pd, &attr);
	if (armed) {
		fprintf(stderr, "the library does not create QPs as expected\n");
		return 2;
	}
	printf(qp ? "created\n" : "refused: %s\n", strerror(errno));
	return 0;
}
