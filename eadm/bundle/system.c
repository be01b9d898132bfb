// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts about the machine as a whole. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bundle.h"

/* Patterns for modules and kernel log lines about RDMA that apply to any adapter. */
#define RDMA_WORDS						\
	"eadm|rdma|infiniband|\\bib[_-]|\\bib0|ib_core|ib_uverbs|"	\
	"uverbs|iw(_|cm|arp)|\\broce|\\bhfi1|qedr|cxgb4|\\busnic|" \
	"ocrdma|srpt?\\b|iser|smc[_-]"

/* Adds the names of known families to these patterns. */
static int compile_words(regex_t *re, int flags)
{
	const struct eadm_family *family = NULL;
	const char *name;
	char words[2048];
	unsigned int i;
	uint16_t vendor, device;
	size_t at;

	at = snprintf(words, sizeof(words), "%s", RDMA_WORDS);
	while ((family = eadm_family_next(family)) && at < sizeof(words)) {
		at += snprintf(words + at, sizeof(words) - at,
			       "|\\b%s(\\b|[0-9_])",
			       eadm_family_provider(family));
		for (i = 0; (name = eadm_family_module(family, i)) &&
			    at < sizeof(words); i++)
			at += snprintf(words + at, sizeof(words) - at, "|%s\\b",
				       name);
		for (i = 0; !eadm_family_pci_id(family, i, &vendor, &device) &&
			    at < sizeof(words); i++)
			at += snprintf(words + at, sizeof(words) - at,
				       "|%04x:%04x", vendor, device);
	}
	return at < sizeof(words) ?
		       regcomp(re, words, REG_EXTENDED | REG_NOSUB | flags) :
		       REG_ESPACE;
}

static int file_list(const char *const *paths, bool good)
{
	for (; *paths; paths++)
		good &= facts_file(*paths);
	return facts_status(good);
}

static int collect_kernel(struct bundle *b, const void *arg)
{
	static const char *const paths[] = {
		"/proc/sys/kernel/tainted",
		"/proc/uptime", "/proc/loadavg", "/proc/meminfo",
		"/etc/os-release", "/sys/kernel/security/lockdown",
		"/sys/class/dmi/id/sys_vendor",
		"/sys/class/dmi/id/product_name",
		"/sys/class/dmi/id/bios_version", "/sys/hypervisor/type",
		"/sys/devices/system/cpu/online",
		"/sys/devices/system/node/online",
		"/sys/devices/system/clocksource/clocksource0/current_clocksource",
		NULL,
	};
	struct utsname uts;
	bool good = true;

	(void)arg;
	if (!uname(&uts))
		printf("uname: %s %s %s %s\n", uts.sysname, uts.release,
		       uts.version, uts.machine);
	/* This names the user and the host that compiled the kernel. */
	if (!b->redactor)
		good = facts_file("/proc/version");
	return file_list(paths, good);
}

static int collect_limits(struct bundle *b, const void *arg)
{
	static const char *const paths[] = {
		"/proc/self/limits", "/proc/sys/kernel/pid_max",
		"/proc/sys/kernel/threads-max",
		"/proc/sys/vm/overcommit_memory",
		"/proc/sys/vm/max_map_count", "/proc/sys/vm/nr_hugepages",
		"/proc/sys/vm/min_free_kbytes",
		"/proc/sys/net/core/rmem_max", "/proc/sys/net/core/wmem_max",
		"/proc/sys/net/core/netdev_max_backlog",
		"/proc/sys/net/ipv4/tcp_congestion_control",
		"/sys/fs/cgroup/cgroup.controllers",
		"/sys/fs/cgroup/rdma.max", "/sys/fs/cgroup/rdma.current",
		"/sys/module/ib_core/parameters/netns_mode",
		NULL,
	};

	(void)b;
	(void)arg;
	return file_list(paths, true);
}

/* Prints the matching lines of a file; returns false if the file could not be read. */
static bool matching_lines(const char *path, const char *pattern)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	regex_t re;

	if (!file)
		return false;
	if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB)) {
		fclose(file);
		return false;
	}
	while (getline(&line, &size, file) > 0) {
		if (!regexec(&re, line, 0, NULL, 0))
			fputs(line, stdout);
	}
	regfree(&re);
	free(line);
	fclose(file);
	return true;
}

