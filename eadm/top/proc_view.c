// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows processes as columns and values, and sorts them. */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "top.h"

#define BYTES(name, title)						\
	{ .key = name, .head = title, .type = EADM_TYPE_U64,		\
	  .kind = EADM_KIND_GAUGE }
#define NUMBER BYTES

static const struct column columns[N_PROC_COLS] = {
	[PROC_PID] = { .key = "pid", .head = "PID", .type = EADM_TYPE_U64,
		.kind = EADM_KIND_ID },
	[PROC_COMM] = { .key = "comm", .head = "COMM",
		.kind = EADM_KIND_NAME, .cut = true },
	[PROC_ON] = { .key = "on", .head = "ON", .kind = EADM_KIND_STATE },
	[PROC_DEVICES] = { .key = "devices", .head = "DEVICES",
		.kind = EADM_KIND_NAME, .cut = true },
	[PROC_QPS] = NUMBER("qps", "QPS"),
	[PROC_CQS] = NUMBER("cqs", "CQS"),
	[PROC_MRS] = NUMBER("mrs", "MRS"),
	[PROC_TX] = BYTES("tx_bytes_per_s", "TXB/s"),
	[PROC_RX] = BYTES("rx_bytes_per_s", "RXB/s"),
	[PROC_SQ] = NUMBER("sq_per_s", "SQ/s"),
	[PROC_RQ] = NUMBER("rq_per_s", "RQ/s"),
	[PROC_TCP_TX] = BYTES("tcp_tx_bytes_per_s", "TCPTX/s"),
	[PROC_TCP_RX] = BYTES("tcp_rx_bytes_per_s", "TCPRX/s"),
	[PROC_LIBRARIES] = { .key = "libraries", .head = "LIBRARIES",
		.kind = EADM_KIND_NAME, .cut = true },
	[PROC_POD] = { .key = "pod", .head = "POD",
		.kind = EADM_KIND_NAME, .cut = true },
	[PROC_CONTAINER] = { .key = "container", .head = "CONTAINER",
		.kind = EADM_KIND_NAME, .cut = true },
};

static const char *const on_names[] = {
	[ON_UNKNOWN] = NULL, [ON_IDLE] = "idle", [ON_RDMA] = "rdma",
	[ON_TCP] = "tcp", [ON_BOTH] = "both",
};

int top_proc_table(struct top *top)
{
	top->proc_table.object = "top-process";
	return table_of(top->cli, &top->proc_table, columns, N_PROC_COLS);
}

static struct eadm_value rate(double rate)
{
	return rate < 0 ? value_string(NULL) : value_rate(rate);
}

static struct eadm_value number(bool hidden, uint64_t value)
{
	return hidden ? value_string(NULL) : value_u64(value);
}

void top_proc_values(const struct top *top, const struct top_proc *proc,
		     struct eadm_value *values)
{
	values[PROC_PID] = value_u64(proc->pid);
	values[PROC_COMM] = value_text(proc->comm);
	values[PROC_ON] = value_text(on_names[proc->on]);
	values[PROC_DEVICES] = value_text(proc->devices);
	values[PROC_QPS] = number(top->no_qps, proc->qps);
	values[PROC_CQS] = number(top->no_cqs, proc->cqs);
	values[PROC_MRS] = number(top->no_mrs, proc->mrs);
	values[PROC_TX] = rate(proc->moved[RDMA_TX].rate);
	values[PROC_RX] = rate(proc->moved[RDMA_RX].rate);
	values[PROC_SQ] = rate(proc->sq_rate);
	values[PROC_RQ] = rate(proc->rq_rate);
	values[PROC_TCP_TX] = rate(proc->moved[TCP_TX].rate);
	values[PROC_TCP_RX] = rate(proc->moved[TCP_RX].rate);
	values[PROC_LIBRARIES] = value_text(proc->libraries);
	values[PROC_POD] = value_text(proc->pod);
	values[PROC_CONTAINER] = value_text(proc->container);
}

/* ---- order -------------------------------------------------------------------------- */

static double bytes(const struct top_proc *proc)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < N_MOVED; i++)
		sum += proc->moved[i].rate > 0 ? proc->moved[i].rate : 0;
	return sum;
}

static double entries(const struct top_proc *proc)
{
	return (proc->sq_rate > 0 ? proc->sq_rate : 0) +
	       (proc->rq_rate > 0 ? proc->rq_rate : 0);
}

#define ORDER(x, y) ((x) < (y) ? -1 : (x) > (y))

/*
 * Returns a value below 0 if @a comes first. The busiest process comes first; among
 * equally busy ones, the one with the most QPs.
 */
static int compare(const struct top_proc *a, const struct top_proc *b,
		   unsigned int column)
{
	int ret;

	switch (column) {
	case PROC_PID:
		return ORDER(a->pid, b->pid);
	case PROC_COMM:
		return strcmp(a->comm, b->comm);
	case PROC_QPS:
		return ORDER(b->qps, a->qps);
	case PROC_MRS:
		return ORDER(b->mrs, a->mrs);
	default:
		ret = ORDER(bytes(b), bytes(a));
		if (!ret)
			ret = ORDER(entries(b), entries(a));
		return ret ? ret : ORDER(b->qps, a->qps);
	}
}

static int by_order(const void *a, const void *b, void *data)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct top *top = data;
	int ret = compare(&top->procs.proc[i], &top->procs.proc[j], top->sort);

	/* Processes are stored in the order of their PIDs. */
	if (!ret)
		ret = ORDER(i, j);
	return top->reverse ? -ret : ret;
}

/* Matches part of a name, or a whole number or word. */
static bool matches(const struct top *top, const struct top_proc *proc)
{
	const char *on = on_names[proc->on];
	uint64_t number;

	return !top->match[0] ||
	       (parse_u64(top->match, &number) && number == proc->pid) ||
	       strcasestr(proc->comm, top->match) ||
	       strcasestr(proc->devices, top->match) ||
	       strcasestr(proc->libraries, top->match) ||
	       (on && !strcasecmp(on, top->match)) ||
	       (*proc->pod && strcasestr(proc->pod, top->match)) ||
	       (*proc->container && strcasestr(proc->container, top->match));
}

/* Returns false if out of memory. */
bool top_procs_arrange(struct top *top)
{
	size_t i, n = 0;

	if (!grow_to(top->order, top->procs.n, top->max_order))
		return false;
	for (i = 0; i < top->procs.n; i++) {
		if (matches(top, &top->procs.proc[i]))
			top->order[n++] = i;
	}
	qsort_r(top->order, n, sizeof(*top->order), by_order, top);
	top->n_order = n;
	return true;
}
