// SPDX-License-Identifier: LGPL-2.1-or-later
/* Facts that are lists of words. */
#include <stdio.h>
#include <string.h>

#include "facts.h"

/* Adds a word that is not there yet and for which there is room. */
void eadm_fact_add_word(char *buf, size_t size, const char *word, size_t len)
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
