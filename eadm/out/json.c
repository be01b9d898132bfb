// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A streaming JSON writer. It only handles commas; its callers are responsible for a
 * valid structure. It writes tens of thousands of rows, so it avoids stdio, and
 * printf() for numbers.
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
	struct buffer *to;	/* output instead of @fd, or NULL */
	int error;
	bool comma;		/* a comma must precede the next value */
	size_t used;
	char buf[BUFFER_SIZE];
};

struct json *json_new(int fd)
{
	struct json *json = malloc(sizeof(*json));

	if (!json)
		return NULL;
	json->fd = fd;
	json->to = NULL;
	json->error = 0;
	json->comma = false;
	json->used = 0;
	return json;
}

struct json *json_new_buffer(struct buffer *to)
{
	struct json *json = json_new(-1);

	if (json)
		json->to = to;
	return json;
}

int json_flush(struct json *json)
{
	size_t done = 0;
	ssize_t n;

	if (json->to) {
		buffer_put(json->to, json->buf, json->used);
		json->error = json->to->failed ? ENOMEM : 0;
		json->used = 0;
		return json->error;
	}
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

/* Returns room for @n bytes, at most BUFFER_SIZE. */
static inline char *room(struct json *json, size_t n)
{
	if (BUFFER_SIZE - json->used < n)
		json_flush(json);
	return json->buf + json->used;
}

/* @end: end of the bytes that were written to room(). */
static inline void took(struct json *json, const char *end)
{
	json->used = end - json->buf;
}

/* Returns room for a value of @n bytes, after a comma if required. */
static inline char *value_room(struct json *json, size_t n)
{
	char *p = room(json, n + 1);

	if (json->comma)
		*p++ = ',';
	json->comma = true;
	return p;
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

static uint32_t code_of(const unsigned char *p, size_t n)
{
	uint32_t c = *p & (0x7f >> n);
	size_t i;

	for (i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

/*
 * Returns the length of the multibyte UTF-8 sequence at @p, or 0 if there is no valid
 * one.
 */
size_t utf8_len(const unsigned char *p)
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
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	c = code_of(p, n);
	if ((n == 3 && (c < 0x800 || (c >= 0xd800 && c <= 0xdfff))) ||
	    (n == 4 && (c < 0x10000 || c > 0x10ffff)))
		return 0;
	return n;
}

/*
 * Returns true if a UTF-8 character of @n bytes is invisible or changes how other
 * characters are shown: ISO 8859 controls, direction marks, joiners, zero-width spaces.
 */
bool utf8_is_hidden(const unsigned char *p, size_t n)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{ 0x80, 0x9f }, { 0xad, 0xad }, { 0x34f, 0x34f },
		{ 0x61c, 0x61c }, { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 },
		{ 0x180b, 0x180f }, { 0x200b, 0x200f }, { 0x2028, 0x202e },
		{ 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f },
		{ 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff9, 0xfffb },
		{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
	};
	uint32_t c = code_of(p, n);
	size_t i;

	for (i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		if (c >= hidden[i].first && c <= hidden[i].last)
			return true;
	}
	return false;
}

/*
 * Puts a hidden character as an equivalent escape sequence; returns the end of the
 * sequence.
 */
static char *escape_hidden(char *p, const unsigned char *from, size_t n)
{
	uint32_t c = code_of(from, n);

	if (c >= 0x10000) {
		p += sprintf(p, "\\u%04x", 0xd800 + ((c - 0x10000) >> 10));
		c = 0xdc00 + ((c - 0x10000) & 0x3ff);
	}
	return p + sprintf(p, "\\u%04x", c);
}

/* Puts the escape sequence of one character; returns the end of the sequence. */
static char *escape(char *p, unsigned char c)
{
	/*
	 * Names from the kernel can contain arbitrary bytes, but JSON must be valid
	 * UTF-8.
	 */
	if (c >= 0x80)
		memcpy(p, "\\ufffd", 6);
	else if (c == '"' || c == '\\')
		return memcpy(p, (char[]){ '\\', c }, 2) + 2;
	else
		memcpy(p, (char[]){ '\\', 'u', '0', '0', "01234567"[c >> 4],
				    "0123456789abcdef"[c & 15] }, 6);
	return p + 6;
}

/* Long texts are processed in pieces that never end within a character. */
#define PIECE 4096

static void quoted(struct json *json, const char *text)
{
	/*
	 * Contains nearly all characters that occur, so that most bytes take a single
	 * lookup.
	 */
	static const bool plain[256] = {
		[' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '~'] = true,
	};
	const unsigned char *from = (const unsigned char *)text, *until;
	char *p = room(json, 1);
	size_t n;

	*p++ = '"';
	took(json, p);
	do {
		/*
		 * A byte becomes up to 6 bytes, and the last character can extend
		 * beyond the piece.
		 */
		p = room(json, 6 * (PIECE + 4) + 1);
		until = from + PIECE;
		while (from < until) {
			if (plain[*from]) {
				*p++ = *from++;
				continue;
			}
			if (!*from)
				break;
			n = *from >= 0x80 ? utf8_len(from) : 0;
			if (n) {
				p = utf8_is_hidden(from, n) ?
					    escape_hidden(p, from, n) :
					    mempcpy(p, from, n);
				from += n;
			} else {
				p = escape(p, *from++);
			}
		}
		if (!*from)
			*p++ = '"';
		took(json, p);
	} while (*from);
}

void json_string(struct json *json, const char *text)
{
	took(json, value_room(json, 0));
	quoted(json, text);
}

void json_name(struct json *json, const char *name, size_t len)
{
	char *p = value_room(json, len + 2);

	*p++ = '"';
	p = mempcpy(p, name, len);
	*p++ = '"';
	took(json, p);
}

void json_key(struct json *json, const char *key)
{
	json_string(json, key);
	json_raw(json, ":", 1);
	json->comma = false;
}

static unsigned int count_digits(uint64_t value)
{
	static const uint64_t powers[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
		1000000000, 10000000000, 100000000000, 1000000000000,
		10000000000000, 100000000000000, 1000000000000000,
		10000000000000000, 100000000000000000, 1000000000000000000,
		10000000000000000000ULL,
	};
	/* According to the binary logarithm, the number has n digits or n + 1. */
	unsigned int n = (64 - __builtin_clzll(value | 1)) * 1233 >> 12;

	return n + (value >= powers[n]);
}

/*
 * Writes two digits at a time, because divisions dominate the cost of writing numbers.
 */
static char *digits(char *p, uint64_t value)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324"
		"25262728293031323334353637383940414243444546474849"
		"50515253545556575859606162636465666768697071727374"
		"75767778798081828384858687888990919293949596979899";
	char *end = p + count_digits(value), *t = end;

	while (value >= 100) {
		t -= 2;
		memcpy(t, &pairs[value % 100 * 2], 2);
		value /= 100;
	}
	if (value >= 10) {
		memcpy(p, &pairs[value * 2], 2);
	} else {
		*p = '0' + value;
	}
	return end;
}

void json_u64(struct json *json, uint64_t value)
{
	char *p = value_room(json, 20);

	if (value < 10) {
		*p++ = '0' + value;
		took(json, p);
	} else {
		took(json, digits(p, value));
	}
}

void json_s64(struct json *json, int64_t value)
{
	char *p = value_room(json, 21);

	if (value < 0)
		*p++ = '-';
	took(json, digits(p, value < 0 ? -(uint64_t)value : (uint64_t)value));
}

void json_hex(struct json *json, uint64_t value)
{
	char *p = value_room(json, 20);
	int shift = value ? (63 - __builtin_clzll(value)) / 4 * 4 : 0;

	p = mempcpy(p, "\"0x", 3);
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[value >> shift & 15];
	*p++ = '"';
	took(json, p);
}

void json_f64(struct json *json, double value)
{
	char text[40];
	int n = snprintf(text, sizeof(text), "%.3f", value);

	took(json, mempcpy(value_room(json, n), text, n));
}

void json_open(struct json *json, char bracket)
{
	char *p = value_room(json, 1);

	*p++ = bracket;
	took(json, p);
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

/* Copying in whole steps is faster than copying the exact number of bytes. */
static inline char *prepared(char *p, const struct json_prepared *key)
{
	size_t i;

	for (i = 0; i < key->len; i += JSON_KEY_STEP)
		memcpy(p + i, key->text + i, JSON_KEY_STEP);
	return p + key->len;
}

void json_prepared_key(struct json *json, const struct json_prepared *key)
{
	took(json, prepared(value_room(json, JSON_KEY_MAX), key));
	json->comma = false;
}

void json_prepared_u64(struct json *json, const struct json_prepared *key,
		       uint64_t value)
{
	char *p = prepared(value_room(json, JSON_KEY_MAX + 20), key);

	if (value < 10) {
		*p++ = '0' + value;
		took(json, p);
	} else {
		took(json, digits(p, value));
	}
}

void json_row_break(struct json *json)
{
	if (json->comma)
		json_raw(json, ",\n", 2);
	else
		json_raw(json, "\n", 1);
	json->comma = false;
}

void json_literal(struct json *json, const char *text, size_t len)
{
	took(json, mempcpy(value_room(json, len), text, len));
}

void json_bool(struct json *json, bool value)
{
	if (value)
		json_literal(json, "true", 4);
	else
		json_literal(json, "false", 5);
}

void json_null(struct json *json)
{
	json_literal(json, "null", 4);
}

/* Writes bytes as a string of hexadecimal digits. */
void json_bytes(struct json *json, const void *data, size_t len)
{
	const unsigned char *p = data;

	json_string(json, "");
	json->used--;		/* drop the closing quote */
	for (; len; len--, p++)
		json_raw(json, (char[]){ "0123456789abcdef"[*p >> 4],
					 "0123456789abcdef"[*p & 15] }, 2);
	json_raw(json, "\"", 1);
}

/* Writes the value of the key "error". */
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
