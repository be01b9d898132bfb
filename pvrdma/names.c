// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <ctype.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"

static bool is_good(char c)
{
	return isalnum((unsigned char)c) || strchr("._-", c);
}

bool name_is_valid(const char *name)
{
	size_t len = strlen(name), i;

	if (!len || len >= CONTROL_NAME_MAX || *name == '.')
		return false;
	for (i = 0; i < len; i++)
		if (!is_good(name[i]))
			return false;
	return true;
}

char *name_of_socket(const char *program, const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t len = strlen(base), i;
	char text[CONTROL_NAME_MAX];

	if (len > 5 && !strcmp(base + len - 5, ".sock"))
		len -= 5;
	snprintf(text, sizeof(text), "%s%s%.*s", program ? program : "", program ? "-" : "",
		 (int)len, base);
	for (i = 0; text[i]; i++)
		if (!is_good(text[i]) || (!i && text[i] == '.'))
			text[i] = '_';
	return strdup(*text ? text : "_");
}

char *name_of_control(const char *program, const char *first_path)
{
	char path[sizeof(CONTROL_FOLDER) + CONTROL_NAME_MAX + 8], *name;

	if (access(CONTROL_FOLDER, W_OK | X_OK))
		return NULL;
	name = program ? strdup(program) : name_of_socket(NULL, first_path);
	if (!name)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s.sock", CONTROL_FOLDER, name);
	free(name);
	return strdup(path);
}

static bool number(const char *text, unsigned int *value)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*value = (unsigned int)n;
	return isdigit((unsigned char)*text) && !*end && n < (unsigned int)-1;
}

bool name_parse_owner(const char *text, uid_t *uid, gid_t *gid)
{
	const char *colon = strchr(text, ':');
	const struct group *group;
	const struct passwd *user;
	char name[64];
	int len = colon ? (int)(colon - text) : (int)strlen(text);

	if (len >= (int)sizeof(name) || (!len && !colon))
		return false;
	snprintf(name, sizeof(name), "%.*s", len, text);
	*uid = (uid_t)-1;
	*gid = (gid_t)-1;
	if (*name && !number(name, uid)) {
		user = getpwnam(name);
		if (!user)
			return false;
		*uid = user->pw_uid;
	}
	if (!colon)
		return true;
	if (number(colon + 1, gid))
		return true;
	group = getgrnam(colon + 1);
	if (!group)
		return false;
	*gid = group->gr_gid;
	return true;
}
