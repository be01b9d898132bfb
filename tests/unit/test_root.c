// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows about a machine that lies in a folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/root.h"
#include "eadm_nl.h"
#include "grow.h"
#include "read/machine.h"
#include "source/devlist.h"
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
	char path[512];
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

/* The row about the machine that the last of eadm_query_arg() asked for. */
static struct eadm_query query;
static struct eadm_reply reply;
static struct eadm_record row;

static void ask(unsigned int object)
{
	query = eadm_query_local(object);
}

static bool look(struct eadm_ctx *ctx)
{
	unsigned int i;

	eadm_reply_close(&reply);
	for (i = 0; i < EADM_SPEC_OBJ_COUNT; i++) {
		if (eadm_spec_objects[i].cmd == query.cmd)
			break;
	}
	return eadm_machine_open(ctx, &query, &eadm_spec_objects[i], &reply,
				 &row) > 0;
}

/* @want NULL: the row does not have the field. */
static bool is(const char *name, const char *want)
{
	const struct eadm_field *field =
		eadm_object_find_field(row.object, name);
	char text[256];

	if (!eadm_record_has(&row, field))
		return !want;
	eadm_record_text(&row, field, text, sizeof(text));
	if (want && !strcmp(text, want))
		return true;
	printf("# %s is \"%s\"\n", name, text);
	return false;
}

static bool module(struct eadm_ctx *ctx, const char *name)
{
	ask(EADM_SPEC_OBJ_MODULE);
	eadm_query_arg(&query, EADM_A_MODULE_NAME, EADM_ARG_STRING, 0, name,
		       false);
	return look(ctx);
}

static bool device(struct eadm_ctx *ctx, unsigned int object, uint16_t want)
{
	ask(object);
	eadm_query_arg(&query, EADM_A_DEV_DEV_INDEX, EADM_ARG_U32, 5, NULL,
		       false);
	eadm_query_arg(&query, want, EADM_ARG_FLAG, 0, NULL, true);
	return look(ctx) && is("dev-name", "a.b");
}

static bool process(struct eadm_ctx *ctx, unsigned int pid)
{
	query = eadm_machine_process(pid);
	return look(ctx);
}

