// SPDX-License-Identifier: GPL-2.0-or-later
/* Look up the device of --device. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/*
 * 0: a device has this name. -ENODEV: none does. Otherwise, the error of
 * reading the list. @why is always set to a sentence for -ENODEV, with a hint
 * if possible. Drops a list of devices that was kept.
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
