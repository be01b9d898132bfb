// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rows: the fields that have a value, and their values. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attr.h"
#include "base/abi.h"
#include "grow.h"
#include "record.h"

void eadm_record_reset(struct eadm_record *rec,
		       const struct eadm_object *object, uint64_t time)
{
	rec->object = object;
	rec->time = time;
	memset(rec->has, 0, sizeof(rec->has));
	rec->n_extra = 0;
	rec->used = 0;
}

void eadm_record_release(struct eadm_record *rec)
{
	free(rec->extra);
	rec->extra = NULL;
	rec->max_extra = 0;
}

/*
 * Store in the record itself a value that no message contains in this form. A value
 * that does not fit stays absent; the sizes are chosen so that all values fit.
 */
void eadm_record_put_bytes(struct eadm_record *rec, unsigned int attr,
			   const void *data, size_t len)
{
	unsigned char *p = rec->scratch + rec->used;

	if (len > sizeof(rec->scratch) - rec->used)
		return;
	memcpy(p, data, len);
	rec->used += (len + 7) & ~7U;
	if (rec->used > sizeof(rec->scratch))
		rec->used = sizeof(rec->scratch);
	eadm_record_point(rec, attr, p, len);
}

void eadm_record_put_u64(struct eadm_record *rec, unsigned int attr,
			 uint64_t value)
{
	const struct eadm_object *object = rec->object;
	int32_t s32 = value;
	uint32_t u32 = value;

	switch (object->fields[object->by_slot[attr]].type) {
	case EADM_SPEC_TYPE_U32:
		eadm_record_put_bytes(rec, attr, &u32, sizeof(u32));
		break;
	case EADM_SPEC_TYPE_S32:
		eadm_record_put_bytes(rec, attr, &s32, sizeof(s32));
		break;
	default:
		eadm_record_put_bytes(rec, attr, &value, sizeof(value));
		break;
	}
}

void eadm_record_put_string(struct eadm_record *rec, unsigned int attr,
			    const char *str)
{
	eadm_record_put_bytes(rec, attr, str, strlen(str) + 1);
}

/* Copy a string so that it lives as long as the row; NULL if there is no room. */
const char *eadm_record_keep(struct eadm_record *rec, const char *text)
{
	size_t len = strlen(text) + 1;
	char *p = (char *)rec->scratch + rec->used;

	if (len > sizeof(rec->scratch) - rec->used)
		return NULL;
	rec->used += (len + 7) & ~7U;
	if (rec->used > sizeof(rec->scratch))
		rec->used = sizeof(rec->scratch);
	return memcpy(p, text, len);
}

int eadm_record_add_extra(struct eadm_record *rec,
			  const struct eadm_extra *extra)
{

	if (!grow(rec->extra, rec->n_extra, rec->max_extra))
		return -ENOMEM;
	rec->extra[rec->n_extra++] = *extra;
	return 0;
}

static inline const struct eadm_slot *slot_of(const struct eadm_record *rec,
				       const struct eadm_field *field)
{
	const struct eadm_object *object = rec->object;

	if (field < object->fields ||
	    field >= object->fields + object->n_fields) {
		errno = EINVAL;
		return NULL;
	}
	if (!eadm_record_attr_has(rec, field->slot)) {
		errno = ENODATA;
		return NULL;
	}
	return &rec->slot[field->slot - 1];
}

EADM_API bool eadm_record_has(const struct eadm_record *record,
			      const struct eadm_field *field)
{
	return slot_of(record, field) != NULL;
}

EADM_API const struct eadm_field *
eadm_record_next(const struct eadm_record *record,
		 const struct eadm_field *field)
{
	const struct eadm_object *object = record->object;
	unsigned int attr = field ? field->slot : 0;	/* bit after the field */
	unsigned int word = attr / 64;
	uint64_t bits = record->has[word] & ~0ULL << (attr % 64);

	while (!bits) {
		if (++word == EADM_ARRAY_SIZE(record->has))
			return NULL;
		bits = record->has[word];
	}
	attr = word * 64 + __builtin_ctzll(bits) + 1;
	return &object->fields[object->by_slot[attr]];
}

EADM_API int eadm_record_u64(const struct eadm_record *record,
			     const struct eadm_field *field, uint64_t *value)
{
	const struct eadm_slot *slot = slot_of(record, field);
	uint32_t u32;

	if (!slot)
		return -errno;
	if (field->type == EADM_SPEC_TYPE_U32) {
		memcpy(&u32, slot->p, sizeof(u32));
		*value = u32;
		return 0;
	}
	switch (field->type) {
	case EADM_SPEC_TYPE_U64:
	case EADM_SPEC_TYPE_UINT:
		*value = eadm_load(slot->p, slot->len);
		return 0;
	case EADM_SPEC_TYPE_FLAG:
		*value = 1;
		return 0;
	default:
		return -EINVAL;
	}
}

