// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Hash tables of a snapshot's rows. Each is created when it is first needed, because
 * most diagnoses need only a few of them.
 */
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "eadm_nl.h"

#define NONE UINT32_MAX

/* An entry for a row; a row with two values has two entries. */
struct entry {
	uint64_t dev, value;
	uint32_t row, next;
};

struct diag_index {
	struct entry *entry;
	uint32_t *head;		/* first entry of each bucket */
	uint32_t n, mask;
	bool made;
};

struct peer {
	const struct diag_row *row;	/* NULL: none */
	bool known;
};

struct diag_indexes {
	struct diag_index index[DIAG_KEYS];
	struct peer *peer;	/* peer of each QP; NULL until needed */
	bool failed;
};

/* ---- values ---------------------------------------------------------------------- */

/* FNV-1a. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return (hash ^ 0xff) * 0x100000001b3;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 32) * 0x9e3779b97f4a7c15;
	return x ^ x >> 29;
}

uint64_t eadm_diag_peer(const char *addr, uint64_t port)
{
	return hash_text(mix(port), addr);
}

bool eadm_diag_qp_flow(const struct diag_row *qp, bool by_peer, uint64_t *hash)
{
	bool has_ports = diag_has(qp, QP_LOCAL_PORT) && diag_has(qp, QP_PEER_PORT);
	uint64_t local = has_ports ? diag_u64(qp, QP_LOCAL_PORT) : qp->id;
	uint64_t remote = diag_u64(qp, has_ports ? QP_PEER_PORT : QP_DEST_QPN);
	const char *addr = diag_text(qp, QP_LOCAL_ADDR);
	const char *peer = diag_text(qp, QP_PEER_ADDR);

	*hash = by_peer ? hash_text(eadm_diag_peer(peer, remote), addr) ^ mix(local) :
			  hash_text(eadm_diag_peer(addr, local), peer) ^ mix(remote);
	return has_ports || (*addr && *peer && diag_has(qp, QP_DEST_QPN));
}

uint64_t eadm_diag_failure(const struct diag_row *failure)
{
	return hash_text(mix(diag_u64(failure, FAIL_PID) + mix(diag_u64(failure, FAIL_KIND) << 32 |
							       diag_u64(failure, FAIL_CAUSE))),
			 diag_text(failure, FAIL_COMM));
}

uint64_t eadm_diag_call(const struct diag_row *call)
{
	return mix(diag_u64(call, CALL_PID)) + diag_u64(call, CALL_OP);
}

/*
 * Gets the value of a row, or its second value if @second is true. Returns false if
 * there is none.
 */
typedef bool (*value_of)(const struct diag_row *row, bool second,
			 uint64_t *value);

static bool one_of(const struct diag_row *row, bool second, unsigned int field,
		   uint64_t *value)
{
	*value = diag_u64(row, field);
	return !second && diag_has(row, field);
}

static bool row_id(const struct diag_row *row, bool second, uint64_t *value)
{
	*value = row->id;
	return !second;
}

static bool qp_cq(const struct diag_row *qp, bool second, uint64_t *value)
{
	*value = diag_u64(qp, second ? QP_RECV_CQN : QP_SEND_CQN);
	if (second && diag_same(qp, qp, QP_SEND_CQN) &&
	    *value == diag_u64(qp, QP_SEND_CQN))
		return false;
	return diag_has(qp, second ? QP_RECV_CQN : QP_SEND_CQN);
}

static bool qp_pid(const struct diag_row *qp, bool second, uint64_t *value)
{
	return one_of(qp, second, QP_PID, value);
}

static bool qp_flow(const struct diag_row *qp, bool second, uint64_t *value)
{
	return !second && eadm_diag_qp_flow(qp, false, value);
}

static bool qp_peer(const struct diag_row *qp, bool second, uint64_t *value)
{
	*value = eadm_diag_peer(diag_text(qp, QP_PEER_ADDR),
				diag_u64(qp, QP_PEER_PORT));
	return !second && diag_has(qp, QP_PEER_PORT);
}

static bool cq_eqn(const struct diag_row *cq, bool second, uint64_t *value)
{
	return one_of(cq, second, CQ_EQN, value);
}

static bool eq_eqn(const struct diag_row *eq, bool second, uint64_t *value)
{
	return one_of(eq, second, EQ_EQN, value) &&
	       diag_u64(eq, EQ_ROLE) == EADM_EQ_ROLE_COMPLETION;
}

static bool ctx_pid(const struct diag_row *ctx, bool second, uint64_t *value)
{
	return one_of(ctx, second, CTX_PID, value);
}

