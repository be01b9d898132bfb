/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: the state of RDMA adapters, live or from a capture.
 *
 * A context is opened on a source: this machine (eadm_open_live) or a capture
 * file (eadm_open_file). It dumps the source's objects - devices, queue pairs,
 * counters and so on - as records of typed fields. The list of objects and
 * fields is itself data: a program can enumerate it, and need not change when a
 * later version of the library adds a field.
 *
 * Errors: functions that return int return 0 or a positive result, or a
 * negative errno. Functions that return a pointer return NULL and set errno.
 * The context keeps a message about its last error for eadm_errmsg(). The
 * library never prints, never exits, raises no SIGPIPE and has no global state.
 *
 *   -ENODEV      no such device, or no device at all
 *   -ENOENT      no such object
 *   -EOPNOTSUPP  a kernel module or a feature of the device is missing
 *   -EPERM, -EACCES  permission denied
 *   -ETIMEDOUT   the kernel did not respond within eadm_set_timeout()
 *   -EBADMSG     malformed netlink message or capture
 *   -EINVAL      bad argument, or a struct whose size is not set
 *   -E2BIG       an option is set that this version does not support
 *
 * Structs: later versions may append members to a struct whose first member is
 * "size". The caller sets this member to the size of the struct, as in "struct
 * eadm_note note = { .size = sizeof(note) };", so that programs and libraries
 * of different versions work together. In options, members that the caller's
 * struct lacks count as 0, which is the default of every option; members that
 * only the caller's struct has must be 0, otherwise the function returns
 * -E2BIG. The function also returns -E2BIG for unknown bits of a mask, and -EINVAL
 * for an unknown value of an enumeration. In results, members that both versions have
 * are filled in, and those that only the caller's struct has are set to 0. If the size
 * is not set, the function returns -EINVAL.
 *
 * Units: values are in base units, as returned by eadm_field_unit(): bytes,
 * nanoseconds, entries or packets. They are never scaled.
 *
 * Threads: only one thread at a time may use a context, its dumps and their records;
 * different contexts are independent of each other. Descriptions (struct eadm_object,
 * struct eadm_field) are constant and may be used by any thread at any time.
 *
 * Ownership: the library owns the pointers that it returns, with two
 * exceptions. Objects from functions whose names end in _new or _open are
 * released by the caller with the matching _free or _close function. The result
 * of eadm_redactor_text() and eadm_redactor_facts() is released by the caller with
 * free(). Strings and structs passed by the caller are copied if they are needed after the call.
 */
#ifndef EADM_H
#define EADM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <eadm_field.h>
#include <eadm_note.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct eadm_ctx - a context: one source and the last error
 */
struct eadm_ctx;

/**
 * struct eadm_dump - a running query
 */
struct eadm_dump;

/**
 * struct eadm_record - one row of a dump
 */
struct eadm_record;

/**
 * struct eadm_trace - a stream of flight records of one device
 */
struct eadm_trace;

/* ---- library and context --------------------------------------------- */

/**
 * eadm_version() - version of the library, such as "0.9.0"
 *
 * Since: 0.9
 */
const char *eadm_version(void);

/**
 * eadm_new() - create a context; it is not open yet
 *
 * Return: the context, or NULL with errno ENOMEM. Free it with eadm_free().
 * Since: 0.9
 */
struct eadm_ctx *eadm_new(void);

/**
 * eadm_free() - close the source of a context and free the context
 * @ctx: the context or NULL; its dumps and traces must be closed first
 *
 * Since: 0.9
 */
void eadm_free(struct eadm_ctx *ctx);

/**
 * eadm_errmsg() - message about the last error of a context
 * @ctx: the context
 *
 * Return: text without a final newline, valid until the next call on @ctx; ""
 * if nothing has failed yet.
 * Since: 0.9
 */
const char *eadm_errmsg(const struct eadm_ctx *ctx);

/**
 * enum eadm_log_level - severity of a log line
 * @EADM_LOG_WARNING: results are incomplete
 * @EADM_LOG_INFO: a data source is unavailable, and a different one is used
 * @EADM_LOG_DEBUG: a step of reading data
 */
enum eadm_log_level {
	EADM_LOG_WARNING = 1,
	EADM_LOG_INFO = 2,
	EADM_LOG_DEBUG = 3,
};

/**
 * typedef eadm_log_fn - receives a log line of the library
 * @data: the pointer passed to eadm_set_log()
 * @level: severity of the line
 * @line: text without a newline, valid during the call
 */
