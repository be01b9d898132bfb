// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Loads the probe's programs and leaves them attached, all pinned below EADM_PROBE_DIR.
 * This is a separate program, run by "eadm probe start", because only this part needs
 * libbpf and privileges.
 *
 *	eadm-probe start|run LEVEL BYTES [BTF]
 *	eadm-probe stop
 *
 * LEVEL is typed, kprobe or auto. An error is printed as one line. On success, "start"
 * prints nothing; "run" prints a line once it records, then waits. A signal, or the end
 * of the process that holds the other end of its standard input, ends "run" and undoes an
 * incomplete "start".
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "eadm_values.h"
#include "early.skel.h"
#include "kprobe.skel.h"
#include "loader.h"
#include "../record.h"
#include "typed.skel.h"

#define IB_CORE_TYPES "/sys/kernel/btf/ib_core"
#define N_EXPORTED 2		/* types in a kernel whose modules have no types */
#define LEAST_SLOTS 64
#define MOST_SLOTS 65536

/* All variants have the same maps and variables, but in different structs. */
struct probe {
	struct typed *typed;
	struct kprobe *kprobe;
	struct early *early;
	struct bpf_object *object;
	struct bpf_map *records, *cpus, *devs, *info, *in_flight;
	struct eadm_probe_info about;
	struct bpf_link *links[2 * EADM_PROBE_N_FUNCTIONS + 4];
	unsigned int n_links;
	int dir;
	bool pins;		/* pin links, too */
	bool no_cm_types;	/* events of connections cannot be read */
	gid_t group;
	bool has_group;
};

/* ---- errors ------------------------------------------------------------------ */

static char said[512];		/* the first warning of libbpf */

static int keep_warning(enum libbpf_print_level level, const char *format,
			va_list args)
{
	char line[sizeof(said)];
	size_t len;

	if (level != LIBBPF_WARN)
		return 0;
	if (getenv("EADM_PROBE_DEBUG"))
		return vfprintf(stderr, format, args);
	vsnprintf(line, sizeof(line), format, args);
	len = strcspn(line, "\n");
	line[len] = '\0';
	/* The first warning is closest to the cause. */
	if (!said[0])
		memcpy(said, line, sizeof(said));
	return 0;
}

/* ---- the end ------------------------------------------------------------------ */

static int signals;		/* a descriptor that shows when one arrived */

/*
 * Signals that end the process are blocked: what was pinned is always removed. Ignored
 * ones stay ignored, as nohup requests.
 */
static int block_signals(void)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	struct sigaction action;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!sigaction(ends[i], NULL, &action) &&
		    action.sa_handler != SIG_IGN)
			sigaddset(&set, ends[i]);
	}
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	return signals < 0 ? -errno : 0;
}

/*
 * Returns true if a signal arrived, or the tool ended and thereby closed the standard
 * input. Waits up to @timeout ms; -1: forever.
 */
static bool is_ended(int timeout)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO },
		{ .fd = signals, .events = POLLIN },
	};

	return poll(fds, 2, timeout) > 0;
}

/* ---- features of the kernel --------------------------------------------------- */

static bool is_locked_confidential(void)
{
	FILE *file = fopen("/sys/kernel/security/lockdown", "r");
	char line[128] = "";
	bool is;

	if (!file)
		return false;
	is = fgets(line, sizeof(line), file) && strstr(line, "[confidentiality]");
	fclose(file);
	return is;
}

/*
 * Kprobe programs find struct members through these types. If one is missing, the
 * verifier reports an invalid function, which does not hint at the cause.
 */
static int check_types(struct probe *p, const char *path)
{
	static const struct {
		const char *module, *type;
	} needed[] = {
		{ "the kernel", "task_struct" },
		{ "ib_core", "ib_device" },
		/*
		 * If a kernel's modules have no types, the types that it exports have
		 * to suffice.
		 */
		{ "ib_uverbs", "ib_uverbs_file" },
		{ "rdma_cm", "rdma_id_private" },
	};
	bool all = path || kernel_types_modules();
	struct btf *btf = path ? btf__parse(path, NULL) : btf__load_vmlinux_btf();
	int ret = 0;
	size_t i;

	if (!btf)
		return fail(-errno, "%s: cannot read type information: %s",
			    path ? path : "/sys/kernel/btf/vmlinux", strerror(errno));
	for (i = 0; !ret && i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (btf__find_by_name_kind(btf, needed[i].type, BTF_KIND_STRUCT) > 0)
			continue;
		if (!all && i >= N_EXPORTED)
			p->no_cm_types = true;
		else if (path)
			ret = fail(-EINVAL, "%s: the types of %s are missing (struct %s)",
				   path, needed[i].module, needed[i].type);
		else
			ret = fail(-ENOENT,
				   "%s has no type information: use --btf FILE with the type information of the kernel, ib_core, ib_uverbs and rdma_cm",
				   needed[i].module);
	}
	btf__free(btf);
	return ret;
}

