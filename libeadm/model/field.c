// SPDX-License-Identifier: LGPL-2.1-or-later
/* Descriptions of objects and fields, based on the derived tables. */
#include <errno.h>
#include <string.h>

#include "record.h"

_Static_assert((int)EADM_KIND_DATA == (int)EADM_SPEC_KIND_DATA &&
	       (int)EADM_KIND_SECRET == (int)EADM_SPEC_KIND_SECRET,
	       "field kinds match the specification");
_Static_assert((int)EADM_SHOW_NEVER == (int)EADM_SPEC_SHOW_NEVER &&
	       (int)EADM_PERM_RAWIO == (int)EADM_SPEC_PERM_RAWIO &&
	       (int)EADM_SETUP_VERSION == (int)EADM_SPEC_SETUP_VERSION,
	       "field attributes match the specification");

_Static_assert((int)EADM_CLASS_MACHINE == (int)EADM_SPEC_CLASS_MACHINE &&
	       (int)EADM_CLASS_EVENTS == (int)EADM_SPEC_CLASS_EVENTS,
	       "object classes match the specification");

_Static_assert((int)EADM_ROWS_PAST == (int)EADM_SPEC_ROWS_PAST &&
	       (int)EADM_METRIC_INFO == (int)EADM_SPEC_METRIC_INFO,
	       "row counts and metric types match the specification");

static char folded(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 'a';
	return c == '_' ? '-' : c;
}

/* Compare names; "-" and "_" are equal, and case is ignored. */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		if (folded(*a) != folded(*b))
			return false;
	}
	return *a == *b;
}

EADM_API const struct eadm_object *
eadm_object_next(const struct eadm_object *object)
{
	if (!object)
		return &eadm_spec_objects[0];
	object++;
	return object < &eadm_spec_objects[EADM_SPEC_OBJ_COUNT] ? object : NULL;
}

EADM_API const struct eadm_object *eadm_object_find(const char *name)
{
	int i;

	for (i = 0; i < EADM_SPEC_OBJ_COUNT; i++) {
		if (same_name(eadm_spec_objects[i].name, name))
			return &eadm_spec_objects[i];
	}
	errno = ENOENT;
	return NULL;
}

/* The object that a command of the companion's family reads. NULL if there is none. */
const struct eadm_object *eadm_object_of_cmd(unsigned int cmd)
{
	int i;

	for (i = 0; i < EADM_SPEC_OBJ_COUNT; i++) {
		if (cmd && eadm_spec_objects[i].cmd == cmd)
			return &eadm_spec_objects[i];
	}
	return NULL;
}

EADM_API enum eadm_object_class eadm_object_class(const struct eadm_object *object)
{
	return (enum eadm_object_class)object->class;
}

EADM_API enum eadm_rows eadm_object_rows(const struct eadm_object *object)
{
	return (enum eadm_rows)object->rows;
}

EADM_API bool eadm_object_has_extras(const struct eadm_object *object)
{
	return object->extras;
}

EADM_API bool eadm_object_is_upright(const struct eadm_object *object)
{
	return object->upright;
}

EADM_API const char *eadm_object_metric(const struct eadm_object *object)
{
	return object->metric;
}

EADM_API const char *eadm_object_name(const struct eadm_object *object)
{
	return object->name;
}

EADM_API const char *eadm_object_title(const struct eadm_object *object)
{
	return object->title;
}

EADM_API const char *eadm_object_help(const struct eadm_object *object)
{
	return object->help;
}

EADM_API const struct eadm_field *
eadm_object_key(const struct eadm_object *object)
{
	return object->key;
}

EADM_API bool eadm_object_hw(const struct eadm_object *object,
			     enum eadm_field_perm *perm)
{
	if (perm)
		*perm = (enum eadm_field_perm)object->hw_perm;
	return object->hw;
}

EADM_API unsigned int eadm_object_fields(const struct eadm_object *object)
{
	return object->n_fields;
}

EADM_API const struct eadm_field *
eadm_object_field(const struct eadm_object *object, unsigned int index)
{
	if (index < object->n_fields)
		return &object->fields[index];
	errno = ENOENT;
	return NULL;
}

