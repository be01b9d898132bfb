/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The errors of a log, of any size. */
#ifndef EXPLAIN_LOG_H
#define EXPLAIN_LOG_H

#include "match.h"

#define LOG_EXCERPT 240

/* An error found in the log. */
struct log_error {
	unsigned long long count;	/* number of lines that contain it; 0: none */
	unsigned long long line;	/* number of the first such line, from 1 */
	unsigned long long last;
	char text[LOG_EXCERPT];		/* first such line, or its part from the error on */
};

struct log {
	char buf[WORDS_TEXT];		/* remaining part of the current line */
	size_t len;
	unsigned long long line;	/* number of the current line, finally of the last line */
	struct split words;
	struct matches matches;
	struct log_error *errors;	/* one per meaning */
	unsigned int *order;		/* meanings, in the order of the log */
	unsigned int n;
};

struct log *log_new(void);	/* NULL if out of memory */
void log_free(struct log *log);
void log_add(struct log *log, const char *text, size_t len);
void log_end(struct log *log);

#endif /* EXPLAIN_LOG_H */
