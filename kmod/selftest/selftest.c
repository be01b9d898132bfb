// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel consumer that checks an RDMA driver's contract; independent of the driver.
 *
 * The parameter "device" names the RDMA device, and "address" is its address. Writing the name of a
 * case to the parameter "run" runs the case: the write fails if a clause does not hold, and the
 * kernel log shows the clause. "begin" creates a PD, a CQ and a QP that exist until "end", or until
 * the device or the module is removed; the read-only parameters count the events that their
 * handlers received. "begin_pair" connects two QPs and leaves requests outstanding, for "lost"
 * after a reset; "begin_shared" does the same with two QPs that share a CQ, for "shared_lost" and,
 * if the CQ is served again after the reset, for "shared_again". "overrun" makes a CQ created by
 * "begin" receive more completions than it has room for. tests/guest/conformance/README.md lists
 * the clauses.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "selftest.h"

#define BATCH		8
#define HANDLER_MS	20
#define ROUNDS		20
#define LARGE_PAGES	1024

static char *device = "erdma_0";
module_param(device, charp, 0644);
MODULE_PARM_DESC(device, "RDMA device to use");

static char *address = "10.77.0.1";
module_param(address, charp, 0644);
MODULE_PARM_DESC(address, "IPv4 address of the device, for connections");

static unsigned int cq_events, qp_events, device_events, removals;
module_param(cq_events, uint, 0444);
MODULE_PARM_DESC(cq_events, "Asynchronous events of the CQ");
module_param(qp_events, uint, 0444);
MODULE_PARM_DESC(qp_events, "Asynchronous events of the QP");
module_param(device_events, uint, 0444);
MODULE_PARM_DESC(device_events, "Asynchronous events of the device");
module_param(removals, uint, 0444);
MODULE_PARM_DESC(removals, "Number of times that the device was removed with objects in use");

static unsigned int atomic_events;
module_param(atomic_events, uint, 0444);
MODULE_PARM_DESC(atomic_events, "Asynchronous events outside of process context");

static unsigned int late_events;
module_param(late_events, uint, 0444);
MODULE_PARM_DESC(late_events, "Callbacks after an object was destroyed");

static unsigned int event_ms;
module_param(event_ms, uint, 0644);
MODULE_PARM_DESC(event_ms, "Time for which the handler of an asynchronous event sleeps");

/*
 * One set of objects. The CQ "small" has room for fewer completions than the QP "burst" generates.
 */
struct set {
	struct ib_device *ibdev;
	struct ib_pd *pd;
	struct ib_cq *cq, *small;
	struct ib_qp *qp, *other, *burst;
	struct ib_event_handler handler;
	atomic_t running;
	unsigned int callbacks, most_running, reaped;
	bool in_handler;
	bool in_event;
	bool rearms;
	bool destroyed;
};

/* Protects the variables below, and the presence of devices. */
static DEFINE_MUTEX(lock);
static struct ib_device *found;
static struct set *kept;
static struct pair *kept_pair;

static void note_context(void)
{
	if (!in_task() || irqs_disabled()) {
		atomic_events++;
		return;
	}
	/* The debug kernel reports if this is called in a context that must not sleep. */
	might_sleep();
	if (event_ms)
		msleep(event_ms);
}

/* Requests the next event and then polls, as consumers that work with events do. */
static void rearm(struct set *s)
{
	struct ib_wc wc;

	ib_req_notify_cq(s->cq, IB_CQ_NEXT_COMP);
	/* Leave enough time for a second call. */
	mdelay(HANDLER_MS);
	while (ib_poll_cq(s->cq, 1, &wc) > 0)
		s->reaped++;
}

static void on_completion(struct ib_cq *cq, void *context)
{
	struct set *s = context;
	unsigned int running = atomic_inc_return(&s->running);

	if (READ_ONCE(s->destroyed))
		late_events++;
	s->most_running = max(s->most_running, running);
	WRITE_ONCE(s->in_handler, true);
	if (s->rearms)
		rearm(s);
	else
		mdelay(HANDLER_MS);
	WRITE_ONCE(s->callbacks, s->callbacks + 1);
	WRITE_ONCE(s->in_handler, false);
	atomic_dec(&s->running);
}

static void on_cq_event(struct ib_event *event, void *context)
{
	struct set *s = context;

	WRITE_ONCE(s->in_event, true);
	note_context();
	if (READ_ONCE(s->destroyed))
		late_events++;
	cq_events++;
}

