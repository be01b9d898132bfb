// SPDX-License-Identifier: LGPL-2.1-or-later
/* Stops the probe: all programs, links and maps disappear with their last pin. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loader.h"
#include "../record.h"

static int empty(const char *dir, const char *prefix)
{
	char path[sizeof(EADM_PROBE_DIR) + 300];
	struct dirent *entry;
	DIR *d = opendir(dir);
	int ret = 0;

	if (!d)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.' ||
		    strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (unlink(path) && errno != ENOENT && errno != EISDIR &&
		    errno != EPERM)
			ret = -errno;
	}
	closedir(d);
	return ret;
}

/*
 * Programs at call starts are removed first, so that no call remains without its end.
 */
int probe_remove(void)
{
	static const char links[] = EADM_PROBE_DIR "/links";
	static const char programs[] = EADM_PROBE_DIR "/programs";
	int ret;

	if (access(EADM_PROBE_DIR, F_OK))
		return -errno;
	ret = unlink(EADM_PROBE_DIR "/info") && errno != ENOENT ? -errno : 0;
	if (ret)
		return ret;
	empty(links, "enter_");
	empty(links, "");
	empty(programs, "");
	rmdir(links);
	rmdir(programs);
	empty(EADM_PROBE_DIR, "");
	return rmdir(EADM_PROBE_DIR) ? -errno : 0;
}