static void rows(struct eadm_ctx *ctx)
{
	ok(module(ctx, "irdma") && is("loaded", "1") && is("version", "7.1") &&
		   is("origin", "out of tree, srcversion ABC") &&
		   (is("functions", "0000:01:00.0 0000:02:00.0") ||
		    is("functions", "0000:02:00.0 0000:01:00.0")),
	   "a module");
	ok(module(ctx, "siw") && is("loaded", "1") && is("version", "") &&
		   is("origin", "in-tree") && is("functions", ""),
	   "one without a version");
	ok(module(ctx, "rxe") && is("loaded", "0") && is("version", NULL),
	   "one that is not loaded");
	ok(!module(ctx, "../../x") && !module(ctx, "..") && !module(ctx, ""),
	   "no way out of the folder");
	ok(device(ctx, EADM_SPEC_OBJ_DEV, EADM_A_DEV_DRIVER) &&
		   is("driver", "irdma") && is("bus-addr", "0000:01:00.0") &&
		   is("max-qp", NULL),
	   "the driver of a device and its place");
	ok(device(ctx, EADM_SPEC_OBJ_DEV, EADM_A_DEV_LINK_SPEED) &&
		   is("gids", "3=fe80::5054:ff:feed:a000 4=::ffff:10.77.0.1") &&
		   is("gid-index", NULL) && is("gid-others", "3=other-netns 4=no-netdev") &&
		   is("link-speed", "100000000000") && is("driver", NULL) &&
		   is("pcie-speed", "8.0 GT/s PCIe") && is("pcie-width", "8") &&
		   is("pcie-max-width", "16") && is("addresses", NULL),
	   "GIDs, the link and the bus of a device");
	device(ctx, EADM_SPEC_OBJ_DEV, EADM_A_DEV_ADDRESSES);
	eadm_query_arg(&query, EADM_A_DEV_NETDEV, EADM_ARG_STRING, 0, "eth7",
		       false);
	ok(look(ctx) && is("addresses", "") && is("gids", NULL),
	   "an interface without an address");
	ok(device(ctx, EADM_SPEC_OBJ_SETUP, EADM_A_SETUP_GID) &&
		   is("gid", "fe80::5054:ff:feed:a000") && is("gid-index", "3") &&
		   is("gid-netdev", "eth7") && is("gid-type", "RoCE v2") && is("gid-scope", "link-local") &&
		   is("gid-usable", "other-netns") && is("gid-others", "4=no-netdev") && is("uverbs", NULL),
	   "only what is wanted of its setup");
	ok(device(ctx, EADM_SPEC_OBJ_SETUP, EADM_A_SETUP_UVERBS) &&
		   is("uverbs", "uverbs3") && is("uverbs-error", NULL),
	   "the name of a file, which is not opened");
	put("/sys/class/infiniband_verbs/uverbs3/ibdev", "other\n");
	put("/sys/class/infiniband_verbs/uverbs2/ibdev", "a.b\n");
	ok(device(ctx, EADM_SPEC_OBJ_SETUP, EADM_A_SETUP_UVERBS) &&
		   is("uverbs", "uverbs2"), "files whose devices were exchanged");
	put("/sys/class/infiniband_verbs/uverbs2/ibdev", "other\n");
	ok(device(ctx, EADM_SPEC_OBJ_SETUP, EADM_A_SETUP_UVERBS) &&
		   is("uverbs", ""), "a device that has lost its file");
	put("/sys/class/infiniband_verbs/uverbs3/ibdev", "a.b\n");
	ask(EADM_SPEC_OBJ_SETUP);
	eadm_query_arg(&query, EADM_A_SETUP_DEV_INDEX, EADM_ARG_U32, 5, NULL,
		       false);
	ok(look(ctx) && is("uverbs", "uverbs3") && is("uverbs-error", "0") &&
		   is("gid-index", "3") && is("iommu", "") &&
		   is("netdev-mtu", NULL),
	   "all of it");
	eadm_query_arg(&query, EADM_A_SETUP_NETDEV, EADM_ARG_STRING, 0, "eth7",
		       false);
	ok(look(ctx) && is("netdev", "eth7") && is("netdev-mtu", "4096") &&
		   is("netdev-ipv4", "0"),
	   "and of its network interface");
	device(ctx, EADM_SPEC_OBJ_SETUP, EADM_A_SETUP_DRIVER_INTERFACE);
	ok(is("driver-interface", NULL) && is("companion-interface", NULL),
	   "a driver without an interface to the companion");
	put("/sys/bus/auxiliary/devices/irdma.diag2.5/interface", "0000001f\n");
	device(ctx, EADM_SPEC_OBJ_SETUP, EADM_A_SETUP_DRIVER_INTERFACE);
	ok(is("driver-interface", "0x1f") && is("companion-interface", NULL) &&
		   is("uverbs", NULL),
	   "one that has it, without the companion");
	put("/sys/bus/auxiliary/drivers/eadm/interface", "9c0b34f1\n");
	device(ctx, EADM_SPEC_OBJ_SETUP, EADM_A_SETUP_DRIVER_INTERFACE);
	ok(is("driver-interface", "0x1f") &&
		   is("companion-interface", "0x9c0b34f1"),
	   "a driver and a companion from different builds");
	put("/sys/bus/auxiliary/drivers/eadm/interface", "none\n");
	device(ctx, EADM_SPEC_OBJ_SETUP, EADM_A_SETUP_DRIVER_INTERFACE);
	ok(is("companion-interface", NULL), "an interface that is no number");
	ask(EADM_SPEC_OBJ_PORT_COUNTER);
	eadm_query_arg(&query, EADM_A_PORT_COUNTER_DEV_INDEX, EADM_ARG_U32, 5,
		       NULL, false);
	eadm_query_arg(&query, EADM_A_PORT_COUNTER_PORT, EADM_ARG_U32, 1, NULL,
		       false);
	ok(look(ctx) && is("name", "port_xmit_data") && is("value", "42") &&
		   !eadm_machine_next(&reply, row.object, &row),
	   "counters of its port, without what is no number");
	ask(EADM_SPEC_OBJ_GID);
	eadm_query_arg(&query, EADM_A_GID_DEV_INDEX, EADM_ARG_U32, 5, NULL, false);
	ok(look(ctx) && is("port", "1") && is("gid-index", "3") &&
		   is("gid", "fe80::5054:ff:feed:a000") && is("type", "RoCE v2") &&
		   is("netdev", "eth7") && is("namespace", "another") && is("scope", "link-local") &&
		   is("usable", "other-netns"),
	   "a GID, its protocol and its interface");
	ok(eadm_machine_next(&reply, row.object, &row) == 1 && is("gid-index", "4") &&
		   is("gid", "::ffff:10.77.0.1") && is("type", NULL) && is("netdev", NULL) &&
		   is("namespace", NULL) && is("scope", "ipv4") && is("usable", "no-netdev"),
	   "one without them");
	ok(eadm_machine_next(&reply, row.object, &row) == 1 && is("port", "2") &&
		   is("gid-index", "0") && is("scope", NULL) && is("usable", "best") &&
		   !eadm_machine_next(&reply, row.object, &row),
	   "GIDs of each port, by its protocol");
	ok(process(ctx, 4711) && is("comm", "ib_write_bw") &&
		   is("state", "stopped") && is("wchan", "do_signal_stop") &&
		   is("frozen", "0") && is("cgroup", "/user.slice/a b"),
	   "a process that is stopped, whose name has brackets and blanks");
	ok(process(ctx, 4712) && is("state", "sleeping") &&
		   is("wchan", NULL) && is("frozen", "1") &&
		   is("cgroup", "/docker/x"),
	   "one whose main thread has ended, in a frozen control group");
	ok(!process(ctx, 4713), "one that is not there");
	eadm_query_arg(&query, EADM_A_PROCESS_COMM, EADM_ARG_FLAG, 0, NULL,
		       true);
	query.args[0].u = 4711;
	ok(look(ctx) && is("comm", "ib_write_bw") && is("state", NULL),
	   "only the name of a process");
	ask(EADM_SPEC_OBJ_MACHINE);
	ok(look(ctx) && is("host-pids", "0") && is("netns-mode", "exclusive") &&
		   is("lockdown", "") && is("dev-name", NULL),
	   "the machine; what it has nothing of is \"\"");
	ask(EADM_SPEC_OBJ_VERBS);
	ok(look(ctx) && is("providers", "irdma") && is("installed", "0") &&
		   is("rdma-cm-error", "-2") && is("devices", NULL) &&
		   is("configured", "irdma") && is("faults", ""),
	   "the libraries of verbs");
	put_link("/etc/libibverbs.d/mlx5.driver", "nowhere");
	ok(look(ctx) && is("configured", "irdma") &&
		   is("faults", "mlx5: /etc/libibverbs.d/mlx5.driver: No such file or directory"),
	   "a file of a provider that cannot be read");
	ask(EADM_SPEC_OBJ_FUNCTION);
	eadm_query_arg(&query, EADM_A_FUNCTION_VENDOR_ID, EADM_ARG_U32, 0xabcd,
		       NULL, false);
	ok(look(ctx) && is("address", "0000:01:00.0") && is("part-id", "0x42") &&
		   is("driver", "vfio-pci") && is("override", "vfio-pci") &&
		   is("devices", "") && is("module", NULL),
	   "a function bound to a driver for virtual machines");
	ok(eadm_machine_next(&reply, row.object, &row) == 1 &&
		   is("address", "0000:02:00.0") && is("driver", "") &&
		   is("override", "") && is("devices", "") && is("module", "right"),
	   "one without a driver, and the module for it");
	ok(eadm_machine_next(&reply, row.object, &row) == 1 &&
		   is("address", "0000:03:00.0") && is("driver", "driver") &&
		   is("devices", "dev_0") &&
		   !eadm_machine_next(&reply, row.object, &row),
	   "one with a device; those of other vendors are left out");
	ask(EADM_SPEC_OBJ_IRQ);
	eadm_query_arg(&query, EADM_A_IRQ_IRQ, EADM_ARG_U32, 7, NULL, false);
	ok(look(ctx) && is("affinity", "0-1"), "where an interrupt goes");
	ask(EADM_SPEC_OBJ_QP);
	ok(!look(ctx), "other rows are not of files");
	eadm_reply_close(&reply);
	eadm_record_release(&row);
}

