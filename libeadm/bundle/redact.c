// SPDX-License-Identifier: LGPL-2.1-or-later
/* Addresses and names in text, which are replaced with pseudonyms. */
#include "redact.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Longer than any address: 20 bytes of IPoIB, with separators and the next character. */
#define MAX_RUN 64

static void put_text(struct eadm_bytes *g, const char *text)
{
	eadm_bytes_put(g, text, strlen(text));
}

static int hex_digit(unsigned char c)
{
	if (isdigit(c))
		return c - '0';
	return tolower(c) - 'a' + 10;
}

/*
 * Parse groups of 2 or 4 hex digits with separators; returns the number of bytes, 0 if
 * there are none.
 */
static size_t hex_groups(const char *text, size_t len, size_t group,
			 char separator, unsigned char *out, size_t max)
{
	size_t i, n = 0, digits = 0;

	for (i = 0; i < len; i++) {
		if (isxdigit((unsigned char)text[i]) && digits < group) {
			if (n == max)
				return 0;
			if (digits % 2) {
				out[n] = out[n] << 4 | hex_digit(text[i]);
				n++;
			} else {
				out[n] = hex_digit(text[i]);
			}
			digits++;
		} else if (separator && text[i] == separator &&
			   digits == group) {
			digits = 0;
		} else {
			return 0;
		}
	}
	return digits == group ? n : 0;
}

static void put_groups(struct eadm_bytes *out, const unsigned char *p, size_t n,
		       size_t group, char separator)
{
	char digits[4];
	size_t i;

	for (i = 0; i < n; i++) {
		if (i && separator && !(2 * i % group))
			eadm_bytes_put(out, &separator, 1);
		snprintf(digits, sizeof(digits), "%02x", p[i]);
		eadm_bytes_put(out, digits, 2);
	}
}

/*
 * Redact a MAC address, GUID, GID or IPoIB address in groups, of exactly @len
 * characters.
 */
static bool grouped(struct eadm_redactor *r, const char *text, size_t len,
		    struct eadm_bytes *out)
{
	unsigned char bytes[32];
	size_t n, group;

	n = hex_groups(text, len, 2, ':', bytes, sizeof(bytes));
	if (!n)
		n = hex_groups(text, len, 2, '-', bytes, sizeof(bytes));
	if (n == 6 || n == 8 || n == 16 || n == 20) {
		eadm_redact_hw(r, bytes, bytes, n);
		put_groups(out, bytes, n, 2, text[2]);
		return true;
	}
	n = hex_groups(text, len, 16, ':', bytes, sizeof(bytes));
	group = n == 16 ? 16 : 4;
	if (group == 4)
		n = hex_groups(text, len, 4, ':', bytes, sizeof(bytes));
	if (n == 8)
		eadm_redact_hw(r, bytes, bytes, n);
	else if (n == 16)
		eadm_redact_ip(r, bytes, bytes, n);
	else
		return false;
	put_groups(out, bytes, n, group, ':');
	return true;
}

static bool address(struct eadm_redactor *r, const char *text, size_t len,
		    struct eadm_bytes *out)
{
	char buf[INET6_ADDRSTRLEN];
	unsigned char ip[16];

	if (grouped(r, text, len, out))
		return true;
	if (len < 2 || len >= sizeof(buf))
		return false;
	memcpy(buf, text, len);
	buf[len] = '\0';
	if (inet_pton(AF_INET6, buf, ip) != 1)
		return false;
	eadm_redact_ip(r, ip, ip, 16);
	put_text(out, inet_ntop(AF_INET6, ip, buf, sizeof(buf)));
	return true;
}

/* Returns true if the word before @at introduces a version. */
static bool is_version(const char *text, size_t at)
{
	static const char *const words[] = { "v", "ver", "version", "fw",
					     "firmware", "rev", "revision",
					     "bios" };
	size_t i, len, end = at;

	while (end && strchr(" \t:=\"'([", text[end - 1]))
		end--;
	for (at = end; at && isalpha((unsigned char)text[at - 1]);)
		at--;
	len = end - at;
	for (i = 0; i < EADM_ARRAY_SIZE(words); i++) {
		if (len == strlen(words[i]) &&
		    !strncasecmp(words[i], text + at, len))
			return true;
	}
	return false;
}

