/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entries of queues: from raw bytes to rows. */
#ifndef EADM_ENTRY_H
#define EADM_ENTRY_H

#include "priv.h"

/* A ring, or a part of it, as it was read. */
struct eadm_ring {
	const struct eadm_device *dev;
	uint32_t kind;			/* EADM_RAW_KIND_* */
	uint32_t id;
	uint32_t depth;			/* a power of two */
	uint32_t entry_size;
	uint32_t first, count;		/* what is in data */
	bool user;
	bool has_sw_pi, has_sw_ci, has_hw_pi, has_hw_ci;
	uint32_t sw_pi, sw_ci, hw_pi, hw_ci;
	int hw_error;
	bool payload;
	uint64_t time;
	unsigned char *data;
	uint8_t *blocks;		/* of send queues: see eadm_entry_index() */
};

/* What a block of a send queue is, in place of a number of blocks. */
#define EADM_BLOCK_NONE	0		/* not an entry */
#define EADM_BLOCK_REST	0xff		/* not the first block of one */

int eadm_entry_index(const unsigned char *data, uint32_t count, uint32_t first,
		     uint32_t depth, uint32_t qpn, uint8_t *blocks);
int eadm_entry_scrub(unsigned char *data, uint32_t first, uint32_t count,
		     uint32_t depth, uint32_t qpn) EADM_MUST_CHECK;
unsigned int eadm_entry_decode(const struct eadm_ring *ring, uint32_t place,
			       const struct eadm_object *object,
			       struct eadm_record *rec);

/* Members of contexts and registers. */
int eadm_context_row(uint32_t kind, const unsigned char *data, size_t len,
		     unsigned int index, struct eadm_record *rec);
int eadm_regs_row(const unsigned char *data, size_t len, unsigned int index,
		  struct eadm_record *rec);

#endif /* EADM_ENTRY_H */
