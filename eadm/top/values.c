// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats the measurements as columns and values, for the screen, text and JSON. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "top.h"

static const struct column dev_columns[N_DEV_COLS] = {
	[DEV_NAME] = { .key = "dev_name", .head = "DEVICE",
		.kind = EADM_KIND_NAME },
	[DEV_NETDEV] = { .key = "netdev", .head = "NETDEV",
		.kind = EADM_KIND_NAME },
	[DEV_STATE] = { .key = "state", .head = "STATE",
		.kind = EADM_KIND_STATE },
	[DEV_PORT] = { .key = "port_state", .head = "PORT",
		.kind = EADM_KIND_STATE },
	[DEV_TX_BYTES] = { .key = "tx_bytes_per_s", .head = "TXB/s",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[DEV_RX_BYTES] = { .key = "rx_bytes_per_s", .head = "RXB/s",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[DEV_TX_PACKETS] = { .key = "tx_packets_per_s", .head = "TXP/s",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[DEV_RX_PACKETS] = { .key = "rx_packets_per_s", .head = "RXP/s",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[DEV_CMDS] = { .key = "cmds_per_s", .head = "CMD/s",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[DEV_OUT] = { .key = "outstanding", .head = "OUT",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[DEV_P50] = { .key = "cmd_p50", .head = "P50", .unit = "ns",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_AGE },
	[DEV_P99] = { .key = "cmd_p99", .head = "P99", .unit = "ns",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_AGE },
	[DEV_CONNECTS] = { .key = "connects_per_s", .head = "CONN/s",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[DEV_FAILURES] = { .key = "failures_per_s", .head = "FAIL/s",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[DEV_QPS] = { .key = "qps", .head = "QPS",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
};

static const struct column qp_columns[N_QP_COLS] = {
	[QP_DEVICE] = { .key = "dev_name", .head = "DEVICE",
		.kind = EADM_KIND_NAME },
	[QP_QPN] = { .key = "qpn", .head = "QPN",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_ID },
	[QP_STATE] = { .key = "state", .head = "STATE",
		.kind = EADM_KIND_STATE },
	[QP_SQ] = { .key = "sq_per_s", .head = "SQ/s",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[QP_RQ] = { .key = "rq_per_s", .head = "RQ/s",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[QP_QUEUED] = { .key = "queued", .head = "QUEUED",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	[QP_PID] = { .key = "pid", .head = "PID",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_ID },
	[QP_COMM] = { .key = "comm", .head = "COMM",
		.kind = EADM_KIND_NAME, .cut = true },
	[QP_PEER] = { .key = "peer_addr", .head = "PEER",
		.kind = EADM_KIND_ADDRESS },
	[QP_LAST] = { .key = "last_comp_age", .head = "LAST", .unit = "ns",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_AGE },
	[QP_AGE] = { .key = "age", .head = "AGE", .unit = "ns",
		.type = EADM_TYPE_U64, .kind = EADM_KIND_AGE },
};

int top_tables(struct top *top)
{
	int status;

	top->dev_table.object = "top-device";
	top->qp_table.object = "top-qp";
	status = table_of(top->cli, &top->dev_table, dev_columns, N_DEV_COLS);
	if (!status)
		status = table_of(top->cli, &top->qp_table, qp_columns,
				  N_QP_COLS);
	return status ? status : top_proc_table(top);
}

static struct eadm_value number(bool has, uint64_t value)
{
	return has ? value_u64(value) : value_string(NULL);
}

static struct eadm_value rate(double rate)
{
	return rate < 0 ? value_string(NULL) : value_rate(rate);
}

static struct eadm_value state(const char *object, const char *name, bool has,
			       uint64_t value)
{
	const struct eadm_field *field = eadm_object_find_field(
		eadm_object_find(object), name);

	return value_text(has ? eadm_field_value_name(field, value) : NULL);
}

const char *top_dev_name(const struct top *top, uint32_t index)
{
	unsigned int i;

	for (i = 0; i < top->n_devs; i++) {
		if (top->dev[i].index == index)
			return top->dev[i].name;
	}
	return NULL;
}

void top_dev_values(const struct top_dev *dev, struct eadm_value *values)
{
	unsigned int i;

	values[DEV_NAME] = value_text(dev->name);
	values[DEV_NETDEV] = value_text(dev->netdev);
	values[DEV_STATE] = state("dev", "state", dev->has_state, dev->state);
	values[DEV_PORT] = state("dev", "port-state", dev->has_port, dev->port);
	for (i = 0; i < N_COUNTS; i++)
		values[DEV_TX_BYTES + i] = rate(dev->count[i].rate);
	values[DEV_OUT] = number(dev->has_outstanding, dev->outstanding);
	values[DEV_P50] = number(dev->has_latency, dev->p50);
	values[DEV_P99] = number(dev->has_latency, dev->p99);
	values[DEV_CONNECTS] = rate(dev->connects);
	values[DEV_FAILURES] = rate(dev->failures);
	values[DEV_QPS] = number(dev->has_qps, dev->qps);
}

static void qp_values(const struct top *top, const struct top_qp *qp,
		      struct eadm_value *values, char *peer, size_t size)
{
	peer[0] = '\0';
	if (qp->peer_len)
		inet_ntop(qp->peer_len == 4 ? AF_INET : AF_INET6, qp->peer,
			  peer, size);
	values[QP_DEVICE] = value_text(top_dev_name(top, qp->dev));
	values[QP_QPN] = value_u64(qp->qpn);
	values[QP_STATE] = state("qp", "state", qp->has_state, qp->state);
	values[QP_SQ] = rate(qp->sq_rate);
	values[QP_RQ] = rate(qp->rq_rate);
	values[QP_QUEUED] = number(qp->has_queued, qp->queued);
	values[QP_PID] = number(qp->has_pid, qp->pid);
	values[QP_COMM] = value_text(qp->comm);
	values[QP_PEER] = value_text(peer);
	values[QP_LAST] = number(qp->has_last, qp->last);
	values[QP_AGE] = number(qp->life.has_age, qp->life.age);
}

/*
 * ---- rows of both kinds ---------------------------------------------------------------
 */

const struct table *top_rows_table(const struct top *top)
{
	return top->processes ? &top->proc_table : &top->qp_table;
}

void top_row_values(const struct top *top, size_t at,
		    struct eadm_value *values, char *peer, size_t size)
{
	if (top->processes)
		top_proc_values(top, &top->procs.proc[top->order[at]], values);
	else
		qp_values(top, &top->qps.qp[top->order[at]], values, peer,
			  size);
}

void top_rows_count(const struct top *top, bool brief, char *buf, size_t size)
{
	size_t n = top->processes ? top->procs.n : top->qps.n;

	if (top->no_qps && !top->processes) {
		snprintf(buf, size, "%s unknown", brief ? "QPs" : "queue pairs");
		return;
	}
	snprintf(buf, size, "%zu %s", n,
		 top->processes ? plural(n, "process", "processes") :
		 brief ? plural(n, "QP", "QPs") :
			 plural(n, "queue pair", "queue pairs"));
}
