// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stops the probe: all programs, links and maps disappear with their last pin. If the
 * file system is writable for all, any user can create the probe's directory, or a link
 * to a different one: nothing is followed or removed by a path.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "loader.h"
#include "../record.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int check_dir(int dir)
{
	struct statfs fs;
	struct stat st;

	if (fstat(dir, &st) || fstatfs(dir, &fs))
		return fail(-errno, EADM_PROBE_DIR ": %s", strerror(errno));
	if (fs.f_type != BPF_FS_MAGIC)
		return fail(-ENOENT, EADM_PROBE_DIR " is not in a BPF file system");
	if (st.st_uid && st.st_uid != geteuid())
		return fail(-EPERM,
			    EADM_PROBE_DIR " was created by user ID %u, not by the probe: remove it, and let only root write to /sys/fs/bpf (mode 0700)",
			    st.st_uid);
	return 0;
}

int probe_dir_open(void)
{
	int dir = open(EADM_PROBE_DIR, OPEN_DIR), ret;

	if (dir < 0)
		return errno == ENOENT ? fail(-ENOENT, "not running") :
					 fail(-errno, EADM_PROBE_DIR ": %s", strerror(errno));
	ret = check_dir(dir);
	if (!ret)
		return dir;
	close(dir);
	return ret;
}

static void empty(int dir, const char *name, const char *prefix)
{
	int fd = openat(dir, name, OPEN_DIR);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(d))) {
		if (entry->d_name[0] != '.' &&
		    !strncmp(entry->d_name, prefix, strlen(prefix)))
			unlinkat(fd, entry->d_name, 0);
	}
	closedir(d);
}

/*
 * Programs at call starts are removed first, so that no call remains without its end.
 */
int probe_remove(int dir)
{
	if (unlinkat(dir, "info", 0) && errno != ENOENT)
		return -errno;
	empty(dir, "links", "enter_");
	empty(dir, "links", "");
	empty(dir, "programs", "");
	unlinkat(dir, "links", AT_REMOVEDIR);
	unlinkat(dir, "programs", AT_REMOVEDIR);
	empty(dir, ".", "");
	return rmdir(EADM_PROBE_DIR) ? -errno : 0;
}
