// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about completions: those in a CQ, and those that should be there. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules.h"
#include "eadm_nl.h"

static const signed char cq_facts[] = {
	CQ_DEPTH, CQ_CI, CQ_HW_PI, CQ_EVENTS, CQ_ERRORS, CQ_USERS, -1,
};

struct made {
	uint64_t cqes;			/* total of all QPs, modulo 2^bits */
	unsigned int bits;
	unsigned int queues;
	bool moves, since_birth;
};

static void add_cqes(const struct diag_row *qp, unsigned int field,
		     struct made *made)
{
	if (!diag_has(qp, field))
		return;
	made->cqes += diag_u64(qp, field);
	if (diag_bits(qp, field) < made->bits)
		made->bits = diag_bits(qp, field);
}

/* Completions made by the QPs of a CQ, according to the QPs. */
static void add_made(struct judge *j, const struct diag_row *cq,
		     struct made *made)
{
	struct diag_match qps = eadm_diag_match(eadm_judge_now(j), DIAG_QPS_OF_CQ,
						cq->dev, cq->id);
	const struct diag_row *qp, *then;

	memset(made, 0, sizeof(*made));
	made->since_birth = true;
	made->bits = diag_bits(cq, CQ_HW_PI);
	while ((qp = eadm_diag_next(&qps))) {
		bool send = diag_u64(qp, QP_SEND_CQN) == cq->id;
		bool recv = diag_u64(qp, QP_RECV_CQN) == cq->id;

		then = eadm_diag_first(eadm_judge_then(j), DIAG_QPS_OF_ID,
				       qp->dev, qp->id);
		made->queues += send + recv;
		if (send)
			add_cqes(qp, QP_HW_SEND_CQES, made);
		if (recv)
			add_cqes(qp, QP_HW_RECV_CQES, made);
		if (!diag_same(qp, then, QP_HW_SEND_CQES) ||
		    !diag_same(qp, then, QP_HW_RECV_CQES))
			made->moves = true;
		/* No earlier QP had time to complete anything. */
		if (diag_u64(qp, QP_AGE) + SECOND < diag_u64(cq, CQ_AGE))
			made->since_birth = false;
	}
}

bool eadm_cq_qps_move(struct judge *j, const struct diag_row *cq)
{
	struct made made;

	add_made(j, cq, &made);
	return made.moves;
}

/*
 * Completions made by the QPs minus those in the CQ, once nothing moves; false
 * if unknown. Completions of destroyed QPs are unknown, so the total may be too
 * low. A CQ that failed accepts no more completions.
 */
static bool count_missing(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then, struct made *made,
			  int64_t *missing)
{
	uint64_t pi = diag_u64(now, CQ_HW_PI), most;

	if (!diag_has(now, CQ_HW_PI) || !diag_same(now, then, CQ_HW_PI) ||
	    diag_u64(now, CQ_ERRORS))
		return false;
	add_made(j, now, made);
	if (!made->queues || made->moves ||
	    made->queues != diag_u64(now, CQ_USERS))
		return false;
	most = UINT64_MAX >> (64 - made->bits);
	*missing = (made->cqes - pi) & most;
	/* More than half of the range means a negative number. */
	if (made->since_birth) {
		if (*missing > (int64_t)(most >> 1))
			*missing -= most + 1;
		return true;
	}
	/* Enough only if they made at least that many: a negative result says nothing. */
	return pi <= most && (made->cqes & most) >= pi;
}

/* Cite what each QP has completed: their total differs from that of the CQ. */
static void cite_made(struct judge *j, const struct diag_row *cq)
{
	struct diag_match qps = eadm_diag_match(eadm_judge_now(j), DIAG_QPS_OF_CQ,
						cq->dev, cq->id);
	const struct diag_row *qp;

	while ((qp = eadm_diag_next(&qps))) {
		if (diag_u64(qp, QP_SEND_CQN) == cq->id)
			eadm_cite(j, DIAG_QP, qp, QP_HW_SEND_CQES);
		if (diag_u64(qp, QP_RECV_CQN) == cq->id)
			eadm_cite(j, DIAG_QP, qp, QP_HW_RECV_CQES);
	}
}

