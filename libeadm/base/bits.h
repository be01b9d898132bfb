/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers in an adapter's bytes, and their names in eadm.yaml. */
#ifndef EADM_BITS_H
#define EADM_BITS_H

#include "base.h"

enum eadm_order {
	EADM_LE,
	EADM_BE,
};

/* Bits of a word. */
struct eadm_bits {
	uint16_t offset;
	uint8_t size;		/* bytes of the word; 0: no such bits */
	uint8_t order;		/* enum eadm_order */
	uint8_t shift;
	uint8_t bits;		/* 0: all bits of the word */
};

/* An adapter's number and the corresponding one in eadm.yaml. */
struct eadm_class {
	uint32_t raw;
	uint32_t class;
};

struct eadm_classes {
	bool flags;		/* each number is a bit */
	unsigned int n;
	const struct eadm_class *list;
};

bool eadm_bits_read(const struct eadm_bits *at, const unsigned char *p,
		    size_t len, uint64_t *value);
/* Replace an adapter's number with that of its class; false if it has no class. */
bool eadm_classes_find(const struct eadm_classes *classes, uint64_t *value);

#endif /* EADM_BITS_H */
