// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures latencies of commands, and counts connections. On this machine, the data
 * comes from the stream of flight records, which is idle if there are no commands; in a
 * capture, it comes from the recorded commands.
 */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "../out/hist.h"
#include "top.h"

/*
 * Returns true for a call that establishes a connection from either side, as recorded
 * by the probe.
 */
static bool is_connect(const struct eadm_record *record)
{
	const struct eadm_object *cmd = eadm_object_find("cmd");
	const struct eadm_field *field = eadm_object_find_field(cmd, "op");
	const char *name;
	uint64_t op;

	if (eadm_record_u64(record, field, &op))
		return false;
	name = eadm_field_value_name(field, op);
	return name && (!strcmp(name, "cm-connect") || !strcmp(name, "cm-accept"));
}

static void add_latency(struct top_dev *dev, const struct eadm_record *record)
{
	const struct eadm_field *field = eadm_object_find_field(
		eadm_object_find("cmd"), "latency");
	uint64_t ns;

	dev->n_connects += is_connect(record);
	if (eadm_record_u64(record, field, &ns))
		return;
	if (grow(dev->latency, dev->n_latency, dev->max_latency))
		dev->latency[dev->n_latency++] = ns;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void rank(const struct top *top, struct top_dev *dev)
{
	/*
	 * Drivers do not record connections: 0 is meaningless until the probe has
	 * recorded one.
	 */
	if (dev->n_connects || dev->connects >= 0)
		dev->connects = top->before && top->now > top->before ?
			dev->n_connects * 1e9 / (top->now - top->before) : -1;
	dev->n_connects = 0;
	dev->has_latency = dev->n_latency;
	if (!dev->n_latency)
		return;
	qsort(dev->latency, dev->n_latency, sizeof(*dev->latency), by_value);
	dev->p50 = hist_rank(dev->latency, dev->n_latency, 50);
	dev->p99 = hist_rank(dev->latency, dev->n_latency, 99);
	dev->n_latency = 0;
}

/*
 * The stream is not captured: while writing a capture, read the records, so that the
 * capture contains them.
 */
static bool reads_records(const struct top *top)
{
	return !eadm_is_live(top->cli->ctx) || top->cli->save;
}

/*
 * Opens the stream, again if it has ended, as when the driver was reloaded. Without
 * permission, no latency is shown.
 */
void top_latency_open(struct top *top, struct top_dev *dev)
{
	if (dev->trace || dev->refused || reads_records(top))
		return;
	if (eadm_trace_open(top->cli->ctx, dev->name, NULL, &dev->trace)) {
		dev->trace = NULL;
		dev->refused = !dev->streamed;
	} else {
		dev->streamed = true;
	}
}

static void drain(struct top_dev *dev)
{
	const struct eadm_record *record;
	int ret;

	while ((ret = eadm_trace_next(dev->trace, &record)) > 0)
		add_latency(dev, record);
	if (ret == 0)
		return;
	eadm_trace_close(dev->trace);
	dev->trace = NULL;
}

/* Reads the commands that were submitted since the previous refresh. */
static void read_records(struct top *top)
{
	const struct eadm_object *cmd = eadm_object_find("cmd");
	const struct eadm_field *index =
		eadm_object_find_field(cmd, "dev-index");
	const struct eadm_field *field = eadm_object_find_field(cmd, "time");
	const struct eadm_record *record;
	struct eadm_dump *dump;
	uint64_t time, dev;
	unsigned int i;

	if (eadm_dump_open(top->cli->ctx, cmd, NULL, &dump))
		return;
	while (eadm_dump_next(dump, &record) > 0) {
		if (eadm_record_u64(record, field, &time) ||
		    eadm_record_u64(record, index, &dev) ||
		    time <= top->before)
			continue;
		for (i = 0; i < top->n_devs; i++) {
			if (top->dev[i].index == dev)
				add_latency(&top->dev[i], record);
		}
	}
	eadm_dump_close(dump);
}

void top_latency_look(struct top *top)
{
	unsigned int i;

	if (reads_records(top))
		read_records(top);
	for (i = 0; i < top->n_devs; i++) {
		if (top->dev[i].trace)
			drain(&top->dev[i]);
		rank(top, &top->dev[i]);
	}
}