EADM_API int eadm_record_s64(const struct eadm_record *record,
			     const struct eadm_field *field, int64_t *value)
{
	const struct eadm_slot *slot = slot_of(record, field);

	if (!slot)
		return -errno;
	if (field->type != EADM_SPEC_TYPE_S32)
		return -EINVAL;
	*value = (int32_t)eadm_load(slot->p, slot->len);
	return 0;
}

EADM_API const char *eadm_record_string(const struct eadm_record *record,
					const struct eadm_field *field)
{
	const struct eadm_slot *slot = slot_of(record, field);

	if (!slot)
		return NULL;
	if (field->type != EADM_SPEC_TYPE_STRING) {
		errno = EINVAL;
		return NULL;
	}
	return slot->p;
}

EADM_API const void *eadm_record_bytes(const struct eadm_record *record,
				       const struct eadm_field *field,
				       size_t *len)
{
	const struct eadm_slot *slot = slot_of(record, field);

	if (!slot)
		return NULL;
	if (field->type != EADM_SPEC_TYPE_BINARY) {
		errno = EINVAL;
		return NULL;
	}
	*len = slot->len;
	return slot->p;
}

static void get_value(const struct eadm_field *field,
		      const struct eadm_slot *slot, struct eadm_value *value)
{
	switch (field->type) {
	case EADM_SPEC_TYPE_S32:
		value->type = EADM_TYPE_S64;
		value->s64 = (int32_t)eadm_load(slot->p, 4);
		break;
	case EADM_SPEC_TYPE_STRING:
		value->type = EADM_TYPE_STRING;
		value->string = slot->p;
		break;
	case EADM_SPEC_TYPE_BINARY:
		value->type = EADM_TYPE_BYTES;
		value->bytes = slot->p;
		value->len = slot->len;
		break;
	case EADM_SPEC_TYPE_FLAG:
		value->type = EADM_TYPE_U64;
		value->u64 = 1;
		break;
	default:
		value->type = EADM_TYPE_U64;
		value->u64 = eadm_load(slot->p, slot->len);
		break;
	}
}

/* Most values are numbers of one of these sizes. */
static inline bool get_number(const struct eadm_field *field,
			      const struct eadm_slot *slot,
			      struct eadm_value *value)
{
	const unsigned int numbers = 1 << EADM_SPEC_TYPE_U32 |
				     1 << EADM_SPEC_TYPE_U64 |
				     1 << EADM_SPEC_TYPE_UINT;

	if (!(numbers >> field->type & 1))
		return false;
	value->type = EADM_TYPE_U64;
	value->u64 = eadm_load(slot->p, slot->len == 8 ? 8 : 4);
	return true;
}

/* @wanted: a bit for each slot, as in the record's own bitmap; NULL for all. */
unsigned int eadm_record_some(const struct eadm_record *record,
			      const uint64_t *wanted, struct eadm_value *values,
			      unsigned int max)
{
	const int16_t *by_slot = record->object->by_slot + 1;
	const struct eadm_field *fields = record->object->fields;
	struct eadm_value *value = values, *end = values + max;
	unsigned int word, bit;
	uint64_t bits;

	for (word = 0; word < EADM_ARRAY_SIZE(record->has); word++) {
		bits = record->has[word] & (wanted ? wanted[word] : ~0ULL);
		for (; bits; bits &= bits - 1) {
			if (value == end)
				return max;
			bit = word * 64 + __builtin_ctzll(bits);
			value->index = by_slot[bit];
			value->field = &fields[value->index];
			if (!get_number(value->field, &record->slot[bit], value))
				get_value(value->field, &record->slot[bit], value);
			value++;
		}
	}
	return value - values;
}

EADM_API unsigned int eadm_record_values(const struct eadm_record *record,
					 struct eadm_value *values,
					 unsigned int max)
{
	return eadm_record_some(record, NULL, values, max);
}

EADM_API uint64_t eadm_record_time(const struct eadm_record *record)
{
	return record->time;
}

EADM_API int eadm_record_extra(const struct eadm_record *record,
			       unsigned int index, struct eadm_extra *extra)
{
	if (index >= record->n_extra)
		return 0;
	return eadm_abi_give(extra, &record->extra[index], sizeof(*extra));
}

/* ---- text ---------------------------------------------------------------- */

