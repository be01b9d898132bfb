/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows about this machine, of its files. */
#ifndef EADM_LOCAL_H
#define EADM_LOCAL_H

#include "answer.h"

int eadm_local_query(struct eadm_ctx *ctx, const struct eadm_query *query,
		     uint32_t seq, struct eadm_stream **stream)
	EADM_MUST_CHECK;

/*
 * What the readers below use. A request that names fields, as attributes without
 * content, is for these only.
 */
const struct eadm_arg *eadm_local_arg(const struct eadm_query *query,
				      uint16_t attr);
const char *eadm_local_name(const struct eadm_query *query, uint16_t attr);
bool eadm_local_wants(const struct eadm_query *query, uint16_t attr);
void eadm_local_put(struct eadm_answer *answer, uint16_t attr, const char *text);
void eadm_local_put_number(struct eadm_answer *answer, uint16_t attr,
			   const char *text);
void eadm_local_put_access(struct eadm_answer *answer, uint16_t attr,
			   const char *name);
void eadm_local_add_word(char *buf, size_t size, const char *word, size_t len);

/*
 * One for each kind of row. They put what there is, and leave out what is not
 * known: that there is nothing of the kind is an empty text.
 */
typedef void eadm_local_reader(struct eadm_answer *answer,
			       const struct eadm_query *query);

eadm_local_reader eadm_local_machine;	/* machine.c */
eadm_local_reader eadm_local_irq;
eadm_local_reader eadm_local_module;	/* modules.c */
eadm_local_reader eadm_local_process;	/* process.c */
eadm_local_reader eadm_local_verbs;	/* verbs.c */
void eadm_local_limits(struct eadm_answer *answer,
		       const struct eadm_device *dev);
eadm_local_reader eadm_local_device;	/* adapters.c */
eadm_local_reader eadm_local_setup;
eadm_local_reader eadm_local_counters;

#endif /* EADM_LOCAL_H */
