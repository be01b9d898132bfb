// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Facts about how this machine is set up. Where it has nothing of a kind the
 * fact is "": a capture tells what was not there from what was not recorded.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "priv.h"

#define MAX_PATH 256
#define MAX_GIDS 16

/* First line of a file of the system; false, and nothing, if it cannot be read. */
bool eadm_read_line(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, buf, size - 1);
	close(fd);
	if (len < 0)
		return false;
	buf[len] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

/* ---- one function for each fact, which finds an empty buffer ------------------- */

static void access_fact(const char *name, char *buf, size_t size)
{
	char path[MAX_PATH];

	snprintf(path, sizeof(path), "/dev/infiniband/%.64s", name);
	snprintf(buf, size, "%d", access(path, R_OK | W_OK) ? errno : 0);
}

/* Adds a word that is not there yet and for which there is room. */
static void add_word(char *buf, size_t size, const char *word, size_t len)
{
	size_t used = strlen(buf), n;
	const char *at;

	for (at = buf; *at; at += n + (at[n] == ' ')) {
		n = strcspn(at, " ");
		if (n == len && !memcmp(at, word, len))
			return;
	}
	if (used + 1 + len < size)
		snprintf(buf + used, size - used, "%s%.*s", used ? " " : "",
			 (int)len, word);
}

/* The PCI functions that the drivers of a module serve. */
static void bound_fact(const char *module, char *buf, size_t size)
{
	const char *address;
	char path[MAX_PATH];
	glob_t found;
	size_t i;

	snprintf(path, sizeof(path), "/sys/module/%.64s/drivers/pci:*/*:*:*.*",
		 module);
	glob(path, GLOB_NOSORT, NULL, &found);
	for (i = 0; i < found.gl_pathc; i++) {
		address = strrchr(found.gl_pathv[i], '/') + 1;
		add_word(buf, size, address, strlen(address));
	}
	globfree(&found);
}

static void cpus_fact(const char *name, char *buf, size_t size)
{
	(void)name;
	snprintf(buf, size, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
}

static void gid_fact(const char *device, char *buf, size_t size)
{
	char path[MAX_PATH], gid[64];
	int i;

	for (i = 0; i < MAX_GIDS; i++) {
		snprintf(path, sizeof(path),
			 "/sys/class/infiniband/%.64s/ports/1/gids/%d", device,
			 i);
		if (eadm_read_line(path, gid, sizeof(gid)) &&
		    gid[strspn(gid, "0:")]) {
			snprintf(buf, size, "%d %s", i, gid);
			return;
		}
	}
}

static void ipv4_fact(const char *interface, char *buf, size_t size)
{
	const struct ifaddrs *i;
	struct ifaddrs *list;
	bool found = false;

	if (getifaddrs(&list))
		return;
	for (i = list; i && !found; i = i->ifa_next)
		found = i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
			!strcmp(i->ifa_name, interface);
	freeifaddrs(list);
	snprintf(buf, size, "%s", found ? "yes" : "no");
}

static void memlock_fact(const char *name, char *buf, size_t size)
{
	struct rlimit limit;

	(void)name;
	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		snprintf(buf, size, "unlimited");
	else
		snprintf(buf, size, "%" PRIu64, (uint64_t)limit.rlim_cur);
}

static void modules_fact(const char *name, char *buf, size_t size)
{
	static const char *const modules[] = { "ib_core", "ib_uverbs",
					       "rdma_cm", "rdma_ucm" };
	char path[MAX_PATH];
	size_t i;

	(void)name;
	for (i = 0; i < EADM_ARRAY_SIZE(modules); i++) {
		snprintf(path, sizeof(path), "/sys/module/%s", modules[i]);
		if (!access(path, F_OK))
			add_word(buf, size, modules[i], strlen(modules[i]));
	}
}

static void netns_fact(const char *name, char *buf, size_t size)
{
	char shared[8];

	(void)name;
	/* The parameter says whether namespaces share the devices. */
	if (eadm_read_line("/sys/module/ib_core/parameters/netns_mode", shared,
			   sizeof(shared)))
		snprintf(buf, size, "%s",
			 *shared == 'Y' ? "shared" : "exclusive");
}

/* Where the loader looks. */
static void find_libraries(const char *pattern, glob_t *found)
{
	static const char *const places[] = {
		"/usr/lib/*", "/usr/lib64", "/usr/lib", "/lib/*",
		"/usr/local/lib/*", "/usr/local/lib", "/usr/local/lib64",
	};
	char path[MAX_PATH];
	size_t i;

	memset(found, 0, sizeof(*found));
	for (i = 0; i < EADM_ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), "%s/%s", places[i], pattern);
		glob(path, GLOB_NOSORT | GLOB_APPEND, NULL, found);
	}
}

static void providers_fact(const char *name, char *buf, size_t size)
{
	const char *file, *end;
	glob_t found;
	size_t i;

	(void)name;
	find_libraries("libibverbs/lib*-rdmav*.so", &found);
	for (i = 0; i < found.gl_pathc; i++) {
		file = strrchr(found.gl_pathv[i], '/') + strlen("/lib");
		end = strstr(file, "-rdmav");
		if (end)
			add_word(buf, size, file, end - file);
	}
	globfree(&found);
}

