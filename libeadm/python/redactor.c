// SPDX-License-Identifier: LGPL-2.1-or-later
/* Redaction: names and addresses become pseudonyms. */
#include <stdlib.h>

#include "binding.h"

struct redactor {
	PyObject_HEAD
	struct source *source;
	struct handle *handle;
};

static PyTypeObject *redactor_type;
static PyObject *counts_type;

static void close_redactor(void *opened)
{
	eadm_redactor_close(opened);
}

/* Called with @source busy. */
static PyObject *make(PyObject *source, struct eadm_redactor *redactor)
{
	struct redactor *self = (struct redactor *)py_new(redactor_type);

	if (!self) {
		eadm_redactor_close(redactor);
		return NULL;
	}
	self->source = (struct source *)py_ref(source);
	self->handle = py_handle(self->source, redactor, close_redactor);
	if (!self->handle)
		Py_CLEAR(self);
	return (PyObject *)self;
}

PyObject *py_redactor(PyObject *source, PyObject *key)
{
	struct eadm_redactor *redactor = NULL;
	struct eadm_ctx *ctx;
	PyObject *self;
	Py_ssize_t len;
	char *bytes;
	int ret;

	if (PyBytes_AsStringAndSize(key, &bytes, &len) ||
	    !(ctx = py_enter((struct source *)source)))
		return NULL;
	ret = eadm_redactor_open(ctx, bytes, len, &redactor);
	self = ret ? py_fail(ctx, ret) : make(source, redactor);
	py_leave((struct source *)source);
	return self;
}

struct eadm_redactor *py_redactor_of(PyObject *object, struct source *source)
{
	struct redactor *self = (struct redactor *)object;

	if (!PyObject_TypeCheck(object, redactor_type) || self->source != source) {
		PyErr_SetString(PyExc_TypeError, "a redactor of this source is required");
		return NULL;
	}
	if (!self->handle->opened)
		PyErr_SetString(PyExc_ValueError, "the source is closed");
	return self->handle->opened;
}

static PyObject *learn(PyObject *object, PyObject *name,
		       int (*add)(struct eadm_redactor *redactor, const char *name))
{
	struct redactor *self = (struct redactor *)object;
	struct eadm_ctx *ctx;
	PyObject *utf8;
	int ret;

	if (!PyUnicode_Check(name)) {
		PyErr_SetString(PyExc_TypeError, "a name is required");
		return NULL;
	}
	utf8 = py_utf8(name);
	if (!utf8)
		return NULL;
	ctx = py_enter(self->source);
	if (!ctx) {
		Py_DECREF(utf8);
		return NULL;
	}
	ret = add(self->handle->opened, PyBytes_AsString(utf8));
	py_leave(self->source);
	Py_DECREF(utf8);
	if (ret)
		return py_fail(ctx, ret);
	Py_RETURN_NONE;
}

static PyObject *host(PyObject *self, PyObject *name)
{
	return learn(self, name, eadm_redactor_host);
}

static PyObject *process(PyObject *self, PyObject *name)
{
	return learn(self, name, eadm_redactor_process);
}

static PyObject *redact(PyObject *object, PyObject *arg, __typeof__(eadm_redactor_text) *fn)
{
	struct redactor *self = (struct redactor *)object;
	PyObject *utf8, *result = NULL;
	struct eadm_ctx *ctx;
	Py_ssize_t len;
	char *bytes, *out;
	size_t out_len;
	int ret;

	if (!PyUnicode_Check(arg)) {
		PyErr_SetString(PyExc_TypeError, "text is required");
		return NULL;
	}
	utf8 = PyUnicode_AsEncodedString(arg, "utf-8", "surrogateescape");
	if (!utf8)
		return NULL;
	PyBytes_AsStringAndSize(utf8, &bytes, &len);
	ctx = py_enter(self->source);
	if (ctx) {
		UNLOCKED(ret, fn(self->handle->opened, bytes, len, &out, &out_len));
		py_leave(self->source);
		if (ret) {
			py_fail(ctx, ret);
		} else {
			result = PyUnicode_DecodeUTF8(out, out_len, "surrogateescape");
			free(out);
		}
	}
	Py_DECREF(utf8);
	return result;
}

static PyObject *text(PyObject *self, PyObject *arg)
{
	return redact(self, arg, eadm_redactor_text);
}

static PyObject *facts(PyObject *self, PyObject *arg)
{
	return redact(self, arg, eadm_redactor_facts);
}

static PyObject *counts(PyObject *object, void *unused)
{
	struct eadm_redaction n = { .size = sizeof(n) };
	struct redactor *self = (struct redactor *)object;

	(void)unused;
	if (!py_enter(self->source))
		return NULL;
	eadm_redactor_counts(self->handle->opened, &n);
	py_leave(self->source);
	return py_struct(counts_type, 8, PyLong_FromUnsignedLongLong(n.ipv4),
			 PyLong_FromUnsignedLongLong(n.ipv6),
			 PyLong_FromUnsignedLongLong(n.macs),
			 PyLong_FromUnsignedLongLong(n.guids),
			 PyLong_FromUnsignedLongLong(n.hosts),
			 PyLong_FromUnsignedLongLong(n.processes),
			 PyLong_FromUnsignedLongLong(n.secrets),
			 PyLong_FromUnsignedLongLong(n.dropped));
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((struct redactor *)self)->source);
	return 0;
}

static void dealloc(PyObject *object)
{
	struct redactor *self = (struct redactor *)object;

	PyObject_GC_UnTrack(object);
	if (self->source)
		py_handle_drop(self->source, self->handle);
	Py_CLEAR(self->source);
	py_free(object);
}

static PyMethodDef methods[] = {
	{ "host", host, METH_O, "host(name): add a host name to be replaced." },
	{ "process", process, METH_O, "process(name): add a process name to be replaced." },
	{ "text", text, METH_O, "text(text) -> str: return the redacted text." },
	{ "facts", facts, METH_O,
	  "facts(text) -> str: return redacted lines PATH: VALUE, in which words are not names." },
	{ 0 },
};

static PyGetSetDef attributes[] = {
	{ "counts", counts, NULL, "numbers of replacements so far", NULL },
	{ 0 },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "Replaces names and addresses with pseudonyms." },
	{ Py_tp_new, py_no_new },
	{ Py_tp_dealloc, dealloc },
	{ Py_tp_traverse, traverse },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, attributes },
	{ 0 },
};

static PyType_Spec spec = {
	.name = "eadm._eadm.Redactor",
	.basicsize = sizeof(struct redactor),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = slots,
};

int py_redactor_init(PyObject *module)
{
	if (py_find_type("Redaction", &counts_type))
		return -1;
	return py_add_type(module, &spec, &redactor_type);
}
