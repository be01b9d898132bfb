// SPDX-License-Identifier: LGPL-2.1-or-later
/* Copies of rows, which stay valid when their dump continues. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

static size_t rounded(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

static unsigned int last_attr(const struct eadm_record *rec)
{
	unsigned int word = EADM_ARRAY_SIZE(rec->has);

	while (word--) {
		if (rec->has[word])
			return word * 64 + 64 - __builtin_clzll(rec->has[word]);
	}
	return 0;
}

static size_t extras_size(const struct eadm_record *rec)
{
	size_t size = 0;
	unsigned int i;

	for (i = 0; i < rec->n_extra; i++) {
		if (rec->extra[i].name)
			size += rounded(strlen(rec->extra[i].name) + 1);
		size += rounded(rec->extra[i].len);
	}
	return size;
}

static const void *keep(unsigned char **at, const void *data, size_t len)
{
	void *p = *at;

	if (len)
		memcpy(p, data, len);
	*at += rounded(len);
	return p;
}

static bool copy_extras(struct eadm_record *copy,
			const struct eadm_record *rec, unsigned char **at)
{
	struct eadm_extra *extra;
	unsigned int i;

	if (!rec->n_extra)
		return true;
	copy->extra = malloc(rec->n_extra * sizeof(*extra));
	if (!copy->extra)
		return false;
	for (i = 0; i < rec->n_extra; i++) {
		extra = &copy->extra[i];
		*extra = rec->extra[i];
		if (extra->name)
			extra->name = keep(at, extra->name,
					   strlen(extra->name) + 1);
		if (extra->data)
			extra->data = keep(at, extra->data, extra->len);
	}
	copy->n_extra = rec->n_extra;
	copy->max_extra = rec->n_extra;
	return true;
}

/*
 * One block holds the record up to its last used slot and the values after it:
 * with a hundred thousand rows, unused slots would make up most of the memory.
 */
EADM_API struct eadm_record *eadm_record_new(const struct eadm_record *record)
{
	unsigned int i, n = last_attr(record);
	size_t head, values = 0;
	struct eadm_record *copy;
	unsigned char *at;

	head = rounded(offsetof(struct eadm_record, slot) +
		       n * sizeof(record->slot[0]));
	for (i = 0; i < n; i++) {
		if (eadm_record_attr_has(record, i + 1))
			values += rounded(record->slot[i].len);
	}
	copy = malloc(head + values + extras_size(record));
	if (!copy) {
		errno = ENOMEM;
		return NULL;
	}
	memcpy(copy, record, offsetof(struct eadm_record, slot));
	copy->n_extra = 0;
	copy->max_extra = 0;
	copy->used = 0;
	copy->extra = NULL;
	at = (unsigned char *)copy + head;
	for (i = 0; i < n; i++) {
		if (!eadm_record_attr_has(record, i + 1))
			continue;
		copy->slot[i].len = record->slot[i].len;
		copy->slot[i].p = keep(&at, record->slot[i].p,
				       record->slot[i].len);
	}
	if (!copy_extras(copy, record, &at)) {
		free(copy);
		errno = ENOMEM;
		return NULL;
	}
	return copy;
}

EADM_API void eadm_record_free(struct eadm_record *record)
{
	if (!record)
		return;
	free(record->extra);
	free(record);
}
