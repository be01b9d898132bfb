// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Make and destroy verbs objects of all sizes, and ask for what must be refused:
 *
 *	objs [-d DEVICE] [-n COUNT] [-g MAX_MR_SHIFT] PART...
 *
 * Parts: cqs, qps, mrs, states, refused, open (contexts). Says what failed;
 * the exit status is 0 when nothing did.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE		4096ul
#define HUGE_PAGE	(2ul << 20)

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_device_attr attr;
static const char *device;
static unsigned int count = 1000;
static unsigned int max_mr_shift = 30;
static unsigned int failures;

#define EXPECT(cond, ...)						\
	do {								\
		if (!(cond)) {						\
			failures++;					\
			fprintf(stderr, "objs: " __VA_ARGS__);		\
			fprintf(stderr, " (errno %d)\n", errno);	\
		}							\
	} while (0)

static void fail(const char *what)
{
	fprintf(stderr, "objs: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *opened = NULL;

	if (!list)
		fail("no device list");
	for (int i = 0; list[i] && !opened; i++)
		if (!device || !strcmp(ibv_get_device_name(list[i]), device))
			opened = ibv_open_device(list[i]);
	if (!opened)
		fail("cannot open the device");
	ibv_free_device_list(list);
	return opened;
}

/* 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17 ... max, and over again. */
static unsigned int depth(unsigned int i, unsigned int max)
{
	static unsigned int known[128], n;
	static unsigned int known_max;

	if (known_max != max) {
		known_max = max;
		n = 0;
		for (unsigned int p = 1; p <= max && p; p *= 2) {
			for (int off = -1; off <= 1; off++)
				if (p + off >= 1 && p + off <= max &&
				    (!n || known[n - 1] < p + off))
					known[n++] = p + off;
		}
		if (known[n - 1] < max)
			known[n++] = max;
	}
	return known[i % n];
}

static struct ibv_cq *make_cq(unsigned int cqe, unsigned int i)
{
	return ibv_create_cq(ctx, cqe, NULL, NULL, i % ctx->num_comp_vectors);
}

static void cqs(void)
{
	struct ibv_cq **cq = calloc(count, sizeof(*cq));

	/* Many at once, then each size. */
	for (unsigned int i = 0; i < count; i++) {
		cq[i] = make_cq(depth(i, 4096), i);
		EXPECT(cq[i], "CQ %u with %u entries", i, depth(i, 4096));
		if (cq[i])
			EXPECT(cq[i]->cqe >= (int)depth(i, 4096), "CQ %u has %d entries", i,
			       cq[i]->cqe);
	}
	for (unsigned int i = 0; i < count; i++)
		if (cq[i])
			EXPECT(!ibv_destroy_cq(cq[i]), "CQ %u stays", i);
	free(cq);
	for (unsigned int n = 1; n; n = n < (unsigned int)attr.max_cqe ? 2 * n : 0) {
		struct ibv_cq *one = make_cq(n, 0);

		EXPECT(one, "CQ with %u entries", n);
		if (one) {
			EXPECT(!ibv_req_notify_cq(one, 0), "CQ with %u: notification", n);
			EXPECT(!ibv_destroy_cq(one), "CQ with %u stays", n);
		}
	}
}

static struct ibv_qp *make_qp(struct ibv_cq *cq, unsigned int send, unsigned int recv)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = send, .max_recv_wr = recv, .max_send_sge = 6,
			 .max_recv_sge = 1, .max_inline_data = 96 },
	};

	return ibv_create_qp(pd, &init);
}

static void check_qp(struct ibv_qp *qp, unsigned int send, unsigned int recv)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr qp_attr;

	EXPECT(!ibv_query_qp(qp, &qp_attr, IBV_QP_STATE | IBV_QP_CAP, &init), "query QP");
	EXPECT(qp_attr.cap.max_send_wr >= send && qp_attr.cap.max_recv_wr >= recv &&
	       qp_attr.cap.max_inline_data == 96, "QP for %u/%u has %u/%u", send, recv,
	       qp_attr.cap.max_send_wr, qp_attr.cap.max_recv_wr);
	EXPECT(init.qp_type == IBV_QPT_RC && init.send_cq == qp->send_cq, "QP's birth");
}

