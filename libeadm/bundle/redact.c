// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pseudonyms: data that identifies a machine, a process or an address is replaced with
 * data of the same form that depends on the original and a key. The same original has
 * the same pseudonym everywhere, regardless of its notation.
 */
#include "grow.h"
#include "redact.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "archlib.h"
#include "base/abi.h"

#define MAX_NAMES 100000

enum class { CLASS_IPV4, CLASS_IPV6, CLASS_HW, CLASS_HOST, CLASS_PROCESS };

struct eadm_name {
	char *name;
	size_t len;
	enum class class;
	int next;	/* next name with the same first byte, not longer; -1: none */
};

static void put_text(struct eadm_bytes *g, const char *text)
{
	eadm_bytes_put(g, text, strlen(text));
}

/* ---- pseudonyms -------------------------------------------------------------- */

static void pseudonym(struct eadm_redactor *r, enum class class,
		      const void *data, size_t len, uint8_t *out)
{
	struct hmac_sha256_ctx state;
	uint8_t tag = class;

	r->lib->nt_hmac_sha256_set_key(&state, r->key_len, r->key);
	r->lib->nt_hmac_sha256_update(&state, 1, &tag);
	r->lib->nt_hmac_sha256_update(&state, len, data);
	r->lib->nt_hmac_sha256_digest(&state, SHA256_DIGEST_SIZE, out);
}

static bool all(const unsigned char *p, size_t len, unsigned char byte)
{
	while (len && *p == byte) {
		p++;
		len--;
	}
	return !len;
}

static bool is_known(const struct eadm_redactor *r, const unsigned char *in,
		     size_t len)
{
	unsigned int i;

	for (i = 0; i < r->n_hw; i++) {
		if (r->hw[i].len == len && !memcmp(r->hw[i].bytes, in, len))
			return true;
	}
	return false;
}

/*
 * Remember the address: without separators, only this distinguishes it from a number.
 */
static void learn_address(struct eadm_redactor *r, const unsigned char *in,
		     size_t len)
{
	if ((len != 4 && len != 6 && len != 8) || r->n_hw == EADM_MAX_HW ||
	    is_known(r, in, len))
		return;
	memcpy(r->hw[r->n_hw].bytes, in, len);
	r->hw[r->n_hw++].len = len;
}

/* 240.0.0.0/4 is unused, so a pseudonym is never mistaken for an original. */
static void redact_ip4(struct eadm_redactor *r, const unsigned char *in,
		       unsigned char *out)
{
	uint8_t hash[SHA256_DIGEST_SIZE];

	memmove(out, in, 4);
	/* Addresses that identify no machine: any, loopback, netmasks. */
	if (all(in, 4, 0) || in[0] == 127 || in[0] == 255)
		return;
	learn_address(r, in, 4);
	pseudonym(r, CLASS_IPV4, in, 4, hash);
	memcpy(out, hash, 4);
	out[0] = 240 + hash[0] % 15;
	r->count.ipv4++;
}

/* 2001:db8::/32 is reserved for documentation. */
static void redact_ip6(struct eadm_redactor *r, const unsigned char *in,
		       unsigned char *out)
{
	static const unsigned char mapped[12] = { [10] = 0xff, 0xff };
	uint8_t hash[SHA256_DIGEST_SIZE];

	if (!memcmp(in, mapped, sizeof(mapped))) {
		memmove(out, in, sizeof(mapped));
		redact_ip4(r, in + 12, out + 12);
		return;
	}
	if (all(in, 15, 0)) {
		memmove(out, in, 16);
		return;
	}
	pseudonym(r, CLASS_IPV6, in, 16, hash);
	memcpy(out, "\x20\x01\x0d\xb8", 4);
	memcpy(out + 4, hash, 12);
	r->count.ipv6++;
}

/* Redact an address or GID of 4 or 16 bytes; anything else is cleared. */
void eadm_redact_ip(struct eadm_redactor *r, const unsigned char *in,
		    unsigned char *out, size_t len)
{
	if (len == 4) {
		redact_ip4(r, in, out);
	} else if (len == 16) {
		redact_ip6(r, in, out);
	} else {
		memset(out, 0, len);
		r->count.dropped++;
	}
}

