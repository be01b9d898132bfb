// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks up the pod and container of a process. */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "exporter.h"

/*
 * Returns the position of a process in the list; *@found is set to true if the list
 * contains it.
 */
static size_t place_of(const struct pods *pods, uint32_t pid, bool *found)
{
	size_t lo = 0, hi = pods->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (pods->pod[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	*found = lo < pods->n && pods->pod[lo].pid == pid;
	return lo;
}

static void take(char *to, size_t size, const struct row *row,
		 const struct place *place)
{
	const char *name = row_string(row, place);

	if (name)
		samples_name(name, to, size);
}

/* Reads the files of a process, once per process. */
static void look_up(struct eadm_ctx *ctx, struct pod *pod)
{
	const struct eadm_object *object = eadm_object_find("process");
	const struct place uid = place_find(object, "pod");
	const struct place container = place_find(object, "container");
	const struct eadm_field *const fields[] = {
		uid.field, container.field, NULL,
	};
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts), .has_id = true, .id = pod->pid,
		.fields = fields,
	};
	const struct eadm_record *record;
	struct eadm_dump *dump;
	struct row row = { 0 };

	if (eadm_dump_open(ctx, object, &opts, &dump))
		return;
	if (row_init(&row, eadm_object_fields(object)))
		pod->known = eadm_dump_next(dump, &record) > 0;
	if (pod->known) {
		row_take(&row, eadm_object_fields(object), record);
		take(pod->uid, sizeof(pod->uid), &row, &uid);
		take(pod->container, sizeof(pod->container), &row, &container);
	}
	row_release(&row);
	eadm_dump_close(dump);
}

/* The result is valid until the next call; NULL if out of memory. */
const struct pod *pods_find(struct pods *pods, struct eadm_ctx *ctx, uint32_t pid)
{
	bool found;
	size_t at = place_of(pods, pid, &found);

	if (found)
		return &pods->pod[at];
	if (!grow(pods->pod, pods->n, pods->max))
		return NULL;
	memmove(pods->pod + at + 1, pods->pod + at,
		(pods->n++ - at) * sizeof(*pods->pod));
	pods->pod[at] = (struct pod){ .pid = pid };
	look_up(ctx, &pods->pod[at]);
	return &pods->pod[at];
}