static int collect_config(struct bundle *b, const void *arg)
{
	static const char pattern[] =
		"CONFIG_(INFINIBAND|RDMA|SUNRPC_XPRT_RDMA|NVME_RDMA|"
		"NVME_TARGET_RDMA|SMC|RDS|CGROUP_RDMA|PCI_MSI|PCI_IOMMU|IOMMU|"
		"INTEL_IOMMU|AMD_IOMMU|HZ|PREEMPT|NUMA|HMM_MIRROR|"
		"MMU_NOTIFIER|AUXILIARY_BUS|KASAN|PROVE_LOCKING|DMA_API_DEBUG|"
		"TRANSPARENT_HUGEPAGE|SECURITY_LOCKDOWN|FAULT_INJECTION|"
		"64BIT|IPV6)[=_ ]";
	static const char *const places[] = {
		"/boot/config-%s", "/lib/modules/%s/config",
		"/lib/modules/%s/build/.config",
	};
	struct utsname uts;
	char path[256];
	size_t i;

	(void)b;
	(void)arg;
	if (uname(&uts))
		return STATUS_FAILED;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), places[i], uts.release);
		if (matching_lines(path, pattern))
			return STATUS_OK;
	}
	fprintf(stderr, "no config file of kernel %s in /boot or /lib/modules\n",
		uts.release);
	return STATUS_NOT_FOUND;
}

/* Prints a line of /proc/modules without the module's address. */
static void print_module(const char *line)
{
	const char *address = strstr(line, " 0x");
	int len = address ? (int)(address - line) : (int)strlen(line);

	printf("%.*s%s", len, line,
	       address ? address + 1 + strcspn(address + 1, " \n") : "");
}

static void module_facts(const char *name)
{
	static const char *const names[] = { "version", "srcversion", "taint",
					     "refcnt", NULL };
	char folder[160];

	snprintf(folder, sizeof(folder), "/sys/module/%.64s", name);
	facts_folder(folder, names);
	snprintf(folder, sizeof(folder), "/sys/module/%.64s/parameters", name);
	facts_folder(folder, NULL);
}

static int collect_modules(struct bundle *b, const void *arg)
{
	FILE *file = fopen("/proc/modules", "re");
	char *line = NULL;
	size_t size = 0;
	bool any = false;
	regex_t re;

	(void)b;
	(void)arg;
	if (!file) {
		fprintf(stderr, "/proc/modules: %s\n", strerror(errno));
		return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_FAILED;
	}
	if (compile_words(&re, 0)) {
		fclose(file);
		return STATUS_FAILED;
	}
	while (getline(&line, &size, file) > 0) {
		if (regexec(&re, line, 0, NULL, 0))
			continue;
		any = true;
		print_module(line);
		line[strcspn(line, " ")] = '\0';
		module_facts(line);
	}
	regfree(&re);
	free(line);
	fclose(file);
	if (!any)
		fprintf(stderr, "no RDMA module is loaded\n");
	return any ? STATUS_OK : STATUS_NOT_FOUND;
}

static int collect_interrupts(struct bundle *b, const void *arg)
{
	static const char *const paths[] = { "/proc/interrupts", NULL };

	(void)b;
	(void)arg;
	return file_list(paths, true);
}

/* ---- the kernel's log ---------------------------------------------------------- */

#define MAX_LINES 20000

/* Bytes that are not printable are written as "\xHH". */
static void unescape(char *text)
{
	unsigned int byte;
	char *to = text;

	for (; *text; text++, to++) {
		*to = *text;
		if (strncmp(text, "\\x", 2) || !isxdigit((unsigned char)text[2]) ||
		    !isxdigit((unsigned char)text[3]) || sscanf(text + 2, "%2x", &byte) != 1)
			continue;
		*to = isprint((int)byte) ? (char)byte : ' ';
		text += 3;
	}
	*to = '\0';
}

/* A ring of the newest lines: a fault is usually near the end of the log. */
struct newest {
	char *line[MAX_LINES];
	uint64_t n, dropped;	/* lines found, and those of them that were dropped */
	uint64_t bytes, room;	/* size of the others, and its limit */
	unsigned int dumps;	/* left out by redaction */
};

static void drop_oldest(struct newest *log)
{
	char **line = &log->line[log->dropped++ % MAX_LINES];

	log->bytes -= strlen(*line);
	free(*line);
	*line = NULL;
}

/* The format is "PRIORITY,NUMBER,MICROSECONDS,FLAGS;TEXT\n KEY=VALUE\n...". */
static bool keep_record(struct newest *log, char *record)
{
	unsigned long long us = 0;
	char *text = strchr(record, ';') + 1, *line;
	int len;

	sscanf(record, "%*u,%*u,%llu", &us);
	text[strcspn(text, "\n")] = '\0';
	unescape(text);
	len = asprintf(&line, "[%llu.%06llu] %s\n", us / 1000000, us % 1000000, text);
	if (len < 0)
		return false;
	if (log->n - log->dropped == MAX_LINES)
		drop_oldest(log);
	log->line[log->n++ % MAX_LINES] = line;
	log->bytes += len;
	while (log->bytes > log->room)
		drop_oldest(log);
	return true;
}

