// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Processes that have libibverbs loaded, with the bytes that their TCP connections
 * transferred.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ask.h"
#include "base/root.h"
#include "eadm_nl.h"
#include "grow.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

#define ESTABLISHED 1
/* A flag in /proc/PID/stat, from the kernel's linux/sched.h. */
#define PF_KTHREAD 0x00200000

struct moved {
	uint64_t inode, tx, rx;
};

struct sockets {
	struct moved *socket;	/* sorted by inode */
	size_t n, max;
	bool failed;
};

/* ---- TCP connections ------------------------------------------------------------- */

static bool is_loopback(const struct inet_diag_msg *message)
{
	const uint32_t *address = message->id.idiag_dst;

	if (message->idiag_family == AF_INET)
		return ntohl(address[0]) >> 24 == 127;
	/* IPv6 sockets may have IPv4 peers. */
	if (!address[0] && !address[1] && address[2] == htonl(0xFFFF))
		return ntohl(address[3]) >> 24 == 127;
	return !address[0] && !address[1] && !address[2] &&
	       address[3] == htonl(1);
}

static int take_info(const struct nlattr *attr, void *data)
{
	size_t len = mnl_attr_get_payload_len(attr);
	struct moved *socket = data;
	struct tcp_info info = { 0 };

	if (mnl_attr_get_type(attr) != INET_DIAG_INFO)
		return MNL_CB_OK;
	memcpy(&info, mnl_attr_get_payload(attr),
	       len < sizeof(info) ? len : sizeof(info));
	socket->tx = info.tcpi_bytes_acked;
	socket->rx = info.tcpi_bytes_received;
	return MNL_CB_OK;
}

static int take_socket(const struct nlmsghdr *nlh, void *data)
{
	const struct inet_diag_msg *message = mnl_nlmsg_get_payload(nlh);
	struct moved socket = { .inode = message->idiag_inode };
	struct sockets *sockets = data;

	if (nlh->nlmsg_type != TCPDIAG_GETSOCK || !socket.inode ||
	    is_loopback(message) ||
	    mnl_attr_parse(nlh, sizeof(*message), take_info, &socket) < 0)
		return MNL_CB_OK;
	if (!grow(sockets->socket, sockets->n, sockets->max)) {
		sockets->failed = true;
		return MNL_CB_STOP;
	}
	sockets->socket[sockets->n++] = socket;
	return MNL_CB_OK;
}

/*
 * The request that is older than SOCK_DIAG_BY_FAMILY returns the sockets of both families.
 * For each request, the kernel walks its complete hash table, which can be large.
 */
static bool ask_sockets(struct sockets *sockets)
{
	char buf[MNL_NLMSG_HDRLEN + MNL_ALIGN(sizeof(struct inet_diag_req))];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct inet_diag_req *request;

	nlh->nlmsg_type = TCPDIAG_GETSOCK;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	request = mnl_nlmsg_put_extra_header(nlh, sizeof(*request));
	request->idiag_ext = 1 << (INET_DIAG_INFO - 1);
	request->idiag_states = 1 << ESTABLISHED;
	return eadm_ask(NETLINK_SOCK_DIAG, nlh, take_socket, sockets) &&
	       !sockets->failed;
}