/*
 * Parse four numbers with dots, including padded ones like 010.001.002.003, as printed
 * by the kernel's %pi4.
 */
static bool parse_ip4(const char *text, unsigned char *ip, bool *padded)
{
	unsigned int n[4];
	int end = 0, i;

	*padded = strlen(text) == 15 && (*text == '0' || text[4] == '0' ||
					 text[8] == '0' || text[12] == '0');
	if (!*padded)
		return inet_pton(AF_INET, text, ip) == 1;
	if (sscanf(text, "%3u.%3u.%3u.%3u%n", &n[0], &n[1], &n[2], &n[3],
		   &end) != 4 || text[end])
		return false;
	for (i = 0; i < 4; i++) {
		if (n[i] > 255)
			return false;
		ip[i] = n[i];
	}
	return true;
}

/*
 * Redact four numbers with dots at @text + @at; returns the number of characters used.
 * A port after a dot, or a table index, may follow.
 */
static size_t dotted(struct eadm_redactor *r, const char *text, size_t len,
		     size_t at, struct eadm_bytes *out)
{
	char buf[INET_ADDRSTRLEN];
	size_t n = 0, dots = 0;
	unsigned char ip[4];
	bool padded;

	while (at + n < len && (isdigit((unsigned char)text[at + n]) ||
				(text[at + n] == '.' && dots < 3 &&
				 at + n + 1 < len &&
				 isdigit((unsigned char)text[at + n + 1])))) {
		dots += text[at + n] == '.';
		n++;
	}
	if (n >= sizeof(buf) || dots != 3)
		return 0;
	memcpy(buf, text + at, n);
	buf[n] = '\0';
	if (!parse_ip4(buf, ip, &padded))
		return 0;
	if (is_version(text, at)) {
		put_text(out, buf);
		return n;
	}
	eadm_redact_ip(r, ip, ip, 4);
	snprintf(buf, sizeof(buf), padded ? "%03u.%03u.%03u.%03u" :
					    "%u.%u.%u.%u",
		 ip[0], ip[1], ip[2], ip[3]);
	put_text(out, buf);
	return n;
}

/* Redact an address at the start of a run of digits, colons and dots. */
static size_t run(struct eadm_redactor *r, const char *text, size_t len,
		  struct eadm_bytes *out)
{
	static const char set[] = "0123456789abcdefABCDEF:.-";
	size_t n = 0, colons = 0, try;

	while (n < len && n < MAX_RUN && text[n] && strchr(set, text[n])) {
		colons += text[n] == ':' || text[n] == '-';
		n++;
	}
	/* The run may include characters of the surrounding text: "fe80::1.", "::1:". */
	for (try = n; colons && try >= 2; try--) {
		if (try < len && isxdigit((unsigned char)text[try]))
			continue;
		if (address(r, text, try, out))
			return try;
	}
	return 0;
}

/* Redact an IPv4 address in 8 hex digits, in either byte order. */
static bool bare_ip4(struct eadm_redactor *r, unsigned char *ip)
{
	unsigned char turned[4] = { ip[3], ip[2], ip[1], ip[0] };
	int i;

	if (eadm_redact_knows(r, ip, 4)) {
		eadm_redact_ip(r, ip, ip, 4);
		return true;
	}
	if (!eadm_redact_knows(r, turned, 4))
		return false;
	eadm_redact_ip(r, turned, turned, 4);
	for (i = 0; i < 4; i++)
		ip[i] = turned[3 - i];
	return true;
}

/*
 * Redact hex digits without separators: an address in an interface name
 * ("enx525400eda001", "rocex525400fffeeda000"); with or without "0x", an address that
 * was seen before ("0x525400fffeeda000", "cb00714d"); any 32 digits, because only a GID
 * or another machine identifier is that long.
 */
static size_t bare_address(struct eadm_redactor *r, const char *text,
			   size_t len, size_t at, struct eadm_bytes *out)
{
	bool name = at >= 2 && text[at - 1] == 'x' &&
		    isalpha((unsigned char)text[at - 2]);
	unsigned char bytes[16];
	size_t n = 0;

	while (at + n < len && isxdigit((unsigned char)text[at + n]))
		n++;
	if ((n != 8 && n != 12 && n != 16 && n != 32) ||
	    (at + n < len && eadm_redact_is_word(text[at + n])))
		return 0;
	hex_groups(text + at, n, n, 0, bytes, sizeof(bytes));
	if (n == 32)
		eadm_redact_ip(r, bytes, bytes, 16);
	else if (n == 8 && !bare_ip4(r, bytes))
		return 0;
	else if (n != 8 && !name && !eadm_redact_knows(r, bytes, n / 2))
		return 0;
	else if (n != 8)
		eadm_redact_hw(r, bytes, bytes, n / 2);
	put_groups(out, bytes, n / 2, n, 0);
	return n;
}

