// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Asynchronous events, connection manager events and GID events, as rows of
 * "event"; failures, as rows of "failure".
 */
#include <errno.h>
#include <stdlib.h>

#include "eadm_nl.h"
#include "model/fields.h"
#include "row.h"
#include "source/local.h"
#include "source/message.h"

/* Indexed by the kernel's number of a verbs event. */
static const uint8_t asyncs[] = {
	EADM_ASYNC_EVENT_CQ_ERROR, EADM_ASYNC_EVENT_QP_FATAL,
	EADM_ASYNC_EVENT_QP_RQ_ERROR, EADM_ASYNC_EVENT_ACCESS_ERROR,
	EADM_ASYNC_EVENT_COMM_ESTABLISHED, EADM_ASYNC_EVENT_SQ_DRAINED,
	EADM_ASYNC_EVENT_PATH_MIGRATED, EADM_ASYNC_EVENT_PATH_ERROR,
	EADM_ASYNC_EVENT_FATAL_ERROR, EADM_ASYNC_EVENT_PORT_ACTIVE,
	EADM_ASYNC_EVENT_PORT_ERROR, EADM_ASYNC_EVENT_LID_CHANGE,
	EADM_ASYNC_EVENT_PKEY_CHANGE, EADM_ASYNC_EVENT_SM_CHANGE,
	EADM_ASYNC_EVENT_SRQ_ERROR, EADM_ASYNC_EVENT_SRQ_LIMIT,
	EADM_ASYNC_EVENT_LAST_WQE_REACHED, EADM_ASYNC_EVENT_CLIENT_REREGISTER,
	EADM_ASYNC_EVENT_GID_CHANGE, EADM_ASYNC_EVENT_WQ_FATAL,
};

static uint32_t async_of(const struct eadm_probe_rec *rec)
{
	return rec->event < EADM_ARRAY_SIZE(asyncs) ? asyncs[rec->event] :
						      EADM_ASYNC_EVENT_OTHER;
}

/* Reads all records, including calls, except those that were added while reading. */
static bool read_all(struct eadm_probe_view *view)
{
	struct eadm_probe_list *list = &view->list;
	size_t i, k;

	if (eadm_probe_view_begin(view) ||
	    eadm_probe_copy(&view->maps, NULL, list))
		return false;
	for (i = k = 0; i < list->n; i++) {
		if (!eadm_probe_view_is_late(view, &list->rec[i]))
			list->rec[k++] = list->rec[i];
	}
	list->n = k;
	eadm_probe_view_sort(view);
	return true;
}

/* ---- events ------------------------------------------------------------------ */

static void put_cm(struct eadm_answer *answer, const struct eadm_probe_rec *rec,
		   uint64_t step)
{
	eadm_message_put_u32(&answer->out, EADM_A_EVENT_CM_EVENT, rec->event);
	eadm_message_put(&answer->out, EADM_A_EVENT_STATUS, &rec->status,
			 sizeof(rec->status));
	if (step)
		eadm_probe_put_u64(answer, EADM_A_EVENT_STEP, step);
	eadm_probe_put_u32(answer, EADM_A_EVENT_CM_ID, rec->cm_id);
	eadm_probe_put_addr(answer, EADM_A_EVENT_LOCAL_ADDR,
			    EADM_A_EVENT_LOCAL_PORT, &rec->local);
	eadm_probe_put_addr(answer, EADM_A_EVENT_PEER_ADDR,
			    EADM_A_EVENT_PEER_PORT, &rec->peer);
	eadm_message_put_u32(&answer->out, EADM_A_EVENT_PRIVATE_DATA,
			     rec->private_data);
}

static uint32_t type_of(const struct eadm_probe_rec *rec)
{
	if (rec->kind == EADM_PROBE_CM)
		return EADM_EVENT_TYPE_CM;
	if (rec->kind == EADM_PROBE_ASYNC)
		return EADM_EVENT_TYPE_ASYNC;
	return rec->flags & EADM_PROBE_ADDED ? EADM_EVENT_TYPE_GID_ADDED :
					       EADM_EVENT_TYPE_GID_REMOVED;
}

