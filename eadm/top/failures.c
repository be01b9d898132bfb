// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts failures since the previous refresh that the driver or the probe recorded. */
#include "top.h"

/* Returns the number of failures that a row stands for. */
static uint64_t times_of(const struct eadm_record *record,
			 const struct eadm_object *failure)
{
	uint64_t times;

	return eadm_record_u64(record, eadm_object_find_field(failure, "times"),
			       &times) ? 1 : times;
}

static void count(struct top *top, const struct eadm_record *record,
		  const struct eadm_object *failure)
{
	uint64_t time, dev;
	unsigned int i;

	if (eadm_record_u64(record, eadm_object_find_field(failure, "time"),
			    &time) ||
	    eadm_record_u64(record, eadm_object_find_field(failure, "dev-index"),
			    &dev) ||
	    time <= top->before || time > top->now)
		return;
	for (i = 0; i < top->n_devs; i++) {
		if (top->dev[i].index == dev)
			top->dev[i].n_failures += times_of(record, failure);
	}
}

void top_failures_look(struct top *top)
{
	const struct eadm_object *failure = eadm_object_find("failure");
	struct eadm_dump_opts opts = {
		.size = sizeof(opts),
		.device = top->cli->args.opt[OPT_DEVICE],
	};
	const struct eadm_record *record;
	struct eadm_dump *dump;
	unsigned int i;
	struct eadm_note gap = { .size = sizeof(gap) };
	bool complete;

	for (i = 0; i < top->n_devs; i++) {
		top->dev[i].failures = -1;
		top->dev[i].n_failures = 0;
	}
	if (!top->before || top->now <= top->before ||
	    eadm_dump_open(top->cli->ctx, failure, &opts, &dump))
		return;
	while (eadm_dump_next(dump, &record) > 0)
		count(top, record, failure);
	complete = !eadm_dump_note(dump, 0, &gap);
	eadm_dump_close(dump);
	/*
	 * If records are missing, a device without failures has an unknown number, not
	 * 0.
	 */
	for (i = 0; i < top->n_devs; i++) {
		struct top_dev *dev = &top->dev[i];

		if (complete || dev->n_failures)
			dev->failures = dev->n_failures * 1e9 /
					(top->now - top->before);
	}
}
