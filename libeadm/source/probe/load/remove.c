// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Claims the probe's directory, and stops the probe: all programs, links and maps disappear with their last pin. If the
 * file system is writable for all, any user can create the probe's directory, or a link
 * to a different one: nothing is followed or removed by a path.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "loader.h"
#include "../record.h"

#define PATIENCE_MS 60000
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

/*
 * Readers and "stop" find the process by this lock, which does not depend on /proc or on
 * the PID namespace, and ends with the process. It is set before the group may open the
 * directory, and lost when this process closes any descriptor of it.
 */
static int lock(int dir)
{
	const struct flock lock = { .l_type = F_RDLCK };

	return fcntl(dir, F_SETLK, &lock) ? -errno : 0;
}

int probe_dir_claim(void)
{
	bool exists = mkdir(EADM_PROBE_DIR, 0700);
	int dir, ret;

	if (exists && errno != EEXIST)
		return fail(-errno, EADM_PROBE_DIR ": %s", strerror(errno));
	dir = probe_dir_open();
	if (dir < 0)
		return dir;
	ret = exists ? -EEXIST : lock(dir);
	if (!ret)
		return dir;
	close(dir);
	return ret == -EEXIST ? fail(ret, "the probe is already running, or a killed probe left " EADM_PROBE_DIR " behind ('eadm probe stop' removes it)") :
				fail(ret, EADM_PROBE_DIR ": cannot lock: %s", strerror(-ret));
}

/* Returns the PID of the process that has the lock, -1 if there is none. */
static pid_t find_loader(int dir)
{
	struct flock lock = { .l_type = F_WRLCK };

	return fcntl(dir, F_GETLK, &lock) || lock.l_type == F_UNLCK ? -1 : lock.l_pid;
}

int probe_end_loader(int dir, pid_t loader)
{
	struct pollfd process = { .events = POLLIN };
	pid_t pid = loader ? find_loader(dir) : -1;
	int ret = 0;

	if (pid < 0)
		return 0;
	if (!pid)
		return fail(-EPERM, "the probe was started in a different PID namespace: stop it there");
	/* The group may lock the directory, too. */
	if (pid != loader)
		return fail(-EPERM, "process %d has locked " EADM_PROBE_DIR ", but is not known to record: end it first",
			    pid);
	process.fd = syscall(SYS_pidfd_open, pid, 0);
	/* If the process ended meanwhile, its PID may be that of a different one. */
	if (process.fd >= 0 && find_loader(dir) == pid) {
		if (syscall(SYS_pidfd_send_signal, process.fd, SIGTERM, NULL, 0))
			ret = fail(-errno, "cannot end process %d, which records: %s",
				   pid, strerror(errno));
		else if (poll(&process, 1, PATIENCE_MS) != 1)
			ret = fail(-ETIMEDOUT, "process %d, which records, has not ended for %d s",
				   pid, PATIENCE_MS / 1000);
	}
	if (process.fd >= 0)
		close(process.fd);
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

/* Meanwhile, the directory may have been removed, and created by a different process. */
static bool is_current(int dir)
{
	struct stat own, current;

	return !fstat(dir, &own) && !lstat(EADM_PROBE_DIR, &current) &&
	       own.st_dev == current.st_dev && own.st_ino == current.st_ino;
}

/* An administrator may have chosen a different group or mode. */
static void end_group_search(void)
{
	const struct group *group = getgrnam("eadm");
	struct stat st;

	if (!group || stat(PROBE_BPF_DIR, &st) || st.st_uid || st.st_gid != group->gr_gid ||
	    (st.st_mode & 0777) != 0710)
		return;
	if (!chmod(PROBE_BPF_DIR, (st.st_mode & 07777) & ~S_IXGRP))
		(void)!chown(PROBE_BPF_DIR, -1, 0);
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
	if (!is_current(dir))
		return 0;
	if (rmdir(EADM_PROBE_DIR))
		return -errno;
	end_group_search();
	return 0;
}
