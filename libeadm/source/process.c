// SPDX-License-Identifier: LGPL-2.1-or-later
/* Data from /proc about a process. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

/* Returns false if there is no such file. */
static bool read_file(const struct eadm_ctx *ctx, char *buf, size_t size,
		      const char *before, const char *name, const char *after)
{
	size_t len = 0;
	ssize_t got = 1;
	int fd;

	fd = eadm_root_open(ctx, O_RDONLY, "%s%.512s%s", before, name, after);
	if (fd < 0)
		return false;
	while (got > 0 && len < size - 1) {
		got = read(fd, buf + len, size - 1 - len);
		len += got > 0 ? got : 0;
	}
	close(fd);
	buf[len] = '\0';
	return len;
}

/* The name before the state may contain any characters. */
static char state_of(const char *stat)
{
	const char *at = strrchr(stat, ')');
	unsigned int threads = 1, field;
	char state;

	if (!at || !at[1])
		return '\0';
	at += 2;
	state = *at;
	/* From field 3, the state, to field 20, the number of threads. */
	for (field = 3; at && field < 20; field++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	if (at)
		threads = strtoul(at, NULL, 10);
	/* The main thread has ended, but other threads are running. */
	return state == 'Z' && threads > 1 ? 'S' : state;
}

/* Copies the path in the unified hierarchy or, without one, in systemd's hierarchy. */
static void group_of(const char *lines, char *path, size_t size)
{
	static const char *const heads[] = { "0::", ":name=systemd:" };
	const char *at;
	size_t i, len;

	*path = '\0';
	for (i = 0; i < EADM_ARRAY_SIZE(heads); i++) {
		at = strstr(lines, heads[i]);
		if (!at || (!i && at != lines && at[-1] != '\n'))
			continue;
		at += strlen(heads[i]);
		len = strcspn(at, "\n");
		snprintf(path, size, "%.*s", (int)len, at);
		if (strcmp(path, "/") != 0)
			return;
	}
}

static uint32_t state_class(char letter)
{
	static const struct {
		char letter;
		uint8_t state;
	} states[] = {
		{ 'R', EADM_PROCESS_STATE_RUNNING },
		{ 'S', EADM_PROCESS_STATE_SLEEPING },
		{ 'D', EADM_PROCESS_STATE_UNINTERRUPTIBLE },
		{ 'T', EADM_PROCESS_STATE_STOPPED },
		{ 't', EADM_PROCESS_STATE_TRACED },
		{ 'Z', EADM_PROCESS_STATE_ZOMBIE },
	};
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(states); i++) {
		if (states[i].letter == letter)
			return states[i].state;
	}
	return EADM_PROCESS_STATE_OTHER;
}

static void put_wchan(struct eadm_answer *answer, const char *number)
{
	char text[64];

	/* "0": the process is running, or the caller lacks permission. */
	if (read_file(answer->ctx, text, sizeof(text), "/proc/", number,
		      "/wchan") &&
	    strcmp(text, "0") != 0 && !strpbrk(text, " \n"))
		eadm_local_put(answer, EADM_A_PROCESS_WCHAN, text);
}

/* ---- containers ------------------------------------------------------------------ */

static bool is_hex(const char *text, size_t len)
{
	return strspn(text, "0123456789abcdef") >= len;
}

/*
 * Copies the UID of a pod: "pod" followed by a UUID, in which systemd's units replace
 * dashes with underscores, or by the hash of a pod that a file on the node describes.
 */
static bool take_pod(const char *part, size_t len, char *pod, size_t size)
{
	enum { UUID = 36, HASH = 32 };
	static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	const char *at = memmem(part, len, "pod", 3), *end = part + len;
	size_t i, room;

	/* "kubepods-burstable-pod...": the last occurrence counts. */
	while (at && memmem(at + 1, end - at - 1, "pod", 3))
		at = memmem(at + 1, end - at - 1, "pod", 3);
	if (!at || (at != part && at[-1] != '-'))
		return false;
	at += 3;
	room = end - at;
	if (room >= HASH && is_hex(at, HASH) &&
	    (room == HASH || at[HASH] == '.')) {
		snprintf(pod, size, "%.*s", HASH, at);
		return true;
	}
	for (i = 0; i < UUID; i++) {
		if (i >= room || (shape[i] == 'x' ? !is_hex(at + i, 1) :
						    at[i] != '-' && at[i] != '_'))
			return false;
	}
	snprintf(pod, size, "%.*s", UUID, at);
	for (i = 0; pod[i]; i++)
		if (pod[i] == '_')
			pod[i] = '-';
	return true;
}

