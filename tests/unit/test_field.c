// SPDX-License-Identifier: GPL-2.0-or-later
/* Descriptions: names, values, and that the tables fit the library's limits. */
#include <errno.h>
#include <string.h>

#include "diagnose/model.h"
#include "model/attr.h"
#include "model/counters.h"
#include "model/record.h"
#include "tap.h"

static void walk_all(void)
{
	const struct eadm_object *object = NULL;
	bool fit = true, keys = true, found = true, order = true;
	unsigned int i, n = 0;

	while ((object = eadm_object_next(object))) {
		n++;
		fit &= object->max_attr < EADM_MAX_FIELDS &&
		       object->fields[object->n_fields - 1].slot <=
			       EADM_MAX_FIELDS;
		keys &= eadm_object_key(object) != NULL;
		found &= eadm_object_find(eadm_object_name(object)) == object;
		for (i = 0; i < eadm_object_fields(object); i++) {
			const struct eadm_field *f =
				eadm_object_field(object, i);

			found &= eadm_object_find_field(
					 object, eadm_field_name(f)) == f;
			order &= !i || f[-1].slot < f->slot;
			order &= object->by_slot[f->slot] == (int)i;
		}
		errno = 0;
		found &= !eadm_object_field(object, i) && errno == ENOENT;
	}
	ok(n == EADM_SPEC_OBJ_COUNT, "the walk meets every object");
	ok(fit, "attributes fit a record's slots");
	ok(keys, "every object has a key");
	ok(found, "objects and fields are found by name");
	ok(order, "fields are in the order of their attributes");
}

static void names(void)
{
	const struct eadm_object *qp = eadm_object_find("qp");
	const struct eadm_object *dev = eadm_object_find("dev");
	const struct eadm_field *state = eadm_object_find_field(qp, "state");
	const struct eadm_field *caps = eadm_object_find_field(dev, "caps");
	const struct eadm_field *type = eadm_object_find_field(qp, "type");
	char text[64];
	uint64_t v;

	ok(eadm_object_find_field(qp, "sq_pi") ==
		   eadm_object_find_field(qp, "sq-pi"),
	   "underscore and dash are the same in a name");
	errno = 0;
	ok(!eadm_object_find("nothing") && errno == ENOENT,
	   "an unknown object is told");
	errno = 0;
	ok(!eadm_object_find_field(qp, "sq") && errno == ENOENT,
	   "the beginning of a name is not the name");
	ok(!strcmp(eadm_field_value_name(state, 3), "rts"),
	   "a state has a name");
	ok(!eadm_field_value_name(state, 99), "an unknown state has none");
	ok(!strcmp(eadm_field_value_name(type, 255), "driver") &&
		   !strcmp(eadm_field_value_name(type, 8), "raw-packet") &&
		   !eadm_field_value_name(type, 7),
	   "values with gaps between them are found");
	ok(!eadm_field_value_find(state, "err", &v) && v == 6,
	   "a state is found by name");
	ok(eadm_field_value_find(state, "erro", &v) == -ENOENT,
	   "a wrong name is told");
	ok(eadm_field_text(caps, 1 | 2 | 1 << 9, text, sizeof(text)) ==
			   (int)strlen("atomic,query-contexts,unknown(512)") &&
		   !strcmp(text, "atomic,query-contexts,unknown(512)"),
	   "flags are a list, unknown ones by number");
	ok(eadm_field_text(caps, 3, text, 4) == 21 && !strcmp(text, "ato"),
	   "text that does not fit is cut and its length told");
	ok(eadm_field_bits(state) == 64, "a number has 64 bits by default");
}

static void counters(void)
{
	const struct eadm_object *object =
		&eadm_spec_objects[EADM_SPEC_OBJ_COUNTERS];
	bool sorted = true, exist = true;
	size_t i;

	for (i = 0; i < eadm_counter_names_count; i++) {
		const struct eadm_counter_name *c = &eadm_counter_names[i];

		sorted &= !i || strcmp(c[-1].name, c->name) < 0;
		exist &= c->attr <= object->max_attr &&
			 object->by_slot[c->attr] >= 0 &&
			 object->fields[object->by_slot[c->attr]].kind ==
				 EADM_SPEC_KIND_COUNTER;
	}
	ok(sorted, "the counter dictionary is sorted");
	ok(exist, "every canonical counter exists");
}

/* What rules count by: the families' widths, and what they make of them. */
static void widths(void)
{
	static const unsigned char bits[] = { 16, 24, 0 };
	static const unsigned char place[] = { 0, 1, 2 };
	union diag_value now_values[] = { { 2 }, { 1 }, { 5 } };
	union diag_value then_values[] = { { 65534 }, { 0xffffff }, { 9 } };
	const struct diag_row now = { .has = 7, .bits = bits,
				      .place = place, .value = now_values };
	const struct diag_row then = { .has = 3, .bits = bits,
				       .place = place, .value = then_values };
	const struct eadm_family *family = NULL;
	const struct eadm_object *object;
	bool known = true;
	unsigned int i;

	while ((family = eadm_family_next(family))) {
		/* Of most only the names are known. */
		if (!eadm_family_index_bits(family, "sq"))
			continue;
		for (object = NULL; (object = eadm_object_next(object));) {
			for (i = 0; i < eadm_object_fields(object); i++) {
				const char *index = eadm_spec_string(
					object->fields[i].index_at);

				known &= !index || eadm_family_index_bits(
							   family, index);
			}
		}
	}
	ok(known, "a family has a width for every index");
	ok(diag_growth(&now, &then, 0) == 4 && diag_growth(&now, &then, 1) == 2,
	   "growth goes over the end at the width of the field");
	ok(!diag_growth(&now, &then, 2),
	   "what was not known before has not grown");
	ok(diag_bits(&now, 2) == 64 && !diag_distance(5, 9, 64) &&
		   diag_distance(9, 5, 64) == 4,
	   "without a width a smaller number is a new beginning");
	ok(diag_apart(&then, 0, 1) == ((65534 - 0xffffffU) & 0xffff),
	   "the distance of two indices has the width of the first");
}

int main(void)
{
	walk_all();
	names();
	counters();
	widths();
	return done();
}
