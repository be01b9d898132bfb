/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows about the machine, one by one. */
#ifndef EADM_READ_MACHINE_H
#define EADM_READ_MACHINE_H

#include "model/record.h"
#include "source/query.h"

int eadm_machine_open(struct eadm_ctx *ctx, const struct eadm_query *query,
		    const struct eadm_object *object, struct eadm_reply *reply,
		    struct eadm_record *rec) EADM_MUST_CHECK;
int eadm_machine_next(struct eadm_reply *reply, const struct eadm_object *object,
		    struct eadm_record *rec) EADM_MUST_CHECK;

struct eadm_query eadm_machine_process(uint32_t pid);
uint64_t eadm_machine_uptime(struct eadm_ctx *ctx);
bool eadm_machine_u64(struct eadm_ctx *ctx, unsigned int attr,
			    uint64_t *value);
bool eadm_machine_is_locked_down(struct eadm_ctx *ctx);
int eadm_machine_probe(struct eadm_ctx *ctx) EADM_MUST_CHECK;
int eadm_machine_probe_denied(struct eadm_ctx *ctx);
bool eadm_machine_module_text(struct eadm_ctx *ctx, const char *name,
			    unsigned int attr, char *text, size_t size);
const char *eadm_machine_comm(struct eadm_ctx *ctx, uint32_t pid);

#endif /* EADM_READ_MACHINE_H */