typedef void (*eadm_log_fn)(void *data, enum eadm_log_level level,
			    const char *line);

/**
 * eadm_set_log() - set the function that receives the library's log
 * @ctx: the context
 * @level: least severe level of lines that @fn receives
 * @fn: called for each line, or NULL for no log (the default); runs in the
 *	thread that uses @ctx, and must not use @ctx
 * @data: passed to @fn; must stay valid until @ctx is freed or this function is
 *	called again
 *
 * Since: 0.9
 */
void eadm_set_log(struct eadm_ctx *ctx, enum eadm_log_level level,
		  eadm_log_fn fn, void *data);

/**
 * eadm_set_timeout() - limit the wait for each response of the kernel
 * @ctx: the context
 * @ms: milliseconds, 0 for no limit; the default is 10000
 *
 * The limit applies to each response, not to a dump as a whole. Reading a
 * capture never waits.
 *
 * Since: 0.9
 */
void eadm_set_timeout(struct eadm_ctx *ctx, unsigned int ms);

/**
 * eadm_open_live() - read from this machine
 * @ctx: a context that is not open
 *
 * Uses the netlink family "eadm" of the companion module if it is available,
 * and RDMA netlink for everything else. Succeeds even if neither is available:
 * missing data is reported when it is requested. The devices include those of
 * programs on this machine that emulate adapters for virtual machines; see
 * eadm_set_peers().
 *
 * Return: 0; -EBUSY if @ctx is already open; -ENOMEM.
 * Since: 0.9
 */
int eadm_open_live(struct eadm_ctx *ctx);

/**
 * eadm_set_peers() - enable the search for programs that emulate adapters
 * @ctx: a context that is not open
 * @peers: if false, eadm_open_live() shows only the kernel's devices; the
 *	default is true
 *
 * Since: 0.9
 */
void eadm_set_peers(struct eadm_ctx *ctx, bool peers);

/**
 * eadm_open_peer() - read from a program that emulates an adapter
 * @ctx: a context that is not open
 * @path: control socket of the program
 *
 * The program responds like the companion module, with its guest's objects.
 * Rows about the machine describe this machine, not the guest.
 *
 * Return: 0; -EBUSY if @ctx is already open; -EBADMSG if it is a different kind
 * of socket; another negative errno if connecting to it fails; -ENOMEM.
 * Since: 0.9
 */
int eadm_open_peer(struct eadm_ctx *ctx, const char *path);

/**
 * eadm_open_file() - read from a capture
 * @ctx: a context that is not open
 * @path: a file made by eadm_capture_open(), or a bundle that contains such a
 *	capture; "-" for standard input
 *
 * Return: 0; -EBUSY if @ctx is already open; -EBADMSG if the file is not a
 * capture; another negative errno if opening or reading the file fails;
 * -ENOMEM. A truncated capture can be opened; an error is returned where its
 * data ends.
 * Since: 0.9
 */
int eadm_open_file(struct eadm_ctx *ctx, const char *path);

/**
 * eadm_open_shared() - read from the capture that another context has open
 * @ctx: a context that is not open
 * @other: a context opened by eadm_open_file(), which may be closed first
 *
 * The capture is not opened or indexed again, and @ctx begins at its first
 * snapshot. Both contexts share a buffer: use them in one thread at a time, as
 * if they were one context.
 *
 * Return: 0; -EBUSY if @ctx is already open; -EINVAL if @other does not read a
 * capture, or is recording; -ENOMEM.
 * Since: 0.9
 */
int eadm_open_shared(struct eadm_ctx *ctx, struct eadm_ctx *other);

/**
 * eadm_is_live() - check whether a context reads from this machine
 * @ctx: the context
 *
 * Since: 0.9
 */
bool eadm_is_live(const struct eadm_ctx *ctx);

/**
 * eadm_snapshot_next() - move to the next snapshot of a capture
 * @ctx: an open context without a dump
 *
 * A capture may contain several snapshots: each eadm_capture_all() adds one.
 * Dumps read the first snapshot until this function is called.
 *
 * Return: 1, or 0 if there are no more snapshots; always 1 for this machine.
 * Since: 0.9
 */
int eadm_snapshot_next(struct eadm_ctx *ctx);

/**
 * eadm_snapshots() - number of snapshots in a capture
 * @ctx: an open context
 *
 * Return: at least 1; always 1 for this machine.
 * Since: 0.9
 */