static int by_inode(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;

	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

/* ---- processes ------------------------------------------------------------------- */

struct user {
	char libraries[64], copies[256];
	uint32_t files, sockets, removed;
	unsigned long inode;	/* inode of the first libibverbs */
	bool twice;
	uint64_t tx, rx;
};

/* EPERM: /proc is mounted with hidepid=1, or a security module denies the access. */
static bool is_denied(int error)
{
	return error == EACCES || error == EPERM;
}

static FILE *open_file(const struct eadm_ctx *ctx, const char *pid, const char *name)
{
	int fd = eadm_root_open(ctx, O_RDONLY, "/proc/%.16s/%s", pid, name);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file) {
		close(fd);
		errno = ENOMEM;
	}
	return file;
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/*
 * Lines have the format "ADDRESSES rights offset device inode path", one line for each
 * part that is loaded.
 */
static void add_copy(const char *line, struct user *user)
{
	const char *path = strchr(line, '/');
	unsigned long inode;

	if (sscanf(line, "%*s %*s %*s %*s %lu", &inode) != 1)
		return;
	user->twice |= user->inode && user->inode != inode;
	if (!user->inode)
		user->inode = inode;
	eadm_local_add_word(user->copies, sizeof(user->copies), path,
			    strcspn(path, " \n"));
}

/* Returns true if the line is part of libibverbs; notes libraries that use libibverbs. */
static bool look_at_map(const char *line, struct user *user)
{
	static const struct {
		const char *file, *name;
	} above[] = {
		{ "/libnccl", "nccl" }, { "/librccl", "rccl" },
		{ "/libfabric.so", "libfabric" }, { "/libucp.so", "ucx" },
		{ "/libmpi.so", "mpi" },
	};
	const char *at = line;
	bool verbs = false;
	size_t i;

	/* Processes have thousands of lines, so each line is searched only once. */
	while ((at = strstr(at, "/lib"))) {
		verbs |= starts_with(at, "/libibverbs.so");
		for (i = 0; i < EADM_ARRAY_SIZE(above); i++)
			if (starts_with(at, above[i].file))
				eadm_local_add_word(user->libraries,
						    sizeof(user->libraries),
						    above[i].name,
						    strlen(above[i].name));
		at++;
	}
	return verbs;
}

/*
 * Returns 1 if the process has libibverbs loaded, 0 if not or if it has ended, -EACCES if
 * access is denied, or -EIO if the maps could not be read for a different reason.
 */
static int read_maps(const struct eadm_ctx *ctx, const char *pid,
		     struct user *user)
{
	FILE *file = open_file(ctx, pid, "maps");
	char *line = NULL, buf[4096];
	size_t size = 0;
	int found = 0;

	if (!file && is_denied(errno))
		return -EACCES;
	if (!file)
		return errno == ENOENT || errno == ESRCH ? 0 : -EIO;
	/* The kernel generates a page at a time, of which stdio would read only 1 KiB. */
	setvbuf(file, buf, _IOFBF, sizeof(buf));
	while (getline(&line, &size, file) > 0) {
		if (look_at_map(line, user)) {
			found = 1;
			add_copy(line, user);
		}
	}
	if (!found && ferror(file) && errno != ESRCH)
		found = is_denied(errno) ? -EACCES : -EIO;
	free(line);
	fclose(file);
	return found;
}

/*
 * Returns true if the device of an open file was removed: the device is unknown, or its
 * file has been created again. Otherwise the file may have been deleted by hand.
 */
static bool is_removed(const struct eadm_ctx *ctx, int dir, const char *entry,
		       const char *target)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(target), end = strlen(deleted);
	struct stat file;

	if (fstatat(dir, entry, &file, 0) || !S_ISCHR(file.st_mode) ||
	    eadm_root_access(ctx, F_OK, "/sys/dev/char"))
		return false;
	if (eadm_root_access(ctx, F_OK, "/sys/dev/char/%u:%u",
			     major(file.st_rdev), minor(file.st_rdev)))
		return true;
	return len > end && !strcmp(target + len - end, deleted) &&
	       !eadm_root_access(ctx, F_OK, "%.*s", (int)(len - end), target);
}

static void add_file(const struct sockets *sockets, const char *target,
		     struct user *user)
{
	struct moved key = { 0 }, *socket;
	unsigned long inode;

	if (!sockets->n || sscanf(target, "socket:[%lu]", &inode) != 1)
		return;
	key.inode = inode;
	socket = bsearch(&key, sockets->socket, sockets->n, sizeof(key),
			 by_inode);
	if (!socket)
		return;
	user->sockets++;
	user->tx += socket->tx;
	user->rx += socket->rx;
}

/* Returns false with errno set if the files cannot be read. */
static bool read_files(const struct eadm_ctx *ctx, const char *pid,
		       const struct sockets *sockets, struct user *user)
{
	static const char uverbs[] = "/dev/infiniband/uverbs";
	const struct dirent *entry;
	char path[64], target[64];
	ssize_t len;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.16s/fd", pid);
	dir = eadm_root_dir(ctx, path);
	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		len = readlinkat(dirfd(dir), entry->d_name, target,
				 sizeof(target) - 1);
		if (len <= 0)
			continue;
		target[len] = '\0';
		if (!strncmp(target, uverbs, strlen(uverbs))) {
			user->files++;
			user->removed += is_removed(ctx, dirfd(dir),
						    entry->d_name, target);
		}
		add_file(sockets, target, user);
	}
	closedir(dir);
	return true;
}