static void uverbs_fact(const char *device, char *buf, size_t size)
{
	DIR *dir = opendir("/sys/class/infiniband_verbs");
	char path[MAX_PATH], name[64];
	const struct dirent *entry;

	while (dir && !*buf && (entry = readdir(dir))) {
		snprintf(path, sizeof(path),
			 "/sys/class/infiniband_verbs/%.64s/ibdev",
			 entry->d_name);
		if (eadm_read_line(path, name, sizeof(name)) &&
		    !strcmp(name, device))
			snprintf(buf, size, "%s", entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static void verbs_fact(const char *name, char *buf, size_t size)
{
	glob_t found;

	(void)name;
	find_libraries("libibverbs.so.1", &found);
	snprintf(buf, size, "%s", found.gl_pathc ? "yes" : "no");
	globfree(&found);
}

static void read_file_fact(const char *before, const char *name,
			   const char *after, char *buf, size_t size)
{
	char path[MAX_PATH];

	snprintf(path, sizeof(path), "%s%.64s%s", before, name, after);
	eadm_read_line(path, buf, size);
}

/* ---- all of them ----------------------------------------------------------------- */

/*
 * After a dot comes the name of what the fact is about. A fact without a
 * function is the first line of the file whose path has the name between
 * @before and @after.
 */
static const struct {
	const char *key;
	void (*read)(const char *name, char *buf, size_t size);
	const char *before, *after;
} facts[] = {
	{ "access.", access_fact },
	{ "affinity.", NULL, "/proc/irq/", "/effective_affinity_list" },
	{ "bound.", bound_fact },
	{ "cpus", cpus_fact },
	{ "gid.", gid_fact },
	{ "iommu.", NULL, "/sys/class/infiniband/", "/device/iommu_group/type" },
	{ "ipv4.", ipv4_fact },
	{ "lockdown", NULL, "/sys/kernel/security/lockdown", "" },
	{ "memlock", memlock_fact },
	{ "modules", modules_fact },
	{ "mtu.", NULL, "/sys/class/net/", "/mtu" },
	{ "netns-mode", netns_fact },
	{ "providers", providers_fact },
	{ "uverbs.", uverbs_fact },
	{ "verbs", verbs_fact },
};

static bool is_named(const char *key)
{
	return key[strlen(key) - 1] == '.';
}

/* A fact of this machine; false if there is none of this key. */
bool eadm_machine_fact(const char *key, char *buf, size_t size)
{
	const char *name;
	size_t i, len;

	for (i = 0; i < EADM_ARRAY_SIZE(facts); i++) {
		len = strlen(facts[i].key);
		name = key + len;
		if (strncmp(key, facts[i].key, len) ||
		    !*name == is_named(facts[i].key))
			continue;
		if (*name == '.' || strchr(name, '/'))
			return false;
		*buf = '\0';
		if (facts[i].read)
			facts[i].read(name, buf, size);
		else
			read_file_fact(facts[i].before, name, facts[i].after,
				       buf, size);
		return true;
	}
	return false;
}

/* Only the fact goes into the capture, not how its name was found. */
static const char *record(struct eadm_ctx *ctx, struct eadm_capture *capture,
			  const char *key, const char *name)
{
	const char *value;
	char full[160];

	if (!name || !*name)
		return NULL;
	snprintf(full, sizeof(full), "%s%s", key, name);
	ctx->capture = capture;
	value = eadm_source_fact(ctx, full);
	ctx->capture = NULL;
	return value;
}

static void record_device(struct eadm_ctx *ctx, struct eadm_capture *capture,
			  const struct eadm_record *dev)
{
	const struct eadm_object *object = dev->object;
	const char *name = eadm_record_string(
		dev, eadm_object_find_field(object, "dev-name"));
	const char *netdev = eadm_record_string(
		dev, eadm_object_find_field(object, "netdev"));

	record(ctx, capture, "gid.", name);
	record(ctx, capture, "iommu.", name);
	record(ctx, capture, "access.", record(ctx, capture, "uverbs.", name));
	record(ctx, capture, "ipv4.", netdev);
	record(ctx, capture, "mtu.", netdev);
	record(ctx, capture, "module.",
	       eadm_record_string(dev,
				  eadm_object_find_field(object, "driver")));
}

static void record_queue(struct eadm_ctx *ctx, struct eadm_capture *capture,
			 const struct eadm_record *eq)
{
	char number[24];
	uint64_t irq;

	if (eadm_record_u64(eq, eadm_object_find_field(eq->object, "irq"),
			    &irq))
		return;
	snprintf(number, sizeof(number), "%" PRIu64, irq);
	record(ctx, capture, "affinity.", number);
}

static void record_rows(struct eadm_ctx *ctx, struct eadm_capture *capture,
			const char *object,
			void (*row)(struct eadm_ctx *ctx,
				    struct eadm_capture *capture,
				    const struct eadm_record *record))
{
	const struct eadm_record *rec;
	struct eadm_dump *dump;

	if (eadm_dump_open(ctx, eadm_object_find(object), NULL, &dump))
		return;
	while (eadm_dump_next(dump, &rec) > 0)
		row(ctx, capture, rec);
	eadm_dump_close(dump);
}

/*
 * All facts of the machine that the source tells. They stand before the first
 * moment and hold for all: they hardly change, and are many.
 */
void eadm_capture_machine(struct eadm_ctx *ctx)
{
	struct eadm_capture *capture = ctx->capture;
	size_t i;

	ctx->capture = NULL;
	for (i = 0; i < EADM_ARRAY_SIZE(facts); i++) {
		if (!is_named(facts[i].key))
			record(ctx, capture, "", facts[i].key);
	}
	record(ctx, capture, "access.", "rdma_cm");
	record_rows(ctx, capture, "dev", record_device);
	record_rows(ctx, capture, "eq", record_queue);
	ctx->capture = capture;
}
