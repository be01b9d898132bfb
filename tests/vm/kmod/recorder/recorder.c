// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flight recorder where the CPU that takes an answer has a clock that is
 * behind that of the CPU that submitted the command. Loading fails where a record
 * says anything but that no time passed.
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

static int __init recorder_init(void)
{
	struct eadm_recorder *r = kzalloc(sizeof(*r), GFP_KERNEL);
	int ret = -ENOMEM;

	if (r && !eadm_recorder_init(r)) {
		ret = run(r) ? 0 : -EIO;
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
