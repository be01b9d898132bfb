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
 * @error: negative errno if something that should be there could not be read; 0
 *	if it merely does not exist
 * @device: the device in question, "" for all
 * @what: what is missing
 * @why: the reason
 * @reason: a stable name of the reason if several things are missing for the
 *	same reason; else NULL, and the following members are meaningless
 * @remedy: what to do about it
 * @count: how many are missing
 * @of: how many there are in total
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