/* Records of the audit subsystem contain command lines. */
static bool is_audit(const char *record)
{
	const char *text = strchr(record, ';') + 1;

	return !strncmp(text, "audit", 5);
}

/* Four words or eight bytes in hexadecimal, which can be an address. */
static const char hex_dump[] = "([0-9a-f]{8} ){3}[0-9a-f]{8}|([0-9a-f]{2} ){7}[0-9a-f]{2}";

/* Returns 0 or a negative errno; sets @lost if messages were overwritten meanwhile. */
static int read_log(int fd, bool redact, struct newest *log, bool *lost)
{
	regex_t words, dump;
	char record[8193];
	ssize_t n;
	int ret = 0;

	if (compile_words(&words, REG_ICASE))
		return -ENOMEM;
	if (regcomp(&dump, hex_dump, REG_EXTENDED | REG_NOSUB | REG_ICASE)) {
		regfree(&words);
		return -ENOMEM;
	}
	while (!ret) {
		n = read(fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE) {
			*lost = true;
			continue;
		}
		if (n < 0 && errno != EAGAIN)
			ret = -errno;
		if (n <= 0)
			break;
		record[n] = '\0';
		if (!strchr(record, ';') || is_audit(record) ||
		    regexec(&words, record, 0, NULL, 0))
			continue;
		if (redact && !regexec(&dump, strchr(record, ';'), 0, NULL, 0))
			log->dumps++;
		else if (!keep_record(log, record))
			ret = -ENOMEM;
	}
	regfree(&words);
	regfree(&dump);
	return ret;
}

/* Prints the lines and frees them. */
static void print_log(struct newest *log)
{
	uint64_t i, dropped = log->dropped;

	for (i = dropped; i < log->n; i++) {
		fputs(log->line[i % MAX_LINES], stdout);
		free(log->line[i % MAX_LINES]);
	}
	if (log->dumps)
		printf("%u %s with bytes in hexadecimal left out\n", log->dumps,
		       plural(log->dumps, "line", "lines"));
	if (dropped)
		fprintf(stderr, "%" PRIu64 " older %s left out%s\n", dropped,
			plural(dropped, "line was", "lines were"),
			log->n - dropped < MAX_LINES ? " (--max-size)" : "");
}

int collect_kernel_log(struct bundle *b, const void *arg)
{
	static struct newest log;
	struct rlimit room;
	bool lost = false;
	int fd, ret;

	(void)arg;
	fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "/dev/kmsg: %s\n", strerror(errno));
		return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_PERMISSION;
	}
	/* Output beyond this limit would be cut off, and with it the newest lines. */
	log = (struct newest){
		.room = getrlimit(RLIMIT_FSIZE, &room) ? RLIM_INFINITY : room.rlim_cur,
	};
	ret = read_log(fd, b->redactor, &log, &lost);
	close(fd);
	print_log(&log);
	if (ret)
		fprintf(stderr, "/dev/kmsg: %s\n", strerror(-ret));
	else if (lost)
		fprintf(stderr, "the kernel overwrote messages before they were read\n");
	else if (!log.n && !log.dumps)
		fprintf(stderr, "no messages about RDMA in the kernel log\n");
	if (ret)
		return log.n ? STATUS_PARTIAL : STATUS_PERMISSION;
	if (!log.n && !log.dumps)
		return STATUS_NOT_FOUND;
	return facts_status(!lost && !log.dropped);
}

const struct fact_source facts_before[] = {
	{ "system/kernel.txt", "kernel, distribution, memory, load",
	  collect_kernel },
	{ "system/config.txt", "relevant kernel configuration options",
	  collect_config },
	{ "system/limits.txt", "limits", collect_limits },
	{ "system/modules.txt", "modules and their parameters",
	  collect_modules },
	{ "system/interrupts.txt", "interrupts", collect_interrupts },
	{ "rdma/hw_counters.txt", "counters in sysfs", collect_hw_counters },
	{ NULL },
};

const struct fact_source facts_after[] = {
	{ "rdma/devices.txt", "RDMA devices in sysfs", collect_rdma },
	{ "rdma/pci.txt", "PCI functions", collect_pci },
	{ "rdma/interrupts.txt", "CPU affinity of the adapters' interrupts",
	  collect_affinity },
	{ "net/netdev.txt", "network interfaces and their addresses",
	  collect_netdev },
	{ "rdma/hw_counters-later.txt", "counters in sysfs, second reading",
	  collect_hw_counters },
	{ "log/kernel.txt", "kernel log messages about RDMA",
	  collect_kernel_log, true },
	{ NULL },
};
