// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints small files of /proc and /sys as lines "PATH: VALUE". */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bundle.h"

#define MAX_FILE 65536

/* Returns true for errors that sysfs returns if an attribute currently has no value. */
static bool means_nothing(int err)
{
	return err == ENOENT || err == EINVAL || err == EOPNOTSUPP ||
	       err == ENODEV || err == ENOTDIR || err == ENODATA;
}

/* A single line is printed after the name; multiple lines are printed below it. */
static void print_value(const char *path, char *text, size_t len)
{
	while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
		text[--len] = '\0';
	if (!strchr(text, '\n'))
		printf("%s: %s\n", path, text);
	else
		printf("%s:\n%s\n", path, text);
}

bool facts_file(const char *path)
{
	static char text[MAX_FILE + 1];
	size_t len = 0;
	ssize_t n = 0;
	int fd, err;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	while (fd >= 0 && len < MAX_FILE &&
	       (n = read(fd, text + len, MAX_FILE - len)) > 0)
		len += n;
	err = errno;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && n >= 0) {
		text[len] = '\0';
		print_value(path, text, len);
		return true;
	}
	if (means_nothing(err))
		return true;
	printf("%s: (%s)\n", path, strerror(err));
	fprintf(stderr, "%s: %s\n", path, strerror(err));
	return false;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

/* Prints the files of a folder: those in @names, or all if @names is NULL. */
bool facts_folder(const char *folder, const char *const *names)
{
	struct dirent **list;
	char path[512];
	bool good = true;
	int i, n;

	for (i = 0; names && names[i]; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		good &= facts_file(path);
	}
	if (names)
		return good;
	n = scandir(folder, &list, NULL, by_name);
	if (n < 0) {
		if (errno == ENOENT)
			return true;
		fprintf(stderr, "%s: %s\n", folder, strerror(errno));
		return false;
	}
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
		/* Some files in hw_counters, such as "lifespan", are settings. */
		if (list[i]->d_name[0] != '.' && list[i]->d_type == DT_REG)
			good &= facts_file(path);
		free(list[i]);
	}
	free(list);
	return good;
}

int facts_status(bool complete)
{
	return complete ? STATUS_OK : STATUS_PARTIAL;
}
