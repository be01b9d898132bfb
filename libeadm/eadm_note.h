/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libeadm: notes about data missing from a result. Part of eadm.h. */
#ifndef EADM_NOTE_H
#define EADM_NOTE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct eadm_note - data missing from a dump, and the reason
 * @size: sizeof(struct eadm_note), set by the caller
 * @error: negative errno if data that should exist could not be read; 0 if the
 *	data does not exist
 * @device: the device concerned, "" for all
 * @what: the missing data
 * @why: the reason
 * @reason: a stable name of the reason if several things are missing for the
 *	same reason; otherwise NULL, and the following members are meaningless
 * @remedy: how to resolve the problem
 * @count: number of missing things
 * @of: total number
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