static void on_qp_event(struct ib_event *event, void *context)
{
	struct set *s = context;

	note_context();
	if (READ_ONCE(s->destroyed))
		late_events++;
	qp_events++;
}

static void on_device_event(struct ib_event_handler *handler, struct ib_event *event)
{
	note_context();
	device_events++;
}

static void destroy(struct set *s)
{
	ib_unregister_event_handler(&s->handler);
	if (s->burst)
		ib_destroy_qp(s->burst);
	if (s->small)
		ib_destroy_cq(s->small);
	if (s->other)
		ib_destroy_qp(s->other);
	if (s->qp)
		ib_destroy_qp(s->qp);
	if (s->cq)
		ib_destroy_cq(s->cq);
	WRITE_ONCE(s->destroyed, true);
	if (s->pd)
		ib_dealloc_pd(s->pd);
	/* Wait, so that a late callback is counted instead of causing a use after free. */
	msleep(2 * HANDLER_MS);
	kfree(s);
}

/* InfiniBand QPs accept receives from INIT on. */
static bool begin(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = 1, .qp_access_flags = IB_ACCESS_REMOTE_READ,
	};

	return is_iwarp(qp->device) ||
	       !ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
					IB_QP_ACCESS_FLAGS);
}

/* Returns a QP, or NULL. */
static struct ib_qp *make_qp(struct set *s, struct ib_cq *cq)
{
	struct ib_qp_init_attr qp_attr = {
		.event_handler = on_qp_event,
		.qp_context = s,
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ib_qp *qp = ib_create_qp(s->pd, &qp_attr);

	if (IS_ERR(qp))
		return NULL;
	if (begin(qp))
		return qp;
	ib_destroy_qp(qp);
	return NULL;
}

static struct set *make(struct ib_device *ibdev)
{
	struct ib_cq_init_attr cq_attr = { .cqe = CQ_DEPTH };
	struct set *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->ibdev = ibdev;
	INIT_IB_EVENT_HANDLER(&s->handler, ibdev, on_device_event);
	ib_register_event_handler(&s->handler);
	s->pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(s->pd)) {
		s->pd = NULL;
		goto err;
	}
	s->cq = ib_create_cq(ibdev, on_completion, on_cq_event, s, &cq_attr);
	if (IS_ERR(s->cq)) {
		s->cq = NULL;
		goto err;
	}
	s->qp = make_qp(s, s->cq);
	if (!s->qp)
		goto err;
	return s;

err:
	pr_err("selftest: cannot create the objects\n");
	destroy(s);
	return NULL;
}

static int stop(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

/* Posts @count receives in one call; the number accepted is derived from @bad. */
static int post(struct ib_qp *qp, unsigned int count, unsigned int *taken)
{
	const struct ib_recv_wr *bad = NULL;
	struct ib_recv_wr *wr;
	struct ib_sge sge = { .lkey = qp->pd->local_dma_lkey };
	unsigned int i;
	int ret;

	wr = kcalloc(count, sizeof(*wr), GFP_KERNEL);
	if (!wr)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		wr[i].wr_id = i;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].next = i + 1 < count ? &wr[i + 1] : NULL;
	}
	ret = ib_post_recv(qp, wr, &bad);
	*taken = ret ? bad - wr : count;
	kfree(wr);
	return ret;
}

/* Polls until there are @count completions; sets *most to the maximum returned by one call. */
static bool reap(struct set *s, unsigned int count, unsigned int *most)
{
	unsigned long end = jiffies + 5 * HZ;
	struct ib_wc wc[BATCH];
	unsigned int next = 0;
	int i, n;

	*most = 0;
	while (next < count && time_before(jiffies, end)) {
		n = ib_poll_cq(s->cq, BATCH, wc);
		if (n < 0 || n > BATCH)
			return CLAUSE(n >= 0 && n <= BATCH);
		*most = max_t(unsigned int, *most, n);
		for (i = 0; i < n; i++, next++)
			if (!CLAUSE(wc[i].wr_id == next && wc[i].qp == s->qp &&
				    wc[i].status == IB_WC_WR_FLUSH_ERR))
				return false;
		if (!n)
			usleep_range(100, 200);
	}
	return CLAUSE(next == count) && CLAUSE(!ib_poll_cq(s->cq, 1, wc));
}

static bool post_many(struct set *s)
{
	unsigned int taken, most;

	if (!CLAUSE(!post(s->qp, DEPTH / 2, &taken)) || !CLAUSE(!stop(s->qp)))
		return false;
	/* Wait until all have completed, so that one call can return a batch. */
	msleep(500);
	return reap(s, DEPTH / 2, &most) && CLAUSE(most == BATCH);
}

