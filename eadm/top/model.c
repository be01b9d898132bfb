// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes the measurements. There are few devices, which are read at each refresh. There
 * can be very many QPs, and the CPU time for reading them grows with their number, so
 * they are read as often as a fixed share of one CPU allows; their rates cover the time
 * between two readings.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "grow.h"
#include "../signals.h"
#include "top.h"

/* Minimum time between scans of QPs or processes, as a multiple of their CPU time. */
#define SCAN_SHARE 200
#define PROC_SHARE 20

#define LIST_LOOKS 5

static bool get(const struct eadm_record *record, const char *object,
		const char *name, uint64_t *value)
{
	const struct eadm_field *field = eadm_object_find_field(
		eadm_object_find(object), name);

	return field && !eadm_record_u64(record, field, value);
}

static struct top_dev *find_dev(struct top *top, uint32_t index)
{
	unsigned int i;

	for (i = 0; i < top->n_devs; i++) {
		if (top->dev[i].index == index)
			return &top->dev[i];
	}
	return NULL;
}

/* ---- counters --------------------------------------------------------------------- */

static void take_count(struct top *top, struct top_dev *dev, int which,
		       uint64_t time, uint64_t value)
{
	struct count *count = &dev->count[which];

	count->rate = -1;
	/* A counter that has decreased is taken as reset. */
	if (count->time && time > count->time && value >= count->value)
		count->rate = (value - count->value) * 1e9 /
			      (time - count->time);
	count->time = time;
	count->value = value;
	if (time > top->now)
		top->now = time;
}

static void take_counters(struct top *top, const struct eadm_record *record)
{
	static const char *const names[] = {
		"tx-bytes", "rx-bytes", "tx-packets", "rx-packets",
		"cmds-submitted",
	};
	uint64_t index, value;
	struct top_dev *dev;
	size_t i;

	if (!get(record, "counters", "dev-index", &index))
		return;
	dev = find_dev(top, index);
	for (i = 0; dev && i < ARRAY_SIZE(names); i++) {
		if (get(record, "counters", names[i], &value))
			take_count(top, dev, i, eadm_record_time(record),
				   value);
		else
			dev->count[i].rate = -1;
	}
}

static void take_cmdq(struct top *top, const struct eadm_record *record)
{
	struct top_dev *dev;
	uint64_t index;

	if (!get(record, "cmdq", "dev-index", &index))
		return;
	dev = find_dev(top, index);
	if (dev)
		dev->has_outstanding = get(record, "cmdq", "outstanding",
					   &dev->outstanding);
}

static uint32_t index_mask(const char *driver, const char *queue)
{
	const struct eadm_family *family = eadm_family_find(driver);
	unsigned int bits = family ? eadm_family_index_bits(family, queue) : 0;

	return bits && bits < 32 ? (1U << bits) - 1 : UINT32_MAX;
}

static void start_dev(struct top_dev *dev, uint32_t index, uint64_t since)
{
	unsigned int i;

	*dev = (struct top_dev){
		.index = index, .since = since, .connects = -1, .failures = -1,
	};
	for (i = 0; i < N_COUNTS; i++)
		dev->count[i].rate = -1;
}

static void stop_dev(struct top_dev *dev)
{
	eadm_trace_close(dev->trace);
	free(dev->latency);
}

/* Returns true if this is a different device, which has taken over the index. */
static bool is_replaced(const struct top_dev *dev, const struct top_dev *now)
{
	return strcmp(dev->name, now->name) ||
	       memcmp(dev->guid, now->guid, sizeof(dev->guid)) ||
	       is_reused(&dev->life, &now->life);
}

