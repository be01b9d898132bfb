// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What objects of verbs cost the process that makes them, its calls of the kernel
 * included:
 *
 *	objects [-n COUNT] [-r ROUNDS] [-m GIB] DEVICE
 *
 * Prints, for each kind of object, its name and what one that is created and
 * destroyed takes of CPU time, in nanoseconds: the median round. QPs are RC with iWARP,
 * otherwise those that EFA has. Threads of the
 * kernel that serve a virtual adapter are not in it. Regions have 4 KiB and up to
 * GIB (default: 0, up to 256 MiB) of memory that is there already.
 */
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAX_ROUNDS 99

struct bench {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	union ibv_gid gid;
	char *memory;
	size_t bytes;
};

typedef int pair_fn(struct bench *b);

static int pair_pd(struct bench *b)
{
	struct ibv_pd *pd = ibv_alloc_pd(b->ctx);

	return pd ? ibv_dealloc_pd(pd) : -1;
}

static int pair_cq(struct bench *b)
{
	struct ibv_cq *cq = ibv_create_cq(b->ctx, 64, NULL, NULL, 0);

	return cq ? ibv_destroy_cq(cq) : -1;
}

static struct ibv_qp_init_attr qp_attr(const struct bench *b, enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr) {
		.send_cq = b->cq, .recv_cq = b->cq, .qp_type = type,
		.cap = { .max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
}

static int pair_ud(struct bench *b)
{
	struct ibv_qp_init_attr attr = qp_attr(b, IBV_QPT_UD);
	struct ibv_qp *qp = ibv_create_qp(b->pd, &attr);

	return qp ? ibv_destroy_qp(qp) : -1;
}

static int pair_rc(struct bench *b)
{
	struct ibv_qp_init_attr attr = qp_attr(b, IBV_QPT_RC);
	struct ibv_qp *qp = ibv_create_qp(b->pd, &attr);

	return qp ? ibv_destroy_qp(qp) : -1;
}

/* As a process makes it ready to send. */
static int pair_srd(struct bench *b)
{
	struct ibv_qp_init_attr attr = qp_attr(b, IBV_QPT_DRIVER);
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11111111 };
	struct ibv_qp *qp;
	int ret;

	qp = efadv_create_driver_qp(b->pd, &attr, EFADV_QP_DRIVER_TYPE_SRD);
	if (!qp)
		return -1;
	ret = ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	to.qp_state = IBV_QPS_RTR;
	ret = ret ? ret : ibv_modify_qp(qp, &to, IBV_QP_STATE);
	to.qp_state = IBV_QPS_RTS;
	ret = ret ? ret : ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN);
	return ibv_destroy_qp(qp) || ret ? -1 : 0;
}

static int pair_ah(struct bench *b)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1, .grh.dgid = b->gid };
	struct ibv_ah *ah = ibv_create_ah(b->pd, &attr);

	return ah ? ibv_destroy_ah(ah) : -1;
}

static int pair_mr(struct bench *b)
{
	struct ibv_mr *mr = ibv_reg_mr(b->pd, b->memory, b->bytes, IBV_ACCESS_LOCAL_WRITE);

	return mr ? ibv_dereg_mr(mr) : -1;
}

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct bench *b, const char *name, pair_fn *pair, int count, int rounds)
{
	double took[MAX_ROUNDS], begin;

	for (int r = -1; r < rounds; r++) {
		begin = cpu_ns();
		for (int i = 0; i < count; i++)
			if (pair(b)) {
				perror(name);
				exit(1);
			}
		/* The first one warms up. */
		if (r >= 0)
			took[r] = (cpu_ns() - begin) / count;
	}
	qsort(took, rounds, sizeof(*took), compare);
	printf("%s %.0f\n", name, took[rounds / 2]);
}

static void measure_regions(struct bench *b, size_t most, int rounds)
{
	char name[32];

	b->memory = mmap(NULL, most, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (b->memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	for (b->bytes = 4096; b->bytes <= most; b->bytes *= 16) {
		snprintf(name, sizeof(name), "mr-%zuK", b->bytes / 1024);
		measure(b, name, pair_mr, b->bytes > 1 << 20 ? 1 : 50, rounds);
	}
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

int main(int argc, char **argv)
{
	int opt, count = 50, rounds = 5;
	size_t most = 256 << 20;
	struct bench b = {};

	while ((opt = getopt(argc, argv, "n:r:m:")) != -1) {
		if (opt == 'n')
			count = atoi(optarg);
		else if (opt == 'r')
			rounds = atoi(optarg);
		else if (opt == 'm')
			most = strtoul(optarg, NULL, 10) << 30;
		else
			return 2;
	}
	if (optind != argc - 1 || count < 1 || rounds < 1 || rounds > MAX_ROUNDS || !most) {
		fputs("usage: objects [-n COUNT] [-r ROUNDS] [-m GIB] DEVICE\n", stderr);
		return 2;
	}
	b.ctx = open_device(argv[optind]);
	b.pd = b.ctx ? ibv_alloc_pd(b.ctx) : NULL;
	b.cq = b.pd ? ibv_create_cq(b.ctx, 64, NULL, NULL, 0) : NULL;
	if (!b.cq || ibv_query_gid(b.ctx, 1, 0, &b.gid)) {
		perror(argv[optind]);
		return 1;
	}
	measure(&b, "pd", pair_pd, count, rounds);
	measure(&b, "cq", pair_cq, count, rounds);
	if (b.ctx->device->transport_type == IBV_TRANSPORT_IWARP) {
		measure(&b, "qp-rc", pair_rc, count, rounds);
	} else {
		measure(&b, "qp-ud", pair_ud, count, rounds);
		measure(&b, "qp-srd", pair_srd, count, rounds);
		measure(&b, "ah", pair_ah, count, rounds);
	}
	measure_regions(&b, most, rounds);
	ibv_destroy_cq(b.cq);
	ibv_dealloc_pd(b.pd);
	ibv_close_device(b.ctx);
	return 0;
}
