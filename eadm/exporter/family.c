// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of metrics, derived from libeadm's descriptions of objects and fields. A new
 * counter or gauge of the library becomes a metric automatically.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "exporter.h"

/*
 * Returns true for the contents of the flight recorder: commands and their latencies.
 */
static bool is_recorded(const struct eadm_object *object)
{
	return eadm_object_rows(object) == EADM_ROWS_PAST &&
	       eadm_object_find_field(object, "latency");
}

/*
 * Returns true if an object is exported by default: the flight recorder, or an object
 * that requires no privilege and of which each device has only a few. Labels
 * distinguish the rows.
 */
static bool is_usual(const struct eadm_object *object)
{
	enum eadm_rows rows;

	if (!object || eadm_object_class(object) != EADM_CLASS_ROWS)
		return false;
	rows = eadm_object_rows(object);
	return rows == EADM_ROWS_FEW || rows == EADM_ROWS_FIXED ||
	       is_recorded(object);
}

/*
 * Returns true if reading the object always queries the adapter and can therefore hang.
 */
static bool may_hang(const struct eadm_object *object)
{
	enum eadm_field_perm perm;

	return eadm_object_hw(object, &perm) && perm == EADM_PERM_NONE;
}

bool model_has_collector(const char *name)
{
	return is_usual(eadm_object_find(name)) || !strcmp(name, "diagnose");
}

/*
 * Returns true for an object whose rows describe the environment of devices, do not
 * come from drivers, and have counters or descriptions.
 */
static bool surrounds(const struct eadm_object *object)
{
	const struct eadm_field *field, *name =
		eadm_object_find_field(object, "dev-name");
	unsigned int i;

	if (eadm_object_class(object) != EADM_CLASS_MACHINE || !name ||
	    eadm_field_metric(name) != EADM_METRIC_LABEL)
		return false;
	for (i = 0; i < eadm_object_fields(object); i++) {
		field = eadm_object_field(object, i);
		if (eadm_field_metric(field) == EADM_METRIC_INFO ||
		    (eadm_field_kind(field) == EADM_KIND_COUNTER &&
		     eadm_field_metric(field) == EADM_METRIC_VALUE))
			return true;
	}
	return false;
}

static bool is_offered(const struct eadm_object *object)
{
	return surrounds(object) ||
	       (eadm_object_class(object) == EADM_CLASS_ROWS &&
		eadm_object_rows(object) == EADM_ROWS_MANY);
}

