// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../out/writer.h"
#include "matrix.h"
#include "metrics.h"
#include "names.h"

enum {
	FAULT, HOSTS, PEERS, WAY, FROM, TO, RESULT, RAIL, PEER_RAIL, CAUSE, MIN,
	P50, P99, LOST, RATE, MTU, DIRECTIONS, WHY, PEER_WHY, N_COLUMNS
};

#define NUMBER .type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE
#define TIME .type = EADM_TYPE_U64, .kind = EADM_KIND_AGE, .unit = "ns"

static const struct column columns[N_COLUMNS] = {
	[FAULT] = { .key = "fault", .head = "FAULT" },
	[HOSTS] = { .key = "hosts", .head = "HOSTS" },
	[PEERS] = { .key = "peers", .head = "PEERS" },
	[WAY] = { .key = "way", .head = "WAY" },
	[FROM] = { .key = "from", .head = "FROM", .json_only = true },
	[TO] = { .key = "to", .head = "TO", .json_only = true },
	[RESULT] = { .key = "result", .head = "RESULT", .json_only = true },
	[RAIL] = { .key = "rail", .head = "RAIL", NUMBER },
	[PEER_RAIL] = { .key = "peer_rail", .head = "PEER_RAIL", NUMBER },
	[CAUSE] = { .key = "cause", .head = "CAUSE" },
	[MIN] = { .key = "min", .head = "MIN", TIME, .json_only = true },
	[P50] = { .key = "p50", .head = "P50", TIME, .json_only = true },
	[P99] = { .key = "p99", .head = "P99", TIME, .json_only = true },
	[LOST] = { .key = "lost_ppm", .head = "LOST", NUMBER, .json_only = true },
	[RATE] = { .key = "rate", .head = "RATE", NUMBER, .unit = "bytes",
		   .json_only = true },
	[MTU] = { .key = "mtu", .head = "MTU", NUMBER, .json_only = true },
	[DIRECTIONS] = { .key = "directions", .head = "DIRECTIONS", NUMBER },
	[WHY] = { .key = "why", .head = "WHY" },
	[PEER_WHY] = { .key = "peer_why", .head = "PEER_WHY" },
};

/* ---- faults -------------------------------------------------------------------------- */

static struct eadm_value list_value(const struct hub *hub, const uint32_t *hosts,
				    uint32_t n, bool all, struct buffer *text)
{
	text->len = 0;
	host_list(hub, hosts, n, all, text);
	buffer_put(text, "", 1);
	return value_text(text->failed ? NULL : text->data);
}

static const char *why_of(const struct fault *fault, char *text, size_t size)
{
	if (fault->kind == FAULT_MTU) {
		snprintf(text, size, "MTU %u; most adapters on the rail have %u", fault->mtu,
			 fault->usual_mtu);
		return text;
	}
	return fault->a_why ? fault->a_why : cause_text(fault->cause);
}

static void report_fault(struct cli *cli, const struct hub *hub,
			 const struct fault *fault, struct buffer lists[2])
{
	bool all = cli->args.opt[OPT_JSON];
	struct eadm_value v[N_COLUMNS] = { 0 };
	char text[80];

	v[FAULT] = value_string(fault_kind_name(fault->kind));
	v[HOSTS] = list_value(hub, fault->a, fault->n_a, all, &lists[0]);
	v[PEERS] = list_value(hub, fault->b, fault->n_b, all, &lists[1]);
	v[WAY] = value_string(fault_way_name(fault->way));
	if (fault->from_rail >= 0) {
		v[RAIL] = value_u64(fault->from_rail);
		v[PEER_RAIL] = value_u64(fault->to_rail);
	}
	v[CAUSE] = value_string(cause_name(fault->cause));
	v[DIRECTIONS] = value_u64(fault->directions);
	v[WHY] = value_string(why_of(fault, text, sizeof(text)));
	v[PEER_WHY] = value_string(fault->b_why);
	write_values(cli->writer, v);
}

/* ---- directions ---------------------------------------------------------------------- */

static struct eadm_value optional(uint64_t number)
{
	return number ? value_u64(number) : (struct eadm_value){ 0 };
}

static void report_row(struct cli *cli, const struct hub *hub,
		       const struct mesh_row *row)
{
	struct eadm_value v[N_COLUMNS] = { 0 };

	v[FROM] = value_string(hub->members[row->from].name);
	v[TO] = value_string(hub->members[row->to].name);
	v[RESULT] = value_string(row->reached ? "ok" : "failed");
	v[RAIL] = value_u64(row->from_rail);
	v[PEER_RAIL] = value_u64(row->to_rail);
	if (row->cause)
		v[CAUSE] = value_string(cause_name(row->cause));
	v[MIN] = optional(row->min);
	v[P50] = optional(row->p50);
	v[P99] = optional(row->p99);
	v[LOST] = value_u64(row->lost);
	v[RATE] = optional(row->rate);
	v[MTU] = optional(row->mtu);
	v[WHY] = value_string(row->from_why);
	v[PEER_WHY] = value_string(row->to_why);
	write_values(cli->writer, v);
}

/* ---- report -------------------------------------------------------------------------- */

static void print_buffer(const struct buffer *text)
{
	if (!text->failed)
		fwrite(text->data, 1, text->len, stdout);
}

static int status_of_mesh(const struct hub *hub, const struct faults *faults)
{
	uint32_t i;

	if (!hub_is_over(hub))
		return STATUS_PARTIAL;
	for (i = 0; i < faults->n; i++) {
		if (faults->list[i].kind != FAULT_MTU)
			return STATUS_FAILED;
	}
	return faults->n ? STATUS_WARNING : STATUS_OK;
}

static int report_rows(struct cli *cli, const struct hub *hub,
		       const struct faults *faults)
{
	struct table table = { .object = "mesh" };
	struct buffer lists[2] = { { 0 } };
	int status = table_of(cli, &table, columns, N_COLUMNS);
	uint32_t i;

	if (status)
		return status;
	table.unknown = true;
	cli->writer->ops->begin(cli->writer, &table);
	for (i = 0; i < faults->n; i++)
		report_fault(cli, hub, &faults->list[i], lists);
	for (i = 0; cli->args.opt[OPT_JSON] && i < hub->table.n_rows; i++)
		report_row(cli, hub, &hub->table.rows[i]);
	status = write_end(cli, status_of_mesh(hub, faults));
	columns_free(&table);
	buffer_free(&lists[0]);
	buffer_free(&lists[1]);
	return status;
}

int report_mesh(struct cli *cli, const struct hub *hub,
		const struct faults *faults)
{
	struct buffer text = { 0 };

	if (faults->more)
		note(cli, "the list of faults is full; failed directions without a fault: %llu",
		     (unsigned long long)faults->more);
	if (cli->args.opt[OPT_OPENMETRICS]) {
		metrics_write(hub, faults, &text);
		print_buffer(&text);
		buffer_free(&text);
		return stdout_status(stdout_error(), status_of_mesh(hub, faults));
	}
	if (!cli->args.opt[OPT_JSON]) {
		matrix_write(hub, &text);
		print_buffer(&text);
		buffer_free(&text);
		if (faults->n)
			putchar('\n');
	}
	return report_rows(cli, hub, faults);
}
