// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into the exporter: reading the counters of the device $HANG_DEVICE
 * takes until somebody opens the FIFO $HANG_FILE for writing, as with an adapter
 * that is dead; with $HANG_ALL the counters of all devices and their list do.
 */
#include <dlfcn.h>
#include <eadm.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hang(void)
{
	const char *file = getenv("HANG_FILE");
	int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;

	if (fd >= 0)
		close(fd);
}

int eadm_scan(struct eadm_ctx *ctx)
{
	int (*real)(struct eadm_ctx *) = dlsym(RTLD_NEXT, "eadm_scan");

	if (getenv("HANG_ALL"))
		hang();
	return real(ctx);
}

int eadm_dump_open(struct eadm_ctx *ctx, const struct eadm_object *object,
		   const struct eadm_dump_opts *opts, struct eadm_dump **dump)
{
	int (*real)(struct eadm_ctx *, const struct eadm_object *,
		    const struct eadm_dump_opts *, struct eadm_dump **) =
		dlsym(RTLD_NEXT, "eadm_dump_open");
	const char *device = getenv("HANG_DEVICE");

	if (opts && opts->device &&
	    (getenv("HANG_ALL") || (device && !strcmp(opts->device, device))) &&
	    !strcmp(eadm_object_name(object), "counters"))
		hang();
	return real(ctx, object, opts, dump);
}