static void identify(const struct eadm_record *record, struct top_dev *dev)
{
	const struct eadm_object *object = eadm_object_find("dev");
	struct lifetime_fields fields;
	const void *guid;
	const char *name;
	size_t len;

	name = eadm_record_string(record,
				  eadm_object_find_field(object, "dev-name"));
	snprintf(dev->name, sizeof(dev->name), "%s", name ? name : "");
	guid = eadm_record_bytes(record,
				 eadm_object_find_field(object, "node-guid"), &len);
	if (guid && len == sizeof(dev->guid))
		memcpy(dev->guid, guid, len);
	lifetime_fields(object, &fields);
	lifetime_of(&fields, record, &dev->life);
}

/* Returns the device of a row, or NULL if out of memory. */
static struct top_dev *get_dev(struct top *top, const struct eadm_record *record,
			       uint32_t index)
{
	struct top_dev *dev = find_dev(top, index), now;

	start_dev(&now, index, eadm_record_time(record));
	identify(record, &now);
	if (dev && !is_replaced(dev, &now)) {
		dev->life = now.life;
		return dev;
	}
	if (dev) {
		stop_dev(dev);
		/* The QPs that were read are those of the other device. */
		top->next_scan = 0;
	} else {
		if (!grow(top->dev, top->n_devs, top->max_devs))
			return NULL;
		dev = &top->dev[top->n_devs++];
	}
	*dev = now;
	return dev;
}

static void take_dev(struct top *top, const struct eadm_record *record)
{
	const struct eadm_object *object = eadm_object_find("dev");
	const char *text;
	struct top_dev *dev;
	uint64_t index;

	if (!get(record, "dev", "dev-index", &index))
		return;
	dev = get_dev(top, record, index);
	if (!dev) {
		top->failed = true;
		return;
	}
	text = eadm_record_string(record,
				  eadm_object_find_field(object, "netdev"));
	snprintf(dev->netdev, sizeof(dev->netdev), "%s", text ? text : "");
	text = eadm_record_string(record,
				  eadm_object_find_field(object, "driver"));
	dev->sq_mask = index_mask(text, "sq");
	dev->rq_mask = index_mask(text, "rq");
	dev->has_state = get(record, "dev", "state", &dev->state);
	dev->has_port = get(record, "dev", "port-state", &dev->port);
	dev->has_qps = get(record, "dev", "qps", &dev->qps);
	dev->seen = true;
	if (eadm_record_time(record) > top->now)
		top->now = eadm_record_time(record);
	top_latency_open(top, dev);
}

/* Drops removed devices; returns true if there were any. */
static bool forget_devs(struct top *top)
{
	unsigned int i, n = 0;
	bool gone;

	for (i = 0; i < top->n_devs; i++) {
		if (top->dev[i].seen) {
			top->dev[n++] = top->dev[i];
			continue;
		}
		stop_dev(&top->dev[i]);
	}
	gone = n < top->n_devs;
	top->n_devs = n;
	return gone;
}

/* ---- QPs ------------------------------------------------------------------------- */

struct qp_fields {
	const struct eadm_field *dev, *qpn, *state, *sq_pi, *sq_ci, *rq_pi,
		*pid, *comm, *peer, *last, *state_age;
	struct lifetime_fields life;
	uint64_t rtr, rts;
};

static void find_fields(struct qp_fields *f)
{
	const struct eadm_object *qp = eadm_object_find("qp");

	f->dev = eadm_object_find_field(qp, "dev-index");
	f->qpn = eadm_object_find_field(qp, "qpn");
	f->state = eadm_object_find_field(qp, "state");
	f->sq_pi = eadm_object_find_field(qp, "sq-pi");
	f->sq_ci = eadm_object_find_field(qp, "sq-ci");
	f->rq_pi = eadm_object_find_field(qp, "rq-pi");
	f->pid = eadm_object_find_field(qp, "pid");
	f->comm = eadm_object_find_field(qp, "comm");
	f->peer = eadm_object_find_field(qp, "peer-addr");
	f->last = eadm_object_find_field(qp, "last-comp-age");
	f->state_age = eadm_object_find_field(qp, "state-age");
	lifetime_fields(qp, &f->life);
	f->rtr = f->rts = UINT64_MAX;
	eadm_field_value_find(f->state, "rtr", &f->rtr);
	eadm_field_value_find(f->state, "rts", &f->rts);
}

