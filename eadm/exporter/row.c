// SPDX-License-Identifier: GPL-2.0-or-later
/* The values of a row by field; the library returns them all in one call. */
#include <stdlib.h>
#include <string.h>

#include "exporter.h"

struct place place_at(const struct eadm_object *object, unsigned int at)
{
	const struct eadm_field *field = eadm_object_field(object, at);
	const char *key = field ? eadm_field_key(field) : NULL;

	if (key && !strcmp(key, "dev_name"))
		key = "device";
	/* "index" alone would be too vague for event queues. */
	if (key && !strcmp(key, "index"))
		key = eadm_object_name(object);
	return (struct place){ field, at, key };
}

/* @field: a field of the object, or NULL. */
struct place place_in(const struct eadm_object *object,
		      const struct eadm_field *field)
{
	unsigned int at = 0, n = eadm_object_fields(object);

	while (at < n && eadm_object_field(object, at) != field)
		at++;
	return place_at(object, at);
}

struct place place_find(const struct eadm_object *object, const char *name)
{
	return place_in(object, eadm_object_find_field(object, name));
}

/* Returns false if out of memory. */
bool row_init(struct row *row, unsigned int max_fields)
{
	if (!row->values)
		row->values = malloc(max_fields * sizeof(*row->values));
	/* The additional element stands for fields that the object does not have. */
	if (!row->number)
		row->number = malloc((max_fields + 1) * sizeof(*row->number));
	return row->values && row->number;
}

void row_release(struct row *row)
{
	free(row->values);
	free(row->number);
}

/* The values of the row are valid as long as the record is. */
void row_take(struct row *row, unsigned int n_fields,
	      const struct eadm_record *record)
{
	unsigned int i, n = eadm_record_values(record, row->values, n_fields);

	row->record = record;
	memset(row->number, 0, (n_fields + 1) * sizeof(*row->number));
	for (i = 0; i < n; i++)
		row->number[row->values[i].index] = i + 1;
}

/* Returns NULL if the value is absent or not a string. */
const char *row_string(const struct row *row, const struct place *place)
{
	const struct eadm_value *value = row_value(row, place);

	return value && value->type == EADM_TYPE_STRING ? value->string : NULL;
}

/*
 * Returns a value as text, truncated to @size and possibly stored in @buf; NULL if it
 * is absent.
 */
const char *row_text(const struct row *row, const struct place *place,
		     char *buf, size_t size)
{
	const struct eadm_value *value = row_value(row, place);

	if (!value)
		return NULL;
	if (value->type == EADM_TYPE_STRING &&
	    strnlen(value->string, size) < size)
		return value->string;
	if (value->type == EADM_TYPE_U64)
		eadm_field_text(place->field, value->u64, buf, size);
	else	/* only the library knows the usual form of an address */
		eadm_record_text(row->record, place->field, buf, size);
	return buf;
}