static void qps(void)
{
	struct ibv_qp **qp = calloc(count, sizeof(*qp));
	struct ibv_cq *cq = make_cq(64, 0);
	unsigned int max = attr.max_qp_wr;

	if (!cq)
		fail("CQ");
	for (unsigned int i = 0; i < count; i++) {
		qp[i] = make_qp(cq, depth(i, 64), depth(i + 3, 64));
		EXPECT(qp[i], "QP %u", i);
		if (qp[i] && i % 16 == 0)
			check_qp(qp[i], depth(i, 64), depth(i + 3, 64));
	}
	for (unsigned int i = 0; i < count; i++)
		if (qp[i])
			EXPECT(!ibv_destroy_qp(qp[i]), "QP %u stays", i);
	free(qp);
	for (unsigned int n = 1; n; n = n < max ? 2 * n : 0) {
		struct ibv_qp *one = make_qp(cq, n, max / n);

		EXPECT(one, "QP with %u/%u", n, max / n);
		if (one) {
			check_qp(one, n, max / n);
			EXPECT(!ibv_destroy_qp(one), "QP with %u stays", n);
		}
	}
	EXPECT(!ibv_destroy_cq(cq), "CQ stays");
}

static void *plain(size_t size)
{
	void *buf = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buf == MAP_FAILED)
		fail("memory");
	return buf;
}

