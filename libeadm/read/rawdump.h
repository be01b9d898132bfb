/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dumps of raw bytes, decoded: entries, contexts, registers. */
#ifndef EADM_RAWDUMP_H
#define EADM_RAWDUMP_H

#include "entry.h"
#include "source/node.h"

/* The requested range: see struct eadm_entry_opts. */
struct eadm_rawdump {
	struct eadm_ring ring;
	uint32_t next, last;		/* places or members */
	bool whole;			/* no range was requested */
};

int eadm_rawdump_check(struct eadm_ctx *ctx, const struct eadm_object *object,
		       const struct eadm_dump_opts *opts,
		       const struct eadm_entry_opts *entries) EADM_MUST_CHECK;
int eadm_rawdump_open(struct eadm_ctx *ctx, const struct eadm_device *dev,
		      const struct eadm_object *object,
		      const struct eadm_dump_opts *opts,
		      const struct eadm_entry_opts *entries,
		      struct eadm_rawdump *raw) EADM_MUST_CHECK;
int eadm_rawdump_next(struct eadm_rawdump *raw,
		      const struct eadm_object *object,
		      struct eadm_record *rec);
void eadm_rawdump_close(struct eadm_rawdump *raw);

#endif /* EADM_RAWDUMP_H */