unsigned int eadm_snapshots(const struct eadm_ctx *ctx);

/**
 * eadm_snapshot_time() - time when a snapshot of a capture was recorded
 * @ctx: an open context
 * @index: from 0
 * @ns: set to the time in nanoseconds since 1970
 *
 * Return: 0; -ENOENT if there is no such snapshot or its time is unknown;
 * always -ENOENT for this machine.
 * Since: 0.9
 */
int eadm_snapshot_time(const struct eadm_ctx *ctx, unsigned int index,
		       uint64_t *ns);

/**
 * eadm_snapshot_go() - move to a snapshot of a capture
 * @ctx: an open context without a dump
 * @index: from 0
 *
 * Return: 0; -ENOENT if there is no such snapshot.
 * Since: 0.9
 */
int eadm_snapshot_go(struct eadm_ctx *ctx, unsigned int index);

/**
 * eadm_scan() - read the list of devices and keep it
 * @ctx: an open context
 *
 * Each dump begins by reading the list of devices, which takes three requests.
 * After this call, dumps use that list until the next call to this function, to
 * eadm_scan_drop() or to an eadm_snapshot_*() function. A device that is added in the
 * meantime is not seen; a removed device leads to a note. Dumps that are written to a
 * capture are not affected.
 *
 * Return: 0, or the negative errno of a dump of "dev", in which case no list is kept.
 * Since: 0.9
 */
int eadm_scan(struct eadm_ctx *ctx);

/**
 * eadm_scan_drop() - discard the list of devices kept by eadm_scan()
 * @ctx: the context
 *
 * Since: 0.9
 */
void eadm_scan_drop(struct eadm_ctx *ctx);

/**
 * eadm_keep_answers() - serve repeated requests from memory
 * @ctx: an open context without a dump
 * @on: true to keep responses from now on, false to discard them
 *
 * This allows several dumps and a diagnosis to describe the same point in time:
 * each request is sent once, and its rows keep the time of the first response.
 * After a slow response, all earlier responses are discarded. Errors and large
 * responses are not kept. Moving to a different snapshot discards all
 * responses.
 * Since: 0.9
 */
void eadm_keep_answers(struct eadm_ctx *ctx, bool on);

/**
 * eadm_device_name() - name of a device in the list kept by eadm_scan()
 * @ctx: the context
 * @index: from 0
 *
 * Return: the name, valid as long as the list is kept; NULL past the end.
 * Since: 0.9
 */
const char *eadm_device_name(const struct eadm_ctx *ctx, unsigned int index);

/* ---- dumps -------------------------------------------------------------- */

/**
 * enum eadm_hwctx - queue whose context a dump of the object "hwctx" shows
 * @EADM_HWCTX_NONE: for all other objects
 * @EADM_HWCTX_QP: a queue pair
 * @EADM_HWCTX_CQ: a completion queue
 * @EADM_HWCTX_EQ: an event queue
 */
enum eadm_hwctx {
	EADM_HWCTX_NONE = 0,
	EADM_HWCTX_QP = 1,
	EADM_HWCTX_CQ = 2,
	EADM_HWCTX_EQ = 3,
};

/**
 * enum eadm_around - entries around an index of their queue
 * @EADM_AROUND_NONE: no restriction
 * @EADM_AROUND_PI: around the producer index
 * @EADM_AROUND_CI: around the consumer index
 */
enum eadm_around {
	EADM_AROUND_NONE = 0,
	EADM_AROUND_PI = 1,
	EADM_AROUND_CI = 2,
};

/**
 * struct eadm_entry_opts - contents of a dump of entries or contexts
 * @size: sizeof(struct eadm_entry_opts), set by the caller
 * @hwctx: kind of queue, required for the object "hwctx"
 * @around: only the entry at this index, the eight entries before it and the eight
 *	entries after it; cannot be combined with @has_range
 * @payload: include inline payload
 * @has_range: only entries at positions @first to @last
 * @first: first position in the ring, from 0
 * @last: last position, not below @first
 * @sub: number of the part, from 0, for a queue with several parts
 */
struct eadm_entry_opts {
	size_t size;
	enum eadm_hwctx hwctx;
	enum eadm_around around;
	bool payload;
	bool has_range;
	uint32_t first;
	uint32_t last;
	uint32_t sub;
};

