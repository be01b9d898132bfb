// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "source.h"
#include "view.h"

static void put(struct cli *cli, const char *part, const char *version)
{
	const struct eadm_value values[] = {
		value_string(part),
		value_string(*version ? version : "loaded"),
	};

	write_values(cli->writer, values);
}

static void put_known(struct cli *cli, const char *part, const char *field)
{
	char text[80];

	if (*machine_text(cli->ctx, field, text, sizeof(text)))
		put(cli, part, text);
}

static const char *text_of(const struct eadm_record *record,
			   const struct eadm_field *field)
{
	const char *text = eadm_record_string(record, field);

	return text ? text : "";
}

/* Prints nothing if the module is not loaded. */
static void put_module(struct cli *cli, const char *module)
{
	const struct eadm_object *object = eadm_object_find("module");
	const struct eadm_field *const fields[] = {
		eadm_object_find_field(object, "version"),
		eadm_object_find_field(object, "origin"), NULL,
	};
	const struct eadm_dump_opts opts = {
		.size = sizeof(opts), .name = module, .fields = fields,
	};
	const char *version, *origin;
	const struct eadm_record *record;
	char part[80], text[240];
	struct eadm_dump *dump;

	if (eadm_dump_open(cli->ctx, object, &opts, &dump))
		return;
	while (eadm_dump_next(dump, &record) > 0) {
		version = text_of(record, fields[0]);
		origin = text_of(record, fields[1]);
		snprintf(part, sizeof(part), "module %s", module);
		snprintf(text, sizeof(text), "%s%s%s", version,
			 *version && *origin ? ", " : "", origin);
		put(cli, part, text);
	}
	eadm_dump_close(dump);
}

/* Prints the modules of adapters, and eadm's own. */
static void put_modules(struct cli *cli)
{
	const struct eadm_family *family = NULL;
	const char *module;
	unsigned int i;

	while ((family = eadm_family_next(family))) {
		for (i = 0; (module = eadm_family_module(family, i)); i++)
			put_module(cli, module);
	}
	put_module(cli, "eadm");
}

/* Prints the firmware of each device. The absence of devices is not an error here. */
static int put_firmware(struct cli *cli)
{
	const struct eadm_object *object = eadm_object_find("dev");
	const struct eadm_field *name, *fw;
	const struct eadm_record *record;
	struct eadm_dump_opts opts = { .size = sizeof(opts) };
	struct eadm_dump *dump;
	const char *version;
	char part[96];
	int ret;

	opts.device = cli->args.opt[OPT_DEVICE];
	name = eadm_object_find_field(object, "dev-name");
	fw = eadm_object_find_field(object, "fw-version");
	ret = eadm_dump_open(cli->ctx, object, &opts, &dump);
	if (ret == -EOPNOTSUPP || (ret == -ENODEV && !opts.device))
		return STATUS_OK;
	if (ret)
		return fail_lib(cli, ret, opts.device ? opts.device :
							"devices");
	while ((ret = eadm_dump_next(dump, &record)) > 0) {
		version = eadm_record_string(record, fw);
		if (!version || !*version)
			continue;
		snprintf(part, sizeof(part), "firmware %s",
			 eadm_record_string(record, name));
		put(cli, part, version);
	}
	eadm_dump_close(dump);
	return ret ? fail_lib(cli, ret, "devices") : STATUS_OK;
}

/*
 * Shows the interfaces only if they differ, because the companion then refuses the
 * driver.
 */
static void put_interfaces(struct cli *cli)
{
	const struct eadm_object *object = eadm_object_find("setup");
	struct eadm_dump_opts opts = { .size = sizeof(opts) };
	const struct eadm_field *name, *driver, *companion;
	const struct eadm_record *record;
	uint64_t of_driver, of_companion;
	struct eadm_dump *dump;
	char part[96], text[80];

	opts.device = cli->args.opt[OPT_DEVICE];
	name = eadm_object_find_field(object, "dev-name");
	driver = eadm_object_find_field(object, "driver-interface");
	companion = eadm_object_find_field(object, "companion-interface");
	if (eadm_dump_open(cli->ctx, object, &opts, &dump))
		return;
	while (eadm_dump_next(dump, &record) > 0) {
		if (eadm_record_u64(record, driver, &of_driver) ||
		    eadm_record_u64(record, companion, &of_companion) ||
		    of_driver == of_companion)
			continue;
		snprintf(part, sizeof(part), "companion of %s",
			 eadm_record_string(record, name));
		snprintf(text, sizeof(text),
			 "the builds differ: the driver has interface %08" PRIx64
			 ", eadm.ko %08" PRIx64, of_driver, of_companion);
		put(cli, part, text);
	}
	eadm_dump_close(dump);
}

static int run(struct cli *cli)
{
	static const struct column columns[] = {
		{ .key = "part", .head = "PART" },
		{ .key = "version", .head = "VERSION" },
	};
	struct table table = { 0 };
	int status;

	status = table_of(cli, &table, columns, ARRAY_SIZE(columns));
	if (!status)
		status = open_source(cli);
	if (!status) {
		cli->writer->ops->begin(cli->writer, &table);
		put(cli, "eadm", EADM_VERSION);
		put(cli, "libeadm", eadm_version());
		if (!eadm_is_live(cli->ctx))
			put_known(cli, "recorded by eadm", "eadm");
		put_known(cli, "kernel", "kernel");
		put_modules(cli);
		put_interfaces(cli);
		status = put_firmware(cli);
		status = write_end(cli, status);
	}
	columns_free(&table);
	return status;
}

const struct command cmd_ver = {
	.name = "ver",
	.help = "print versions: tool, library, kernel, modules, firmware",
	.examples = "  eadm ver\n  eadm --from now.pcapng ver --json\n",
	.run = run,
};
