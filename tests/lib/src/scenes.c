// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the probe shall name, and what looks like it and is as it should be:
 *
 *	scenes DEVICE SCENE [ARGUMENT...]
 *
 * A scene that stays prints "ready" and waits for end of input. "churn" prints the
 * calls that it made.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL
#define RW (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static enum ibv_qp_type type = IBV_QPT_RC;

static void fail(const char *what)
{
	fprintf(stderr, "scenes: %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned long number(char **argv, int at)
{
	return argv[at] ? strtoul(argv[at], NULL, 0) : 0;
}

static void open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++) {
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	}
	if (!ctx)
		fail("open");
	pd = ibv_alloc_pd(ctx);
	if (!pd)
		fail("ibv_alloc_pd");
}

static void *memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

static void stay(void)
{
	char byte;

	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

/* How late or how often something is, unless the input ends before. */
static void wait_ms(unsigned long ms)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	poll(&input, 1, (int)ms);
}

static struct ibv_qp *make_qp(uint32_t send_wrs)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = send_wrs, .max_recv_wr = 16,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return ibv_create_qp(pd, &attr);
}

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = RW, .qkey = 1,
	};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)))
		fail("to init");
}

/* Connected with another QP of this process. */
static void connect_qp(struct ibv_qp *qp, struct ibv_qp *peer, int gid)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .sgid_index = gid, .hop_limit = 1 } },
	};

	if (ibv_query_gid(ctx, 1, gid, &attr.ah_attr.grh.dgid))
		fail("ibv_query_gid");
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		fail("to rtr");
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			  IBV_QP_MAX_QP_RD_ATOMIC))
		fail("to rts");
}

static struct ibv_qp *pair(int gid, struct ibv_qp **other)
{
	struct ibv_qp *a, *b;

	cq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	a = cq ? make_qp(16) : NULL;
	b = a ? make_qp(16) : NULL;
	if (!b)
		fail("queues");
	to_init(a);
	to_init(b);
	connect_qp(a, b, gid);
	connect_qp(b, a, gid);
	*other = b;
	return a;
}

/* ---- scenes ------------------------------------------------------------------- */

/* N times an object of each kind, the QP of type UD or RC; each is one call of the kernel. */
static void churn(char **argv)
{
	unsigned long n = number(argv, 0), i, calls = 2;
	char *p = memory(PAGE);
	struct ibv_mr *mr;
	struct ibv_qp *qp;

	if (argv[1] && !strcmp(argv[1], "ud"))
		type = IBV_QPT_UD;
	for (i = 0; i < n; i++) {
		mr = ibv_reg_mr(pd, p, PAGE, type == IBV_QPT_UD ? IBV_ACCESS_LOCAL_WRITE : RW);
		cq = mr ? ibv_create_cq(ctx, 16, NULL, NULL, 0) : NULL;
		qp = cq ? make_qp(16) : NULL;
		if (!qp)
			fail("churn");
		to_init(qp);
		if (ibv_destroy_qp(qp) || ibv_destroy_cq(cq) ||
		    ibv_dereg_mr(mr))
			fail("churn");
		calls += 7;
	}
	if (ibv_dealloc_pd(pd))
		fail("ibv_dealloc_pd");
	printf("%lu\n", calls + 1);
}

/* N times the same call; prints the nanoseconds of one. */
static void query(char **argv)
{
	unsigned long n = number(argv, 0), i;
	struct ibv_qp_init_attr init;
	struct timespec from, to;
	struct ibv_qp_attr attr;
	struct ibv_qp *qp;

	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	qp = make_qp(16);
	if (!qp)
		fail("queues");
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < n; i++) {
		if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
			fail("ibv_query_qp");
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%lu\n", ((to.tv_sec - from.tv_sec) * 1000000000UL +
			 to.tv_nsec - from.tv_nsec) / n);
}

