/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the rows of a snapshot that have a value in common with another row. Rules must
 * not scan all rows of a kind for each row of another kind.
 */
#ifndef EADM_DIAG_INDEX_H
#define EADM_DIAG_INDEX_H

#include "model.h"

/* The values to find rows by; the rows belong to one device unless noted otherwise. */
enum diag_key {
	DIAG_QPS_OF_ID,		/* QPN; for many lookups of QPs of another snapshot */
	DIAG_QPS_OF_CQ,		/* CQN of either queue */
	DIAG_QPS_OF_PID,	/* of a process, on all devices */
	DIAG_QPS_OF_FLOW,	/* on all devices; see eadm_diag_qp_flow() */
	DIAG_QPS_OF_PEER,	/* see eadm_diag_peer() */
	DIAG_CQS_OF_EQ,		/* EQN */
	DIAG_EQS_OF_EQN,	/* EQN of EQs for completions */
	DIAG_CTXS_OF_PID,	/* of a process, on all devices */
	DIAG_CQES_OF_CQ,	/* CQN */
	DIAG_CQES_OF_QP,	/* QPN */
	DIAG_COUNTERS_OF_ID,	/* number of a counter set of some QPs */
	DIAG_FAILURES_ALIKE,	/* see eadm_diag_failure() */
	DIAG_CALLS_DONE,	/* see eadm_diag_call() */
	DIAG_CALLS_OF_QP,	/* QPN */
	DIAG_EVENTS_OF_QP,	/* QPN */
	DIAG_EVENTS_OF_PEER,	/* on all devices; see eadm_diag_peer() */
	DIAG_EVENTS_OF_GID,	/* port << 32 | index at which a GID was added or
				 * removed */
	DIAG_KEYS,
};

/*
 * Sets *hash to a hash of both ends of a connection: their addresses, and their ports
 * or else QP numbers. The ends are in the order seen by @qp or, if @by_peer is true, in
 * that seen by its peer; the peer is the QP whose own hash is the same. Returns false
 * if the ends are unknown.
 */
bool eadm_diag_qp_flow(const struct diag_row *qp, bool by_peer, uint64_t *hash);

/*
 * Hash of an address and a port. The caller must compare these values in the rows
 * found, because hashes can collide.
 */
uint64_t eadm_diag_peer(const char *addr, uint64_t port);

/*
 * Hashes of a failure (its kind, cause and owner) and of a recorded call (its operation
 * and process).
 */
uint64_t eadm_diag_failure(const struct diag_row *failure);
uint64_t eadm_diag_call(const struct diag_row *call);

/* The rows found; read them with eadm_diag_next(). */
struct diag_match {
	const struct diag_index *index;
	const struct diag_row *rows;
	uint64_t dev, value;
	uint32_t at;
};

/*
 * Finds the rows of a snapshot that have a value. The first call for a key reads all
 * rows of its kind. @dev is ignored for keys on all devices. If memory is exhausted, no
 * rows are found, and eadm_diag_indexes_failed() returns true.
 */
struct diag_match eadm_diag_match(const struct diag_snapshot *snapshot,
				  enum diag_key key, uint64_t dev,
				  uint64_t value);

/* Returns the next row, in the order of the snapshot, or NULL. */
const struct diag_row *eadm_diag_next(struct diag_match *match);

/* Returns the first row, or NULL. */
const struct diag_row *eadm_diag_first(const struct diag_snapshot *snapshot,
				       enum diag_key key, uint64_t dev,
				       uint64_t value);

/*
 * Returns the QP at the other end of a QP's connection if the snapshot contains it; the
 * lookup is done once per QP. @qp: a row of the snapshot.
 */
const struct diag_row *eadm_qp_peer(const struct diag_snapshot *m,
				    const struct diag_row *qp);

/* For snapshot.c. */
struct diag_indexes *eadm_diag_indexes_new(void);
void eadm_diag_indexes_free(struct diag_indexes *indexes);
/* Frees the indexes; an index that is needed later is created again. */
void eadm_diag_indexes_clear(struct diag_indexes *indexes);

bool eadm_diag_indexes_failed(const struct diag_snapshot *snapshot);

#endif /* EADM_DIAG_INDEX_H */
