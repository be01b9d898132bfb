// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts of a machine that lies in a folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/root.h"
#include "source/devlist.h"
#include "source/query.h"
#include "tap.h"

static char root[] = "/tmp/eadm-root-XXXXXX";

static void make_folders(char *path)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", root, name);
	make_folders(path);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		exit(1);
}

static void put_link(const char *name, const char *to)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", root, name);
	make_folders(path);
	if (symlink(to, path))
		exit(1);
}

static bool is(struct eadm_ctx *ctx, const char *key, const char *want)
{
	const char *value = eadm_source_fact(ctx, key);

	if (value && want && !strcmp(value, want))
		return true;
	if (!value && !want)
		return true;
	printf("# %s is \"%s\"\n", key, value ? value : "(none)");
	return false;
}

static void facts(struct eadm_ctx *ctx)
{
	ok(is(ctx, "module.irdma", "7.1"), "the version of a module");
	ok(is(ctx, "module.siw", ""), "a module without one");
	ok(is(ctx, "module.rxe", NULL), "a module that is not there");
	ok(is(ctx, "origin.irdma", "out of tree, srcversion ABC"),
	   "whose a module is");
	ok(is(ctx, "bound.irdma", "0000:01:00.0 0000:02:00.0") ||
	   is(ctx, "bound.irdma", "0000:02:00.0 0000:01:00.0"),
	   "the functions that it serves");
	ok(is(ctx, "driver.a.b", "irdma"), "the driver of a device");
	ok(is(ctx, "bus.a.b", "0000:01:00.0"), "its place");
	ok(is(ctx, "port.a.b.1.port_xmit_data", "42"), "a counter of a port");
	ok(is(ctx, "gid.a.b", "2 fe80:0000:0000:0001"), "its first GID");
	ok(is(ctx, "uverbs.a.b", "uverbs3"), "its device of verbs");
	ok(is(ctx, "access.uverbs3", "0") && is(ctx, "access.uverbs4", "2"),
	   "whether it may be opened");
	ok(is(ctx, "comm.4711", "ib_write_bw"), "the name of a process");
	ok(is(ctx, "process.4711", "T do_signal_stop 0 /user.slice/a b"),
	   "a process that is stopped, whose name has brackets and blanks");
	ok(is(ctx, "process.4712", "S - 1 /docker/x"),
	   "one whose main thread has ended, in a frozen control group");
	ok(is(ctx, "process.4713", NULL), "one that is not there");
	ok(is(ctx, "pidns", "other"), "the namespace of processes");
	ok(is(ctx, "netns-mode", "exclusive"), "the mode of namespaces");
	ok(is(ctx, "lockdown", ""), "what the machine has nothing of is \"\"");
	ok(is(ctx, "modules", "ib_core"), "the modules of the stack");
	ok(is(ctx, "providers", "irdma") && is(ctx, "verbs", "no"),
	   "the libraries of verbs");
	ok(is(ctx, "affinity.7", "0-1"), "where an interrupt goes");
	ok(is(ctx, "module.../../x", NULL), "no way out of the folder");
}

static void machine(void)
{
	put("/sys/module/irdma/version", "7.1\n");
	put("/sys/module/irdma/taint", "OE\n");
	put("/sys/module/irdma/srcversion", "ABC\n");
	put("/sys/module/irdma/drivers/pci:irdma/0000:01:00.0", "");
	put("/sys/module/irdma/drivers/pci:irdma/0000:02:00.0", "");
	put("/sys/module/siw/taint", "\n");
	put("/sys/module/ib_core/parameters/netns_mode", "N\n");
	put_link("/sys/class/infiniband/a.b/device", "../0000:01:00.0");
	put_link("/sys/class/infiniband/0000:01:00.0/driver", "bus/irdma");
	put("/sys/class/infiniband/a.b/ports/1/counters/port_xmit_data", "42\n");
	put("/sys/class/infiniband/a.b/ports/1/gids/0", "0000:0000\n");
	put("/sys/class/infiniband/a.b/ports/1/gids/2",
	    "fe80:0000:0000:0001\n");
	put("/sys/class/infiniband_verbs/uverbs2/ibdev", "other\n");
	put("/sys/class/infiniband_verbs/uverbs3/ibdev", "a.b\n");
	put("/dev/infiniband/uverbs3", "");
	put("/proc/4711/comm", "ib_write_bw\n");
	put("/proc/4711/stat",
	    "4711 (a) Z (b) T 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 1 18\n");
	put("/proc/4711/wchan", "do_signal_stop");
	put("/proc/4711/cgroup", "1:name=systemd:/old\n0::/user.slice/a b\n");
	put("/sys/fs/cgroup/user.slice/a b/cgroup.events",
	    "populated 1\nfrozen 0\n");
	put("/proc/4712/stat",
	    "4712 (x) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 3 18\n");
	put("/proc/4712/wchan", "0");
	put("/proc/4712/cgroup", "0::/docker/x\n");
	put("/sys/fs/cgroup/docker/x/cgroup.events", "populated 1\nfrozen 1\n");
	put("/proc/irq/7/effective_affinity_list", "0-1\n");
	put_link("/proc/self/ns/pid", "pid:[1]");
	put("/usr/lib/x86_64-linux-gnu/libibverbs/libirdma-rdmav34.so", "");
}

static void arrays(void)
{
	unsigned char room[8];
	struct eadm_grow fixed = {
		.p = room, .max = sizeof(room), .fixed = true,
	};
	struct eadm_grow bytes = { 0 };
	size_t n, max = 0;
	int *array = NULL;
	bool good = true;

	for (n = 0; n < 1000; n++) {
		array = eadm_grow_room(array, n, &max, sizeof(*array));
		array[n] = n;
	}
	for (n = 0; n < 1000; n++)
		good &= array[n] == (int)n;
	ok(good && max >= 1000, "an array grows and keeps what it has");
	free(array);
	for (n = 0; n < 1000; n++)
		eadm_grow_put(&bytes, &n, sizeof(n));
	ok(!bytes.fail && bytes.len == 1000 * sizeof(n), "bytes grow");
	free(bytes.p);
	eadm_grow_put(&fixed, "12345678", 8);
	ok(!fixed.fail && fixed.len == 8, "fixed room is filled");
	eadm_grow_put(&fixed, "9", 1);
	eadm_grow_put(&fixed, "", 0);
	ok(fixed.fail && fixed.len == 8, "and not left");
}

int main(void)
{
	struct eadm_ctx *ctx = eadm_new();
	char command[64];

	if (!mkdtemp(root) || !ctx || eadm_root_set(ctx, root) ||
	    eadm_open_live(ctx))
		return 1;
	machine();
	facts(ctx);
	arrays();
	eadm_free(ctx);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command) ? 1 : done();
}
