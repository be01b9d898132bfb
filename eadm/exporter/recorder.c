// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Totals from the flight recorder across scrapes. Each dump shows the last few thousand
 * commands; each command is counted once, when it has ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "exporter.h"

void recorder_fields_find(const struct eadm_object *object,
			  struct recorder_fields *fields)
{
	fields->seq = place_find(object, "seq");
	fields->op = place_find(object, "op");
	fields->state = place_find(object, "state");
	fields->latency = place_find(object, "latency");
	fields->function = place_find(object, "function");
	fields->family = place_find(object, "family");
	fields->all[0] = fields->seq.field;
	fields->all[1] = fields->op.field;
	fields->all[2] = fields->state.field;
	fields->all[3] = fields->latency.field;
	fields->all[4] = fields->function.field;
	fields->all[5] = fields->family.field;
	fields->all[6] = NULL;
}

void recorder_reset(struct recorder *recorder)
{
	free(recorder->pending);
	free(recorder->outcomes);
	free(recorder->timings);
	*recorder = (struct recorder){ 0 };
}

/*
 * Called before a dump. Sets @from to the number of the first record that can be new;
 * returns false if all records can be new.
 */
bool recorder_begin(struct recorder *recorder, uint64_t *from)
{
	size_t i;

	recorder->n_seen = 0;
	*from = recorder->next;
	for (i = 0; i < recorder->n_pending; i++) {
		if (recorder->pending[i] < *from)
			*from = recorder->pending[i];
	}
	return recorder->primed;
}

/*
 * Called after a complete dump: pending commands that are missing from it have ended,
 * and their records were lost.
 */
void recorder_end(struct recorder *recorder)
{
	recorder->lost += recorder->n_pending - recorder->n_seen;
	recorder->n_pending = recorder->n_seen;
	recorder->primed = true;
	/* If there is no record yet, the first one gets this number. */
	if (!recorder->begun)
		recorder->next = 1;
}

/*
 * Called if numbers start from 1 again. The totals continue: a counter that is reset and
 * exceeds its old value before the next scrape would not look reset.
 */
void recorder_restart(struct recorder *recorder)
{
	recorder->lost += recorder->n_pending;
	recorder->n_pending = 0;
	recorder->next = 1;
}

/* Commands seen in this dump are moved to the front. */
static void mark_seen(struct recorder *recorder, size_t i)
{
	uint64_t seq = recorder->pending[i];

	if (i < recorder->n_seen)
		return;
	recorder->pending[i] = recorder->pending[recorder->n_seen];
	recorder->pending[recorder->n_seen++] = seq;
}

static bool was_pending(struct recorder *recorder, uint64_t seq, bool ended)
{
	size_t i;

	for (i = 0; i < recorder->n_pending; i++) {
		if (recorder->pending[i] != seq)
			continue;
		mark_seen(recorder, i);
		if (!ended)
			return true;
		for (i = 0; recorder->pending[i] != seq; i++)
			;
		recorder->pending[i] = recorder->pending[--recorder->n_seen];
		recorder->pending[recorder->n_seen] =
			recorder->pending[--recorder->n_pending];
		return true;
	}
	return false;
}

static bool add_pending(struct recorder *recorder, uint64_t seq)
{
	if (!grow(recorder->pending, recorder->n_pending, recorder->max_pending))
		return false;
	recorder->pending[recorder->n_pending++] = seq;
	mark_seen(recorder, recorder->n_pending - 1);
	return true;
}

/* The probe records a driver's commands in addition to verbs, which have no family. */
static struct operation operation_of(const struct recorder_fields *fields,
				     const struct row *row)
{
	struct operation op = { 0 };
	const char *family;

	row_u64(row, &fields->op, &op.op);
	family = row_string(row, &fields->family);
	if (family && strcmp(family, "verbs") &&
	    row_value(row, &fields->function))
		snprintf(op.family, sizeof(op.family), "%s", family);
	return op;
}

static bool is_same(const struct operation *a, const struct operation *b)
{
	return a->op == b->op && !strcmp(a->family, b->family);
}

