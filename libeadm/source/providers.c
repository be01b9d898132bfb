// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Providers of libibverbs, which reads their names from files in one folder and loads a
 * library for each. The name of the library ends with its ABI number.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/root.h"
#include "child.h"
#include "local.h"
#include "providers.h"

#define FOLDER		"/etc/libibverbs.d"
#define ROOM		EADM_PROVIDERS_ROOM
#define ABI		"-rdmav"
#define MAX_FAULTS	8

/* ---- libraries --------------------------------------------------------------------- */

static void find_by_architecture(const struct eadm_ctx *ctx,
				 const char *architecture, const char *pattern,
				 glob_t *found)
{
	static const char *const places[] = {
		"/usr/lib", "/usr/local/lib", "/lib",
	};
	size_t i, n = EADM_ARRAY_SIZE(places);
	char to[16];

	/* /lib is usually a link to /usr/lib. */
	if (eadm_root_link(ctx, to, sizeof(to), "/lib"))
		n--;
	for (i = 0; i < n; i++)
		eadm_root_glob(ctx, GLOB_APPEND, found, "%s/%s/%s", places[i],
			       architecture, pattern);
}

/*
 * Find files where the loader looks. Reading a folder with hundreds of other files
 * takes longer than all other steps of "eadm check", so the architecture's folder is
 * tried first under its usual name.
 */
void eadm_find_libraries(const struct eadm_ctx *ctx, const char *pattern,
			 glob_t *found)
{
	static const char *const places[] = {
		"/usr/lib64", "/usr/lib", "/usr/local/lib", "/usr/local/lib64",
	};
	char usual[sizeof(((struct utsname *)0)->machine) + 16];
	struct utsname uts;
	size_t i;

	memset(found, 0, sizeof(*found));
	if (!uname(&uts)) {
		snprintf(usual, sizeof(usual), "%s-linux-gnu", uts.machine);
		find_by_architecture(ctx, usual, pattern, found);
	}
	for (i = 0; i < EADM_ARRAY_SIZE(places); i++)
		eadm_root_glob(ctx, GLOB_APPEND, found, "%s/%s", places[i],
			       pattern);
	if (!found->gl_pathc)
		find_by_architecture(ctx, "*-linux-*", pattern, found);
}

/*
 * Copies the name in "lib/libNAME-rdmavN.so". Returns false if it is not the file of a
 * provider.
 */
static bool name_of(const char *path, char *name, size_t size)
{
	const char *file = strrchr(path, '/'), *end;

	file = file ? file + 1 : path;
	if (strncmp(file, "lib", strlen("lib")) != 0)
		return false;
	file += strlen("lib");
	end = strstr(file, ABI);
	if (!end || (size_t)(end - file) >= size)
		return false;
	snprintf(name, size, "%.*s", (int)(end - file), file);
	return true;
}

void eadm_providers_installed(const struct eadm_ctx *ctx, char *words,
			      size_t size)
{
	char name[64];
	glob_t found;
	size_t i;

	eadm_find_libraries(ctx, "libibverbs/lib*" ABI "*.so", &found);
	for (i = 0; i < found.gl_pathc; i++) {
		if (name_of(found.gl_pathv[i], name, sizeof(name)))
			eadm_local_add_word(words, size, name, strlen(name));
	}
	globfree(&found);
	eadm_local_sort_words(words);
}

/* ---- faults ------------------------------------------------------------------------ */

void eadm_providers_add_fault(char *faults, size_t size, const char *name,
			      const char *fmt, ...)
{
	size_t used = strlen(faults), at;
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (at = 0; text[at]; at++) {
		if (text[at] == ';' || iscntrl((unsigned char)text[at]))
			text[at] = ',';
	}
	/* The list contains only complete sentences. */
	if (used + strlen("; : ") + strlen(name) + strlen(text) < size)
		snprintf(faults + used, size - used, "%s%s: %s",
			 used ? "; " : "", name, text);
}

