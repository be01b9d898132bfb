/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A QP's recorded calls, replayed: QP numbers are reused, and a QP can be connected
 * several times, so a call says nothing about the QP's state after later calls.
 */
#ifndef EADM_DIAG_QP_HISTORY_H
#define EADM_DIAG_QP_HISTORY_H

#include "model.h"

struct diag_qp_history {
	const struct diag_row *change;	/* call that set the current state; NULL: unknown */
	const struct diag_row *rtr;	/* call that set the QP's peer; NULL: has no peer */
	bool established;		/* was in state RTS since then */
	bool disconnected;		/* was disconnected since then */
};

/* Replays the calls that began before @end, since the QP was created or reset. */
struct diag_qp_history eadm_diag_qp_history(const struct diag_snapshot *m,
					    uint64_t dev, uint64_t qpn,
					    uint64_t end);

#endif /* EADM_DIAG_QP_HISTORY_H */
