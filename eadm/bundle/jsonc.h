/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json-c, loaded by the commands about bundles: linked, it would be loaded by
 * every command, and loading is most of what a short command does. Its functions
 * keep their names here.
 */
#ifndef BUNDLE_JSONC_H
#define BUNDLE_JSONC_H

#include <json-c/json.h>
#include <stdbool.h>

#define JSONC_FUNCTIONS(f)						\
	f(json_object_array_add) f(json_object_array_get_idx)		\
	f(json_object_array_length) f(json_object_get_boolean)		\
	f(json_object_get_double) f(json_object_get_int)		\
	f(json_object_get_int64) f(json_object_get_string) f(json_object_get_uint64)		\
	f(json_object_is_type) f(json_object_new_array)			\
	f(json_object_new_boolean) f(json_object_new_double_s)		\
	f(json_object_new_object) f(json_object_new_string)		\
	f(json_object_new_uint64) f(json_object_object_add)		\
	f(json_object_object_get_ex) f(json_object_put)			\
	f(json_object_to_json_string_ext) f(json_tokener_parse_verbose)

struct jsonc {
#define f(name) __typeof__(&name) name;
	JSONC_FUNCTIONS(f)
#undef f
};

extern struct jsonc jsonc;

bool jsonc_load(void);

#ifndef JSONC_NO_NAMES
#define json_object_array_add		jsonc.json_object_array_add
#define json_object_array_get_idx	jsonc.json_object_array_get_idx
#define json_object_array_length	jsonc.json_object_array_length
#define json_object_get_boolean		jsonc.json_object_get_boolean
#define json_object_get_double		jsonc.json_object_get_double
#define json_object_get_int		jsonc.json_object_get_int
#define json_object_get_int64		jsonc.json_object_get_int64
#define json_object_get_string		jsonc.json_object_get_string
#define json_object_get_uint64		jsonc.json_object_get_uint64
#define json_object_is_type		jsonc.json_object_is_type
#define json_object_new_array		jsonc.json_object_new_array
#define json_object_new_boolean		jsonc.json_object_new_boolean
#define json_object_new_double_s	jsonc.json_object_new_double_s
#define json_object_new_object		jsonc.json_object_new_object
#define json_object_new_string		jsonc.json_object_new_string
#define json_object_new_uint64		jsonc.json_object_new_uint64
#define json_object_object_add		jsonc.json_object_object_add
#define json_object_object_get_ex	jsonc.json_object_object_get_ex
#define json_object_put			jsonc.json_object_put
#define json_object_to_json_string_ext	jsonc.json_object_to_json_string_ext
#define json_tokener_parse_verbose	jsonc.json_tokener_parse_verbose
#endif

#endif /* BUNDLE_JSONC_H */
