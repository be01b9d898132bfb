// SPDX-License-Identifier: GPL-2.0-or-later
/* The manifest: what is in a bundle, what is not, and why. */
#include "jsonc.h"
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "../clock.h"
#include "bundle.h"

static void put_text(struct json_object *to, const char *key, const char *text)
{
	json_object_object_add(to, key, json_object_new_string(text));
}

static void put_number(struct json_object *to, const char *key, uint64_t n)
{
	json_object_object_add(to, key, json_object_new_uint64(n));
}

static void put_flag(struct json_object *to, const char *key, bool flag)
{
	json_object_object_add(to, key, json_object_new_boolean(flag));
}

/* Seconds as a number with three places. */
static void put_seconds(struct json_object *to, const char *key, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3f", ns / 1e9);
	json_object_object_add(to, key,
			       json_object_new_double_s(ns / 1e9, text));
}

/* Reasons may hold a path or a name. */
static void put_redacted(struct bundle *b, struct json_object *to,
			 const char *key, const char *text)
{
	char *redacted;
	size_t len;

	if (!b->redactor) {
		put_text(to, key, text);
	} else if (!eadm_redactor_text(b->redactor, text, strlen(text),
				       &redacted, &len)) {
		put_text(to, key, redacted);
		free(redacted);
	}
}

static struct json_object *part_object(struct bundle *b,
				       const struct part *part)
{
	struct json_object *to = json_object_new_object();

	put_text(to, "name", part->name);
	put_text(to, "what", part->what);
	put_text(to, "state", outcome_names[part->outcome]);
	if (part->why)
		put_redacted(b, to, "why", part->why);
	put_seconds(to, "seconds", part->ns);
	if (part->digest[0]) {
		put_number(to, "bytes", part->bytes);
		put_text(to, "sha256", part->digest);
	}
	return to;
}

static void put_redaction(struct bundle *b, struct json_object *to)
{
	struct eadm_redaction n = { .size = sizeof(n) };
	struct json_object *r = json_object_new_object();

	if (!b->redactor) {
		json_object_object_add(to, "redaction", NULL);
		json_object_put(r);
		return;
	}
	eadm_redactor_counts(b->redactor, &n);
	put_number(r, "ipv4", n.ipv4);
	put_number(r, "ipv6", n.ipv6);
	put_number(r, "macs", n.macs);
	put_number(r, "guids", n.guids);
	put_number(r, "hosts", n.hosts);
	put_number(r, "processes", n.processes);
	put_number(r, "secrets_left_out", n.secrets);
	put_number(r, "unknown_left_out", n.dropped);
	put_text(r, "kept",
		 "device and interface names, process ids, ports, PCI addresses, memory addresses, versions");
	json_object_object_add(to, "redaction", r);
}

static void put_machine(struct bundle *b, struct json_object *to)
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
	put_redacted(b, to, "host", uts.nodename);
}

int bundle_manifest(struct bundle *b)
{
	struct json_object *to = json_object_new_object();
	struct json_object *parts = json_object_new_array();
	bool complete = true;
	const char *text;
	unsigned int i;
	int ret;

	put_number(to, "eadm_bundle", BUNDLE_FORMAT);
	put_machine(b, to);
	put_flag(to, "from_capture", b->from != NULL);
	put_flag(to, "hw", b->hw);
	put_seconds(to, "interval", b->interval);
	put_seconds(to, "max_time", b->max_time);
	put_number(to, "max_size", b->max_size);
	put_seconds(to, "seconds", monotonic_ns() - b->begin);
	for (i = 0; i < b->n_parts; i++) {
		json_object_array_add(parts, part_object(b, &b->parts[i]));
		complete &= b->parts[i].outcome == OUTCOME_OK ||
			    b->parts[i].outcome == OUTCOME_ABSENT;
	}
	put_flag(to, "complete", complete);
	json_object_object_add(to, "parts", parts);
	/* Last, as reasons are redacted, too. */
	put_redaction(b, to);
	text = json_object_to_json_string_ext(to, JSON_C_TO_STRING_PRETTY |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
	ret = eadm_pack_add(b->pack, BUNDLE_MANIFEST, text, strlen(text),
			    NULL);
	json_object_put(to);
	return ret ? fail_write(b->cli, b->ctx, ret, BUNDLE_MANIFEST) : 0;
}
