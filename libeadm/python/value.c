// SPDX-License-Identifier: LGPL-2.1-or-later
/* Python values: the exception, text, tuples, new objects. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "binding.h"

PyObject *py_error;

/* Raise an exception with the library's message about the last error of @ctx. */
PyObject *py_fail(const struct eadm_ctx *ctx, int error)
{
	const char *why = ctx ? eadm_errmsg(ctx) : "";
	PyObject *args;

	if (error == -ENOMEM)
		return PyErr_NoMemory();
	args = Py_BuildValue("(iN)", -error,
			     py_text(*why ? why : strerror(-error)));
	if (args) {
		PyErr_SetObject(py_error, args);
		Py_DECREF(args);
	}
	return NULL;
}

/* Names in kernel messages might not be valid UTF-8. */
PyObject *py_text(const char *text)
{
	if (!text)
		Py_RETURN_NONE;
	return PyUnicode_DecodeUTF8(text, strlen(text), "surrogateescape");
}

PyObject *py_utf8(PyObject *text)
{
	PyObject *utf8 = PyUnicode_AsUTF8String(text);
	char *bytes;

	/* Without a length, this function refuses NUL. */
	if (utf8 && PyBytes_AsStringAndSize(utf8, &bytes, NULL))
		Py_CLEAR(utf8);
	return utf8;
}

int py_u64(PyObject *number, void *value)
{
	PyObject *index = PyNumber_Index(number);

	if (!index)
		return 0;
	*(uint64_t *)value = PyLong_AsUnsignedLongLong(index);
	Py_DECREF(index);
	return !PyErr_Occurred();
}

int py_u32(PyObject *number, void *value)
{
	uint64_t u64;

	if (!py_u64(number, &u64))
		return 0;
	if (u64 > UINT32_MAX) {
		PyErr_SetString(PyExc_OverflowError, "the number exceeds 32 bits");
		return 0;
	}
	*(uint32_t *)value = u64;
	return 1;
}

PyObject *py_ref(PyObject *object)
{
	Py_INCREF(object);
	return object;
}

/* The module gets its own reference; the caller keeps its reference. */
int py_add(PyObject *module, const char *name, PyObject *object)
{
	int ret = PyModule_AddObject(module, name, py_ref(object));

	if (ret)
		Py_DECREF(object);
	return ret;
}

int py_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type)
{
	PyObject *made = PyType_FromSpec(spec);

	if (!made)
		return -1;
	*type = (PyTypeObject *)made;
	/* Use the name without the package. */
	return py_add(module, strrchr(spec->name, '.') + 1, made);
}

int py_find_type(const char *name, PyObject **type)
{
	PyObject *module = PyImport_ImportModule("eadm._types");

	if (!module)
		return -1;
	*type = PyObject_GetAttrString(module, name);
	Py_DECREF(module);
	return *type ? 0 : -1;
}

PyObject *py_struct(PyObject *type, int n, ...)
{
	PyObject *arguments = PyTuple_New(n), *self = NULL;
	bool complete = arguments;
	va_list values;
	int i;

	va_start(values, n);
	for (i = 0; i < n; i++) {
		PyObject *value = va_arg(values, PyObject *);

		complete = complete && value;
		if (arguments)
			PyTuple_SetItem(arguments, i, value);
		else
			Py_XDECREF(value);
	}
	va_end(values);
	if (complete)
		self = PyObject_CallObject(type, arguments);
	Py_XDECREF(arguments);
	return self;
}

int py_append(PyObject *list, PyObject *item)
{
	int ret = item ? PyList_Append(list, item) : -1;

	Py_XDECREF(item);
	return ret;
}

/* tp_new of types whose objects are made only by other objects. */
PyObject *py_no_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	(void)args;
	(void)kwargs;
	PyErr_Format(PyExc_TypeError, "cannot create an instance of %R", type);
	return NULL;
}

PyObject *py_new(PyTypeObject *type)
{
	allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);

	return alloc(type, 0);
}

void py_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

	release(self);
	Py_DECREF(type);
}

/* __enter__ and __iter__. */
PyObject *py_self(PyObject *self, PyObject *unused)
{
	(void)unused;
	return py_ref(self);
}