#define OPEN(p, skeleton, opts) do {					\
	struct skeleton *s_ = skeleton##__open_opts(opts);		\
									\
	if (!s_)							\
		break;							\
	(p)->skeleton = s_;						\
	(p)->object = s_->obj;						\
	(p)->records = s_->maps.records;				\
	(p)->cpus = s_->maps.cpus;					\
	(p)->devs = s_->maps.devs;					\
	(p)->info = s_->maps.info;					\
	(p)->in_flight = s_->maps.in_flight;				\
	s_->rodata->probe_cpus = (p)->about.cpus;			\
	s_->rodata->probe_slots = (p)->about.slots;			\
	s_->rodata->probe_page_size = sysconf(_SC_PAGESIZE);		\
	s_->rodata->probe_may_read = (p)->about.may_read;		\
	s_->rodata->probe_knows_tasks = !access("/sys/kernel/btf/vmlinux", F_OK); \
} while (0)

static int open_typed(struct probe *p)
{
	OPEN(p, typed, NULL);
	return p->object ? 0 : fail(-errno, "cannot open the programs: %s",
				    strerror(errno));
}

static int open_kprobe(struct probe *p, const char *btf)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = btf);
	int ret;

	if (p->pins && !kernel_keeps_kprobes())
		return fail(-EOPNOTSUPP, "kprobes cannot stay attached after the process exits (requires Linux 5.15): use 'eadm probe run'");
	/* Without a file, libbpf also uses the types of modules. */
	if (btf || access(IB_CORE_TYPES, F_OK)) {
		ret = check_types(p, btf);
		if (ret)
			return ret;
	}
	if (kernel_has_fetch())
		OPEN(p, kprobe, &opts);
	else
		OPEN(p, early, &opts);
	return p->object ? 0 : fail(-errno, "cannot open the programs: %s",
				    strerror(errno));
}

/* Disables the programs for functions that do not exist. */
static int choose(struct probe *p)
{
	struct functions there;
	struct bpf_program *prog;
	unsigned int n = 0;
	const char *symbol;
	int ret;

	ret = functions_find(&there, p->about.level == EADM_PROBE_LEVEL_TYPED);
	if (ret)
		return fail(ret, "cannot read the kernel's function list: %s",
			    strerror(-ret));
	if (p->no_cm_types)
		functions_drop(&there, "cm_event_handler");
	bpf_object__for_each_program(prog, p->object) {
		symbol = strchr(bpf_program__section_name(prog), '/') + 1;
		if (!functions_has(&there, symbol))
			bpf_program__set_autoload(prog, false);
		else if (functions_is_command(symbol) && !p->about.may_read)
			bpf_program__set_autoload(prog, false);
		else
			n++;
	}
	if (!p->about.may_read)
		there.mask &= (1ULL << EADM_PROBE_FIRST_COMMAND) - 1;
	p->about.attached = there.mask;
	p->about.expected = there.expected;
	p->about.functions = __builtin_popcountll(there.mask);
	functions_free(&there);
	return n ? 0 : fail(-ENOENT,
			    "this kernel has none of the functions to be probed: is ib_core loaded?");
}

/* ---- pinning ----------------------------------------------------------------- */

/* Paths are relative to the probe's directory, see put(). */

static int give(const struct probe *p, const char *path, mode_t mode)
{
	if (p->has_group && chown(path, 0, p->group))
		return -errno;
	return chmod(path, mode) ? -errno : 0;
}

static int make_dir(const struct probe *p, const char *path)
{
	if (mkdir(path, 0700))
		return -errno;
	return give(p, path, 0750);
}

static int pin_map(const struct probe *p, struct bpf_map *map)
{
	int ret = bpf_map__pin(map, bpf_map__name(map));

	return ret ? ret : give(p, bpf_map__name(map), 0640);
}

/*
 * Pins a program for the end of a call, because its count of skipped runs is in no map.
 */
static int pin_program(const struct probe *p, struct bpf_program *prog)
{
	char path[128];
	int ret;

	snprintf(path, sizeof(path), "programs/%s", bpf_program__name(prog));
	ret = bpf_program__pin(prog, path);
	if (!ret)
		ret = give(p, path, 0640);
	return ret ? fail(ret, EADM_PROBE_DIR "/%s: %s", path, strerror(-ret)) : 0;
}

