// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Splits a text into words: letters, digits, underscores, and apostrophes inside a word.
 * All other bytes separate words, including bytes that are not text.
 */
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* These functions do not depend on the locale. */
static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static bool is_upper(unsigned char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_word(unsigned char c)
{
	return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z') || c == '_';
}

/*
 * Returns the length of a plain or typographic apostrophe if a letter follows,
 * otherwise 0.
 */
static size_t apostrophe(const char *text, size_t len)
{
	static const char curly[] = "\xe2\x80\x99";
	size_t n = 0;

	if (len && *text == '\'')
		n = 1;
	else if (len > 3 && !memcmp(text, curly, 3))
		n = 3;
	return n && n < len && is_word(text[n]) ? n : 0;
}

/*
 * Returns the length of a separator that contains letters: a colour sequence, or "\n" as
 * in JSON; otherwise 0.
 */
static size_t escape(const char *text, size_t len)
{
	size_t n = 2;

	if (len > 1 && text[0] == '\\' && strchr("nrt", text[1]) && text[1])
		return 2;
	if (len < 2 || text[0] != '\033' || text[1] != '[')
		return 0;
	while (n < len && text[n] >= ' ' && text[n] < '@')
		n++;
	return n < len ? n + 1 : n;
}

static void read_number(struct word *word)
{
	bool hex = word->text[0] == '0' && word->text[1] == 'x';
	char *end;

	if (!is_digit(word->text[0]))
		return;
	errno = 0;
	word->number = strtoul(word->text, &end, hex ? 16 : 10);
	word->is_number = !errno && !*end && end - word->text > (hex ? 2 : 0);
}

void words_split(struct split *words, const char *text, size_t len)
{
	char *out = words->buf;
	struct word *word;
	size_t i = 0, skip;

	words->n = 0;
	if (len > WORDS_TEXT)
		len = WORDS_TEXT;
	while (i < len) {
		skip = escape(text + i, len - i);
		if (skip || !is_word(text[i])) {
			i += skip ? skip : 1;
			continue;
		}
		word = &words->word[words->n++];
		*word = (struct word){ .text = out, .at = i };
		word->negative = i && text[i - 1] == '-' &&
				 (i == 1 || !is_word(text[i - 2]));
		while (i < len && (is_word(text[i]) ||
				   apostrophe(text + i, len - i))) {
			skip = apostrophe(text + i, len - i);
			if (skip)
				*out++ = '\'';
			i += skip;
			*out++ = is_upper(text[i]) ? text[i] - 'A' + 'a' : text[i];
			i++;
		}
		*out++ = '\0';
		read_number(word);
	}
}
