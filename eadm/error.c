// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors: one line on stderr or an object on stdout, and the exit status. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "descriptors.h"
#include "grow.h"
#include "out/json.h"
#include "out/writer.h"

int status_of(int error)
{
	switch (-error) {
	case 0:
		return STATUS_OK;
	case ENODEV:
	case ENOENT:
	case ENODATA:
		return STATUS_NOT_FOUND;
	case EPERM:
	case EACCES:
		return STATUS_PERMISSION;
	case EOPNOTSUPP:
	case EPROTONOSUPPORT:
	case EAFNOSUPPORT:
		return STATUS_UNSUPPORTED;
	case ERANGE:
		return STATUS_USAGE;
	default:
		return STATUS_FAILED;
	}
}

bool means_no_objects(int error)
{
	return error == -EOPNOTSUPP || error == -ENODATA;
}

void error_init(void)
{
	occupy_descriptors();
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
}

/* Escapes everything that could confuse a terminal or a line reader. */
void put_clean(FILE *out, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len;
	const unsigned char *clean = p;
	size_t n;

	for (; p < end; p += n) {
		n = *p < 0x80 ? *p >= 0x20 && *p != 0x7f : utf8_len(p);
		if (n && (*p < 0x80 || !utf8_is_hidden(p, n)))
			continue;
		fwrite_unlocked(clean, 1, p - clean, out);
		putc_unlocked('?', out);
		n = n ? n : 1;
		clean = p + n;
	}
	fwrite_unlocked(clean, 1, end - clean, out);
}

static void report(struct cli *cli, int status, const char *what,
		   const char *why)
{
	struct json *json;

	if (cli->writer && cli->writer->open) {
		cli->writer->ops->error(cli->writer, status, what, why);
		return;
	}
	json = cli->json ? json_new(1) : NULL;
	if (json) {
		json_error_document(json, cli->verb, status, what, why);
		json_free(json);
		return;
	}
	note(cli, "%s: %s", what, why);
}

/* Report an error; returns @status. */
int fail(struct cli *cli, int status, const char *what, const char *fmt, ...)
{
	char why[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	report(cli, status, what, why);
	return status;
}

/* Report the library's last error; returns the corresponding status. */
int fail_lib(struct cli *cli, int error, const char *what)
{
	int status = status_of(error);

	report(cli, status, what, eadm_errmsg(cli->ctx));
	return status;
}

/*
 * Report a file that could not be written; returns the corresponding status. An early
 * exit of the reader is not reported.
 */
int fail_write(struct cli *cli, const struct eadm_ctx *ctx, int error,
	       const char *path)
{
	if (error == -EPIPE)
		return STATUS_FAILED;
	return fail(cli, error == -EACCES || error == -EPERM ?
			      STATUS_PERMISSION : STATUS_FAILED,
		    strcmp(path, "-") ? path : "standard output", "%s",
		    eadm_errmsg(ctx));
}

/*
 * Print one line on stderr, regardless of the output format. stderr is line buffered (see
 * error_init()), so that a log never receives partial lines.
 */
void note(struct cli *cli, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	flockfile(stderr);
	fprintf(stderr, "eadm: %s%s", cli->verb, *cli->verb ? ": " : "");
	/* The line may contain text from a capture. */
	put_clean(stderr, line, strlen(line));
	fputc('\n', stderr);
	funlockfile(stderr);
}

/* ---- similar words ----------------------------------------------------------- */

void word_add(struct word_list *list, const char *word)
{
	size_t n = list->n + 1;		/* including the final NULL */

	if (!grow(list->words, n, list->max))
		return;
	list->words[list->n++] = word;
	list->words[list->n] = NULL;
}

void word_free(struct word_list *list)
{
	free(list->words);
	*list = (struct word_list){ 0 };
}

/* Joins the words: "a, b, c". */
const char *word_join(const struct word_list *list, char *buf, size_t size)
{
	size_t i, at = 0;

	buf[0] = '\0';
	for (i = 0; i < list->n && at < size; i++)
		at += snprintf(buf + at, size - at, "%s%s", i ? ", " : "",
			       list->words[i]);
	return buf;
}

#define MAX_WORD 32

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int m = a < b ? a : b;

	return m < c ? m : c;
}

/*
 * Returns the edit distance between two words; swapping two adjacent letters counts as
 * one edit.
 */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[3][MAX_WORD + 1], *before = row[0], *last = row[1],
		*now = row[2], *spare;
	size_t n = strlen(a), m = strlen(b), i, j;

	if (n > MAX_WORD || m > MAX_WORD)
		return MAX_WORD;
	for (j = 0; j <= m; j++)
		last[j] = j;
	for (i = 1; i <= n; i++) {
		now[0] = i;
		for (j = 1; j <= m; j++) {
			now[j] = min3(last[j] + 1, now[j - 1] + 1,
				      last[j - 1] + (tolower(a[i - 1]) !=
						     tolower(b[j - 1])));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[m];
}

/* Returns the word most similar to @word, or NULL if none is similar enough. */
const char *suggest(const char *word, const char *const *words)
{
	unsigned int best = strlen(word) < 4 ? 2 : 3, d;
	const char *near = NULL;

	for (; words && *words; words++) {
		d = distance(word, *words);
		/* A prefix of a word most likely stands for that word. */
		if (d > 1 && strlen(word) > 1 &&
		    !strncasecmp(word, *words, strlen(word)))
			d = 1;
		if (d < best && d < strlen(*words)) {
			best = d;
			near = *words;
		}
	}
	return near;
}

/*
 * Report that @name, a @what, is not among the @words, which are freed. Suggests a
 * similar word, otherwise prints the @hint, or all words if @hint is NULL.
 */
int unknown_word(struct cli *cli, const char *name, const char *what,
		 struct word_list *words, const char *hint)
{
	const char *near = suggest(name, words->words);
	char all[500];

	word_join(words, all, sizeof(all));
	word_free(words);
	if (near)
		return fail(cli, STATUS_USAGE, name,
			    "%s (did you mean '%s'?)", what, near);
	return fail(cli, STATUS_USAGE, name, "%s (%s)", what,
		    hint ? hint : all);
}