/* A large range that needs one translation entry for each page and little memory. */
static void *aliased(size_t size)
{
	int fd = memfd_create("objs", 0);
	char *buf;

	if (fd < 0 || ftruncate(fd, HUGE_PAGE))
		fail("memfd");
	buf = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		fail("address space");
	for (size_t at = 0; at < size; at += HUGE_PAGE)
		if (mmap(buf + at, size - at < HUGE_PAGE ? size - at : HUGE_PAGE,
			 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			fail("alias");
	close(fd);
	return buf;
}

static void reg(void *addr, size_t size, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, addr, size, access);

	EXPECT(mr, "MR of %zu bytes at %p", size, addr);
	if (!mr)
		return;
	EXPECT(mr->lkey == mr->rkey && mr->lkey >> 8, "keys %x %x", mr->lkey, mr->rkey);
	EXPECT(!ibv_dereg_mr(mr), "MR of %zu bytes stays", size);
}

static void mrs(void)
{
	int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
		  IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_mr **mr = calloc(count, sizeof(*mr));
	size_t small = 64 * PAGE;
	char *buf = plain(small);

	for (unsigned int i = 0; i < count; i++) {
		mr[i] = ibv_reg_mr(pd, buf + i % 977, small - i % 977 - i % 31, all);
		EXPECT(mr[i], "MR %u", i);
	}
	for (unsigned int i = 0; i < count; i++)
		if (mr[i])
			EXPECT(!ibv_dereg_mr(mr[i]), "MR %u stays", i);
	free(mr);
	munmap(buf, small);

	/* 4 KiB pages: inside the command, then one, two and three levels. */
	for (unsigned int shift = 12; shift <= max_mr_shift; shift++) {
		buf = aliased(1ul << shift);
		reg(buf, 1ul << shift, all);
		if (shift > 12) {
			reg(buf + 5, (1ul << shift) - 10, IBV_ACCESS_LOCAL_WRITE);
			reg(buf, (1ul << shift) - PAGE, 0);
		}
		munmap(buf, 1ul << shift);
	}
	buf = mmap(NULL, 4 * HUGE_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (buf != MAP_FAILED) {
		reg(buf, 4 * HUGE_PAGE, all);
		reg(buf + 7, 3 * HUGE_PAGE, all);
		munmap(buf, 4 * HUGE_PAGE);
	}
}

static int modify(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr qp_attr = { .qp_state = state };

	return ibv_modify_qp(qp, &qp_attr, IBV_QP_STATE);
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr qp_attr = { .qp_state = IBV_QPS_UNKNOWN };

	ibv_query_qp(qp, &qp_attr, IBV_QP_STATE, &init);
	return qp_attr.qp_state;
}

/* What iWARP lets a process do with a QP that has no connection. */
static void states(void)
{
	struct ibv_cq *cq = make_cq(64, 0);
	struct ibv_qp *qp = make_qp(cq, 8, 8);

	if (!qp)
		fail("QP");
	EXPECT(state_of(qp) == IBV_QPS_INIT, "new QP in state %d", state_of(qp));
	EXPECT(!modify(qp, IBV_QPS_INIT), "INIT");
	EXPECT(!modify(qp, IBV_QPS_RTR), "RTR");
	EXPECT(state_of(qp) == IBV_QPS_RTR, "QP in state %d, not RTR", state_of(qp));
	EXPECT(modify(qp, IBV_QPS_RTS) == EINVAL, "RTS without a connection");
	EXPECT(!modify(qp, IBV_QPS_SQD), "SQD");
	EXPECT(!modify(qp, IBV_QPS_ERR), "ERR");
	EXPECT(state_of(qp) == IBV_QPS_ERR, "QP in state %d, not ERR", state_of(qp));
	EXPECT(modify(qp, IBV_QPS_INIT) == EINVAL, "INIT from ERR");
	EXPECT(!ibv_destroy_qp(qp), "QP stays");
	EXPECT(!ibv_destroy_cq(cq), "CQ stays");
}

static void refused(void)
{
	struct ibv_cq *cq = make_cq(64, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ibv_port_attr port;
	char *buf = plain(PAGE);

	EXPECT(!make_cq(attr.max_cqe + 1, 0), "CQ with %d entries", attr.max_cqe + 1);
	EXPECT(!ibv_create_qp(pd, &init), "UD QP");
	init.qp_type = IBV_QPT_RC;
	init.cap.max_send_sge = 7;
	EXPECT(!ibv_create_qp(pd, &init), "QP with 7 SGEs");
	EXPECT(!make_qp(cq, attr.max_qp_wr + 1, 1), "QP with %d sends", attr.max_qp_wr + 1);
	EXPECT(!make_qp(cq, 1, 65536), "QP with 65536 receives");
	EXPECT(!ibv_reg_mr(pd, buf, 0, 0), "empty MR");
	EXPECT(!ibv_reg_mr(pd, buf, PAGE, IBV_ACCESS_ON_DEMAND), "on-demand MR");
	EXPECT(!ibv_reg_mr(pd, buf, PAGE, IBV_ACCESS_REMOTE_WRITE), "remote without local write");
	munmap(buf, PAGE);
	EXPECT(!ibv_reg_mr(pd, buf, PAGE, 0), "MR of nothing");
	EXPECT(ibv_query_port(ctx, 2, &port), "port 2");
	EXPECT(!ibv_destroy_cq(cq), "CQ stays");
}

static void contexts(void)
{
	struct ibv_context **list = calloc(count, sizeof(*list));

	for (unsigned int i = 0; i < count; i++)
		list[i] = open_device();
	for (unsigned int i = 0; i < count; i++)
		EXPECT(!ibv_close_device(list[i]), "context %u stays", i);
	free(list);
}

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "cqs", cqs }, { "qps", qps }, { "mrs", mrs }, { "states", states },
	{ "refused", refused }, { "open", contexts },
};

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "d:n:g:")) != -1) {
		switch (opt) {
		case 'd':
			device = optarg;
			break;
		case 'n':
			count = strtoul(optarg, NULL, 0);
			break;
		case 'g':
			max_mr_shift = strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	ctx = open_device();
	pd = ibv_alloc_pd(ctx);
	if (!pd || ibv_query_device(ctx, &attr))
		fail("device");
	for (; optind < argc; optind++) {
		size_t i = 0;

		while (i < sizeof(parts) / sizeof(*parts) && strcmp(argv[optind], parts[i].name))
			i++;
		if (i == sizeof(parts) / sizeof(*parts)) {
			fprintf(stderr, "objs: no part '%s'\n", argv[optind]);
			return 2;
		}
		parts[i].run();
	}
	EXPECT(!ibv_dealloc_pd(pd), "PD stays");
	EXPECT(!ibv_close_device(ctx), "context stays");
	return failures ? 1 : 0;
}