static int text_hex(const unsigned char *p, size_t n, size_t group, char sep,
		    char *buf, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	size_t i, at = 0;

	for (i = 0; i < n; i++) {
		if (i && group && i % group == 0) {
			if (at + 1 < size)
				buf[at] = sep;
			at++;
		}
		if (at + 2 < size) {
			buf[at] = digits[p[i] >> 4];
			buf[at + 1] = digits[p[i] & 15];
		}
		at += 2;
	}
	if (size)
		buf[at < size ? at : size - 1] = '\0';
	return at;
}

/* Every row has two addresses: printf() would take too long. */
static int text_ipv4(const unsigned char *p, char *buf, size_t size)
{
	char ip[INET_ADDRSTRLEN], *t = ip;
	int i;

	for (i = 0; i < 4; i++) {
		if (i)
			*t++ = '.';
		if (p[i] >= 100)
			*t++ = '0' + p[i] / 100;
		if (p[i] >= 10)
			*t++ = '0' + p[i] / 10 % 10;
		*t++ = '0' + p[i] % 10;
	}
	*t++ = '\0';
	if (size >= (size_t)(t - ip))
		memcpy(buf, ip, t - ip);
	else if (size)
		snprintf(buf, size, "%s", ip);
	return t - ip - 1;
}

static int text_bytes(const struct eadm_field *field, const void *p, size_t n,
		      char *buf, size_t size)
{
	char ip[INET6_ADDRSTRLEN];

	if (field->form == EADM_SPEC_FORM_IP && n == 4)
		return text_ipv4(p, buf, size);
	if (field->form == EADM_SPEC_FORM_IP && n == 16) {
		inet_ntop(AF_INET6, p, ip, sizeof(ip));
		return snprintf(buf, size, "%s", ip);
	}
	if (field->form == EADM_SPEC_FORM_MAC)
		return text_hex(p, n, 1, ':', buf, size);
	if (field->form == EADM_SPEC_FORM_GUID)
		return text_hex(p, n, 2, ':', buf, size);
	return text_hex(p, n, 0, 0, buf, size);
}

static int text_flags(const struct eadm_field *field, uint64_t value, char *buf,
		      size_t size)
{
	const char *sep = "", *name;
	unsigned int i;
	size_t at = 0;

	if (size)
		buf[0] = '\0';
	for (i = 0; i < 64; i++) {
		if (!(value >> i & 1))
			continue;
		name = eadm_field_value_name(field, 1ULL << i);
		if (name)
			at += snprintf(at < size ? buf + at : NULL,
				       at < size ? size - at : 0, "%s%s", sep,
				       name);
		else
			at += snprintf(at < size ? buf + at : NULL,
				       at < size ? size - at : 0,
				       "%sunknown(%llu)", sep, 1ULL << i);
		sep = ",";
	}
	return at;
}

/* Equivalent to snprintf() with "%s", which takes ten times as long. */
static int text_copy(const char *text, char *buf, size_t size)
{
	size_t len = strlen(text);

	if (size) {
		memcpy(buf, text, len < size ? len : size - 1);
		buf[len < size ? len : size - 1] = '\0';
	}
	return len;
}

EADM_API int eadm_field_text(const struct eadm_field *field, uint64_t value,
			     char *buf, size_t size)
{
	const char *name;

	if (field->names && field->names->flags)
		return text_flags(field, value, buf, size);
	if (field->names) {
		name = eadm_field_value_name(field, value);
		if (name)
			return text_copy(name, buf, size);
		return snprintf(buf, size, "unknown(%" PRIu64 ")", value);
	}
	return snprintf(buf, size,
			field->base == 16 ? "0x%" PRIx64 : "%" PRIu64, value);
}

EADM_API int eadm_record_text(const struct eadm_record *record,
			      const struct eadm_field *field, char *buf,
			      size_t size)
{
	const struct eadm_slot *slot = slot_of(record, field);

	if (!slot)
		return -errno;
	switch (field->type) {
	case EADM_SPEC_TYPE_STRING:
		return text_copy(slot->p, buf, size);
	case EADM_SPEC_TYPE_BINARY:
		return text_bytes(field, slot->p, slot->len, buf, size);
	case EADM_SPEC_TYPE_S32:
		return snprintf(buf, size, "%" PRId32,
				(int32_t)eadm_load(slot->p, slot->len));
	case EADM_SPEC_TYPE_FLAG:
		return snprintf(buf, size, "1");
	default:
		return eadm_field_text(field, eadm_load(slot->p, slot->len),
				       buf, size);
	}
}
