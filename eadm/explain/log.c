// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a log line by line. A line that is longer than the buffer is searched in
 * overlapping pieces, so that no error is missed at a boundary; each error counts once
 * per line.
 */
#include "log.h"

#include <stdlib.h>
#include <string.h>

#include "table.h"

/* Marks an excerpt that was cut. */
static const char dots[] = "...";

/*
 * Copies the line; of a long line, only a part that begins a few words before the
 * error.
 */
static void take_excerpt(const struct log *log, size_t at, char *out)
{
	const char *line = log->buf;
	size_t len = log->len, start = 0, n = 0;

	if (len >= LOG_EXCERPT && at > LOG_EXCERPT / 3) {
		start = at - LOG_EXCERPT / 3;
		while (start < at && line[start] != ' ')
			start++;
		memcpy(out, dots, strlen(dots));
		n = strlen(dots);
	}
	if (!n)
		start += strspn(line, " \t");
	for (; start < len && n < LOG_EXCERPT - sizeof(dots); start++)
		out[n++] = line[start] ? line[start] : ' ';
	if (start < len) {
		memcpy(out + n, dots, strlen(dots));
		n += strlen(dots);
	}
	out[n] = '\0';
}

static void found(void *data, unsigned int meaning, size_t at)
{
	struct log *log = data;
	struct log_error *error = &log->errors[meaning];

	if (!error->count) {
		log->order[log->n++] = meaning;
		error->line = log->line;
		take_excerpt(log, at, error->text);
	}
	if (error->last != log->line)
		error->count++;
	error->last = log->line;
}

struct log *log_new(void)
{
	struct log *log = calloc(1, sizeof(*log));

	if (!log)
		return NULL;
	log->errors = calloc(explain_n_meanings, sizeof(*log->errors));
	log->order = calloc(explain_n_meanings, sizeof(*log->order));
	log->matches.found = found;
	log->matches.data = log;
	log->line = 1;
	if (log->errors && log->order)
		return log;
	log_free(log);
	return NULL;
}

void log_free(struct log *log)
{
	if (!log)
		return;
	free(log->errors);
	free(log->order);
	free(log);
}

/*
 * Searches the buffer for errors that begin before @end, and drops the searched part.
 */
static void search(struct log *log, size_t end)
{
	/* Terminate the buffer for strspn() in take_excerpt(). */
	log->buf[log->len] = '\0';
	words_split(&log->words, log->buf, log->len);
	match_words(&log->words, end, &log->matches);
	log->len -= end;
	memmove(log->buf, log->buf + end, log->len);
}

void log_add(struct log *log, const char *text, size_t len)
{
	const char *end = text + len;
	size_t n, room;

	while (text < end) {
		const char *newline = memchr(text, '\n', end - text);

		n = (newline ? newline : end) - text;
		room = sizeof(log->buf) - 1 - log->len;
		if (n > room) {
			memcpy(log->buf + log->len, text, room);
			log->len += room;
			text += room;
			search(log, log->len - MATCH_REACH);
			continue;
		}
		memcpy(log->buf + log->len, text, n);
		log->len += n;
		text += n;
		if (newline) {
			search(log, log->len);
			log->line++;
			text++;
		}
	}
}

void log_end(struct log *log)
{
	/*
	 * If the last line is empty, the text ended with a newline: do not count that
	 * line.
	 */
	if (!log->len)
		log->line--;
	search(log, log->len);
}