/**
 * struct eadm_command_opts - contents of a dump of commands
 * @size: sizeof(struct eadm_command_opts), set by the caller
 * @has_from: only commands whose number is at least @from
 * @from: number of the first command
 * @states: only commands in one of these states: a mask of the bits 1 << N, where N is
 *	a value of the field "state"; 0: commands in any state
 * @min_latency: only commands that took at least this long, in ns
 */
struct eadm_command_opts {
	size_t size;
	bool has_from;
	uint64_t from;
	uint64_t states;
	uint64_t min_latency;
};

/**
 * struct eadm_dump_opts - contents of a dump
 * @size: sizeof(struct eadm_dump_opts), set by the caller
 * @device: only objects of this RDMA device, NULL for all devices
 * @hw: also query the adapter for its own context of each row; this requires
 *	one command per row and CAP_SYS_RAWIO
 * @has_id: only the object with the ID @id
 * @original: return counters under the driver's own names, as values without a
 *	field; they always come from RDMA netlink and sysfs, even if other
 *	sources are available
 * @limits: for devices known only to the RDMA core: open each device to read
 *	its limits through libibverbs
 * @setup: for devices: add their addresses from the machine's files and, with @limits,
 *	also their GIDs and links
 * @id: value of the object's key field; for entries and contexts, the number of the
 *	queue, at most 2^32 - 1; completion queue 0 may belong to the command queue
 * @entries: options for objects of the class EADM_CLASS_ENTRIES; NULL for all entries,
 *	without payload; must be NULL for other objects
 * @commands: options for the object "cmd", NULL for all commands; must be NULL
 *	for other objects
 * @fields: the fields to read, terminated by NULL; other fields may be missing,
 *	which saves time. NULL: all fields
 * @name: for modules: only the module with this name; NULL: all
 */
struct eadm_dump_opts {
	size_t size;
	const char *device;
	bool hw;
	bool has_id;
	bool original;
	bool limits;
	bool setup;
	uint64_t id;
	const struct eadm_entry_opts *entries;
	const struct eadm_command_opts *commands;
	const struct eadm_field *const *fields;
	const char *name;
};

/**
 * eadm_dump_open() - start reading objects
 * @ctx: an open context
 * @object: kind of objects to read
 * @opts: contents of the dump, or NULL for all objects, without @hw
 * @dump: set to the dump; close it with eadm_dump_close()
 *
 * Return: 0; -ENODEV for an unknown device or if there is none; -EOPNOTSUPP if
 * no device of the source supports this object; -EINVAL, -E2BIG or -ERANGE for
 * bad options; other errors of the source.
 * Since: 0.9
 */
int eadm_dump_open(struct eadm_ctx *ctx, const struct eadm_object *object,
		   const struct eadm_dump_opts *opts, struct eadm_dump **dump);

/**
 * eadm_dump_next() - read the next row
 * @dump: the dump
 * @record: set to the row; valid until the next call on @dump
 *
 * Rows are returned as they arrive; memory use does not depend on their number.
 * If a device fails, the failure becomes a note, and the dump continues with
 * the other devices.
 *
 * Return: 1 with a row, 0 at the end, or a negative errno, such as -ENOENT if
 * no object has the requested ID.
 * Since: 0.9
 */
int eadm_dump_next(struct eadm_dump *dump, const struct eadm_record **record);

/**
 * eadm_dump_close() - end a dump
 * @dump: the dump or NULL
 *
 * Since: 0.9
 */
void eadm_dump_close(struct eadm_dump *dump);

/**
 * eadm_dump_inconsistent() - check whether objects appeared or vanished during
 * the dump
 * @dump: the dump; the result is final once eadm_dump_next() has returned 0
 *
 * Short dumps are repeated up to three times before an inconsistency is
 * reported.
 *
 * Since: 0.9
 */
bool eadm_dump_inconsistent(const struct eadm_dump *dump);

/**
 * eadm_dump_note() - read a note about missing data
 * @dump: the dump; its notes are complete once eadm_dump_next() has returned 0
 * @index: from 0
 * @note: filled in; the strings are valid until the next call on @dump
 *
 * Return: 1, 0 if there are no more, -EINVAL if @note->size is not set.
 * Since: 0.9
 */
int eadm_dump_note(const struct eadm_dump *dump, unsigned int index,
		   struct eadm_note *note);

/* ---- records ------------------------------------------------------------ */

