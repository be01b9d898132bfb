// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shows the contents of a bundle, and verifies that it is unchanged since it was
 * written.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "../late.h"
#include "../out/writer.h"
#include "bundle.h"

#define MAX_MANIFEST (4U << 20)

#define JSON_FUNCTIONS(f) \
	f(json_object_array_get_idx) f(json_object_array_length) \
	f(json_object_get_boolean) f(json_object_get_double) \
	f(json_object_get_int) f(json_object_get_int64) \
	f(json_object_get_string) f(json_object_get_uint64) \
	f(json_object_is_type) f(json_object_object_get_ex) \
	f(json_object_put) f(json_tokener_parse_verbose)

LATE_LIBRARY(jsonc, JSON_FUNCTIONS);
LATE_OPENER(jsonc, JSON_FUNCTIONS, "libjson-c.so.5", "recommended",
	    "show and verify support bundles");

/* A member of the bundle, and whether the manifest lists it. */
struct member {
	char *name;
	uint64_t len;
	bool named;
};

struct reader {
	struct cli *cli;
	struct eadm_ctx *ctx;
	struct eadm_bundle *bundle;
	const char *path;
	char *text;		/* text of the manifest */
	struct json_object *manifest;
	bool newer;		/* written by a newer eadm; may have unknown members */
	struct member *list;
	uint64_t members, max_members, bytes;
};

static int bad(struct reader *r, int error)
{
	return fail(r->cli, status_of(error), r->path, "%s",
		    eadm_errmsg(r->ctx));
}

static int read_manifest(struct reader *r, uint64_t len)
{
	uint64_t done = 0;
	long n = 0;

	if (len > MAX_MANIFEST)
		return fail(r->cli, STATUS_FAILED, r->path,
			    "the manifest is too large");
	r->text = malloc(len + 1);
	if (!r->text)
		return fail(r->cli, STATUS_FAILED, r->path, "out of memory");
	while (done < len && (n = eadm_bundle_read(r->bundle, r->text + done,
						   len - done)) > 0)
		done += n;
	r->text[done] = '\0';
	return n < 0 ? bad(r, n) : 0;
}

static int parse_manifest(struct reader *r)
{
	struct json_object *format;
	enum json_tokener_error error;

	if (!r->text)
		return fail(r->cli, STATUS_FAILED, r->path,
			    "the bundle has no manifest");
	r->manifest = jsonc.json_tokener_parse_verbose(r->text, &error);
	if (!jsonc.json_object_is_type(r->manifest, json_type_object) ||
	    !jsonc.json_object_object_get_ex(r->manifest, "eadm_bundle", &format))
		return fail(r->cli, STATUS_FAILED, r->path,
			    "invalid manifest");
	if (!jsonc.json_object_is_type(format, json_type_int) ||
	    jsonc.json_object_get_int(format) < 1)
		return fail(r->cli, STATUS_FAILED, r->path,
			    "unknown manifest format");
	r->newer = jsonc.json_object_get_int(format) > BUNDLE_FORMAT;
	if (r->newer)
		note(r->cli, "%s was written by a newer eadm; some parts may not be shown",
		     r->path);
	return 0;
}

/*
 * ---- comparing the manifest with the members
 * ------------------------------------------------
 */

static const char *text_of(struct json_object *from, const char *key)
{
	struct json_object *value;

	if (!jsonc.json_object_object_get_ex(from, key, &value) ||
	    !jsonc.json_object_is_type(value, json_type_string))
		return NULL;
	return jsonc.json_object_get_string(value);
}

static bool add_member(struct reader *r, const struct eadm_member *m)
{
	struct member *more;

	if (!grow(r->list, r->members, r->max_members))
		return false;
	more = &r->list[r->members];
	*more = (struct member){ .name = strdup(m->name), .len = m->len };
	if (!more->name)
		return false;
	r->members++;
	r->bytes += m->len;
	return true;
}

static struct member *find_member(struct reader *r, const char *name)
{
	uint64_t i;

	for (i = 0; i < r->members; i++) {
		if (!strcmp(r->list[i].name, name))
			return &r->list[i];
	}
	return NULL;
}

/* Returns true if a value, if present, has the type that eadm writes. */
static bool has_type(struct json_object *part, const char *key,
		     enum json_type type)
{
	struct json_object *value;

	return !jsonc.json_object_object_get_ex(part, key, &value) ||
	       jsonc.json_object_is_type(value, type);
}