static bool post_too_many(struct set *s)
{
	unsigned int taken, more, most;
	int ret = post(s->qp, 4 * DEPTH, &taken);

	return CLAUSE(ret == -ENOMEM) && CLAUSE(taken >= DEPTH) &&
	       CLAUSE(taken < 4 * DEPTH) && CLAUSE(post(s->qp, 1, &more) && !more) &&
	       CLAUSE(!stop(s->qp)) && reap(s, taken, &most);
}

static bool wait_callbacks(struct set *s, unsigned int count)
{
	unsigned long end = jiffies + 5 * HZ;

	while (READ_ONCE(s->callbacks) < count && time_before(jiffies, end))
		usleep_range(100, 200);
	return CLAUSE(READ_ONCE(s->callbacks) == count);
}

static bool notify_once(struct set *s)
{
	unsigned int taken, most;

	if (!CLAUSE(!ib_req_notify_cq(s->cq, IB_CQ_NEXT_COMP)) || !CLAUSE(!stop(s->qp)) ||
	    !CLAUSE(!post(s->qp, BATCH, &taken)) || !wait_callbacks(s, 1))
		return false;
	/* Completions without a new request must not cause a callback. */
	if (!CLAUSE(!post(s->qp, BATCH, &taken)))
		return false;
	msleep(100);
	if (!CLAUSE(s->callbacks == 1))
		return false;
	/* A notification request after the completions must not lose them. */
	if (!CLAUSE(ib_req_notify_cq(s->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0 ||
		    READ_ONCE(s->callbacks) == 2))
		return false;
	for (taken = 0; taken < 2 * BATCH; taken += most) {
		struct ib_wc wc[BATCH];

		most = ib_poll_cq(s->cq, BATCH, wc);
		if (!CLAUSE(most))
			return false;
	}
	return CLAUSE(s->most_running == 1);
}

static bool destroy_in_callback(struct set *s)
{
	unsigned long end = jiffies + 5 * HZ;
	unsigned int taken;

	if (!CLAUSE(!ib_req_notify_cq(s->cq, IB_CQ_NEXT_COMP)) || !CLAUSE(!stop(s->qp)) ||
	    !CLAUSE(!post(s->qp, 1, &taken)))
		return false;
	while (!READ_ONCE(s->in_handler) && time_before(jiffies, end))
		cpu_relax();
	ib_destroy_qp(s->qp);
	s->qp = NULL;
	ib_destroy_cq(s->cq);
	s->cq = NULL;
	return CLAUSE(!READ_ONCE(s->in_handler));
}

/*
 * Two QPs complete through one CQ, whose consumer works with events, and the adapter loses them.
 */
static bool share(struct set *s)
{
	const struct ib_recv_wr wr = {};
	unsigned int i;

	s->other = make_qp(s, s->cq);
	if (!CLAUSE(s->other))
		return false;
	for (i = 0; i < BATCH; i++)
		if (!CLAUSE(!ib_post_recv(s->qp, &wr, NULL)) ||
		    !CLAUSE(!ib_post_recv(s->other, &wr, NULL)))
			return false;
	s->rearms = true;
	return CLAUSE(!ib_req_notify_cq(s->cq, IB_CQ_NEXT_COMP));
}

static bool shared_lost(struct set *s)
{
	unsigned long end = jiffies + 5 * HZ;

	while (READ_ONCE(s->reaped) < 2 * BATCH && time_before(jiffies, end))
		usleep_range(100, 200);
	/* Both QPs were flushed at about the same time. */
	msleep(4 * HANDLER_MS);
	return CLAUSE(s->reaped == 2 * BATCH) && CLAUSE(s->most_running == 1);
}

/*
 * Attributes that do not apply to the QP must be zero instead of previous contents of the caller's
 * memory: most attributes of an iWARP QP, and of an InfiniBand QP that is not connected.
 */
static bool query(struct set *s)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	memset(&attr, 0xff, sizeof(attr));
	memset(&init, 0xff, sizeof(init));
	if (!CLAUSE(!ib_query_qp(s->qp, &attr, IB_QP_STATE | IB_QP_CAP, &init)))
		return false;
	if (!is_iwarp(s->ibdev)) {
		if (!CLAUSE(attr.ah_attr.type == RDMA_AH_ATTR_TYPE_ROCE && attr.port_num == 1))
			return false;
		attr.ah_attr.type = 0;
	}
	return CLAUSE(attr.qp_state == IB_QPS_INIT || attr.qp_state == IB_QPS_RESET) &&
	       CLAUSE(attr.cap.max_send_wr >= DEPTH && attr.cap.max_recv_wr >= DEPTH) &&
	       CLAUSE(!attr.path_mig_state && !attr.qkey && !attr.pkey_index) &&
	       CLAUSE(!attr.rq_psn && !attr.sq_psn && !attr.dest_qp_num) &&
	       CLAUSE(!attr.timeout && !attr.retry_cnt && !attr.rnr_retry) &&
	       CLAUSE(!attr.min_rnr_timer && !attr.sq_draining && !attr.rate_limit) &&
	       CLAUSE(!attr.alt_pkey_index && !attr.alt_port_num && !attr.alt_timeout) &&
	       CLAUSE(!memchr_inv(&attr.ah_attr, 0, sizeof(attr.ah_attr))) &&
	       CLAUSE(!memchr_inv(&attr.alt_ah_attr, 0, sizeof(attr.alt_ah_attr))) &&
	       CLAUSE(init.send_cq == s->cq && init.recv_cq == s->cq && !init.srq) &&
	       CLAUSE(!init.create_flags && !init.xrcd && !init.rwq_ind_tbl) &&
	       CLAUSE(init.qp_type == IB_QPT_RC && init.sq_sig_type == IB_SIGNAL_ALL_WR);
}