static bool get_field(const struct eadm_record *record,
		      const struct eadm_field *field, uint64_t *value)
{
	*value = 0;
	return !eadm_record_u64(record, field, value);
}

static uint32_t mask_of(struct top *top, uint32_t index, bool rq)
{
	const struct top_dev *dev = find_dev(top, index);

	if (!dev)
		return UINT32_MAX;
	return rq ? dev->rq_mask : dev->sq_mask;
}

static void take_qp(struct top *top, const struct qp_fields *f,
		    const struct eadm_record *record, struct top_qp *qp)
{
	uint64_t value, ci;
	const void *peer;
	const char *comm;
	size_t len;

	memset(qp, 0, sizeof(*qp));
	lifetime_of(&f->life, record, &qp->life);
	qp->sq_rate = -1;
	qp->rq_rate = -1;
	get_field(record, f->dev, &value);
	qp->dev = value;
	get_field(record, f->qpn, &value);
	qp->qpn = value;
	qp->has_state = get_field(record, f->state, &value) && value < 256;
	qp->state = value;
	qp->connected = qp->has_state && (value == f->rtr || value == f->rts);
	qp->has_sq = get_field(record, f->sq_pi, &value);
	qp->sq_pi = value;
	qp->has_queued = qp->has_sq && get_field(record, f->sq_ci, &ci);
	qp->queued = qp->has_queued ?
			     (value - ci) & mask_of(top, qp->dev, false) : 0;
	qp->has_rq = get_field(record, f->rq_pi, &value);
	qp->rq_pi = value;
	qp->has_pid = get_field(record, f->pid, &qp->pid);
	qp->has_last = get_field(record, f->last, &qp->last);
	qp->has_state_age = get_field(record, f->state_age, &qp->state_age);
	comm = eadm_record_string(record, f->comm);
	if (comm)
		snprintf(qp->comm, sizeof(qp->comm), "%s", comm);
	peer = eadm_record_bytes(record, f->peer, &len);
	if (peer && len <= sizeof(qp->peer)) {
		memcpy(qp->peer, peer, len);
		qp->peer_len = len;
	}
}

static struct top_qp *qp_add(struct qp_set *set)
{
	return grow(set->qp, set->n, set->max) ? &set->qp[set->n++] : NULL;
}

/* Returns the rate at which an index advances. */
static float index_rate(uint32_t before, uint32_t now, uint32_t mask,
			uint64_t ns)
{
	return ((now - before) & mask) * 1e9 / ns;
}

/*
 * Returns true if the indices of a QP have advanced from those of the earlier reading:
 * they begin again in a new QP, and after a change to the state RESET.
 */
static bool is_continued(struct top *top, const struct top_qp *was,
			 const struct top_qp *qp)
{
	const struct top_dev *dev = find_dev(top, qp->dev);
	uint64_t ns = qp->life.time - was->life.time;

	return qp->life.time > was->life.time &&
	       (!dev || was->life.time >= dev->since) &&
	       !is_reused(&was->life, &qp->life) &&
	       !(was->has_state_age && qp->has_state_age &&
		 is_restarted(was->state_age, qp->state_age, ns));
}