static void rc(char **argv)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp *b, *a = pair(number(argv, 1), &b);

	if (!strcmp(argv[0], "forced")) {
		if (ibv_modify_qp(a, &attr, IBV_QP_STATE))
			fail("to err");
	} else if (!strcmp(argv[0], "teardown")) {
		if (ibv_modify_qp(a, &attr, IBV_QP_STATE) ||
		    ibv_destroy_qp(a))
			fail("teardown");
	} else if (strcmp(argv[0], "connected")) {
		fail(argv[0]);
	}
	stay();
}

/* More entries than the device has; then perhaps as many as it has. */
static void limit(char **argv)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(ctx, &attr))
		fail("ibv_query_device");
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	if (make_qp(attr.max_qp_wr + 1))
		fail("the limit is none");
	if (argv[0] && !strcmp(argv[0], "search") && !make_qp(64))
		fail("less than the limit");
	stay();
}

/* As a user without rights, who may lock that much; the buffer is so far into a page. */
static void memlock(char **argv)
{
	size_t size = number(argv, 1), offset = argv[1] ? number(argv, 2) : 0;
	struct rlimit rlimit = { number(argv, 0), number(argv, 0) };
	char *p = (char *)memory(size + offset) + offset;

	if (setrlimit(RLIMIT_MEMLOCK, &rlimit) || setuid(65534))
		fail("rights");
	printf("%s\n", ibv_reg_mr(pd, p, size, RW) ? "registered" :
						     strerror(errno));
	stay();
}

/* N regions, each after so many ms: kept, or as a cache that is full, or given back. */
static void regions(char **argv)
{
	unsigned long n = number(argv, 1), ms = number(argv, 2), i;
	char *p = memory(PAGE);
	struct ibv_mr *mr;

	for (i = 0; i < n; i++) {
		mr = ibv_reg_mr(pd, p, PAGE, RW);
		if (!mr || (!strcmp(argv[0], "balanced") && ibv_dereg_mr(mr)))
			fail("region");
		wait_ms(ms);
	}
	stay();
}

struct late {
	int fd;
	unsigned long ms;
	char *page;
};

/* Gives pages that nobody has touched, each late. */
static void *give_pages(void *data)
{
	struct late *late = data;
	struct uffd_msg msg;
	struct uffdio_copy copy;

	while (read(late->fd, &msg, sizeof(msg)) == sizeof(msg)) {
		wait_ms(late->ms);
		copy = (struct uffdio_copy){
			.dst = msg.arg.pagefault.address & ~(PAGE - 1),
			.src = (uintptr_t)late->page, .len = PAGE,
		};
		ioctl(late->fd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

static void slow(char **argv)
{
	struct late late = { .ms = number(argv, 0), .page = memory(PAGE) };
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *p = memory(PAGE);
	pthread_t thread;

	late.page[0] = 1;
	late.fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	reg.range.start = (uintptr_t)p;
	reg.range.len = PAGE;
	if (late.fd < 0 || ioctl(late.fd, UFFDIO_API, &api) ||
	    ioctl(late.fd, UFFDIO_REGISTER, &reg) ||
	    pthread_create(&thread, NULL, give_pages, &late))
		fail("userfaultfd");
	/* By which its process is known while the call lasts. */
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	if (!cq || !make_qp(16))
		fail("objects");
	if (!ibv_reg_mr(pd, p, PAGE, RW))
		fail("ibv_reg_mr");
	stay();
}

static void large(char **argv)
{
	size_t size = number(argv, 0);

	if (!ibv_reg_mr(pd, memory(size), size, RW))
		fail("ibv_reg_mr");
	stay();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(char **argv);
	} scenes[] = {
		{ "churn", churn }, { "query", query }, { "rc", rc }, { "limit", limit },
		{ "memlock", memlock }, { "regions", regions },
		{ "slow", slow }, { "large", large },
	};

	if (argc < 3)
		return 2;
	open_device(argv[1]);
	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
		if (!strcmp(scenes[i].name, argv[2])) {
			scenes[i].run(argv + 3);
			return 0;
		}
	}
	return 2;
}