static bool cqe_cqn(const struct diag_row *cqe, bool second, uint64_t *value)
{
	return one_of(cqe, second, CQE_CQN, value);
}

static bool cqe_qpn(const struct diag_row *cqe, bool second, uint64_t *value)
{
	return one_of(cqe, second, CQE_QPN, value);
}

static bool failure_alike(const struct diag_row *failure, bool second,
			  uint64_t *value)
{
	*value = eadm_diag_failure(failure);
	return !second;
}

static bool call_done(const struct diag_row *call, bool second,
		      uint64_t *value)
{
	*value = eadm_diag_call(call);
	return !second && diag_u64(call, CALL_STATE) == EADM_CMD_STATE_DONE;
}

static bool call_qpn(const struct diag_row *call, bool second, uint64_t *value)
{
	return one_of(call, second, CALL_QPN, value);
}

static bool event_qpn(const struct diag_row *event, bool second,
		      uint64_t *value)
{
	return one_of(event, second, EVENT_QPN, value);
}

static bool event_peer(const struct diag_row *event, bool second,
		       uint64_t *value)
{
	*value = eadm_diag_peer(diag_text(event, EVENT_PEER_ADDR),
				diag_u64(event, EVENT_PEER_PORT));
	return !second && diag_has(event, EVENT_CM);
}

static bool event_gid(const struct diag_row *event, bool second,
		      uint64_t *value)
{
	*value = diag_u64(event, EVENT_PORT) << 32 |
		 diag_u64(event, EVENT_GID_INDEX);
	return !second && diag_has(event, EVENT_GID_INDEX);
}

static const struct {
	enum diag_kind kind;
	bool all_devices;
	value_of value;
} keys[DIAG_KEYS] = {
	[DIAG_QPS_OF_ID] = { DIAG_QP, false, row_id },
	[DIAG_QPS_OF_CQ] = { DIAG_QP, false, qp_cq },
	[DIAG_QPS_OF_PID] = { DIAG_QP, true, qp_pid },
	[DIAG_QPS_OF_FLOW] = { DIAG_QP, true, qp_flow },
	[DIAG_QPS_OF_PEER] = { DIAG_QP, false, qp_peer },
	[DIAG_CQS_OF_EQ] = { DIAG_CQ, false, cq_eqn },
	[DIAG_EQS_OF_EQN] = { DIAG_EQ, false, eq_eqn },
	[DIAG_CTXS_OF_PID] = { DIAG_CTX, true, ctx_pid },
	[DIAG_CQES_OF_CQ] = { DIAG_CQE, false, cqe_cqn },
	[DIAG_CQES_OF_QP] = { DIAG_CQE, false, cqe_qpn },
	[DIAG_COUNTERS_OF_ID] = { DIAG_QP_COUNTER, false, row_id },
	[DIAG_FAILURES_ALIKE] = { DIAG_FAILURE, false, failure_alike },
	[DIAG_CALLS_DONE] = { DIAG_CALL, false, call_done },
	[DIAG_CALLS_OF_QP] = { DIAG_CALL, false, call_qpn },
	[DIAG_EVENTS_OF_QP] = { DIAG_EVENT, false, event_qpn },
	[DIAG_EVENTS_OF_PEER] = { DIAG_EVENT, true, event_peer },
	[DIAG_EVENTS_OF_GID] = { DIAG_EVENT, false, event_gid },
};

/* ---- tables ---------------------------------------------------------------------- */

static uint32_t bucket_of(const struct diag_index *index, uint64_t dev,
			  uint64_t value)
{
	return mix(value + mix(dev)) & index->mask;
}

static void add(struct diag_index *index, uint64_t dev, uint64_t value,
		uint32_t row)
{
	uint32_t *head = &index->head[bucket_of(index, dev, value)];

	index->entry[index->n] = (struct entry){
		.dev = dev, .value = value, .row = row, .next = *head,
	};
	*head = index->n++;
}

static bool make(struct diag_index *index, const struct diag_rows *rows,
		 enum diag_key key)
{
	uint32_t size = 1, i;
	uint64_t value;
	unsigned int nth;

	if (rows->n > NONE / 4)
		return false;
	while (size < rows->n)
		size *= 2;
	index->head = malloc(size * sizeof(*index->head));
	index->entry = malloc(2 * (rows->n + 1) * sizeof(*index->entry));
	if (!index->head || !index->entry)
		return false;
	index->mask = size - 1;
	for (i = 0; i < size; i++)
		index->head[i] = NONE;
	/* The entry added last becomes the first in its chain. */
	for (i = rows->n; i-- > 0;)
		for (nth = 0; nth < 2; nth++)
			if (keys[key].value(&rows->row[i], nth, &value))
				add(index, keys[key].all_devices ? 0 : rows->row[i].dev,
				    value, i);
	index->made = true;
	return true;
}

