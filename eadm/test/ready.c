// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks whether this host can establish connections at all. librdmacm reports a missing
 * provider, or a file that it is not permitted to open, only as "No such device" or "No
 * such file or directory".
 */
#include "../source.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NODES "/dev/infiniband/"

/* Returns 0 or a positive errno. */
static int open_error(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int cannot_open(struct cli *cli, const char *path, int error,
		       const char *remedy)
{
	switch (error) {
	case EACCES:
		return fail(cli, STATUS_PERMISSION, path,
			    "%s (run as root, or set its mode to 0666)",
			    strerror(error));
	case EPERM:
		return fail(cli, STATUS_PERMISSION, path,
			    "%s (allow the container to access this device)",
			    strerror(error));
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return fail(cli, STATUS_UNSUPPORTED, path, "%s (%s)",
			    strerror(error), remedy);
	default:
		return fail(cli, STATUS_FAILED, path, "%s", strerror(error));
	}
}

/* Use the connection manager if a device supports it. */
static int choose_setup(struct test *test)
{
	static char because[IBV_SYSFS_NAME_MAX + 48];
	const struct eadm_object *object = eadm_object_find("dev");
	const struct eadm_field *driver = eadm_object_find_field(object, "driver");
	const struct eadm_field *name = eadm_object_find_field(object, "dev-name");
	struct cli *cli = test->cli;
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .device = cli->args.opt[OPT_DEVICE],
	};
	const struct eadm_family *family;
	const struct eadm_record *record;
	struct eadm_dump *dump;
	unsigned int n = 0, with = 0;
	int ret;

	ret = eadm_dump_open(cli->ctx, object, &opts, &dump);
	if (ret == -ENODEV && opts.device)
		return unknown_device(cli, opts.device);
	if (ret)
		return fail_lib(cli, ret, "devices");
	for (; eadm_dump_next(dump, &record) > 0; n++) {
		family = eadm_family_find(eadm_record_string(record, driver));
		if (!family || eadm_family_has_cm(family))
			with++;
		else
			snprintf(because, sizeof(because),
				 "%s does not support the connection manager",
				 eadm_record_string(record, name));
	}
	eadm_dump_close(dump);
	if (!n)
		return fail(cli, STATUS_NOT_FOUND, "devices",
			    "no RDMA device found");
	test->setup = with && !cli->args.opt[OPT_NO_CM] ? &setup_cm : &setup_tcp;
	test->because = with ? NULL : because;
	if (test->has_gid_index && test->setup == &setup_cm)
		return fail(cli, STATUS_USAGE, "--gid-index",
			    "rdma_cm chooses the GID; add --no-cm");
	return STATUS_OK;
}

/* Fails if libibverbs lists no device, or if none of its devices can be opened. */
static int check_verbs(struct cli *cli)
{
	const char *device = cli->args.opt[OPT_DEVICE];
	char path[sizeof(NODES) + IBV_SYSFS_NAME_MAX], bad[sizeof(path)] = "";
	struct ibv_device **list;
	int n = 0, i, error = 0;
	bool good = false;

	list = verbs.ibv_get_device_list(&n);
	for (i = 0; list && i < n && !good; i++) {
		if (device && strcmp(device, list[i]->name) != 0)
			continue;
		snprintf(path, sizeof(path), NODES "%s", list[i]->dev_name);
		error = open_error(path);
		good = !error;
		if (error)
			strcpy(bad, path);
	}
	if (list)
		verbs.ibv_free_device_list(list);
	if (good)
		return STATUS_OK;
	if (*bad)
		return cannot_open(cli, bad, error, "modprobe ib_uverbs");
	return fail(cli, STATUS_UNSUPPORTED, device ? device : "libibverbs",
		    "no provider for %s (install ibverbs-providers; see 'eadm check')",
		    device ? "this device" : "the RDMA devices of this host");
}

/* Choose how to connect, or report why it is impossible; returns the exit status. */
int test_ready(struct test *test)
{
	struct cli *cli = test->cli;
	const char *missing = verbs_open();
	int status, error;

	if (missing)
		return fail(cli, STATUS_UNSUPPORTED, missing,
			    "not installed (package libibverbs1)");
	status = open_source(cli);
	if (!status)
		status = choose_setup(test);
	if (status)
		return status;
	error = test->setup == &setup_cm ? open_error(NODES "rdma_cm") : 0;
	if (error)
		return cannot_open(cli, NODES "rdma_cm", error,
				   access("/sys/class/misc/rdma_cm", F_OK) ?
				   "modprobe rdma_ucm, or use --no-cm" :
				   "make this file available to the container, or use --no-cm");
	return check_verbs(cli);
}