static bool is_enter(const struct bpf_program *prog)
{
	return !strncmp(bpf_program__name(prog), "enter_", 6);
}

static int attach(struct probe *p, struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach(prog);
	char path[128];
	int ret;

	if (!link)
		return fail(-errno, "%s: %s", bpf_program__section_name(prog),
			    said[0] ? said : strerror(errno));
	p->links[p->n_links++] = link;
	if (!p->pins)
		return 0;
	snprintf(path, sizeof(path), "links/%s", bpf_program__name(prog));
	ret = bpf_link__pin(link, path);
	return ret ? fail(ret, EADM_PROBE_DIR "/%s: %s", path, strerror(-ret)) : 0;
}

/*
 * Attach to the ends of calls first, so that each call that is seen to start is seen to
 * return.
 */
static int attach_all(struct probe *p)
{
	struct bpf_program *prog;
	int ret = 0, turn;

	for (turn = 0; turn < 2; turn++) {
		bpf_object__for_each_program(prog, p->object) {
			if (is_ended(0))
				return fail(-EINTR, "interrupted");
			if (!bpf_program__autoload(prog) ||
			    is_enter(prog) != (turn == 1))
				continue;
			ret = attach(p, prog);
			if (!ret && !turn)
				ret = pin_program(p, prog);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/* Ignore returns that were seen before the programs at call starts were attached. */
static int forget_lost(struct probe *p)
{
	size_t size = (size_t)p->about.cpus * sizeof(struct eadm_probe_cpu);
	struct eadm_probe_cpu *cpus;
	unsigned int i;

	cpus = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    bpf_map__fd(p->cpus), 0);
	if (cpus == MAP_FAILED)
		return -errno;
	for (i = 0; i < p->about.cpus; i++)
		__atomic_store_n(&cpus[i].lost, 0, __ATOMIC_RELAXED);
	munmap(cpus, size);
	return 0;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/*
 * The map with the description is pinned last, because its presence means that the
 * probe is complete.
 */
static int put(struct probe *p)
{
	uint32_t zero = 0;
	int ret;

	ret = fchdir(p->dir) ? -errno : give(p, ".", 0750);
	if (!ret)
		ret = make_dir(p, "programs");
	if (!ret && p->pins)
		ret = mkdir("links", 0700) ? -errno : 0;
	if (!ret)
		ret = pin_map(p, p->records);
	if (!ret)
		ret = pin_map(p, p->cpus);
	if (!ret)
		ret = pin_map(p, p->devs);
	if (!ret)
		ret = pin_map(p, p->in_flight);
	if (ret)
		return fail(ret, EADM_PROBE_DIR ": %s", strerror(-ret));
	ret = attach_all(p);
	if (ret)
		return ret;
	ret = forget_lost(p);
	p->about.start = now();
	if (!ret)
		ret = bpf_map_update_elem(bpf_map__fd(p->info), &zero, &p->about,
					  BPF_ANY);
	if (!ret)
		ret = pin_map(p, p->info);
	return ret ? fail(ret, EADM_PROBE_DIR ": %s", strerror(-ret)) : 0;
}

/* ---- commands --------------------------------------------------------------- */

static int set_sizes(struct probe *p, uint64_t bytes)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t slots;

	if (cpus < 0)
		return fail(cpus, "cannot read the number of CPUs: %s",
			    strerror(-cpus));
	p->about.cpus = cpus;
	slots = bytes / cpus / sizeof(struct eadm_probe_rec);
	if (slots >= 2 * MOST_SLOTS)
		return fail(-EINVAL, "--size: must be less than %zuM for the number of CPUs (%d)",
			    2 * MOST_SLOTS * sizeof(struct eadm_probe_rec) * cpus >> 20, cpus);
	p->about.slots = LEAST_SLOTS;
	while (p->about.slots * 2 <= slots)
		p->about.slots *= 2;
	return 0;
}

static int load(struct probe *p, const char *btf)
{
	bool typed = p->about.level == EADM_PROBE_LEVEL_TYPED;
	int ret = typed ? open_typed(p) : open_kprobe(p, btf);

	if (ret)
		return ret;
	bpf_map__set_max_entries(p->records, p->about.cpus * p->about.slots);
	bpf_map__set_max_entries(p->cpus, p->about.cpus);
	ret = choose(p);
	if (ret)
		return ret;
	said[0] = '\0';
	ret = bpf_object__load(p->object);
	if (ret == -EPERM || ret == -EACCES)
		return fail(ret, typed ? "loading requires root or CAP_SYS_ADMIN (%s)" :
					 "loading requires root, or CAP_BPF and CAP_PERFMON (%s)",
			    said[0] ? said : strerror(-ret));
	return ret ? fail(ret, "the kernel rejected the programs: %s",
			  said[0] ? said : strerror(-ret)) : 0;
}

static void find_group(struct probe *p)
{
	const struct group *group = getgrnam("eadm");

	p->has_group = group != NULL;
	if (group)
		p->group = group->gr_gid;
}

/*
 * systemd mounts the file system with mode 700, which locks out the group, too. Searching
 * it is all that the group needs: objects of other programs are not listed, and keep
 * their own modes. An administrator's choice of group or mode is left alone.
 */
static int let_group_search(const struct probe *p)
{
	struct stat st;

	if (!p->has_group)
		return 0;
	if (stat(PROBE_BPF_DIR, &st))
		return fail(-errno, PROBE_BPF_DIR ": %s", strerror(errno));
	if (st.st_uid || st.st_gid || (st.st_mode & 0777) != 0700)
		return 0;
	if (chown(PROBE_BPF_DIR, -1, p->group) || chmod(PROBE_BPF_DIR, (st.st_mode & 07777) | S_IXGRP))
		return fail(-errno, PROBE_BPF_DIR ": %s", strerror(errno));
	return 0;
}

static int claim(struct probe *p)
{
	struct statfs fs;

	if (statfs(PROBE_BPF_DIR, &fs) || fs.f_type != BPF_FS_MAGIC)
		return fail(-ENOENT,
			    PROBE_BPF_DIR " is not a BPF file system (mount -t bpf -o mode=700 bpf " PROBE_BPF_DIR ")");
	p->dir = probe_dir_claim();
	return p->dir < 0 ? p->dir : 0;
}

static int level_of(const char *word)
{
	if (!strcmp(word, "typed"))
		return EADM_PROBE_LEVEL_TYPED;
	if (!strcmp(word, "kprobe"))
		return EADM_PROBE_LEVEL_KPROBE;
	return access(IB_CORE_TYPES, F_OK) ?
		       EADM_PROBE_LEVEL_KPROBE : EADM_PROBE_LEVEL_TYPED;
}

static int begin(struct probe *p, char **argv)
{
	int ret;

	libbpf_set_print(keep_warning);
	p->about.abi = EADM_PROBE_ABI;
	p->about.level = level_of(argv[2]);
	p->about.may_read = !is_locked_confidential();
	p->about.runner = p->pins ? 0 : getpid();
	find_group(p);
	ret = set_sizes(p, strtoull(argv[3], NULL, 10));
	if (ret)
		return ret;
	ret = claim(p);
	if (ret)
		return ret;
	ret = let_group_search(p);
	if (!ret)
		ret = load(p, argv[4]);
	if (!ret)
		ret = put(p);
	if (!ret && is_ended(0))
		ret = fail(-EINTR, "interrupted");
	if (ret)
		probe_remove(p->dir);
	return ret;
}

/* Returns the PID of the process with which the probe ends, or 0. */
static pid_t find_runner(int dir)
{
	struct eadm_probe_info info = { 0 };
	uint32_t zero = 0;
	int fd;

	if (fchdir(dir))
		return 0;
	fd = bpf_obj_get("info");
	if (fd < 0)
		return 0;
	if (bpf_map_lookup_elem(fd, &zero, &info) || info.abi != EADM_PROBE_ABI)
		info.runner = 0;
	close(fd);
	return info.runner;
}

static int stop(void)
{
	int dir = probe_dir_open(), ret;

	if (dir < 0)
		return dir;
	ret = probe_end_loader(dir, find_runner(dir));
	if (!ret) {
		ret = probe_remove(dir);
		if (ret)
			fail(ret, EADM_PROBE_DIR ": %s", strerror(-ret));
	}
	close(dir);
	return ret;
}

int main(int argc, char **argv)
{
	struct probe p = { 0 };
	int ret;

	if (argc > 1 && !strcmp(argv[1], "stop"))
		return -stop();
	if (argc < 4 || argc > 5)
		return -fail(-EINVAL, "must be run by 'eadm probe'");
	p.pins = !strcmp(argv[1], "start");
	ret = block_signals();
	if (ret)
		return -fail(ret, "cannot block signals: %s", strerror(-ret));
	ret = begin(&p, argv);
	if (!ret && !p.pins) {
		printf("ready\n");
		fflush(stdout);
		is_ended(-1);
		probe_remove(p.dir);
	}
	typed__destroy(p.typed);
	kprobe__destroy(p.kprobe);
	early__destroy(p.early);
	return ret < 0 ? -ret : 0;
}
