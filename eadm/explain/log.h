/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors found in a log of any size. */
#ifndef EXPLAIN_LOG_H
#define EXPLAIN_LOG_H

#include "match.h"

#define LOG_EXCERPT 240

/* An error found in the log. */
struct log_error {
	unsigned long long count;	/* number of lines that contain it; 0: none */
	unsigned long long line;	/* number of the first such line, from 1 */
	unsigned long long last;
	char text[LOG_EXCERPT];		/* first such line, or a part around the error */
};

struct log {
	char buf[WORDS_TEXT];		/* part of the current line not yet searched */
	size_t len;
	unsigned long long line;	/* number of the current line, from 1 */
	struct split words;
	struct matches matches;
	struct log_error *errors;	/* one per meaning */
	unsigned int *order;		/* meanings in the order of appearance */
	unsigned int n;
};

struct log *log_new(void);	/* NULL if out of memory */
void log_free(struct log *log);
void log_add(struct log *log, const char *text, size_t len);
void log_end(struct log *log);

#endif /* EXPLAIN_LOG_H */
