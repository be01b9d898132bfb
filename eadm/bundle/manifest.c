// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The manifest, which lists the contents of a bundle, and missing parts with the
 * reasons.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "../clock.h"
#include "../out/json.h"
#include "bundle.h"

static void put_text(struct json *to, const char *key, const char *text)
{
	json_key(to, key);
	json_string(to, text);
}

static void put_number(struct json *to, const char *key, uint64_t n)
{
	json_key(to, key);
	json_u64(to, n);
}

static void put_flag(struct json *to, const char *key, bool flag)
{
	json_key(to, key);
	json_bool(to, flag);
}

static void put_seconds(struct json *to, const char *key, uint64_t ns)
{
	json_key(to, key);
	json_f64(to, ns / 1e9);
}

static void put_redacted(struct bundle *b, struct json *to, const char *key,
			 const char *text, __typeof__(eadm_redactor_text) *redact)
{
	char *redacted;
	size_t len;

	if (!b->redactor) {
		put_text(to, key, text);
	} else if (!redact(b->redactor, text, strlen(text), &redacted, &len)) {
		put_text(to, key, redacted);
		free(redacted);
	}
}

static void put_part(struct bundle *b, struct json *to,
		     const struct part *part)
{
	json_row_break(to);
	json_open(to, '{');
	put_text(to, "name", part->name);
	put_text(to, "what", part->what);
	put_text(to, "state", outcome_names[part->outcome]);
	if (part->why)
		put_redacted(b, to, "why", part->why, eadm_redactor_facts);
	put_seconds(to, "seconds", part->ns);
	if (part->digest[0]) {
		put_number(to, "bytes", part->bytes);
		put_text(to, "sha256", part->digest);
	}
	json_close(to, '}');
}

static void put_redaction(struct bundle *b, struct json *to)
{
	struct eadm_redaction n = { .size = sizeof(n) };

	json_key(to, "redaction");
	if (!b->redactor) {
		json_null(to);
		return;
	}
	eadm_redactor_counts(b->redactor, &n);
	json_open(to, '{');
	put_number(to, "ipv4", n.ipv4);
	put_number(to, "ipv6", n.ipv6);
	put_number(to, "macs", n.macs);
	put_number(to, "guids", n.guids);
	put_number(to, "hosts", n.hosts);
	put_number(to, "processes", n.processes);
	put_number(to, "secrets_left_out", n.secrets);
	put_number(to, "unknown_left_out", n.dropped);
	put_text(to, "kept",
		 "device and interface names, process ids, ports, PCI addresses, memory addresses, versions");
	json_close(to, '}');
}

static void put_machine(struct bundle *b, struct json *to)
{
	char date[40];
	time_t now = time(NULL);
	struct utsname uts;

	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	put_text(to, "created", date);
	put_text(to, "eadm", EADM_VERSION);
	put_text(to, "libeadm", eadm_version());
	if (b->from || uname(&uts))
		return;
	put_text(to, "kernel", uts.release);
	put_text(to, "machine", uts.machine);
	put_redacted(b, to, "host", uts.nodename, eadm_redactor_text);
}

/* The manifest is a single line, except for the parts, which have one line each. */
static void write_manifest(struct bundle *b, struct json *to)
{
	bool complete = true;
	unsigned int i;

	json_open(to, '{');
	put_number(to, "eadm_bundle", BUNDLE_FORMAT);
	put_machine(b, to);
	put_flag(to, "from_capture", b->from != NULL);
	put_flag(to, "hw", b->hw);
	put_seconds(to, "interval", b->interval);
	put_seconds(to, "max_time", b->max_time);
	put_number(to, "max_size", b->max_size);
	put_seconds(to, "seconds", monotonic_ns() - b->begin);
	for (i = 0; i < b->n_parts; i++)
		complete &= b->parts[i].outcome == OUTCOME_OK ||
			    b->parts[i].outcome == OUTCOME_ABSENT;
	put_flag(to, "complete", complete);
	json_key(to, "parts");
	json_open(to, '[');
	for (i = 0; i < b->n_parts; i++)
		put_part(b, to, &b->parts[i]);
	json_newline(to);
	json_close(to, ']');
	/*
	 * The counts of redacted items come last, because redacting reasons adds to
	 * them.
	 */
	put_redaction(b, to);
	json_close(to, '}');
	json_newline(to);
}

int bundle_manifest(struct bundle *b)
{
	struct buffer text = { 0 };
	struct json *json = json_new_buffer(&text);
	int ret;

	if (!json)
		return fail(b->cli, STATUS_FAILED, BUNDLE_MANIFEST,
			    "out of memory");
	write_manifest(b, json);
	json_free(json);
	if (text.failed)
		ret = fail(b->cli, STATUS_FAILED, BUNDLE_MANIFEST,
			   "out of memory");
	else
		ret = eadm_bundle_writer_add(b->pack, BUNDLE_MANIFEST,
					     text.data,
					     text.len, NULL);
	if (ret < 0)
		ret = fail_write(b->cli, b->ctx, ret, BUNDLE_MANIFEST);
	buffer_free(&text);
	return ret;
}
