// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of processes and memory keys in lines of the kernel's log, which are recognized
 * by the words around them: the process may have ended, so its name is not known.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "redact.h"

/* Including the NUL; longer ones are no names. */
#define MAX_COMM 32

struct mention {
	const char *before;
	const char *after[4];	/* alternatives */
};

static const struct mention mentions[] = {
	{ "Comm: ", { " Not tainted", " Tainted", " Kdump", "\n" } },
	{ "comm=\"", { "\"" } },
	{ "comm: ", { " ", "\n", "," } },
	{ "comm=", { " ", "\n", "," } },
	{ "comm ", { " ", "\n", "," } },
	{ "process '", { "'" } },
	{ "process `", { "'" } },
	{ "task=", { ",pid=" } },
	{ "INFO: task ", { ":" } },
};

static bool starts(const char *text, size_t len, const char *with)
{
	size_t n = strlen(with);

	return n <= len && !memcmp(text, with, n);
}

/* Returns the length of the name at @text, which one of @after ends; 0: there is none. */
static size_t until(const char *text, size_t len, const char *const after[4])
{
	size_t n, i;

	for (n = 0; n < len && n < MAX_COMM; n++) {
		for (i = 0; i < 4 && after[i]; i++) {
			if (starts(text + n, len - n, after[i]))
				return n;
		}
		if (text[n] == '\n')
			return 0;
	}
	return n == len && n < MAX_COMM ? n : 0;
}

static size_t word(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && n < MAX_COMM - 1 && !strchr(" \t\n\"'[(,;", text[n]))
		n++;
	return n;
}

/* Puts @head as it is, and the pseudonym of the @n bytes after it. */
static size_t put_comm(struct eadm_redactor *r, const char *text, size_t head, size_t n,
		       struct eadm_bytes *out)
{
	char name[MAX_COMM], pseudo[32];

	snprintf(name, sizeof(name), "%.*s", (int)n, text + head);
	if (!n || eadm_redact_process(r, name, pseudo, sizeof(pseudo)))
		return 0;
	eadm_bytes_put(out, text, head);
	eadm_bytes_put(out, pseudo, strlen(pseudo));
	return head + n;
}

static size_t mentioned(struct eadm_redactor *r, const char *text, size_t len,
			struct eadm_bytes *out)
{
	const struct mention *m;
	size_t head, n;

	for (m = mentions; m < mentions + EADM_ARRAY_SIZE(mentions); m++) {
		head = strlen(m->before);
		if (!starts(text, len, m->before))
			continue;
		n = until(text + head, len - head, m->after);
		if (!n)
			n = word(text + head, len - head);
		return put_comm(r, text, head, n, out);
	}
	return 0;
}

static size_t number_of_digits(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && isdigit((unsigned char)text[n]))
		n++;
	return n;
}

/* "Killed process 1234 (NAME)" */
static size_t killed(struct eadm_redactor *r, const char *text, size_t len,
		     struct eadm_bytes *out)
{
	static const char *const after[4] = { ")" };
	static const char head[] = "process ";
	size_t n = sizeof(head) - 1, digits;

	if (!starts(text, len, head))
		return 0;
	digits = number_of_digits(text + n, len - n);
	n += digits;
	if (!digits || !starts(text + n, len - n, " ("))
		return 0;
	n += 2;
	return put_comm(r, text, n, until(text + n, len - n, after), out);
}

/* Returns true at the start of a message, which follows "[SECONDS] ". */
static bool is_start(const char *text, size_t at)
{
	return !at || text[at - 1] == '\n' ||
	       (at > 1 && text[at - 1] == ' ' && text[at - 2] == ']');
}

/* "NAME[1234]: " at the start of a message; "NAME[1234]: segfault", "NAME[1234] trap" */
static size_t prefixed(struct eadm_redactor *r, const char *text, size_t len, size_t at,
		       struct eadm_bytes *out)
{
	static const char *const after[4] = { "[" };
	static const char *const ends[] = { "]: segfault", "] general protection", "] trap",
					    "]: " };
	bool start = is_start(text, at);
	size_t n, digits, i;

	if (!start && text[at - 1] != ' ')
		return 0;
	text += at;
	len -= at;
	n = start ? until(text, len, after) : word(text, len);
	if (!n || n >= len || text[n] != '[' || memmem(text, n, ": ", 2))
		return 0;
	digits = number_of_digits(text + n + 1, len - n - 1);
	for (i = 0; digits && i < EADM_ARRAY_SIZE(ends) - !start; i++) {
		if (starts(text + n + 1 + digits, len - n - 1 - digits, ends[i]))
			return put_comm(r, text, 0, n, out);
	}
	return 0;
}

/* "rkey 0x1234", "STag=1234", "lkey: 0x1234": the number becomes 0. */
static size_t memory_key(struct eadm_redactor *r, const char *text, size_t len,
			 struct eadm_bytes *out)
{
	static const char *const heads[] = { "rkey", "lkey", "stag", "r_key", "l_key",
					     "mkey" };
	size_t i, n, head = 0;

	for (i = 0; i < EADM_ARRAY_SIZE(heads) && !head; i++) {
		n = strlen(heads[i]);
		if (n < len && !strncasecmp(text, heads[i], n))
			head = n;
	}
	if (!head)
		return 0;
	for (n = head; n < len && n < head + 3 && strchr(" :=[", text[n]);)
		n++;
	head = n == head ? 0 : n;
	if (starts(text + n, len - n, "0x"))
		n += 2;
	for (i = n; i < len && isxdigit((unsigned char)text[i]);)
		i++;
	if (!head || i == n || (i < len && (isalnum((unsigned char)text[i]) || text[i] == '_')))
		return 0;
	eadm_bytes_put(out, text, head);
	eadm_bytes_put(out, "0", 1);
	r->count.secrets++;
	return i;
}

/* Qualified names of storage, as in "iqn.2003-01.org.example.host:sn.99" */
static size_t storage_name(struct eadm_redactor *r, const char *text, size_t len,
			   struct eadm_bytes *out)
{
	char pseudo[32];
	size_t n;

	if (!starts(text, len, "iqn.") && !starts(text, len, "nqn."))
		return 0;
	for (n = 4; n < len && !strchr(" \t\n\"',;)]", text[n]);)
		n++;
	eadm_redact_setting(r, text, n, pseudo, sizeof(pseudo));
	eadm_bytes_put(out, text, 4);
	eadm_bytes_put(out, pseudo, strlen(pseudo));
	return n;
}

/* Returns the number of bytes that were replaced at @at, which starts a word. */
size_t eadm_redact_log(struct eadm_redactor *r, const char *text, size_t len, size_t at,
		       struct eadm_bytes *out)
{
	size_t n = prefixed(r, text, len, at, out);

	if (!n)
		n = mentioned(r, text + at, len - at, out);
	if (!n)
		n = killed(r, text + at, len - at, out);
	if (!n)
		n = memory_key(r, text + at, len - at, out);
	if (!n)
		n = storage_name(r, text + at, len - at, out);
	return n;
}
