/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Probe records as rows of responses. */
#ifndef EADM_PROBE_ROW_H
#define EADM_PROBE_ROW_H

#include "base/bits.h"
#include "maps.h"
#include "source/answer.h"

/* A driver's function that runs a command of its adapter. */
struct eadm_probe_command {
	const char *module, *family;
	struct eadm_bits op;		/* position in the recorded request word */
	const struct eadm_classes *ops;
};

/* Indexed by the number of the function, from EADM_PROBE_FIRST_COMMAND on; derived. */
extern const struct eadm_probe_command eadm_probe_commands[];

/* One pass over the probe's records. */
struct eadm_probe_view {
	struct eadm_ctx *ctx;
	struct eadm_probe_maps maps;
	struct eadm_probe_list list;
	uint64_t boot;			/* wall clock at boot, ns */
	bool pids;			/* PIDs are the same in our namespace */
	struct eadm_probe_dev *limit;	/* numbers assigned when reading began */
};

int eadm_probe_view_open(struct eadm_ctx *ctx, struct eadm_probe_view *view)
	EADM_MUST_CHECK;
void eadm_probe_view_close(struct eadm_probe_view *view);
/*
 * CPUs are read one after the other, so a record numbered in the meantime may be seen
 * on one CPU while a record with a lower number on another CPU was missed. Leaving out
 * late records makes numbers contiguous except for lost records.
 */
int eadm_probe_view_begin(struct eadm_probe_view *view) EADM_MUST_CHECK;
bool eadm_probe_view_is_late(const struct eadm_probe_view *view,
			     const struct eadm_probe_rec *rec);
/* Sort by device and number. */
void eadm_probe_view_sort(struct eadm_probe_view *view);

const char *eadm_probe_function_name(unsigned int function);
unsigned int eadm_probe_function_op(unsigned int function);
/* Returns NULL if the function does not belong to a driver. */
const struct eadm_probe_command *
eadm_probe_function_command(unsigned int function);

/* Rows begin with their device; end them with eadm_message_end(). */
size_t eadm_probe_row(const struct eadm_probe_view *view,
		      struct eadm_answer *answer,
		      const struct eadm_probe_rec *rec);
void eadm_probe_put_u32(struct eadm_answer *answer, uint16_t attr,
			uint32_t value);
void eadm_probe_put_u64(struct eadm_answer *answer, uint16_t attr,
			uint64_t value);
void eadm_probe_put_addr(struct eadm_answer *answer, uint16_t attr,
			 uint16_t port_attr, const struct eadm_probe_addr *addr);
void eadm_probe_put_owner(const struct eadm_probe_view *view,
			  struct eadm_answer *answer,
			  const struct eadm_probe_rec *rec, uint16_t pid,
			  uint16_t comm);

/* These put the row of one record. */
void eadm_probe_put_call(const struct eadm_probe_view *view,
			 struct eadm_answer *answer,
			 const struct eadm_probe_rec *rec);
void eadm_probe_put_event(const struct eadm_probe_view *view,
			  struct eadm_answer *answer,
			  const struct eadm_probe_rec *rec, uint64_t step);

#endif /* EADM_PROBE_ROW_H */