/* Redact a MAC address or a GUID; its pseudonym is locally administered. */
void eadm_redact_hw(struct eadm_redactor *r, const unsigned char *in,
		    unsigned char *out, size_t len)
{
	uint8_t hash[SHA256_DIGEST_SIZE];

	if (len > sizeof(hash)) {
		memset(out, 0, len);
		r->count.dropped++;
		return;
	}
	if (all(in, len, 0) || all(in, len, 0xff)) {
		memmove(out, in, len);
		return;
	}
	learn_address(r, in, len);
	pseudonym(r, CLASS_HW, in, len, hash);
	memcpy(out, hash, len);
	out[0] = 0x02;
	if (len == 6)
		r->count.macs++;
	else
		r->count.guids++;
}

static void name_pseudonym(struct eadm_redactor *r, enum class class,
			   const char *name, size_t len, char *out,
			   size_t size)
{
	uint8_t hash[SHA256_DIGEST_SIZE];
	char lower[256] = "";
	size_t i;

	/* Host names are case-insensitive. */
	if (class == CLASS_HOST && len < sizeof(lower)) {
		for (i = 0; i < len; i++)
			lower[i] = tolower((unsigned char)name[i]);
		name = lower;
	}
	pseudonym(r, class, name, len, hash);
	snprintf(out, size, "%s-%02x%02x%02x%02x",
		 class == CLASS_HOST ? "host" : "proc", hash[0], hash[1],
		 hash[2], hash[3]);
	if (class == CLASS_HOST)
		r->count.hosts++;
	else
		r->count.processes++;
}

/* ---- names --------------------------------------------------------------------- */

/*
 * Programs whose names are words that occur in every bundle. Such a name is replaced
 * where it is the owner of an object, but not in text, where it does not identify a
 * process.
 */
static bool is_everywhere(const char *name)
{
	static const char *const names[] = { "eadm", "rdma", "Linux", "linux",
					     "kernel", "pci" };
	const struct eadm_family *family = NULL;
	const char *module;
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i], name))
			return true;
	}
	if (eadm_family_find(name))
		return true;
	while ((family = eadm_family_next(family))) {
		for (i = 0; (module = eadm_family_module(family, i)); i++) {
			if (!strcmp(module, name))
				return true;
		}
	}
	return false;
}

static int learn(struct eadm_redactor *r, enum class class, const char *name)
{
	size_t i;

	if (!*name || is_everywhere(name))
		return 0;
	for (i = 0; i < r->n_names; i++) {
		if (!strcmp(r->names[i].name, name))
			return 0;
	}
	if (r->n_names == MAX_NAMES)
		return -EFBIG;
	if (!grow(r->names, r->n_names, r->max_names))
		return -ENOMEM;
	r->names[i] = (struct eadm_name){
		.name = strdup(name), .len = strlen(name), .class = class,
	};
	if (!r->names[i].name)
		return -ENOMEM;
	r->n_names++;
	r->dirty = true;
	return 0;
}

static int by_length(const void *a, const void *b)
{
	const struct eadm_name *x = a, *y = b;

	return x->len < y->len ? -1 : x->len > y->len;
}

static int *first_of(struct eadm_redactor *r, unsigned char c)
{
	return &r->first[tolower(c)];
}

static bool is_name(const struct eadm_name *name, const char *text)
{
	return name->class == CLASS_HOST ?
		       !strncasecmp(name->name, text, name->len) :
		       !memcmp(name->name, text, name->len);
}

static void index_names(struct eadm_redactor *r)
{
	size_t i;

	if (!r->dirty)
		return;
	if (r->n_names)
		qsort(r->names, r->n_names, sizeof(*r->names), by_length);
	for (i = 0; i < 256; i++)
		r->first[i] = -1;
	for (i = 0; i < r->n_names; i++) {
		int *first = first_of(r, r->names[i].name[0]);

		r->names[i].next = *first;
		*first = i;
	}
	r->dirty = false;
}