static bool is_part(struct json_object *part)
{
	struct json_object *value;

	return jsonc.json_object_is_type(part, json_type_object) &&
	       text_of(part, "name") && text_of(part, "state") &&
	       has_type(part, "what", json_type_string) &&
	       has_type(part, "why", json_type_string) &&
	       has_type(part, "sha256", json_type_string) &&
	       has_type(part, "bytes", json_type_int) &&
	       (!jsonc.json_object_object_get_ex(part, "seconds", &value) ||
		jsonc.json_object_is_type(value, json_type_double) ||
		jsonc.json_object_is_type(value, json_type_int));
}

/*
 * Returns true if the manifest's entry for a part matches its member. A newer eadm may
 * omit values that this version always writes.
 */
static bool is_as_told(struct reader *r, struct json_object *part)
{
	struct member *m = find_member(r, text_of(part, "name"));
	const char *want = text_of(part, "sha256"), *have;
	struct json_object *bytes = NULL;

	jsonc.json_object_object_get_ex(part, "bytes", &bytes);
	if (!m)
		return !want && !bytes;
	if (m->named)
		return false;
	m->named = true;
	if (!r->newer && (!want || !bytes))
		return false;
	have = eadm_bundle_digest(r->bundle, m->name);
	/*
	 * Lengths are compared as signed numbers, because no length exceeds their
	 * range.
	 */
	return (!want || (have && !strcmp(have, want))) &&
	       (!bytes || jsonc.json_object_get_int64(bytes) == (int64_t)m->len);
}

static int compare_manifest(struct reader *r)
{
	struct json_object *parts, *part;
	struct member *m;
	size_t i, n;

	if (!jsonc.json_object_object_get_ex(r->manifest, "parts", &parts) ||
	    !jsonc.json_object_is_type(parts, json_type_array))
		return fail(r->cli, STATUS_FAILED, r->path,
			    "the manifest lists no parts");
	m = find_member(r, BUNDLE_MANIFEST);
	if (m)
		m->named = true;
	n = jsonc.json_object_array_length(parts);
	for (i = 0; i < n; i++) {
		part = jsonc.json_object_array_get_idx(parts, i);
		if (!is_part(part))
			return fail(r->cli, STATUS_FAILED, r->path,
				    "part %zu of the manifest is invalid",
				    i + 1);
		if (!is_as_told(r, part))
			return fail(r->cli, STATUS_FAILED, r->path,
				    "%s does not match the manifest",
				    text_of(part, "name"));
	}
	for (i = 0; i < r->members && !r->newer; i++) {
		if (!r->list[i].named)
			return fail(r->cli, STATUS_FAILED, r->path,
				    "%s is not in the manifest",
				    r->list[i].name);
	}
	return 0;
}

/* Reads the whole bundle first, so that everything shown has been verified. */
static int open_bundle(struct reader *r, struct cli *cli)
{
	struct eadm_member m = { .size = sizeof(m) };
	int ret, status = 0;

	*r = (struct reader){ .cli = cli, .path = cli->args.arg[1] };
	if (!r->path)
		return fail(cli, STATUS_USAGE, "FILE", "missing");
	if (jsonc_open())
		return fail(cli, STATUS_UNSUPPORTED, "libjson-c5",
			    "the package is not installed");
	r->ctx = eadm_new();
	if (!r->ctx)
		return fail(cli, STATUS_FAILED, "start", "out of memory");
	ret = eadm_bundle_open(r->ctx, r->path, &r->bundle);
	if (ret)
		return bad(r, ret);
	while (!status && (ret = eadm_bundle_next(r->bundle, &m)) > 0) {
		if (!add_member(r, &m))
			return fail(cli, STATUS_FAILED, r->path,
				    "out of memory");
		if (!strcmp(m.name, BUNDLE_MANIFEST))
			status = read_manifest(r, m.len);
	}
	if (!status && ret)
		status = bad(r, ret);
	if (!status)
		status = parse_manifest(r);
	return status ? status : compare_manifest(r);
}

static void close_bundle(struct reader *r)
{
	uint64_t i;

	for (i = 0; i < r->members; i++)
		free(r->list[i].name);
	free(r->list);
	if (r->manifest)
		jsonc.json_object_put(r->manifest);
	free(r->text);
	eadm_bundle_close(r->bundle);
	eadm_free(r->ctx);
}

/* ---- values of the manifest -------------------------------------------------------- */

static struct eadm_value number(struct json_object *from, const char *key)
{
	struct json_object *value;