static void look_lost_cqe(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	struct made made;
	int64_t lost;

	if (!count_missing(j, now, then, &made, &lost) || lost <= 0)
		return;
	eadm_accuse(j, now, "its QPs completed %" PRId64 " more %s than there are completions",
		    lost, eadm_plural(lost, "request", "requests"));
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
	cite_made(j, now);
}

/* ---- what completions say -------------------------------------------------------- */

static const signed char cqe_facts[] = {
	CQE_OP, CQE_OP_RAW, CQE_QUEUE, CQE_STATUS, CQE_WQE_INDEX, CQE_QPN, CQE_BYTES, -1,
};

/* Whether the completion at an ever-growing index belongs to the current lap. */
static bool is_valid(const struct diag_row *cqe, const struct diag_row *cq)
{
	uint64_t pi = diag_u64(cq, CQ_HW_PI), depth = diag_u64(cq, CQ_DEPTH);
	uint64_t index = pi - 1 - ((pi - 1 - cqe->id) & (depth - 1));

	if (!diag_has(cqe, CQE_OP_RAW))
		return false;
	/* If entries have no phase, only the index shows which were written. */
	if (!diag_has(cqe, CQE_PHASE))
		return pi - 1 - index < pi;
	return diag_u64(cqe, CQE_PHASE) != !!(index & depth);
}

/* The next valid completion of a CQ among those that were read. */
static const struct diag_row *next_cqe(const struct diag_row *cq,
				       struct diag_match *cqes)
{
	const struct diag_row *cqe;

	if (!diag_has(cq, CQ_HW_PI) || !diag_u64(cq, CQ_DEPTH))
		return NULL;
	while ((cqe = eadm_diag_next(cqes)))
		if (is_valid(cqe, cq))
			return cqe;
	return NULL;
}

static struct diag_match cqes_of(const struct diag_snapshot *m,
				 const struct diag_row *cq)
{
	return eadm_diag_match(m, DIAG_CQES_OF_CQ, cq->dev, cq->id);
}

/* Completions written between the snapshots to a CQ or a part of it. */
struct news {
	uint64_t next, n;	/* next: index after the last one, modulo the depth */
	uint64_t depth;
	const struct diag_part *part;
	struct diag_match cqes;
};

static bool set_news(struct news *news, uint64_t n)
{
	news->n = n < news->depth ? n : news->depth;
	return true;
}

/* The next part with new completions; @at must be 0 at first. */
static bool next_news(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then, size_t *at, struct news *news)
{
	const struct diag_part *part, *end, *before;

	*news = (struct news){
		.depth = diag_u64(now, CQ_DEPTH),
		.cqes = cqes_of(eadm_judge_now(j), now),
	};
	if (!news->depth || news->depth & (news->depth - 1))
		return false;
	if (diag_has(now, CQ_HW_PI)) {
		news->next = diag_u64(now, CQ_HW_PI);
		return !(*at)++ && set_news(news, diag_growth(now, then, CQ_HW_PI));
	}
	part = eadm_diag_parts_of(eadm_judge_now(j), now->dev, now->id, &end);
	while (part && part + *at < end) {
		news->part = part + (*at)++;
		before = eadm_diag_part(eadm_judge_then(j), news->part);
		if (!before)
			continue;
		news->next = news->part->place;
		return set_news(news, (news->next - before->place) &
					      (2 * news->depth - 1));
	}
	return false;
}

static uint64_t news_age(const struct news *news, const struct diag_row *cqe)
{
	return (news->next - 1 - cqe->id) & (news->depth - 1);
}

/* The next of these completions. */
static const struct diag_row *next_new(struct news *news)
{
	const struct diag_row *cqe;

	while ((cqe = eadm_diag_next(&news->cqes)))
		if ((!news->part || diag_u64(cqe, CQE_SUB) == news->part->sub) &&
		    news_age(news, cqe) < news->n)
			break;
	return cqe;
}

/*
 * A queue has 2^16 indices, and only a few of them are among the entries
 * examined: two completions of the same request mean a duplicate.
 */
