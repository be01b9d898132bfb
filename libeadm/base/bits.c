// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bits.h"

/* Returns false if the bits do not exist, or if their word was not read completely. */
bool eadm_bits_read(const struct eadm_bits *at, const unsigned char *p,
		    size_t len, uint64_t *value)
{
	unsigned int i, size = at->size;
	uint64_t v = 0;

	if (!size || size > sizeof(v) || (size_t)at->offset + size > len)
		return false;
	p += at->offset;
	for (i = 0; i < size; i++)
		v |= (uint64_t)p[at->order == EADM_LE ? i : size - 1 - i] <<
		     (8 * i);
	v >>= at->shift;
	*value = at->bits && at->bits < 64 ? v & ((1ULL << at->bits) - 1) : v;
	return true;
}

/* Without classes, the adapter's number is already the one in eadm.yaml. */
bool eadm_classes_find(const struct eadm_classes *classes, uint64_t *value)
{
	uint64_t flags = 0;
	unsigned int i;

	for (i = 0; classes && i < classes->n; i++) {
		const struct eadm_class *class = &classes->list[i];

		if (classes->flags && *value & class->raw) {
			flags |= class->class;
		} else if (!classes->flags && *value == class->raw) {
			*value = class->class;
			return true;
		}
	}
	if (!classes)
		return true;
	*value = flags;
	return classes->flags;
}
