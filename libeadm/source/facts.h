/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Readers of facts, one for each kind. @name is what the fact is about; they
 * find an empty buffer, and return false where there is no such thing.
 */
#ifndef EADM_FACTS_H
#define EADM_FACTS_H

#include "base/ctx.h"

#define EADM_FACT_READER(reader)					\
	bool reader(const struct eadm_ctx *ctx, const char *name, char *buf,	\
		    size_t size)

void eadm_fact_add_word(char *buf, size_t size, const char *word, size_t len);

/* adapters.c */
EADM_FACT_READER(eadm_fact_access);
EADM_FACT_READER(eadm_fact_bus);
EADM_FACT_READER(eadm_fact_driver);
EADM_FACT_READER(eadm_fact_gid);
EADM_FACT_READER(eadm_fact_port);
EADM_FACT_READER(eadm_fact_uverbs);

/* process.c */
EADM_FACT_READER(eadm_fact_process);

/* modules.c */
EADM_FACT_READER(eadm_fact_bound);
EADM_FACT_READER(eadm_fact_module);
EADM_FACT_READER(eadm_fact_modules);
EADM_FACT_READER(eadm_fact_origin);

/* verbs.c */
EADM_FACT_READER(eadm_fact_limits);
EADM_FACT_READER(eadm_fact_providers);
EADM_FACT_READER(eadm_fact_verbs);

#endif /* EADM_FACTS_H */
