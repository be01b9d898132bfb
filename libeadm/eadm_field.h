/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: descriptions of objects and their fields. Part of eadm.h, which
 * states the rules for all functions; this header can also be included on its
 * own.
 */
#ifndef EADM_FIELD_H
#define EADM_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct eadm_object - description of a kind of object, such as "qp"
 */
struct eadm_object;

/**
 * struct eadm_field - description of a field of an object, such as "qpn"
 */
struct eadm_field;

/**
 * eadm_object_next() - walk all kinds of objects
 * @object: NULL for the first object, otherwise the previous one
 *
 * Return: the next description, NULL at the end.
 * Since: 0.9
 */
const struct eadm_object *eadm_object_next(const struct eadm_object *object);

/**
 * enum eadm_object_class - source of an object's rows
 * @EADM_CLASS_ROWS: read by a dump
 * @EADM_CLASS_EVENTS: reported as they happen, see eadm_events_open()
 * @EADM_CLASS_RAW: internal to the library, for captures
 * @EADM_CLASS_ENTRIES: decoded by a dump of one queue, which requires @id of &struct
 *	eadm_dump_opts and can be limited by its @entries
 * @EADM_CLASS_MACHINE: read by a dump from the machine's files
 */
enum eadm_object_class {
	EADM_CLASS_ROWS,
	EADM_CLASS_EVENTS,
	EADM_CLASS_RAW,
	EADM_CLASS_ENTRIES,
	EADM_CLASS_MACHINE,
};

/**
 * eadm_object_class() - source of an object's rows
 * @object: the description
 *
 * Since: 0.9
 */
enum eadm_object_class eadm_object_class(const struct eadm_object *object);

/**
 * enum eadm_rows - number of rows per device
 * @EADM_ROWS_MANY: any number, such as QPs
 * @EADM_ROWS_FEW: one or a few, cheap enough to be read every few seconds
 * @EADM_ROWS_FIXED: few, and their number never changes
 * @EADM_ROWS_PAST: records of the past; new records overwrite the oldest ones
 */
enum eadm_rows {
	EADM_ROWS_MANY = 0,
	EADM_ROWS_FEW = 1,
	EADM_ROWS_FIXED = 2,
	EADM_ROWS_PAST = 3,
};

/**
 * eadm_object_rows() - number of rows per device
 * @object: the description
 *
 * Since: 0.9
 */
enum eadm_rows eadm_object_rows(const struct eadm_object *object);

/**
 * eadm_object_has_extras() - check whether rows have values besides their
 * fields
 * @object: the description
 *
 * Such values are counters that have only a driver-specific name: see
 * eadm_record_extra().
 *
 * Since: 0.9
 */
bool eadm_object_has_extras(const struct eadm_object *object);

/**
 * eadm_object_is_upright() - check whether tables show each field as a line
 * @object: the description
 *
 * This is used for objects with many fields and few rows; each row is then a
 * column.
 *
 * Since: 0.9
 */
bool eadm_object_is_upright(const struct eadm_object *object);

/**
 * eadm_object_metric() - prefix of the names of an object's metrics
 * @object: the description
 *
 * Since: 0.9
 */
const char *eadm_object_metric(const struct eadm_object *object);

/**
 * eadm_object_find() - look up a kind of object
 * @name: name, such as "qp"; not case-sensitive
 *
 * Return: its description, or NULL with errno ENOENT.
 * Since: 0.9
 */
const struct eadm_object *eadm_object_find(const char *name);

/**
 * eadm_object_name() - short name, such as "qp"
 * @object: the description
 *
 * Since: 0.9
 */
const char *eadm_object_name(const struct eadm_object *object);

/**
 * eadm_object_title() - plural name for display, such as "queue pairs"
 * @object: the description
 *
 * Since: 0.9
 */
const char *eadm_object_title(const struct eadm_object *object);

/**
 * eadm_object_help() - one-sentence description of a kind of object
 * @object: the description
 *
 * Since: 0.9
 */
const char *eadm_object_help(const struct eadm_object *object);

/**
 * eadm_object_key() - the field that identifies a row among those of one device
 * @object: the description
 *
 * Since: 0.9
 */
const struct eadm_field *eadm_object_key(const struct eadm_object *object);

/**
 * eadm_object_fields() - number of fields
 * @object: the description
 *
 * Since: 0.9
 */
unsigned int eadm_object_fields(const struct eadm_object *object);

/**
 * eadm_object_field() - look up a field by position
 * @object: the description
 * @index: 0 to eadm_object_fields() - 1
 *
 * Return: the field, or NULL with errno ENOENT.
 * Since: 0.9
 */
const struct eadm_field *eadm_object_field(const struct eadm_object *object,
					   unsigned int index);

/**
 * eadm_object_find_field() - look up a field by name
 * @object: the description
 * @name: name, such as "sq-pi"; "sq_pi" and "SQ-PI" are the same
 *
 * Return: the field, or NULL with errno ENOENT.
 * Since: 0.9
 */
