// SPDX-License-Identifier: LGPL-2.1-or-later
/* RDMA limits of control groups for a device: rdma.max and rdma.current. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "devlist.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

#define UNIFIED "/sys/fs/cgroup"
/* Mount point of the controller in cgroup version 1. */
#define SEPARATE "/sys/fs/cgroup/rdma"
#define MAX_PATH 320
#define MAX_DEPTH 16
/* Limits the time spent on a large hierarchy. */
#define MAX_GROUPS 20000

struct walk {
	struct eadm_answer *answer;
	const struct eadm_device *dev;
	const char *top;
	char own[MAX_PATH];		/* path of the reader's group */
	char path[MAX_PATH];		/* path of the current group, "" for the top */
	uint32_t rows, seen;
};

/* Values of a file for the device; UINT64_MAX: "max" or no value. */
struct amounts {
	uint64_t handles, objects;
};

static uint64_t amount(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	at = at ? at + strlen(name) : "";
	return *at >= '0' && *at <= '9' ? strtoull(at, NULL, 10) : UINT64_MAX;
}

/* Returns false if there is no such file. */
static bool read_amounts(const struct walk *w, const char *file,
			 struct amounts *a)
{
	const char *name = w->dev->name;
	char line[128];
	FILE *stream;
	int fd;

	*a = (struct amounts){ UINT64_MAX, UINT64_MAX };
	fd = eadm_root_open(w->answer->ctx, O_RDONLY, "%s%s/%s", w->top,
			    w->path, file);
	stream = fd < 0 ? NULL : fdopen(fd, "r");
	if (!stream) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (fgets(line, sizeof(line), stream)) {
		if (strncmp(line, name, strlen(name)) != 0 ||
		    line[strlen(name)] != ' ')
			continue;
		a->handles = amount(line, " hca_handle=");
		a->objects = amount(line, " hca_object=");
	}
	fclose(stream);
	return true;
}

static void put_limit(struct walk *w, uint64_t max, uint64_t used,
		      uint16_t max_attr, uint16_t used_attr)
{
	if (max == UINT64_MAX)
		return;
	eadm_local_put_u64(w->answer, max_attr, max);
	/* A group without usage has no line in the file. */
	eadm_local_put_u64(w->answer, used_attr, used == UINT64_MAX ? 0 : used);
}

/* Returns true if this process is in the group or in a group below it. */
static bool is_own(const struct walk *w)
{
	size_t len = strlen(w->path);

	return !strncmp(w->own, w->path, len) &&
	       (!w->own[len] || w->own[len] == '/' || !len);
}

/* Returns false if the controller is not enabled in this group. */
static bool put_group(struct walk *w)
{
	struct amounts max, used;
	size_t at;

	if (!read_amounts(w, "rdma.max", &max))
		return false;
	if (max.handles == UINT64_MAX && max.objects == UINT64_MAX)
		return true;
	read_amounts(w, "rdma.current", &used);
	at = eadm_answer_row(w->answer, w->dev);
	eadm_message_put_u32(&w->answer->out, EADM_A_CGROUP_INDEX, w->rows++);
	eadm_local_put(w->answer, EADM_A_CGROUP_PATH, *w->path ? w->path : "/");
	eadm_message_put_u32(&w->answer->out, EADM_A_CGROUP_OWN, is_own(w));
	put_limit(w, max.handles, used.handles, EADM_A_CGROUP_MAX_HANDLES,
		  EADM_A_CGROUP_HANDLES);
	put_limit(w, max.objects, used.objects, EADM_A_CGROUP_MAX_OBJECTS,
		  EADM_A_CGROUP_OBJECTS);
	eadm_message_end(&w->answer->out, at);
	return true;
}

/* Visit the group at w->path and all groups below it. */
static void walk(struct walk *w, unsigned int depth)
{
	size_t len = strlen(w->path), room = sizeof(w->path) - len;
	const struct dirent *entry;
	char folder[MAX_PATH + sizeof(SEPARATE)];
	DIR *dir;

	/*
	 * The top group has no limits, except in a container, where it is the
	 * container's group.
	 */
	if (w->seen++ == MAX_GROUPS || (!put_group(w) && depth) ||
	    depth == MAX_DEPTH)
		return;
	snprintf(folder, sizeof(folder), "%s%s", w->top, w->path);
	dir = eadm_root_dir(w->answer->ctx, folder);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    (size_t)snprintf(w->path + len, room, "/%s",
				     entry->d_name) >= room)
			continue;
		walk(w, depth + 1);
	}
	w->path[len] = '\0';
	if (dir)
		closedir(dir);
}

/* Finds the line of /proc/self/cgroup for the controller. */
static void find_own(struct walk *w, const char *head)
{
	int fd = eadm_root_open(w->answer->ctx, O_RDONLY, "/proc/self/cgroup");
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char line[MAX_PATH + 64];
	const char *at;

	if (!file && fd >= 0)
		close(fd);
	while (file && fgets(line, sizeof(line), file)) {
		at = strstr(line, head);
		if (!at || (at != line && *head == '0'))
			continue;
		at += strlen(head);
		snprintf(w->own, sizeof(w->own), "%.*s",
			 (int)strcspn(at, "\n"), at);
	}
	if (file)
		fclose(file);
}

void eadm_local_cgroups(struct eadm_answer *answer,
			const struct eadm_query *query)
{
	struct walk w = {
		.answer = answer, .dev = eadm_local_device_of(answer, query),
	};
	bool unified;

	if (!w.dev)
		return;
	unified = !eadm_root_access(answer->ctx, F_OK, UNIFIED "/cgroup.controllers");
	w.top = unified ? UNIFIED : SEPARATE;
	find_own(&w, unified ? "0::" : ":rdma:");
	walk(&w, 0);
}
