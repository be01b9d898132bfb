// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pseudonyms: data that identifies a machine, a process or an address is replaced with
 * data of the same form that depends on the original and a key. The same original has
 * the same pseudonym everywhere, regardless of its notation.
 */
#include "grow.h"
#include "redact.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "archlib.h"
#include "base/abi.h"

#define MAX_NAMES 100000

enum class { CLASS_IPV4, CLASS_IPV6, CLASS_HW, CLASS_HOST, CLASS_PROCESS, CLASS_SETTING };

static const char *const heads[] = {
	[CLASS_HOST] = "host", [CLASS_PROCESS] = "proc", [CLASS_SETTING] = "value",
};

struct eadm_name {
	char *name;
	size_t len;
	enum class class;
	/* So short, or without a letter, that it only counts as the whole text. */
	bool weak;
	int next;	/* next name with the same first byte, not longer; -1: none */
};

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

/* ---- addresses that were seen ------------------------------------------------ */

/* Returns the place of the address in the table, or the free place for it. */
static struct eadm_hw *place_of(const struct eadm_redactor *r, const unsigned char *in,
				size_t len)
{
	uint32_t hash = 2166136261u;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ in[i]) * 16777619u;
	for (i = hash;; i++) {
		struct eadm_hw *hw = &r->hw[i & (r->max_hw - 1)];

		if (!hw->len || (hw->len == len && !memcmp(hw->bytes, in, len)))
			return hw;
	}
}

bool eadm_redact_knows(const struct eadm_redactor *r, const unsigned char *in,
		       size_t len)
{
	return r->max_hw && place_of(r, in, len)->len;
}

/* The table is at most half full. */
static bool make_room(struct eadm_redactor *r)
{
	struct eadm_hw *old = r->hw;
	size_t i, n = r->max_hw;

	if (2 * r->n_hw < n)
		return true;
	r->hw = calloc(n ? 2 * n : 1024, sizeof(*r->hw));
	if (!r->hw) {
		r->hw = old;
		r->no_memory = true;
		return false;
	}
	r->max_hw = n ? 2 * n : 1024;
	for (i = 0; i < n; i++) {
		if (old[i].len)
			*place_of(r, old[i].bytes, old[i].len) = old[i];
	}
	free(old);
	return true;
}

static void remember(struct eadm_redactor *r, const unsigned char *in, size_t len)
{
	struct eadm_hw *hw;

	if (!make_room(r))
		return;
	hw = place_of(r, in, len);
	if (hw->len)
		return;
	memcpy(hw->bytes, in, len);
	hw->len = len;
	r->n_hw++;
}

/* The ways to make the 8 bytes of an interface identifier or GUID of a MAC address. */
static const struct {
	unsigned char flip, middle[2];
} eui[] = {
	{ 2, { 0xff, 0xfe } }, { 0, { 0xff, 0xfe } }, { 0, { 0x03, 0x00 } },
};

static void remember_mac(struct eadm_redactor *r, const unsigned char mac[6])
{
	unsigned char id[8];
	size_t i;

	remember(r, mac, 6);
	for (i = 0; i < EADM_ARRAY_SIZE(eui); i++) {
		memcpy(id, mac, 3);
		id[0] ^= eui[i].flip;
		memcpy(id + 3, eui[i].middle, 2);
		memcpy(id + 5, mac + 3, 3);
		remember(r, id, 8);
	}
}

static void remember_id(struct eadm_redactor *r, const unsigned char id[8])
{
	unsigned char mac[6];
	size_t i;

	remember(r, id, 8);
	for (i = 0; i < EADM_ARRAY_SIZE(eui); i++) {
		if (memcmp(id + 3, eui[i].middle, 2))
			continue;
		memcpy(mac, id, 3);
		mac[0] ^= eui[i].flip;
		memcpy(mac + 3, id + 5, 3);
		remember_mac(r, mac);
	}
}

/*
 * Remembers the address, and those that it is made of: without separators, only this
 * distinguishes them from numbers.
 */
static void learn_address(struct eadm_redactor *r, const unsigned char *in,
			  size_t len)
{
	if (len == 4)
		remember(r, in, 4);
	else if (len == 6)
		remember_mac(r, in);
	else if (len == 8)
		remember_id(r, in);
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
	if (!all(in + 8, 7, 0))
		learn_address(r, in + 8, 8);
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
	snprintf(out, size, "%s-%02x%02x%02x%02x", heads[class], hash[0], hash[1],
		 hash[2], hash[3]);
	if (class == CLASS_HOST)
		r->count.hosts++;
	else if (class == CLASS_PROCESS)
		r->count.processes++;
	else
		r->count.dropped++;
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

static bool is_weak(const char *name)
{
	const char *p;

	for (p = name; *p && !isalpha((unsigned char)*p);)
		p++;
	return !*p || strlen(name) < 3;
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
		.weak = is_weak(name),
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

/* Puts the pseudonym of a host's name of @len bytes into @out. */
void eadm_redact_host(struct eadm_redactor *r, const char *name, size_t len, char *out,
		      size_t size)
{
	name_pseudonym(r, CLASS_HOST, name, len, out, size);
}

void eadm_redact_setting(struct eadm_redactor *r, const char *value, size_t len,
			 char *out, size_t size)
{
	name_pseudonym(r, CLASS_SETTING, value, len, out, size);
}

bool eadm_redact_is_word(unsigned char c)
{
	return isalnum(c) || c == '_';
}

/* Returns the length of the domain after a host name, as in ".example.com". */
static size_t domain(const char *text, size_t len)
{
	size_t n = 0, label;

	while (n + 1 < len && text[n] == '.' && isalpha((unsigned char)text[n + 1])) {
		label = 1;
		while (n + label < len &&
		       (isalnum((unsigned char)text[n + label]) || text[n + label] == '-'))
			label++;
		n += label;
	}
	return n;
}

/* Returns the length of the known name at @text + @at; 0 if there is none. */
size_t eadm_redact_name(struct eadm_redactor *r, const char *text, size_t len,
			size_t at, struct eadm_bytes *out)
{
	const struct eadm_name *name;
	char pseudo[32];
	int i;

	index_names(r);
	if (at && eadm_redact_is_word(text[at - 1]) && eadm_redact_is_word(text[at]))
		return 0;
	for (i = *first_of(r, text[at]); i >= 0; i = name->next) {
		name = &r->names[i];
		if (name->len > len - at || !is_name(name, text + at) ||
		    (name->weak && name->len != len))
			continue;
		if (at + name->len < len && eadm_redact_is_word(text[at + name->len]) &&
		    eadm_redact_is_word(name->name[name->len - 1]))
			continue;
		name_pseudonym(r, name->class, name->name, name->len, pseudo,
			       sizeof(pseudo));
		eadm_bytes_put(out, pseudo, strlen(pseudo));
		at += name->len;
		return name->len + (name->class == CLASS_HOST ?
				    domain(text + at, len - at) : 0);
	}
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
	free(r->hw);
	explicit_bzero(r->key, sizeof(r->key));
	free(r);
}