/* Both sets are sorted, so a merge finds the QPs that are in both. */
static void add_rates(struct top *top)
{
	const struct qp_set *old = &top->old;
	struct qp_set *qps = &top->qps;
	size_t i, j = 0;

	if (!qps->sorted && qps->n)
		qsort(qps->qp, qps->n, sizeof(*qps->qp), top_qp_by_id);
	for (i = 0; i < qps->n; i++) {
		struct top_qp *qp = &qps->qp[i];
		const struct top_qp *was;
		uint64_t ns;

		while (j < old->n && top_qp_by_id(&old->qp[j], qp) < 0)
			j++;
		if (j == old->n)
			break;
		was = &old->qp[j];
		if (top_qp_by_id(was, qp) || !is_continued(top, was, qp))
			continue;
		ns = qp->life.time - was->life.time;
		if (qp->has_sq && was->has_sq)
			qp->sq_rate = index_rate(was->sq_pi, qp->sq_pi,
						 mask_of(top, qp->dev, false),
						 ns);
		if (qp->has_rq && was->has_rq)
			qp->rq_rate = index_rate(was->rq_pi, qp->rq_pi,
						 mask_of(top, qp->dev, true),
						 ns);
	}
}

static int scan_qps(struct top *top)
{
	struct eadm_dump_opts opts = {
		.size = sizeof(opts),
		.device = top->cli->args.opt[OPT_DEVICE],
	};
	struct qp_set spare = top->old;
	const struct eadm_record *record;
	struct eadm_dump *dump;
	struct eadm_note note;
	struct blind blind;
	struct qp_fields f;
	struct top_qp *qp;
	size_t at = 0;
	int ret;

	find_fields(&f);
	top->old = top->qps;
	top->qps = spare;
	top->qps.n = 0;
	top->qps.sorted = true;
	ret = eadm_dump_open(top->cli->ctx, eadm_object_find("qp"), &opts,
			     &dump);
	top->no_qps = ret;
	top->blind = false;
	if (ret) {
		top_note_error(top, &top->row_notes, "qp", ret);
		return 0;
	}
	blind_init(&blind, eadm_object_find("qp"), &top->filter, false);
	while ((ret = eadm_dump_next(dump, &record)) > 0) {
		blind_see(&blind, record);
		if (!filter_passes(&top->filter, record))
			continue;
		qp = qp_add(&top->qps);
		if (!qp) {
			blind_free(&blind);
			eadm_dump_close(dump);
			return -ENOMEM;
		}
		take_qp(top, &f, record, qp);
		if (top->qps.n > 1 && top_qp_by_id(qp - 1, qp) > 0)
			top->qps.sorted = false;
	}
	top->no_qps = ret < 0;
	if (ret < 0)
		top_note_error(top, &top->row_notes, "qp", ret);
	else
		top_note_dump(top, &top->row_notes, dump);
	while (blind_next(&blind, &at, &note)) {
		top->blind = true;
		top_note(top, &top->row_notes, note.device, note.what, note.why);
	}
	blind_free(&blind);
	eadm_dump_close(dump);
	add_rates(top);
	return 0;
}

/* ---- a refresh -------------------------------------------------------------------- */

/*
 * Keeps the list of devices for several refreshes, because reading it takes as long as
 * all other requests together; a new device therefore appears slightly later. If the
 * devices cannot be listed, each dump reports the reason itself. The list is not kept
 * while writing or reading a capture, because both must make the same requests in the
 * same order.
 */
static void hold_list(struct top *top)
{
	if (!eadm_is_live(top->cli->ctx) || top->cli->save)
		return;
	if (top->looks++ % LIST_LOOKS && !top->lost)
		return;
	top->lost = eadm_scan(top->cli->ctx);
	if (top->lost)
		eadm_scan_drop(top->cli->ctx);
}

static bool is_due(const struct top *top, uint64_t now)
{
	return !eadm_is_live(top->cli->ctx) || top->cli->save ||
	       now >= top->next_scan;
}

/*
 * Returns true for a refresh without a device if top waits for a device: any device, or
 * that of --device if it existed before.
 */
static bool is_absent(const struct top *top, int error)
{
	return error == -ENODEV &&
	       (top->found || !top->cli->args.opt[OPT_DEVICE]);
}

