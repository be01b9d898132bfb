// SPDX-License-Identifier: LGPL-2.1-or-later
/* A source: this machine or a capture, and the handles opened on it. */
#include <errno.h>
#include <limits.h>
#include <math.h>

#include "binding.h"

PyTypeObject *py_source_type;

/* ---- life --------------------------------------------------------------------------- */

static void log_line(void *data, enum eadm_log_level level, const char *line)
{
	const char *name = level == EADM_LOG_WARNING ? "warning" :
			   level == EADM_LOG_INFO ? "info" : "debug";
	struct source *source = data;
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *result = NULL, *error, *value, *trace;

	/* A handle may be closed while an exception is raised. */
	PyErr_Fetch(&error, &value, &trace);
	if (source->log)
		result = PyObject_CallFunction(source->log, "sN", name, py_text(line));
	else
		result = py_ref(Py_None);
	if (!result)
		PyErr_WriteUnraisable(source->log);
	Py_XDECREF(result);
	PyErr_Restore(error, value, trace);
	PyGILState_Release(state);
}

static PyObject *new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { "path", NULL };
	PyObject *path = NULL, *name = NULL;
	struct source *self;
	int ret;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Source", words, &path))
		return NULL;
	if (path && path != Py_None && !PyUnicode_FSConverter(path, &name))
		return NULL;
	self = (struct source *)py_new(type);
	if (self)
		self->ctx = eadm_new();
	if (!self || !self->ctx) {
		Py_XDECREF(name);
		Py_XDECREF(self);
		return PyErr_NoMemory();
	}
	if (name) {
		const char *file = PyBytes_AsString(name);

		UNLOCKED(ret, eadm_open_file(self->ctx, file));
	} else {
		UNLOCKED(ret, eadm_open_live(self->ctx));
	}
	Py_XDECREF(name);
	if (ret) {
		py_fail(self->ctx, ret);
		Py_CLEAR(self);
	}
	return (PyObject *)self;
}

static void shut(struct source *source)
{
	struct eadm_ctx *ctx = source->ctx;
	struct handle *handle;

	/* Handles of objects that are dropped during the loop are freed after it. */
	source->busy = true;
	for (handle = source->handles; handle; handle = handle->next) {
		if (handle->opened)
			handle->close(handle->opened);
		handle->opened = NULL;
	}
	/* The log may release the GIL: let no other thread use a context being freed. */
	source->ctx = NULL;
	eadm_free(ctx);
	py_leave(source);
}

static PyObject *close_source(PyObject *self, PyObject *unused)
{
	struct source *source = (struct source *)self;

	(void)unused;
	if (!source->ctx)
		Py_RETURN_NONE;
	if (!py_enter(source))
		return NULL;
	shut(source);
	Py_RETURN_NONE;
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((struct source *)self)->log);
	Py_VISIT(((struct source *)self)->redactor);
	return 0;
}

static int clear(PyObject *self)
{
	Py_CLEAR(((struct source *)self)->log);
	return 0;
}

static void dealloc(PyObject *self)
{
	struct source *source = (struct source *)self;

	PyObject_GC_UnTrack(self);
	shut(source);
	clear(self);
	py_free(self);
}

/* ---- snapshots, devices --------------------------------------------------------------- */

static PyObject *snapshot_time(PyObject *self, PyObject *arg)
{
	struct source *source = (struct source *)self;
	unsigned long index = PyLong_AsUnsignedLong(arg);
	struct eadm_ctx *ctx;
	uint64_t ns;
	int ret;

	if (PyErr_Occurred() || !(ctx = py_enter(source)))
		return NULL;
	ret = index > UINT_MAX ? -ENOENT : eadm_snapshot_time(ctx, index, &ns);
	py_leave(source);
	if (ret == -ENOENT)
		Py_RETURN_NONE;
	return ret ? py_fail(ctx, ret) : PyLong_FromUnsignedLongLong(ns);
}

