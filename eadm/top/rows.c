// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and looks up rows. */
#include <stdlib.h>

#include "top.h"

int top_each(struct top *top, struct top_notes *notes, const char *name,
	     void (*take)(struct top *top, const struct eadm_record *record))
{
	const struct eadm_object *object = eadm_object_find(name);
	struct eadm_dump_opts opts = {
		.size = sizeof(opts),
		.device = top->cli->args.opt[OPT_DEVICE],
	};
	const struct eadm_record *record;
	struct eadm_dump *dump;
	int ret;

	ret = eadm_dump_open(top->cli->ctx, object, &opts, &dump);
	if (ret)
		return ret;
	while ((ret = eadm_dump_next(dump, &record)) > 0)
		take(top, record);
	if (!ret && notes)
		top_note_dump(top, notes, dump);
	eadm_dump_close(dump);
	return ret;
}

int top_qp_by_id(const void *a, const void *b)
{
	const struct top_qp *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->qpn < y->qpn ? -1 : x->qpn > y->qpn;
}

/* The QPs must be sorted. */
const struct top_qp *top_qp_find(const struct top *top, uint32_t dev,
				 uint32_t qpn)
{
	const struct top_qp key = { .dev = dev, .qpn = qpn };

	return top->qps.n ? bsearch(&key, top->qps.qp, top->qps.n, sizeof(key),
				    top_qp_by_id) : NULL;
}