static bool is_same_request(const struct diag_row *a, const struct diag_row *b)
{
	return diag_has(a, CQE_WQE_INDEX) && diag_same(a, b, CQE_QPN) &&
	       diag_same(a, b, CQE_QUEUE) && diag_same(a, b, CQE_WQE_INDEX);
}

static void look_extra_cqe(struct judge *j, const struct diag_row *now,
			   const struct diag_row *then)
{
	struct diag_match cqes = cqes_of(eadm_judge_now(j), now);
	const struct diag_row *cqe, *before = NULL;

	(void)then;
	/* The adapter writes the duplicate directly after the original. */
	for (; (cqe = next_cqe(now, &cqes)); before = cqe) {
		if (!before || cqe->id != before->id + 1 ||
		    !is_same_request(cqe, before))
			continue;
		eadm_accuse(j, now, "the completions at index %" PRIu64 " and %" PRIu64 " belong to the same request",
			    before->id, cqe->id);
		eadm_cite_all(j, DIAG_CQE, cqe, cqe_facts);
		eadm_cite_all(j, DIAG_CQ, now, cq_facts);
		cite_made(j, now);
		return;
	}
}

/*
 * An entry that the adapter has written, but whose owner bit says the opposite
 * to a consumer. Nothing was written between the snapshots, so all entries in
 * the first one belong to the lap that their index implies.
 */
static void look_behind(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	struct diag_match cqes = cqes_of(eadm_judge_then(j), now);
	uint64_t pi = diag_u64(now, CQ_HW_PI), depth = diag_u64(now, CQ_DEPTH);
	const struct diag_row *cqe;

	if (!depth || !diag_same(now, then, CQ_HW_PI) ||
	    diag_u64(now, CQ_ERRORS))
		return;
	while ((cqe = eadm_diag_next(&cqes))) {
		uint64_t age = (pi - 1 - cqe->id) & (depth - 1);

		if (age >= pi || !diag_has(cqe, CQE_PHASE) ||
		    is_valid(cqe, now))
			continue;
		eadm_accuse(j, now, "the completion at index %" PRIu64 " has the owner bit of another lap: its consumer misses it and the %" PRIu64 " behind it",
			    cqe->id, age);
		eadm_cite(j, DIAG_CQE, cqe, CQE_PHASE);
		eadm_cite_all(j, DIAG_CQE, cqe, cqe_facts);
		eadm_cite_all(j, DIAG_CQ, now, cq_facts);
		return;
	}
}

/* The entry at @index in a part of a CQ. */
static const struct diag_row *entry_of(struct judge *j,
				       const struct diag_part *part,
				       uint64_t index)
{
	struct diag_match cqes = eadm_diag_match(eadm_judge_now(j),
						 DIAG_CQES_OF_CQ, part->dev,
						 part->cqn);
	const struct diag_row *cqe;

	while ((cqe = eadm_diag_next(&cqes)))
		if (cqe->id == index && diag_u64(cqe, CQE_SUB) == part->sub)
			break;
	return cqe;
}

/*
 * If the adapter does not report how many entries it has written, later entries
 * prove that this one was. Entries are read one after the other while more are
 * written, so this counts only if nothing has moved.
 */
static void look_hole(struct judge *j, const struct diag_row *now)
{
	const struct diag_part *part, *end, *then;
	const struct diag_row *cqe;

	for (part = eadm_diag_parts_of(eadm_judge_now(j), now->dev, now->id, &end);
	     part < end; part++) {
		if (!part->has_hole)
			continue;
		then = eadm_diag_part(eadm_judge_then(j), part);
		if (!then || !then->has_hole || then->hole != part->hole ||
		    then->place != part->place)
			continue;
		cqe = entry_of(j, part, part->hole);
		eadm_accuse(j, now, "the completion at index %" PRIu64 " has the phase of another lap: its consumer misses it and all later ones",
			    part->hole);
		if (cqe) {
			eadm_cite(j, DIAG_CQE, cqe, CQE_PHASE);
			eadm_cite_all(j, DIAG_CQE, cqe, cqe_facts);
		}
		eadm_cite_all(j, DIAG_CQ, now, cq_facts);
		return;
	}
}

