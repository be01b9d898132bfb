// SPDX-License-Identifier: GPL-2.0-or-later
/* Stored rows, and their order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "columns.h"
#include "rows.h"

bool rows_add(struct rows *rows, const struct eadm_record *record)
{
	if (!grow(rows->row, rows->n, rows->max))
		return false;
	rows->row[rows->n] = eadm_record_new(record);
	return rows->row[rows->n] && ++rows->n;
}

void rows_free(struct rows *rows)
{
	size_t i;

	for (i = 0; i < rows->n; i++)
		eadm_record_free(rows->row[i]);
	free(rows->row);
	*rows = (struct rows){ 0 };
}

/*
 * Computes the growth of a counter, even if it has wrapped around. Returns false if it
 * was reset.
 */
bool counter_growth(const struct eadm_field *field, uint64_t before,
		    uint64_t now, uint64_t *growth)
{
	unsigned int bits = eadm_field_bits(field);

	/* A 64-bit counter never wraps, so it was reset. */
	if (bits >= 64 && now < before)
		return false;
	*growth = now - before;
	if (bits < 64)
		*growth &= (1ULL << bits) - 1;
	return true;
}

/* ---- order ------------------------------------------------------------------- */

static int compare_bytes(const struct eadm_record *a,
			 const struct eadm_record *b,
			 const struct eadm_field *field)
{
	size_t n, m;
	const void *x = eadm_record_bytes(a, field, &n);
	const void *y = eadm_record_bytes(b, field, &m);

	/* IPv4 addresses come before IPv6 addresses. */
	if (n != m)
		return n < m ? -1 : 1;
	return memcmp(x, y, n);
}

static int compare_values(const struct eadm_record *a,
			  const struct eadm_record *b,
			  const struct eadm_field *field)
{
	uint64_t x = 0, y = 0;
	int64_t s = 0, t = 0;

	switch (eadm_field_type(field)) {
	case EADM_TYPE_U64:
		eadm_record_u64(a, field, &x);
		eadm_record_u64(b, field, &y);
		return x < y ? -1 : x > y;
	case EADM_TYPE_S64:
		eadm_record_s64(a, field, &s);
		eadm_record_s64(b, field, &t);
		return s < t ? -1 : s > t;
	case EADM_TYPE_STRING:
		return strcmp(eadm_record_string(a, field),
			      eadm_record_string(b, field));
	default:
		return compare_bytes(a, b, field);
	}
}

static int compare(const void *a, const void *b, void *data)
{
	const struct eadm_record *x = *(struct eadm_record *const *)a;
	const struct eadm_record *y = *(struct eadm_record *const *)b;
	const struct sort *sort = data;
	unsigned int i;
	int ret;

	for (i = 0; i < sort->n; i++) {
		const struct eadm_field *field = sort->key[i].field;
		bool has = eadm_record_has(x, field);

		/* Absent values come last in either direction. */
		if (has != eadm_record_has(y, field))
			return has ? -1 : 1;
		ret = has ? compare_values(x, y, field) : 0;
		if (ret)
			return sort->key[i].down ? -ret : ret;
	}
	return 0;
}

void rows_sort(struct rows *rows, const struct sort *sort)
{
	/* qsort_r() does not accept NULL, even with zero elements. */
	if (rows->n)
		qsort_r(rows->row, rows->n, sizeof(*rows->row), compare,
			(void *)sort);
}

static int add_key(struct cli *cli, const struct eadm_object *object,
		   char *name, struct sort *sort)
{
	char *colon = strchr(name, ':');
	const struct eadm_field *field;

	if (colon)
		*colon++ = '\0';
	if (colon && strcmp(colon, "desc") && strcmp(colon, "asc"))
		return fail(cli, STATUS_USAGE, colon,
			    "not a sort order (asc or desc)");
	field = find_column(object, name);
	if (!field)
		return unknown_column(cli, object, name);
	if (sort->n == MAX_SORT)
		return fail(cli, STATUS_USAGE, "--sort",
			    "at most %d columns", MAX_SORT);
	sort->key[sort->n].field = field;
	sort->key[sort->n++].down = colon && *colon == 'd';
	return 0;
}

/* Adds keys that give equal rows a fixed order, so that they do not swap places. */
static void add_identity(const struct eadm_object *object, struct sort *sort)
{
	sort->key[sort->n++].field =
		eadm_object_find_field(object, "dev-index");
	sort->key[sort->n++].field = eadm_object_key(object);
}

/* Parses --sort A,B:desc. */
int sort_init(struct cli *cli, const struct eadm_object *object,
	      struct sort *sort)
{
	const char *list = cli->args.opt[OPT_SORT];
	char name[64];
	size_t len;
	int ret = 0;

	*sort = (struct sort){ 0 };
	while (list && !ret) {
		len = strcspn(list, ",");
		if (!len || len >= sizeof(name))
			return fail(cli, STATUS_USAGE, "--sort",
				    "'%s' is not a list of columns", list);
		snprintf(name, sizeof(name), "%.*s", (int)len, list);
		ret = add_key(cli, object, name, sort);
		list = list[len] ? list + len + 1 : NULL;
	}
	if (sort->n && !ret)
		add_identity(object, sort);
	return ret;
}