EADM_API int eadm_redactor_host(struct eadm_redactor *r, const char *name)
{
	char label[256];
	size_t len = strcspn(name, ".");
	int ret;

	if (!strcmp(name, "localhost"))
		return 0;
	ret = learn(r, CLASS_HOST, name);
	/* Unlike a host name, an address has no short form. */
	if (!ret && name[len] && len < sizeof(label) &&
	    strspn(name, "0123456789.") != strlen(name)) {
		snprintf(label, sizeof(label), "%.*s", (int)len, name);
		ret = learn(r, CLASS_HOST, label);
	}
	return ret;
}

EADM_API int eadm_redactor_process(struct eadm_redactor *r, const char *name)
{
	return learn(r, CLASS_PROCESS, name);
}

/* Returns the pseudonym of a name that is known to be a process name. */
int eadm_redact_process(struct eadm_redactor *r, const char *name, char *out,
			size_t size)
{
	*out = '\0';
	if (!*name)
		return 0;
	name_pseudonym(r, CLASS_PROCESS, name, strlen(name), out, size);
	return learn(r, CLASS_PROCESS, name);
}

/* ---- text ------------------------------------------------------------------------ */

static bool is_word(unsigned char c)
{
	return isalnum(c) || c == '_';
}

/* Returns the length of the known name at @text + @at; 0 if there is none. */
static size_t known_name(struct eadm_redactor *r, const char *text, size_t len,
			 size_t at, struct eadm_bytes *out)
{
	const struct eadm_name *name;
	char pseudo[32];
	int i;

	if (at && is_word(text[at - 1]) && is_word(text[at]))
		return 0;
	for (i = *first_of(r, text[at]); i >= 0; i = name->next) {
		name = &r->names[i];
		if (name->len > len - at || !is_name(name, text + at))
			continue;
		if (at + name->len < len && is_word(text[at + name->len]) &&
		    is_word(name->name[name->len - 1]))
			continue;
		name_pseudonym(r, name->class, name->name, name->len, pseudo,
			       sizeof(pseudo));
		put_text(out, pseudo);
		return name->len;
	}
	return 0;
}

/*
 * The kernel names processes, including those that have ended, in the formats "comm
 * NAME" and "Comm: NAME".
 */
