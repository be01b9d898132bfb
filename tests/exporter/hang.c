// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into the exporter: reading the counters of the device $HANG_DEVICE
 * takes until somebody opens the FIFO $HANG_FILE for writing, as with an adapter
 * that is dead; with $HANG_ALL the counters of all devices and their list do.
 * Opening the file $HANG_OPEN does, too, as with a file server that is down.
 */
#include <dlfcn.h>
#include <eadm.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int (*real_open(void))(const char *path, int flags, ...)
{
	/* The name that open() has with large files, as programs here are built. */
	return dlsym(RTLD_NEXT, "open64");
}

static void hang(void)
{
	const char *file = getenv("HANG_FILE");
	int fd = file ? real_open()(file, O_RDONLY | O_CLOEXEC) : -1;

	if (fd >= 0)
		close(fd);
}

int open(const char *path, int flags, ...)
{
	const char *slow = getenv("HANG_OPEN");
	mode_t mode = 0;
	va_list ap;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(ap, flags);
		mode = va_arg(ap, int);
		va_end(ap);
	}
	if (slow && !strcmp(path, slow))
		hang();
	return real_open()(path, flags, mode);
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