static void put_user(struct eadm_answer *answer, const char *pid,
		     const struct user *user)
{
	char comm[32] = "", unmatched[256];
	size_t at;

	if (!eadm_root_line(answer->ctx, comm, sizeof(comm),
			    "/proc/%.16s/comm", pid))
		return;
	at = eadm_answer_row(answer, NULL);
	eadm_message_put_u32(&answer->out, EADM_A_VERBS_USER_PID,
			     strtoul(pid, NULL, 10));
	eadm_local_put(answer, EADM_A_VERBS_USER_COMM, comm);
	eadm_local_put(answer, EADM_A_VERBS_USER_LIBRARIES, user->libraries);
	eadm_message_put_u32(&answer->out, EADM_A_VERBS_USER_FILES, user->files);
	eadm_message_put_u32(&answer->out, EADM_A_VERBS_USER_SOCKETS,
			     user->sockets);
	eadm_local_put_u64(answer, EADM_A_VERBS_USER_TX_BYTES, user->tx);
	eadm_local_put_u64(answer, EADM_A_VERBS_USER_RX_BYTES, user->rx);
	eadm_local_put_container(answer, pid, EADM_A_VERBS_USER_POD,
				 EADM_A_VERBS_USER_CONTAINER);
	eadm_message_put_u32(&answer->out, EADM_A_VERBS_USER_REMOVED_FILES,
			     user->removed);
	if (user->twice)
		eadm_local_put(answer, EADM_A_VERBS_USER_VERBS_COPIES,
			       user->copies);
	if (eadm_local_unmatched(answer->ctx, pid, unmatched, sizeof(unmatched)))
		eadm_local_put(answer, EADM_A_VERBS_USER_UNMATCHED, unmatched);
	eadm_message_end(&answer->out, at);
}

/*
 * Kernel threads have no executable. Large machines have thousands of them, and to read a link
 * takes less time than to read a file. An empty command line is no sign of a kernel thread,
 * because processes can clear theirs, nor is kthreadd as the parent, because it is also the
 * parent of programs that the kernel starts.
 */
static bool has_executable(const struct eadm_ctx *ctx, const char *pid)
{
	char name[32];

	return eadm_root_link(ctx, name, sizeof(name), "/proc/%.16s/exe", pid) ||
	       errno != ENOENT;
}

/* ---- processes without libibverbs -------------------------------------------------- */

/* Fields of /proc/PID/stat, as proc(5) numbers them. */
enum {
	STAT_PPID = 4, STAT_FLAGS = 9, STAT_MINFLT = 10, STAT_MAJFLT = 12, STAT_START = 22,
	STAT_VSIZE = 23, STAT_END,
};

/* Returns false with errno set if the file cannot be read. */
static bool read_image(const struct eadm_ctx *ctx, const char *pid,
		       struct eadm_image *image, unsigned int *flags)
{
	uint64_t stat[STAT_END] = { 0 };
	char line[1024], *at;
	unsigned int i;

	if (!eadm_root_line(ctx, line, sizeof(line), "/proc/%.16s/stat", pid))
		return false;
	/* The name before the state may contain any characters. */
	at = strrchr(line, ')');
	if (at && at[1] && at[2]) {
		at += strlen(") S");
		/* sscanf() takes several times as long. */
		for (i = STAT_PPID; i < STAT_END; i++)
			stat[i] = strtoull(at, &at, 10);
	}
	*flags = stat[STAT_FLAGS];
	*image = (struct eadm_image){
		.pid = strtoul(pid, NULL, 10), .start = stat[STAT_START],
		.faults = stat[STAT_MINFLT] + stat[STAT_MAJFLT], .size = stat[STAT_VSIZE],
	};
	return true;
}

static int by_pid(const void *a, const void *b)
{
	const struct eadm_image *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static const struct eadm_image *find_image(const struct eadm_images *known, const char *pid)
{
	struct eadm_image key = { .pid = strtoul(pid, NULL, 10) };

	return known->n ? bsearch(&key, known->image, known->n, sizeof(key), by_pid) : NULL;
}

/*
 * Memory maps are most of the cost, so they are read again only if they may have changed. A
 * process that loads a library touches its pages, and the count of page faults never
 * decreases. The size shows changes by a different process that shares the memory. PIDs are
 * reused, so the time of the start must also be the same.
 */
static bool is_same(const struct eadm_image *a, const struct eadm_image *b)
{
	return a->start == b->start && a->faults == b->faults && a->size == b->size;
}

/* The list is in order, because /proc is. Without the entry, the process is read again. */
static void note_without_verbs(struct eadm_images *known, const struct eadm_image *image)
{
	if (image->size && grow(known->image, known->n, known->max))
		known->image[known->n++] = *image;
}

/* ---- processes that /proc omits ------------------------------------------------------ */

/* In a user namespace, capabilities do not apply to the processes outside it. */
static bool is_first_user_namespace(const struct eadm_ctx *ctx)
{
	unsigned long inside = 1, outside = 1, count = 0;
	FILE *file = open_file(ctx, "self", "uid_map");
	bool first = file && fscanf(file, "%lu %lu %lu", &inside, &outside, &count) == 3 &&
		     !inside && !outside && count == UINT32_MAX;

	if (file)
		fclose(file);
	return first;
}

static bool may_inspect_all(const struct eadm_ctx *ctx)
{
	/* From linux/capability.h. */
	const unsigned int sys_ptrace = 19;
	FILE *file = open_file(ctx, "self", "status");
	unsigned long long caps = 0;
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0 &&
	       sscanf(line, "CapEff: %llx", &caps) != 1)
		;
	free(line);
	if (file)
		fclose(file);
	return (caps >> sys_ptrace & 1) && is_first_user_namespace(ctx);
}

