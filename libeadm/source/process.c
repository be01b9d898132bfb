// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a process does: "STATE WCHAN FROZEN CGROUP", as in "T - 0 /user.slice".
 * STATE is the letter of its main thread, WCHAN the kernel function that it
 * sleeps in, "-" where that may not be read, FROZEN 1 in a control group that is
 * frozen, as a paused container is.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "facts.h"

/* False when there is no such file. */
static bool read_file(const struct eadm_ctx *ctx, char *buf, size_t size,
		      const char *before, const char *name, const char *after)
{
	size_t len = 0;
	ssize_t got = 1;
	int fd;

	fd = eadm_root_open(ctx, O_RDONLY, "%s%.160s%s", before, name, after);
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

/* The name before may hold anything. */
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
	/* The main thread has ended, and others work on. */
	return state == 'Z' && threads > 1 ? 'S' : state;
}

/* The path in the unified hierarchy, else in that of systemd. */
static void group_of(const char *lines, char *path, size_t size)
{
	static const char *const heads[] = { "0::", ":name=systemd:" };
	const char *at;
	size_t i, len;

	snprintf(path, size, "-");
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

bool eadm_fact_process(const struct eadm_ctx *ctx, const char *name, char *buf,
		       size_t size)
{
	char text[1024], wchan[48] = "-", path[160];
	bool frozen;
	char state;

	if (!read_file(ctx, text, sizeof(text), "/proc/", name, "/stat"))
		return false;
	state = state_of(text);
	if (!state)
		return false;
	/* "0": it runs, or the caller may not know. */
	if (read_file(ctx, text, sizeof(text), "/proc/", name, "/wchan") &&
	    strcmp(text, "0") != 0 && !strpbrk(text, " \n"))
		snprintf(wchan, sizeof(wchan), "%.47s", text);
	*text = '\0';
	read_file(ctx, text, sizeof(text), "/proc/", name, "/cgroup");
	group_of(text, path, sizeof(path));
	frozen = *path == '/' &&
		 read_file(ctx, text, sizeof(text), "/sys/fs/cgroup", path,
			   "/cgroup.events") &&
		 strstr(text, "frozen 1");
	snprintf(buf, size, "%c %s %d %s", state, wchan, frozen, path);
	return true;
}
