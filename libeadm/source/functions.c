// SPDX-License-Identifier: LGPL-2.1-or-later
/* Data from sysfs about PCI functions, and the kernel's module for each of them. */
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/root.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

#define FUNCTIONS	"/sys/bus/pci/devices"

/* Read a file with one hexadecimal number. */
static bool read_id(const struct eadm_ctx *ctx, const char *address,
		    const char *file, uint32_t *id)
{
	char text[16], *end;

	if (!eadm_root_line(ctx, text, sizeof(text), FUNCTIONS "/%.32s/%s",
			    address, file))
		return false;
	*id = strtoul(text, &end, 16);
	return *text && !*end;
}

static void put_devices(struct eadm_answer *answer, const char *address)
{
	const struct dirent *entry;
	char words[128] = "", path[96];
	DIR *dir;

	snprintf(path, sizeof(path), FUNCTIONS "/%.32s/infiniband", address);
	dir = eadm_root_dir(answer->ctx, path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			eadm_local_add_word(words, sizeof(words), entry->d_name,
					    strlen(entry->d_name));
	}
	if (dir)
		closedir(dir);
	eadm_local_put(answer, EADM_A_FUNCTION_DEVICES, words);
}

/* Finds the module of the first pattern that the name matches; "" if there is none. */
static void find_module(FILE *aliases, const char *name, char *module,
			size_t size)
{
	char line[512], pattern[256], text[64];

	*module = '\0';
	while (fgets(line, sizeof(line), aliases)) {
		if (strncmp(line, "alias pci:", strlen("alias pci:")) != 0 ||
		    sscanf(line, "alias %255s %63s", pattern, text) != 2 ||
		    fnmatch(pattern, name, 0) != 0)
			continue;
		snprintf(module, size, "%s", text);
		return;
	}
}

/* The field is absent if the kernel's modules cannot be seen, as in most containers. */
static void put_module(struct eadm_answer *answer, const char *address)
{
	char name[256], module[64];
	struct utsname uts;
	FILE *aliases;
	int fd;

	if (uname(&uts) ||
	    !eadm_root_line(answer->ctx, name, sizeof(name),
			    FUNCTIONS "/%.32s/modalias", address))
		return;
	fd = eadm_root_open(answer->ctx, O_RDONLY,
			    "/lib/modules/%s/modules.alias", uts.release);
	aliases = fd < 0 ? NULL : fdopen(fd, "r");
	if (!aliases && fd >= 0)
		close(fd);
	if (!aliases)
		return;
	find_module(aliases, name, module, sizeof(module));
	fclose(aliases);
	eadm_local_put(answer, EADM_A_FUNCTION_MODULE, module);
}

static void put_function(struct eadm_answer *answer, const char *address,
			 uint32_t vendor)
{
	size_t at = eadm_answer_row(answer, NULL);
	char driver[32] = "", override[32] = "";
	uint32_t part;

	eadm_local_put(answer, EADM_A_FUNCTION_ADDRESS, address);
	eadm_message_put_u32(&answer->out, EADM_A_FUNCTION_VENDOR_ID, vendor);
	if (read_id(answer->ctx, address, "device", &part))
		eadm_message_put_u32(&answer->out, EADM_A_FUNCTION_PART_ID,
				     part);
	eadm_root_link(answer->ctx, driver, sizeof(driver),
		       FUNCTIONS "/%.32s/driver", address);
	eadm_local_put(answer, EADM_A_FUNCTION_DRIVER, driver);
	eadm_root_line(answer->ctx, override, sizeof(override),
		       FUNCTIONS "/%.32s/driver_override", address);
	eadm_local_put(answer, EADM_A_FUNCTION_OVERRIDE,
		       strcmp(override, "(null)") ? override : "");
	put_devices(answer, address);
	if (!*driver)
		put_module(answer, address);
	eadm_message_end(&answer->out, at);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Lists only functions of one vendor: a machine may have hundreds of other functions.
 */
void eadm_local_functions(struct eadm_answer *answer,
			  const struct eadm_query *query)
{
	const struct eadm_arg *vendor =
		eadm_local_arg(query, EADM_A_FUNCTION_VENDOR_ID);
	const char *address;
	glob_t found;
	uint32_t id;
	size_t i;

	if (!vendor)
		return;
	eadm_root_glob(answer->ctx, 0, &found, FUNCTIONS "/*");
	if (found.gl_pathc)
		qsort(found.gl_pathv, found.gl_pathc, sizeof(*found.gl_pathv),
		      by_name);
	for (i = 0; i < found.gl_pathc; i++) {
		address = strrchr(found.gl_pathv[i], '/') + 1;
		if (read_id(answer->ctx, address, "vendor", &id) &&
		    id == vendor->u)
			put_function(answer, address, id);
	}
	globfree(&found);
}