EADM_API const struct eadm_field *
eadm_object_find_field(const struct eadm_object *object, const char *name)
{
	char first = folded(*name);
	const char *text;
	unsigned int i;

	for (i = 0; i < object->n_fields; i++) {
		text = eadm_spec_string(object->fields[i].name_at);
		if (*text == first && same_name(text, name))
			return &object->fields[i];
	}
	errno = ENOENT;
	return NULL;
}

EADM_API const char *eadm_field_name(const struct eadm_field *field)
{
	return eadm_spec_string(field->name_at);
}

EADM_API const char *eadm_field_key(const struct eadm_field *field)
{
	return eadm_spec_string(field->c_name_at);
}

EADM_API const char *eadm_field_heading(const struct eadm_field *field)
{
	return eadm_spec_string(field->head_at);
}

EADM_API const char *eadm_field_help(const struct eadm_field *field)
{
	return eadm_spec_string(field->help_at);
}

EADM_API const char *eadm_field_family(const struct eadm_field *field)
{
	return eadm_spec_string(field->family_at);
}

EADM_API const char *eadm_field_unit(const struct eadm_field *field)
{
	return field->unit_at ? eadm_spec_string(field->unit_at) : "";
}

EADM_API enum eadm_field_type eadm_field_type(const struct eadm_field *field)
{
	switch (field->type) {
	case EADM_SPEC_TYPE_S32:
		return EADM_TYPE_S64;
	case EADM_SPEC_TYPE_STRING:
		return EADM_TYPE_STRING;
	case EADM_SPEC_TYPE_BINARY:
		return EADM_TYPE_BYTES;
	default:
		return EADM_TYPE_U64;
	}
}

EADM_API enum eadm_field_kind eadm_field_kind(const struct eadm_field *field)
{
	return (enum eadm_field_kind)field->kind;
}

EADM_API enum eadm_field_show eadm_field_show(const struct eadm_field *field)
{
	return (enum eadm_field_show)field->show;
}

EADM_API enum eadm_field_perm eadm_field_perm(const struct eadm_field *field)
{
	return (enum eadm_field_perm)field->perm;
}

EADM_API bool eadm_field_is_hw(const struct eadm_field *field)
{
	return field->hw;
}

EADM_API enum eadm_setup_kind eadm_field_setup(const struct eadm_field *field)
{
	return (enum eadm_setup_kind)field->setup;
}

EADM_API enum eadm_metric eadm_field_metric(const struct eadm_field *field)
{
	return (enum eadm_metric)field->metric;
}

EADM_API bool eadm_field_may_be_cut(const struct eadm_field *field)
{
	return field->cut;
}

EADM_API bool eadm_field_is_hex(const struct eadm_field *field)
{
	return field->base == 16;
}

EADM_API unsigned int eadm_field_bits(const struct eadm_field *field)
{
	return field->bits ? field->bits : 64;
}

EADM_API const char *eadm_field_value_name(const struct eadm_field *field,
					   uint64_t value)
{
	const struct eadm_spec_enum *names = field->names;
	size_t lo = 0, hi, mid;

	if (!names)
		return NULL;
	/* Most enumerations count from 0 without gaps. */
	if (value < names->n_entries && names->entries[value].value == value)
		return names->entries[value].name;
	hi = names->n_entries;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (names->entries[mid].value == value)
			return names->entries[mid].name;
		if (names->entries[mid].value < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

EADM_API int eadm_field_value_find(const struct eadm_field *field,
				   const char *name, uint64_t *value)
{
	size_t i;

	for (i = 0; field->names && i < field->names->n_entries; i++) {
		if (same_name(field->names->entries[i].name, name)) {
			*value = field->names->entries[i].value;
			return 0;
		}
	}
	return -ENOENT;
}

EADM_API const char *eadm_field_value_at(const struct eadm_field *field,
					 unsigned int index, uint64_t *value)
{
	if (!field->names || index >= field->names->n_entries)
		return NULL;
	if (value)
		*value = field->names->entries[index].value;
	return field->names->entries[index].name;
}