struct diag_match eadm_diag_match(const struct diag_snapshot *snapshot,
				  enum diag_key key, uint64_t dev,
				  uint64_t value)
{
	const struct diag_rows *rows = &snapshot->rows[keys[key].kind];
	struct diag_match match = {
		.rows = rows->row, .value = value, .at = NONE,
		.dev = keys[key].all_devices ? 0 : dev,
	};
	struct diag_index *index;

	if (!rows->n)
		return match;
	index = &snapshot->indexes->index[key];
	if (!index->made && !make(index, rows, key)) {
		snapshot->indexes->failed = true;
		return match;
	}
	match.index = index;
	match.at = index->head[bucket_of(index, match.dev, value)];
	return match;
}

const struct diag_row *eadm_diag_next(struct diag_match *match)
{
	const struct entry *entry;

	while (match->at != NONE) {
		entry = &match->index->entry[match->at];
		match->at = entry->next;
		if (entry->dev == match->dev && entry->value == match->value)
			return &match->rows[entry->row];
	}
	return NULL;
}

const struct diag_row *eadm_diag_first(const struct diag_snapshot *snapshot,
				       enum diag_key key, uint64_t dev,
				       uint64_t value)
{
	struct diag_match match = eadm_diag_match(snapshot, key, dev, value);

	return eadm_diag_next(&match);
}

/* Returns true if two QPs are the two ends of a connection. */
static bool are_ends(const struct diag_row *a, const struct diag_row *b)
{
	bool has_ports = diag_has(a, QP_LOCAL_PORT);

	if (strcmp(diag_text(a, QP_LOCAL_ADDR), diag_text(b, QP_PEER_ADDR)) ||
	    strcmp(diag_text(a, QP_PEER_ADDR), diag_text(b, QP_LOCAL_ADDR)) ||
	    has_ports != diag_has(b, QP_LOCAL_PORT))
		return false;
	if (has_ports)
		return diag_u64(a, QP_LOCAL_PORT) == diag_u64(b, QP_PEER_PORT) &&
		       diag_u64(a, QP_PEER_PORT) == diag_u64(b, QP_LOCAL_PORT);
	return diag_u64(a, QP_DEST_QPN) == b->id && diag_u64(b, QP_DEST_QPN) == a->id;
}

static const struct diag_row *find_peer(const struct diag_snapshot *m,
					const struct diag_row *qp)
{
	const struct diag_row *p;
	struct diag_match qps;
	uint64_t flow;

	if (!eadm_diag_qp_flow(qp, true, &flow))
		return NULL;
	qps = eadm_diag_match(m, DIAG_QPS_OF_FLOW, 0, flow);
	while ((p = eadm_diag_next(&qps)))
		if (p != qp && are_ends(p, qp))
			break;
	return p;
}

const struct diag_row *eadm_qp_peer(const struct diag_snapshot *m,
				    const struct diag_row *qp)
{
	const struct diag_rows *qps = &m->rows[DIAG_QP];
	struct diag_indexes *indexes = m->indexes;
	struct peer *peer;

	if (!indexes->peer)
		indexes->peer = calloc(qps->n, sizeof(*indexes->peer));
	if (!indexes->peer) {
		indexes->failed = true;
		return NULL;
	}
	peer = &indexes->peer[qp - qps->row];
	if (!peer->known)
		*peer = (struct peer){ .known = true, .row = find_peer(m, qp) };
	return peer->row;
}

struct diag_indexes *eadm_diag_indexes_new(void)
{
	return calloc(1, sizeof(struct diag_indexes));
}

void eadm_diag_indexes_clear(struct diag_indexes *indexes)
{
	unsigned int i;

	for (i = 0; i < DIAG_KEYS; i++) {
		free(indexes->index[i].head);
		free(indexes->index[i].entry);
	}
	free(indexes->peer);
	memset(indexes, 0, sizeof(*indexes));
}

void eadm_diag_indexes_free(struct diag_indexes *indexes)
{
	if (indexes)
		eadm_diag_indexes_clear(indexes);
	free(indexes);
}

bool eadm_diag_indexes_failed(const struct diag_snapshot *snapshot)
{
	return snapshot->indexes && snapshot->indexes->failed;
}
