/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This machine's netlink sockets. */
#ifndef EADM_NL_SOCKETS_H
#define EADM_NL_SOCKETS_H

#include "query.h"

struct eadm_nl;

struct eadm_nl *eadm_nl_new(struct eadm_ctx *ctx);
void eadm_nl_free(struct eadm_nl *nl);
uint32_t eadm_nl_seq(struct eadm_nl *nl);
int eadm_nl_query(struct eadm_nl *nl, const struct eadm_query *query,
		  struct eadm_stream **stream) EADM_MUST_CHECK;
int eadm_nl_listen(struct eadm_nl *nl, const struct eadm_query *query,
		   uint32_t group, struct eadm_stream **stream)
	EADM_MUST_CHECK;

#endif /* EADM_NL_SOCKETS_H */
