// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the flight recorder tells, added up from scrape to scrape: each dump
 * shows the last few thousand commands, each command counts once, when it has
 * ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../grow.h"
#include "exporter.h"

void recorder_fields_find(const struct eadm_object *object,
			  struct recorder_fields *fields)
{
	fields->seq = eadm_object_find_field(object, "seq");
	fields->op = eadm_object_find_field(object, "op");
	fields->state = eadm_object_find_field(object, "state");
	fields->latency = eadm_object_find_field(object, "latency");
	fields->all[0] = fields->seq;
	fields->all[1] = fields->op;
	fields->all[2] = fields->state;
	fields->all[3] = fields->latency;
	fields->all[4] = NULL;
}

void recorder_reset(struct recorder *recorder)
{
	free(recorder->pending);
	free(recorder->outcomes);
	*recorder = (struct recorder){ 0 };
}

/*
 * Before a dump: the number of the first record that may tell something new,
 * false when all of them do.
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
 * After a whole dump: who was waited for and is not there any more has ended
 * unseen.
 */
void recorder_end(struct recorder *recorder)
{
	recorder->lost += recorder->n_pending - recorder->n_seen;
	recorder->n_pending = recorder->n_seen;
	recorder->primed = true;
}

/* Those seen in this dump stand in front. */
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

static bool count_outcome(struct recorder *recorder, uint64_t op,
			  uint64_t state)
{
	size_t i;

	for (i = 0; i < recorder->n_outcomes; i++) {
		if (recorder->outcomes[i].op == op &&
		    recorder->outcomes[i].state == state) {
			recorder->outcomes[i].count++;
			return true;
		}
	}
	if (!grow(recorder->outcomes, recorder->n_outcomes,
		  recorder->max_outcomes))
		return false;
	recorder->outcomes[recorder->n_outcomes++] =
		(struct outcome){ op, state, 1 };
	return true;
}

/* Count a record unless it was; false: memory ran out. */
bool recorder_take(struct recorder *recorder,
		   const struct recorder_fields *fields,
		   const struct eadm_record *record)
{
	uint64_t seq, op = 0, state, latency;
	const char *name;
	bool ended;

	if (eadm_record_u64(record, fields->seq, &seq) ||
	    eadm_record_u64(record, fields->state, &state))
		return true;
	name = eadm_field_value_name(fields->state, state);
	ended = !name || strcmp(name, "pending") != 0;
	if (recorder->begun && seq < recorder->next) {
		if (!was_pending(recorder, seq, ended) || !ended)
			return true;
	} else {
		/* At first, what is missing was there before this program. */
		if (recorder->primed)
			recorder->lost += seq - recorder->next;
		recorder->begun = true;
		recorder->next = seq + 1;
		if (!ended)
			return add_pending(recorder, seq);
	}
	eadm_record_u64(record, fields->op, &op);
	/* Only an answer has a latency; the rest was given up at some time. */
	if (!eadm_record_u64(record, fields->latency, &latency))
		histogram_add(&recorder->latency, latency);
	return count_outcome(recorder, op, state);
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
	samples_add_histogram(samples, model->own[OWN_LATENCY], labels,
			      &recorder->latency);
	samples_add(samples, model->own[OWN_LOST], labels,
		    recorder->lost);
	for (i = 0; i < recorder->n_outcomes; i++) {
		const struct outcome *outcome = &recorder->outcomes[i];

		labels = samples_labels(samples);
		samples_label(samples, "device", device);
		eadm_field_text(fields->op, outcome->op, text, sizeof(text));
		samples_label(samples, "op", text);
		eadm_field_text(fields->state, outcome->state, text,
				sizeof(text));
		samples_label(samples, "state", text);
		samples_add(samples, model->own[OWN_RECORDS], labels,
			    outcome->count);
	}
}
