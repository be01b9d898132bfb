// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading and writing bundles. Each bundle has its own context, which is not open. */
#include <errno.h>
#include <stdlib.h>

#include "binding.h"

struct bundle {
	PyObject_HEAD
	struct eadm_ctx *ctx;
	struct eadm_bundle *bundle;		/* NULL: closed */
	struct eadm_bundle_writer *writer;	/* NULL: closed */
	bool busy;
};

static PyTypeObject *bundle_type, *writer_type;
static PyObject *member_type;

static bool enter(struct bundle *self)
{
	if (self->busy)
		PyErr_SetString(PyExc_RuntimeError,
				"the bundle is in use by another thread");
	else if (!self->bundle && !self->writer)
		PyErr_SetString(PyExc_ValueError, "the bundle is closed");
	else
		return self->busy = true;
	return false;
}

static PyObject *leave(struct bundle *self, int ret)
{
	self->busy = false;
	if (ret)
		return py_fail(self->ctx, ret);
	Py_RETURN_NONE;
}

/* Prepares an object of either type: a context, and a path to open. */
static struct bundle *begin(PyTypeObject *type, PyObject *args, PyObject *kwargs,
			    PyObject **name)
{
	static char *words[] = { "path", NULL };
	struct bundle *self;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&", words,
					 PyUnicode_FSConverter, name))
		return NULL;
	self = (struct bundle *)py_new(type);
	if (self)
		self->ctx = eadm_new();
	if (self && self->ctx)
		return self;
	Py_DECREF(*name);
	Py_XDECREF(self);
	PyErr_NoMemory();
	return NULL;
}

static PyObject *open_end(struct bundle *self, PyObject *name, int ret)
{
	Py_DECREF(name);
	if (ret) {
		py_fail(self->ctx, ret);
		Py_CLEAR(self);
	}
	return (PyObject *)self;
}

static void dealloc(PyObject *object)
{
	struct bundle *self = (struct bundle *)object;

	eadm_bundle_close(self->bundle);
	if (self->writer)
		eadm_bundle_writer_close(self->writer, false);
	eadm_free(self->ctx);
	py_free(object);
}

/* ---- reading -------------------------------------------------------------------------------- */

static PyObject *new_bundle(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	PyObject *name;
	struct bundle *self = begin(type, args, kwargs, &name);
	const char *path;
	int ret;

	if (!self)
		return NULL;
	path = PyBytes_AsString(name);
	UNLOCKED(ret, eadm_bundle_open(self->ctx, path, &self->bundle));
	return open_end(self, name, ret);
}

static PyObject *next(PyObject *object)
{
	struct eadm_member member = { .size = sizeof(member) };
	struct bundle *self = (struct bundle *)object;
	PyObject *result = NULL;
	int ret;

	if (!enter(self))
		return NULL;
	UNLOCKED(ret, eadm_bundle_next(self->bundle, &member));
	if (ret > 0)
		result = py_struct(member_type, 2, py_text(member.name),
				   PyLong_FromUnsignedLongLong(member.len));
	self->busy = false;
	return ret < 0 ? py_fail(self->ctx, ret) : result;
}

#define PART 65536

static PyObject *read_rest(PyObject *object, PyObject *args)
{
	struct bundle *self = (struct bundle *)object;
	size_t len = 0, max = 0, want;
	char *data = NULL, *more;
	Py_ssize_t limit = -1;
	PyObject *result;
	long ret = 1;

	if (!PyArg_ParseTuple(args, "|n:read", &limit) || !enter(self))
		return NULL;
	while (ret > 0 && (limit < 0 || len < (size_t)limit)) {
		want = limit < 0 || limit - len > PART ? PART : limit - len;
		if (max - len < want) {
			max = 2 * max + want;
			more = realloc(data, max);
			if (!more) {
				ret = -ENOMEM;
				break;
			}
			data = more;
		}
		UNLOCKED(ret, eadm_bundle_read(self->bundle, data + len, want));
		if (ret > 0)
			len += ret;
	}
	self->busy = false;
	result = ret < 0 ? py_fail(self->ctx, ret) :
			   PyBytes_FromStringAndSize(data, len);
	free(data);
	return result;
}

static PyObject *digest(PyObject *object, PyObject *args)
{
	struct bundle *self = (struct bundle *)object;
	const char *name, *text;
	PyObject *result;

	if (!PyArg_ParseTuple(args, "s:digest", &name) || !enter(self))
		return NULL;
	text = eadm_bundle_digest(self->bundle, name);
	self->busy = false;
	result = text ? py_text(text) : NULL;
	if (!text)
		PyErr_Format(PyExc_KeyError, "'%s'", name);
	return result;
}

