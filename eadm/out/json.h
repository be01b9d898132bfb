/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A streaming JSON writer with its own buffer. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

struct json;

struct json *json_new(int fd);
struct json *json_new_buffer(struct buffer *to);	/* flushing appends to @to */
int json_flush(struct json *json);	/* 0, or the errno of the first failure */
void json_free(struct json *json);	/* flushes */

size_t utf8_len(const unsigned char *p);
bool utf8_is_hidden(const unsigned char *p, size_t n);
void json_raw(struct json *json, const char *text, size_t len);
void json_string(struct json *json, const char *text);
/* Writes a text that requires no escaping. */
void json_name(struct json *json, const char *name, size_t len);
void json_key(struct json *json, const char *key);
void json_u64(struct json *json, uint64_t value);
void json_s64(struct json *json, int64_t value);
void json_hex(struct json *json, uint64_t value);	/* "0x1f" */
void json_f64(struct json *json, double value);
/* Writes a short value unchanged. */
void json_literal(struct json *json, const char *text, size_t len);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
void json_bytes(struct json *json, const void *data, size_t len); /* "c0ff" */
void json_open(struct json *json, char bracket);
void json_close(struct json *json, char bracket);
void json_newline(struct json *json);

/*
 * A key with quotes and a colon, in memory that is readable up to the next multiple of
 * JSON_KEY_STEP bytes.
 */
struct json_prepared {
	const char *text;
	size_t len;
};

#define JSON_KEY_STEP	16
#define JSON_KEY_MAX	128

void json_prepared_key(struct json *json, const struct json_prepared *key);
void json_prepared_u64(struct json *json, const struct json_prepared *key,
		       uint64_t value);
/* Puts a line break before the next value. */
void json_row_break(struct json *json);

void json_error_object(struct json *json, const char *verb, int status,
		       const char *what, const char *why);
void json_error_document(struct json *json, const char *verb, int status,
			 const char *what, const char *why);

#endif /* JSON_H */
