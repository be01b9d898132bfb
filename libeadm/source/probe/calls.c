// SPDX-License-Identifier: LGPL-2.1-or-later
/* Verbs and connection manager calls, as rows of "cmd". */
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "eadm_nl.h"
#include "model/fields.h"
#include "row.h"
#include "source/local.h"
#include "source/message.h"

static void put_arguments(struct eadm_answer *answer,
			  const struct eadm_probe_rec *rec)
{
	eadm_probe_put_u32(answer, EADM_A_CMD_QPN, rec->qpn);
	eadm_probe_put_u32(answer, EADM_A_CMD_CQN, rec->cqn);
	eadm_probe_put_u32(answer, EADM_A_CMD_MRN, rec->mrn);
	eadm_probe_put_u32(answer, EADM_A_CMD_SRQN, rec->srqn);
	eadm_probe_put_u32(answer, EADM_A_CMD_PDN, rec->pdn);
	eadm_probe_put_u32(answer, EADM_A_CMD_CM_ID, rec->cm_id);
	if (rec->size != UINT64_MAX)
		eadm_probe_put_u64(answer, EADM_A_CMD_SIZE, rec->size);
	if (rec->memlock != UINT64_MAX) {
		eadm_probe_put_u64(answer, EADM_A_CMD_MEMLOCK, rec->memlock);
		eadm_probe_put_u64(answer, EADM_A_CMD_PINNED, rec->pinned);
	}
	eadm_probe_put_u32(answer, EADM_A_CMD_ENTRIES, rec->entries);
	eadm_probe_put_u32(answer, EADM_A_CMD_RECV_ENTRIES, rec->recv_entries);
	eadm_probe_put_u32(answer, EADM_A_CMD_ACCESS, rec->access);
	if (rec->qp_type != EADM_PROBE_NO_TYPE)
		eadm_message_put_u32(&answer->out, EADM_A_CMD_QP_TYPE,
				     rec->qp_type);
	if (rec->new_state != EADM_PROBE_NO_STATE)
		eadm_message_put_u32(&answer->out, EADM_A_CMD_NEW_STATE,
				     rec->new_state);
	eadm_probe_put_u32(answer, EADM_A_CMD_PEER_QPN, rec->peer_qpn);
	eadm_probe_put_u32(answer, EADM_A_CMD_PORT, rec->port);
	eadm_probe_put_u32(answer, EADM_A_CMD_GID_INDEX, rec->gid_index);
	if (rec->timeout)
		eadm_message_put_u32(&answer->out, EADM_A_CMD_TIMEOUT,
				     rec->timeout);
	eadm_probe_put_addr(answer, EADM_A_CMD_LOCAL_ADDR, EADM_A_CMD_LOCAL_PORT,
			    &rec->local);
	/* Verbs identify the peer by its GID, connections by its IP address. */
	if (rec->gid_index != EADM_PROBE_NONE)
		eadm_probe_put_addr(answer, EADM_A_CMD_PEER_GID, 0, &rec->peer);
	else
		eadm_probe_put_addr(answer, EADM_A_CMD_PEER_ADDR,
				    EADM_A_CMD_PEER_PORT, &rec->peer);
}

/*
 * A driver's command is identified by the adapter's number for it, not by that of a
 * verb.
 */
static void put_op(struct eadm_answer *answer, const struct eadm_probe_rec *rec)
{
	const struct eadm_probe_command *command =
		eadm_probe_function_command(rec->function);
	uint64_t op = eadm_probe_function_op(rec->function), raw;

	if (command && eadm_bits_read(&command->op,
				      (const unsigned char *)&rec->command,
				      sizeof(rec->command), &raw)) {
		eadm_message_put_u32(&answer->out, EADM_A_CMD_OP_RAW, raw);
		if (eadm_classes_find(command->ops, &raw))
			op = raw;
	}
	eadm_message_put_u32(&answer->out, EADM_A_CMD_OP, op);
}