/* Copies the ID of a container: 64 digits, alone or as in "cri-containerd-ID.scope". */
static bool take_container(const char *part, size_t len, char *id, size_t size)
{
	enum { DIGITS = 64 };
	static const char scope[] = ".scope";

	if (len > strlen(scope) &&
	    !memcmp(part + len - strlen(scope), scope, strlen(scope)))
		len -= strlen(scope);
	if (len < DIGITS || !is_hex(part + len - DIGITS, DIGITS) ||
	    (len > DIGITS && part[len - DIGITS - 1] != '-'))
		return false;
	snprintf(id, size, "%.*s", DIGITS, part + len - DIGITS);
	return true;
}

/* Report the innermost container, because containers can be nested. */
static void put_container(struct eadm_answer *answer, const char *path,
			  uint16_t pod_attr, uint16_t container_attr)
{
	char pod[40] = "", container[72] = "";
	size_t len;

	for (; *path; path += len) {
		path += *path == '/';
		len = strcspn(path, "/");
		take_pod(path, len, pod, sizeof(pod));
		take_container(path, len, container, sizeof(container));
	}
	if (*pod)
		eadm_local_put(answer, pod_attr, pod);
	if (*container)
		eadm_local_put(answer, container_attr, container);
}

/* @number: PID, as text */
void eadm_local_put_container(struct eadm_answer *answer, const char *number,
			      uint16_t pod, uint16_t container)
{
	char text[8192] = "", path[512];

	read_file(answer->ctx, text, sizeof(text), "/proc/", number, "/cgroup");
	group_of(text, path, sizeof(path));
	put_container(answer, path, pod, container);
}

/* Put the control group. Its path may be long: 190 characters just for Kubernetes. */
static void put_group(struct eadm_answer *answer,
		      const struct eadm_query *query, const char *number)
{
	char text[8192] = "", path[512];
	bool frozen;

	read_file(answer->ctx, text, sizeof(text), "/proc/", number, "/cgroup");
	group_of(text, path, sizeof(path));
	frozen = *path == '/' &&
		 eadm_local_wants(query, EADM_A_PROCESS_FROZEN) &&
		 read_file(answer->ctx, text, sizeof(text), "/sys/fs/cgroup",
			   path, "/cgroup.events") &&
		 strstr(text, "frozen 1");
	if (eadm_local_wants(query, EADM_A_PROCESS_FROZEN))
		eadm_message_put_u32(&answer->out, EADM_A_PROCESS_FROZEN,
				     frozen);
	if (*path)
		eadm_local_put(answer, EADM_A_PROCESS_CGROUP, path);
	put_container(answer, path, EADM_A_PROCESS_POD,
		      EADM_A_PROCESS_CONTAINER);
}

/*
 * Reads the number after a name at the beginning of a line; returns false if there is
 * none.
 */
static bool number_after(const char *lines, const char *name, int base,
			 uint64_t *value)
{
	const char *at = strstr(lines, name);
	char *end;

	if (!at)
		return false;
	at += strlen(name);
	*value = strtoull(at, &end, base);
	return end != at;
}

/*
 * Registration is limited by the amount of pinned memory, unless the process has
 * CAP_IPC_LOCK.
 */
static bool has_ipc_lock(const struct eadm_ctx *ctx, const char *number,
			 const char *status)
{
	/* From linux/capability.h. */
	const unsigned int ipc_lock = 14;
	uint64_t caps;
	char map[64];
	unsigned int from, to, count;

	if (!number_after(status, "\nCapEff:", 16, &caps) ||
	    !(caps >> ipc_lock & 1))
		return false;
	/* Only the initial user namespace has all IDs, each mapped to itself. */
	return eadm_root_line(ctx, map, sizeof(map), "/proc/%s/uid_map",
			      number) &&
	       sscanf(map, "%u %u %u", &from, &to, &count) == 3 &&
	       !from && !to && count == UINT32_MAX;
}

/* Puts nothing if /proc/PID/fd cannot be read. */
static void put_open_files(struct eadm_answer *answer, const char *number,
			   const char *limits)
{
	static const char name[] = "\nMax open files";
	const struct dirent *entry;
	uint32_t files = 0;
	uint64_t max;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.16s/fd", number);
	dir = eadm_root_dir(answer->ctx, path);
	if (!dir || !number_after(limits, name, 10, &max)) {
		if (dir)
			closedir(dir);
		return;
	}
	while ((entry = readdir(dir)))
		files += *entry->d_name != '.';
	closedir(dir);
	eadm_message_put_u32(&answer->out, EADM_A_PROCESS_OPEN_FILES, files);
	eadm_message_put_u32(&answer->out, EADM_A_PROCESS_MAX_OPEN_FILES,
			     max > UINT32_MAX ? UINT32_MAX : max);
}

