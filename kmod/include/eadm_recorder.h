/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flight recorder: the last commands of a device and their results.
 *
 * The recorder is always on, so writing allocates nothing, takes no lock and needs no atomic
 * operation: a lock of the caller (that of the command queue) serialises all accesses, including
 * readers. This file is independent of the driver: a driver embeds a struct eadm_recorder for each
 * command queue.
 */
#ifndef EADM_RECORDER_H
#define EADM_RECORDER_H

#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include <linux/vmalloc.h>

#include "eadm_values.h"

#define EADM_REC_COUNT		4096	/* power of two */
#define EADM_REC_REQUEST	184	/* bytes of each request that are kept */
#define EADM_REC_RESPONSE	64

/* State of a command, in the specification's terms. */
enum eadm_rec_state {
	EADM_REC_PENDING = EADM_CMD_STATE_PENDING,
	EADM_REC_DONE = EADM_CMD_STATE_DONE,
	EADM_REC_ERROR = EADM_CMD_STATE_ERROR,
	EADM_REC_TIMEOUT = EADM_CMD_STATE_TIMEOUT,
	EADM_REC_LATE = EADM_CMD_STATE_LATE,
	EADM_REC_ABORTED = EADM_CMD_STATE_ABORTED,
};

#define EADM_REC_POLLED		BIT(0)
#define EADM_REC_KTHREAD	BIT(1)
#define EADM_REC_ANSWERED	BIT(2)

/**
 * struct eadm_rec - one command
 * @seq: sequence number, 0 = never used
 * @submit: local_clock() at submission
 * @time: wall clock time of submission, in ns; recorded because the two clocks drift apart. May lag
 *	behind a step of the wall clock by up to EADM_REC_WALL_NS
 * @latency: ns until the command completed or was abandoned
 * @start_time: start time of the requester's process, which distinguishes it from a later process
 *	with the same PID
 * @pid: PID of the requester in the initial PID namespace
 * @op: the adapter's operation code
 * @tag: identifies the completion of the command
 * @syndrome: syndrome of the completion, in the adapter's terms
 * @status: result for the caller
 * @outstanding: number of outstanding commands at submission, including this one
 * @cpu: submitting CPU
 * @state: enum eadm_rec_state
 * @flags: EADM_REC_*
 * @request_len: valid bytes of @request
 * @response_len: valid bytes of @response
 * @comm: name of the requester
 * @request: the command as submitted
 * @response: the response, valid with EADM_REC_ANSWERED
 */
struct eadm_rec {
	u64 seq;
	u64 submit;
	u64 time;
	u64 latency;
	u64 start_time;
	u32 pid;
	u32 op;
	u32 tag;
	u32 syndrome;
	s16 status;
	u16 outstanding;
	u16 cpu;
	u8 state;
	u8 flags;
	u8 request_len;
	u8 response_len;
	char comm[TASK_COMM_LEN];
	u8 request[EADM_REC_REQUEST];
	u8 response[EADM_REC_RESPONSE];
} ____cacheline_aligned;

/**
 * struct eadm_recorder - ring of records
 * @ring: EADM_REC_COUNT records; number n is at n % EADM_REC_COUNT
 * @next: number of the next record
 * @wall_at: local_clock() at the last reading of the wall clock
 * @wall: wall clock minus local_clock() at that time
 * @kept: copy of the record of the first timeout
 * @kept_read: an administrator has read @kept, so it may be replaced
 */
struct eadm_recorder {
	struct eadm_rec *ring;
	u64 next;
	u64 wall_at;
	u64 wall;
	struct eadm_rec kept;
	bool kept_read;
};

/**
 * eadm_recorder_init() - allocate the ring
 * @r: the recorder
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
static inline int eadm_recorder_init(struct eadm_recorder *r)
{
	memset(r, 0, sizeof(*r));
	r->ring = vzalloc(array_size(EADM_REC_COUNT, sizeof(*r->ring)));
	if (!r->ring)
		return -ENOMEM;
	r->next = 1;
	return 0;
}

/**
 * eadm_recorder_free() - free the ring
 * @r: the recorder
 *
 * Context: process; the recorder is no longer in use.
 */
static inline void eadm_recorder_free(struct eadm_recorder *r)
{
	vfree(r->ring);
	r->ring = NULL;
}

static inline struct eadm_rec *eadm_recorder_find(struct eadm_recorder *r, u64 seq)
{
	struct eadm_rec *rec = &r->ring[seq % EADM_REC_COUNT];

	return rec->seq == seq ? rec : NULL;
}

/* During this time the two clocks drift apart by a few microseconds at most. */
#define EADM_REC_WALL_NS	(10 * NSEC_PER_MSEC)