/*
 * If /proc is mounted with hidepid=2 or 4, it omits the processes that the reader is not
 * permitted to inspect. Since Linux 5.8, the values are "invisible" and "ptraceable".
 */
static bool omits_processes(const struct eadm_ctx *ctx)
{
	static const char option[] = "hidepid=";
	FILE *file = may_inspect_all(ctx) ? NULL : open_file(ctx, "self", "mountinfo");
	char *line = NULL, *at, point[8];
	bool omits = false;
	size_t size = 0;

	/* The last mount is on top. */
	while (file && getline(&line, &size, file) > 0) {
		if (sscanf(line, "%*s %*s %*s %*s %7s", point) != 1 || strcmp(point, "/proc") != 0)
			continue;
		at = strstr(line, option);
		omits = at && strchr("24ip", at[strlen(option)]);
	}
	free(line);
	if (file)
		fclose(file);
	return omits;
}

/* ---- rows ------------------------------------------------------------------------ */

struct walk {
	const struct sockets *sockets;
	struct eadm_images without_verbs;
	uint32_t hidden;	/* processes that may use RDMA and cannot be read */
	bool uncounted;		/* there may be more, whose number is unknown */
};

static void look_at_process(struct eadm_answer *answer, const char *name, struct walk *walk)
{
	struct eadm_ctx *ctx = answer->ctx;
	const struct eadm_image *old = find_image(&ctx->without_verbs, name);
	struct user user = { 0 };
	struct eadm_image image;
	unsigned int flags;
	int found = 0;

	if (!old && !has_executable(ctx, name))
		return;
	/* Read before the maps: if the maps change meanwhile, the next snapshot reads them again. */
	if (!read_image(ctx, name, &image, &flags)) {
		/* With hidepid=1, this may be a kernel thread, so it cannot be counted. */
		walk->uncounted |= is_denied(errno);
		return;
	}
	/* Users who are not permitted to read the link reach this for each kernel thread. */
	if (flags & PF_KTHREAD)
		return;
	if (!old || !is_same(old, &image))
		found = read_maps(ctx, name, &user);
	if (!found)
		note_without_verbs(&walk->without_verbs, &image);
	else if (found == -EIO)
		return;		/* not noted, so the next snapshot reads the maps */
	else if (found < 0)
		walk->hidden++;
	else if (read_files(ctx, name, walk->sockets, &user))
		put_user(answer, name, &user);
	else
		walk->hidden += is_denied(errno);
}

/* A row without a number represents an unknown number of processes. */
static void put_hidden(struct eadm_answer *answer, const struct walk *walk)
{
	size_t at = eadm_answer_row(answer, NULL);

	eadm_message_put_u32(&answer->out, EADM_A_VERBS_USER_PID, 0);
	if (!walk->uncounted)
		eadm_message_put_u32(&answer->out, EADM_A_VERBS_USER_HIDDEN, walk->hidden);
	eadm_message_end(&answer->out, at);
}

static void put_users(struct eadm_answer *answer, const struct sockets *sockets)
{
	struct eadm_ctx *ctx = answer->ctx;
	DIR *dir = eadm_root_dir(ctx, "/proc");
	struct walk walk = { .sockets = sockets };
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (*entry->d_name >= '1' && *entry->d_name <= '9')
			look_at_process(answer, entry->d_name, &walk);
	}
	closedir(dir);
	free(ctx->without_verbs.image);
	ctx->without_verbs = walk.without_verbs;
	/* If /proc omitted processes, it would also omit those that cannot be read. */
	if (!walk.hidden && !walk.uncounted)
		walk.uncounted = omits_processes(ctx);
	if (walk.hidden || walk.uncounted)
		put_hidden(answer, &walk);
}

/* If the kernel does not show TCP connections, their bytes are unknown. */
void eadm_local_verbs_users(struct eadm_answer *answer,
			    const struct eadm_query *query)
{
	struct sockets sockets = { 0 };

	(void)query;
	if (ask_sockets(&sockets)) {
		if (sockets.n > 1)
			qsort(sockets.socket, sockets.n,
			      sizeof(*sockets.socket), by_inode);
		put_users(answer, &sockets);
	}
	free(sockets.socket);
}