void eadm_probe_put_event(const struct eadm_probe_view *view,
			  struct eadm_answer *answer,
			  const struct eadm_probe_rec *rec, uint64_t step)
{
	size_t at = eadm_probe_row(view, answer, rec);

	if (rec->seq)
		eadm_probe_put_u64(answer, EADM_A_EVENT_SEQ, rec->seq);
	eadm_probe_put_u64(answer, EADM_A_EVENT_TIME, view->boot + rec->start);
	eadm_message_put_u32(&answer->out, EADM_A_EVENT_TYPE, type_of(rec));
	if (rec->kind == EADM_PROBE_ASYNC) {
		eadm_message_put_u32(&answer->out, EADM_A_EVENT_ASYNC,
				     async_of(rec));
		eadm_message_put_u32(&answer->out, EADM_A_EVENT_ASYNC_RAW,
				     rec->event);
	}
	eadm_probe_put_u32(answer, EADM_A_EVENT_QPN, rec->qpn);
	eadm_probe_put_u32(answer, EADM_A_EVENT_CQN, rec->cqn);
	eadm_probe_put_u32(answer, EADM_A_EVENT_SRQN, rec->srqn);
	eadm_probe_put_u32(answer, EADM_A_EVENT_PORT, rec->port);
	eadm_probe_put_u32(answer, EADM_A_EVENT_GID_INDEX, rec->gid_index);
	if (rec->kind == EADM_PROBE_CM)
		put_cm(answer, rec, step);
	if (rec->kind == EADM_PROBE_GID)
		eadm_probe_put_addr(answer, EADM_A_EVENT_GID, 0, &rec->local);
	eadm_probe_put_owner(view, answer, rec, EADM_A_EVENT_PID,
			     EADM_A_EVENT_COMM);
	if (rec->cgroup)
		eadm_probe_put_u64(answer, EADM_A_EVENT_CGROUP_ID, rec->cgroup);
	if (rec->netns)
		eadm_message_put_u32(&answer->out, EADM_A_EVENT_NETNS,
				     rec->netns);
	eadm_message_end(&answer->out, at);
}

static uint64_t end_of(const struct eadm_probe_rec *rec)
{
	return rec->end ? rec->end : rec->start;
}

/* Groups the steps of each connection, in order of time. */
static int by_step(const void *a, const void *b)
{
	const struct eadm_probe_rec *const *x = a, *const *y = b;

	if ((*x)->cm_id != (*y)->cm_id)
		return (*x)->cm_id < (*y)->cm_id ? -1 : 1;
	return end_of(*x) < end_of(*y) ? -1 : end_of(*x) > end_of(*y);
}

/*
 * Returns for each record, at its index in the list, the time since the previous step
 * of the same connection, whether a call or an event; 0 if there is none.
 */
static uint64_t *steps_of(const struct eadm_probe_list *list)
{
	const struct eadm_probe_rec **sorted = calloc(list->n + 1, sizeof(*sorted));
	uint64_t *steps = calloc(list->n + 1, sizeof(*steps));
	size_t i;

	for (i = 0; sorted && i < list->n; i++)
		sorted[i] = &list->rec[i];
	if (sorted && steps && list->n > 1)
		qsort(sorted, list->n, sizeof(*sorted), by_step);
	for (i = 1; sorted && steps && i < list->n; i++) {
		if (sorted[i]->cm_id != EADM_PROBE_NONE &&
		    sorted[i]->cm_id == sorted[i - 1]->cm_id)
			steps[sorted[i] - list->rec] =
				end_of(sorted[i]) - end_of(sorted[i - 1]);
	}
	free(sorted);
	return steps;
}