/*
 * Returns true for the address in "node.10.1.2.3", but not for the "2.3.4.5" in
 * "1.2.3.4.5".
 */
static bool starts_number(const char *text, size_t at)
{
	if (at && text[at - 1] == '.')
		return at < 2 || !isdigit((unsigned char)text[at - 2]);
	return !at || !isdigit((unsigned char)text[at - 1]);
}

static size_t redact_at(struct eadm_redactor *r, const char *text, size_t len,
			size_t at, bool names, struct eadm_bytes *out)
{
	unsigned char c = text[at], before = at ? text[at - 1] : ' ';
	size_t n = 0;

	if (names && !eadm_redact_is_word(before))
		n = eadm_redact_log(r, text, len, at, out);
	if (names && !n)
		n = eadm_redact_name(r, text, len, at, out);
	if (!n && (before == 'x' || !eadm_redact_is_word(before)) && isxdigit(c))
		n = bare_address(r, text, len, at, out);
	if (!n && (isxdigit(c) || c == ':') && !eadm_redact_is_word(before) &&
	    before != '.')
		n = run(r, text + at, len - at, out);
	if (!n && isdigit(c) && starts_number(text, at))
		n = dotted(r, text, len, at, out);
	return n;
}

void eadm_redact_text(struct eadm_redactor *r, const char *text, size_t len,
		      bool names, struct eadm_bytes *out)
{
	size_t at = 0, n;

	while (at < len) {
		n = redact_at(r, text, len, at, names, out);
		if (!n) {
			eadm_bytes_put(out, text + at, 1);
			n = 1;
		}
		at += n;
	}
	if (r->no_memory)
		out->fail = true;
}

static int give(struct eadm_bytes *g, char **out, size_t *out_len)
{
	eadm_bytes_put(g, "", 1);
	if (g->fail) {
		free(g->p);
		return -ENOMEM;
	}
	*out = (char *)g->p;
	*out_len = g->len - 1;
	return 0;
}

/* An address or name may occur before the place that shows that it is one. */
static void learn_all(struct eadm_redactor *r, const char *text, size_t len, bool names)
{
	const struct eadm_redaction count = r->count;
	struct eadm_bytes g = { 0 };

	eadm_redact_text(r, text, len, names, &g);
	free(g.p);
	r->count = count;
}

EADM_API int eadm_redactor_text(struct eadm_redactor *r, const char *text,
				size_t len, char **out, size_t *out_len)
{
	struct eadm_bytes g = { 0 };

	learn_all(r, text, len, true);
	eadm_redact_text(r, text, len, true, &g);
	return give(&g, out, out_len);
}

/* The value is usually a host name and the name of a device. */
static void put_node_desc(struct eadm_redactor *r, const char *value, size_t len,
			  struct eadm_bytes *out)
{
	char pseudo[32];

	eadm_redact_host(r, value, len, pseudo, sizeof(pseudo));
	put_text(out, pseudo);
}

EADM_API int eadm_redactor_facts(struct eadm_redactor *r, const char *text,
				 size_t len, char **out, size_t *out_len)
{
	static const char desc[] = "/node_desc: ";
	const char *end = text + len, *next, *value;
	struct eadm_bytes g = { 0 };

	learn_all(r, text, len, false);
	for (; text < end; text = next) {
		next = memchr(text, '\n', end - text);
		next = next ? next + 1 : end;
		value = memmem(text, next - text, desc, sizeof(desc) - 1);
		value = value ? value + sizeof(desc) - 1 : next;
		eadm_redact_text(r, text, value - text, false, &g);
		len = next - value - (next > value && next[-1] == '\n');
		if (len)
			put_node_desc(r, value, len, &g);
		if (next > value + len)
			put_text(&g, "\n");
	}
	return give(&g, out, out_len);
}