static PyObject *close_bundle(PyObject *object, PyObject *unused)
{
	struct bundle *self = (struct bundle *)object;

	(void)unused;
	if (!self->bundle)
		Py_RETURN_NONE;
	if (!enter(self))
		return NULL;
	eadm_bundle_close(self->bundle);
	self->bundle = NULL;
	return leave(self, 0);
}

/* ---- writing --------------------------------------------------------------------------------- */

static PyObject *new_writer(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	PyObject *name;
	struct bundle *self = begin(type, args, kwargs, &name);
	const char *path;
	int ret;

	if (!self)
		return NULL;
	path = PyBytes_AsString(name);
	UNLOCKED(ret, eadm_bundle_writer_open(self->ctx, path, &self->writer));
	return open_end(self, name, ret);
}

static PyObject *add(PyObject *object, PyObject *args)
{
	struct bundle *self = (struct bundle *)object;
	const char *name, *data;
	Py_ssize_t len;
	char sum[65];
	int ret;

	if (!PyArg_ParseTuple(args, "sy#:add", &name, &data, &len) || !enter(self))
		return NULL;
	UNLOCKED(ret, eadm_bundle_writer_add(self->writer, name, data, len, sum));
	self->busy = false;
	return ret ? py_fail(self->ctx, ret) : py_text(sum);
}

static PyObject *written(PyObject *object, void *unused)
{
	struct bundle *self = (struct bundle *)object;
	uint64_t size;

	(void)unused;
	if (!enter(self))
		return NULL;
	size = eadm_bundle_writer_size(self->writer);
	self->busy = false;
	return PyLong_FromUnsignedLongLong(size);
}

static PyObject *finish(struct bundle *self, bool keep)
{
	int ret;

	if (!self->writer)
		Py_RETURN_NONE;
	if (!enter(self))
		return NULL;
	UNLOCKED(ret, eadm_bundle_writer_close(self->writer, keep));
	self->writer = NULL;
	return leave(self, ret);
}

static PyObject *close_writer(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { "keep", NULL };
	int keep = 1;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:close", words, &keep))
		return NULL;
	return finish((struct bundle *)self, keep);
}

/* The file is discarded if an exception ended the block. */
static PyObject *leave_block(PyObject *self, PyObject *args)
{
	PyObject *type, *value, *trace;

	if (!PyArg_ParseTuple(args, "OOO", &type, &value, &trace))
		return NULL;
	return finish((struct bundle *)self, type == Py_None);
}

/* ---- the types ----------------------------------------------------------------------------------- */

static PyMethodDef bundle_methods[] = {
	{ "read", read_rest, METH_VARARGS, "read(size=-1) -> bytes: read the current member." },
	{ "digest", digest, METH_VARARGS,
	  "digest(name) -> str: SHA-256 digest of a member that was read." },
	{ "close", close_bundle, METH_NOARGS, "close(): close the bundle." },
	{ "__enter__", py_self, METH_NOARGS, NULL },
	{ "__exit__", close_bundle, METH_VARARGS, NULL },
	{ 0 },
};

static PyMethodDef writer_methods[] = {
	{ "add", add, METH_VARARGS,
	  "add(name, data) -> str: add a member; return its SHA-256 digest." },
	{ "close", (PyCFunction)(void (*)(void))close_writer, METH_VARARGS | METH_KEYWORDS,
	  "close(keep=True): finish or discard the bundle." },
	{ "__enter__", py_self, METH_NOARGS, NULL },
	{ "__exit__", leave_block, METH_VARARGS, NULL },
	{ 0 },
};

static PyGetSetDef writer_attributes[] = {
	{ "size", written, NULL, "bytes added so far", NULL },
	{ 0 },
};

static PyType_Slot bundle_slots[] = {
	{ Py_tp_doc, "Bundle(path)\n--\n\nAn iterator over the members of a bundle; "
		     "reaching its end verifies the bundle." },
	{ Py_tp_new, new_bundle },
	{ Py_tp_dealloc, dealloc },
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, next },
	{ Py_tp_methods, bundle_methods },
	{ 0 },
};

static PyType_Slot writer_slots[] = {
	{ Py_tp_doc, "BundleWriter(path)\n--\n\nA bundle being written." },
	{ Py_tp_new, new_writer },
	{ Py_tp_dealloc, dealloc },
	{ Py_tp_methods, writer_methods },
	{ Py_tp_getset, writer_attributes },
	{ 0 },
};

static PyType_Spec bundle_spec = {
	.name = "eadm._eadm.Bundle",
	.basicsize = sizeof(struct bundle),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = bundle_slots,
};

static PyType_Spec writer_spec = {
	.name = "eadm._eadm.BundleWriter",
	.basicsize = sizeof(struct bundle),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = writer_slots,
};

int py_bundle_init(PyObject *module)
{
	if (py_find_type("Member", &member_type) ||
	    py_add_type(module, &bundle_spec, &bundle_type))
		return -1;
	return py_add_type(module, &writer_spec, &writer_type);
}
