/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading of a snapshot, as snapshot.c and cqes.c do it. */
#ifndef EADM_DIAG_READER_H
#define EADM_DIAG_READER_H

#include "model.h"
#include "base/ctx.h"

struct reader {
	struct diag_snapshot *snapshot;
	const struct diag_fields *fields;
	struct eadm_ctx *ctx;
	struct eadm_value values[256];
	const char *device;	/* the one being read */
	const struct eadm_family *family;	/* of it, or NULL */
	unsigned char *bits[DIAG_KINDS];	/* of the fields of its rows */
	bool brief;		/* only what rules compare with another snapshot */
	struct diag_inputs *inputs;	/* of it */
	enum diag_lack owners;	/* why who owns what is not known */
};

/* -ENOMEM, or what made reading impossible; rows so far are dropped then. */
int eadm_diag_read_dump(struct reader *r, enum diag_kind kind,
			const struct eadm_dump_opts *opts);

/* What failed, for the user; 0 or -ENOMEM. */
int eadm_diag_add_note(struct reader *r, int error, const char *device,
		       const char *what, const char *why);

/* Notes that the device being read does not have it; the first reason stays. */
void eadm_diag_lacks(struct reader *r, enum diag_input input,
		     enum diag_lack lack, const char *why);

/*
 * The completions of its CQs, of which the first one has the index @first. What cannot
 * be read is noted. 0 or -ENOMEM.
 */
int eadm_diag_read_cqes(struct reader *r, size_t first);

#endif /* EADM_DIAG_READER_H */
