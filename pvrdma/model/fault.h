/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fault injection: a row in fault.c for each knob, and a call to fault_hit() where the
 * fault is injected. Names and properties are the same as for the adapters of kmod/virt.
 * No knob delays the reply to an access, because the VMM may hold its main lock until the
 * reply arrives.
 */
#ifndef MODEL_FAULT_H
#define MODEL_FAULT_H

#include <stdbool.h>
#include <stdint.h>

struct model;

enum fault_id {
	FAULT_IRQ_LOST,
	FAULT_DEV_GONE,
	FAULT_CMD_DROP,
	FAULT_CMD_DELAY,
	FAULT_CMD_ERROR,
	FAULT_EQ_OVERFLOW,
	FAULT_EQE_LOST,
	FAULT_AEQ_QP_FATAL,
	FAULT_QP_ERROR,
	FAULT_CQ_ARM_LOST,
	FAULT_CQ_OVERRUN,
	FAULT_CQE_LOST,
	FAULT_CQE_OPCODE,
	FAULT_SQ_DB_LOST,
	FAULT_QP_STALL,
	FAULT_WR_ERROR,
	FAULT_LINK_DOWN,
	FAULT_BACKEND_GONE,
	FAULT_SURPRISE,
	FAULT_COUNT
};

struct fault {
	/* Remaining number of injections; -1: unlimited. */
	int32_t count;
	/* Percent. */
	uint32_t probability;
	/* Affected target; -1: any. */
	int64_t target;
	uint64_t arg;
	uint64_t hits;
};

struct fault_knob {
	const char *name, *about;
};

extern const struct fault_knob fault_knobs[FAULT_COUNT];

void fault_init(struct fault faults[FAULT_COUNT]);
/* Returns true if the caller has to inject the fault; @arg may be NULL. */
bool fault_hit(struct model *m, enum fault_id id, int64_t target, uint64_t *arg);
/* Returns true if a knob that represents a state is on. */
bool fault_on(const struct model *m, enum fault_id id);

/* ---- knob.c */
/*
 * Returns -EINVAL for an invalid probability or count. Some faults occur immediately:
 * -ENOENT if there is no such target.
 */
int fault_set(struct model *m, enum fault_id id, const struct fault *fault);

#endif /* MODEL_FAULT_H */
