/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of a piece of text. */
#ifndef EXPLAIN_WORDS_H
#define EXPLAIN_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define WORDS_TEXT 16384	/* longest piece of text */
#define WORDS_MAX (WORDS_TEXT / 2 + 1)

struct word {
	const char *text;	/* lower case */
	size_t at;		/* offset in the piece */
	bool is_number, negative;
	unsigned long number;	/* without its sign */
};

struct split {
	char buf[2 * WORDS_TEXT + 2];
	struct word word[WORDS_MAX];
	unsigned int n;
};

void words_split(struct split *words, const char *text, size_t len);

#endif /* EXPLAIN_WORDS_H */
