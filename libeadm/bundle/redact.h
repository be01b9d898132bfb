/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internals of pseudonyms, shared by redact.c and redact_nl.c. */
#ifndef EADM_REDACT_H
#define EADM_REDACT_H

#include "base/ctx.h"
#include "base/bytes.h"
#include "source/capture.h"

struct eadm_name;

#define EADM_MAX_HW 4096

/* An IPv4 address, MAC address or GUID that was seen. */
struct eadm_hw {
	unsigned char bytes[8];
	unsigned char len;
};

struct eadm_redactor {
	struct eadm_filter filter;
	struct eadm_ctx *ctx;
	const struct eadm_archive *lib;
	unsigned char key[64];
	size_t key_len;
	struct eadm_redaction count;
	struct eadm_name *names;
	size_t n_names, max_names;
	/*
	 * For each first byte, the index in names of the first such name, -1: none;
	 * rebuilt when dirty.
	 */
	int first[256];
	bool dirty;
	struct eadm_hw hw[EADM_MAX_HW];
	unsigned int n_hw;
};

void eadm_redact_ip(struct eadm_redactor *r, const unsigned char *in,
		    unsigned char *out, size_t len);
void eadm_redact_hw(struct eadm_redactor *r, const unsigned char *in,
		    unsigned char *out, size_t len);
int eadm_redact_process(struct eadm_redactor *r, const char *name,
			char *out, size_t size);
void eadm_redact_text(struct eadm_redactor *r, const char *text, size_t len,
		      struct eadm_bytes *out);
void eadm_redact_packet(struct eadm_redactor *r, uint16_t proto,
			const void *data, size_t len, struct eadm_bytes *out);

#endif /* EADM_REDACT_H */