void eadm_local_probe_events(struct eadm_answer *answer,
			     const struct eadm_query *query)
{
	struct eadm_probe_view view;
	uint64_t *steps;
	size_t i;

	(void)query;
	if (eadm_probe_view_open(answer->ctx, &view))
		return;
	answer->out.fail = !read_all(&view);
	steps = steps_of(&view.list);
	answer->out.fail |= !steps;
	for (i = 0; steps && i < view.list.n; i++) {
		if (view.list.rec[i].kind != EADM_PROBE_CALL)
			eadm_probe_put_event(&view, answer, &view.list.rec[i],
					     steps[i]);
	}
	free(steps);
	eadm_probe_view_close(&view);
}

/* ---- failures ---------------------------------------------------------------- */

/* Reject reasons of the InfiniBand and RoCE connection manager. */
#define REJ_INVALID_SERVICE_ID 8
#define REJ_TIMEOUT 4
/* Status in the response to the request for a UD peer's QP number. */
#define SIDR_UNSUPPORTED 1

static int cause_of_cm(const struct eadm_probe_rec *rec)
{
	switch (rec->event) {
	case EADM_CM_EVENT_ADDR_ERROR:
	case EADM_CM_EVENT_ROUTE_ERROR:
	case EADM_CM_EVENT_UNREACHABLE:
		if (rec->status == -ETIMEDOUT)
			return EADM_CAUSE_TIMEOUT;
		if (rec->status == -EHOSTUNREACH || rec->status == -ENETUNREACH)
			return EADM_CAUSE_UNREACHABLE;
		if (rec->status > 0)
			return rec->status == SIDR_UNSUPPORTED ? EADM_CAUSE_REFUSED :
								 EADM_CAUSE_REJECTED;
		return rec->event == EADM_CM_EVENT_ADDR_ERROR ? EADM_CAUSE_LOCAL :
								EADM_CAUSE_UNREACHABLE;
	case EADM_CM_EVENT_CONNECT_ERROR:
		return EADM_CAUSE_LOCAL;
	case EADM_CM_EVENT_REJECTED:
		if (rec->status == REJ_INVALID_SERVICE_ID ||
		    rec->status == -ECONNREFUSED)
			return EADM_CAUSE_REFUSED;
		if (rec->status == REJ_TIMEOUT)
			return EADM_CAUSE_TIMEOUT;
		return EADM_CAUSE_REJECTED;
	default:
		return -1;
	}
}

static int kind_of(const struct eadm_probe_rec *rec)
{
	if (rec->kind == EADM_PROBE_CALL)
		return rec->status < 0 ? EADM_FAILURE_KIND_COMMAND : -1;
	if (rec->kind == EADM_PROBE_CM)
		return cause_of_cm(rec) < 0 ? -1 : EADM_FAILURE_KIND_CONNECTION;
	if (rec->kind != EADM_PROBE_ASYNC)
		return -1;
	switch (async_of(rec)) {
	case EADM_ASYNC_EVENT_QP_FATAL:
	case EADM_ASYNC_EVENT_QP_RQ_ERROR:
	case EADM_ASYNC_EVENT_ACCESS_ERROR:
		return EADM_FAILURE_KIND_QP;
	case EADM_ASYNC_EVENT_CQ_ERROR:
		return EADM_FAILURE_KIND_CQ;
	case EADM_ASYNC_EVENT_FATAL_ERROR:
		return EADM_FAILURE_KIND_DEVICE;
	default:
		return -1;
	}
}

static uint32_t cause_of(const struct eadm_probe_rec *rec)
{
	if (rec->kind == EADM_PROBE_CM)
		return cause_of_cm(rec);
	if (rec->kind == EADM_PROBE_ASYNC)
		return async_of(rec) == EADM_ASYNC_EVENT_CQ_ERROR ?
			       EADM_CAUSE_OVERRUN : EADM_CAUSE_QP_ERROR;
	switch (rec->status) {
	case -ETIMEDOUT:
		return EADM_CAUSE_TIMEOUT;
	case -ENOMEM:
	case -ENOSPC:
	case -EAGAIN:
		return EADM_CAUSE_LOCAL;
	default:
		return EADM_CAUSE_REFUSED;
	}
}

