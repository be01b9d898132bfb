// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing files: a file under its final name is always complete. Only regular files are
 * replaced, and only by a completed file.
 *
 * The file may be in a folder where other users can create files. The path is therefore
 * looked up component by component, each relative to the descriptor of the previous
 * one, so that a checked component cannot be replaced. The kernel's own protection
 * (fs.protected_symlinks, fs.protected_fifos) may be off, and does not cover folders
 * without the sticky bit.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "ctx.h"

#define MAX_LINKS 40
#define MAX_NAMES 100
/* The reader of a pipe may still be starting: retry at this interval, this many times. */
#define READER_STEP_NS 10000000
#define READER_STEPS 1000

struct eadm_output {
	struct eadm_ctx *ctx;
	int fd;
	int dir;	/* folder of a file, -1 for a stream */
	char *name;	/* final name of the file in the folder */
	char *temp;	/* temporary name of the file in the folder, "" if none */
};

/* Target of a path. */
struct place {
	int dir;	/* folder of the target */
	char *name;	/* name of the target in the folder */
	int fd;		/* O_PATH; -1: there is no such file yet */
	struct stat st;
	bool nameless;	/* a deleted file that is still open */
	const char *why;	/* reason for an error if errno does not explain it */
};

/* ---- looking up a path -------------------------------------------------------- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Open the folder of @path, which may be relative to that of @p. */
static int enter(struct place *p, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder;
	int dir;

	if (!*name)
		return *path ? -EISDIR : -ENOENT;
	/* Keep the slash, which is the whole name of the root. */
	folder = slash ? strndup(path, slash - path + 1) : strdup(".");
	free(p->name);
	p->name = strdup(name);
	if (!folder || !p->name) {
		free(folder);
		return -ENOMEM;
	}
	dir = openat(p->dir >= 0 ? p->dir : AT_FDCWD, folder,
		     O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	if (dir < 0)
		return -errno;
	close_fd(&p->dir);
	p->dir = dir;
	return 0;
}

static int look(struct place *p, int flags)
{
	close_fd(&p->fd);
	p->fd = openat(p->dir, p->name, O_PATH | O_CLOEXEC | flags);
	if (p->fd < 0)
		return -errno;
	return fstat(p->fd, &p->st) ? -errno : 0;
}

/*
 * In a world-writable folder, another user's link could point to a file that the caller
 * can replace, but that user cannot.
 */
static bool may_follow(const struct place *p)
{
	struct stat dir;

	if (fstat(p->dir, &dir))
		return false;
	return !(dir.st_mode & S_IWOTH) || p->st.st_uid == geteuid() ||
	       (!p->st.st_uid && !dir.st_uid);
}

static bool is_procfs(int dir)
{
	struct statfs fs;

	return !fstatfs(dir, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/*
 * Links in /proc, such as those of descriptors, refer to files, not to names; but a
 * regular file that has a name is replaced at that name.
 */
static int follow_proc(struct place *p, const char *target)
{
	struct stat st;
	int fd, ret;

	ret = look(p, 0);
	if (ret || !S_ISREG(p->st.st_mode))
		return ret;
	st = p->st;
	fd = p->fd;
	p->fd = -1;
	if (!enter(p, target) && !look(p, O_NOFOLLOW) &&
	    p->st.st_dev == st.st_dev && p->st.st_ino == st.st_ino) {
		close(fd);
		return 0;
	}
	close_fd(&p->fd);
	p->fd = fd;
	p->st = st;
	p->nameless = true;
	return 0;
}

/* A dangling link is an error: the link would not lead to the written file. */
static int find(struct place *p, const char *path)
{
	char target[PATH_MAX];
	unsigned int i;
	ssize_t n;
	int ret;

	for (i = 0; i < MAX_LINKS; i++) {
		ret = enter(p, path);
		if (ret)
			return ret;
		ret = look(p, O_NOFOLLOW);
		if (ret == -ENOENT && !i)
			return 0;
		if (ret || !S_ISLNK(p->st.st_mode))
			return ret;
		n = readlinkat(p->fd, "", target, sizeof(target) - 1);
		if (n < 0)
			return -errno;
		target[n] = '\0';
		if (is_procfs(p->dir))
			return follow_proc(p, target);
		if (!may_follow(p)) {
			p->why = "refusing to follow another user's symbolic link in a world-writable directory";
			return -EACCES;
		}
		path = target;
	}
	return -ELOOP;
}

/* ---- files and streams --------------------------------------------------------- */

static int next_temp(struct eadm_output *out)
{
	unsigned int number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	sprintf(out->temp, "%s.%06x", out->name, number & 0xffffff);
	return 0;
}

static int open_named_temp(struct eadm_output *out)
{
	int i, ret;

	for (i = 0; i < MAX_NAMES; i++) {
		ret = next_temp(out);
		if (ret)
			break;
		out->fd = openat(out->dir, out->temp,
				 O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
		if (out->fd >= 0)
			return 0;
		ret = -errno;
		if (ret != -EEXIST)
			break;
	}
	out->temp[0] = '\0';
	return ret;
}

/* A nameless file gets its name by a link in /proc, which a chroot may lack. */
static bool has_link(int fd)
{
	char self[40];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return !access(self, F_OK);
}

/* Create a file without a name on file systems that support it (O_TMPFILE). */
static int open_file(struct eadm_output *out, struct place *p)
{
	out->temp = calloc(1, strlen(p->name) + 8);
	if (!out->temp)
		return -ENOMEM;
	out->name = p->name;
	out->dir = p->dir;
	p->name = NULL;
	p->dir = -1;
	out->fd = openat(out->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (out->fd >= 0 && has_link(out->fd))
		return 0;
	if (out->fd < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	close_fd(&out->fd);
	return open_named_temp(out);
}

/*
 * Returns the caller's descriptor that /dev/stdout and similar names refer to, or -1.
 */
static int inherited(const struct stat *st)
{
	static const int fds[] = { STDOUT_FILENO, STDERR_FILENO };
	struct stat own;
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(fds); i++) {
		if (!fstat(fds[i], &own) && own.st_dev == st->st_dev &&
		    own.st_ino == st->st_ino &&
		    (fcntl(fds[i], F_GETFL) & O_ACCMODE) != O_RDONLY)
			return fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
	}
	return -1;
}

/*
 * Returns true for /dev/null, zero, full and tty, whose owner may be unknown in a user
 * namespace.
 */
static bool is_common(const struct stat *st)
{
	static const struct {
		unsigned int major, minor;
	} devices[] = { { 1, 3 }, { 1, 5 }, { 1, 7 }, { 5, 0 } };
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(devices); i++) {
		if (major(st->st_rdev) == devices[i].major &&
		    minor(st->st_rdev) == devices[i].minor)
			return S_ISCHR(st->st_mode);
	}
	return false;
}

/*
 * Trust a pipe or device only if its reader, who is usually its owner, can be trusted.
 */
static bool is_private(const struct stat *st)
{
	return !st->st_uid || st->st_uid == geteuid() || is_common(st);
}

static int open_stream(struct eadm_output *out, struct place *p)
{
	struct timespec rest = { .tv_nsec = READER_STEP_NS };
	char self[40];
	int i;

	out->fd = inherited(&p->st);
	if (out->fd >= 0)
		return 0;
	if (!is_private(&p->st)) {
		p->why = "the pipe or device belongs to another user";
		return -EACCES;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", p->fd);
	for (i = 0; i <= READER_STEPS; i++) {
		out->fd = open(self, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (out->fd >= 0 || errno != ENXIO || !S_ISFIFO(p->st.st_mode))
			break;
		nanosleep(&rest, NULL);
	}
	if (out->fd < 0) {
		if (errno == ENXIO && S_ISFIFO(p->st.st_mode))
			p->why = "no reader on the pipe";
		else if (errno == ENOENT)
			p->why = "/proc is not mounted";
		return -errno;
	}
	/* Only open() must not block; write() may wait for a slow reader. */
	if (fcntl(out->fd, F_SETFL, fcntl(out->fd, F_GETFL) & ~O_NONBLOCK))
		return -errno;
	return 0;
}

static int open_place(struct eadm_output *out, struct place *p,
		      const char *path)
{
	int ret = find(p, path);

	if (ret)
		return ret;
	if (p->fd < 0)
		return open_file(out, p);
	if (S_ISDIR(p->st.st_mode))
		return -EISDIR;
	return S_ISREG(p->st.st_mode) && !p->nameless ? open_file(out, p) :
							open_stream(out, p);
}

static void output_free(struct eadm_output *out)
{
	if (out->fd >= 0)
		close(out->fd);
	if (out->temp && out->temp[0])
		unlinkat(out->dir, out->temp, 0);
	if (out->dir >= 0)
		close(out->dir);
	free(out->name);
	free(out->temp);
	free(out);
}

static int open_output(struct eadm_output *out, const char *path)
{
	struct place p = { .dir = -1, .fd = -1 };
	int ret;

	if (!strcmp(path, "-")) {
		out->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		ret = out->fd < 0 ? -errno : 0;
	} else {
		ret = open_place(out, &p, path);
	}
	close_fd(&p.fd);
	close_fd(&p.dir);
	free(p.name);
	if (!ret)
		return 0;
	return eadm_fail(out->ctx, ret, "%s", p.why ? p.why : strerror(-ret));
}

EADM_API int eadm_output_open(struct eadm_ctx *ctx, const char *path,
			      struct eadm_output **output)
{
	struct eadm_output *out = calloc(1, sizeof(*out));
	int ret;

	if (!out)
		return eadm_oom(ctx);
	out->ctx = ctx;
	out->fd = -1;
	out->dir = -1;
	ret = open_output(out, path);
	if (ret) {
		output_free(out);
		return ret;
	}
	*output = out;
	return 0;
}

EADM_API int eadm_output_fd(const struct eadm_output *output)
{
	return output->fd;
}

EADM_API bool eadm_output_is_file(const struct eadm_output *output)
{
	return output->dir >= 0;
}

/* Atomically give the finished file its name, whether or not the name exists. */
static int publish(struct eadm_output *out)
{
	char from[40];
	int ret;

	if (fsync(out->fd))
		return -errno;
	if (!out->temp[0]) {
		snprintf(from, sizeof(from), "/proc/self/fd/%d", out->fd);
		if (!linkat(AT_FDCWD, from, out->dir, out->name,
			    AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST)
			return -errno;
		ret = next_temp(out);
		if (!ret && linkat(AT_FDCWD, from, out->dir, out->temp,
				   AT_SYMLINK_FOLLOW))
			ret = -errno;
		if (ret) {
			out->temp[0] = '\0';
			return ret;
		}
	}
	if (renameat(out->dir, out->temp, out->dir, out->name))
		return -errno;
	out->temp[0] = '\0';
	return 0;
}

EADM_API int eadm_output_close(struct eadm_output *out, bool keep)
{
	struct eadm_ctx *ctx = out->ctx;
	int ret = keep && out->name ? publish(out) : 0;

	/* Some file systems report errors only when the file is closed. */
	if (keep && close(out->fd) && !ret && errno != EINTR)
		ret = -errno;
	if (keep)
		out->fd = -1;
	output_free(out);
	return ret ? eadm_fail(ctx, ret, "%s", strerror(-ret)) : 0;
}
