/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the command "top", which take the measurements and display them. */
#ifndef TOP_H
#define TOP_H

#include "../lifetime.h"
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

enum {
	PROC_PID, PROC_COMM, PROC_ON, PROC_DEVICES, PROC_QPS, PROC_CQS,
	PROC_MRS, PROC_TX, PROC_RX, PROC_SQ, PROC_RQ, PROC_TCP_TX,
	PROC_TCP_RX, PROC_LIBRARIES, PROC_POD, PROC_CONTAINER, N_PROC_COLS
};

#define N_ROW_COLS N_PROC_COLS	/* enough for any table */

_Static_assert((int)N_DEV_COLS <= (int)N_ROW_COLS &&
	       (int)N_QP_COLS <= (int)N_ROW_COLS, "N_ROW_COLS covers both tables");

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
	unsigned char guid[8];
	struct lifetime life;		/* as of the last refresh */
	uint64_t since;			/* first seen: older QPs are of another device */
	uint64_t state, port, qps, outstanding;
	uint32_t sq_mask, rq_mask;	/* index masks */
	bool has_state, has_port, has_qps, has_outstanding;
	bool seen;
	struct count count[N_COUNTS];
	struct eadm_trace *trace;	/* on this machine, or NULL */
	bool streamed;			/* the trace was open */
	bool refused;			/* the trace could never be opened */
	uint64_t *latency;		/* latencies of commands since the last refresh */
	size_t n_latency, max_latency;
	uint64_t p50, p99;
	bool has_latency;
	uint64_t n_failures;		/* since the last refresh */
	uint64_t n_connects;		/* calls to rdma_cm since the last refresh */
	double connects, failures;	/* per second; below 0: unknown */
	float traffic[TOP_TRAFFIC][2];	/* bytes per second sent and received; newest first */
	unsigned int n_traffic;
};

/* Keep this struct small: there can be a hundred thousand QPs. */
struct top_qp {
	struct lifetime life;
	uint64_t pid, last, state_age;
	float sq_rate, rq_rate;		/* below 0: unknown */
	uint32_t dev, qpn;
	uint32_t sq_pi, rq_pi, queued;
	uint8_t state;
	bool has_state, has_sq, has_rq, has_queued, has_pid, has_last;
	bool has_state_age, connected;
	uint8_t peer_len;
	unsigned char peer[16];
	char comm[32];
};

struct qp_set {
	struct top_qp *qp;
	size_t n, max;
	bool sorted;
};

/* Bytes that a process moved. */
enum { RDMA_TX, RDMA_RX, TCP_TX, TCP_RX, N_MOVED };

struct moved {
	uint64_t time, value;	/* time 0: unknown */
	double rate;		/* below 0: unknown */
	unsigned int qps;	/* number of QPs that were counted */
};

/* Transport of a process's data. */
enum top_on { ON_UNKNOWN, ON_IDLE, ON_RDMA, ON_TCP, ON_BOTH };

struct top_proc {
	uint32_t pid;
	unsigned int qps, cqs, mrs;
	bool connected;			/* one of its QPs is connected */
	bool is_user;			/* the process has libibverbs loaded */
	enum top_on on;
	double sq_rate, rq_rate;	/* below 0: unknown */
	struct moved moved[N_MOVED];
	char comm[32], devices[128], libraries[64], pod[40], container[72];
};

struct proc_set {
	struct top_proc *proc;		/* sorted by PID */
	size_t n, max;
};

/* Data that could not be read, or a filter that could not be applied. */
struct top_note {
	char device[DEVICE_NAME], what[64], why[300];
};

struct top_notes {
	struct top_note *note;
	size_t n, max;
};

