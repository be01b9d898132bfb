/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of reading a snapshot, shared by snapshot.c and cqes.c. */
#ifndef EADM_DIAG_READER_H
#define EADM_DIAG_READER_H

#include "model.h"
#include "base/ctx.h"

struct reader {
	struct diag_snapshot *snapshot;
	struct eadm_ctx *ctx;
	struct eadm_value values[256];
	const char *device;	/* the device being read; NULL: all, or the machine */
	const struct eadm_family *family;	/* family of the device, or NULL */
	unsigned char *bits[DIAG_KINDS];	/* counter widths of the fields in its rows */
	struct {
		uint64_t has;
		unsigned char *place;
	} last[DIAG_KINDS];	/* of the row read last: most rows have the same fields */
	bool brief;		/* only data that rules compare with the other snapshot */
	struct diag_inputs *inputs;	/* inputs of the device */
	struct tally *tally;	/* totals while the probe's records are read */
	enum diag_lack owners;	/* reason why owners are unknown */
};

/*
 * Read a dump. Returns 0, -ENOMEM, or the error that made reading impossible; in the
 * latter case, the rows read so far are dropped.
 */
int eadm_diag_read_dump(struct reader *r, enum diag_kind kind,
			const struct eadm_dump_opts *opts);

/*
 * Like eadm_diag_read_dump(), but keep only rows for which @wants returns true, if it
 * is not NULL.
 */
int eadm_diag_read_some(struct reader *r, enum diag_kind kind,
			const struct eadm_dump_opts *opts,
			bool (*wants)(struct reader *r,
				      const struct diag_row *row));

/* Read the probe's records about @device or all devices; returns -ENOMEM or 0. */
int eadm_diag_read_probe(struct reader *r, const char *device);

/*
 * Add a note for the user about a failure; @device is NULL if the failure is not
 * specific to a device. Returns 0 or -ENOMEM.
 */
int eadm_diag_add_note(struct reader *r, int error, const char *device,
		       const char *what, const char *why);

/* Record that the device being read lacks an input; the first reason is kept. */
void eadm_diag_lacks(struct reader *r, enum diag_input input,
		     enum diag_lack lack, const char *why);

/*
 * Read completions of the device's CQs, the first of which has index @first. Failures
 * become notes. Returns 0 or -ENOMEM.
 */
int eadm_diag_read_cqes(struct reader *r, size_t first);

/* To be called after the CQs of all devices have been read. */
void eadm_diag_sort_parts(struct diag_snapshot *snapshot);

#endif /* EADM_DIAG_READER_H */
