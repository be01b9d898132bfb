// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <string.h>

#include "memory.h"
#include "version.h"

#define DEPTH 8
#define PAGE_SIZES 4096

/*
 * The reply contains only capabilities that the client has sent, with limits that do not
 * exceed the client's: QEMU rejects a limit on descriptors above its own.
 */
static void answer_limit(struct json_object *theirs, struct json_object *ours,
			 const char *name, int64_t limit)
{
	struct json_object *member;
	int64_t offer;

	if (!json_object_object_get_ex(theirs, name, &member))
		return;
	offer = json_object_get_int64(member);
	json_object_object_add(ours, name,
			       json_object_new_int64(offer > 0 && offer < limit ? offer : limit));
}

static void answer(struct json_object *theirs, struct json_object *ours)
{
	static const struct {
		const char *name;
		int value;
	} limits[] = {
		{ "max_msg_fds", PROTO_MAX_FDS },
		{ "max_data_xfer_size", PROTO_MAX_DATA },
		{ "max_dma_maps", MEMORY_MAX_REGIONS },
		{ "pgsizes", PAGE_SIZES },
	};
	struct json_object *multiple;
	unsigned int i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		answer_limit(theirs, ours, limits[i].name, limits[i].value);
	if (json_object_object_get_ex(theirs, "write_multiple", &multiple) &&
	    json_object_get_boolean(multiple))
		json_object_object_add(ours, "write_multiple", json_object_new_boolean(true));
}

/*
 * Parses @text, which must contain exactly one NUL, at its end. Returns NULL if the text
 * is not an object.
 */
static struct json_object *parse(const char *text, size_t size)
{
	struct json_tokener *tokener;
	struct json_object *object = NULL;

	if (strnlen(text, size) != size - 1)
		return NULL;
	tokener = json_tokener_new_ex(DEPTH);
	if (!tokener)
		return NULL;
	json_tokener_set_flags(tokener, JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, text, size);
	if (json_tokener_get_error(tokener) != json_tokener_success ||
	    !json_object_is_type(object, json_type_object)) {
		json_object_put(object);
		object = NULL;
	}
	json_tokener_free(tokener);
	return object;
}

/*
 * Returns the message with the negotiated capabilities, which the caller releases, or
 * NULL.
 */
static struct json_object *agree(const char *text, size_t size)
{
	struct json_object *theirs = NULL, *list = NULL, *whole, *ours;

	if (size) {
		theirs = parse(text, size);
		if (!theirs)
			return NULL;
		if (json_object_object_get_ex(theirs, "capabilities", &list) &&
		    !json_object_is_type(list, json_type_object)) {
			json_object_put(theirs);
			return NULL;
		}
	}
	whole = json_object_new_object();
	ours = json_object_new_object();
	if (list)
		answer(list, ours);
	json_object_object_add(whole, "capabilities", ours);
	json_object_put(theirs);
	return whole;
}

int version_negotiate(const void *body, size_t size, void *reply, size_t room)
{
	struct proto_version version;
	struct json_object *ours;
	size_t length;
	const char *text;

	if (size < sizeof(version))
		return -EINVAL;
	memcpy(&version, body, sizeof(version));
	if (version.major != PROTO_MAJOR)
		return -EPROTONOSUPPORT;
	if (version.minor > PROTO_MINOR)
		version.minor = PROTO_MINOR;
	ours = agree((const char *)body + sizeof(version), size - sizeof(version));
	if (!ours)
		return -EINVAL;
	text = json_object_to_json_string_ext(ours, JSON_C_TO_STRING_PLAIN);
	length = strlen(text) + 1;
	if (sizeof(version) + length > room) {
		json_object_put(ours);
		return -EINVAL;
	}
	memcpy(reply, &version, sizeof(version));
	memcpy((char *)reply + sizeof(version), text, length);
	json_object_put(ours);
	return sizeof(version) + length;
}
