/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds errors among the words of a text. */
#ifndef EXPLAIN_MATCH_H
#define EXPLAIN_MATCH_H

#include "words.h"

/* Maximum length of an error, from its first word to its last. */
#define MATCH_REACH 2048

struct matches {
	/*
	 * Called for each error, possibly several times, with the offset of its first
	 * word.
	 */
	void (*found)(void *data, unsigned int meaning, size_t at);
	void *data;
	bool error;	/* an errno was found, possibly without the call that failed */
};

/* Finds errors that begin before the offset @end. */
void match_words(const struct split *words, size_t end, struct matches *matches);

#endif /* EXPLAIN_MATCH_H */
