// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * OpenMetrics text. The number of series grows with hosts and rails, not with pairs.
 */
#include "metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../cli.h"
#include "names.h"

static void PRINTF(2, 3) put(struct buffer *to, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buffer_puts(to, text);
}

static void put_label(struct buffer *to, const char *name, const char *value)
{
	put(to, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			buffer_puts(to, "\\");
		buffer_put(to, value, 1);
	}
	buffer_puts(to, "\"");
}

static void family(struct buffer *to, const char *name, const char *unit,
		   const char *help)
{
	put(to, "# TYPE %s gauge\n", name);
	if (unit)
		put(to, "# UNIT %s %s\n", name, unit);
	put(to, "# HELP %s %s\n", name, help);
}

static void hosts(const struct hub *hub, struct buffer *to)
{
	uint32_t i, gone = 0, done = 0;

	for (i = 0; i < hub->n; i++) {
		gone += hub->members[i].state == MEMBER_GONE;
		done += hub->members[i].state == MEMBER_DONE;
	}
	family(to, "eadm_mesh_hosts", NULL, "Hosts by state at the end of the test.");
	put(to, "eadm_mesh_hosts{state=\"done\"} %u\n", done);
	put(to, "eadm_mesh_hosts{state=\"unfinished\"} %u\n",
	    hub->n - gone - done);
	put(to, "eadm_mesh_hosts{state=\"gone\"} %u\n", gone);
	family(to, "eadm_mesh_directions", NULL,
	       "Tested directions between two adapters, by result.");
	put(to, "eadm_mesh_directions{result=\"ok\"} %" PRIu64 "\n",
	    hub->table.n_directions - hub->table.n_failed);
	put(to, "eadm_mesh_directions{result=\"failed\"} %" PRIu64 "\n",
	    hub->table.n_failed);
}

static void adapter(const struct hub *hub, uint32_t i, const char *name,
		    const char *way, struct buffer *to)
{
	buffer_puts(to, name);
	buffer_puts(to, "{");
	put_label(to, "host", host_name(hub, i / hub->table.rails));
	put(to, ",rail=\"%u\"", i % hub->table.rails);
	if (way)
		put(to, ",way=\"%s\"", way);
	buffer_puts(to, "} ");
}

static void adapters(const struct hub *hub, struct buffer *to)
{
	static const char failed[] = "eadm_mesh_failed_directions";
	static const char latency[] = "eadm_mesh_round_trip_seconds";
	const struct mesh_table *t = &hub->table;
	const struct tally *out;
	uint32_t i;

	family(to, failed, NULL, "Failed directions of each adapter.");
	for (i = 0; i < t->n * t->rails; i++) {
		if (!t->adapters[i].out.tested && !t->adapters[i].in.tested)
			continue;
		adapter(hub, i, failed, "out", to);
		put(to, "%u\n", t->adapters[i].out.failed);
		adapter(hub, i, failed, "in", to);
		put(to, "%u\n", t->adapters[i].in.failed);
	}
	family(to, latency, "seconds",
	       "Mean of the median round-trip times between each adapter and its peers.");
	for (i = 0; i < t->n * t->rails; i++) {
		out = &t->adapters[i].out;
		if (!out->p50_n)
			continue;
		adapter(hub, i, latency, NULL, to);
		put(to, "%.9f\n", out->p50_sum / 1e9 / out->p50_n);
	}
}

/* Number the faults to distinguish them, because lists of hosts are truncated. */
static void put_fault(const struct hub *hub, const struct fault *fault,
		      uint32_t number, struct buffer *to)
{
	struct buffer list = { 0 };

	put(to, "eadm_mesh_fault{number=\"%u\",", number);
	put_label(to, "fault", fault_kind_name(fault->kind));
	host_list(hub, fault->a, fault->n_a, false, &list);
	buffer_put(&list, "", 1);
	buffer_puts(to, ",");
	put_label(to, "hosts", list.failed ? "" : list.data);
	list.len = 0;
	host_list(hub, fault->b, fault->n_b, false, &list);
	buffer_put(&list, "", 1);
	buffer_puts(to, ",");
	put_label(to, "peers", list.failed ? "" : list.data);
	put(to, ",way=\"%s\",cause=\"%s\"", fault_way_name(fault->way),
	    cause_name(fault->cause));
	if (fault->from_rail >= 0)
		put(to, ",rail=\"%d\",peer_rail=\"%d\"", fault->from_rail,
		    fault->to_rail);
	put(to, "} %" PRIu64 "\n", fault->directions);
	buffer_free(&list);
}

void metrics_write(const struct hub *hub, const struct faults *faults,
		   struct buffer *to)
{
	uint32_t i;

	hosts(hub, to);
	adapters(hub, to);
	family(to, "eadm_mesh_fault", NULL, "Failed directions attributed to each fault.");
	for (i = 0; i < faults->n; i++)
		put_fault(hub, &faults->list[i], i, to);
	buffer_puts(to, "# EOF\n");
}