static PyObject *go(PyObject *self, PyObject *arg)
{
	struct source *source = (struct source *)self;
	unsigned long index = PyLong_AsUnsignedLong(arg);
	struct eadm_ctx *ctx;
	int ret = -ENOENT;

	if (PyErr_Occurred() || !(ctx = py_enter_alone(source)))
		return NULL;
	if (index <= UINT_MAX)
		UNLOCKED(ret, eadm_snapshot_go(ctx, index));
	py_leave(source);
	if (ret == -ENOENT) {
		PyErr_Format(PyExc_IndexError, "there is no snapshot %lu", index);
		return NULL;
	}
	if (ret)
		return py_fail(ctx, ret);
	Py_RETURN_NONE;
}

static PyObject *next_snapshot(PyObject *self, PyObject *unused)
{
	struct source *source = (struct source *)self;
	struct eadm_ctx *ctx = py_enter_alone(source);
	int ret;

	(void)unused;
	if (!ctx)
		return NULL;
	UNLOCKED(ret, eadm_snapshot_next(ctx));
	py_leave(source);
	return ret < 0 ? py_fail(ctx, ret) : PyBool_FromLong(ret);
}

static PyObject *devices(PyObject *self, PyObject *unused)
{
	struct source *source = (struct source *)self;
	struct eadm_ctx *ctx = py_enter(source);
	PyObject *list = NULL;
	const char *name;
	unsigned int i;
	int ret;

	(void)unused;
	if (!ctx)
		return NULL;
	UNLOCKED(ret, eadm_scan(ctx));
	if (!ret)
		list = PyList_New(0);
	for (i = 0; list && (name = eadm_device_name(ctx, i)); i++)
		if (py_append(list, py_text(name)))
			Py_CLEAR(list);
	eadm_scan_drop(ctx);
	py_leave(source);
	return ret ? py_fail(ctx, ret) : list;
}

/* ---- settings --------------------------------------------------------------------------- */

static PyObject *set_timeout(PyObject *self, PyObject *arg)
{
	struct source *source = (struct source *)self;
	double seconds = PyFloat_AsDouble(arg);
	struct eadm_ctx *ctx;

	if (PyErr_Occurred())
		return NULL;
	if (!(seconds >= 0 && seconds * 1000 <= UINT_MAX)) {
		PyErr_SetString(PyExc_ValueError, "the timeout is out of range");
		return NULL;
	}
	ctx = py_enter(source);
	if (!ctx)
		return NULL;
	eadm_set_timeout(ctx, ceil(seconds * 1000));
	py_leave(source);
	Py_RETURN_NONE;
}

static PyObject *set_log(PyObject *self, PyObject *arg)
{
	struct source *source = (struct source *)self;
	struct eadm_ctx *ctx;
	PyObject *old = source->log;

	if (arg != Py_None && !PyCallable_Check(arg)) {
		PyErr_SetString(PyExc_TypeError, "the log must be callable");
		return NULL;
	}
	ctx = py_enter(source);
	if (!ctx)
		return NULL;
	source->log = arg == Py_None ? NULL : py_ref(arg);
	eadm_set_log(ctx, EADM_LOG_DEBUG, source->log ? log_line : NULL, source);
	py_leave(source);
	Py_XDECREF(old);
	Py_RETURN_NONE;
}

static PyObject *set_conf(PyObject *self, PyObject *args)
{
	struct source *source = (struct source *)self;
	const struct eadm_field *field;
	uint64_t param, value, now = 0;
	struct eadm_ctx *ctx;
	const char *device;
	PyObject *name;
	int ret;

	if (!PyArg_ParseTuple(args, "sOO&:set_conf", &device, &name, py_u64, &value))
		return NULL;
	field = eadm_object_find_field(eadm_object_find("conf"), "param");
	if (!py_field_value(field, name, &param) || !(ctx = py_enter(source)))
		return NULL;
	UNLOCKED(ret, eadm_conf_set(ctx, device, param, value, &now));
	py_leave(source);
	return ret ? py_fail(ctx, ret) : PyLong_FromUnsignedLongLong(now);
}