static void look_damaged(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	if (diag_has(now, CQ_HW_PI))
		look_behind(j, now, then);
	else
		look_hole(j, now);
}

static bool is_receive(uint64_t op)
{
	return op == EADM_WQE_OP_RECEIVE || op == EADM_WQE_OP_RECEIVE_IMM ||
	       op == EADM_WQE_OP_RECEIVE_WRITE_IMM ||
	       op == EADM_WQE_OP_RECEIVE_INV;
}

static bool has_opcode(const struct diag_row *cqe)
{
	bool rq = diag_u64(cqe, CQE_QUEUE) == EADM_CQE_QUEUE_RQ;

	return diag_has(cqe, CQE_OP) && is_receive(diag_u64(cqe, CQE_OP)) == rq;
}

static void accuse_opcode(struct judge *j, const struct diag_row *now,
			  const struct diag_row *cqe)
{
	const struct eadm_field *op = eadm_object_find_field(
		eadm_object_find("cqe"), "op");
	char text[32];

	if (diag_has(cqe, CQE_OP))
		eadm_field_text(op, diag_u64(cqe, CQE_OP), text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%#" PRIx64,
			 diag_u64(cqe, CQE_OP_RAW));
	eadm_accuse(j, now, "the completion at index %" PRIu64 " names operation %s, which no %s queue has",
		    cqe->id, text,
		    diag_u64(cqe, CQE_QUEUE) == EADM_CQE_QUEUE_RQ ?
		       "receive" : "send");
	eadm_cite_all(j, DIAG_CQE, cqe, cqe_facts);
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
}

/* Where the adapter does not count completions: those written between the samples. */
static void look_opcode_news(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then)
{
	const struct diag_row *cqe;
	struct news news;
	size_t at = 0;

	while (next_news(j, now, then, &at, &news)) {
		while ((cqe = next_new(&news))) {
			if (!diag_has(cqe, CQE_QUEUE) || has_opcode(cqe))
				continue;
			accuse_opcode(j, now, cqe);
			return;
		}
	}
}

static void look_opcode(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	struct diag_match cqes = cqes_of(eadm_judge_now(j), now);
	const struct diag_row *cqe;

	if (then && !diag_has(now, CQ_HW_PI))
		look_opcode_news(j, now, then);
	while ((cqe = next_cqe(now, &cqes))) {
		if (has_opcode(cqe))
			continue;
		accuse_opcode(j, now, cqe);
		return;
	}
}

/*
 * A destroyed QP may have completed to the CQ while it existed. So the only certain
 * cases are a number that no QP can have, a QP of another CQ that is older than
 * this CQ, and a CQ whose completions were all made by its current QPs.
 */
static bool cannot_be(const struct diag_row *cq, const struct diag_row *qp,
		      uint64_t qpn, uint64_t max)
{
	if (max && qpn > max)
		return true;
	return qp && diag_has(qp, QP_AGE) && diag_has(cq, CQ_AGE) &&
	       diag_u64(qp, QP_AGE) > diag_u64(cq, CQ_AGE) + SECOND / 10;
}

static void accuse_stray(struct judge *j, const struct diag_row *now,
			 const struct diag_row *cqe, const struct diag_row *qp)
{
	eadm_accuse(j, now, "the completion at index %" PRIu64 " names QP %" PRIu64 ", which %s",
		    cqe->id, diag_u64(cqe, CQE_QPN),
		    qp ? "does not use this CQ" : "does not exist");
	eadm_cite_all(j, DIAG_CQE, cqe, cqe_facts);
	eadm_cite_all(j, DIAG_CQ, now, cq_facts);
	if (!qp)
		return;
	eadm_cite(j, DIAG_QP, qp, QP_SEND_CQN);
	eadm_cite(j, DIAG_QP, qp, QP_RECV_CQN);
}