/**
 * eadm_record_has() - check whether a field has a value in this row
 * @record: the row
 * @field: a field of the row's object
 *
 * A missing value does not mean zero: the value was not measured, or the caller
 * may not see it.
 *
 * Since: 0.9
 */
bool eadm_record_has(const struct eadm_record *record,
		     const struct eadm_field *field);

/**
 * eadm_record_next() - walk the fields that have a value in this row
 * @record: the row
 * @field: NULL for the first field, otherwise the previous one
 *
 * Return: the next field in the order of the object's fields, NULL at the end.
 * Since: 0.9
 */
const struct eadm_field *eadm_record_next(const struct eadm_record *record,
					  const struct eadm_field *field);

/**
 * eadm_record_u64() - value of an unsigned field
 * @record: the row
 * @field: a field of the row's object
 * @value: set to the value
 *
 * Return: 0, -ENODATA if the value is absent, -EINVAL if the field has a
 * different type.
 * Since: 0.9
 */
int eadm_record_u64(const struct eadm_record *record,
		    const struct eadm_field *field, uint64_t *value);

/**
 * eadm_record_s64() - value of a signed field
 * @record: the row
 * @field: a field of the row's object
 * @value: set to the value
 *
 * Return: 0, -ENODATA if the value is absent, -EINVAL if the field has a
 * different type.
 * Since: 0.9
 */
int eadm_record_s64(const struct eadm_record *record,
		    const struct eadm_field *field, int64_t *value);

/**
 * eadm_record_string() - value of a text field
 * @record: the row
 * @field: a field of the row's object
 *
 * Return: the text, valid as long as the row, or NULL with errno ENODATA if the
 * value is absent, EINVAL if the field has a different type. The text need not
 * be valid UTF-8.
 * Since: 0.9
 */
const char *eadm_record_string(const struct eadm_record *record,
			       const struct eadm_field *field);

/**
 * eadm_record_bytes() - value of a field of bytes
 * @record: the row
 * @field: a field of the row's object
 * @len: set to the number of bytes
 *
 * Return: the bytes, valid as long as the row, or NULL with errno ENODATA if
 * the value is absent, EINVAL if the field has a different type.
 * Since: 0.9
 */
const void *eadm_record_bytes(const struct eadm_record *record,
			      const struct eadm_field *field, size_t *len);

/**
 * struct eadm_value - the value of a field
 * @field: the field
 * @index: position of the field in the object, as for eadm_object_field()
 * @type: determines which of the members below holds the value
 * @len: number of bytes, for EADM_TYPE_BYTES
 * @u64: for EADM_TYPE_U64
 * @s64: for EADM_TYPE_S64
 * @string: for EADM_TYPE_STRING, valid as long as the row
 * @bytes: for EADM_TYPE_BYTES, valid as long as the row
 *
 * This struct never grows: eadm_record_values() fills arrays of it, whose
 * stride is sizeof(struct eadm_value) in every version.
 */
struct eadm_value {
	const struct eadm_field *field;
	unsigned int index;
	enum eadm_field_type type;
	size_t len;
	union {
		uint64_t u64;
		int64_t s64;
		const char *string;
		const void *bytes;
	};
};

/**
 * eadm_record_values() - read all values of a row
 * @record: the row
 * @values: set to the values, in the order of the object's fields
 * @max: number of elements in @values; eadm_object_fields() is enough for all
 *
 * For programs that read many rows: this is faster than a call per field.
 *
 * Return: the number of values.
 * Since: 0.9
 */
unsigned int eadm_record_values(const struct eadm_record *record,
				struct eadm_value *values, unsigned int max);

/**
 * eadm_record_text() - value of any field as text
 * @record: the row
 * @field: a field of the row's object
 * @buf: destination of the text, which ends with a NUL unless @size is 0
 * @size: size of @buf in bytes; 256 is enough for all but long strings
 *
 * Numbers are in base units, states are shown by name, addresses in their usual
 * form, bytes in hexadecimal.
 *
 * Return: length of the text as returned by snprintf(), -ENODATA if it is
 *	absent.
 * Since: 0.9
 */
int eadm_record_text(const struct eadm_record *record,
		     const struct eadm_field *field, char *buf, size_t size);

/**
 * eadm_record_time() - time when the row arrived
 * @record: the row
 *
 * Return: nanoseconds since 1970, or 0 if a capture does not contain the time.
 * Within one context, changes to the machine's clock do not affect the differences
 * between these times.
 * Since: 0.9
 */