/* Returns true if there can be separate series for each object of this kind. */
bool model_offers(const char *object)
{
	const struct eadm_object *found = eadm_object_find(object);

	return found && is_offered(found);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static int add_family(struct model *model, enum metric_type type,
		      enum metric_unit unit, const char *help, const char *name,
		      unsigned int *index)
{
	static const char *const suffix[] = {
		[METRIC_BYTES] = "_bytes", [METRIC_NS] = "_seconds",
	};
	struct family *family;

	if (!grow(model->families, model->n_families, model->max_families))
		return -ENOMEM;
	family = &model->families[model->n_families];
	*family = (struct family){ .type = type, .unit = unit };
	family->name = text_join(name, suffix[unit] &&
				 !ends_with(name, suffix[unit]) ?
					 suffix[unit] : "");
	family->help = strdup(help);
	*index = model->n_families++;
	return family->name && family->help ? 0 : -ENOMEM;
}

static enum metric_unit unit_of(const struct eadm_field *field)
{
	if (!strcmp(eadm_field_unit(field), "bytes"))
		return METRIC_BYTES;
	if (!strcmp(eadm_field_unit(field), "ns"))
		return METRIC_NS;
	return METRIC_PLAIN;
}

/*
 * Excludes fields that require a privilege, and fields from the adapter unless each
 * read queries it anyway.
 */
static bool may_show(const struct collector *c, const struct eadm_field *field)
{
	if (eadm_field_perm(field) != EADM_PERM_NONE)
		return false;
	return !eadm_field_is_hw(field) || may_hang(c->object);
}

static bool is_label(const struct collector *c, const struct eadm_field *field)
{
	unsigned int i;

	for (i = 0; i < c->n_labels; i++) {
		if (c->label[i].field == field)
			return true;
	}
	return false;
}

static bool is_value(const struct eadm_field *field)
{
	enum eadm_metric metric = eadm_field_metric(field);

	if (metric != EADM_METRIC_VALUE && metric != EADM_METRIC_SUM)
		return false;
	/* Narrower counters can wrap several times between two scrapes. */
	return eadm_field_type(field) == EADM_TYPE_U64 &&
	       (eadm_field_kind(field) != EADM_KIND_COUNTER ||
		eadm_field_bits(field) == 64);
}

/* @prefix: prefix of the family's name, to which the field's key is appended. */
static int add_field(struct model *model, struct collector *c,
		     const char *prefix, struct place place)
{
	const struct eadm_field *field = place.field;
	bool counter = eadm_field_kind(field) == EADM_KIND_COUNTER;
	char *name = text_join(prefix, eadm_field_key(field));
	struct family_field *f = &c->fields[c->n_fields];
	int ret;

	if (!name)
		return -ENOMEM;
	f->place = place;
	f->names = eadm_field_value_at(field, 0, NULL) != NULL;
	c->n_fields++;
	ret = add_family(model, counter ? METRIC_COUNTER : METRIC_GAUGE,
			 unit_of(field), eadm_field_help(field), name,
			 &f->family);
	free(name);
	return ret;
}

static int add_info(struct model *model, struct collector *c)
{
	char name[64], help[200];

	snprintf(name, sizeof(name), "eadm_%s", eadm_object_metric(c->object));
	snprintf(help, sizeof(help),
		 "Names and numbers of %s as labels, for use in joins; always 1.",
		 eadm_object_title(c->object));
	return add_family(model, METRIC_INFO, METRIC_PLAIN, help, name,
			  &c->info_family);
}

/* The result is valid until the next call; NULL if out of memory. */
static struct collector *add_collector(struct model *model)
{
	struct collector *c;

	if (!grow(model->collectors, model->n_collectors, model->max_collectors))
		return NULL;
	c = &model->collectors[model->n_collectors++];
	*c = (struct collector){ 0 };
	return c;
}

static void add_labels(struct collector *c)
{
	const struct eadm_field *field;
	unsigned int i;

	for (i = 0; i < eadm_object_fields(c->object); i++) {
		field = eadm_object_field(c->object, i);
		if (eadm_field_metric(field) == EADM_METRIC_LABEL &&
		    c->n_labels < MAX_LABELS - 1)
			c->label[c->n_labels++] = place_at(c->object, i);
	}
	/*
	 * The key comes last, because it may be unknown and is then replaced by a
	 * different field.
	 */
	if (c->per_object)
		c->label[c->n_labels++] = c->key;
}

static void list_field(const struct eadm_field ***end, const struct place *place)
{
	if (place->field)
		*(*end)++ = place->field;
}

/* Lists the fields of the collector, because only these are read. */
static int list_fields(struct collector *c)
{
	unsigned int i, n = 4 + c->n_labels + c->n_fields + c->n_info;
	const struct eadm_field **end;

	c->all = end = calloc(n + 1, sizeof(*end));
	if (!end)
		return -ENOMEM;
	list_field(&end, &c->key);
	list_field(&end, &c->age);
	list_field(&end, &c->pid);
	list_field(&end, &c->spare);
	for (i = 0; i < c->n_labels; i++)
		list_field(&end, &c->label[i]);
	for (i = 0; i < c->n_fields; i++)
		list_field(&end, &c->fields[i].place);
	for (i = 0; i < c->n_info; i++)
		list_field(&end, &c->info[i]);
	return 0;
}

/* Adds a collector for the rows of an object. */
static int add_rows(struct model *model, const struct eadm_object *object,
		    bool per_object)
{
	struct collector *c = add_collector(model);
	unsigned int i, n = eadm_object_fields(object);
	const struct eadm_field *field;
	char prefix[96], name[96];
	int ret = 0;

	if (!c)
		return -ENOMEM;
	c->object = object;
	c->key = place_in(object, eadm_object_key(object));
	c->name = eadm_object_name(object);
	c->per_device = eadm_object_key(object) ==
			eadm_object_find_field(object, "dev-index");
	c->per_object = per_object && !c->per_device;
	c->steady = eadm_object_rows(object) == EADM_ROWS_FIXED;
	if (c->per_device)
		c->age = place_find(object, "age");
	if (c->per_object)
		c->spare = place_find(object, "res-id");
	add_labels(c);
	c->fields = malloc(n * sizeof(*c->fields));
	c->info = malloc(n * sizeof(*c->info));
	if (!c->fields || !c->info)
		return -ENOMEM;
	/* Individual commands are not exported as series; recorder.c counts them. */
	if (is_recorded(object)) {
		model->recorder = c - model->collectors;
		recorder_fields_find(object, &model->recorder_fields);
		return 0;
	}
	snprintf(prefix, sizeof(prefix), "eadm_%s_", eadm_object_metric(object));
	for (i = 0; !ret && i < n; i++) {
		field = eadm_object_field(object, i);
		if (!may_show(c, field) || is_label(c, field))
			continue;
		if (eadm_field_metric(field) == EADM_METRIC_INFO)
			c->info[c->n_info++] = place_at(object, i);
		else if (is_value(field))
			ret = add_field(model, c, prefix, (struct place){ field, i });
	}
	if (!ret && c->n_info)
		ret = add_info(model, c);
	if (!ret && per_object)
		ret = list_fields(c);
	c->others = eadm_object_has_extras(object);
	snprintf(name, sizeof(name), "eadm_%s_other",
		 eadm_object_metric(object));
	if (!ret && c->others)
		ret = add_family(
			model, METRIC_UNKNOWN, METRIC_PLAIN,
			"Counters without a common name, named as by the driver.",
			name, &c->other_family);
	return ret;
}

/* Returns true if the sum over objects is meaningful. */
static bool adds_up(const struct eadm_field *field)
{
	return eadm_field_kind(field) == EADM_KIND_COUNTER ||
	       eadm_field_metric(field) == EADM_METRIC_SUM;
}

static int add_sums(struct model *model, const struct eadm_object *object,
		    bool pods)
{
	struct collector *c = add_collector(model);
	unsigned int i, n = eadm_object_fields(object);
	const struct eadm_field *field;
	char prefix[64], name[96], help[128];
	int ret = 0;

	if (!c)
		return -ENOMEM;
	c->object = object;
	c->key = place_in(object, eadm_object_key(object));
	c->name = eadm_object_name(object);
	c->sums = true;
	c->pods = pods;
	if (pods)
		c->pid = place_find(object, "pid");
	c->label[c->n_labels++] = place_find(object, "dev-name");
	c->label[c->n_labels++] = place_find(object, "comm");
	c->fields = malloc(n * sizeof(*c->fields));
	if (!c->fields)
		return -ENOMEM;
	snprintf(prefix, sizeof(prefix), "eadm_process_%s_", c->name);
	snprintf(name, sizeof(name), "%sobjects", prefix);
	snprintf(help, sizeof(help), "Number of %s by command name%s.",
		 eadm_object_title(object), pods ? ", pod and container" : "");
	ret = add_family(model, METRIC_GAUGE, METRIC_PLAIN, help, name,
			 &c->count_family);
	for (i = 0; !ret && i < n; i++) {
		field = eadm_object_field(object, i);
		if (!may_show(c, field) || eadm_field_is_hw(field) ||
		    !adds_up(field) || !is_value(field))
			continue;
		ret = add_field(model, c, prefix, (struct place){ field, i });
		/* The counts of destroyed objects are lost, so the sum can decrease. */
		model->families[c->fields[c->n_fields - 1].family].type =
			METRIC_GAUGE;
	}
	return ret ? ret : list_fields(c);
}

/*
 * The diagnosis does not read an object; it examines the objects of the other collectors.
 */
static int add_diagnosis(struct model *model)
{
	struct collector *c = add_collector(model);

	if (!c)
		return -ENOMEM;
	c->name = "diagnose";
	return 0;
}

static int add_own(struct model *model)
{
	static const struct {
		const char *name, *help;
		enum metric_type type;
		enum metric_unit unit;
	} own[OWN_MAX] = {
		[OWN_BUILD] = { "eadm_exporter_build",
			"Version of the exporter; always 1.", METRIC_INFO },
		[OWN_DEVICES] = { "eadm_devices", "Number of RDMA devices." },
		[OWN_SUCCESS] = { "eadm_scrape_collector_success",
			"1 if the collector read this device in time." },
		[OWN_DURATION] = { "eadm_scrape_collector_duration",
			"Time that the collector took to read this device.",
			METRIC_GAUGE, METRIC_NS },
		[OWN_TRUNCATED] = { "eadm_scrape_collector_truncated",
			"1 if series are missing: too many series or devices, devices of the same name, or objects that changed while they were read." },
		[OWN_SKIPPED] = { "eadm_collector_skipped",
			"Objects without a pod label because their process could not be looked up." },
		[OWN_SCRAPE] = { "eadm_scrape_duration",
			"Duration of this scrape.", METRIC_GAUGE, METRIC_NS },
		[OWN_LATENCY] = { "eadm_cmd_latency",
			"Time from submission of a command to its completion or failure, by operation, from the flight recorder or the probe.",
			METRIC_HISTOGRAM, METRIC_NS },
		[OWN_RECORDS] = { "eadm_cmd_records",
			"Finished commands by operation and outcome, from the flight recorder or the probe.",
			METRIC_COUNTER },
		[OWN_LOST] = { "eadm_cmd_records_lost",
			"Commands whose records were overwritten before they were read.",
			METRIC_COUNTER },
		[OWN_VERDICTS] = { "eadm_diagnose_verdicts",
			"Verdicts of the last diagnosis by severity." },
		[OWN_FINDINGS] = { "eadm_diagnose_findings",
			"Verdicts of the last diagnosis by rule; a rule that found nothing is absent." },
		[OWN_UNAPPLIED] = { "eadm_diagnose_rules_unapplied",
			"Rules that the last diagnosis could not apply, by reason; rules that do not apply to the device are not counted." },
		[OWN_DIAGNOSED] = { "eadm_diagnose_age",
			"Time since the last diagnosis.", METRIC_GAUGE,
			METRIC_NS },
		[OWN_CONNECTIONS] = { "eadm_exporter_connections",
			"Open client connections." },
		[OWN_EVICTED] = { "eadm_exporter_connections_evicted",
			"Client connections closed because they were slow or over the limit.",
			METRIC_COUNTER },
		[OWN_AUTH_FAILURES] = { "eadm_exporter_auth_failures",
			"Requests without valid credentials.",
			METRIC_COUNTER },
		[OWN_RELOAD] = { "eadm_exporter_reload_success",
			"0 if the last reload of the web configuration failed or exceeded 5 seconds, otherwise 1." },
		[OWN_CPU] = { "process_cpu",
			"Total user and system CPU time spent in seconds.",
			METRIC_COUNTER, METRIC_NS },
		[OWN_MEMORY] = { "process_resident_memory",
			"Resident memory size in bytes.", METRIC_GAUGE,
			METRIC_BYTES },
		[OWN_START] = { "process_start_time",
			"Start time of the process since unix epoch in seconds.",
			METRIC_GAUGE, METRIC_NS },
	};
	int i, ret = 0;

	for (i = 0; !ret && i < OWN_MAX; i++)
		ret = add_family(model, own[i].type, own[i].unit, own[i].help,
				 own[i].name, &model->own[i]);
	return ret;
}

static bool in_list(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *p = list;

	while (p && (p = strstr(p, name))) {
		if ((p == list || p[-1] == ',') &&
		    (p[len] == ',' || !p[len]))
			return true;
		p += len;
	}
	return false;
}

/* Adds the default collectors; those that can hang come last. */
static int add_usual(struct model *model, const char *collectors, bool hangs)
{
	const struct eadm_object *object = NULL;
	int ret = 0;

	while (!ret && (object = eadm_object_next(object))) {
		if (is_usual(object) && may_hang(object) == hangs &&
		    (!collectors ||
		     in_list(collectors, eadm_object_name(object))))
			ret = add_rows(model, object, false);
	}
	return ret;
}

/*
 * @collectors: valid names separated by commas, or NULL for all. @objects: the same for
 * objects with separate series, or NULL for none. @formats: formats of responses, a set
 * of 1 << FORMAT_*. Return: 0 or -ENOMEM.
 */
int model_make(struct model *model, const char *collectors,
	       const char *objects, enum sums sums, bool diagnose,
	       unsigned int formats)
{
	const struct eadm_object *object = NULL;
	unsigned int i;
	int ret;

	*model = (struct model){ .recorder = -1 };
	ret = add_own(model);
	/* These collectors come first, because reading port counters can hang. */
	while (!ret && objects && (object = eadm_object_next(object))) {
		if (is_offered(object) &&
		    in_list(objects, eadm_object_name(object)))
			ret = add_rows(model, object, true);
	}
	for (object = NULL; !ret && sums &&
	     (object = eadm_object_next(object));) {
		if (eadm_object_class(object) == EADM_CLASS_ROWS &&
		    eadm_object_rows(object) == EADM_ROWS_MANY &&
		    eadm_object_find_field(object, "comm"))
			ret = add_sums(model, object, sums == SUMS_PODS);
	}
	if (!ret)
		ret = add_usual(model, collectors, false);
	if (!ret)
		ret = add_usual(model, collectors, true);
	if (!ret && diagnose && (!collectors || in_list(collectors, "diagnose")))
		ret = add_diagnosis(model);
	for (i = 0; i < model->n_collectors; i++) {
		object = model->collectors[i].object;
		if (object && eadm_object_fields(object) > model->max_fields)
			model->max_fields = eadm_object_fields(object);
	}
	for (i = 0; !ret && i < model->n_families; i++)
		ret = render_prepare(&model->families[i], formats);
	return ret;
}
