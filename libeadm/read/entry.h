/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conversion of raw queue entries to rows. */
#ifndef EADM_ENTRY_H
#define EADM_ENTRY_H

#include "model/record.h"
#include "source/devlist.h"

/* A ring, or a part of it, as read. */
struct eadm_ring {
	const struct eadm_device *dev;
	const struct eadm_family *family;	/* NULL: unknown */
	uint32_t kind;			/* EADM_RAW_KIND_* */
	uint32_t id;
	uint32_t depth;			/* number of places, nonzero */
	uint32_t entry_size;		/* bytes per place */
	bool has_index;			/* the driver has reported its rule: */
	uint32_t index;			/* EADM_RING_INDEX_* */
	uint32_t index_bits;		/* width of EADM_RING_INDEX_FREE */
	uint32_t first, count;		/* range of places in data */
	bool user;
	bool has_sw_pi, has_sw_ci, has_hw_pi, has_hw_ci;
	uint32_t sw_pi, sw_ci, hw_pi, hw_ci;
	int hw_error;
	bool payload;
	uint64_t time;
	unsigned char *data;
	uint8_t *places;		/* see eadm_entry_index() */
};

/* Values for a place instead of a number of places. */
#define EADM_PLACE_NONE	0		/* not an entry */
#define EADM_PLACE_REST	0xff		/* not the first place of an entry */

bool eadm_entry_known(const struct eadm_ring *ring);
bool eadm_entry_fits(const struct eadm_ring *ring);
bool eadm_entry_needs_index(const struct eadm_ring *ring);
unsigned int eadm_entry_places(const struct eadm_ring *ring);
uint32_t eadm_entry_place(const struct eadm_ring *ring, uint32_t index);
void eadm_entry_index(const struct eadm_ring *ring, uint8_t *places);
int eadm_entry_scrub(struct eadm_ring *ring) EADM_MUST_CHECK;
unsigned int eadm_entry_decode(const struct eadm_ring *ring, uint32_t place,
			       const struct eadm_object *object,
			       struct eadm_record *rec);

/* Members of contexts and registers. */
bool eadm_members_known(const struct eadm_family *family, uint32_t kind);
int eadm_context_row(const struct eadm_family *family, uint32_t kind,
		     const unsigned char *data, size_t len, unsigned int index,
		     struct eadm_record *rec);
int eadm_regs_row(const struct eadm_family *family, const unsigned char *data,
		  size_t len, unsigned int index, struct eadm_record *rec);

#endif /* EADM_ENTRY_H */
