// SPDX-License-Identifier: LGPL-2.1-or-later
/* Notes about data missing from a result. */
#include "binding.h"

static PyObject *note_type;

PyObject *py_note(const struct eadm_note *note)
{
	/* Without a reason, the remaining members are meaningless. */
	const char *remedy = note->reason ? note->remedy : NULL;

	return py_struct(note_type, 8, PyLong_FromLong(-note->error),
			 py_text(note->device), py_text(note->what),
			 py_text(note->why), py_text(note->reason), py_text(remedy),
			 PyLong_FromUnsignedLong(note->reason ? note->count : 0),
			 PyLong_FromUnsignedLong(note->reason ? note->of : 0));
}

int py_note_init(PyObject *module)
{
	(void)module;
	return py_find_type("Note", &note_type);
}
