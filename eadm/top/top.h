/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the command "top": the measurements, and how they are shown. */
#ifndef TOP_H
#define TOP_H

#include "../view.h"

#define TOP_TRAFFIC 32	/* number of refreshes to remember */

enum {
	DEV_NAME, DEV_STATE, DEV_PORT, DEV_TX_BYTES, DEV_RX_BYTES,
	DEV_TX_PACKETS, DEV_RX_PACKETS, DEV_CMDS, DEV_OUT, DEV_P50, DEV_P99,
	DEV_CONNECTS, DEV_FAILURES, DEV_QPS, DEV_NETDEV, N_DEV_COLS
};

enum {
	QP_DEVICE, QP_QPN, QP_STATE, QP_SQ, QP_RQ, QP_QUEUED, QP_PID, QP_COMM,
	QP_PEER, QP_LAST, QP_AGE, N_QP_COLS
};

/* Values that have rates. */
enum { C_TX_BYTES, C_RX_BYTES, C_TX_PACKETS, C_RX_PACKETS, C_CMDS,
       N_COUNTS };

struct count {
	uint64_t time, value;	/* time 0: unknown */
	double rate;		/* below 0: unknown */
};

struct top_dev {
	uint32_t index;
	char name[64], netdev[32];
	uint64_t state, port, qps, outstanding;
	uint32_t sq_mask, rq_mask;	/* index masks */
	bool has_state, has_port, has_qps, has_outstanding;
	bool seen;
	struct count count[N_COUNTS];
	struct eadm_trace *trace;	/* on this machine, or NULL */
	bool tried;			/* opening the trace was tried */
	uint64_t *latency;		/* latencies of commands since the last look */
	size_t n_latency, max_latency;
	uint64_t p50, p99;
	bool has_latency;
	uint64_t n_failures;		/* since the last look */
	uint64_t n_connects;		/* calls of rdma_cm since the last look */
	double connects, failures;	/* per second; below 0: unknown */
	float traffic[TOP_TRAFFIC][2];	/* bytes per second sent and received; newest first */
	unsigned int n_traffic;
};

/* Keep this small: there may be a hundred thousand. */
struct top_qp {
	uint64_t time, pid, last, age;
	float sq_rate, rq_rate;		/* below 0: unknown */
	uint32_t dev, qpn;
	uint32_t sq_pi, rq_pi, queued;
	uint8_t state;
	bool has_state, has_sq, has_rq, has_queued, has_pid, has_last, has_age;
	uint8_t peer_len;
	unsigned char peer[16];
	char comm[32];
};

struct qp_set {
	struct top_qp *qp;
	size_t n, max;
	bool sorted;
};

struct top {
	struct cli *cli;
	struct filter filter;		/* from options */
	char match[64];			/* typed on the screen */
	uint64_t now;			/* time of what is shown, ns since 1970 */
	uint64_t before;		/* time of the previous look; 0: none */
	uint64_t interval;		/* ns */
	unsigned int n_devs, max_devs;
	struct top_dev *dev;
	bool found;			/* there was a device in some look */
	struct qp_set qps, old;
	uint64_t next_scan;		/* ns, monotonic */
	uint64_t scan_every;		/* ns; how old QPs may get */
	uint32_t *order;		/* indices of QPs as shown */
	size_t n_order, max_order;
	unsigned int sort;		/* column to sort QPs by, or QP_SQ for the busiest */
	unsigned int looks, scans;
	bool lost;			/* the list of devices must be read */
	bool failed;			/* out of memory */
	bool reverse, frozen, ended;
	char note[160];			/* what could not be read */
	char blind[300];		/* which filter could not be applied to the QPs */
	struct table dev_table, qp_table;
	const struct eadm_field *qp_peer;
};

/* ---- model.c, latency.c --------------------------------------------------- */

int top_look(struct top *top);
int top_failed(struct top *top, int error);
int top_end(struct top *top);
bool top_next(struct top *top);
void top_free(struct top *top);
void top_latency_open(struct top *top, struct top_dev *dev);
void top_latency_look(struct top *top);

void top_failures_look(struct top *top); /* failures.c */

/* ---- traffic.c ---------------------------------------------------------------- */

void top_traffic_look(struct top *top);
bool top_traffic_line(const struct top_dev *dev, unsigned int width, char *buf,
		      size_t size);

/* ---- order.c ------------------------------------------------------------------ */

bool top_arrange(struct top *top);
int top_sort_find(struct cli *cli, const char *name, unsigned int *column);
unsigned int top_sort_step(unsigned int column, int step);

/* ---- values.c ----------------------------------------------------------------- */

int top_tables(struct top *top);
void top_dev_values(const struct top_dev *dev, struct eadm_value *values);
/* @peer: room for the address as text */
void top_qp_values(const struct top *top, const struct top_qp *qp,
		   struct eadm_value *values, char *peer, size_t size);
const char *top_dev_name(const struct top *top, uint32_t index);

/* ---- batch.c, screen.c -------------------------------------------------------- */

int top_batch(struct top *top, uint64_t count, uint64_t rows);
int top_screen(struct top *top, uint64_t count);

#endif /* TOP_H */
