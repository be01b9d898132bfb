/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that refer to data missing from all rows of a device. */
#ifndef BLIND_H
#define BLIND_H

#include "filter.h"

enum blind_option {
	BLIND_PID, BLIND_COMM, BLIND_STATE, BLIND_NETNS, BLIND_CGROUP, BLIND_PEER,
	BLIND_OPCODE, BLIND_HW, N_BLIND_OPTIONS
};

struct blind_device {
	char name[64];
	bool family;			/* the rows come from a driver of a known family */
	bool has[N_BLIND_OPTIONS];	/* a row has the data */
	bool lacks[N_BLIND_OPTIONS];	/* a row that could match lacks the data */
};

/* Data found in the rows of a dump. */
struct blind {
	const struct filter *filter;
	const struct eadm_object *object;
	const struct eadm_field *name, *family, *type;
	bool hw;
	struct blind_device *devices;
	size_t n, max;
	char text[200];			/* text of the last note */
};

void blind_init(struct blind *blind, const struct eadm_object *object,
		const struct filter *filter, bool hw);
void blind_free(struct blind *blind);
/* Call for every row that is read, whether or not it passes the filter. */
void blind_see(struct blind *blind, const struct eadm_record *record);
/*
 * Stores the note about the next device and option; *@at must be 0 at first. Returns
 * false if there are no more notes. The note is valid until the next call.
 */
bool blind_next(struct blind *blind, size_t *at, struct eadm_note *note);
/* Returns 0, or the status of the dump if all other operations succeeded. */
int blind_status(const struct blind *blind);

#endif /* BLIND_H */
