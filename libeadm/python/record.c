// SPDX-License-Identifier: LGPL-2.1-or-later
/* A row: a mapping from field keys to values as in JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

struct record {
	PyObject_HEAD
	const struct eadm_object *object;
	struct eadm_record *row;
};

static PyTypeObject *record_type;

PyObject *py_record(const struct eadm_object *object,
		    const struct eadm_record *row)
{
	struct record *self = (struct record *)py_new(record_type);

	if (!self)
		return NULL;
	self->object = object;
	self->row = eadm_record_new(row);
	if (!self->row) {
		Py_DECREF(self);
		return PyErr_NoMemory();
	}
	return (PyObject *)self;
}

static void dealloc(PyObject *self)
{
	eadm_record_free(((struct record *)self)->row);
	py_free(self);
}

/* ---- values ----------------------------------------------------------------------- */

static PyObject *text_of(const struct record *r, const struct eadm_field *field)
{
	char small[256], *buf = small;
	int len = eadm_record_text(r->row, field, buf, sizeof(small));
	PyObject *text;

	if (len >= (int)sizeof(small)) {
		buf = malloc(len + 1);
		if (!buf)
			return PyErr_NoMemory();
		len = eadm_record_text(r->row, field, buf, len + 1);
	}
	text = len < 0 ? py_fail(NULL, len) : py_text(buf);
	if (buf != small)
		free(buf);
	return text;
}

/* Returns numbers and bytes unformatted. */
static PyObject *raw_of(const struct record *r, const struct eadm_field *field)
{
	const void *bytes;
	uint64_t u64;
	int64_t s64;
	size_t len;

	switch (eadm_field_type(field)) {
	case EADM_TYPE_U64:
		if (!eadm_record_u64(r->row, field, &u64))
			return PyLong_FromUnsignedLongLong(u64);
		break;
	case EADM_TYPE_S64:
		if (!eadm_record_s64(r->row, field, &s64))
			return PyLong_FromLongLong(s64);
		break;
	case EADM_TYPE_STRING:
		return py_text(eadm_record_string(r->row, field));
	case EADM_TYPE_BYTES:
		bytes = eadm_record_bytes(r->row, field, &len);
		if (bytes)
			return PyBytes_FromStringAndSize(bytes, len);
		break;
	}
	return py_fail(NULL, -ENODATA);
}

static PyObject *names_of(const struct eadm_field *field, uint64_t value)
{
	PyObject *list = PyList_New(0), *names = NULL;
	char text[64];
	unsigned int bit;

	for (bit = 0; list && bit < 64; bit++) {
		if (!(value >> bit & 1))
			continue;
		eadm_field_text(field, 1ULL << bit, text, sizeof(text));
		if (py_append(list, py_text(text)))
			Py_CLEAR(list);
	}
	if (list)
		names = PyList_AsTuple(list);
	Py_XDECREF(list);
	return names;
}

static PyObject *value_of(const struct record *r, const struct eadm_field *field)
{
	char text[20];
	uint64_t u64;

	if (eadm_field_type(field) != EADM_TYPE_U64 ||
	    eadm_record_u64(r->row, field, &u64))
		return eadm_field_type(field) == EADM_TYPE_BYTES ?
			       text_of(r, field) : raw_of(r, field);
	if (eadm_field_is_hex(field)) {
		snprintf(text, sizeof(text), "0x%" PRIx64, u64);
		return py_text(text);
	}
	if (!eadm_field_value_at(field, 0, NULL))
		return PyLong_FromUnsignedLongLong(u64);
	if (eadm_field_kind(field) == EADM_KIND_FLAGS)
		return names_of(field, u64);
	return text_of(r, field);
}

/*
 * Returns the field with a key; NULL with KeyError if it does not exist or has no
 * value.
 */
static const struct eadm_field *field_of(const struct record *r, PyObject *key)
{
	const struct eadm_field *field = NULL;
	PyObject *utf8 = PyUnicode_Check(key) ? py_utf8(key) : NULL;

	if (utf8)
		field = eadm_object_find_field(r->object, PyBytes_AsString(utf8));
	Py_XDECREF(utf8);
	if (field && eadm_record_has(r->row, field))
		return field;
	PyErr_SetObject(PyExc_KeyError, key);
	return NULL;
}

/* ---- the mapping --------------------------------------------------------------------- */

static PyObject *subscript(PyObject *self, PyObject *key)
{
	const struct record *r = (struct record *)self;
	const struct eadm_field *field = field_of(r, key);

	return field ? value_of(r, field) : NULL;
}

static PyObject *get(PyObject *self, PyObject *args)
{
	PyObject *key, *missing = Py_None, *value;

	if (!PyArg_ParseTuple(args, "O|O:get", &key, &missing))
		return NULL;
	value = subscript(self, key);
	if (!value && PyErr_ExceptionMatches(PyExc_KeyError)) {
		PyErr_Clear();
		value = py_ref(missing);
	}
	return value;
}

static PyObject *raw(PyObject *self, PyObject *key)
{
	const struct record *r = (struct record *)self;
	const struct eadm_field *field = field_of(r, key);

	return field ? raw_of(r, field) : NULL;
}

static PyObject *text(PyObject *self, PyObject *key)
{
	const struct record *r = (struct record *)self;
	const struct eadm_field *field = field_of(r, key);

	return field ? text_of(r, field) : NULL;
}

