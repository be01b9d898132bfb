// SPDX-License-Identifier: LGPL-2.1-or-later
/* State and limits of the processes that own queues and contexts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "model.h"
#include "base/ctx.h"
#include "eadm_nl.h"
#include "model/record.h"
#include "read/machine.h"

/* Each owner requires reading about six files. */
#define MOST_OWNERS 512

static const char *text_of(struct diag_pool *pool,
			   const struct eadm_record *row, unsigned int attr)
{
	return eadm_diag_strdup(pool, eadm_record_attr_has(row, attr) ?
				(const char *)row->slot[attr - 1].p : "");
}

static bool take(struct diag_pool *pool, const struct eadm_record *row,
		 struct diag_owner *owner)
{
	if (!eadm_record_attr_has(row, EADM_A_PROCESS_STATE))
		return false;
	owner->state = eadm_record_attr_u64(row, EADM_A_PROCESS_STATE);
	owner->frozen = eadm_record_attr_has(row, EADM_A_PROCESS_FROZEN) &&
			eadm_record_attr_u64(row, EADM_A_PROCESS_FROZEN);
	owner->wchan = text_of(pool, row, EADM_A_PROCESS_WCHAN);
	owner->group = text_of(pool, row, EADM_A_PROCESS_CGROUP);
	owner->has_limit = eadm_record_attr_has(row, EADM_A_PROCESS_MEMLOCK) &&
			   eadm_record_attr_has(row, EADM_A_PROCESS_PINNED);
	if (owner->has_limit) {
		owner->memlock = eadm_record_attr_u64(row, EADM_A_PROCESS_MEMLOCK);
		owner->pinned = eadm_record_attr_u64(row, EADM_A_PROCESS_PINNED);
		owner->ipc_lock = eadm_record_attr_u64(row, EADM_A_PROCESS_IPC_LOCK);
	}
	if (eadm_record_attr_has(row, EADM_A_PROCESS_OPEN_FILES) &&
	    eadm_record_attr_has(row, EADM_A_PROCESS_MAX_OPEN_FILES)) {
		owner->files = eadm_record_attr_u64(row, EADM_A_PROCESS_OPEN_FILES);
		owner->max_files = eadm_record_attr_u64(row, EADM_A_PROCESS_MAX_OPEN_FILES);
	}
	return owner->wchan && owner->group;
}

const struct diag_owner *eadm_diag_owner(const struct diag_snapshot *m,
					 uint64_t pid)
{
	size_t low = 0, high = m->n_owners, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (m->owners[mid].pid < pid)
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->n_owners && m->owners[low].pid == pid ?
		       &m->owners[low] : NULL;
}

static int by_pid(const void *a, const void *b)
{
	const struct diag_owner *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static bool add(struct diag_snapshot *m, const struct diag_row *row,
		unsigned int field)
{
	uint64_t pid = diag_u64(row, field);

	/* Most rows of the same process are adjacent. */
	if (!pid || (m->n_owners && m->owners[m->n_owners - 1].pid == pid))
		return true;
	if (!grow(m->owners, m->n_owners, m->max_owners))
		return false;
	m->owners[m->n_owners++] = (struct diag_owner){ .pid = pid };
	return true;
}

/* Examine each process once; it may have ended or be missing from the capture. */
static int look(struct diag_snapshot *m, struct eadm_ctx *ctx)
{
	const struct eadm_object *object =
		&eadm_spec_objects[EADM_SPEC_OBJ_PROCESS];
	struct eadm_record row = { 0 };
	struct eadm_query query;
	struct eadm_reply reply;
	uint64_t last = 0;
	size_t i, n = 0;
	int ret = 0;

	qsort(m->owners, m->n_owners, sizeof(*m->owners), by_pid);
	for (i = 0; ret >= 0 && i < m->n_owners && n < MOST_OWNERS; i++) {
		if (m->owners[i].pid == last)
			continue;
		last = m->owners[i].pid;
		query = eadm_machine_process(last);
		ret = eadm_machine_open(ctx, &query, object, &reply, &row);
		if (ret > 0) {
			m->owners[n].pid = last;
			n += take(&m->pool, &row, &m->owners[n]);
		}
		eadm_reply_close(&reply);
	}
	eadm_record_release(&row);
	m->n_owners = n;
	return ret < 0 ? ret : 0;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool note_qp_pids(struct diag_snapshot *m)
{
	const struct diag_rows *qps = &m->rows[DIAG_QP];
	uint64_t pid;
	size_t i;

	for (i = 0; i < qps->n; i++) {
		pid = diag_u64(&qps->row[i], QP_PID);
		if (!pid || (m->n_qp_pids && m->qp_pids[m->n_qp_pids - 1] == pid))
			continue;
		if (!grow(m->qp_pids, m->n_qp_pids, m->max_qp_pids))
			return false;
		m->qp_pids[m->n_qp_pids++] = pid;
	}
	if (m->n_qp_pids > 1)
		qsort(m->qp_pids, m->n_qp_pids, sizeof(pid), by_number);
	return true;
}

bool eadm_diag_has_qps(const struct diag_snapshot *m, uint64_t pid)
{
	return m->n_qp_pids && bsearch(&pid, m->qp_pids, m->n_qp_pids,
				       sizeof(pid), by_number);
}

int eadm_diag_owners_read(struct diag_snapshot *m, struct eadm_ctx *ctx)
{
	const struct diag_rows *qps = &m->rows[DIAG_QP];
	const struct diag_rows *cqs = &m->rows[DIAG_CQ];
	const struct diag_rows *ctxs = &m->rows[DIAG_CTX];
	const struct diag_rows *hung = &m->rows[DIAG_CALL];
	bool ok = note_qp_pids(m);
	size_t i;

	for (i = 0; ok && i < qps->n; i++)
		ok = add(m, &qps->row[i], QP_PID);
	for (i = 0; ok && i < cqs->n; i++)
		ok = add(m, &cqs->row[i], CQ_PID);
	for (i = 0; ok && i < ctxs->n; i++)
		ok = add(m, &ctxs->row[i], CTX_PID);
	for (i = 0; ok && i < hung->n; i++) {
		if (diag_u64(&hung->row[i], CALL_STATE) ==
		    EADM_CMD_STATE_PENDING)
			ok = add(m, &hung->row[i], CALL_PID);
	}
	if (!ok)
		return -ENOMEM;
	return m->n_owners ? look(m, ctx) : 0;
}
