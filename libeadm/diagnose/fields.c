// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kinds of rows that rules examine, and the fields of these rows, which are found
 * by name.
 */
#include <pthread.h>
#include <string.h>

#include "base/base.h"
#include "model.h"
#include "model/fields.h"

#define DIAG_NAME(name, text) text,
static const char *const dev_names[] = { DIAG_DEV_FIELDS(DIAG_NAME) NULL };
static const char *const cmdq_names[] = { DIAG_CMDQ_FIELDS(DIAG_NAME) NULL };
static const char *const cmd_names[] = { DIAG_CMD_FIELDS(DIAG_NAME) NULL };
static const char *const counters_names[] = {
	DIAG_COUNTERS_FIELDS(DIAG_NAME) NULL
};
static const char *const eq_names[] = { DIAG_EQ_FIELDS(DIAG_NAME) NULL };
static const char *const ctx_names[] = { DIAG_CTX_FIELDS(DIAG_NAME) NULL };
static const char *const cq_names[] = { DIAG_CQ_FIELDS(DIAG_NAME) NULL };
static const char *const qp_names[] = { DIAG_QP_FIELDS(DIAG_NAME) NULL };
static const char *const cqe_names[] = { DIAG_CQE_FIELDS(DIAG_NAME) NULL };
static const char *const failure_names[] = {
	DIAG_FAILURE_FIELDS(DIAG_NAME) NULL
};
static const char *const call_names[] = { DIAG_CALL_FIELDS(DIAG_NAME) NULL };
static const char *const event_names[] = { DIAG_EVENT_FIELDS(DIAG_NAME) NULL };
static const char *const link_names[] = { DIAG_LINK_FIELDS(DIAG_NAME) NULL };
static const char *const health_names[] = { DIAG_HEALTH_FIELDS(DIAG_NAME) NULL };
static const char *const qp_counter_names[] = {
	DIAG_QP_COUNTER_FIELDS(DIAG_NAME) NULL
};
static const char *const cgroup_names[] = {
	DIAG_CGROUP_FIELDS(DIAG_NAME) NULL
};
static const char *const port_names[] = { DIAG_PORT_FIELDS(DIAG_NAME) NULL };
static const char *const user_names[] = { DIAG_USER_FIELDS(DIAG_NAME) NULL };
static const char *const fallback_names[] = {
	DIAG_FALLBACK_FIELDS(DIAG_NAME) NULL
};
static const char *const machine_names[] = {
	DIAG_MACHINE_FIELDS(DIAG_NAME) NULL
};
static const char *const verbs_names[] = { DIAG_VERBS_FIELDS(DIAG_NAME) NULL };
static const char *const module_names[] = {
	DIAG_MODULE_FIELDS(DIAG_NAME) NULL
};
static const char *const setup_names[] = { DIAG_SETUP_FIELDS(DIAG_NAME) NULL };
static const char *const irq_names[] = { DIAG_IRQ_FIELDS(DIAG_NAME) NULL };
static const char *const function_names[] = {
	DIAG_FUNCTION_FIELDS(DIAG_NAME) NULL
};

static const struct {
	const char *object;
	const char *const *fields;
	unsigned int n;
} kinds[DIAG_KINDS] = {
	[DIAG_DEV] = { "dev", dev_names, DIAG_DEV_N },
	[DIAG_CMDQ] = { "cmdq", cmdq_names, DIAG_CMDQ_N },
	[DIAG_CMD] = { "cmd", cmd_names, DIAG_CMD_N },
	[DIAG_COUNTERS] = { "counters", counters_names, DIAG_COUNTERS_N },
	[DIAG_EQ] = { "eq", eq_names, DIAG_EQ_N },
	[DIAG_CTX] = { "ctx", ctx_names, DIAG_CTX_N },
	[DIAG_CQ] = { "cq", cq_names, DIAG_CQ_N },
	[DIAG_QP] = { "qp", qp_names, DIAG_QP_N },
	[DIAG_CQE] = { "cqe", cqe_names, DIAG_CQE_N },
	[DIAG_FAILURE] = { "failure", failure_names, DIAG_FAILURE_N },
	[DIAG_CALL] = { "cmd", call_names, DIAG_CALL_N },
	[DIAG_EVENT] = { "event", event_names, DIAG_EVENT_N },
	[DIAG_LINK] = { "link", link_names, DIAG_LINK_N },
	[DIAG_HEALTH] = { "health", health_names, DIAG_HEALTH_N },
	[DIAG_QP_COUNTER] = { "qp-counter", qp_counter_names, DIAG_QP_COUNTER_N },
	[DIAG_CGROUP] = { "cgroup", cgroup_names, DIAG_CGROUP_N },
	[DIAG_PORT] = { "port", port_names, DIAG_PORT_N },
	[DIAG_USER] = { "verbs-user", user_names, DIAG_USER_N },
	[DIAG_FALLBACK] = { "smc-fallback", fallback_names, DIAG_FALLBACK_N },
	[DIAG_MACHINE] = { "machine", machine_names, DIAG_MACHINE_N },
	[DIAG_VERBS] = { "verbs", verbs_names, DIAG_VERBS_N },
	[DIAG_MODULE] = { "module", module_names, DIAG_MODULE_N },
	[DIAG_SETUP] = { "setup", setup_names, DIAG_SETUP_N },
	[DIAG_IRQ] = { "irq", irq_names, DIAG_IRQ_N },
	[DIAG_FUNCTION] = { "function", function_names, DIAG_FUNCTION_N },
};

