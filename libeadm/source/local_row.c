// SPDX-License-Identifier: LGPL-2.1-or-later
/* Common parts of the readers of rows about this machine. */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_addr.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/root.h"
#include "devlist.h"
#include "local.h"
#include "message.h"

/* The first attribute of each request about a device is its index. */
const struct eadm_device *eadm_local_device_of(const struct eadm_answer *answer,
					       const struct eadm_query *query)
{
	return query->n_args ? eadm_device_of(answer->ctx, query->args[0].u) :
			       NULL;
}

const struct eadm_arg *eadm_local_arg(const struct eadm_query *query,
				      uint16_t attr)
{
	unsigned int i;

	for (i = 0; i < query->n_args; i++) {
		if (query->args[i].attr == attr)
			return &query->args[i];
	}
	return NULL;
}

/* Returns a name for use in a path; NULL if it is missing or unsafe. */
const char *eadm_local_name(const struct eadm_query *query, uint16_t attr)
{
	const struct eadm_arg *arg = eadm_local_arg(query, attr);

	return !arg || !*arg->str || *arg->str == '.' || strchr(arg->str, '/') ?
		       NULL : arg->str;
}

bool eadm_local_wants(const struct eadm_query *query, uint16_t attr)
{
	bool all = true;
	unsigned int i;

	for (i = 0; i < query->n_args; i++) {
		if (query->args[i].type != EADM_ARG_FLAG)
			continue;
		if (query->args[i].attr == attr)
			return true;
		all = false;
	}
	return all;
}

void eadm_local_put(struct eadm_answer *answer, uint16_t attr, const char *text)
{
	eadm_message_put_string(&answer->out, attr, text);
}

void eadm_local_put_u64(struct eadm_answer *answer, uint16_t attr, uint64_t value)
{
	eadm_message_put(&answer->out, attr, &value, sizeof(value));
}

/* A value that is not a number stays absent. */
void eadm_local_put_number(struct eadm_answer *answer, uint16_t attr,
			   const char *text)
{
	unsigned long value;
	char *end;

	if (*text < '0' || *text > '9')
		return;
	value = strtoul(text, &end, 10);
	if (!*end && value <= UINT32_MAX)
		eadm_message_put_u32(&answer->out, attr, value);
}

/* Libraries refuse a file whose number differs from the device's number in sysfs. */
static bool is_of_another(const struct eadm_ctx *ctx, int fd, const char *name,
			  const char *class)
{
	unsigned int major, minor;
	struct stat file;
	char line[32];

	return !fstat(fd, &file) && S_ISCHR(file.st_mode) &&
	       eadm_root_line(ctx, line, sizeof(line),
			      "/sys/class/%.32s/%.63s/dev", class, name) &&
	       sscanf(line, "%u:%u", &major, &minor) == 2 &&
	       file.st_rdev != makedev(major, minor);
}

/*
 * Puts 0 if a file below /dev/infiniband can be opened, otherwise a negative errno.
 * Opening the file, unlike reading its mode, reveals that there is no such device.
 * @class: class of the device in sysfs
 */
void eadm_local_put_access(struct eadm_answer *answer, uint16_t attr,
			   const char *name, const char *class)
{
	int fd = eadm_root_open(answer->ctx, O_RDWR, "/dev/infiniband/%.64s",
				name);
	int32_t error = fd < 0 ? -errno : 0;

	if (fd >= 0 && is_of_another(answer->ctx, fd, name, class))
		error = -EXDEV;

	if (fd >= 0)
		close(fd);
	eadm_message_put(&answer->out, attr, &error, sizeof(error));
}

/* Append a word, unless the list already contains it or there is no room. */
void eadm_local_add_word(char *buf, size_t size, const char *word, size_t len)
{
	size_t used = strlen(buf), n;
	const char *at;

	for (at = buf; *at; at += n + (at[n] == ' ')) {
		n = strcspn(at, " ");
		if (n == len && !memcmp(at, word, len))
			return;
	}
	if (used + 1 + len < size)
		snprintf(buf + used, size - used, "%s%.*s", used ? " " : "",
			 (int)len, word);
}

static int by_letters(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Sort words that are file names: hosts with the same files list them in different
 * orders.
 */
void eadm_local_sort_words(char *buf)
{
	char *words[256], *copy = strdup(buf), *word, *rest = copy;
	size_t n = 0, i;

	while (copy && n < EADM_ARRAY_SIZE(words) &&
	       (word = strsep(&rest, " ")))
		words[n++] = word;
	qsort(words, n, sizeof(*words), by_letters);
	/* A list that exceeds the array is not sorted. */
	for (i = 0; !rest && i < n; i++)
		buf += sprintf(buf, "%s%s", i ? " " : "", words[i]);
	free(copy);
}

void eadm_local_interface(const struct ifaddrs *one, char name[IFNAMSIZ])
{
	snprintf(name, IFNAMSIZ, "%.*s", (int)strcspn(one->ifa_name, ":"),
		 one->ifa_name);
}

bool eadm_local_is_of(const struct ifaddrs *one, const char *netdev)
{
	size_t len = strcspn(one->ifa_name, ":");

	return !strncmp(one->ifa_name, netdev, len) && !netdev[len];
}

/*
 * Returns true if a line of the kernel's list of IPv6 addresses describes this address.
 */
static bool is_line_of(const struct ifaddrs *one, const char *line,
		       unsigned int *flags)
{
	const struct sockaddr_in6 *in6 =
		(const struct sockaddr_in6 *)one->ifa_addr;
	char digits[33], want[33], name[IFNAMSIZ];
	unsigned int i;

	if (!in6 || in6->sin6_family != AF_INET6 ||
	    sscanf(line, "%32s %*x %*x %*x %x %15s", digits, flags, name) != 3 ||
	    !eadm_local_is_of(one, name))
		return false;
	for (i = 0; i < sizeof(in6->sin6_addr); i++)
		sprintf(want + 2 * i, "%02x", in6->sin6_addr.s6_addr[i]);
	return !strcmp(digits, want);
}

static void mark_duplicates(const struct eadm_ctx *ctx, struct ifaddrs *all)
{
	int fd = eadm_root_open(ctx, O_RDONLY, "/proc/net/if_inet6");
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	struct ifaddrs *one;
	unsigned int flags;
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		for (one = all; one; one = one->ifa_next)
			if (is_line_of(one, line, &flags) &&
			    flags & IFA_F_DADFAILED)
				one->ifa_flags |= EADM_IFA_DUPLICATE;
	}
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
}

struct ifaddrs *eadm_local_interfaces(const struct eadm_ctx *ctx)
{
	struct ifaddrs *all;

	if (getifaddrs(&all))
		return NULL;
	mark_duplicates(ctx, all);
	return all;
}
