// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "grow.h"
#include "signals.h"
#include "source.h"
#include "view.h"

static const struct column columns[] = {
	{ .key = "result", .head = "RESULT",
	  .kind = EADM_KIND_STATE },
	{ .key = "check", .head = "CHECK" },
	{ .name = "device", .key = "dev_name", .head = "DEVICE" },
	{ .key = "finding", .head = "FINDING" },
	{ .key = "remedy", .head = "REMEDY" },
};

static const char *const verdicts[] = {
	[CHECK_OK] = "ok", [CHECK_UNSEEN] = "unseen", [CHECK_WARN] = "warn", [CHECK_FAIL] = "fail",
};

void tell(struct audit *a, enum verdict verdict,
	  const struct audit_device *dev, const char *remedy, const char *fmt,
	  ...)
{
	char finding[400];
	const struct eadm_value values[] = {
		value_string(verdicts[verdict]),
		value_string(a->check->name),
		value_string(dev ? dev->name : NULL), value_string(finding),
		value_string(verdict == CHECK_OK ? NULL : remedy),
	};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(finding, sizeof(finding), fmt, ap);
	va_end(ap);
	if (verdict > a->worst)
		a->worst = verdict;
	write_values(a->cli->writer, values);
}

bool machine_fact(struct audit *a, char *buf, size_t size, const char *fmt,
		  ...)
{
	const char *value;
	char key[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(key, sizeof(key), fmt, ap);
	va_end(ap);
	value = eadm_fact(a->cli->ctx, key);
	snprintf(buf, size, "%s", value ? value : "");
	if (!value)
		a->unseen = true;
	return value;
}

/* ---- what the library knows ------------------------------------------------- */

static const struct eadm_field *field_of(const char *object, const char *name)
{
	return eadm_object_find_field(eadm_object_find(object), name);
}

static void take_text(const struct eadm_record *record, const char *name,
		      char *buf, size_t size)
{
	if (eadm_record_text(record, field_of("dev", name), buf, size) < 0)
		buf[0] = '\0';
}

static bool take_number(const struct eadm_record *record, const char *name,
			uint64_t *value)
{
	return !eadm_record_u64(record, field_of("dev", name), value);
}

static void take_device(struct audit_device *dev,
			const struct eadm_record *record)
{
	static const char *const limits[][2] = {
		{ "qps", "max-qp" }, { "cqs", "max-cq" }, { "mrs", "max-mr" },
		{ "pds", "max-pd" }, { "ctxs", "max-ctx" },
	};
	const struct eadm_field *port = field_of("dev", "port-state");
	uint64_t state, down;
	size_t i;

	take_text(record, "dev-name", dev->name, sizeof(dev->name));
	take_text(record, "driver", dev->driver, sizeof(dev->driver));
	take_text(record, "netdev", dev->netdev, sizeof(dev->netdev));
	take_text(record, "mac", dev->mac, sizeof(dev->mac));
	take_text(record, "netdev-mac", dev->netdev_mac,
		  sizeof(dev->netdev_mac));
	take_text(record, "fw-version", dev->fw, sizeof(dev->fw));
	take_number(record, "mtu", &dev->mtu);
	take_number(record, "vectors", &dev->vectors);
	dev->companion = eadm_record_has(record, field_of("dev", "state"));
	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		take_number(record, limits[i][0], &dev->used[i]);
		take_number(record, limits[i][1], &dev->max[i]);
	}
	if (!eadm_field_value_find(port, "down", &down) &&
	    !eadm_record_u64(record, port, &state)) {
		dev->port_known = true;
		dev->port_down = state == down;
	}
}