static bool uses(const struct diag_row *qp, const struct diag_row *cq)
{
	return qp && (diag_u64(qp, QP_SEND_CQN) == cq->id ||
		      diag_u64(qp, QP_RECV_CQN) == cq->id);
}

/*
 * If the adapter does not report how many entries it has written: a completion
 * that arrived between the snapshots, of a QP that uses the CQ in neither. All
 * QPs of the CQ must be known.
 */
static void look_stray_news(struct judge *j, const struct diag_row *now,
			    const struct diag_row *then)
{
	const struct diag_row *cqe, *qp, *before;
	struct made made;
	struct news news;
	size_t at = 0;

	add_made(j, now, &made);
	if (!made.queues || made.queues != diag_u64(now, CQ_USERS))
		return;
	while (next_news(j, now, then, &at, &news)) {
		while ((cqe = next_new(&news))) {
			if (!diag_has(cqe, CQE_QPN))
				continue;
			qp = eadm_diag_find(eadm_judge_now(j), DIAG_QP,
					    now->dev, diag_u64(cqe, CQE_QPN));
			before = eadm_diag_find(eadm_judge_then(j), DIAG_QP,
						now->dev,
						diag_u64(cqe, CQE_QPN));
			if (uses(qp, now) || uses(before, now))
				continue;
			accuse_stray(j, now, cqe, qp);
			return;
		}
	}
}

static void look_stray(struct judge *j, const struct diag_row *now,
		       const struct diag_row *then)
{
	const struct diag_row *dev = eadm_diag_find(eadm_judge_now(j), DIAG_DEV,
						    now->dev, now->dev);
	struct diag_match cqes = cqes_of(eadm_judge_now(j), now);
	const struct diag_row *cqe, *qp;
	uint64_t qpn, max = diag_u64(dev, DEV_MAX_QP);
	struct made made;
	int64_t missing;
	bool all_known = then && count_missing(j, now, then, &made, &missing) &&
			 !missing;

	if (then && !diag_has(now, CQ_HW_PI))
		look_stray_news(j, now, then);
	while ((cqe = next_cqe(now, &cqes))) {
		if (!diag_has(cqe, CQE_QPN))
			continue;
		qpn = diag_u64(cqe, CQE_QPN);
		qp = eadm_diag_find(eadm_judge_now(j), DIAG_QP, now->dev, qpn);
		if (uses(qp, now) ||
		    (!all_known && !cannot_be(now, qp, qpn, max)))
			continue;
		accuse_stray(j, now, cqe, qp);
		return;
	}
}

/* ---- requests that failed, of QPs that go on ------------------------------------- */

enum fate {
	FATE_UNREACHABLE,	/* the peer never answered */
	FATE_VANISHED,		/* the peer answered before */
	FATE_NOT_READY,
	FATE_OTHER,
	FATE_NONE,
};

static enum fate fate_of(uint64_t cause)
{
	switch (cause) {
	case EADM_CAUSE_NONE:
	case EADM_CAUSE_FLUSHED:
		return FATE_NONE;
	case EADM_CAUSE_UNREACHABLE:
	case EADM_CAUSE_UNKNOWN_PEER:
		return FATE_UNREACHABLE;
	case EADM_CAUSE_UNRESPONSIVE:
	case EADM_CAUSE_REMOTE_ABORTED:
	case EADM_CAUSE_REMOTE_QP:
		return FATE_VANISHED;
	case EADM_CAUSE_RECEIVER_NOT_READY:
		return FATE_NOT_READY;
	default:
		return FATE_OTHER;
	}
}

/* Adapters with connections stop the QP instead; other rules cover that. */
static bool goes_on(struct judge *j, const struct diag_row *cqe)
{
	const struct diag_row *qp = eadm_diag_find(eadm_judge_now(j), DIAG_QP,
						   cqe->dev,
						   diag_u64(cqe, CQE_QPN));

	/* A QP that only receives may stay in RTR. */
	return diag_has(qp, QP_STATE) &&
	       (diag_u64(qp, QP_STATE) == EADM_QP_STATE_RTS ||
		diag_u64(qp, QP_STATE) == EADM_QP_STATE_RTR) &&
	       !diag_has(qp, QP_FIRST_EVENT);
}