const struct eadm_field *
eadm_object_find_field(const struct eadm_object *object, const char *name);

/**
 * enum eadm_field_type - type of a field's value, and the function that reads
 * it
 * @EADM_TYPE_U64: unsigned, eadm_record_u64()
 * @EADM_TYPE_S64: signed, eadm_record_s64()
 * @EADM_TYPE_STRING: text, eadm_record_string()
 * @EADM_TYPE_BYTES: bytes, eadm_record_bytes()
 */
enum eadm_field_type {
	EADM_TYPE_U64 = 1,
	EADM_TYPE_S64 = 2,
	EADM_TYPE_STRING = 3,
	EADM_TYPE_BYTES = 4,
};

/**
 * enum eadm_field_kind - meaning of a field
 * @EADM_KIND_ID: a number that identifies an object
 * @EADM_KIND_GAUGE: a size or level
 * @EADM_KIND_COUNTER: only grows, modulo 2 to the power of eadm_field_bits()
 * @EADM_KIND_STATE: a state; often with names for its values
 * @EADM_KIND_FLAGS: a set of bits with names
 * @EADM_KIND_ADDRESS: an address: of memory, network or port
 * @EADM_KIND_SECRET: a key; show it only if requested by name
 * @EADM_KIND_TIME: nanoseconds since 1970
 * @EADM_KIND_AGE: nanoseconds
 * @EADM_KIND_NAME: a name
 * @EADM_KIND_BYTES: raw bytes
 * @EADM_KIND_DATA: a raw number
 */
enum eadm_field_kind {
	EADM_KIND_ID = 0,
	EADM_KIND_GAUGE = 1,
	EADM_KIND_COUNTER = 2,
	EADM_KIND_STATE = 3,
	EADM_KIND_FLAGS = 4,
	EADM_KIND_ADDRESS = 5,
	EADM_KIND_SECRET = 6,
	EADM_KIND_TIME = 7,
	EADM_KIND_AGE = 8,
	EADM_KIND_NAME = 9,
	EADM_KIND_BYTES = 10,
	EADM_KIND_DATA = 11,
};

/**
 * enum eadm_field_show - when a table shows a field
 * @EADM_SHOW_ALWAYS: always
 * @EADM_SHOW_NONZERO: if a row has a value other than zero
 * @EADM_SHOW_WIDE: if there is room
 * @EADM_SHOW_NEVER: only if requested by name
 */
enum eadm_field_show {
	EADM_SHOW_ALWAYS = 0,
	EADM_SHOW_NONZERO = 1,
	EADM_SHOW_WIDE = 2,
	EADM_SHOW_NEVER = 3,
};

/**
 * enum eadm_field_perm - privilege required to see a field
 * @EADM_PERM_NONE: the privilege that RDMA netlink requires for the object
 * @EADM_PERM_ADMIN: CAP_NET_ADMIN
 * @EADM_PERM_RAWIO: CAP_SYS_RAWIO, and the kernel must not be locked down
 */
enum eadm_field_perm {
	EADM_PERM_NONE = 0,
	EADM_PERM_ADMIN = 1,
	EADM_PERM_RAWIO = 2,
};

/**
 * eadm_object_hw() - check whether the adapter keeps contexts of such objects
 * @object: the description
 * @perm: set to the privilege required to read it; may be NULL
 *
 * Contexts that require no privilege are always read; all other contexts are
 * read only with &eadm_dump_opts.hw.
 *
 * Since: 0.9
 */
bool eadm_object_hw(const struct eadm_object *object,
		    enum eadm_field_perm *perm);

/**
 * eadm_field_name() - name, such as "sq-pi"
 * @field: the description
 *
 * Since: 0.9
 */
const char *eadm_field_name(const struct eadm_field *field);

/**
 * eadm_field_key() - name with "_" instead of "-", as in JSON: "sq_pi"
 * @field: the description
 *
 * Since: 0.9
 */
const char *eadm_field_key(const struct eadm_field *field);

/**
 * eadm_field_heading() - heading of a column, such as "SQPI"
 * @field: the description
 *
 * Since: 0.9
 */
const char *eadm_field_heading(const struct eadm_field *field);

/**
 * eadm_field_help() - one-sentence description of a field
 * @field: the description
 *
 * Since: 0.9
 */
const char *eadm_field_help(const struct eadm_field *field);

/**
 * eadm_field_unit() - base unit, such as "bytes"; "" if the field has none
 * @field: the description
 *
 * Since: 0.9
 */
const char *eadm_field_unit(const struct eadm_field *field);

/**
 * eadm_field_family() - the only family of adapters that has the field
 * @field: the description
 *
 * Return: the name, as returned by eadm_family_name(), or NULL if the field
 * exists in every family.
 *
 * Since: 0.9
 */
const char *eadm_field_family(const struct eadm_field *field);

/**
 * eadm_field_type() - type of a field's value
 * @field: the description
 *
 * Since: 0.9
 */
enum eadm_field_type eadm_field_type(const struct eadm_field *field);

