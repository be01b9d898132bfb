// SPDX-License-Identifier: GPL-2.0-or-later
#include "function.h"

/* Destroys objects before the objects that they use. */
static void drop_objects(struct model *m)
{
	uint32_t number, index;

	for (number = 0; table_next(&m->qps, &number); number++)
		qp_destroy(m, number);
	for (number = 0; table_next(&m->srqs, &number); number++)
		srq_destroy(m, number);
	for (number = 0; table_next(&m->cqs, &number); number++)
		cq_destroy(m, number);
	for (number = 0; table_next(&m->mrs, &number); number++)
		mr_destroy(m, number);
	for (number = 0; table_next(&m->pds, &number); number++)
		pd_destroy(m, number);
	for (number = 0; table_next(&m->contexts, &number); number++)
		context_destroy(m, number);
	for (index = 0; index < GID_TABLE; index++)
		gid_unbind(m, index);
}

void model_reset(struct model *m)
{
	m->generation++;
	command_abandon(m);
	command_reset(m);
	drop_objects(m);
	works_free(m);
	dsr_detach(m);
	m->active = false;
	m->pending_vectors = 0;
}
