// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the readers of rows about this machine have in common. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/root.h"
#include "local.h"
#include "message.h"

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

/* A name that is part of a path below; NULL: there is none, or it leads elsewhere. */
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

/* What is no number stays absent. */
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

/* Whether a file below /dev/infiniband can be opened: 0, or a negative errno. */
void eadm_local_put_access(struct eadm_answer *answer, uint16_t attr,
			   const char *name)
{
	int32_t error = 0;

	if (eadm_root_access(answer->ctx, R_OK | W_OK, "/dev/infiniband/%.64s",
			     name))
		error = -errno;
	eadm_message_put(&answer->out, attr, &error, sizeof(error));
}

/* Adds a word that is not there yet and for which there is room. */
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