void eadm_probe_put_call(const struct eadm_probe_view *view,
			 struct eadm_answer *answer,
			 const struct eadm_probe_rec *rec)
{
	size_t at = eadm_probe_row(view, answer, rec);
	bool over = rec->end;

	if (rec->seq)
		eadm_probe_put_u64(answer, EADM_A_CMD_SEQ, rec->seq);
	eadm_probe_put_u64(answer, EADM_A_CMD_TIME, view->boot + rec->start);
	put_op(answer, rec);
	eadm_message_put_u32(&answer->out, EADM_A_CMD_STATE,
			     !over ? EADM_CMD_STATE_PENDING :
			     rec->status < 0 ? EADM_CMD_STATE_ERROR :
					       EADM_CMD_STATE_DONE);
	if (over) {
		eadm_message_put(&answer->out, EADM_A_CMD_STATUS, &rec->status,
				 sizeof(rec->status));
		eadm_probe_put_u64(answer, EADM_A_CMD_LATENCY,
				   rec->end - rec->start);
	}
	eadm_probe_put_owner(view, answer, rec, EADM_A_CMD_PID, EADM_A_CMD_COMM);
	eadm_message_put_string(&answer->out, EADM_A_CMD_FUNCTION,
				eadm_probe_function_name(rec->function));
	put_arguments(answer, rec);
	if (rec->cgroup)
		eadm_probe_put_u64(answer, EADM_A_CMD_CGROUP_ID, rec->cgroup);
	if (rec->netns)
		eadm_message_put_u32(&answer->out, EADM_A_CMD_NETNS, rec->netns);
	if (rec->tid && view->pids)
		eadm_message_put_u32(&answer->out, EADM_A_CMD_TID, rec->tid);
	if (rec->flags & EADM_PROBE_EXITING)
		eadm_message_put_u32(&answer->out, EADM_A_CMD_EXIT_SIGNAL,
				     rec->exit_signal);
	eadm_message_end(&answer->out, at);
}

/* Functions that run a system call, which is never part of a different call. */
static bool is_system_call(unsigned int function)
{
	return !strncmp(eadm_probe_function_name(function), "ib_uverbs_", 10);
}

/*
 * Returns true if the thread was killed during the call, or the kernel skipped the
 * return: then the thread may have made later calls.
 */
static bool is_stale(const struct eadm_probe_view *view,
		     const struct eadm_probe_rec *rec)
{
	const struct eadm_probe_list *list = &view->list;
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (list->rec[i].tid == rec->tid && list->rec[i].end &&
		    (list->rec[i].function == rec->function ||
		     is_system_call(list->rec[i].function)) &&
		    list->rec[i].start >= rec->start)
			return true;
	}
	/* With the option hidepid, /proc also lacks existing threads. */
	return view->pids && !eadm_root_access(view->ctx, F_OK, "/proc/1") &&
	       eadm_root_access(view->ctx, F_OK, "/proc/%u", rec->tid);
}

/*
 * Calls in flight are read first, so that a call that returns in the meantime is not
 * missed.
 */
static int read_all(struct eadm_probe_view *view)
{
	struct eadm_probe_list *list = &view->list;
	size_t i, k, pending;
	int ret;

	ret = eadm_probe_view_begin(view);
	if (!ret)
		ret = eadm_probe_copy_in_flight(&view->maps, list);
	pending = list->n;
	if (!ret)
		ret = eadm_probe_copy(&view->maps, NULL, list);
	for (i = k = 0; !ret && i < list->n; i++) {
		if (list->rec[i].kind == EADM_PROBE_CALL &&
		    !eadm_probe_view_is_late(view, &list->rec[i]) &&
		    (i >= pending || !is_stale(view, &list->rec[i])))
			list->rec[k++] = list->rec[i];
	}
	if (!ret)
		list->n = k;
	return ret;
}

void eadm_local_probe_calls(struct eadm_answer *answer,
			    const struct eadm_query *query)
{
	struct eadm_probe_view view;
	size_t i;

	(void)query;
	if (eadm_probe_view_open(answer->ctx, &view))
		return;
	if (!read_all(&view)) {
		eadm_probe_view_sort(&view);
		for (i = 0; i < view.list.n; i++)
			eadm_probe_put_call(&view, answer, &view.list.rec[i]);
	} else {
		answer->out.fail = true;
	}
	eadm_probe_view_close(&view);
}