static int take_devices(struct audit *a)
{
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = a->cli->args.opt[OPT_DEVICE],
	};
	const struct eadm_record *record;
	struct eadm_dump *dump;
	int ret;

	ret = eadm_dump_open(a->cli->ctx, eadm_object_find("dev"), &opts,
			     &dump);
	if (ret == -ENODEV && opts.device)
		return unknown_device(a->cli, opts.device);
	/* That there is none is for a check to tell. */
	if (ret == -ENODEV || ret == -EOPNOTSUPP)
		return 0;
	if (ret)
		return fail_lib(a->cli, ret, "devices");
	while ((ret = eadm_dump_next(dump, &record)) > 0) {
		if (!grow(a->devices, a->n, a->max)) {
			ret = -ENOMEM;
			break;
		}
		a->devices[a->n] = (struct audit_device){ 0 };
		take_device(&a->devices[a->n++], record);
	}
	eadm_dump_close(dump);
	return ret ? fail_lib(a->cli, ret, "devices") : 0;
}

/* Interrupts, where the companion tells them. */
static void take_interrupts(struct audit *a)
{
	const struct eadm_object *eq = eadm_object_find("eq");
	const struct eadm_record *record;
	struct eadm_dump *dump;
	unsigned int i;
	uint64_t irq;

	if (eadm_dump_open(a->cli->ctx, eq, NULL, &dump))
		return;
	while (eadm_dump_next(dump, &record) > 0) {
		const char *name = eadm_record_string(
			record, field_of("eq", "dev-name"));

		if (!name ||
		    eadm_record_u64(record, field_of("eq", "irq"), &irq))
			continue;
		for (i = 0; i < a->n; i++) {
			struct audit_device *dev = &a->devices[i];

			if (!strcmp(dev->name, name) &&
			    dev->n_irqs < ARRAY_SIZE(dev->irqs))
				dev->irqs[dev->n_irqs++] = irq;
		}
	}
	eadm_dump_close(dump);
}

/* ---- the command ------------------------------------------------------------- */

static void run_checks(struct audit *a, struct table *table)
{
	const struct check *check;
	unsigned int i;

	a->cli->writer->ops->begin(a->cli->writer, table);
	for (check = machine_checks; check->name && !interrupted; check++) {
		a->check = check;
		check->of_machine(a);
	}
	for (check = device_checks; check->name && !interrupted; check++) {
		a->check = check;
		for (i = 0; i < a->n; i++)
			check->of_device(a, &a->devices[i]);
	}
	if (a->unseen) {
		struct eadm_note note = {
			.size = sizeof(note), .device = "",
			.what = "properties of the machine",
			.why = "the capture does not have all of them; what is missing was not checked",
		};

		a->cli->writer->ops->note(a->cli->writer, &note);
	}
}

static int run(struct cli *cli)
{
	static const int statuses[] = {
		[CHECK_OK] = STATUS_OK, [CHECK_UNSEEN] = STATUS_PARTIAL,
		[CHECK_WARN] = STATUS_WARNING, [CHECK_FAIL] = STATUS_CRITICAL,
	};
	struct table table = { .object = "check" };
	struct audit a = { .cli = cli };
	int status;

	status = table_of(cli, &table, columns, ARRAY_SIZE(columns));
	if (!status)
		status = open_source(cli);
	if (!status)
		status = take_devices(&a);
	if (!status) {
		catch_signals();
		take_interrupts(&a);
		run_checks(&a, &table);
		status = write_end(cli, statuses[a.worst]);
	}
	free(a.devices);
	columns_free(&table);
	return status;
}

const struct command cmd_check = {
	.name = "check",
	.help = "audit the configuration: drivers, interfaces, limits, interrupts",
	.more = "Shows for each check whether it is ok, and what to do if it\n"
		"is not, or if it cannot be seen. Of a capture, only what it holds is\n"
		"checked.\n"
		"The exit status is 0 when all is ok, 6 when something cannot be seen,\n"
		"7 with warnings, 8 when something fails.",
	.examples = "  eadm check\n"
		    "  eadm check -d erdma_0\n"
		    "  eadm check --json | jq '.rows[] | select(.result != \"ok\")'\n"
		    "  eadm --from case.tar.zst check\n",
	.run = run,
};
