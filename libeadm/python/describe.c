// SPDX-License-Identifier: LGPL-2.1-or-later
/* Descriptions: objects with their fields, families, rules. */
#include <errno.h>

#include "binding.h"

static PyObject *object_type, *field_type, *family_type, *rule_type;

const struct eadm_object *py_find_object(const char *name)
{
	const struct eadm_object *object = eadm_object_find(name);

	if (!object)
		PyErr_Format(PyExc_ValueError, "unknown object '%s'", name);
	return object;
}

bool py_field_value(const struct eadm_field *field, PyObject *name,
		    uint64_t *value)
{
	PyObject *utf8;
	int ret;

	if (PyLong_Check(name))
		return py_u64(name, value);
	if (!PyUnicode_Check(name)) {
		PyErr_SetString(PyExc_TypeError, "a name or a number is required");
		return false;
	}
	utf8 = py_utf8(name);
	if (!utf8)
		return false;
	ret = eadm_field_value_find(field, PyBytes_AsString(utf8), value);
	Py_DECREF(utf8);
	if (ret)
		PyErr_Format(PyExc_ValueError, "unknown %s '%U'",
			     eadm_field_name(field), name);
	return !ret;
}

/* ---- objects and fields -------------------------------------------------------------- */

static const char *const kinds[] = {
	[EADM_KIND_ID] = "id", [EADM_KIND_GAUGE] = "gauge",
	[EADM_KIND_COUNTER] = "counter", [EADM_KIND_STATE] = "state",
	[EADM_KIND_FLAGS] = "flags", [EADM_KIND_ADDRESS] = "address",
	[EADM_KIND_SECRET] = "secret", [EADM_KIND_TIME] = "time",
	[EADM_KIND_AGE] = "age", [EADM_KIND_NAME] = "name",
	[EADM_KIND_BYTES] = "bytes", [EADM_KIND_DATA] = "data",
};

static const char *const rights[] = {
	[EADM_PERM_NONE] = "none", [EADM_PERM_ADMIN] = "admin",
	[EADM_PERM_RAWIO] = "rawio",
};

/* Store @value, whose reference is taken, as @key; false with an exception. */
static bool put(PyObject *dict, const char *key, PyObject *value)
{
	int ret = value ? PyDict_SetItemString(dict, key, value) : -1;

	Py_XDECREF(value);
	return !ret;
}

static PyObject *names_of(const struct eadm_field *field)
{
	PyObject *names = PyDict_New();
	const char *name;
	unsigned int i;
	uint64_t value;

	for (i = 0; names && (name = eadm_field_value_at(field, i, &value)); i++)
		if (!put(names, name, PyLong_FromUnsignedLongLong(value)))
			Py_CLEAR(names);
	return names;
}

static PyObject *field_of(const struct eadm_field *field)
{
	return py_struct(field_type, 11, py_text(eadm_field_name(field)),
			 py_text(eadm_field_key(field)),
			 py_text(eadm_field_heading(field)),
			 py_text(eadm_field_help(field)),
			 py_text(eadm_field_unit(field)),
			 py_text(kinds[eadm_field_kind(field)]),
			 py_text(rights[eadm_field_perm(field)]),
			 PyBool_FromLong(eadm_field_is_hw(field)),
			 PyLong_FromUnsignedLong(eadm_field_bits(field)),
			 py_text(eadm_field_family(field)), names_of(field));
}

static PyObject *fields_of(const struct eadm_object *object)
{
	PyObject *fields = PyDict_New();
	const struct eadm_field *field;
	unsigned int i;

	for (i = 0; fields && i < eadm_object_fields(object); i++) {
		field = eadm_object_field(object, i);
		if (!put(fields, eadm_field_key(field), field_of(field)))
			Py_CLEAR(fields);
	}
	return fields;
}

PyObject *py_objects(PyObject *module, PyObject *unused)
{
	const struct eadm_object *object = NULL;
	PyObject *all = PyDict_New(), *one;

	(void)module;
	(void)unused;
	while (all && (object = eadm_object_next(object))) {
		const struct eadm_field *key = eadm_object_key(object);

		one = py_struct(object_type, 5, py_text(eadm_object_name(object)),
				py_text(eadm_object_title(object)),
				py_text(eadm_object_help(object)),
				py_text(key ? eadm_field_key(key) : NULL),
				fields_of(object));
		if (!put(all, eadm_object_name(object), one))
			Py_CLEAR(all);
	}
	return all;
}

/* ---- families ------------------------------------------------------------------------- */

static PyObject *words_of(const struct eadm_family *family,
			  const char *(*word)(const struct eadm_family *family,
					      unsigned int index))
{
	PyObject *list = PyList_New(0), *words = NULL;
	const char *name;
	unsigned int i;

	for (i = 0; list && (name = word(family, i)); i++)
		if (py_append(list, py_text(name)))
			Py_CLEAR(list);
	if (list)
		words = PyList_AsTuple(list);
	Py_XDECREF(list);
	return words;
}

static PyObject *pci_ids_of(const struct eadm_family *family)
{
	PyObject *list = PyList_New(0), *ids = NULL;
	uint16_t vendor, device;
	unsigned int i;

	for (i = 0; list && !eadm_family_pci_id(family, i, &vendor, &device); i++)
		if (py_append(list, Py_BuildValue("(HH)", vendor, device)))
			Py_CLEAR(list);
	if (list)
		ids = PyList_AsTuple(list);
	Py_XDECREF(list);
	return ids;
}

PyObject *py_families(PyObject *module, PyObject *unused)
{
	const struct eadm_family *family = NULL;
	PyObject *all = PyDict_New(), *one;

	(void)module;
	(void)unused;
	while (all && (family = eadm_family_next(family))) {
		one = py_struct(family_type, 6, py_text(eadm_family_name(family)),
				words_of(family, eadm_family_driver),
				words_of(family, eadm_family_module),
				py_text(eadm_family_provider(family)),
				PyBool_FromLong(eadm_family_has_companion(family)),
				pci_ids_of(family));
		if (!put(all, eadm_family_name(family), one))
			Py_CLEAR(all);
	}
	return all;
}

/* ---- rules -------------------------------------------------------------------------------- */

PyObject *py_rules(PyObject *module, PyObject *unused)
{
	PyObject *all = PyDict_New(), *one;
	const struct eadm_rule *rule = NULL;

	(void)module;
	(void)unused;
	while (all && (rule = eadm_rule_next(rule))) {
		one = py_struct(rule_type, 8, py_text(eadm_rule_name(rule)),
				py_text(eadm_rule_check_name(rule)),
				py_text(eadm_severity_name(eadm_rule_severity(rule))),
				py_text(eadm_object_name(eadm_rule_object(rule))),
				py_text(eadm_rule_help(rule)),
				py_text(eadm_rule_cause(rule)),
				py_text(eadm_rule_alike(rule)),
				PyLong_FromLong(eadm_rule_needs_two_snapshots(rule) ? 2 : 1));
		if (!put(all, eadm_rule_name(rule), one))
			Py_CLEAR(all);
	}
	return all;
}

int py_describe_init(PyObject *module)
{
	(void)module;
	if (py_find_type("Object", &object_type) ||
	    py_find_type("Field", &field_type) ||
	    py_find_type("Family", &family_type))
		return -1;
	return py_find_type("Rule", &rule_type);
}