/*
 * Returns the wall clock time at a given local_clock(). Reading the wall clock takes longer than
 * most other steps of recording, and commands come in bursts. If @now is before the last reading,
 * because it was read from a different CPU's clock, the wall clock is read again.
 */
static inline u64 eadm_recorder_wall(struct eadm_recorder *r, u64 now)
{
	if (now - r->wall_at >= EADM_REC_WALL_NS) {
		r->wall_at = now;
		r->wall = ktime_get_real_fast_ns() - now;
	}
	return now + r->wall;
}

/**
 * eadm_recorder_submit() - record a command that is being submitted
 * @r: the recorder
 * @now: local_clock()
 * @op: the adapter's operation code
 * @tag: identifies the completion
 * @outstanding: number of outstanding commands, including this one
 * @polled: whether the issuer polls for the completion
 * @request: the request
 * @request_len: length of the request; at most EADM_REC_REQUEST bytes are kept
 *
 * Context: the caller's lock is held.
 * Return: the record's number.
 */
static inline u64 eadm_recorder_submit(struct eadm_recorder *r, u64 now, u32 op, u32 tag,
				       u16 outstanding, bool polled, const void *request,
				       size_t request_len)
{
	u64 seq = r->next++;
	struct eadm_rec *rec = &r->ring[seq % EADM_REC_COUNT];

	rec->seq = seq;
	rec->submit = now;
	rec->time = eadm_recorder_wall(r, now);
	rec->latency = 0;
	rec->start_time = current->group_leader->start_time;
	rec->pid = current->tgid;
	rec->status = 0;
	rec->op = op;
	rec->tag = tag;
	rec->outstanding = outstanding;
	rec->cpu = raw_smp_processor_id();
	rec->state = EADM_REC_PENDING;
	rec->syndrome = 0;
	rec->flags = (polled ? EADM_REC_POLLED : 0) |
		     (current->flags & PF_KTHREAD ? EADM_REC_KTHREAD : 0);
	rec->request_len = min_t(size_t, request_len, EADM_REC_REQUEST);
	rec->response_len = 0;
	/* May race with a change of the name; the last byte is always zero. */
	memcpy(rec->comm, current->comm, TASK_COMM_LEN);
	memcpy(rec->request, request, rec->request_len);
	return seq;
}

/*
 * Returns the ns between two values of local_clock(); never negative, although the clocks of two
 * CPUs may differ.
 */
static inline u64 eadm_elapsed(u64 from, u64 to)
{
	return to > from ? to - from : 0;
}

/* Records a completion, in time or late. */
static inline void eadm_rec_answer(struct eadm_rec *rec, u64 now, u32 syndrome,
				   const void *response, size_t response_len)
{
	rec->latency = eadm_elapsed(rec->submit, now);
	rec->syndrome = syndrome;
	rec->flags |= EADM_REC_ANSWERED;
	rec->response_len = min_t(size_t, response_len, EADM_REC_RESPONSE);
	memcpy(rec->response, response, rec->response_len);
}

/**
 * eadm_recorder_done() - record the completion of a command
 * @r: the recorder
 * @seq: number returned by eadm_recorder_submit()
 * @now: local_clock()
 * @status: result for the caller
 * @syndrome: syndrome of the completion
 * @response: the response
 * @response_len: length of the response; at most EADM_REC_RESPONSE bytes are kept
 *
 * Context: the caller's lock is held.
 */
static inline void eadm_recorder_done(struct eadm_recorder *r, u64 seq, u64 now, int status,
				      u32 syndrome, const void *response, size_t response_len)
{
	struct eadm_rec *rec = eadm_recorder_find(r, seq);

	if (!rec)
		return;
	rec->status = status;
	rec->state = syndrome ? EADM_REC_ERROR : EADM_REC_DONE;
	eadm_rec_answer(rec, now, syndrome, response, response_len);
}

static inline void eadm_rec_give_up(struct eadm_rec *rec, u64 now, int status, u8 state)
{
	rec->latency = eadm_elapsed(rec->submit, now);
	rec->status = status;
	rec->state = state;
}

/**
 * eadm_recorder_timeout() - record that a command timed out
 * @r: the recorder
 * @seq: number of the command
 * @now: local_clock()
 * @status: result for the caller
 *
 * The first such record is kept outside the ring until an administrator has read it, because it
 * shows the origin of the problem.
 *
 * Context: the caller's lock is held.
 */
