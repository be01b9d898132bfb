// SPDX-License-Identifier: LGPL-2.1-or-later
/* The state of a QP according to the calls that the probe recorded. */
#include "eadm_nl.h"
#include "index.h"
#include "qp_history.h"

static void change_state(struct diag_qp_history *h, const struct diag_row *call)
{
	switch (diag_u64(call, CALL_NEW_STATE)) {
	case EADM_QP_STATE_RESET:
	case EADM_QP_STATE_INIT:
		*h = (struct diag_qp_history){ 0 };
		break;
	case EADM_QP_STATE_RTR:
		*h = (struct diag_qp_history){ .rtr = call };
		break;
	case EADM_QP_STATE_RTS:
		h->established = h->rtr;
		break;
	}
	h->change = call;
}

static void replay(struct diag_qp_history *h, const struct diag_row *call)
{
	bool done = diag_u64(call, CALL_STATE) == EADM_CMD_STATE_DONE;

	switch (diag_u64(call, CALL_OP)) {
	case EADM_CMD_OP_CREATE_QP:
	case EADM_CMD_OP_DESTROY_QP:
		if (done)
			*h = (struct diag_qp_history){ 0 };
		break;
	case EADM_CMD_OP_MODIFY_QP:
		/* When a process exits, the kernel may close its connections first. */
		if (done && diag_has(call, CALL_NEW_STATE) && !diag_has(call, CALL_EXIT))
			change_state(h, call);
		break;
	case EADM_CMD_OP_CM_DISCONNECT:
		/* The call fails if the peer disconnected first. */
		h->disconnected = true;
		break;
	}
}

/* The connection manager also reports that the peer disconnected. */
static bool is_disconnected(const struct diag_snapshot *m, uint64_t qpn,
			    const struct diag_row *rtr, uint64_t end)
{
	struct diag_match events = eadm_diag_match(m, DIAG_EVENTS_OF_QP, rtr->dev, qpn);
	const struct diag_row *row;
	uint64_t time;

	while ((row = eadm_diag_next(&events))) {
		time = diag_u64(row, EVENT_TIME);
		if (diag_has(row, EVENT_CM) &&
		    diag_u64(row, EVENT_CM) == EADM_CM_EVENT_DISCONNECTED &&
		    time >= diag_u64(rtr, CALL_TIME) && time < end)
			return true;
	}
	return false;
}

struct diag_qp_history eadm_diag_qp_history(const struct diag_snapshot *m,
					    uint64_t dev, uint64_t qpn,
					    uint64_t end)
{
	struct diag_match calls = eadm_diag_match(m, DIAG_CALLS_OF_QP, dev, qpn);
	struct diag_qp_history h = { 0 };
	const struct diag_row *call;

	/* The rows are in the order in which the calls returned. */
	while ((call = eadm_diag_next(&calls)))
		if (diag_u64(call, CALL_TIME) < end)
			replay(&h, call);
	if (h.rtr && !h.disconnected)
		h.disconnected = is_disconnected(m, qpn, h.rtr, end);
	return h;
}
