/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that ask for what no row of a device shows. */
#ifndef BLIND_H
#define BLIND_H

#include "filter.h"

enum blind_option {
	BLIND_PID, BLIND_COMM, BLIND_STATE, BLIND_NETNS, BLIND_CGROUP, BLIND_PEER,
	BLIND_OPCODE, BLIND_HW, N_BLIND_OPTIONS
};

struct blind_device {
	char name[64];
	bool family;			/* rows come from a driver of a known family */
	bool has[N_BLIND_OPTIONS];	/* some row shows it */
	bool lacks[N_BLIND_OPTIONS];	/* some row that might match does not */
};

/* What the rows of a dump show. */
struct blind {
	const struct filter *filter;
	const struct eadm_object *object;
	const struct eadm_field *name, *family, *type;
	bool hw;
	struct blind_device *devices;
	size_t n, max;
	char text[200];			/* of the last note */
};

void blind_init(struct blind *blind, const struct eadm_object *object,
		const struct filter *filter, bool hw);
void blind_free(struct blind *blind);
/* Every row that is read, whether it passes the filter or not. */
void blind_see(struct blind *blind, const struct eadm_record *record);
/*
 * The next device and option, *@at being 0 at first; false: no more. The note is
 * valid until the next call.
 */
bool blind_next(struct blind *blind, size_t *at, struct eadm_note *note);
/* 0, or what the status of the dump is if everything else went well. */
int blind_status(const struct blind *blind);

#endif /* BLIND_H */