/* Registers more pages than fit into one table of the adapter. */
static bool large_region(struct set *s)
{
	struct ib_mr *mr = ib_alloc_mr(s->pd, IB_MR_TYPE_MEM_REG, LARGE_PAGES);

	return CLAUSE(!IS_ERR(mr)) && CLAUSE(!ib_dereg_mr(mr));
}

/* Checks the driver's calls for a dead QP and the calls caused by the adapter for a new QP. */
static bool shared_again(struct set *s)
{
	const struct ib_recv_wr wr = {};
	unsigned long end = jiffies + 20 * HZ;
	unsigned int i;

	ib_destroy_qp(s->other);
	s->other = make_qp(s, s->cq);
	if (!CLAUSE(s->other) || !CLAUSE(!stop(s->other)))
		return false;
	s->reaped = 0;
	for (i = 1; i <= ROUNDS; i++) {
		if (!CLAUSE(!ib_post_recv(s->qp, &wr, NULL)) ||
		    !CLAUSE(!ib_post_recv(s->other, &wr, NULL)))
			return false;
		while (READ_ONCE(s->reaped) < 2 * i && time_before(jiffies, end))
			usleep_range(100, 200);
	}
	msleep(4 * HANDLER_MS);
	return CLAUSE(s->reaped == 2 * ROUNDS) && CLAUSE(s->most_running == 1);
}

/* For an adapter with few capabilities, which need not support fast registration. */
static bool few_abilities(struct set *s)
{
	struct ib_mr *mr = ib_alloc_mr(s->pd, IB_MR_TYPE_MEM_REG, 1);
	bool ok = refuses_unannounced(s->qp, s->cq, mr);

	if (!IS_ERR(mr))
		ib_dereg_mr(mr);
	return ok;
}

static const struct {
	const char *name;
	bool (*run)(struct set *s);
} cases[] = {
	{ "query", query },
	{ "post_many", post_many },
	{ "post_too_many", post_too_many },
	{ "notify_once", notify_once },
	{ "destroy_in_callback", destroy_in_callback },
	{ "large_region", large_region },
	{ "few_abilities", few_abilities },
};

static const struct {
	const char *name;
	bool (*run)(struct pair *p);
} pair_cases[] = {
	{ "send", transfer_send },
	{ "send_imm", transfer_send_imm },
	{ "write", transfer_write },
	{ "write_imm", transfer_write_imm },
	{ "read", transfer_read },
	{ "compare_swap", transfer_compare_swap },
	{ "fetch_add", transfer_fetch_add },
	{ "no_atomics", transfer_no_atomics },
	{ "inline", transfer_inline },
	{ "no_inline", transfer_no_inline },
	{ "elements", transfer_elements },
	{ "register", region_register },
	{ "invalidate", region_invalidate },
	{ "send_invalidate", region_send_invalidate },
	{ "read_invalidate", region_read_invalidate },
	{ "no_read_invalidate", region_no_read_invalidate },
	{ "region_limit", region_limit },
	{ "query_connected", pair_query },
	{ "signals", queue_signals },
	{ "chain", queue_chain },
	{ "full", queue_full },
	{ "wrap", queue_wrap },
	{ "solicited", queue_solicited },
	{ "flush", queue_flush },
	{ "flush_error", queue_flush_error },
	{ "drain", queue_drain },
};