/* Reads all rows except devices. */
static int scan(struct top *top, uint64_t start, bool has_device)
{
	uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), share;
	int ret;

	top->row_notes.n = 0;
	ret = has_device ? scan_qps(top) : 0;
	if (!ret && top->processes)
		ret = top_procs_look(top);
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	share = cpu * (top->processes ? PROC_SHARE : SCAN_SHARE);
	top->scan_every = share > top->interval ? share : top->interval;
	/* Round up to the first refresh after this interval. */
	top->scan_every += top->interval - 1;
	top->scan_every -= top->scan_every % top->interval;
	/*
	 * Refreshes are not exactly periodic, hence the tolerance. The second scan
	 * comes early, because rates require it.
	 */
	top->next_scan = start - top->interval / 10 +
			 (top->scans++ ? top->scan_every : top->interval);
	return ret || top_arrange(top) ? ret : -ENOMEM;
}

/* Processes that could use a device are shown even without a device. */
static int no_device(struct top *top, uint64_t start)
{
	forget_devs(top);
	top->qps.n = 0;
	top->old.n = 0;
	top->row_notes.n = 0;
	top->no_qps = false;
	top->blind = false;
	top->lost = true;
	top->now = time_shown(top->cli);
	if (top->processes) {
		top->found = true;
		return is_due(top, start) ? scan(top, start, false) : 0;
	}
	/* Once a device appears, its QPs are read without delay. */
	top->next_scan = 0;
	top->scans = 0;
	return top_arrange(top) ? 0 : -ENOMEM;
}

/* Refreshes all data; a negative return value means that there is no further data. */
int top_look(struct top *top)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	unsigned int i;
	int ret;

	top->dev_notes.n = 0;
	top->once.n = 0;
	top->before = top->now;
	for (i = 0; i < top->n_devs; i++) {
		top->dev[i].seen = false;
		top->dev[i].has_outstanding = false;
	}
	hold_list(top);
	ret = top_each(top, &top->dev_notes, "dev", take_dev);
	if (is_absent(top, ret))
		return no_device(top, start);
	if (ret < 0 || top->failed)
		return ret < 0 ? ret : -ENOMEM;
	top->found = true;
	if (forget_devs(top))
		top->lost = true;
	ret = top_each(top, &top->dev_notes, "counters", take_counters);
	if (ret < 0)
		top_note_error(top, &top->dev_notes, "counters", ret);
	/* Devices without a command queue have no row in this dump. */
	ret = top_each(top, &top->dev_notes, "cmdq", take_cmdq);
	if (ret < 0 && !means_no_objects(ret))
		top_note_error(top, &top->dev_notes, "cmdq", ret);
	top_latency_look(top);
	top_failures_look(top);
	top_traffic_look(top);
	return is_due(top, start) ? scan(top, start, true) : 0;
}

/* Reports why a refresh failed. */
int top_failed(struct top *top, int error)
{
	const char *device = top->cli->args.opt[OPT_DEVICE];

	return error == -ENODEV && device ?
		       unknown_device(top->cli, device) :
		       fail_lib(top->cli, error, "devices");
}

/* Returns the status at the end, which is a failure if no device was ever found. */
int top_end(struct top *top)
{
	if (!top->found && !interrupted)
		return top_failed(top, -ENODEV);
	return top->blind || top->partial ? STATUS_PARTIAL : STATUS_OK;
}

/* Goes to the next snapshot of a capture. Returns false if there is none. */
bool top_next(struct top *top)
{
	if (next_snapshot(top->cli))
		return true;
	top->ended = true;
	return false;
}

void top_free(struct top *top)
{
	unsigned int i;

	for (i = 0; i < top->n_devs; i++)
		stop_dev(&top->dev[i]);
	free(top->dev);
	free(top->qps.qp);
	free(top->old.qp);
	free(top->procs.proc);
	free(top->old_procs.proc);
	free(top->order);
	free(top->dev_notes.note);
	free(top->row_notes.note);
	free(top->once.note);
	columns_free(&top->proc_table);
	columns_free(&top->dev_table);
	columns_free(&top->qp_table);
}
