/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libeadm: what a result does not contain. Part of eadm.h. */
#ifndef EADM_NOTE_H
#define EADM_NOTE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct eadm_note - something that a dump does not contain, and why
 * @size: sizeof(struct eadm_note), set by the caller
 * @error: negative errno when something that should be there could not be
 *	read, 0 when it is just not there
 * @device: device it is about, "" for all
 * @what: what is missing
 * @why: the reason
 * @reason: its stable name where several things are missing for the same reason,
 *	else NULL, and what follows is nothing
 * @remedy: what to do about it
 * @count: how many are missing
 * @of: how many there are
 */
struct eadm_note {
	size_t size;
	int error;
	const char *device;
	const char *what;
	const char *why;
	const char *reason;
	const char *remedy;
	unsigned int count;
	unsigned int of;
};

#ifdef __cplusplus
}
#endif

#endif /* EADM_NOTE_H */