/* A receive has no peer that could be at fault. */
static bool may_have(enum fate fate, const struct diag_row *cqe)
{
	return diag_has(cqe, CQE_STATUS) &&
	       (diag_u64(cqe, CQE_QUEUE) == EADM_CQE_QUEUE_SQ ||
		(diag_u64(cqe, CQE_QUEUE) == EADM_CQE_QUEUE_RQ &&
		 fate == FATE_OTHER));
}

/*
 * Requests that ended this way since the previous snapshot; @what: NULL for
 * the cause's name.
 */
static void look_fate(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then, enum fate fate,
		      const char *what)
{
	uint64_t least = UINT64_MAX;
	const struct diag_row *last = NULL, *cqe;
	unsigned int failed = 0, all = 0;
	char age[32], name[32];
	struct news news;
	size_t at = 0;

	while (next_news(j, now, then, &at, &news)) {
		while ((cqe = next_new(&news))) {
			if (!may_have(fate, cqe))
				continue;
			all++;
			if (fate_of(diag_u64(cqe, CQE_STATUS)) != fate ||
			    !goes_on(j, cqe))
				continue;
			failed++;
			if (news_age(&news, cqe) >= least)
				continue;
			least = news_age(&news, cqe);
			last = cqe;
		}
	}
	if (!failed)
		return;
	if (!what)
		what = name;
	eadm_field_text(eadm_object_find_field(eadm_object_find("cqe"), "status"),
			diag_u64(last, CQE_STATUS), name, sizeof(name));
	eadm_accuse(j, now, "%u of %u %s within %s failed: %s; the last one on QP %" PRIu64,
		    failed, all, eadm_plural(all, "request", "requests"),
		    diag_interval(now, then, age, sizeof(age)),
		    what, diag_u64(last, CQE_QPN));
	if (eadm_cause_text(diag_u64(last, CQE_STATUS)))
		eadm_judge_cause(j, eadm_cause_text(diag_u64(last, CQE_STATUS)));
	eadm_cite_all(j, DIAG_CQE, last, cqe_facts);
}

static void look_unreachable(struct judge *j, const struct diag_row *now,
			     const struct diag_row *then)
{
	look_fate(j, now, then, FATE_UNREACHABLE, "the peer never answered");
}

static void look_vanished(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	look_fate(j, now, then, FATE_VANISHED, "the peer no longer exists");
}

static void look_not_ready(struct judge *j, const struct diag_row *now,
			   const struct diag_row *then)
{
	look_fate(j, now, then, FATE_NOT_READY,
		  "the peer had no receive posted");
}

static void look_failed(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	look_fate(j, now, then, FATE_OTHER, NULL);
}

