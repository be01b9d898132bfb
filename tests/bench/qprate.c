// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How fast QPs are made and destroyed:
 *
 *	qprate [-n COUNT] [-r ROUNDS] DEVICE
 *
 * Prints, for each round of COUNT create-and-destroy pairs, pairs per second.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
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

static int run(struct ibv_pd *pd, struct ibv_cq *cq, int count)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ibv_qp *qp;

	while (count--) {
		qp = ibv_create_qp(pd, &attr);
		if (!qp || ibv_destroy_qp(qp))
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int opt, count = 500, rounds = 5;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	double begin;

	while ((opt = getopt(argc, argv, "n:r:")) != -1) {
		if (opt == 'n')
			count = atoi(optarg);
		else if (opt == 'r')
			rounds = atoi(optarg);
		else
			return 2;
	}
	if (optind != argc - 1 || count < 1 || rounds < 1) {
		fputs("usage: qprate [-n COUNT] [-r ROUNDS] DEVICE\n", stderr);
		return 2;
	}
	ctx = open_device(argv[optind]);
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	cq = pd ? ibv_create_cq(ctx, 64, NULL, NULL, 0) : NULL;
	if (!cq || run(pd, cq, 20)) {
		perror(argv[optind]);
		return 1;
	}
	while (rounds--) {
		begin = now();
		if (run(pd, cq, count)) {
			perror(argv[optind]);
			return 1;
		}
		printf("%.0f\n", count / (now() - begin));
	}
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	return 0;
}
