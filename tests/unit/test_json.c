// SPDX-License-Identifier: GPL-2.0-or-later
/* The JSON writer: commas, escapes, numbers, long values, failures. */
#include "json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

static struct json *json;
static int fd;

static void begin(void)
{
	fd = memfd_create("json", MFD_CLOEXEC);
	json = json_new(fd);
}

static bool gave(const char *expected)
{
	static char got[200000];
	ssize_t n;
	bool same;

	json_free(json);
	n = pread(fd, got, sizeof(got) - 1, 0);
	close(fd);
	got[n > 0 ? n : 0] = '\0';
	same = !strcmp(got, expected);
	if (!same)
		printf("# got %.200s\n", got);
	return same;
}

static void shapes(void)
{
	begin();
	json_open(json, '{');
	json_key(json, "a");
	json_open(json, '[');
	json_u64(json, 1);
	json_s64(json, -2);
	json_open(json, '{');
	json_close(json, '}');
	json_close(json, ']');
	json_key(json, "b");
	json_string(json, "x");
	json_prepared_key(json, &(struct json_prepared){
					"\"c\":            ", 4 });
	json_f64(json, 1.5);
	json_prepared_u64(json, &(struct json_prepared){
					"\"d\":            ", 4 }, 70);
	json_close(json, '}');
	ok(gave("{\"a\":[1,-2,{}],\"b\":\"x\",\"c\":1.500,\"d\":70}"),
	   "commas stand between values only");
}

static void numbers(void)
{
	begin();
	json_open(json, '[');
	json_u64(json, 0);
	json_u64(json, UINT64_MAX);
	json_s64(json, INT64_MIN);
	json_s64(json, INT64_MAX);
	json_close(json, ']');
	ok(gave("[0,18446744073709551615,-9223372036854775808,9223372036854775807]"),
	   "numbers keep all their digits");
}

static void strings(void)
{
	begin();
	json_string(json, "a\"b\\c\td\001");
	ok(gave("\"a\\\"b\\\\c\\u0009d\\u0001\""), "escapes");
	begin();
	json_string(json, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	ok(gave("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""),
	   "UTF-8 goes through");
	begin();
	json_string(json, "\xff\xc3(\xe0\x80\x80\xed\xa0\x80\xc3");
	ok(gave("\"\\ufffd\\ufffd(\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""),
	   "what is no UTF-8 does not");
}

static void hidden(void)
{
	begin();
	json_string(json, "\xc2\x9b" "31m\177 \xe2\x80\xae \xe2\x80\x8b \xc2\xa0");
	ok(gave("\"\\u009b31m\\u007f \\u202e \\u200b \xc2\xa0\""),
	   "what is not seen is escaped");
	begin();
	json_string(json, "\xf3\xa0\x80\x81");
	ok(gave("\"\\udb40\\udc01\""), "also beyond 16 bits");
}

static void long_value(void)
{
	static char text[150000], expected[150003];

	memset(text, 'x', sizeof(text) - 1);
	snprintf(expected, sizeof(expected), "\"%s\"", text);
	begin();
	json_string(json, text);
	ok(gave(expected), "a text longer than the buffer");
}

static void failing(void)
{
	json = json_new(open("/dev/full", O_WRONLY | O_CLOEXEC));
	json_string(json, "x");
	ok(json_flush(json) == ENOSPC, "a failure of writing is told");
	json_string(json, "y");
	ok(json_flush(json) == ENOSPC, "and remembered");
	json_free(json);
}

static void error(void)
{
	begin();
	json_error_document(json, "dump", 3, "qp 7", "no such object");
	ok(gave("{\"schema\":1,\"command\":\"dump\",\"error\":{\"verb\":\"dump\",\"what\":\"qp 7\",\"why\":\"no such object\",\"status\":3}}\n"),
	   "an error is a document");
}

int main(void)
{
	shapes();
	numbers();
	strings();
	hidden();
	long_value();
	failing();
	error();
	return done();
}
