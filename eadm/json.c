// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A streaming JSON writer. It knows whether a comma is due; that what it is
 * told makes sense is its caller's business. Tens of thousands of rows go
 * through it: no stdio, no printf for numbers.
 */
#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SIZE 65536

struct json {
	int fd;
	int error;
	bool comma;		/* a value stands before the next one */
	size_t used;
	char buf[BUFFER_SIZE];
};

struct json *json_new(int fd)
{
	struct json *json = malloc(sizeof(*json));

	if (!json)
		return NULL;
	json->fd = fd;
	json->error = 0;
	json->comma = false;
	json->used = 0;
	return json;
}

int json_flush(struct json *json)
{
	size_t done = 0;
	ssize_t n;

	while (!json->error && done < json->used) {
		n = write(json->fd, json->buf + done, json->used - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			json->error = errno;
		else
			done += n;
	}
	json->used = 0;
	return json->error;
}

void json_free(struct json *json)
{
	if (!json)
		return;
	json_flush(json);
	free(json);
}

/* Room for @n bytes, at most BUFFER_SIZE. */
static char *room(struct json *json, size_t n)
{
	if (BUFFER_SIZE - json->used < n)
		json_flush(json);
	return json->buf + json->used;
}

void json_raw(struct json *json, const char *text, size_t len)
{
	size_t n;

	while (len) {
		n = len < BUFFER_SIZE ? len : BUFFER_SIZE;
		memcpy(room(json, n), text, n);
		json->used += n;
		text += n;
		len -= n;
	}
}

static void comma(struct json *json)
{
	if (json->comma)
		json_raw(json, ",", 1);
	json->comma = true;
}

/* Length of the UTF-8 sequence at @p, 0 when it is none. */
static size_t utf8_len(const unsigned char *p)
{
	size_t n, i;
	uint32_t c;

	if (*p >= 0xc2 && *p <= 0xdf)
		n = 2;
	else if (*p >= 0xe0 && *p <= 0xef)
		n = 3;
	else if (*p >= 0xf0 && *p <= 0xf4)
		n = 4;
	else
		return 0;
	c = *p & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if ((n == 3 && (c < 0x800 || (c >= 0xd800 && c <= 0xdfff))) ||
	    (n == 4 && (c < 0x10000 || c > 0x10ffff)))
		return 0;
	return n;
}

static void quoted(struct json *json, const char *text)
{
	const unsigned char *p = (const unsigned char *)text, *plain = p;
	char escape[8];
	size_t n;

	json_raw(json, "\"", 1);
	while (*p) {
		if (*p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\') {
			p++;
			continue;
		}
		n = *p >= 0x80 ? utf8_len(p) : 0;
		if (n) {
			p += n;
			continue;
		}
		json_raw(json, (const char *)plain, p - plain);
		/* Names from the kernel may be any bytes; JSON may not. */
		if (*p >= 0x80)
			n = snprintf(escape, sizeof(escape), "\\ufffd");
		else if (*p == '"' || *p == '\\')
			n = snprintf(escape, sizeof(escape), "\\%c", *p);
		else
			n = snprintf(escape, sizeof(escape), "\\u%04x", *p);
		json_raw(json, escape, n);
		plain = ++p;
	}
	json_raw(json, (const char *)plain, p - plain);
	json_raw(json, "\"", 1);
}

void json_string(struct json *json, const char *text)
{
	comma(json);
	quoted(json, text);
}

void json_key(struct json *json, const char *key)
{
	comma(json);
	quoted(json, key);
	json_raw(json, ":", 1);
	json->comma = false;
}

void json_u64(struct json *json, uint64_t value)
{
	char digits[20], *p = digits + sizeof(digits);

	comma(json);
	do {
		*--p = '0' + value % 10;
		value /= 10;
	} while (value);
	json_raw(json, p, digits + sizeof(digits) - p);
}

void json_s64(struct json *json, int64_t value)
{
	if (value >= 0) {
		json_u64(json, value);
		return;
	}
	comma(json);
	json_raw(json, "-", 1);
	json->comma = false;
	json_u64(json, -(uint64_t)value);
}

void json_f64(struct json *json, double value)
{
	char text[40];
	int n;

	comma(json);
	n = snprintf(text, sizeof(text), "%.3f", value);
	json_raw(json, text, n);
}

void json_open(struct json *json, char bracket)
{
	comma(json);
	json_raw(json, &bracket, 1);
	json->comma = false;
}

void json_close(struct json *json, char bracket)
{
	json_raw(json, &bracket, 1);
	json->comma = true;
}

void json_newline(struct json *json)
{
	json_raw(json, "\n", 1);
}

void json_prepared_key(struct json *json, const char *text, size_t len)
{
	comma(json);
	json_raw(json, text, len);
	json->comma = false;
}

void json_row_break(struct json *json)
{
	if (json->comma)
		json_raw(json, ",\n", 2);
	else
		json_raw(json, "\n", 1);
	json->comma = false;
}

void json_mark_value(struct json *json)
{
	json->comma = true;
}

/* The value of a key "error". */
void json_error_object(struct json *json, const char *verb, int status,
		       const char *what, const char *why)
{
	json_open(json, '{');
	if (*verb) {
		json_key(json, "verb");
		json_string(json, verb);
	}
	json_key(json, "what");
	json_string(json, what);
	json_key(json, "why");
	json_string(json, why);
	json_key(json, "status");
	json_s64(json, status);
	json_close(json, '}');
}

void json_error_document(struct json *json, const char *verb, int status,
			 const char *what, const char *why)
{
	json_open(json, '{');
	json_key(json, "schema");
	json_u64(json, 1);
	if (*verb) {
		json_key(json, "command");
		json_string(json, verb);
	}
	json_key(json, "error");
	json_error_object(json, verb, status, what, why);
	json_close(json, '}');
	json_newline(json);
}
