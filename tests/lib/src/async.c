// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process with objects while its adapter fails:
 *
 *	async [-d DEVICE]
 *
 * Makes a CQ, QPs and an MR, prints "ready", and then each asynchronous event by
 * name. On end of input it tries to make a QP in the old context ("old: ok" or
 * "old: ERRNO"), destroys everything ("destroyed"), and does the same in a new
 * context ("new: ok" or "new: ERRNO").
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define QPS	3
#define MR_SIZE	65536

struct objects {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp[QPS];
	struct ibv_mr *mr;
	void *buf;
};

static const char *device;

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i] && !ctx; i++)
		if (!device || !strcmp(ibv_get_device_name(list[i]), device))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

static struct ibv_qp *make_qp(struct objects *o)
{
	struct ibv_qp_init_attr init = {
		.send_cq = o->cq, .recv_cq = o->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	return ibv_create_qp(o->pd, &init);
}

static int make(struct objects *o)
{
	memset(o, 0, sizeof(*o));
	errno = ENODEV;
	o->ctx = open_device();
	if (!o->ctx)
		return errno;
	o->pd = ibv_alloc_pd(o->ctx);
	o->cq = o->pd ? ibv_create_cq(o->ctx, 64, NULL, NULL, 0) : NULL;
	o->buf = mmap(NULL, MR_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	o->mr = o->cq ? ibv_reg_mr(o->pd, o->buf, MR_SIZE, IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (!o->mr)
		return errno;
	for (int i = 0; i < QPS; i++) {
		o->qp[i] = make_qp(o);
		if (!o->qp[i])
			return errno;
	}
	return 0;
}

/* How many could not be destroyed. */
static int destroy(struct objects *o)
{
	int bad = 0;

	for (int i = 0; i < QPS; i++)
		if (o->qp[i] && ibv_destroy_qp(o->qp[i]))
			bad++;
	if (o->mr && ibv_dereg_mr(o->mr))
		bad++;
	if (o->cq && ibv_destroy_cq(o->cq))
		bad++;
	if (o->pd && ibv_dealloc_pd(o->pd))
		bad++;
	if (o->ctx && ibv_close_device(o->ctx))
		bad++;
	munmap(o->buf, MR_SIZE);
	return bad;
}

static void show(const char *what, int err)
{
	printf("%s: %s\n", what, err ? strerrorname_np(err) : "ok");
}

static void watch(struct objects *o)
{
	struct pollfd fds[] = {
		{ .fd = o->ctx->async_fd, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	struct ibv_async_event event;
	char c;

	fcntl(o->ctx->async_fd, F_SETFL, O_NONBLOCK);
	for (;;) {
		poll(fds, 2, -1);
		while (!ibv_get_async_event(o->ctx, &event)) {
			printf("event: %s\n", ibv_event_type_str(event.event_type));
			ibv_ack_async_event(&event);
		}
		/* The device was taken away. */
		if (fds[0].revents & (POLLHUP | POLLERR))
			fds[0].fd = -1;
		if (fds[1].revents && read(STDIN_FILENO, &c, 1) <= 0)
			return;
	}
}

int main(int argc, char **argv)
{
	struct ibv_qp *qp;
	struct objects o;
	int err, opt;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((opt = getopt(argc, argv, "d:")) != -1) {
		if (opt != 'd')
			return 2;
		device = optarg;
	}
	err = make(&o);
	show("made", err);
	if (err)
		return 1;
	puts("ready");
	watch(&o);
	errno = 0;
	qp = make_qp(&o);
	show("old", qp ? 0 : errno);
	if (qp)
		ibv_destroy_qp(qp);
	printf("destroyed: %d left\n", destroy(&o));
	err = make(&o);
	show("new", err);
	if (o.ctx)
		destroy(&o);
	return 0;
}
