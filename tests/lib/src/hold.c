// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Make verbs objects and keep them while a command runs:
 *
 *	hold [-d DEVICE] [-q QPS] [-c CQS] [-m MRS] [-s MR_BYTES] [-a AHS] [-w WRS] [-p] [-u]
 *	     [-x BYTES] [-- COMMAND...]
 *
 * QPs are RC, with -u UD. Without a command it prints "ready" and waits for end of input; with -x,
 * each line of input makes it register another region of that size, and print "registered" or the
 * error, whereafter it goes on. The exit status is the command's. Used by the demo, the benchmarks and the VM tests.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct objects {
	const char *device;
	unsigned int qps, cqs, mrs, ahs, wrs;
	size_t mr_bytes, more_bytes;
	bool post, ud;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq **cq;
	struct ibv_qp **qp;
	struct ibv_mr **mr;
	struct ibv_ah **ah;
	void *buf;
};

static void fail(const char *what)
{
	fprintf(stderr, "hold: %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned long number(const char *arg)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(arg, &end, 0);
	if (errno || end == arg || *end) {
		fprintf(stderr, "hold: %s: not a number\n", arg);
		exit(2);
	}
	return n;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	if (!list)
		fail("no device list");
	for (int i = 0; list[i]; i++) {
		if (name && strcmp(ibv_get_device_name(list[i]), name))
			continue;
		ctx = ibv_open_device(list[i]);
		if (!ctx)
			fail("cannot open device");
		break;
	}
	if (!ctx) {
		fprintf(stderr, "hold: %s: no such device\n", name ? name : "(first)");
		exit(1);
	}
	ibv_free_device_list(list);
	return ctx;
}

static void make_queues(struct objects *o)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = o->ud ? IBV_QPT_UD : IBV_QPT_RC,
		.cap = { .max_send_wr = o->wrs, .max_recv_wr = o->wrs,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	o->cq = calloc(o->cqs + 1, sizeof(*o->cq));
	o->qp = calloc(o->qps + 1, sizeof(*o->qp));
	if (!o->cq || !o->qp)
		fail("memory");
	for (unsigned int i = 0; i < o->cqs; i++) {
		o->cq[i] = ibv_create_cq(o->ctx, 64, NULL, NULL,
					 i % o->ctx->num_comp_vectors);
		if (!o->cq[i])
			fail("ibv_create_cq");
		if (ibv_req_notify_cq(o->cq[i], 0))
			fail("ibv_req_notify_cq");
	}
	for (unsigned int i = 0; i < o->qps; i++) {
		attr.send_cq = o->cq[i % o->cqs];
		attr.recv_cq = o->cq[i % o->cqs];
		o->qp[i] = ibv_create_qp(o->pd, &attr);
		if (!o->qp[i])
			fail("ibv_create_qp");
	}
}

static void make_mrs(struct objects *o)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_WRITE;

	/* DMA debugging wants no page to be mapped twice. */
	size_t page = sysconf(_SC_PAGESIZE);
	size_t stride = (o->mr_bytes + page - 1) & ~(page - 1);

	o->mr = calloc(o->mrs + 1, sizeof(*o->mr));
	o->buf = mmap(NULL, stride * (o->mrs ? o->mrs : 1), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!o->mr || o->buf == MAP_FAILED)
		fail("memory");
	for (unsigned int i = 0; i < o->mrs; i++) {
		o->mr[i] = ibv_reg_mr(o->pd, o->buf + i * stride, o->mr_bytes, access);
		if (!o->mr[i])
			fail("ibv_reg_mr");
	}
}