static void put_id(struct eadm_answer *answer, const struct eadm_probe_rec *rec,
		   int kind)
{
	uint32_t id = kind == EADM_FAILURE_KIND_QP ? rec->qpn :
		      kind == EADM_FAILURE_KIND_CQ ? rec->cqn :
		      kind == EADM_FAILURE_KIND_CONNECTION ? rec->cm_id :
							     EADM_PROBE_NONE;

	if (kind == EADM_FAILURE_KIND_COMMAND)
		eadm_probe_put_u64(answer, EADM_A_FAILURE_ID, rec->seq);
	else if (id != EADM_PROBE_NONE)
		eadm_probe_put_u64(answer, EADM_A_FAILURE_ID, id);
}

static void put_failure(const struct eadm_probe_view *view,
			struct eadm_answer *answer,
			const struct eadm_probe_rec *rec, int kind)
{
	size_t at = eadm_probe_row(view, answer, rec);
	uint64_t time = view->boot + end_of(rec);

	/* Calls and events are numbered separately. */
	eadm_probe_put_u64(answer, EADM_A_FAILURE_SEQ,
			   2 * rec->seq + (rec->kind != EADM_PROBE_CALL));
	eadm_probe_put_u64(answer, EADM_A_FAILURE_TIME, time);
	eadm_probe_put_u64(answer, EADM_A_FAILURE_AGE,
			   eadm_now(view->ctx) - time);
	eadm_message_put_u32(&answer->out, EADM_A_FAILURE_KIND, kind);
	put_id(answer, rec, kind);
	eadm_message_put_u32(&answer->out, EADM_A_FAILURE_CAUSE, cause_of(rec));
	if (rec->status < 0)
		eadm_message_put(&answer->out, EADM_A_FAILURE_ERROR,
				 &rec->status, sizeof(rec->status));
	if (rec->kind == EADM_PROBE_ASYNC) {
		eadm_message_put_u32(&answer->out, EADM_A_FAILURE_ASYNC,
				     async_of(rec));
		eadm_message_put_u32(&answer->out, EADM_A_FAILURE_ASYNC_RAW,
				     rec->event);
	}
	if (rec->kind == EADM_PROBE_CALL)
		eadm_message_put_u32(&answer->out, EADM_A_FAILURE_OP,
				     eadm_probe_function_op(rec->function));
	eadm_probe_put_owner(view, answer, rec, EADM_A_FAILURE_PID,
			     EADM_A_FAILURE_COMM);
	eadm_probe_put_addr(answer, EADM_A_FAILURE_LOCAL_ADDR,
			    EADM_A_FAILURE_LOCAL_PORT, &rec->local);
	if (rec->gid_index == EADM_PROBE_NONE)
		eadm_probe_put_addr(answer, EADM_A_FAILURE_PEER_ADDR,
				    EADM_A_FAILURE_PEER_PORT, &rec->peer);
	eadm_probe_put_u32(answer, EADM_A_FAILURE_QPN, rec->qpn);
	eadm_message_end(&answer->out, at);
}

void eadm_local_probe_failures(struct eadm_answer *answer,
			       const struct eadm_query *query)
{
	struct eadm_probe_view view;
	size_t i;
	int kind;

	(void)query;
	if (eadm_probe_view_open(answer->ctx, &view))
		return;
	answer->out.fail = !read_all(&view);
	for (i = 0; i < view.list.n; i++) {
		kind = kind_of(&view.list.rec[i]);
		if (kind >= 0)
			put_failure(&view, answer, &view.list.rec[i], kind);
	}
	eadm_probe_view_close(&view);
}