	if (!jsonc.json_object_object_get_ex(from, key, &value))
		return value_string(NULL);
	return value_u64(jsonc.json_object_get_uint64(value));
}

static struct eadm_value seconds(struct json_object *from, const char *key)
{
	struct json_object *value;
	double s;

	if (!jsonc.json_object_object_get_ex(from, key, &value))
		return value_string(NULL);
	s = jsonc.json_object_get_double(value);
	return value_u64(s > 0 && s < 1e9 ? s * 1e9 : 0);
}

/* ---- show ------------------------------------------------------------------------------ */

static const struct column part_columns[] = {
	{ .key = "part", .head = "PART" },
	{ .key = "state", .head = "STATE" },
	{ .key = "bytes", .head = "BYTES", .unit = "bytes",
	  .type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	{ .key = "time", .head = "TIME", .unit = "ns",
	  .type = EADM_TYPE_U64, .kind = EADM_KIND_AGE },
	{ .key = "why", .head = "WHY" },
};

static void put_part(struct cli *cli, struct json_object *part)
{
	const struct eadm_value values[] = {
		value_string(text_of(part, "name")),
		value_string(text_of(part, "state")),
		number(part, "bytes"), seconds(part, "seconds"),
		value_string(text_of(part, "why")),
	};

	write_values(cli->writer, values);
}

/* Describes the bundle in one line above the parts: host, time, version and so on. */
static void make_caption(struct reader *r, char *caption, size_t size)
{
	const char *host = text_of(r->manifest, "host");
	const char *kernel = text_of(r->manifest, "kernel");
	const char *created = text_of(r->manifest, "created");
	const char *version = text_of(r->manifest, "eadm");
	struct json_object *value;
	bool complete, redacted;

	complete = jsonc.json_object_object_get_ex(r->manifest, "complete",
					     &value) &&
		   jsonc.json_object_get_boolean(value);
	redacted = jsonc.json_object_object_get_ex(r->manifest, "redaction",
					     &value) && value;
	snprintf(caption, size,
		 "%.64s, Linux %.64s, %.40s, eadm %.40s, %" PRIu64
		 " %s, %" PRIu64 " bytes, %s%s",
		 host ? host : "from a capture", kernel ? kernel : "unknown",
		 created ? created : "unknown", version ? version : "unknown",
		 r->members, plural(r->members, "member", "members"), r->bytes,
		 complete ? "complete" : "incomplete",
		 redacted ? ", redacted" : "");
}

static int write_parts(struct reader *r, struct table *table)
{
	struct cli *cli = r->cli;
	struct json_object *parts;
	size_t i, n;

	jsonc.json_object_object_get_ex(r->manifest, "parts", &parts);
	cli->writer->ops->begin(cli->writer, table);
	n = jsonc.json_object_array_length(parts);
	for (i = 0; i < n; i++)
		put_part(cli, jsonc.json_object_array_get_idx(parts, i));
	return write_end(cli, STATUS_OK);
}

int bundle_show(struct cli *cli)
{
	struct table table = { 0 };
	char caption[512];
	struct reader r;
	int status = open_bundle(&r, cli);

	if (!status)
		status = table_of(cli, &table, part_columns,
				  ARRAY_SIZE(part_columns));
	if (!status) {
		make_caption(&r, caption, sizeof(caption));
		table.caption = caption;
		status = write_parts(&r, &table);
	}
	columns_free(&table);
	close_bundle(&r);
	return status;
}

/* ---- verify ------------------------------------------------------------------------------ */

int bundle_verify(struct cli *cli)
{
	static const struct column columns[] = {
		{ .key = "bundle", .head = "BUNDLE" },
		{ .key = "members", .head = "MEMBERS", .type = EADM_TYPE_U64,
		  .kind = EADM_KIND_GAUGE },
		{ .key = "bytes", .head = "BYTES", .unit = "bytes",
		  .type = EADM_TYPE_U64, .kind = EADM_KIND_GAUGE },
	};
	struct table table = { 0 };
	struct eadm_value values[3];
	struct reader r;
	int status = open_bundle(&r, cli);

	if (!status)
		status = table_of(cli, &table, columns, ARRAY_SIZE(columns));
	if (!status) {
		values[0] = value_string(r.path);
		values[1] = value_u64(r.members);
		values[2] = value_u64(r.bytes);
		cli->writer->ops->begin(cli->writer, &table);
		write_values(cli->writer, values);
		status = write_end(cli, STATUS_OK);
	}
	columns_free(&table);
	close_bundle(&r);
	return status;
}
