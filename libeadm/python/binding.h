/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Python binding: Python objects on top of libeadm's public interface.
 *
 * A call that may block runs without the GIL, so that other threads can run. Its context
 * is marked as busy during the call: another thread that uses it gets an exception
 * instead of a race. The mark is read and written with the GIL held.
 */
#ifndef EADM_BINDING_H
#define EADM_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <eadm.h>

/*
 * An object that is opened on a context and must be closed before the context, such as
 * a dump. A Python object may be dropped in any thread, even while the context is busy;
 * the handle is then closed once the context is no longer busy.
 */
struct handle {
	struct handle *next;
	void *opened;			/* NULL: closed */
	void (*close)(void *opened);
	bool dropped;			/* its Python object was dropped */
	bool dump;			/* snapshots cannot be read while it is open */
};

struct source {
	PyObject_HEAD
	struct eadm_ctx *ctx;		/* NULL: closed */
	PyObject *log;			/* called with level and line, or NULL */
	struct eadm_capture *recording;	/* the open capture, or NULL */
	PyObject *redactor;		/* redactor of that capture, or NULL */
	struct handle *handles;
	bool busy;
};

extern PyObject *py_error;
extern PyTypeObject *py_source_type;

/* Evaluate an expression without the GIL. */
#define UNLOCKED(result, call)                      \
	do {                                        \
		Py_BEGIN_ALLOW_THREADS              \
		(result) = (call);                  \
		Py_END_ALLOW_THREADS                \
	} while (0)

/* ---- value.c ---------------------------------------------------------------- */

PyObject *py_fail(const struct eadm_ctx *ctx, int error);
PyObject *py_text(const char *text);	/* NULL becomes None */
/* Returns the bytes of a str that contains no NUL; NULL with an exception. */
PyObject *py_utf8(PyObject *text);
/*
 * Converters for the format "O&", because "K" and "I" cut off the upper bits of numbers
 * that are out of range: @value points to a uint64_t or uint32_t. Return 1, or 0 with an
 * exception.
 */
int py_u64(PyObject *number, void *value);
int py_u32(PyObject *number, void *value);
PyObject *py_ref(PyObject *object);
int py_add(PyObject *module, const char *name, PyObject *object);
int py_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type);
/* Find a class in eadm/_types.py. */
int py_find_type(const char *name, PyObject **type);
/* An instance with @n values, whose references are taken; fails if one of them is NULL. */
PyObject *py_struct(PyObject *type, int n, ...);
/* Takes the reference to @item, which may be NULL. */
int py_append(PyObject *list, PyObject *item);
PyObject *py_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
PyObject *py_new(PyTypeObject *type);
void py_free(PyObject *self);
PyObject *py_self(PyObject *self, PyObject *unused);

/* ---- context.c --------------------------------------------------------------- */

/* Returns the context, which is busy until py_leave(); NULL with an exception. */
struct eadm_ctx *py_enter(struct source *source);
void py_leave(struct source *source);
/* Like py_enter(), but fails if a dump is open. */
struct eadm_ctx *py_enter_alone(struct source *source);
/*
 * Called while @source is busy, like the function that made @opened: another thread
 * could otherwise close the source first. Returns NULL with an exception if out of
 * memory; @opened is then closed.
 */
struct handle *py_handle(struct source *source, void *opened,
			 void (*close)(void *opened));
void py_handle_drop(struct source *source, struct handle *handle);
int py_source_init(PyObject *module);

/*
 * ---- other files, named after their function ----------------------------------------
 */

PyObject *py_dump(PyObject *source, PyObject *args, PyObject *kwargs);
int py_dump_init(PyObject *module);
PyObject *py_note(const struct eadm_note *note);
int py_note_init(PyObject *module);
PyObject *py_record(const struct eadm_object *object,
		    const struct eadm_record *row);
int py_record_init(PyObject *module);
PyObject *py_trace(PyObject *source, PyObject *args, PyObject *kwargs);
PyObject *py_events(PyObject *source, PyObject *unused);
int py_stream_init(PyObject *module);
PyObject *py_capture(PyObject *source, PyObject *args, PyObject *kwargs);
PyObject *py_redactor(PyObject *source, PyObject *args);
/*
 * Returns the underlying redactor, valid as long as the object; NULL with an exception.
 */
struct eadm_redactor *py_redactor_of(PyObject *self, struct source *source);
int py_redactor_init(PyObject *module);
int py_capture_init(PyObject *module);
int py_diagnosis_init(PyObject *module);
int py_bundle_init(PyObject *module);
PyObject *py_objects(PyObject *module, PyObject *unused);
PyObject *py_families(PyObject *module, PyObject *unused);
PyObject *py_rules(PyObject *module, PyObject *unused);
int py_describe_init(PyObject *module);
/* Returns the object with that name; NULL with an exception. */
const struct eadm_object *py_find_object(const char *name);
/* Looks up the value of a state by name or number; returns false with an exception. */
bool py_field_value(const struct eadm_field *field, PyObject *name,
		    uint64_t *value);

#endif /* EADM_BINDING_H */