/* Each for another peer, none of which exists. */
static void make_ahs(struct objects *o)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };

	attr.grh.dgid.raw[0] = 0xfe;
	attr.grh.dgid.raw[1] = 0x80;
	o->ah = calloc(o->ahs + 1, sizeof(*o->ah));
	if (!o->ah)
		fail("memory");
	for (unsigned int i = 0; i < o->ahs; i++) {
		attr.grh.dgid.raw[14] = i >> 8;
		attr.grh.dgid.raw[15] = i;
		o->ah[i] = ibv_create_ah(o->pd, &attr);
		if (!o->ah[i])
			fail("ibv_create_ah");
	}
}

static void post_receives(struct objects *o)
{
	struct ibv_sge sge = { .addr = (uintptr_t)o->buf, .length = 64 };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (!o->mrs)
		return;
	sge.lkey = o->mr[0]->lkey;
	for (unsigned int i = 0; i < o->qps; i++)
		for (unsigned int n = 0; n <= i % o->wrs; n++)
			if (ibv_post_recv(o->qp[i], &wr, &bad))
				fail("ibv_post_recv");
}

/* Registered until the end. */
static void register_more(struct objects *o)
{
	void *buf = mmap(NULL, o->more_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buf == MAP_FAILED)
		fail("memory");
	puts(ibv_reg_mr(o->pd, buf, o->more_bytes, IBV_ACCESS_LOCAL_WRITE) ?
		     "registered" : strerror(errno));
	fflush(stdout);
}

static int wait_for_end(struct objects *o)
{
	int c;

	puts("ready");
	fflush(stdout);
	while ((c = getchar()) != EOF) {
		if (c == '\n' && o->more_bytes)
			register_more(o);
	}
	return 0;
}

static int run(struct objects *o, char **argv)
{
	int status;
	pid_t pid;

	if (!*argv)
		return wait_for_end(o);
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		execvp(argv[0], argv);
		fprintf(stderr, "hold: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0)
		fail("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void destroy(struct objects *o)
{
	for (unsigned int i = 0; i < o->qps; i++)
		if (ibv_destroy_qp(o->qp[i]))
			fail("ibv_destroy_qp");
	for (unsigned int i = 0; i < o->cqs; i++)
		if (ibv_destroy_cq(o->cq[i]))
			fail("ibv_destroy_cq");
	for (unsigned int i = 0; i < o->mrs; i++)
		if (ibv_dereg_mr(o->mr[i]))
			fail("ibv_dereg_mr");
	for (unsigned int i = 0; i < o->ahs; i++)
		if (ibv_destroy_ah(o->ah[i]))
			fail("ibv_destroy_ah");
	if (ibv_dealloc_pd(o->pd) || ibv_close_device(o->ctx))
		fail("close");
}

int main(int argc, char **argv)
{
	struct objects o = { .qps = 1, .cqs = 1, .mrs = 1, .wrs = 1, .mr_bytes = 4096 };
	int opt, status;

	while ((opt = getopt(argc, argv, "+d:q:c:m:s:a:w:x:pu")) != -1) {
		switch (opt) {
		case 'd': o.device = optarg; break;
		case 'q': o.qps = number(optarg); break;
		case 'c': o.cqs = number(optarg); break;
		case 'm': o.mrs = number(optarg); break;
		case 's': o.mr_bytes = number(optarg); break;
		case 'a': o.ahs = number(optarg); break;
		case 'w': o.wrs = number(optarg); break;
		case 'x': o.more_bytes = number(optarg); break;
		case 'p': o.post = true; break;
		case 'u': o.ud = true; break;
		default: return 2;
		}
	}
	if (!o.wrs || !o.mr_bytes || (o.qps && !o.cqs)) {
		fprintf(stderr, "hold: QPs need a CQ, -w and -s are at least 1\n");
		return 2;
	}
	o.ctx = open_device(o.device);
	o.pd = ibv_alloc_pd(o.ctx);
	if (!o.pd)
		fail("ibv_alloc_pd");
	make_queues(&o);
	make_mrs(&o);
	make_ahs(&o);
	if (o.post)
		post_receives(&o);
	status = run(&o, argv + optind);
	destroy(&o);
	return status;
}
