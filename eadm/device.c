// SPDX-License-Identifier: GPL-2.0-or-later
/* The device given by --device: its name, network interface, PCI address or GUID. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

/*
 * Returns 0 if a device has this name, -ENODEV if not, or the error of reading the
 * list. For -ENODEV, @why is set to a message, with a hint if possible. Drops a cached
 * list of devices.
 */
int device_find(struct cli *cli, const char *name, char *why, size_t size)
{
	int ret = eadm_scan(cli->ctx);
	struct word_list words = { 0 };
	const char *one, *near;
	unsigned int i;

	snprintf(why, size, "no such RDMA device");
	if (ret)
		return ret;
	for (i = 0; (one = eadm_device_name(cli->ctx, i)); i++) {
		if (!strcmp(one, name))
			break;
		word_add(&words, one);
	}
	near = suggest(name, words.words);
	if (!one && near)
		snprintf(why, size, "no such RDMA device (did you mean '%s'?)",
			 near);
	word_free(&words);
	eadm_scan_drop(cli->ctx);
	return one ? 0 : -ENODEV;
}

/* Report that @name is not a device; returns the exit status. */
int unknown_device(struct cli *cli, const char *name)
{
	char why[DEVICE_WHY];

	device_find(cli, name, why, sizeof(why));
	return fail(cli, STATUS_NOT_FOUND, name, "%s", why);
}

/* Fields by which a user may select a device, besides its name; NULL-terminated. */
const char *const device_aliases[] = { "netdev", "bus-addr", "node-guid", NULL };

/* The domain of a PCI address can be omitted if it is 0. */
static bool is_alias(const char *text, const char *alias)
{
	return !strcasecmp(text, alias) ||
	       (!strncmp(text, "0000:", 5) && !strcasecmp(text + 5, alias));
}

static bool has_alias(const struct eadm_record *record, const char *alias)
{
	const struct eadm_object *object = eadm_object_find("dev");
	const struct eadm_field *field;
	char text[DEVICE_NAME];
	size_t i;

	for (i = 0; device_aliases[i]; i++) {
		field = eadm_object_find_field(object, device_aliases[i]);
		if (eadm_record_has(record, field) &&
		    eadm_record_text(record, field, text, sizeof(text)) < (int)sizeof(text) &&
		    is_alias(text, alias))
			return true;
	}
	return false;
}

/*
 * Lists the names of the devices with this alias, separated by commas; returns their
 * number. Errors are left to the command, which reads the devices again.
 */
static unsigned int names_of(struct eadm_ctx *ctx, const char *alias, char *names, size_t size)
{
	const struct eadm_object *object = eadm_object_find("dev");
	const struct eadm_field *name = eadm_object_find_field(object, "dev-name");
	const struct eadm_record *record;
	struct eadm_dump *dump;
	unsigned int n = 0;
	size_t used = 0;

	*names = '\0';
	if (eadm_dump_open(ctx, object, NULL, &dump))
		return 0;
	while (eadm_dump_next(dump, &record) > 0) {
		if (!has_alias(record, alias))
			continue;
		if (used < size)
			used += snprintf(names + used, size - used, "%s%s", n ? ", " : "",
					 eadm_record_string(record, name));
		n++;
	}
	eadm_dump_close(dump);
	return n;
}

/* Stores the value of --device where device_resolve() can replace it. */
void device_set(struct cli *cli, const char *name)
{
	cli->args.opt[OPT_DEVICE] = name;
	/* Device names and aliases are never longer. */
	if (strlen(name) >= sizeof(cli->device))
		return;
	strcpy(cli->device, name);
	cli->args.opt[OPT_DEVICE] = cli->device;
}

/*
 * Replaces an alias in --device with the name of the device, in place: existing pointers
 * to the value then refer to the name. An unknown alias is kept, and the command reports
 * an error.
 */
int device_resolve(struct cli *cli, struct eadm_ctx *ctx)
{
	char names[4 * DEVICE_NAME];
	const char *name;
	unsigned int i, n;

	if (!*cli->device || cli->args.opt[OPT_DEVICE] != cli->device || eadm_scan(ctx))
		return STATUS_OK;
	for (i = 0, n = 0; (name = eadm_device_name(ctx, i)); i++)
		n += !strcmp(name, cli->device);
	eadm_scan_drop(ctx);
	/* The kernel's names differ; programs choose theirs. */
	if (n > 1)
		return fail(cli, STATUS_USAGE, cli->device,
			    "not the only device of this name (--peer selects one program)");
	if (n)
		return STATUS_OK;
	n = names_of(ctx, cli->device, names, sizeof(names));
	if (n > 1)
		return fail(cli, STATUS_USAGE, cli->device, "several devices match: %s", names);
	if (n && strlen(names) < sizeof(cli->device))
		strcpy(cli->device, names);
	return STATUS_OK;
}