static bool count_outcome(struct recorder *recorder, const struct operation *op,
			  uint64_t state)
{
	size_t i;

	for (i = 0; i < recorder->n_outcomes; i++) {
		if (is_same(&recorder->outcomes[i].op, op) &&
		    recorder->outcomes[i].state == state) {
			recorder->outcomes[i].count++;
			return true;
		}
	}
	if (!grow(recorder->outcomes, recorder->n_outcomes,
		  recorder->max_outcomes))
		return false;
	recorder->outcomes[recorder->n_outcomes++] =
		(struct outcome){ *op, state, 1 };
	return true;
}

static bool count_time(struct recorder *recorder, const struct operation *op,
		       uint64_t ns)
{
	size_t i = 0;

	while (i < recorder->n_timings &&
	       !is_same(&recorder->timings[i].op, op))
		i++;
	if (i == recorder->n_timings) {
		/* A histogram takes 2.6 KB, so none is allocated in advance. */
		if (!grow_to(recorder->timings, i + 1, recorder->max_timings))
			return false;
		recorder->timings[recorder->n_timings++] = (struct timing){ .op = *op };
	}
	histogram_add(&recorder->timings[i].latency, ns);
	return true;
}

/* Counts a record unless it was counted before. Returns false if out of memory. */
bool recorder_take(struct recorder *recorder,
		   const struct recorder_fields *fields,
		   const struct row *row)
{
	uint64_t seq, state, latency;
	struct operation op;
	const char *name;
	bool ended;

	if (!row_u64(row, &fields->seq, &seq) ||
	    !row_u64(row, &fields->state, &state))
		return true;
	name = eadm_field_value_name(fields->state.field, state);
	ended = !name || strcmp(name, "pending") != 0;
	if (recorder->begun && seq < recorder->next) {
		if (!was_pending(recorder, seq, ended) || !ended)
			return true;
	} else {
		/*
		 * In the first dump, missing records date from before this program was
		 * started.
		 */
		if (recorder->primed)
			recorder->lost += seq - recorder->next;
		recorder->begun = true;
		recorder->probed = row_value(row, &fields->function);
		recorder->next = seq + 1;
		if (!ended)
			return add_pending(recorder, seq);
	}
	op = operation_of(fields, row);
	/* Only completed commands have a latency; other commands were abandoned. */
	if (row_u64(row, &fields->latency, &latency) &&
	    !count_time(recorder, &op, latency))
		return false;
	return count_outcome(recorder, &op, state);
}

static uint32_t labels_of_op(struct samples *samples, const struct recorder_fields *fields,
			     const char *device,
			     const struct operation *op)
{
	uint32_t labels = samples_labels(samples);
	char text[64];

	samples_label(samples, "device", device);
	if (op->family[0])
		samples_label(samples, "family", op->family);
	eadm_field_text(fields->op.field, op->op, text, sizeof(text));
	samples_label(samples, "op", text);
	return labels;
}

void recorder_samples(const struct recorder *recorder,
		      const struct model *model,
		      const struct recorder_fields *fields,
		      const char *device, struct samples *samples)
{
	uint32_t labels;
	char text[64];
	size_t i;

	labels = samples_labels(samples);
	samples_label(samples, "device", device);
	samples_add(samples, model->own[OWN_LOST], labels,
		    recorder->lost);
	for (i = 0; i < recorder->n_timings; i++)
		samples_add_histogram(samples, model->own[OWN_LATENCY],
				      labels_of_op(samples, fields, device,
						   &recorder->timings[i].op),
				      &recorder->timings[i].latency);
	for (i = 0; i < recorder->n_outcomes; i++) {
		const struct outcome *outcome = &recorder->outcomes[i];

		labels = labels_of_op(samples, fields, device, &outcome->op);
		eadm_field_text(fields->state.field, outcome->state, text,
				sizeof(text));
		samples_label(samples, "state", text);
		samples_add(samples, model->own[OWN_RECORDS], labels,
			    outcome->count);
	}
}