/**
 * eadm_field_kind() - meaning of a field
 * @field: the description
 *
 * Since: 0.9
 */
enum eadm_field_kind eadm_field_kind(const struct eadm_field *field);

/**
 * eadm_field_show() - when a table shows a field
 * @field: the description
 *
 * Since: 0.9
 */
enum eadm_field_show eadm_field_show(const struct eadm_field *field);

/**
 * eadm_field_perm() - privilege required to see a field
 * @field: the description
 *
 * Since: 0.9
 */
enum eadm_field_perm eadm_field_perm(const struct eadm_field *field);

/**
 * eadm_field_is_hw() - check whether a field comes from the adapter itself
 * @field: the description
 *
 * Such fields are present only if the dump was opened with &eadm_dump_opts.hw.
 *
 * Since: 0.9
 */
bool eadm_field_is_hw(const struct eadm_field *field);

/**
 * enum eadm_setup_kind - role of a field in the setup of a host
 * @EADM_SETUP_NONE: not part of the setup, but state, identity or a count
 * @EADM_SETUP_NAME: identifies a row of a device; hosts with the same setup
 *	have the same values
 * @EADM_SETUP_SERVICE: affects which functions work
 * @EADM_SETUP_SPEED: affects only performance
 * @EADM_SETUP_VERSION: a version number
 */
enum eadm_setup_kind {
	EADM_SETUP_NONE = 0,
	EADM_SETUP_NAME = 1,
	EADM_SETUP_SERVICE = 2,
	EADM_SETUP_SPEED = 3,
	EADM_SETUP_VERSION = 4,
};

/**
 * eadm_field_setup() - role of a field in the setup of a host
 * @field: the description
 *
 * Hosts with the same setup have the same values in all fields except those of
 * kind &EADM_SETUP_NONE. An object that has a field of any other kind describes
 * the setup.
 *
 * Since: 0.9
 */
enum eadm_setup_kind eadm_field_setup(const struct eadm_field *field);

/**
 * enum eadm_metric - role of a field in metrics over time
 * @EADM_METRIC_NONE: none
 * @EADM_METRIC_VALUE: a value; a state has one metric for each of its names
 * @EADM_METRIC_SUM: a gauge whose sum over objects is meaningful, as it is for
 *	every counter
 * @EADM_METRIC_LABEL: identifies a row of a device
 * @EADM_METRIC_INFO: a rarely changing name or number to join on
 */
enum eadm_metric {
	EADM_METRIC_NONE = 0,
	EADM_METRIC_VALUE = 1,
	EADM_METRIC_SUM = 2,
	EADM_METRIC_LABEL = 3,
	EADM_METRIC_INFO = 4,
};

/**
 * eadm_field_metric() - role of a field in metrics over time
 * @field: the description
 *
 * Since: 0.9
 */
enum eadm_metric eadm_field_metric(const struct eadm_field *field);

/**
 * eadm_field_may_be_cut() - check whether a narrow table may truncate a field's
 * values
 * @field: the description
 *
 * Since: 0.9
 */
bool eadm_field_may_be_cut(const struct eadm_field *field);

/**
 * eadm_field_is_hex() - check whether a field is a number printed as 0x...
 * @field: the description
 *
 * Since: 0.9
 */
bool eadm_field_is_hex(const struct eadm_field *field);

/**
 * eadm_field_text() - convert a value to text
 * @field: description of an unsigned field
 * @value: the value
 * @buf: destination of the text
 * @size: size of @buf
 *
 * Return: length of the text as returned by snprintf().
 * Since: 0.9
 */
int eadm_field_text(const struct eadm_field *field, uint64_t value, char *buf,
		    size_t size);

/**
 * eadm_field_bits() - width of a counter, which wraps to 0 after 2^bits - 1
 * @field: the description
 *
 * Since: 0.9
 */
unsigned int eadm_field_bits(const struct eadm_field *field);

/**
 * eadm_field_value_name() - name of a value of a state
 * @field: the description
 * @value: the value; for flags, the mask of one flag
 *
 * Return: the name, or NULL if the field has no names or the value is not
 *	named.
 * Since: 0.9
 */
const char *eadm_field_value_name(const struct eadm_field *field,
				  uint64_t value);

/**
 * eadm_field_value_find() - look up a value of a state by name
 * @field: the description
 * @name: the name
 * @value: set to the value; for flags, the mask of one flag
 *
 * Return: 0 or -ENOENT.
 * Since: 0.9
 */
int eadm_field_value_find(const struct eadm_field *field, const char *name,
			  uint64_t *value);

/**
 * eadm_field_value_at() - walk the named values of a state
 * @field: the description
 * @index: from 0
 * @value: set to the value; may be NULL
 *
 * Return: the name, or NULL at the end.
 * Since: 0.9
 */
const char *eadm_field_value_at(const struct eadm_field *field,
				unsigned int index, uint64_t *value);

#ifdef __cplusplus
}
#endif

#endif /* EADM_FIELD_H */