_Static_assert(DIAG_DEV_N <= 64 && DIAG_CMDQ_N <= 64 && DIAG_CMD_N <= 64 &&
	       DIAG_COUNTERS_N <= 64 && DIAG_EQ_N <= 64 && DIAG_CTX_N <= 64 &&
	       DIAG_CQ_N <= 64 && DIAG_QP_N <= 64 && DIAG_CQE_N <= 64 &&
	       DIAG_FAILURE_N <= 64 && DIAG_CALL_N <= 64 &&
	       DIAG_EVENT_N <= 64 && DIAG_MACHINE_N <= 64 && DIAG_VERBS_N <= 64 &&
	       DIAG_MODULE_N <= 64 && DIAG_SETUP_N <= 64 && DIAG_IRQ_N <= 64 &&
	       DIAG_FUNCTION_N <= 64,
	       "one bit for each field");

/*
 * Compares the first letter first: most of the hundreds of names already differ in it.
 */
static bool is_named(const struct eadm_field *field, const char *name)
{
	const char *text = eadm_spec_string(field->name_at);

	return *text == *name && !strcmp(text, name);
}

/*
 * Names are mostly looked up in the order of the object's fields: search from index
 * *@at on.
 */
static const struct eadm_field *find_field(const struct eadm_object *object,
					   const char *name, unsigned int *at)
{
	unsigned int i;

	for (i = 0; i < object->n_fields; i++, ++*at) {
		if (*at >= object->n_fields)
			*at = 0;
		if (is_named(&object->fields[*at], name))
			return &object->fields[*at];
	}
	return NULL;
}

static bool is_state(const char *name)
{
	const char *last = strrchr(name, '-');

	return !strcmp(last ? last : name, "-state");
}

/*
 * Fields are compared by name, because another family may have a different field with the
 * same name.
 */
static unsigned int slot_of(const struct diag_fields *f,
			    const struct eadm_field *field)
{
	const char *name = eadm_spec_string(field->name_at);
	unsigned int i;

	for (i = 0; i < f->n; i++) {
		if (f->field[i] && is_named(f->field[i], name))
			return i;
	}
	return f->n;
}

/* Adds the family-specific states of an object: no rule evaluates them, but verdicts show them. */
static void add_family_states(struct diag_fields *f)
{
	const struct eadm_field *field;
	unsigned int i;

	f->n = f->n_named;
	for (i = 0; i < f->n_all && f->n < EADM_ARRAY_SIZE(f->field); i++) {
		field = eadm_object_field(f->object, i);
		if (eadm_field_family(field) && !eadm_field_is_hw(field) &&
		    is_state(eadm_field_name(field)) &&
		    slot_of(f, field) == f->n)
			f->field[f->n++] = field;
	}
}

static void add_slots(struct diag_fields *f)
{
	const struct eadm_field *field;
	unsigned int i;

	memset(f->slot, f->n, sizeof(f->slot));
	for (i = 0; i < f->n; i++) {
		if (f->field[i])
			f->slot[f->field[i] - f->object->fields] = i;
	}
	for (i = 0; i < f->n_all; i++) {
		field = &f->object->fields[i];
		if (field->family_at && f->slot[i] == f->n)
			f->slot[i] = slot_of(f, field);
		if (f->slot[i] < f->n)
			f->wanted[(field->slot - 1) / 64] |=
				1ULL << (field->slot - 1) % 64;
	}
}

static void find_fields(enum diag_kind kind, struct diag_fields *f)
{
	unsigned int i, at = 0;

	f->object = eadm_object_find(kinds[kind].object);
	f->n_named = kinds[kind].n;
	f->n_all = eadm_object_fields(f->object);
	f->dev_index = eadm_object_find_field(f->object, "dev-index");
	f->dev_name = eadm_object_find_field(f->object, "dev-name");
	for (i = 0; i < f->n_named; i++)
		f->field[i] = find_field(f->object, kinds[kind].fields[i], &at);
	add_family_states(f);
	add_slots(f);
}

/*
 * The fields are the same for all diagnoses, most of which do not need all kinds of rows.
 */
const struct diag_fields *eadm_diag_fields(enum diag_kind kind)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct diag_fields fields[DIAG_KINDS];

	pthread_mutex_lock(&lock);
	if (!fields[kind].object)
		find_fields(kind, &fields[kind]);
	pthread_mutex_unlock(&lock);
	return &fields[kind];
}

const char *eadm_diag_kind_name(enum diag_kind kind)
{
	return kinds[kind].object;
}
