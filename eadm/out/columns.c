// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns of a table, and the values of a record. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "columns.h"

struct column *column_add(struct table *table)
{
	struct column *col;

	if (!grow(table->cols, table->n_cols, table->max_cols))
		return NULL;
	col = &table->cols[table->n_cols++];
	*col = (struct column){ .unit = "", .help = "" };
	return col;
}

/*
 * Sets the columns of a table that no object describes. A column that lacks a name uses
 * its key, its default type is a string, and it has no unit and no help by default.
 */
int table_of(struct cli *cli, struct table *table, const struct column *cols,
	     unsigned int n)
{
	struct column *col;

	for (; n; n--, cols++) {
		col = column_add(table);
		if (!col)
			return fail(cli, STATUS_FAILED, "columns",
				    "out of memory");
		*col = *cols;
		if (!col->name)
			col->name = col->key;
		if (!col->type)
			col->type = EADM_TYPE_STRING;
		if (!col->unit)
			col->unit = "";
		if (!col->help)
			col->help = "";
	}
	return 0;
}

void columns_free(struct table *table)
{
	free(table->cols);
	table->cols = NULL;
	table->n_cols = 0;
	table->max_cols = 0;
}

static enum json_as json_of_field(const struct eadm_field *field)
{
	if (eadm_field_type(field) == EADM_TYPE_BYTES)
		return JSON_TEXT;
	if (eadm_field_is_hex(field))
		return JSON_HEX;
	if (!eadm_field_value_at(field, 0, NULL))
		return JSON_NUMBER;
	return eadm_field_kind(field) == EADM_KIND_FLAGS ? JSON_NAMES :
							   JSON_NAME;
}

void column_of_field(struct column *col, const struct eadm_field *field)
{
	col->field = field;
	col->type = eadm_field_type(field);
	col->kind = eadm_field_kind(field);
	col->json = json_of_field(field);
	col->name = eadm_field_name(field);
	col->key = eadm_field_key(field);
	col->head = eadm_field_heading(field);
	col->unit = eadm_field_unit(field);
	col->help = eadm_field_help(field);
	col->cut = eadm_field_may_be_cut(field);
}

static int add_new_field(struct table *table, const struct eadm_field *field,
			 bool asked)
{
	struct column *col = column_add(table);

	if (!col)
		return -ENOMEM;
	column_of_field(col, field);
	col->asked = asked;
	return 0;
}

static int add_field(struct table *table, const struct eadm_field *field,
		     bool asked)
{
	unsigned int i;

	for (i = 0; i < table->n_cols; i++) {
		if (table->cols[i].field == field) {
			table->cols[i].asked |= asked;
			table->cols[i].nonzero = false;
			if (asked)
				table->cols[i].stands_in_for = NULL;
			return 0;
		}
	}
	return add_new_field(table, field, asked);
}

/* Adds the fields up to a level; secrets are only shown if requested by name. */
static int add_shown(struct table *table, const struct eadm_object *object,
		     enum eadm_field_show up_to, bool hw)
{
	const struct eadm_field *field, *key = eadm_object_key(object);
	unsigned int i, n = eadm_object_fields(object);
	bool fresh = !table->n_cols;
	int ret = 0;

	for (i = 0; !ret && i < n; i++) {
		field = eadm_object_field(object, i);
		/*
		 * The key is always shown, unless it is only the number of the device.
		 */
		if ((eadm_field_show(field) > up_to &&
		     (field != key ||
		      eadm_field_show(field) == EADM_SHOW_NEVER)) ||
		    eadm_field_kind(field) == EADM_KIND_SECRET ||
		    (eadm_field_is_hw(field) && !hw))
			continue;
		ret = fresh ? add_new_field(table, field, false) :
			      add_field(table, field, false);
		if (!ret && fresh)
			table->cols[table->n_cols - 1].nonzero =
				up_to == EADM_SHOW_NONZERO &&
				eadm_field_show(field) == up_to;
	}
	return ret;
}

int unknown_column(struct cli *cli, const struct eadm_object *object,
		   const char *name)
{
	struct word_list words = { 0 };
	unsigned int i;

	for (i = 0; i < eadm_object_fields(object); i++)
		word_add(&words,
			 eadm_field_name(eadm_object_field(object, i)));
	return unknown_word(cli, name, "unknown column", &words,
			    "see '-o help'");
}

/* Finds a field by name, or by its heading in tables. */
const struct eadm_field *find_column(const struct eadm_object *object,
				     const char *name)
{
	const struct eadm_field *field = eadm_object_find_field(object, name);
	unsigned int i;

	for (i = 0; !field && i < eadm_object_fields(object); i++) {
		field = eadm_object_field(object, i);
		if (strcasecmp(eadm_field_heading(field), name))
			field = NULL;
	}
	return field;
}

static int add_named(struct cli *cli, const struct eadm_object *object,
		     const char *name, bool hw, struct table *table)
{
	const struct eadm_field *field;

	if (!strcmp(name, "all"))
		return add_shown(table, object, EADM_SHOW_NEVER, hw);
	if (!strcmp(name, "wide"))
		return add_shown(table, object, EADM_SHOW_WIDE, hw);
	field = find_column(object, name);
	if (!field)
		return unknown_column(cli, object, name);
	return add_field(table, field, true);
}