static int contains(PyObject *self, PyObject *key)
{
	if (field_of((struct record *)self, key))
		return 1;
	PyErr_Clear();
	return 0;
}

static Py_ssize_t length(PyObject *self)
{
	const struct record *r = (struct record *)self;
	const struct eadm_field *field = NULL;
	Py_ssize_t n = 0;

	while ((field = eadm_record_next(r->row, field)))
		n++;
	return n;
}

/* Returns a list with the result of @make for each field that has a value. */
static PyObject *each(const struct record *r,
		      PyObject *(*make)(const struct record *r,
					const struct eadm_field *field))
{
	const struct eadm_field *field = NULL;
	PyObject *list = PyList_New(0);

	while (list && (field = eadm_record_next(r->row, field)))
		if (py_append(list, make(r, field)))
			Py_CLEAR(list);
	return list;
}

static PyObject *key_of(const struct record *r, const struct eadm_field *field)
{
	(void)r;
	return py_text(eadm_field_key(field));
}

static PyObject *item_of(const struct record *r, const struct eadm_field *field)
{
	return Py_BuildValue("(NN)", key_of(r, field), value_of(r, field));
}

static PyObject *keys(PyObject *self, PyObject *unused)
{
	(void)unused;
	return each((struct record *)self, key_of);
}

static PyObject *values(PyObject *self, PyObject *unused)
{
	(void)unused;
	return each((struct record *)self, value_of);
}

static PyObject *items(PyObject *self, PyObject *unused)
{
	(void)unused;
	return each((struct record *)self, item_of);
}

static PyObject *iter(PyObject *self)
{
	PyObject *list = keys(self, NULL), *iterator = NULL;

	if (list)
		iterator = PyObject_GetIter(list);
	Py_XDECREF(list);
	return iterator;
}

/* Formats the row without secrets, because the text may end up in logs. */
static PyObject *repr(PyObject *self)
{
	const struct record *r = (struct record *)self;
	const struct eadm_field *field = NULL;
	PyObject *shown = PyDict_New(), *string = NULL;

	while (shown && (field = eadm_record_next(r->row, field))) {
		PyObject *value;

		if (eadm_field_kind(field) == EADM_KIND_SECRET)
			continue;
		value = value_of(r, field);
		if (!value || PyDict_SetItemString(shown, eadm_field_key(field), value))
			Py_CLEAR(shown);
		Py_XDECREF(value);
	}
	if (shown)
		string = PyUnicode_FromFormat("<eadm.Record %s %R>",
					      eadm_object_name(r->object), shown);
	Py_XDECREF(shown);
	return string;
}

/*
 * ---- values without a field -----------------------------------------------------------
 */

static PyObject *extras(PyObject *self, void *unused)
{
	const struct record *r = (struct record *)self;
	struct eadm_extra extra = { .size = sizeof(extra) };
	PyObject *all = PyDict_New(), *value, *name;
	unsigned int i;

	(void)unused;
	for (i = 0; all && eadm_record_extra(r->row, i, &extra) > 0; i++) {
		name = extra.name ? py_text(extra.name) :
				    PyUnicode_FromFormat("%u", extra.attr);
		value = extra.name ? PyLong_FromUnsignedLongLong(extra.value) :
				     PyBytes_FromStringAndSize(extra.data, extra.len);
		if (!name || !value || PyDict_SetItem(all, name, value))
			Py_CLEAR(all);
		Py_XDECREF(name);
		Py_XDECREF(value);
	}
	return all;
}

static PyObject *object_name(PyObject *self, void *unused)
{
	(void)unused;
	return py_text(eadm_object_name(((struct record *)self)->object));
}

static PyObject *when(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(
		eadm_record_time(((struct record *)self)->row));
}

static PyMethodDef methods[] = {
	{ "get", get, METH_VARARGS,
	  "get(key, default=None): the value, or the default if it is absent." },
	{ "raw", raw, METH_O, "raw(key): the number, even if [] returns a name or text." },
	{ "text", text, METH_O, "text(key) -> str: the value as text." },
	{ "keys", keys, METH_NOARGS, "keys() -> list: keys of the fields that have a value." },
	{ "values", values, METH_NOARGS, "values() -> list: values of these fields." },
	{ "items", items, METH_NOARGS, "items() -> list: pairs of keys and values." },
	{ 0 },
};

static PyGetSetDef attributes[] = {
	{ "object", object_name, NULL, "kind of the object, such as \"qp\"", NULL },
	{ "time", when, NULL, "time of arrival, in nanoseconds since 1970", NULL },
	{ "extras", extras, NULL, "values that have no field, by name", NULL },
	{ 0 },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "A row of a dump: a mapping whose keys are those of its fields." },
	{ Py_tp_new, py_no_new },
	{ Py_tp_dealloc, dealloc },
	{ Py_tp_repr, repr },
	{ Py_tp_iter, iter },
	{ Py_mp_subscript, subscript },
	{ Py_mp_length, length },
	{ Py_sq_contains, contains },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, attributes },
	{ 0 },
};

static PyType_Spec spec = {
	.name = "eadm._eadm.Record",
	.basicsize = sizeof(struct record),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};

int py_record_init(PyObject *module)
{
	return py_add_type(module, &spec, &record_type);
}
