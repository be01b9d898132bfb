// SPDX-License-Identifier: LGPL-2.1-or-later
/* The module. */
#include "binding.h"

static PyObject *version(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return py_text(eadm_version());
}

static PyMethodDef functions[] = {
	{ "version", version, METH_NOARGS, "version() -> str: version of the library." },
	{ "objects", py_objects, METH_NOARGS,
	  "objects() -> dict: objects by name, with their fields." },
	{ "families", py_families, METH_NOARGS,
	  "families() -> dict: families of adapters, by name." },
	{ "rules", py_rules, METH_NOARGS,
	  "rules() -> dict: rules of a diagnosis, by name." },
	{ 0 },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "eadm._eadm",
	.m_doc = "The functions of libeadm, for the package eadm. Import that.",
	.m_size = -1,
	.m_methods = functions,
};

static int fill(PyObject *module)
{
	static int (*const parts[])(PyObject *) = {
		py_source_init, py_dump_init, py_note_init, py_record_init, py_stream_init,
		py_capture_init, py_redactor_init, py_diagnosis_init, py_bundle_init, py_describe_init,
	};
	size_t i;

	py_error = PyErr_NewExceptionWithDoc("eadm.Error",
		"An error of the library, with errno and a message in strerror.",
		PyExc_OSError, NULL);
	if (!py_error || py_add(module, "Error", py_error))
		return -1;
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i](module))
			return -1;
	return 0;
}

PyMODINIT_FUNC PyInit__eadm(void);
PyMODINIT_FUNC PyInit__eadm(void)
{
	PyObject *module = PyModule_Create(&definition);

	if (module && fill(module))
		Py_CLEAR(module);
	return module;
}
