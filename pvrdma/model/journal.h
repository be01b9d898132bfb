/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data that an adapter records for diagnosis: commands, failures, and counters. The
 * amount of data is bounded, and recording allocates no memory. Times are those of
 * journal_now().
 */
#ifndef MODEL_JOURNAL_H
#define MODEL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pvrdma_hw.h"

/* Powers of two. */
#define JOURNAL_COMMANDS 1024
#define JOURNAL_FAILURES 256
#define JOURNAL_TOTALS 64
#define JOURNAL_RESPONSE 64
#define JOURNAL_CODES (PVRDMA_CMD_DESTROY_SRQ + 1)
/* Time for which the driver waits for a response (hw 2.4). */
#define JOURNAL_PATIENCE_NS UINT64_C(10000000000)
#define JOURNAL_SLOW_REG_NS UINT64_C(100000000)

enum journal_state {
	JOURNAL_PENDING,
	JOURNAL_DONE,
	JOURNAL_ERROR,
	/* The driver has abandoned the command. */
	JOURNAL_TIMEOUT,
	/* A reset happened before the response. */
	JOURNAL_ABORTED,
};

struct journal_command {
	/* 0: none. */
	uint64_t seq;
	uint64_t began, latency;
	uint32_t code, error;
	enum journal_state state;
	uint8_t response_size;
	unsigned char request[PVRDMA_CMD_SLOT_SIZE], response[JOURNAL_RESPONSE];
};

enum journal_kind { JOURNAL_QP, JOURNAL_CQ, JOURNAL_COMMAND, JOURNAL_DEVICE };

struct journal_failure {
	uint64_t seq, at;
	enum journal_kind kind;
	/* QPN, handle of the CQ, or number of the command. */
	uint64_t id;
	/* enum pvrdma_wc_status, or an errno of a command; 0: unknown. */
	uint32_t status;
	/* enum pvrdma_event_type reported to the guest, or -1. */
	int32_t event;
	uint32_t code;
};

/* An event to be reported immediately; @event: enum pvrdma_event_type. */
struct journal_event {
	enum {
		JOURNAL_EVENT_ASYNC,
		JOURNAL_EVENT_TIMEOUT,
		JOURNAL_EVENT_CAME,
		JOURNAL_EVENT_GONE,
	} type;
	uint32_t event;
	/* 0: none. */
	uint32_t qpn, cq, srq, port;
	uint64_t command;
	uint32_t code;
};

/* Number of occurrences, and time of the last one. */
struct journal_count {
	uint64_t n, at;
};

struct journal {
	struct journal_command commands[JOURNAL_COMMANDS];
	uint64_t last_command, last_answer;
	/* Command without a response yet, or 0. */
	uint64_t pending;
	uint64_t submitted, answered, errors, timeouts;
	/* Numbers of executed and refused commands, by code. */
	uint64_t done[JOURNAL_CODES], refused[JOURNAL_CODES];
	struct journal_count slow_regs, quota, overflows, undelivered[PVRDMA_MAX_VECTORS];
	uint64_t slowest_reg;

	struct journal_failure failures[JOURNAL_FAILURES];
	uint64_t last_failure;
	/* By kind and status; combinations that do not fit are not counted. */
	struct journal_total {
		enum journal_kind kind;
		uint32_t status;
		struct journal_count count;
	} totals[JOURNAL_TOTALS];
	unsigned int n_totals;

	uint64_t interrupts[PVRDMA_MAX_VECTORS];
	uint64_t events, notifications;
	uint64_t sends, send_bytes, writes, write_bytes, reads, read_bytes, atomics;
	uint64_t receives, receive_bytes;
	uint64_t send_errors, receive_errors, send_flushes, receive_flushes;
	uint64_t rnr_exceeded, retries_exceeded, access_errors;
	uint64_t link_downs;
	/* Sessions that ended while the guest's driver was active. */
	struct journal_count lost_sessions;

	/* Called for each event, or NULL. */
	void (*report)(void *ctx, const struct journal_event *event);
	void *ctx;
};

/* CLOCK_MONOTONIC in ns. */
uint64_t journal_now(void);
void journal_count(struct journal_count *count);

void journal_begin(struct journal *j, const void *request, uint32_t code);
/* The command has completed, with @error or with a response. */
void journal_end(struct journal *j, uint32_t error, const void *response, size_t size);
void journal_give_up(struct journal *j, enum journal_state state);
struct journal_command *journal_pending(struct journal *j);

void journal_fail(struct journal *j, const struct journal_failure *failure);
void journal_report(struct journal *j, const struct journal_event *event);

#endif /* MODEL_JOURNAL_H */
