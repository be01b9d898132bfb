// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * References between objects: a PD lives as long as any object in it. Lookup of QPs by
 * number.
 */
#include <stdlib.h>

#include "verbs.h"

void verbs_wait(struct verbs_port *port)
{
	if (port->wait_turn != port->verbs->turn)
		port->wait_left = VERBS_END_NS;
	port->wait_turn = port->verbs->turn;
	if (port->wait_left)
		port->wait_left = worker_wait(&port->worker, port->wait_left);
}

void verbs_pd_put(struct verbs_pd *pd)
{
	if (--pd->users)
		return;
	ibv_dealloc_pd(pd->pd);
	pd->port->verbs->soft->ops->pd_destroy(pd->soft);
	free(pd);
}

struct verbs_qp *verbs_qp_find(struct verbs *verbs, uint32_t qpn)
{
	struct verbs_qp *qp;

	LIST_FOREACH(qp, &verbs->qps[qpn % VERBS_BUCKETS], link)
		if (qp->qpn == qpn)
			return qp;
	return NULL;
}