static inline void eadm_recorder_timeout(struct eadm_recorder *r, u64 seq, u64 now, int status)
{
	struct eadm_rec *rec = eadm_recorder_find(r, seq);

	if (!rec)
		return;
	eadm_rec_give_up(rec, now, status, EADM_REC_TIMEOUT);
	if (!r->kept.seq || r->kept_read) {
		r->kept = *rec;
		r->kept_read = false;
	}
}

/**
 * eadm_recorder_late() - record a completion that arrived after the timeout
 * @r: the recorder
 * @seq: number of the command
 * @now: local_clock()
 * @syndrome: syndrome of the completion
 * @response: the response
 * @response_len: length of the response
 *
 * The result for the caller is unchanged.
 *
 * Context: the caller's lock is held.
 */
static inline void eadm_recorder_late(struct eadm_recorder *r, u64 seq, u64 now, u32 syndrome,
				      const void *response, size_t response_len)
{
	struct eadm_rec *recs[] = {
		eadm_recorder_find(r, seq),
		r->kept.seq == seq ? &r->kept : NULL,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(recs); i++) {
		if (!recs[i])
			continue;
		recs[i]->state = EADM_REC_LATE;
		eadm_rec_answer(recs[i], now, syndrome, response, response_len);
	}
}

/**
 * eadm_recorder_abort() - record that a command was abandoned before its timeout
 * @r: the recorder
 * @seq: number of the command
 * @now: local_clock()
 * @status: result for the caller
 *
 * Context: the caller's lock is held.
 */
static inline void eadm_recorder_abort(struct eadm_recorder *r, u64 seq, u64 now, int status)
{
	struct eadm_rec *rec = eadm_recorder_find(r, seq);

	if (rec)
		eadm_rec_give_up(rec, now, status, EADM_REC_ABORTED);
}

/**
 * eadm_recorder_oldest() - return the lowest number of a record in the ring
 * @r: the recorder
 *
 * Context: the caller's lock is held.
 * Return: the number; that of the next record if the ring is empty.
 */
static inline u64 eadm_recorder_oldest(const struct eadm_recorder *r)
{
	return r->next > EADM_REC_COUNT ? r->next - EADM_REC_COUNT : 1;
}

/* Number of records to check before releasing the lock. */
#define EADM_REC_SEEK	128

/**
 * eadm_recorder_seek() - find the next record that matches a filter
 * @r: the recorder
 * @seq: lowest number; on return the number of the record found, or the number at which to continue
 * @states: BIT(EADM_REC_*) of matching states, 0 = any
 * @latency: minimum latency of matching commands in ns, 0 = any
 *
 * Context: the caller's lock is held, to check little more than EADM_REC_SEEK records.
 * Return: false if the caller should release the lock and continue from @seq.
 */
static inline bool eadm_recorder_seek(const struct eadm_recorder *r, u64 *seq, u32 states,
				      u64 latency)
{
	const struct eadm_rec *rec;
	u64 last;

	/* The kept record is older than the ring, unless it is still in the ring. */
	if (r->kept.seq >= *seq && r->kept.seq < eadm_recorder_oldest(r))
		return true;
	*seq = max(*seq, eadm_recorder_oldest(r));
	last = min(r->next, *seq + EADM_REC_SEEK);
	for (; *seq < last; ++*seq) {
		rec = &r->ring[*seq % EADM_REC_COUNT];
		if ((!states || states & BIT(rec->state)) && rec->latency >= latency)
			return true;
	}
	return *seq >= r->next;
}

/**
 * eadm_recorder_next() - copy the first record with a number of at least @seq
 * @r: the recorder
 * @seq: lowest number
 * @copy: destination
 * @first_timeout: set to true if the record is the kept record of the first timeout
 *
 * Context: the caller's lock is held.
 * Return: false if there is none.
 */
static inline bool eadm_recorder_next(struct eadm_recorder *r, u64 seq, struct eadm_rec *copy,
				      bool *first_timeout)
{
	bool kept = r->kept.seq && r->kept.seq >= seq;

	seq = max(seq, eadm_recorder_oldest(r));
	if (kept && r->kept.seq <= seq)
		*copy = r->kept;
	else if (seq < r->next)
		*copy = r->ring[seq % EADM_REC_COUNT];
	else
		return false;
	*first_timeout = copy->seq == r->kept.seq;
	return true;
}

/**
 * eadm_recorder_release() - record that the kept record has been read
 * @r: the recorder
 * @seq: number of that record; a different record may be kept by now
 *
 * Context: the caller's lock is held.
 */
static inline void eadm_recorder_release(struct eadm_recorder *r, u64 seq)
{
	if (r->kept.seq == seq)
		r->kept_read = true;
}

#endif /* EADM_RECORDER_H */
