/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts of this machine: see eadm_fact() for their keys. */
#ifndef EADM_MACHINE_H
#define EADM_MACHINE_H

#include "base/ctx.h"

#define EADM_FACT_MAX 256
#define EADM_MACHINE_COMMS 64

/* Names of processes, which rows ask for again and again. */
struct eadm_machine {
	struct {
		uint32_t pid;
		uint64_t time;
		char name[32];
	} comm[EADM_MACHINE_COMMS];
	char fact[EADM_FACT_MAX];	/* the last one that was asked for */
};

const char *eadm_machine_fact(struct eadm_machine *machine,
			      const struct eadm_ctx *ctx, const char *key);
const char *eadm_machine_key(unsigned int index);

#endif /* EADM_MACHINE_H */
