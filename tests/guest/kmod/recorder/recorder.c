// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flight recorder where the CPU that takes an answer has a clock that is
 * behind that of the CPU that submitted the command: no time passed, as its records
 * say. And looked through for records with a property. Loading fails where anything
 * else is found.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "eadm_recorder.h"

#define SUBMIT	1000000
#define ANSWER	(SUBMIT - 100)

static const u64 words[2] = { 1, 2 };

static u64 submit(struct eadm_recorder *r)
{
	return eadm_recorder_submit(r, SUBMIT, 1, 0, 1, false, words, sizeof(words));
}

static bool took_no_time(struct eadm_recorder *r, u64 seq, u8 state)
{
	struct eadm_rec rec;
	bool first;

	if (eadm_recorder_next(r, seq, &rec, &first) && rec.seq == seq &&
	    rec.state == state && !rec.latency)
		return true;
	pr_err("recorder: record %llu: state %u, latency %llu\n", seq, rec.state, rec.latency);
	return false;
}

static bool run(struct eadm_recorder *r)
{
	u64 done = submit(r), aborted = submit(r), late = submit(r);

	eadm_recorder_done(r, done, ANSWER, 0, 0, words, sizeof(words));
	eadm_recorder_abort(r, aborted, ANSWER, -ECANCELED);
	eadm_recorder_timeout(r, late, ANSWER, -ETIMEDOUT);
	if (!took_no_time(r, done, EADM_REC_DONE) ||
	    !took_no_time(r, aborted, EADM_REC_ABORTED) ||
	    !took_no_time(r, late, EADM_REC_TIMEOUT))
		return false;
	eadm_recorder_late(r, late, ANSWER, 0, words, sizeof(words));
	return took_no_time(r, late, EADM_REC_LATE);
}

/* From @seq on the first one in the @states that took @latency is @want. */
static bool finds(struct eadm_recorder *r, u64 seq, u32 states, u64 latency, u64 want)
{
	u64 looked = seq;
	int part;

	/* Each part ends soon, and goes on from where it ended. */
	for (part = 0; !eadm_recorder_seek(r, &looked, states, latency); part++) {
		if (part > EADM_REC_COUNT / EADM_REC_SEEK)
			break;
	}
	if (looked == want)
		return true;
	pr_err("recorder: from %llu: %llu, not %llu\n", seq, looked, want);
	return false;
}

static bool run_seek(struct eadm_recorder *r)
{
	const u32 failed = BIT(EADM_REC_ERROR) | BIT(EADM_REC_TIMEOUT);
	u64 seq, first = r->next, slow = 0, bad = 0;

	/* Twice round, so that the ring has none of the first. */
	while (r->next < first + 2 * EADM_REC_COUNT) {
		seq = submit(r);
		if (seq == first + EADM_REC_COUNT + 1000)
			slow = seq;
		if (seq == first + EADM_REC_COUNT + 3000)
			bad = seq;
		eadm_recorder_done(r, seq, SUBMIT + (seq == slow ? 5000 : 10), 0, seq == bad,
				   words, sizeof(words));
	}
	/* One has timed out before, which is kept: it is not passed over. */
	return finds(r, 0, failed, 0, 0) && finds(r, first, failed, 0, bad) &&
	       finds(r, bad, failed, 0, bad) && finds(r, bad + 1, failed, 0, r->next) &&
	       finds(r, first, 0, 5000, slow) && finds(r, slow + 1, 0, 5000, r->next) &&
	       finds(r, first, failed, 5000, r->next) &&
	       finds(r, first, 0, 0, first + EADM_REC_COUNT) &&
	       finds(r, U64_MAX, failed, 0, U64_MAX);
}

static int __init recorder_init(void)
{
	struct eadm_recorder *r = kzalloc(sizeof(*r), GFP_KERNEL);
	int ret = -ENOMEM;

	if (r && !eadm_recorder_init(r)) {
		ret = run(r) && run_seek(r) ? 0 : -EIO;
		eadm_recorder_free(r);
	}
	kfree(r);
	return ret;
}
module_init(recorder_init);

static void __exit recorder_exit(void)
{
}
module_exit(recorder_exit);

MODULE_DESCRIPTION("Test of the flight recorder");
MODULE_LICENSE("GPL");
