// SPDX-License-Identifier: GPL-2.0-only
/* Flight recorder: everything but the fast path. */

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/vmalloc.h>

#include "recorder.h"

/**
 * erdma_recorder_init() - allocate the ring
 * @r: the recorder
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int erdma_recorder_init(struct erdma_recorder *r)
{
	memset(r, 0, sizeof(*r));
	r->ring = vzalloc(array_size(ERDMA_REC_COUNT, sizeof(*r->ring)));
	if (!r->ring)
		return -ENOMEM;
	r->next = 1;
	return 0;
}

/**
 * erdma_recorder_free() - free the ring
 * @r: the recorder
 *
 * Context: process; nobody uses the recorder any more.
 */
void erdma_recorder_free(struct erdma_recorder *r)
{
	vfree(r->ring);
	r->ring = NULL;
}

static void give_up(struct erdma_rec *rec, u64 now, int status, u8 state)
{
	rec->latency = now - rec->submit;
	rec->status = status;
	rec->state = state;
}

/**
 * erdma_recorder_timeout() - record that a command was not answered in time
 * @r: the recorder
 * @seq: its number
 * @now: local_clock()
 * @status: result for the caller
 *
 * The first such record is kept beside the ring until who administers the
 * device has read it: it tells what started the trouble.
 *
 * Context: the caller's lock held.
 */
void erdma_recorder_timeout(struct erdma_recorder *r, u64 seq, u64 now, int status)
{
	struct erdma_rec *rec = erdma_recorder_find(r, seq);

	if (!rec)
		return;
	give_up(rec, now, status, ERDMA_REC_TIMEOUT);
	if (!r->kept.seq || r->kept_read) {
		r->kept = *rec;
		r->kept_read = false;
	}
}

/**
 * erdma_recorder_late() - record an answer that came after the time-out
 * @r: the recorder
 * @seq: the command's number
 * @now: local_clock()
 * @syndrome: of the answer
 * @response: ERDMA_REC_RESPONSE qwords
 *
 * The result for the caller stays what it was.
 *
 * Context: the caller's lock held.
 */
void erdma_recorder_late(struct erdma_recorder *r, u64 seq, u64 now, u8 syndrome,
			 const u64 *response)
{
	struct erdma_rec *recs[] = {
		erdma_recorder_find(r, seq),
		r->kept.seq == seq ? &r->kept : NULL,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(recs); i++) {
		if (!recs[i])
			continue;
		recs[i]->latency = now - recs[i]->submit;
		recs[i]->syndrome = syndrome;
		recs[i]->state = ERDMA_REC_LATE;
		recs[i]->flags |= ERDMA_REC_ANSWERED;
		memcpy(recs[i]->response, response, sizeof(recs[i]->response));
	}
}

/**
 * erdma_recorder_abort() - record that a command was given up before its time
 * @r: the recorder
 * @seq: its number
 * @now: local_clock()
 * @status: result for the caller
 *
 * Context: the caller's lock held.
 */
void erdma_recorder_abort(struct erdma_recorder *r, u64 seq, u64 now, int status)
{
	struct erdma_rec *rec = erdma_recorder_find(r, seq);

	if (rec)
		give_up(rec, now, status, ERDMA_REC_ABORTED);
}

/**
 * erdma_recorder_next() - copy the first record with a number of at least @seq
 * @r: the recorder
 * @seq: least number
 * @copy: where to
 * @first_timeout: whether it is the kept record of the first time-out
 *
 * Context: the caller's lock held.
 * Return: false when there is none.
 */
bool erdma_recorder_next(struct erdma_recorder *r, u64 seq, struct erdma_rec *copy,
			 bool *first_timeout)
{
	u64 oldest = r->next > ERDMA_REC_COUNT ? r->next - ERDMA_REC_COUNT : 1;
	bool kept = r->kept.seq && r->kept.seq >= seq;

	seq = max(seq, oldest);
	if (kept && r->kept.seq <= seq)
		*copy = r->kept;
	else if (seq < r->next)
		*copy = r->ring[seq % ERDMA_REC_COUNT];
	else
		return false;
	*first_timeout = copy->seq == r->kept.seq;
	return true;
}

/**
 * erdma_recorder_release() - the kept record has been read
 * @r: the recorder
 * @seq: its number; another may be kept meanwhile
 *
 * Context: the caller's lock held.
 */
void erdma_recorder_release(struct erdma_recorder *r, u64 seq)
{
	if (r->kept.seq == seq)
		r->kept_read = true;
}
