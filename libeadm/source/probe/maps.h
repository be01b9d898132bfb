/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The probe's maps, as seen by a reader. */
#ifndef EADM_PROBE_MAPS_H
#define EADM_PROBE_MAPS_H

#include "base/ctx.h"
#include "record.h"

/* Descriptors to read from. (A map that this process cannot write cannot be mapped.) */
struct eadm_probe_maps {
	struct eadm_probe_info info;
	int records, cpus, devs, in_flight;
};

/* Copies of records. */
struct eadm_probe_list {
	struct eadm_probe_rec *rec;
	size_t n, max;
	uint64_t lost;			/* number overwritten before they were copied */
};

/*
 * Returns -ENOENT if the probe is not running, -EACCES or -EPERM if permission is
 * denied, -EPROTO if it is incomplete or of a different version.
 */
int eadm_probe_open(const struct eadm_ctx *ctx, struct eadm_probe_maps *maps)
	EADM_MUST_CHECK;
void eadm_probe_close(struct eadm_probe_maps *maps);

/*
 * Append records to the list. @from contains a start number for each CPU and is updated
 * to the number after the last record; NULL: all existing records.
 */
int eadm_probe_copy(const struct eadm_probe_maps *maps, uint64_t *from,
		    struct eadm_probe_list *list) EADM_MUST_CHECK;
int eadm_probe_copy_cpus(const struct eadm_probe_maps *maps,
			 struct eadm_probe_cpu *cpus) EADM_MUST_CHECK;
int eadm_probe_copy_devs(const struct eadm_probe_maps *maps,
			 struct eadm_probe_dev *devs) EADM_MUST_CHECK;
int eadm_probe_copy_in_flight(const struct eadm_probe_maps *maps,
			      struct eadm_probe_list *list) EADM_MUST_CHECK;
void eadm_probe_list_free(struct eadm_probe_list *list);

/*
 * Reads the number of runs that the kernel skipped because a program interrupted
 * itself.
 */
int eadm_probe_skipped(const struct eadm_ctx *ctx, uint64_t *sum) EADM_MUST_CHECK;

#endif /* EADM_PROBE_MAPS_H */
