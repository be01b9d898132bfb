// SPDX-License-Identifier: LGPL-2.1-or-later
/* A capture being written. */
#include <errno.h>

#include "binding.h"

struct capture {
	PyObject_HEAD
	struct source *source;
	struct handle *handle;		/* NULL: closed */
};

static PyTypeObject *capture_type;

static int shut(struct source *source, bool keep)
{
	int ret;

	UNLOCKED(ret, eadm_capture_close(source->recording, keep));
	source->recording = NULL;
	Py_CLEAR(source->redactor);
	return ret;
}

static void drop(void *opened)
{
	shut(opened, false);
}

/* Called with @source busy. */
static int start(struct source *source, const char *path, PyObject *redactor,
		 bool omit_secrets)
{
	struct eadm_redactor *with =
		redactor == Py_None ? NULL : py_redactor_of(redactor, source);
	int ret;

	UNLOCKED(ret, eadm_capture_open(source->ctx, path, with, &source->recording));
	if (ret)
		return ret;
	if (with)
		source->redactor = py_ref(redactor);
	ret = omit_secrets ? eadm_capture_omit_secrets(source->recording) : 0;
	if (ret)
		shut(source, false);
	return ret;
}

/* Called with @source busy. */
static PyObject *make(struct source *source)
{
	struct capture *self = (struct capture *)py_new(capture_type);

	if (!self) {
		drop(source);
		return NULL;
	}
	self->source = (struct source *)py_ref((PyObject *)source);
	self->handle = py_handle(source, source, drop);
	if (!self->handle)
		Py_CLEAR(self);
	return (PyObject *)self;
}

PyObject *py_capture(PyObject *object, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { "path", "redactor", "omit_secrets", NULL };
	struct source *source = (struct source *)object;
	PyObject *name = NULL, *redactor = Py_None, *self = NULL;
	struct eadm_ctx *ctx;
	int omit_secrets = 0, ret;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$Op:record", words,
					 PyUnicode_FSConverter, &name, &redactor,
					 &omit_secrets))
		return NULL;
	if ((redactor != Py_None && !py_redactor_of(redactor, source)) ||
	    !(ctx = py_enter(source)))
		goto out;
	ret = start(source, PyBytes_AsString(name), redactor, omit_secrets);
	self = ret ? py_fail(ctx, ret) : make(source);
	py_leave(source);
out:
	Py_DECREF(name);
	return self;
}

static struct eadm_ctx *enter(const struct capture *self)
{
	if (self->handle && self->handle->opened)
		return py_enter(self->source);
	PyErr_SetString(PyExc_ValueError, "the capture is closed");
	return NULL;
}

static PyObject *leave(const struct capture *self, struct eadm_ctx *ctx, int ret)
{
	py_leave(self->source);
	if (ret)
		return py_fail(ctx, ret);
	Py_RETURN_NONE;
}

static PyObject *snapshot(PyObject *object, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { "hw", "past", NULL };
	struct capture *self = (struct capture *)object;
	int hw = 0, past = 1, ret;
	struct eadm_ctx *ctx;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$pp:snapshot", words, &hw,
					 &past) ||
	    !(ctx = enter(self)))
		return NULL;
	UNLOCKED(ret, past ? eadm_capture_all(self->source->recording, hw) :
			    eadm_capture_state(self->source->recording, hw));
	return leave(self, ctx, ret);
}

static PyObject *rings(PyObject *object, PyObject *args)
{
	struct capture *self = (struct capture *)object;
	struct eadm_ctx *ctx;
	uint64_t max_bytes = 0;
	int ret;

	if (!PyArg_ParseTuple(args, "|O&:rings", py_u64, &max_bytes) || !(ctx = enter(self)))
		return NULL;
	UNLOCKED(ret, eadm_capture_rings(self->source->recording, max_bytes));
	return leave(self, ctx, ret);
}

static PyObject *limit(PyObject *object, PyObject *arg)
{
	struct capture *self = (struct capture *)object;
	struct eadm_ctx *ctx;
	uint64_t bytes;

	if (!py_u64(arg, &bytes) || !(ctx = enter(self)))
		return NULL;
	return leave(self, ctx, eadm_capture_limit(self->source->recording, bytes));
}

static PyObject *finish(struct capture *self, bool keep)
{
	struct eadm_ctx *ctx;
	int ret;

	if (!self->handle || !self->handle->opened)
		Py_RETURN_NONE;
	ctx = py_enter(self->source);
	if (!ctx)
		return NULL;
	ret = shut(self->source, keep);
	self->handle->opened = NULL;
	py_handle_drop(self->source, self->handle);
	self->handle = NULL;
	return leave(self, ctx, ret);
}

static PyObject *close_capture(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { "keep", NULL };
	int keep = 1;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:close", words, &keep))
		return NULL;
	return finish((struct capture *)self, keep);
}

/* The file is discarded if an exception ended the block. */
static PyObject *leave_block(PyObject *self, PyObject *args)
{
	PyObject *type, *value, *trace;

	if (!PyArg_ParseTuple(args, "OOO", &type, &value, &trace))
		return NULL;
	return finish((struct capture *)self, type == Py_None);
}

static PyObject *notes(PyObject *object, void *unused)
{
	struct capture *self = (struct capture *)object;
	struct eadm_note note = { .size = sizeof(note) };
	struct eadm_ctx *ctx = enter(self);
	PyObject *list;
	unsigned int i;

	(void)unused;
	if (!ctx)
		return NULL;
	list = PyList_New(0);
	for (i = 0; list && eadm_capture_note(self->source->recording, i, &note) > 0; i++)
		if (py_append(list, py_note(&note)))
			Py_CLEAR(list);
	py_leave(self->source);
	return list;
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((struct capture *)self)->source);
	return 0;
}

static void dealloc(PyObject *object)
{
	struct capture *self = (struct capture *)object;

	PyObject_GC_UnTrack(object);
	if (self->source)
		py_handle_drop(self->source, self->handle);
	Py_CLEAR(self->source);
	py_free(object);
}

#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
	{ "snapshot", KEYWORDS(snapshot), METH_VARARGS | METH_KEYWORDS,
	  "snapshot(*, hw=False, past=True): read all objects into the capture." },
	{ "rings", rings, METH_VARARGS,
	  "rings(max_bytes=0): copy the contents of queues into the capture." },
	{ "limit", limit, METH_O, "limit(bytes): keep only the newest snapshots; 0: no limit." },
	{ "close", KEYWORDS(close_capture), METH_VARARGS | METH_KEYWORDS,
	  "close(keep=True): finish or discard the capture." },
	{ "__enter__", py_self, METH_NOARGS, NULL },
	{ "__exit__", leave_block, METH_VARARGS, NULL },
	{ 0 },
};

static PyGetSetDef attributes[] = {
	{ "notes", notes, NULL, "requested data that is missing", NULL },
	{ 0 },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "A capture of all data that is read from its source while it is open." },
	{ Py_tp_new, py_no_new },
	{ Py_tp_dealloc, dealloc },
	{ Py_tp_traverse, traverse },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, attributes },
	{ 0 },
};

static PyType_Spec spec = {
	.name = "eadm._eadm.Capture",
	.basicsize = sizeof(struct capture),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = slots,
};

int py_capture_init(PyObject *module)
{
	return py_add_type(module, &spec, &capture_type);
}
