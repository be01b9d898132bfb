/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A diagnosis of the source, and the snapshots that its rules compare. */
#ifndef DIAGNOSIS_H
#define DIAGNOSIS_H

#include "cli.h"

#define DIAGNOSIS_INTERVAL 1000000000	/* ns */

/*
 * Sample the source twice with @interval in between, or use the snapshots of a capture,
 * and evaluate. @groups are bits of enum eadm_rule_group. Reports errors; returns the
 * status.
 */
int diagnosis_run(struct cli *cli, struct eadm_diagnosis *d, unsigned int groups,
		  uint64_t interval);

#endif /* DIAGNOSIS_H */
