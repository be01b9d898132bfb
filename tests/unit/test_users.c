// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes that use libibverbs, on a machine whose /proc lies in a folder. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/root.h"
#include "read/machine.h"
#include "tap.h"

#define VERBS	"7f0000-7f1000 r-xp 0 08:01 77 /usr/lib/libibverbs.so.1.14\n"
#define LIBC	"7f2000-7f3000 r-xp 0 08:01 78 /usr/lib/libc.so.6\n"
#define PF_KTHREAD	0x00200000

static char root[] = "/tmp/eadm-users-XXXXXX";
static struct eadm_ctx *ctx;

static void put(unsigned int pid, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/%u", root, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/%u/%s", root, pid, name);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		exit(1);
}

struct image {
	unsigned int flags, faults, start, size;
};

static void put_stat(unsigned int pid, struct image image)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "%u (a) job (b) S 1 1 1 0 -1 %u %u 9 3 9 5 6 7 8 20 0 1 0 %u %u 400\n",
		 pid, image.flags, image.faults, image.start, image.size);
	put(pid, "stat", text);
}

static void put_process(unsigned int pid, struct image image, const char *exe, const char *maps)
{
	char path[128];

	put_stat(pid, image);
	put(pid, "comm", "job\n");
	put(pid, "maps", maps);
	put(pid, "cmdline", "");
	snprintf(path, sizeof(path), "%s/proc/%u/fd", root, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/%u/exe", root, pid);
	if (symlink(exe, path))
		exit(1);
}

static void put_children(const char *pids)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/proc/2/task", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/2/task/2", root);
	mkdir(path, 0700);
	put(2, "task/2/children", pids);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Returns true if the rows are those of these processes, as "PID PID ". */
static bool shows(const char *want)
{
	struct eadm_query query = eadm_query_local(EADM_SPEC_OBJ_VERBS_USER);
	const struct eadm_object *object = &eadm_spec_objects[EADM_SPEC_OBJ_VERBS_USER];
	struct eadm_reply reply = { 0 };
	struct eadm_record row = { 0 };
	uint64_t pids[8];
	char got[64] = "";
	size_t n = 0, i;
	int ret;

	for (ret = eadm_machine_open(ctx, &query, object, &reply, &row); ret > 0 && n < 8;
	     ret = eadm_machine_next(&reply, object, &row))
		n += !eadm_record_u64(&row, eadm_object_find_field(object, "pid"), &pids[n]);
	/* This /proc is not in order. */
	qsort(pids, n, sizeof(*pids), by_value);
	for (i = 0; i < n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%" PRIu64 " ", pids[i]);
	eadm_reply_close(&reply);
	eadm_record_release(&row);
	if (!ret && !strcmp(got, want))
		return true;
	printf("# shown: %s(%d)\n", got, ret);
	return false;
}

/* Each snapshot is right, however short the time since the one before it. */
static void changes(void)
{
	const struct image image = { .faults = 500, .start = 7000, .size = 4096000 };
	struct image later = image;

	put_process(30, image, "/usr/bin/job", LIBC);
	ok(shows(""), "a process without libibverbs is not shown");
	later.faults++;
	put_stat(30, later);
	put(30, "maps", LIBC VERBS);
	ok(shows("30 "), "a process that loads libibverbs later is shown at once");

	put(30, "maps", LIBC);
	ok(shows(""), "a process that unloads it is not shown");
	later.start++;
	put_stat(30, later);
	put(30, "maps", VERBS);
	ok(shows("30 "), "a process with a reused PID is shown");

	put(30, "maps", LIBC);
	ok(shows(""), "a process without libibverbs, again");
	later.size += 4096;
	put_stat(30, later);
	put(30, "maps", VERBS);
	ok(shows("30 "), "libibverbs loaded by a process that shares the memory is shown");

	put(30, "maps", LIBC);
	ok(shows(""), "a process without libibverbs, once more");
	put(30, "maps", VERBS);
	ok(shows(""), "maps are not read again without page faults");
	put(30, "stat", "30 (job) S\n");
	put(30, "maps", LIBC);
	ok(shows(""), "a status that cannot be parsed");
	put(30, "maps", VERBS);
	ok(shows("30 "), "never counts as unchanged");
}

/* A read that fails once must not hide a process whose maps do not change afterwards. */
static void failures(void)
{
	const struct image image = { .faults = 500, .start = 7000, .size = 4096000 };
	char path[128];

	put_process(50, image, "/usr/bin/job", "");
	snprintf(path, sizeof(path), "%s/proc/50/maps", root);
	unlink(path);
	mkdir(path, 0700);
	ok(shows("30 "), "a process whose maps cannot be read is not shown");
	rmdir(path);
	put(50, "maps", VERBS);
	ok(shows("30 50 "), "it is shown as soon as they can be read");
	put(50, "maps", LIBC);
	put_stat(50, (struct image){ .faults = 501, .start = 7000, .size = 4096000 });
	ok(shows("30 "), "and no longer after it has unloaded libibverbs");
}

/* In the list of kthreadd's children are also programs that the kernel starts. */
static void kernel_threads(void)
{
	const struct image user = { .faults = 500, .start = 7000, .size = 4096000 };
	const struct image kernel = { .flags = PF_KTHREAD, .start = 20 };

	put_process(2, user, "/usr/bin/parent", LIBC);
	put_process(40, user, "/usr/bin/child", VERBS);
	put_children("30 40 ");
	ok(shows("30 40 "), "children of a PID 2 with an empty command line are shown");
	put_stat(2, kernel);
	ok(shows("30 40 "), "programs that the kernel starts are shown");
	/* Other users may not read which executable it has. */
	put_stat(40, kernel);
	ok(shows("30 "), "a kernel thread is not shown");
}

int main(void)
{
	char path[64];

	ctx = eadm_new();
	if (!mkdtemp(root) || !ctx || eadm_root_set(ctx, root) || eadm_open_live(ctx))
		return 1;
	snprintf(path, sizeof(path), "%s/proc", root);
	mkdir(path, 0700);
	changes();
	failures();
	kernel_threads();
	eadm_free(ctx);
	snprintf(path, sizeof(path), "rm -rf %s", root);
	return system(path) ? 1 : done();
}
