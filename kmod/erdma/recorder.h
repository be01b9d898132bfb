/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flight recorder: the last commands of a device with what became of them.
 *
 * Always on, so the writing side is inline, allocates nothing, takes no lock
 * and does no atomic operation: the caller's lock (the command queue's own)
 * serialises all of it, readers included. It knows nothing of the driver, so
 * that its cost can be measured by itself.
 */
#ifndef ERDMA_RECORDER_H
#define ERDMA_RECORDER_H

#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#define ERDMA_REC_COUNT		4096	/* power of two */
#define ERDMA_REC_REQUEST	64
#define ERDMA_REC_RESPONSE	2	/* qwords */

/* Numbers of the specification's cmd-state. */
enum erdma_rec_state {
	ERDMA_REC_PENDING,
	ERDMA_REC_DONE,
	ERDMA_REC_ERROR,
	ERDMA_REC_TIMEOUT,
	ERDMA_REC_LATE,
	ERDMA_REC_ABORTED,
};

#define ERDMA_REC_POLLED	BIT(0)
#define ERDMA_REC_KTHREAD	BIT(1)
#define ERDMA_REC_ANSWERED	BIT(2)

/**
 * struct erdma_rec - one command
 * @seq: running number, 0 = never used
 * @submit: local_clock() at submission
 * @time: wall clock at submission, in ns; kept, as the two clocks drift apart
 * @latency: ns until the answer, or until giving up
 * @start_time: of the requester's process, tells it from a later one with its
 *	number
 * @pid: the requester's process in the initial PID namespace
 * @status: result for the caller
 * @op: sub-module * 256 + opcode
 * @cookie: slot in the command ring
 * @outstanding: commands outstanding at submission, this one included
 * @cpu: submitting CPU
 * @state: enum erdma_rec_state
 * @syndrome: of the answer
 * @flags: ERDMA_REC_*
 * @request_len: valid bytes of @request
 * @comm: the requester's name
 * @response: qwords of the answer, valid with ERDMA_REC_ANSWERED
 * @request: the command as submitted
 */
struct erdma_rec {
	u64 seq;
	u64 submit;
	u64 time;
	u64 latency;
	u64 start_time;
	u32 pid;
	s16 status;
	u16 op;
	u16 cookie;
	u16 outstanding;
	u16 cpu;
	u8 state;
	u8 syndrome;
	u8 flags;
	u8 request_len;
	char comm[TASK_COMM_LEN];
	u64 response[ERDMA_REC_RESPONSE];
	u8 request[ERDMA_REC_REQUEST];
} ____cacheline_aligned;

/**
 * struct erdma_recorder - ring of records
 * @ring: ERDMA_REC_COUNT records; number seq is at seq % ERDMA_REC_COUNT
 * @next: number of the next record
 * @kept: copy of the record of the first time-out
 * @kept_read: @kept was handed to an administrator and may be replaced
 */
struct erdma_recorder {
	struct erdma_rec *ring;
	u64 next;
	struct erdma_rec kept;
	bool kept_read;
};

int erdma_recorder_init(struct erdma_recorder *r);
void erdma_recorder_free(struct erdma_recorder *r);
void erdma_recorder_timeout(struct erdma_recorder *r, u64 seq, u64 now, int status);
void erdma_recorder_late(struct erdma_recorder *r, u64 seq, u64 now, u8 syndrome,
			 const u64 *response);
void erdma_recorder_abort(struct erdma_recorder *r, u64 seq, u64 now, int status);
bool erdma_recorder_next(struct erdma_recorder *r, u64 seq, struct erdma_rec *copy,
			 bool *first_timeout);
void erdma_recorder_release(struct erdma_recorder *r, u64 seq);

static inline struct erdma_rec *erdma_recorder_find(struct erdma_recorder *r, u64 seq)
{
	struct erdma_rec *rec = &r->ring[seq % ERDMA_REC_COUNT];

	return rec->seq == seq ? rec : NULL;
}

/**
 * erdma_recorder_submit() - record a command that is being submitted
 * @r: the recorder
 * @now: local_clock()
 * @op: sub-module * 256 + opcode
 * @cookie: slot
 * @outstanding: commands outstanding, this one included
 * @polled: its answer will be polled for
 * @request: at least ERDMA_REC_REQUEST readable bytes
 * @request_len: length of the request
 *
 * Context: the caller's lock held.
 * Return: the record's number.
 */
static inline u64 erdma_recorder_submit(struct erdma_recorder *r, u64 now, u16 op,
					u16 cookie, u16 outstanding, bool polled,
					const void *request, u8 request_len)
{
	u64 seq = r->next++;
	struct erdma_rec *rec = &r->ring[seq % ERDMA_REC_COUNT];

	rec->seq = seq;
	rec->submit = now;
	rec->time = ktime_get_real_fast_ns();
	rec->latency = 0;
	rec->start_time = current->group_leader->start_time;
	rec->pid = current->tgid;
	rec->status = 0;
	rec->op = op;
	rec->cookie = cookie;
	rec->outstanding = outstanding;
	rec->cpu = raw_smp_processor_id();
	rec->state = ERDMA_REC_PENDING;
	rec->syndrome = 0;
	rec->flags = (polled ? ERDMA_REC_POLLED : 0) |
		     (current->flags & PF_KTHREAD ? ERDMA_REC_KTHREAD : 0);
	rec->request_len = min_t(u8, request_len, ERDMA_REC_REQUEST);
	/* May race with a change of name; the last byte is always zero. */
	memcpy(rec->comm, current->comm, TASK_COMM_LEN);
	memcpy(rec->request, request, ERDMA_REC_REQUEST);
	return seq;
}

/**
 * erdma_recorder_done() - record the answer to a command
 * @r: the recorder
 * @seq: what erdma_recorder_submit() returned
 * @now: local_clock()
 * @status: result for the caller
 * @syndrome: of the answer
 * @response: ERDMA_REC_RESPONSE qwords
 *
 * Context: the caller's lock held.
 */
static inline void erdma_recorder_done(struct erdma_recorder *r, u64 seq, u64 now,
				       int status, u8 syndrome, const u64 *response)
{
	struct erdma_rec *rec = erdma_recorder_find(r, seq);

	if (!rec)
		return;
	rec->latency = now - rec->submit;
	rec->status = status;
	rec->syndrome = syndrome;
	rec->state = syndrome ? ERDMA_REC_ERROR : ERDMA_REC_DONE;
	rec->flags |= ERDMA_REC_ANSWERED;
	memcpy(rec->response, response, sizeof(rec->response));
}

#endif /* ERDMA_RECORDER_H */