static int add_list(struct cli *cli, const struct eadm_object *object,
		    const char *list, bool hw, struct table *table)
{
	char name[64];
	size_t len;
	int ret = 0;

	while (!ret) {
		len = strcspn(list, ",");
		if (!len || len >= sizeof(name))
			return fail(cli, STATUS_USAGE, "--output",
				    "'%s' is not a list of columns", list);
		snprintf(name, sizeof(name), "%.*s", (int)len, list);
		ret = add_named(cli, object, name, hw, table);
		list += len;
		if (!*list)
			break;
		list++;
	}
	return ret;
}

/* Shows each field on a line, because there are many counters but few objects. */
static void make_upright(struct table *table, const struct eadm_object *object)
{
	const struct eadm_field *key = eadm_object_key(object);
	unsigned int i;

	table->layout = LAYOUT_FIELDS;
	for (i = 0; i < table->n_cols; i++) {
		struct column *col = &table->cols[i];

		col->heading = col->field == key ||
			       eadm_field_metric(col->field) ==
				       EADM_METRIC_LABEL;
		/*
		 * Fields in the heading are also shown in the table, not only in JSON.
		 */
		if (col->heading)
			col->json_only = false;
	}
}

/* Adds a column that identifies rows without a key by their number in the RDMA core. */
static int add_stand_in(struct table *table, const struct eadm_object *object)
{
	const struct eadm_field *field, *key = eadm_object_key(object);
	unsigned int before = table->n_cols;
	int ret;

	field = eadm_object_find_field(object, "res-id");
	if (!field || field == key)
		return 0;
	ret = add_field(table, field, false);
	if (!ret && table->n_cols > before)
		table->cols[before].stands_in_for = key;
	return ret;
}

/*
 * Chooses the columns of an object: the default ones, or those given by --output. In
 * JSON, the default columns are all fields that are present.
 */
int columns_choose(struct cli *cli, const struct eadm_object *object, bool hw,
		   struct table *table)
{
	static const char *const identity[] = { "dev-index", "dev-name" };
	const char *list = cli->args.opt[OPT_OUTPUT];
	const struct eadm_field *field;
	bool usual = !list || *list == '+';
	enum eadm_field_perm perm;
	unsigned int i, before;
	int ret = 0;

	/* Fields that require no privilege are read by default. */
	if (eadm_object_hw(object, &perm) && perm == EADM_PERM_NONE)
		hw = true;

	table->object = eadm_object_name(object);
	table->title = eadm_object_title(object);
	table->all = usual;
	if (usual)
		ret = add_shown(table, object,
				eadm_object_is_upright(object) ?
					EADM_SHOW_WIDE : EADM_SHOW_NONZERO, hw);
	if (!ret && usual)
		ret = add_stand_in(table, object);
	if (!ret && list)
		ret = add_list(cli, object, usual ? list + 1 : list, hw,
			       table);
	/* JSON always contains the fields that identify a row. */
	for (i = 0; !ret && i < ARRAY_SIZE(identity); i++) {
		field = eadm_object_find_field(object, identity[i]);
		before = table->n_cols;
		ret = field ? add_field(table, field, false) : 0;
		if (table->n_cols > before)
			table->cols[before].json_only = true;
	}
	if (ret < 0)
		ret = fail(cli, STATUS_FAILED, "columns", "out of memory");
	if (!ret && eadm_object_is_upright(object))
		make_upright(table, object);
	return ret;
}

void list_columns(const struct eadm_object *object)
{
	const struct eadm_field *field;
	const char *unit;
	unsigned int i;

	for (i = 0; i < eadm_object_fields(object); i++) {
		field = eadm_object_field(object, i);
		unit = eadm_field_unit(field);
		printf("%-22s %s%s%s%s\n", eadm_field_name(field),
		       eadm_field_help(field), *unit ? " [" : "", unit,
		       *unit ? "]" : "");
	}
}

/* ---- values ------------------------------------------------------------------- */

static void value_of_field(const struct eadm_record *record,
			   const struct column *col, struct eadm_value *value)
{
	bool there = false;

	switch (col->type) {
	case EADM_TYPE_U64:
		there = !eadm_record_u64(record, col->field, &value->u64);
		break;
	case EADM_TYPE_S64:
		there = !eadm_record_s64(record, col->field, &value->s64);
		break;
	case EADM_TYPE_STRING:
		value->string = eadm_record_string(record, col->field);
		there = value->string;
		break;
	case EADM_TYPE_BYTES:
		value->bytes = eadm_record_bytes(record, col->field,
						 &value->len);
		there = value->bytes;
		break;
	}
	value->type = there ? col->type : (enum eadm_field_type)VALUE_NONE;
}

/* Stores one value for each column, which is absent if the command computes it. */
void values_of_record(const struct table *table,
		      const struct eadm_record *record,
		      struct eadm_value *values)
{
	unsigned int i;

	for (i = 0; i < table->n_cols; i++) {
		if (table->cols[i].field && !table->cols[i].rate)
			value_of_field(record, &table->cols[i], &values[i]);
		else
			values[i].type = (enum eadm_field_type)VALUE_NONE;
	}
}