static void function(const char *address, const char *vendor, const char *driver,
		     const char *override)
{
	char path[128], to[64];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", address);
	put(path, vendor);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/device", address);
	put(path, "0x0042\n");
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/modalias", address);
	put(path, "pci:v0000ABCDd00000042sv0\n");
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver_override",
		 address);
	put(path, override);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", address);
	snprintf(to, sizeof(to), "../../../bus/pci/drivers/%s", driver);
	if (*driver)
		put_link(path, to);
}

static void functions(void)
{
	struct utsname uts;
	char path[160];

	function("0000:03:00.0", "0xabcd\n", "driver", "(null)\n");
	function("0000:01:00.0", "0xabcd\n", "vfio-pci", "vfio-pci\n");
	function("0000:02:00.0", "0xabcd\n", "", "(null)\n");
	function("0000:00:00.0", "0x8086\n", "", "(null)\n");
	put("/sys/bus/pci/devices/0000:03:00.0/infiniband/dev_0/x", "");
	if (uname(&uts))
		exit(1);
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.alias",
		 uts.release);
	put(path, "# a comment\nalias pci:v0000ABCDd00000043sv* wrong\n"
		  "alias pci:v0000ABCDd00000042sv* right\nalias pci:* later\n");
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
	put("/sys/class/infiniband/a.b/ports/1/counters/odd", "N/A\n");
	put("/sys/class/infiniband/a.b/node_type", "1: CA\n");
	put("/sys/class/infiniband/a.b/ports/1/link_layer", "Ethernet\n");
	put("/sys/class/infiniband/a.b/ports/2/link_layer", "InfiniBand\n");
	put("/sys/class/infiniband/a.b/ports/1/gids/0", "0000:0000\n");
	put("/sys/class/infiniband/a.b/ports/1/rate", "100 Gb/sec (4X EDR)\n");
	put("/sys/class/infiniband/0000:01:00.0/current_link_speed", "8.0 GT/s PCIe\n");
	put("/sys/class/infiniband/0000:01:00.0/current_link_width", "8\n");
	put("/sys/class/infiniband/0000:01:00.0/max_link_width", "16\n");
	put("/sys/class/net/eth7/mtu", "4096\n");
	put("/sys/class/infiniband/a.b/ports/1/gids/1", "0000:0000\n");
	put("/sys/class/infiniband/a.b/ports/1/gids/3",
	    "fe80:0000:0000:0000:5054:00ff:feed:a000\n");
	put("/sys/class/infiniband/a.b/ports/1/gid_attrs/types/3", "RoCE v2\n");
	put("/sys/class/infiniband/a.b/ports/1/gid_attrs/ndevs/3", "eth7\n");
	put("/sys/class/infiniband/a.b/ports/2/gids/0",
	    "fe80:0000:0000:0000:5054:00ff:feed:a000\n");
	put("/sys/class/infiniband/a.b/ports/1/gids/4",
	    "0000:0000:0000:0000:0000:ffff:0a4d:0001\n");
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
	put("/proc/4712/comm", "x\n");
	put("/proc/4712/wchan", "0");
	put("/proc/4712/cgroup", "0::/docker/x\n");
	put("/sys/fs/cgroup/docker/x/cgroup.events", "populated 1\nfrozen 1\n");
	put("/proc/irq/7/effective_affinity_list", "0-1\n");
	put_link("/proc/self/ns/pid", "pid:[1]");
	put("/usr/lib/x86_64-linux-gnu/libibverbs/libirdma-rdmav34.so", "");
	put("/etc/libibverbs.d/irdma.driver", "# a comment\ndriver irdma\n");
	put("/etc/libibverbs.d/.driver", "driver hidden\n");
}