static int run_pair_case(const char *name)
{
	struct pair *p;
	unsigned int i;
	bool ok;

	for (i = 0; i < ARRAY_SIZE(pair_cases); i++) {
		if (!sysfs_streq(name, pair_cases[i].name))
			continue;
		p = pair_make(found, address);
		if (!p)
			return -EIO;
		ok = pair_cases[i].run(p);
		pair_destroy(p);
		return ok ? 0 : -EIO;
	}
	return -EINVAL;
}

static int run_case(const char *name)
{
	unsigned int i;
	struct set *s;
	bool ok;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!sysfs_streq(name, cases[i].name))
			continue;
		s = make(found);
		if (!s)
			return -EIO;
		ok = cases[i].run(s);
		destroy(s);
		return ok ? 0 : -EIO;
	}
	return run_pair_case(name);
}

static void let_go(void)
{
	if (kept)
		destroy(kept);
	kept = NULL;
	if (kept_pair)
		pair_destroy(kept_pair);
	kept_pair = NULL;
}

static int overrun(struct set *s)
{
	struct ib_cq_init_attr cq_attr = { .cqe = DEPTH / 2 };
	unsigned long end = jiffies + 5 * HZ;
	unsigned int taken;

	if (s->small)
		return -EBUSY;
	s->small = ib_create_cq(s->ibdev, NULL, on_cq_event, s, &cq_attr);
	if (IS_ERR(s->small)) {
		s->small = NULL;
		return -EIO;
	}
	s->burst = make_qp(s, s->small);
	if (!s->burst || !CLAUSE(!post(s->burst, DEPTH, &taken)) || !CLAUSE(!stop(s->burst)))
		return -EIO;
	while (!READ_ONCE(s->in_event) && time_before(jiffies, end))
		usleep_range(100, 200);
	return CLAUSE(READ_ONCE(s->in_event)) ? 0 : -EIO;
}

static int begin_pair(void)
{
	if (!kept_pair)
		kept_pair = pair_make(found, address);
	return kept_pair && queue_outstanding(kept_pair) ? 0 : -EIO;
}

static int begin_shared(void)
{
	if (kept)
		return -EBUSY;
	kept = make(found);
	return kept && share(kept) ? 0 : -EIO;
}

static int param_set_run(const char *val, const struct kernel_param *kp)
{
	int ret = 0;

	mutex_lock(&lock);
	if (sysfs_streq(val, "end")) {
		let_go();
	} else if (!found) {
		ret = -ENODEV;
	} else if (sysfs_streq(val, "begin")) {
		if (!kept)
			kept = make(found);
		ret = kept ? 0 : -EIO;
	} else if (sysfs_streq(val, "overrun")) {
		ret = kept ? overrun(kept) : -ENOENT;
	} else if (sysfs_streq(val, "begin_pair")) {
		ret = begin_pair();
	} else if (sysfs_streq(val, "begin_shared")) {
		ret = begin_shared();
	} else if (sysfs_streq(val, "shared_lost")) {
		ret = kept && shared_lost(kept) ? 0 : -EIO;
	} else if (sysfs_streq(val, "shared_again")) {
		ret = kept && shared_again(kept) ? 0 : -EIO;
	} else if (sysfs_streq(val, "lost")) {
		ret = kept_pair && queue_lost(kept_pair) ? 0 : -EIO;
	} else {
		ret = run_case(val);
	}
	mutex_unlock(&lock);
	return ret;
}

static const struct kernel_param_ops run_ops = {
	.set = param_set_run,
};
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "Name of a case");

static int add_one(struct ib_device *ibdev)
{
	mutex_lock(&lock);
	if (!strcmp(dev_name(&ibdev->dev), device))
		found = ibdev;
	mutex_unlock(&lock);
	return 0;
}

static void remove_one(struct ib_device *ibdev, void *data)
{
	mutex_lock(&lock);
	if (found == ibdev) {
		found = NULL;
		removals += !!kept;
		let_go();
	}
	mutex_unlock(&lock);
}

static struct ib_client client = {
	.name = "eadm_selftest",
	.add = add_one,
	.remove = remove_one,
};

static int __init selftest_init(void)
{
	return ib_register_client(&client);
}
module_init(selftest_init);

static void __exit selftest_exit(void)
{
	ib_unregister_client(&client);
}
module_exit(selftest_exit);

MODULE_DESCRIPTION("Kernel consumer that tests an RDMA driver");
MODULE_LICENSE("GPL");