/* Read the names in a file, which has lines such as "driver NAME". */
static void read_names(const struct eadm_ctx *ctx, const char *file,
		       char *words, size_t size, char *faults,
		       size_t faults_size)
{
	int fd = eadm_root_open(ctx, O_RDONLY, FOLDER "/%s", file);
	FILE *lines = fd < 0 ? NULL : fdopen(fd, "r");
	char line[256], name[64];

	if (!lines) {
		/* The file usually has the provider's name. */
		snprintf(name, sizeof(name), "%.*s",
			 (int)strcspn(file, "."), file);
		eadm_providers_add_fault(faults, faults_size, name,
					 FOLDER "/%s: %s", file,
					 strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	while (fgets(line, sizeof(line), lines)) {
		if (sscanf(line, " driver %63s", name) == 1)
			eadm_local_add_word(words, size, name, strlen(name));
	}
	fclose(lines);
}

/* Without the folder, libibverbs uses a different folder, or has built-in providers. */
void eadm_providers_configured(const struct eadm_ctx *ctx, char *words,
			       size_t size, char *faults, size_t faults_size)
{
	DIR *dir = eadm_root_dir(ctx, FOLDER);
	const struct dirent *entry;

	if (!dir && errno != ENOENT)
		eadm_providers_add_fault(faults, faults_size, "libibverbs",
					 FOLDER ": %s", strerror(errno));
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			read_names(ctx, entry->d_name, words, size, faults,
				   faults_size);
	}
	if (dir)
		closedir(dir);
	eadm_local_sort_words(words);
}

/*
 * ---- reasons why a library is not loaded -------------------------------------------
 */

static void load_library(const void *arg)
{
	const char *path = arg, *why;
	size_t len = strlen(path);

	if (dlopen(path, RTLD_NOW))
		return;
	why = dlerror();
	if (!strncmp(why, path, len) && !strncmp(why + len, ": ", 2))
		why += len + 2;
	EADM_CHILD_SAY("+error %s\n", why);
}

/* How a process ended that was to do something: "WHAT failed: 'Aborted'". */
static void add_end(char *faults, size_t size, const char *name, const char *what, int ended)
{
	if (ended > 0)
		eadm_providers_add_fault(faults, size, name, "%s failed: '%s'", what,
					 strsignal(ended));
	else
		eadm_providers_add_fault(faults, size, name, "%s ended the process", what);
}

enum loads { LOADS, FAILS, DIES };

/* Adds a fault if loading the library fails or ends the process. */
static enum loads try_library(struct eadm_ctx *ctx, const char *path, const char *name,
			      char *faults, size_t size)
{
	const struct eadm_child child = { .work = load_library, .arg = path };
	char said[1024], what[256], *at;
	int ended = eadm_child_run(ctx, &child, said, sizeof(said));

	if (ended > 0 || ended == -ECHILD) {
		snprintf(what, sizeof(what), "%s: loading", path);
		add_end(faults, size, name, what, ended);
		return DIES;
	}
	at = strstr(said, "\n+error ");
	if (!at)
		return LOADS;
	at += strlen("\n+error ");
	eadm_providers_add_fault(faults, size, name, "%s: %.*s", path, (int)strcspn(at, "\n"), at);
	return FAILS;
}

/* Returns true if there is a library of the same provider with a different ABI number. */
static bool other_abi(const struct eadm_ctx *ctx, const char *name, char *file,
		      size_t size)
{
	char pattern[128];
	const char *base;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "libibverbs/lib%s" ABI "*.so", name);
	eadm_find_libraries(ctx, pattern, &found);
	if (found.gl_pathc) {
		base = strrchr(found.gl_pathv[0], '/');
		snprintf(file, size, "%s", base + 1);
	}
	globfree(&found);
	return found.gl_pathc;
}

/*
 * @library is the name printed by libibverbs. libibverbs tries its own folder before the
 * loader's usual folders, but prints only why loading from the latter failed.
 */
static void explain(struct eadm_ctx *ctx, const char *library,
		    const char *printed, char *faults, size_t size)
{
	char name[64], pattern[192], other[128];
	bool found, explained = false;
	glob_t paths;

	if (!name_of(library, name, sizeof(name)) || strchr(library, '/')) {
		eadm_providers_add_fault(faults, size, library, "%s", printed);
		return;
	}
	snprintf(pattern, sizeof(pattern), "libibverbs/%.128s", library);
	eadm_find_libraries(ctx, pattern, &paths);
	found = paths.gl_pathc;
	if (found)
		explained = try_library(ctx, paths.gl_pathv[0], name, faults, size) != LOADS;
	globfree(&paths);
	if (explained)
		return;
	if (found)
		eadm_providers_add_fault(faults, size, name, "%s", printed);
	else if (other_abi(ctx, name, other, sizeof(other)))
		eadm_providers_add_fault(faults, size, name,
					 "%s is missing; %s has a different ABI version",
					 library, other);
	else
		eadm_providers_add_fault(faults, size, name, "%s is missing",
					 library);
}

/* One of the providers ended the process: determine which one. */
static void find_culprit(struct eadm_ctx *ctx, int ended, char *faults, size_t size)
{
	char name[64], what[256] = "listing devices";
	bool culprit = false;
	const char *path;
	glob_t found;
	size_t i;

	eadm_find_libraries(ctx, "libibverbs/lib*" ABI "*.so", &found);
	for (i = 0; i < found.gl_pathc && !culprit; i++) {
		path = found.gl_pathv[i];
		culprit = name_of(path, name, sizeof(name)) &&
			  try_library(ctx, path, name, faults, size - ROOM) == DIES;
		if (culprit)
			snprintf(what, sizeof(what), "loading %s", path);
	}
	globfree(&found);
	add_end(faults, size, "libibverbs", what, ended);
}

void eadm_providers_faults(struct eadm_ctx *ctx, const char *said,
			   int ended, char *faults, size_t size)
{
	static const char begin[] = "couldn't load driver '";
	const char *at = said, *end;
	char library[128], printed[256];
	unsigned int n = 0;

	while ((at = strstr(at, begin)) && n++ < MAX_FAULTS) {
		at += strlen(begin);
		end = strchr(at, '\'');
		if (!end || end - at >= (int)sizeof(library))
			continue;
		snprintf(library, sizeof(library), "%.*s", (int)(end - at), at);
		at = end + 1 + strspn(end + 1, ": ");
		snprintf(printed, sizeof(printed), "%.*s",
			 (int)strcspn(at, "\n"), at);
		explain(ctx, library, printed, faults, size - ROOM);
	}
	if (ended > 0 || ended == -ECHILD)
		find_culprit(ctx, ended, faults, size);
	else if (ended == -ETIMEDOUT)
		eadm_providers_add_fault(faults, size, "libibverbs",
					 "listing devices timed out");
	else if (ended)
		eadm_providers_add_fault(faults, size, "process", "%s", strerror(-ended));
}