static void arrays(void)
{
	unsigned char room[8];
	struct eadm_bytes fixed = {
		.p = room, .max = sizeof(room), .fixed = true,
	};
	struct eadm_bytes bytes = { 0 };
	size_t n, max = 0;
	int *array = NULL;
	bool good = true;

	for (n = 0; n < 1000; n++) {
		if (!grow(array, n, max))
			break;
		array[n] = n;
	}
	for (n = 0; n < 1000; n++)
		good &= array[n] == (int)n;
	ok(good && max >= 1000, "an array grows and keeps what it has");
	free(array);
	for (n = 0; n < 1000; n++)
		eadm_bytes_put(&bytes, &n, sizeof(n));
	ok(!bytes.fail && bytes.len == 1000 * sizeof(n), "bytes grow");
	free(bytes.p);
	eadm_bytes_put(&fixed, "12345678", 8);
	ok(!fixed.fail && fixed.len == 8, "fixed room is filled");
	eadm_bytes_put(&fixed, "9", 1);
	eadm_bytes_put(&fixed, "", 0);
	ok(fixed.fail && fixed.len == 8, "and not left");
}

#define UID	"0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
#define UNIT	"0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9"
#define ID	"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define HASH	"00112233445566778899aabbccddeeff"
#define SLICES	"/kubepods.slice/kubepods-burstable.slice"