struct top {
	struct cli *cli;
	struct filter filter;		/* filter given by options */
	char match[64];			/* typed on the screen */
	uint64_t now;			/* time of the displayed data, ns since 1970 */
	uint64_t before;		/* time of the previous refresh; 0: none */
	uint64_t interval;		/* ns */
	unsigned int n_devs, max_devs;
	struct top_dev *dev;
	bool found;			/* a refresh has found a device */
	struct qp_set qps, old;
	uint64_t next_scan;		/* ns, monotonic */
	uint64_t scan_every;		/* ns; maximum age of QPs */
	uint32_t *order;		/* indices of QPs, or of processes, as shown */
	size_t n_order, max_order;
	unsigned int sort;		/* sort column; QP_SQ, PROC_TX: the busiest first */
	unsigned int looks, scans;
	bool lost;			/* the list of devices must be read */
	bool failed;			/* out of memory */
	bool reverse, frozen, ended;
	struct top_notes dev_notes;	/* of the last refresh */
	struct top_notes row_notes;	/* of the last scan of QPs or processes */
	struct top_notes once;		/* about processes: shown once */
	bool blind;			/* a filter could not be applied in that scan */
	bool partial;			/* data could not be read in some refresh */
	struct table dev_table, qp_table;
	const struct eadm_field *qp_peer;
	bool processes;			/* show processes instead of QPs */
	struct proc_set procs, old_procs;
	struct table proc_table;
	uint64_t hidden;		/* processes that cannot be read */
	bool hides_more;		/* /proc hides processes, whose number is unknown */
	bool no_qps, no_cqs, no_mrs;	/* they cannot be read */
	bool said_hidden, said_uncounted;
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

/* ---- rows.c ----------------------------------------------------------------------- */

/* Adds devices whose objects cannot be read to @notes, which can be NULL. */
int top_each(struct top *top, struct top_notes *notes, const char *name,
	     void (*take)(struct top *top, const struct eadm_record *record));
int top_qp_by_id(const void *a, const void *b);
const struct top_qp *top_qp_find(const struct top *top, uint32_t dev,
				 uint32_t qpn);

/* ---- notes.c ---------------------------------------------------------------------- */

void top_note(struct top *top, struct top_notes *notes, const char *device,
	      const char *what, const char *why);
void top_note_error(struct top *top, struct top_notes *notes, const char *object,
		    int error);
void top_note_dump(struct top *top, struct top_notes *notes,
		   const struct eadm_dump *dump);
void top_notes_write(struct top *top, const struct top_notes *notes);
bool top_notes_line(const struct top *top, char *buf, size_t size);

/* ---- procs.c, proc_view.c ----------------------------------------------------- */

int top_procs_look(struct top *top);
bool top_procs_arrange(struct top *top);
int top_proc_table(struct top *top);
void top_proc_values(const struct top *top, const struct top_proc *proc,
		     struct eadm_value *values);

/* ---- traffic.c ---------------------------------------------------------------- */

void top_traffic_look(struct top *top);
bool top_traffic_line(const struct top_dev *dev, unsigned int width, char *buf,
		      size_t size);

/* ---- order.c ------------------------------------------------------------------ */

bool top_arrange(struct top *top);
int top_sort_find(struct top *top, const char *name);
unsigned int top_sort_step(const struct top *top, int step);

/* ---- values.c ----------------------------------------------------------------- */

int top_tables(struct top *top);
void top_dev_values(const struct top_dev *dev, struct eadm_value *values);
/*
 * The table of QPs or processes, and the values of its row @at in display order. @peer
 * is memory for an address.
 */
const struct table *top_rows_table(const struct top *top);
void top_row_values(const struct top *top, size_t at,
		    struct eadm_value *values, char *peer, size_t size);
/* Formats the number of rows: "40 QPs". */
void top_rows_count(const struct top *top, bool brief, char *buf, size_t size);
const char *top_dev_name(const struct top *top, uint32_t index);

/* ---- batch.c, screen.c -------------------------------------------------------- */

int top_batch(struct top *top, uint64_t count, uint64_t rows);
int top_screen(struct top *top, uint64_t count);

#endif /* TOP_H */