uint64_t eadm_record_time(const struct eadm_record *record);

/**
 * struct eadm_extra - a value that has no field
 * @size: sizeof(struct eadm_extra), set by the caller
 * @name: name of a counter that has no field, or NULL
 * @value: value of the counter, if @name is set
 * @attr: number of an attribute sent by a newer kernel, if @name is NULL
 * @data: payload of the attribute
 * @len: length of @data
 */
struct eadm_extra {
	size_t size;
	const char *name;
	uint64_t value;
	unsigned int attr;
	const void *data;
	size_t len;
};

/**
 * eadm_record_extra() - walk the values that have no field
 * @record: the row
 * @index: from 0
 * @extra: filled in; its pointers are valid as long as the row
 *
 * Return: 1, 0 if there are no more, -EINVAL if @extra->size is not set.
 * Since: 0.9
 */
int eadm_record_extra(const struct eadm_record *record, unsigned int index,
		      struct eadm_extra *extra);

/**
 * eadm_record_new() - copy a row in order to keep it
 * @record: the row
 *
 * Return: the copy, which is independent of the dump and the context, or NULL
 * with errno ENOMEM. Free it with eadm_record_free().
 * Since: 0.9
 */
struct eadm_record *eadm_record_new(const struct eadm_record *record);

/**
 * eadm_record_free() - free a copied row
 * @record: row from eadm_record_new(), or NULL
 *
 * Since: 0.9
 */
void eadm_record_free(struct eadm_record *record);

/* ---- flight recorder ---------------------------------------------------- */

/**
 * struct eadm_trace_opts - selection of flight records
 * @size: sizeof(struct eadm_trace_opts), set by the caller
 * @oldest: begin with the oldest available record; otherwise, with the next
 *	command that ends
 * @min_latency: only commands that took at least this long, in nanoseconds; 0
 *	for all
 * @has_op: only commands of the type @op
 * @op: value of the field "op" of the object "cmd"
 */
struct eadm_trace_opts {
	size_t size;
	bool oldest;
	uint64_t min_latency;
	bool has_op;
	uint64_t op;
};

/**
 * eadm_trace_open() - follow the flight recorder or the probe's records of a device
 * @ctx: a context open on this machine, or on a program that emulates an
 *	adapter
 * @device: name of the RDMA device
 * @opts: selection of records, or NULL for all records from now on
 * @trace: set to the trace; close it with eadm_trace_close()
 *
 * Return: 0; -EOPNOTSUPP if @ctx reads a capture, if there are neither the companion
 * module nor records of the probe, or if the driver has no flight recorder; -ENODEV for an unknown device; -EINVAL or
 * -E2BIG for bad options; another negative errno if the device's node cannot be opened.
 * Since: 0.9
 */
int eadm_trace_open(struct eadm_ctx *ctx, const char *device,
		    const struct eadm_trace_opts *opts,
		    struct eadm_trace **trace);

/**
 * eadm_trace_fd() - file descriptor for poll() with POLLIN
 * @trace: the trace
 *
 * Return: the descriptor, which eadm_trace_close() closes.
 * Since: 0.9
 */
int eadm_trace_fd(const struct eadm_trace *trace);

/**
 * eadm_trace_next() - read the next flight record
 * @trace: the trace
 * @record: set to the record, a row of the object "cmd"; valid until the next
 *	call on @trace
 *
 * Return: 1 with a record, 0 if there is none yet, -ENODEV if the device was
 * removed, other negative errno.
 * Since: 0.9
 */
int eadm_trace_next(struct eadm_trace *trace,
		    const struct eadm_record **record);

/**
 * eadm_trace_lost() - number of records that were overwritten before they were
 * read
 * @trace: the trace
 *
 * Return: the number since eadm_trace_open().
 * Since: 0.9
 */
uint64_t eadm_trace_lost(const struct eadm_trace *trace);

/**
 * eadm_trace_close() - end a trace
 * @trace: the trace or NULL
 *
 * Since: 0.9
 */
void eadm_trace_close(struct eadm_trace *trace);

#ifdef __cplusplus
}
#endif

#include <eadm_bundle.h>
#include <eadm_capture.h>
#include <eadm_conf.h>
#include <eadm_diagnose.h>
#include <eadm_events.h>
#include <eadm_family.h>
#include <eadm_output.h>
#include <eadm_redactor.h>
#endif /* EADM_H */