/* Paths of control groups as container runtimes make them, and others that look like them. */
static void containers(struct eadm_ctx *ctx)
{
	static const struct {
		const char *about, *lines, *pod, *container;
	} paths[] = {
		{ "containerd, by systemd", "0::" SLICES "/kubepods-burstable-pod"
		  UNIT ".slice/cri-containerd-" ID ".scope\n", UID, ID },
		{ "CRI-O, a group below it", "0::" SLICES "/kubepods-burstable-pod"
		  UNIT ".slice/crio-" ID ".scope/container\n", UID, ID },
		{ "by cgroupfs", "0::/kubepods/besteffort/pod" UID "/" ID "\n",
		  UID, ID },
		{ "a pod of a file", "0::/kubepods.slice/kubepods-pod" HASH
		  ".slice/cri-containerd-" ID ".scope\n", HASH, ID },
		{ "a node that is a container", "0::/docker/" HASH HASH
		  "/kubelet.slice/kubelet-kubepods-pod" UNIT
		  ".slice/cri-containerd-" ID ".scope\n", UID, ID },
		{ "docker", "0::/system.slice/docker-" ID ".scope\n", NULL, ID },
		{ "podman", "0::/user.slice/user-1000.slice/user@1000.service/"
		  "user.slice/libpod-" ID ".scope/container\n", NULL, ID },
		{ "version 1", "12:rdma:/kubepods/pod" UID "/" ID "\n"
		  "1:name=systemd:/kubepods/pod" UID "/" ID "\n0::/\n", UID, ID },
		{ "none", "0::/system.slice/sshd.service\n", NULL, NULL },
		{ "a service with a long number", "0::/system.slice/job" ID
		  ".service\n", NULL, NULL },
		{ "a name with pod in it", "0::/system.slice/podman-" UNIT
		  ".service\n", NULL, NULL },
		{ "the root", "0::/\n", NULL, NULL },
	};
	char group[512];
	size_t i;

	put("/proc/21/comm", "job\n");
	put("/proc/21/stat", "21 (job) S 1 21 21 0 -1 0 0 0 0 0 0 0 0 0 0 20 0 1 0 1\n");
	for (i = 0; i < EADM_ARRAY_SIZE(paths); i++) {
		put("/proc/21/cgroup", paths[i].lines);
		ok(process(ctx, 21) && is("pod", paths[i].pod) &&
			   is("container", paths[i].container),
		   "control group: %s", paths[i].about);
	}
	/* Its path has 191 characters. */
	put("/proc/21/cgroup", paths[0].lines);
	snprintf(group, sizeof(group), "/sys/fs/cgroup%.*s/cgroup.events",
		 (int)strlen(paths[0].lines) - 4, paths[0].lines + 3);
	put(group, "populated 1\nfrozen 1\n");
	ok(process(ctx, 21) && is("frozen", "1"), "a paused container of a pod");
}

int main(void)
{
	struct eadm_ctx *ctx = eadm_new();
	char command[64];

	if (!mkdtemp(root) || !ctx || eadm_root_set(ctx, root) ||
	    eadm_open_live(ctx))
		return 1;
	machine();
	functions();
	eadm_device_add(ctx, 5, "a.b");
	rows(ctx);
	containers(ctx);
	arrays();
	eadm_free(ctx);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command) ? 1 : done();
}