const struct eadm_rule eadm_rules_cq[] = {
	{
		.name = "lost-completion", .kind = DIAG_CQ, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_CRITICAL, .needs = HW,
		.help = "QPs have completed requests that have no completion in the CQ.",
		.cause = "The adapter did not write a completion; its consumer waits forever.",
		.next = "eadm dump cq {id} -d {dev} --hw; eadm dump qp -d {dev} --hw",
		.alike = "Completions in flight are excluded: no index may move between the samples. Completions of destroyed QPs can only hide lost ones.",
		.look = look_lost_cqe,
	}, {
		.name = "extra-completion", .kind = DIAG_CQ,
		.severity = EADM_SEVERITY_WARNING, .needs = HW | RINGS,
		.help = "A CQ has two completions for one request; the newest 512 are checked.",
		.cause = "The adapter wrote a completion twice.",
		.next = "eadm dump cqe {id} -d {dev} --around pi --hw; eadm dump qp -d {dev} --hw",
		.alike = "Completions left by destroyed QPs are excluded: only two completions of the same request count.",
		.look = look_extra_cqe,
	}, {
		.name = "damaged-completion", .kind = DIAG_CQ, .two = true,
		.stuck = true, .severity = EADM_SEVERITY_CRITICAL,
		.needs = HW | RINGS,
		.help = "A completion has a wrong owner bit, so its consumer cannot see it; the newest 512 are checked.",
		.cause = "The entry was damaged on its way to memory, or the firmware is at fault.",
		.next = "eadm dump cqe {id} -d {dev} --raw --around pi --hw",
		.alike = "Entries of the previous lap that are not written yet are excluded: an entry counts only if it is behind the adapter's own index or before later entries, and none counts while the index moves.",
		.look = look_damaged,
	}, {
		.name = "unknown-opcode", .kind = DIAG_CQ,
		.severity = EADM_SEVERITY_CRITICAL, .needs = HW | RINGS,
		.help = "A completion names an operation that its queue does not have; the newest 512 are checked.",
		.cause = "The entry is damaged, the firmware is at fault, or the firmware is newer than this program.",
		.next = "eadm dump cqe {id} -d {dev} --raw --around pi --hw",
		.alike = "Entries that are not written yet are excluded: only those of the current lap count, and only those that arrived between the samples where the adapter does not count completions.",
		.look = look_opcode,
	}, {
		.name = "stray-completion", .kind = DIAG_CQ,
		.severity = EADM_SEVERITY_CRITICAL, .needs = HW | RINGS,
		.help = "A completion names a QP that cannot have produced it; the newest 512 are checked.",
		.cause = "The adapter wrote another QP's number: the QP that posted the request waits forever.",
		.next = "eadm dump cqe {id} -d {dev} --raw --around pi --hw; eadm dump qp -d {dev}",
		.alike = "Completions of destroyed QPs are excluded: the QP must be older than the CQ and use another CQ, or all completions must be known. Where the adapter does not count completions, the completion must have arrived between the samples, and the QP must use the CQ in neither of them.",
		.look = look_stray,
	}, {
		.name = "peer-unreachable", .kind = DIAG_CQ, .two = true,
		.severity = EADM_SEVERITY_CRITICAL, .needs = RINGS,
		.help = "Requests fail because their peer never answered (from the newest 512 completions; the QP stays usable).",
		.cause = "A firewall or security group, no path, or a machine that is down.",
		.next = "eadm dump cqe {id} -d {dev}; eadm dump ah -d {dev}; check security groups and firewalls of both ends",
		.alike = "Earlier failures are ignored: only completions since the previous snapshot count. QPs of connections, which stop at a failure, have other rules.",
		.look = look_unreachable,
	}, {
		.name = "peer-vanished", .kind = DIAG_CQ, .two = true,
		.severity = EADM_SEVERITY_WARNING, .needs = RINGS,
		.help = "Requests fail because their peer no longer exists (from the newest 512 completions; the QP stays usable).",
		.cause = "The process at the other end has ended, or its machine is down.",
		.next = "eadm dump cqe {id} -d {dev}; eadm dump ah -d {dev}; look at the job's processes at the other end",
		.alike = "The last messages of a job that is ending may find no receiver, so this is only a warning, and only while it happens.",
		.look = look_vanished,
	}, {
		.name = "peer-not-ready", .kind = DIAG_CQ, .two = true,
		.severity = EADM_SEVERITY_WARNING, .needs = RINGS,
		.help = "Requests fail because their peer had no receive posted (from the newest 512 completions; the QP stays usable).",
		.cause = "The application at the other end posts receives too slowly, or too few.",
		.next = "eadm dump cqe {id} -d {dev}; eadm dump qp -d {dev}; at the other end: eadm dump rqe N",
		.alike = "Retries do not count, as a receiver may need some: only requests that were given up do.",
		.look = look_not_ready,
	}, {
		.name = "failed-requests", .kind = DIAG_CQ, .two = true,
		.severity = EADM_SEVERITY_WARNING, .needs = RINGS,
		.help = "Requests or receives fail for a reason not covered by other rules (from the newest 512 completions; the QP stays usable).",
		.cause = "The adapter or the peer rejected a request.",
		.next = "eadm dump cqe {id} -d {dev}; eadm dump mr -d {dev}",
		.alike = "Requests that were flushed because their QP was stopped do not count.",
		.look = look_failed,
	},
	{ 0 }
};
