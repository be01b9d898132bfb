// SPDX-License-Identifier: LGPL-2.1-or-later
/* Data from sysfs about a kernel module. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

static void put_functions(struct eadm_answer *answer, const char *name)
{
	const char *address;
	char words[256] = "";
	glob_t found;
	size_t i;

	eadm_root_glob(answer->ctx, 0, &found,
		       "/sys/module/%.64s/drivers/pci:*/*:*:*.*", name);
	for (i = 0; i < found.gl_pathc; i++) {
		address = strrchr(found.gl_pathv[i], '/') + 1;
		eadm_local_add_word(words, sizeof(words), address,
				    strlen(address));
	}
	globfree(&found);
	eadm_local_put(answer, EADM_A_MODULE_FUNCTIONS, words);
}

static void put_version(struct eadm_answer *answer, const char *name)
{
	char version[64] = "";

	eadm_root_line(answer->ctx, version, sizeof(version),
		       "/sys/module/%.64s/version", name);
	eadm_local_put(answer, EADM_A_MODULE_VERSION, version);
}

/* Put the origin of the module, if sysfs shows it. */
static void put_origin(struct eadm_answer *answer, const char *name)
{
	char source[48] = "", taint[16], text[96];

	if (!eadm_root_line(answer->ctx, taint, sizeof(taint),
			    "/sys/module/%.64s/taint", name))
		return;
	eadm_root_line(answer->ctx, source, sizeof(source),
		       "/sys/module/%.64s/srcversion", name);
	snprintf(text, sizeof(text), "%s%s%s",
		 strchr(taint, 'O') ? "out of tree" : "in-tree",
		 *source ? ", srcversion " : "", source);
	eadm_local_put(answer, EADM_A_MODULE_ORIGIN, text);
}

void eadm_local_module(struct eadm_answer *answer,
		       const struct eadm_query *query)
{
	const char *name = eadm_local_name(query, EADM_A_MODULE_NAME);
	bool loaded;
	size_t at;

	if (!name)
		return;
	loaded = !eadm_root_access(answer->ctx, F_OK, "/sys/module/%.64s",
				   name);
	at = eadm_answer_row(answer, NULL);
	eadm_local_put(answer, EADM_A_MODULE_NAME, name);
	eadm_message_put_u32(&answer->out, EADM_A_MODULE_LOADED, loaded);
	if (loaded && eadm_local_wants(query, EADM_A_MODULE_VERSION))
		put_version(answer, name);
	if (loaded && eadm_local_wants(query, EADM_A_MODULE_ORIGIN))
		put_origin(answer, name);
	if (loaded && eadm_local_wants(query, EADM_A_MODULE_FUNCTIONS))
		put_functions(answer, name);
	eadm_message_end(&answer->out, at);
}
