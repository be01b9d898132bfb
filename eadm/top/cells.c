// SPDX-License-Identifier: GPL-2.0-or-later
/* What is measured as columns and cells, for screen, text and JSON alike. */
#include <arpa/inet.h>
#include <string.h>

#include "top.h"

struct col_def {
	const char *key, *head, *unit;
	enum eadm_type type;
	enum eadm_kind kind;
};

static const struct col_def dev_defs[N_DEV_COLS] = {
	[DEV_NAME] = { "dev_name", "DEVICE", "", EADM_TYPE_STRING,
		       EADM_KIND_NAME },
	[DEV_NETDEV] = { "netdev", "NETDEV", "", EADM_TYPE_STRING,
			 EADM_KIND_NAME },
	[DEV_STATE] = { "state", "STATE", "", EADM_TYPE_STRING,
			EADM_KIND_STATE },
	[DEV_PORT] = { "port_state", "PORT", "", EADM_TYPE_STRING,
		       EADM_KIND_STATE },
	[DEV_TX_BYTES] = { "tx_bytes_per_s", "TXB/s", "", EADM_TYPE_U64,
			   EADM_KIND_GAUGE },
	[DEV_RX_BYTES] = { "rx_bytes_per_s", "RXB/s", "", EADM_TYPE_U64,
			   EADM_KIND_GAUGE },
	[DEV_TX_PACKETS] = { "tx_packets_per_s", "TXP/s", "", EADM_TYPE_U64,
			     EADM_KIND_GAUGE },
	[DEV_RX_PACKETS] = { "rx_packets_per_s", "RXP/s", "", EADM_TYPE_U64,
			     EADM_KIND_GAUGE },
	[DEV_CMDS] = { "cmds_per_s", "CMD/s", "", EADM_TYPE_U64,
		       EADM_KIND_GAUGE },
	[DEV_OUT] = { "outstanding", "OUT", "", EADM_TYPE_U64,
		      EADM_KIND_GAUGE },
	[DEV_P50] = { "cmd_p50", "P50", "ns", EADM_TYPE_U64, EADM_KIND_AGE },
	[DEV_P99] = { "cmd_p99", "P99", "ns", EADM_TYPE_U64, EADM_KIND_AGE },
	[DEV_QPS] = { "qps", "QPS", "", EADM_TYPE_U64, EADM_KIND_GAUGE },
};

static const struct col_def qp_defs[N_QP_COLS] = {
	[QP_DEVICE] = { "dev_name", "DEVICE", "", EADM_TYPE_STRING,
			EADM_KIND_NAME },
	[QP_QPN] = { "qpn", "QPN", "", EADM_TYPE_U64, EADM_KIND_ID },
	[QP_STATE] = { "state", "STATE", "", EADM_TYPE_STRING,
		       EADM_KIND_STATE },
	[QP_SQ] = { "sq_per_s", "SQ/s", "", EADM_TYPE_U64, EADM_KIND_GAUGE },
	[QP_RQ] = { "rq_per_s", "RQ/s", "", EADM_TYPE_U64, EADM_KIND_GAUGE },
	[QP_QUEUED] = { "queued", "QUEUED", "", EADM_TYPE_U64,
			EADM_KIND_GAUGE },
	[QP_PID] = { "pid", "PID", "", EADM_TYPE_U64, EADM_KIND_ID },
	[QP_COMM] = { "comm", "COMM", "", EADM_TYPE_STRING, EADM_KIND_NAME },
	[QP_PEER] = { "peer_addr", "PEER", "", EADM_TYPE_STRING,
		      EADM_KIND_ADDRESS },
	[QP_LAST] = { "last_comp_age", "LAST", "ns", EADM_TYPE_U64,
		      EADM_KIND_AGE },
	[QP_AGE] = { "age", "AGE", "ns", EADM_TYPE_U64, EADM_KIND_AGE },
};

static void make(struct column *cols, const struct col_def *defs,
		 unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		cols[i] = (struct column){
			.name = defs[i].key, .key = defs[i].key,
			.head = defs[i].head, .unit = defs[i].unit,
			.help = "", .type = defs[i].type,
			.kind = defs[i].kind,
		};
}

void top_columns(struct top *top)
{
	make(top->dev_cols, dev_defs, N_DEV_COLS);
	make(top->qp_cols, qp_defs, N_QP_COLS);
}

static void put_u64(struct cell *cell, bool has, uint64_t value)
{
	*cell = (struct cell){ has ? CELL_U64 : CELL_NONE, .u = value };
}

static void put_rate(struct cell *cell, double rate)
{
	*cell = (struct cell){ rate < 0 ? CELL_NONE : CELL_F64, .f = rate };
}

static void put_text(struct cell *cell, const char *text)
{
	*cell = (struct cell){ text && *text ? CELL_STRING : CELL_NONE,
			       .str = text };
}

static void put_state(struct cell *cell, const char *object, const char *name,
		      bool has, uint64_t value)
{
	const struct eadm_field *field = eadm_object_find_field(
		eadm_object_find(object), name);

	put_text(cell, has ? eadm_field_value_name(field, value) : NULL);
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

void top_dev_cells(const struct top *top, const struct top_dev *dev,
		   struct cell *cells)
{
	unsigned int i;

	(void)top;
	put_text(&cells[DEV_NAME], dev->name);
	put_text(&cells[DEV_NETDEV], dev->netdev);
	put_state(&cells[DEV_STATE], "dev", "state", dev->has_state,
		  dev->state);
	put_state(&cells[DEV_PORT], "dev", "port-state", dev->has_port,
		  dev->port);
	for (i = 0; i < N_COUNTS; i++)
		put_rate(&cells[DEV_TX_BYTES + i], dev->count[i].rate);
	put_u64(&cells[DEV_OUT], dev->has_outstanding, dev->outstanding);
	put_u64(&cells[DEV_P50], dev->has_latency, dev->p50);
	put_u64(&cells[DEV_P99], dev->has_latency, dev->p99);
	put_u64(&cells[DEV_QPS], dev->has_qps, dev->qps);
}

void top_qp_cells(const struct top *top, const struct top_qp *qp,
		  struct cell *cells, char *peer, size_t size)
{
	peer[0] = '\0';
	if (qp->peer_len)
		inet_ntop(qp->peer_len == 4 ? AF_INET : AF_INET6, qp->peer,
			  peer, size);
	put_text(&cells[QP_DEVICE], top_dev_name(top, qp->dev));
	put_u64(&cells[QP_QPN], true, qp->qpn);
	put_state(&cells[QP_STATE], "qp", "state", qp->has_state, qp->state);
	put_rate(&cells[QP_SQ], qp->sq_rate);
	put_rate(&cells[QP_RQ], qp->rq_rate);
	put_u64(&cells[QP_QUEUED], qp->has_queued, qp->queued);
	put_u64(&cells[QP_PID], qp->has_pid, qp->pid);
	put_text(&cells[QP_COMM], qp->comm);
	put_text(&cells[QP_PEER], peer);
	put_u64(&cells[QP_LAST], qp->has_last, qp->last);
	put_u64(&cells[QP_AGE], qp->has_age, qp->age);
}
