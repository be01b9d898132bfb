// SPDX-License-Identifier: GPL-2.0-or-later
/* Notes about missing data, which batches write and the screen shows in its last line. */
#include <errno.h>
#include <stdio.h>

#include "grow.h"
#include "top.h"

void top_note(struct top *top, struct top_notes *notes, const char *device,
	      const char *what, const char *why)
{
	struct top_note *note;

	if (!grow(notes->note, notes->n, notes->max)) {
		top->failed = true;
		return;
	}
	note = &notes->note[notes->n++];
	snprintf(note->device, sizeof(note->device), "%s", device);
	snprintf(note->what, sizeof(note->what), "%s", what);
	snprintf(note->why, sizeof(note->why), "%s", why);
}

/*
 * Notes that an object cannot be read. Data that does not exist, and that of a device
 * that has just been removed, is not missing.
 */
void top_note_error(struct top *top, struct top_notes *notes, const char *object,
		    int error)
{
	top->partial |= !means_no_objects(error) && error != -ENODEV;
	top_note(top, notes, "", eadm_object_title(eadm_object_find(object)),
		 eadm_errmsg(top->cli->ctx));
}

/* Notes the devices whose objects a dump could not read. */
void top_note_dump(struct top *top, struct top_notes *notes,
		   const struct eadm_dump *dump)
{
	struct eadm_note note = { .size = sizeof(note) };
	unsigned int i;

	for (i = 0; eadm_dump_note(dump, i, &note) > 0; i++) {
		if (!note.error)
			continue;
		top->partial = true;
		top_note(top, notes, note.device, note.what, note.why);
	}
}

void top_notes_write(struct top *top, const struct top_notes *notes)
{
	struct writer *writer = top->cli->writer;
	size_t i;

	for (i = 0; i < notes->n; i++) {
		const struct eadm_note note = {
			.size = sizeof(note), .device = notes->note[i].device,
			.what = notes->note[i].what, .why = notes->note[i].why,
		};

		writer->ops->note(writer, &note);
	}
}

/* Joins the notes, those about rows first. Returns false if there are none. */
bool top_notes_line(const struct top *top, char *buf, size_t size)
{
	const struct top_notes *all[] = {
		&top->row_notes, &top->once, &top->dev_notes,
	};
	size_t i, j, at = 0;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		for (j = 0; j < all[i]->n && at < size; j++) {
			const struct top_note *note = &all[i]->note[j];

			at += snprintf(buf + at, size - at, "%s%s%s%s: %s",
				       at ? "; " : "", note->device,
				       *note->device ? ": " : "", note->what,
				       note->why);
		}
	}
	return at;
}
