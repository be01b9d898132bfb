// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cost of posting a work request and polling its completion, for a kernel
 * consumer.
 *
 * Requests are posted to QPs that are not connected, which the adapter does not
 * process, and are then flushed all at once: only the driver's part is
 * measured. The module does not depend on a driver, so it can measure different drivers.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>

#define ROUNDS		9
/*
 * Number of requests of each kind per round; PART of them are handled at once with interrupts off.
 */
#define REQUESTS	512
#define PART		64

static struct ib_device *device;
static struct ib_wc wc[16];

#define RESULT(_name, _what)						\
	static unsigned long long _name[ROUNDS];			\
	module_param_array(_name, ullong, NULL, 0444);			\
	MODULE_PARM_DESC(_name, "Cost of " _what " in each round, ps")

RESULT(post_send, "posting a write");
RESULT(post_inv, "posting an invalidation");
RESULT(post_recv, "posting a receive");
RESULT(poll, "polling a completion");

/* Objects used by a round. */
struct set {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_mr *mr;
	struct ib_qp *qp;
};

static int send(struct set *s)
{
	struct ib_sge sge = { .addr = 4096, .length = 64, .lkey = s->pd->local_dma_lkey };
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge, .num_sge = 1 },
		.rkey = 1,
	};

	return ib_post_send(s->qp, &wr.wr, NULL);
}

static int invalidate(struct set *s)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV, .send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = s->mr->rkey,
	};

	return ib_post_send(s->qp, &wr, NULL);
}

static int receive(struct set *s)
{
	struct ib_sge sge = { .addr = 4096, .length = 64, .lkey = s->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(s->qp, &wr, NULL);
}

static int measure_post(struct set *s, int (*post)(struct set *s), unsigned long long *ps)
{
	u64 start, ns = 0;
	int n, i, ret = 0;

	for (n = 0; n < REQUESTS && !ret; n += PART) {
		local_irq_disable();
		start = ktime_get_ns();
		for (i = 0; i < PART && !ret; i++)
			ret = post(s);
		ns += ktime_get_ns() - start;
		local_irq_enable();
	}
	*ps = div_u64(ns * 1000, REQUESTS);
	return ret;
}

static int measure_poll(struct set *s, unsigned long long *ps)
{
	int n, part, got = 1, total = 0;
	u64 start, ns = 0;

	while (got > 0) {
		local_irq_disable();
		start = ktime_get_ns();
		for (n = 0, part = 0; n < PART && got > 0; n += got, part += got)
			got = ib_poll_cq(s->cq, ARRAY_SIZE(wc), wc);
		if (got > 0) {
			ns += ktime_get_ns() - start;
			total += part;
		}
		local_irq_enable();
	}
	if (got < 0 || total < 2 * REQUESTS)
		return -EIO;
	*ps = div_u64(ns * 1000, total);
	return 0;
}

static int measure(struct set *s, int round)
{
	struct ib_qp_init_attr init = {
		.send_cq = s->cq, .recv_cq = s->cq, .qp_type = IB_QPT_RC,
		.cap = { .max_send_wr = 2 * REQUESTS, .max_recv_wr = REQUESTS,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	int ret;

	s->qp = ib_create_qp(s->pd, &init);
	if (IS_ERR(s->qp))
		return PTR_ERR(s->qp);
	ret = measure_post(s, send, &post_send[round]) ?:
	      measure_post(s, invalidate, &post_inv[round]) ?:
	      measure_post(s, receive, &post_recv[round]) ?:
	      ib_modify_qp(s->qp, &attr, IB_QP_STATE) ?: measure_poll(s, &poll[round]);
	ib_destroy_qp(s->qp);
	return ret;
}

static int set_up(struct set *s)
{
	s->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(s->pd))
		return PTR_ERR(s->pd);
	s->cq = ib_alloc_cq(device, NULL, 4 * REQUESTS, 0, IB_POLL_DIRECT);
	if (IS_ERR(s->cq))
		goto err_pd;
	s->mr = ib_alloc_mr(s->pd, IB_MR_TYPE_MEM_REG, 16);
	if (IS_ERR(s->mr))
		goto err_cq;
	return 0;

err_cq:
	ib_free_cq(s->cq);
err_pd:
	ib_dealloc_pd(s->pd);
	return -EIO;
}

static int param_set_run(const char *val, const struct kernel_param *kp)
{
	struct set s;
	int i, ret;

	if (!device)
		return -ENODEV;
	ret = set_up(&s);
	if (ret)
		return ret;
	for (i = 0; i < ROUNDS && !ret; i++)
		ret = measure(&s, i);
	ib_dereg_mr(s.mr);
	ib_free_cq(s.cq);
	ib_dealloc_pd(s.pd);
	return ret;
}

static const struct kernel_param_ops run_ops = {
	.set = param_set_run,
};
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "Write any value to start a measurement on the first device");

static int client_add(struct ib_device *ibdev)
{
	if (!device)
		device = ibdev;
	return 0;
}

static void client_remove(struct ib_device *ibdev, void *data)
{
	if (device == ibdev)
		device = NULL;
}

static struct ib_client client = {
	.name = "wr_bench",
	.add = client_add,
	.remove = client_remove,
};

static int __init wr_init(void)
{
	return ib_register_client(&client);
}
module_init(wr_init);

static void __exit wr_exit(void)
{
	ib_unregister_client(&client);
}
module_exit(wr_exit);

MODULE_DESCRIPTION("Cost of posting and polling");
MODULE_LICENSE("GPL");