static void put_limits(struct eadm_answer *answer, const char *number)
{
	static const char name[] = "Max locked memory";
	char text[4096];
	const char *at;
	uint64_t value;

	if (!read_file(answer->ctx, text, sizeof(text), "/proc/", number,
		       "/limits"))
		*text = '\0';
	put_open_files(answer, number, text);
	at = strstr(text, name);
	if (at) {
		at += strlen(name);
		at += strspn(at, " ");
		value = strtoull(at, NULL, 10);
		if (!strncmp(at, "unlimited", 9))
			value = UINT64_MAX;
		eadm_local_put_u64(answer, EADM_A_PROCESS_MEMLOCK, value);
	}
	if (!read_file(answer->ctx, text, sizeof(text), "/proc/", number,
		       "/status"))
		return;
	if (number_after(text, "\nVmPin:", 10, &value))
		eadm_local_put_u64(answer, EADM_A_PROCESS_PINNED, value << 10);
	if (number_after(text, "\nVmLck:", 10, &value))
		eadm_local_put_u64(answer, EADM_A_PROCESS_LOCKED, value << 10);
	eadm_message_put_u32(&answer->out, EADM_A_PROCESS_IPC_LOCK,
			     has_ipc_lock(answer->ctx, number, text));
}

/*
 * Puts true if the limit on locked memory does not apply to registrations by this
 * process.
 */
void eadm_local_put_ipc_lock(struct eadm_answer *answer, uint16_t attr)
{
	char text[4096];

	if (read_file(answer->ctx, text, sizeof(text), "/proc/", "self",
		      "/status"))
		eadm_message_put_u32(&answer->out, attr,
				     has_ipc_lock(answer->ctx, "self", text));
}

static const uint16_t group_parts[] = {
	EADM_A_PROCESS_FROZEN, EADM_A_PROCESS_CGROUP, EADM_A_PROCESS_POD,
	EADM_A_PROCESS_CONTAINER,
};
static const uint16_t limit_parts[] = {
	EADM_A_PROCESS_MEMLOCK, EADM_A_PROCESS_PINNED, EADM_A_PROCESS_LOCKED,
	EADM_A_PROCESS_IPC_LOCK, EADM_A_PROCESS_OPEN_FILES,
	EADM_A_PROCESS_MAX_OPEN_FILES,
};

static bool wants_any(const struct eadm_query *query, const uint16_t *parts,
		      size_t n)
{
	while (n) {
		if (eadm_local_wants(query, parts[--n]))
			return true;
	}
	return false;
}

/*
 * Put the whole row, or only the name, which many callers need. There is no row if
 * there is no such process.
 */
void eadm_local_process(struct eadm_answer *answer,
			const struct eadm_query *query)
{
	const struct eadm_arg *pid = eadm_local_arg(query, EADM_A_PROCESS_PID);
	char number[16], comm[32], stat[1024], state;
	size_t at;

	if (!pid)
		return;
	snprintf(number, sizeof(number), "%u", (unsigned int)pid->u);
	if (!eadm_root_line(answer->ctx, comm, sizeof(comm), "/proc/%s/comm",
			    number))
		return;
	at = eadm_answer_row(answer, NULL);
	eadm_message_put_u32(&answer->out, EADM_A_PROCESS_PID, pid->u);
	eadm_local_put(answer, EADM_A_PROCESS_COMM, comm);
	state = eadm_local_wants(query, EADM_A_PROCESS_STATE) &&
		read_file(answer->ctx, stat, sizeof(stat), "/proc/", number,
			  "/stat") ? state_of(stat) : '\0';
	if (state) {
		eadm_message_put_u32(&answer->out, EADM_A_PROCESS_STATE,
				     state_class(state));
		put_wchan(answer, number);
	}
	if (wants_any(query, group_parts, EADM_ARRAY_SIZE(group_parts)))
		put_group(answer, query, number);
	if (wants_any(query, limit_parts, EADM_ARRAY_SIZE(limit_parts)))
		put_limits(answer, number);
	eadm_message_end(&answer->out, at);
}