/* ---- the type ------------------------------------------------------------------------------ */

static PyObject *is_closed(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(!((struct source *)self)->ctx);
}

static PyObject *is_live(PyObject *self, void *unused)
{
	struct source *source = (struct source *)self;
	struct eadm_ctx *ctx = py_enter(source);
	bool live;

	(void)unused;
	if (!ctx)
		return NULL;
	live = eadm_is_live(ctx);
	py_leave(source);
	return PyBool_FromLong(live);
}

static PyObject *snapshots(PyObject *self, void *unused)
{
	struct source *source = (struct source *)self;
	struct eadm_ctx *ctx = py_enter(source);
	unsigned int n;

	(void)unused;
	if (!ctx)
		return NULL;
	n = eadm_snapshots(ctx);
	py_leave(source);
	return PyLong_FromUnsignedLong(n);
}

#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
	{ "dump", KEYWORDS(py_dump), METH_VARARGS | METH_KEYWORDS,
	  "dump(object, *, ...) -> Dump: rows of an object such as \"qp\"." },
	{ "trace", KEYWORDS(py_trace), METH_VARARGS | METH_KEYWORDS,
	  "trace(device, *, ...) -> Trace: follow commands of an adapter as they complete." },
	{ "events", py_events, METH_NOARGS,
	  "events() -> Events: follow events of the devices." },
	{ "record", KEYWORDS(py_capture), METH_VARARGS | METH_KEYWORDS,
	  "record(path, *, redactor=None, omit_secrets=False) -> Capture: write all data that is "
	  "read to a file, without keys and raw bytes if omit_secrets is true." },
	{ "redactor", py_redactor, METH_O,
	  "redactor(key) -> Redactor: create a redactor for names and addresses." },
	{ "set_conf", set_conf, METH_VARARGS,
	  "set_conf(device, param, value) -> int: change a setting." },
	{ "devices", devices, METH_NOARGS, "devices() -> list: names of the devices." },
	{ "next_snapshot", next_snapshot, METH_NOARGS,
	  "next_snapshot() -> bool: move to the next snapshot of a capture." },
	{ "go", go, METH_O, "go(index): move to a snapshot of a capture." },
	{ "snapshot_time", snapshot_time, METH_O,
	  "snapshot_time(index) -> int | None: nanoseconds since 1970." },
	{ "set_timeout", set_timeout, METH_O,
	  "set_timeout(seconds): limit the wait for each response of the kernel." },
	{ "set_log", set_log, METH_O,
	  "set_log(function | None): set the function called with a level "
	  "(\"warning\", \"info\" or \"debug\") and a line." },
	{ "close", close_source, METH_NOARGS,
	  "close(): close the source and everything opened on it." },
	{ "__enter__", py_self, METH_NOARGS, NULL },
	{ "__exit__", close_source, METH_VARARGS, NULL },
	{ 0 },
};

static PyGetSetDef attributes[] = {
	{ "live", is_live, NULL, "True if the source is this machine", NULL },
	{ "closed", is_closed, NULL, "True if the source is closed", NULL },
	{ "snapshots", snapshots, NULL, "number of snapshots in a capture", NULL },
	{ 0 },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "Source(path=None)\n--\n\nThis machine, or a capture or bundle." },
	{ Py_tp_new, new },
	{ Py_tp_dealloc, dealloc },
	{ Py_tp_traverse, traverse },
	{ Py_tp_clear, clear },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, attributes },
	{ 0 },
};

static PyType_Spec spec = {
	.name = "eadm._eadm.Source",
	.basicsize = sizeof(struct source),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
	.slots = slots,
};

int py_source_init(PyObject *module)
{
	return py_add_type(module, &spec, &py_source_type);
}
