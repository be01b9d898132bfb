// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects that a command can show. */
#include "cli.h"

/* Returns true if "eadm dump" can show the object; used for lists of choices. */
bool can_dump(const struct eadm_object *object)
{
	enum eadm_object_class sort = eadm_object_class(object);

	return sort == EADM_CLASS_ROWS || sort == EADM_CLASS_ENTRIES ||
	       sort == EADM_CLASS_MACHINE;
}

/* Returns true if "eadm stat" can show the object. */
bool can_count(const struct eadm_object *object)
{
	unsigned int i;

	for (i = 0; i < eadm_object_fields(object); i++) {
		if (eadm_field_kind(eadm_object_field(object, i)) ==
		    EADM_KIND_COUNTER)
			return can_dump(object);
	}
	return false;
}

const struct eadm_object *need_object(struct cli *cli, const char *name)
{
	const struct eadm_object *object = eadm_object_find(name);
	bool counted = cli->cmd->args[0] == WORDS_COUNTED_OBJECT;
	bool known = object;
	struct word_list words = { 0 };
	const char *near;
	char all[200];

	if (object && (!counted || can_count(object)))
		return object;
	object = NULL;
	while ((object = eadm_object_next(object))) {
		if (counted ? can_count(object) : can_dump(object))
			word_add(&words, eadm_object_name(object));
	}
	near = suggest(name, words.words);
	word_join(&words, all, sizeof(all));
	if (known)
		fail(cli, STATUS_USAGE, name, "has no counters (%s do)",
		     all);
	else if (near)
		fail(cli, STATUS_USAGE, name,
		     "unknown object (did you mean '%s'?)", near);
	else if (counted)
		fail(cli, STATUS_USAGE, name,
		     "unknown object (see 'eadm help stat'; for a device: 'eadm stat -d %s')",
		     name);
	else
		fail(cli, STATUS_USAGE, name,
		     "unknown object (see 'eadm help dump')");
	word_free(&words);
	return NULL;
}
