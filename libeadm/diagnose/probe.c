// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the probe's records. There may be many thousands of calls, but rules examine
 * only a few of them. Memory regions are counted per process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eadm_nl.h"
#include "grow.h"
#include "read/machine.h"
#include "reader.h"

/* Shorter registrations are not worth reporting. */
#define SLOW_NS 500000000ULL

/* A region was created or destroyed. */
struct change {
	uint64_t dev, pid, time, bytes;
	int by;
};

struct tally {
	struct change *change;
	size_t n, max;
	uint64_t dev, seq;	/* device and number of the call read last */
	size_t from;		/* first change of that device */
	bool fail;
};

static bool is_made(uint64_t op)
{
	return op == EADM_CMD_OP_REG_MR || op == EADM_CMD_OP_ALLOC_MR;
}

/*
 * Each CPU overwrites the oldest of its records, so regions registered on an idle CPU may
 * have been deregistered on a busy one without a record. Calls of a device are numbered
 * consecutively: ignore changes before a gap.
 */
static void skip_gap(struct tally *t, const struct diag_row *row)
{
	/* Only calls that have returned are numbered. */
	if (!row->id)
		return;
	if (!t->seq || row->dev != t->dev)
		t->from = t->n;
	else if (row->id != t->seq + 1)
		t->n = t->from;
	t->dev = row->dev;
	t->seq = row->id;
}

static void count(struct reader *r, const struct diag_row *row)
{
	struct tally *t = r->tally;
	uint64_t op = diag_u64(row, CALL_OP);

	if ((!is_made(op) && op != EADM_CMD_OP_DEREG_MR) ||
	    diag_u64(row, CALL_STATE) != EADM_CMD_STATE_DONE ||
	    !diag_has(row, CALL_PID))
		return;
	if (!grow(t->change, t->n, t->max)) {
		t->fail = true;
		return;
	}
	t->change[t->n++] = (struct change){
		.dev = row->dev, .pid = diag_u64(row, CALL_PID),
		.time = diag_u64(row, CALL_TIME),
		.bytes = diag_u64(row, CALL_SIZE),
		.by = is_made(op) ? 1 : -1,
	};
}

static bool fails_to_make(const struct diag_row *row)
{
	switch (diag_u64(row, CALL_OP)) {
	case EADM_CMD_OP_CREATE_QP:
	case EADM_CMD_OP_CREATE_CQ:
	case EADM_CMD_OP_CREATE_SRQ:
		return diag_u64(row, CALL_STATE) == EADM_CMD_STATE_ERROR;
	default:
		return false;
	}
}

/* Returns true if some rule examines the call. */
static bool wants_call(struct reader *r, const struct diag_row *row)
{
	skip_gap(r->tally, row);
	/* This is a driver's command; the verb that caused it is recorded as well. */
	if (diag_has(row, CALL_OP_RAW))
		return false;
	count(r, row);
	if (fails_to_make(row))
		r->snapshot->short_of = true;
	if (diag_u64(row, CALL_STATE) != EADM_CMD_STATE_DONE)
		return true;
	switch (diag_u64(row, CALL_OP)) {
	case EADM_CMD_OP_MODIFY_QP:
		return diag_has(row, CALL_NEW_STATE);
	case EADM_CMD_OP_CREATE_QP:
	case EADM_CMD_OP_CREATE_CQ:
	case EADM_CMD_OP_CREATE_SRQ:
	case EADM_CMD_OP_DESTROY_QP:
	case EADM_CMD_OP_CM_DISCONNECT:
		return true;
	case EADM_CMD_OP_REG_MR:
		return diag_u64(row, CALL_LATENCY) >= SLOW_NS;
	default:
		return false;
	}
}

static int by_owner(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

/*
 * The records from @from up to @to belong to one process, and are in the order of time.
 */
static void add_up(const struct change *c, size_t from, size_t to,
		   struct diag_registrar *sum)
{
	uint64_t span;
	unsigned int quarter;
	size_t i;

	*sum = (struct diag_registrar){
		.dev = c[from].dev, .pid = c[from].pid,
		.first = c[from].time, .last = c[to - 1].time,
	};
	span = sum->last - sum->first;
	for (i = from; i < to; i++) {
		quarter = span ? (c[i].time - sum->first) * 4 / (span + 1) : 0;
		sum->grown[quarter] += c[i].by;
		sum->made += c[i].by > 0;
		sum->destroyed += c[i].by < 0;
		sum->bytes += c[i].by > 0 ? c[i].bytes : 0;
	}
}

static int sum_up(struct diag_snapshot *m, struct tally *t)
{
	size_t from, to;

	if (t->fail)
		return -ENOMEM;
	if (t->n > 1)
		qsort(t->change, t->n, sizeof(*t->change), by_owner);
	for (from = 0; from < t->n; from = to) {
		for (to = from; to < t->n; to++) {
			if (t->change[to].dev != t->change[from].dev ||
			    t->change[to].pid != t->change[from].pid)
				break;
		}
		if (!grow(m->registrars, m->n_registrars, m->max_registrars))
			return -ENOMEM;
		add_up(t->change, from, to, &m->registrars[m->n_registrars++]);
	}
	return 0;
}

int eadm_diag_read_probe(struct reader *r, const char *device)
{
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = device,
	};
	struct tally tally = { 0 };
	int ret;

	/*
	 * Without the probe, commands come from the drivers, and are read and examined
	 * separately.
	 */
	if (eadm_machine_probe(r->ctx) == -ENOENT)
		return 0;
	r->tally = &tally;
	ret = eadm_diag_read_some(r, DIAG_CALL, &opts, wants_call);
	if (!ret)
		ret = eadm_diag_read_some(r, DIAG_EVENT, &opts, NULL);
	r->tally = NULL;
	/* The probe need not be running: the other rules work without it. */
	if (ret != -ENOMEM)
		ret = sum_up(r->snapshot, &tally);
	free(tally.change);
	return ret;
}
