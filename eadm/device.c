// SPDX-License-Identifier: GPL-2.0-or-later
/* The device of --device among those that there are. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/*
 * 0: there is one of this name. -ENODEV: there is none, which @why tells with
 * a hint; it tells so in any case. Else why the list cannot be read. Devices
 * that were held are not any more.
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

/* Says that @name is no device; the status to end with. */
int unknown_device(struct cli *cli, const char *name)
{
	char why[DEVICE_WHY];

	device_find(cli, name, why, sizeof(why));
	return fail(cli, STATUS_NOT_FOUND, name, "%s", why);
}