static size_t kernel_comm(struct eadm_redactor *r, const char *text,
			  size_t len, size_t at, struct eadm_bytes *out)
{
	static const char *const heads[] = { "Comm: ", "comm: ", "comm ",
					     "comm=" };
	char name[32], pseudo[32];
	size_t i, n, head;

	if (at && is_word(text[at - 1]))
		return 0;
	for (i = 0; i < EADM_ARRAY_SIZE(heads); i++) {
		head = strlen(heads[i]);
		if (head < len - at && !memcmp(text + at, heads[i], head))
			break;
	}
	if (i == EADM_ARRAY_SIZE(heads))
		return 0;
	for (n = 0; at + head + n < len && n < sizeof(name) - 1; n++) {
		if (strchr(" \t\n\"'[(,;", text[at + head + n]))
			break;
		name[n] = text[at + head + n];
	}
	name[n] = '\0';
	if (!n || eadm_redact_process(r, name, pseudo, sizeof(pseudo)))
		return 0;
	put_text(out, heads[i]);
	put_text(out, pseudo);
	return head + n;
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
	size_t n;

	n = hex_groups(text, len, 2, ':', bytes, sizeof(bytes));
	if (!n)
		n = hex_groups(text, len, 2, '-', bytes, sizeof(bytes));
	if (n == 6 || n == 8 || n == 16 || n == 20) {
		eadm_redact_hw(r, bytes, bytes, n);
		put_groups(out, bytes, n, 2, text[2]);
		return true;
	}
	n = hex_groups(text, len, 4, ':', bytes, sizeof(bytes));
	if (n == 8)
		eadm_redact_hw(r, bytes, bytes, n);
	else if (n == 16)
		eadm_redact_ip(r, bytes, bytes, n);
	else
		return false;
	put_groups(out, bytes, n, 4, ':');
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

	while (n < len && text[n] && strchr(set, text[n])) {
		colons += text[n] == ':' || text[n] == '-';
		n++;
	}
	/* The run may include characters of the surrounding text: "fe80::1.", "::1:". */
	for (try = n; colons >= 2 && try >= 2; try--) {
		if (try < n && !strchr(":.-", text[try]))
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

	if (is_known(r, ip, 4)) {
		redact_ip4(r, ip, ip);
		return true;
	}
	if (!is_known(r, turned, 4))
		return false;
	redact_ip4(r, turned, turned);
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
	    (at + n < len && is_word(text[at + n])))
		return 0;
	hex_groups(text + at, n, n, 0, bytes, sizeof(bytes));
	if (n == 32)
		eadm_redact_ip(r, bytes, bytes, 16);
	else if (n == 8 && !bare_ip4(r, bytes))
		return 0;
	else if (n != 8 && !name && !is_known(r, bytes, n / 2))
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
			size_t at, struct eadm_bytes *out)
{
	unsigned char c = text[at], before = at ? text[at - 1] : ' ';
	size_t n;

	n = known_name(r, text, len, at, out);
	if (!n && (c == 'C' || c == 'c'))
		n = kernel_comm(r, text, len, at, out);
	if (!n && (before == 'x' || !is_word(before)) && isxdigit(c))
		n = bare_address(r, text, len, at, out);
	if (!n && (isxdigit(c) || c == ':') && !is_word(before) &&
	    before != '.')
		n = run(r, text + at, len - at, out);
	if (!n && isdigit(c) && starts_number(text, at))
		n = dotted(r, text, len, at, out);
	return n;
}

void eadm_redact_text(struct eadm_redactor *r, const char *text, size_t len,
		      struct eadm_bytes *out)
{
	size_t at = 0, n;

	while (at < len) {
		index_names(r);
		n = redact_at(r, text, len, at, out);
		if (!n) {
			eadm_bytes_put(out, text + at, 1);
			n = 1;
		}
		at += n;
	}
}

EADM_API int eadm_redactor_text(struct eadm_redactor *r, const char *text,
				size_t len, char **out, size_t *out_len)
{
	struct eadm_bytes g = { 0 };

	eadm_redact_text(r, text, len, &g);
	eadm_bytes_put(&g, "", 1);
	if (g.fail) {
		free(g.p);
		return -ENOMEM;
	}
	*out = (char *)g.p;
	*out_len = g.len - 1;
	return 0;
}

/* ---- life ------------------------------------------------------------------------ */

EADM_API int eadm_redactor_open(struct eadm_ctx *ctx, const void *key,
				size_t len, struct eadm_redactor **redactor)
{
	const struct eadm_archive *lib = eadm_archive_get(ctx);
	struct eadm_redactor *r;

	if (!lib)
		return -EOPNOTSUPP;
	if (len < 16 || len > sizeof(r->key))
		return eadm_fail(ctx, -EINVAL,
				 "a key must be 16 to %zu bytes long",
				 sizeof(r->key));
	r = calloc(1, sizeof(*r));
	if (!r)
		return eadm_oom(ctx);
	r->ctx = ctx;
	r->lib = lib;
	r->key_len = len;
	memcpy(r->key, key, len);
	r->dirty = true;
	*redactor = r;
	return 0;
}

EADM_API int eadm_redactor_counts(const struct eadm_redactor *r,
				  struct eadm_redaction *counts)
{
	int ret = eadm_abi_give(counts, &r->count, sizeof(r->count));

	return ret < 0 ? ret : 0;
}

EADM_API void eadm_redactor_close(struct eadm_redactor *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->n_names; i++)
		free(r->names[i].name);
	free(r->names);
	explicit_bzero(r->key, sizeof(r->key));
	free(r);
}
