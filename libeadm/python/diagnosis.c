// SPDX-License-Identifier: LGPL-2.1-or-later
/* A diagnosis: snapshots of a source, and verdicts about them. */
#include <errno.h>

#include "binding.h"

struct diagnosis {
	PyObject_HEAD
	struct eadm_diagnosis *d;
	bool busy;
};

static PyTypeObject *diagnosis_type;
static PyObject *verdict_type, *evidence_type, *consequence_type, *gap_type;

/* ---- one thread at a time -------------------------------------------------------------- */

static bool enter(struct diagnosis *self)
{
	if (self->busy) {
		PyErr_SetString(PyExc_RuntimeError,
				"the diagnosis is in use by another thread");
		return false;
	}
	self->busy = true;
	return true;
}

static void leave(struct diagnosis *self)
{
	self->busy = false;
}

static PyObject *new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { NULL };
	struct diagnosis *self;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, ":Diagnosis", words))
		return NULL;
	self = (struct diagnosis *)py_new(type);
	if (!self)
		return NULL;
	self->d = eadm_diagnosis_new();
	if (self->d)
		return (PyObject *)self;
	Py_DECREF(self);
	return PyErr_NoMemory();
}

static void dealloc(PyObject *self)
{
	eadm_diagnosis_free(((struct diagnosis *)self)->d);
	py_free(self);
}

static PyObject *sample(PyObject *object, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { "source", "hw", "more", "extend", "setup", "state",
				 "device", NULL };
	struct eadm_sample_opts opts = { .size = sizeof(opts) };
	int hw = 1, more = 0, extend = 0, setup = 0, state = 1, ret;
	struct diagnosis *self = (struct diagnosis *)object;
	struct source *source;
	struct eadm_ctx *ctx;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|$pppppz:sample", words,
					 py_source_type, &source, &hw, &more, &extend,
					 &setup, &state, &opts.device))
		return NULL;
	opts.hw = hw;
	opts.more = more;
	opts.extend = extend;
	opts.groups = (setup ? EADM_GROUP_SETUP : 0) | (state ? EADM_GROUP_STATE : 0);
	if (!opts.groups) {
		PyErr_SetString(PyExc_ValueError, "at least one of state and setup is required");
		return NULL;
	}
	if (!enter(self))
		return NULL;
	ctx = py_enter_alone(source);
	if (!ctx) {
		leave(self);
		return NULL;
	}
	UNLOCKED(ret, eadm_diagnosis_sample(self->d, ctx, &opts));
	py_leave(source);
	leave(self);
	if (ret)
		return py_fail(ctx, ret);
	Py_RETURN_NONE;
}

/* ---- results --------------------------------------------------------------------------------- */

static PyObject *number_if(bool there, uint64_t number)
{
	return there ? PyLong_FromUnsignedLongLong(number) : py_ref(Py_None);
}

static PyObject *all_evidence(const struct eadm_diagnosis *d, unsigned int verdict)
{
	struct eadm_evidence e = { .size = sizeof(e) };
	PyObject *list = PyList_New(0);
	unsigned int i;

	for (i = 0; list && eadm_diagnosis_evidence(d, verdict, i, &e) > 0; i++)
		if (py_append(list, py_struct(evidence_type, 5, py_text(e.object),
					      PyLong_FromUnsignedLongLong(e.id),
					      py_text(e.name), py_text(e.text),
					      number_if(e.is_number, e.number))))
			Py_CLEAR(list);
	return list;
}

static PyObject *all_consequences(const struct eadm_diagnosis *d,
				  unsigned int verdict)
{
	struct eadm_consequence c = { .size = sizeof(c) };
	PyObject *list = PyList_New(0);
	unsigned int i;

	for (i = 0; list && eadm_diagnosis_consequence(d, verdict, i, &c) > 0; i++)
		if (py_append(list, py_struct(consequence_type, 6, py_text(c.device),
					      py_text(c.object), number_if(c.has_id, c.id),
					      number_if(c.pid, c.pid), py_text(c.comm),
					      py_text(c.finding))))
			Py_CLEAR(list);
	return list;
}

/* Making each list runs Python code, which must not be called with an exception set. */
static PyObject *verdict_of(const struct eadm_diagnosis *d, unsigned int index,
			    const struct eadm_verdict *v)
{
	PyObject *evidence = all_evidence(d, index), *consequences;

	if (!evidence)
		return NULL;
	consequences = all_consequences(d, index);
	if (!consequences) {
		Py_DECREF(evidence);
		return NULL;
	}
	return py_struct(verdict_type, 12, py_text(eadm_rule_name(v->rule)),
			 py_text(eadm_severity_name(v->severity)), py_text(v->device),
			 py_text(v->object), number_if(v->has_id, v->id),
			 number_if(v->pid, v->pid), py_text(v->comm), py_text(v->finding),
			 py_text(v->cause), py_text(v->next), evidence, consequences);
}

static PyObject *evaluate(PyObject *object, PyObject *unused)
{
	struct diagnosis *self = (struct diagnosis *)object;
	struct eadm_verdict v = { .size = sizeof(v) };
	PyObject *list = NULL;
	unsigned int i;
	int ret;

	(void)unused;
	if (!enter(self))
		return NULL;
	UNLOCKED(ret, eadm_diagnosis_evaluate(self->d));
	if (ret >= 0)
		list = PyList_New(0);
	for (i = 0; list && eadm_diagnosis_verdict(self->d, i, &v) > 0; i++)
		if (py_append(list, verdict_of(self->d, i, &v)))
			Py_CLEAR(list);
	leave(self);
	return ret < 0 ? py_fail(NULL, ret) : list;
}

static PyObject *gaps(PyObject *object, void *unused)
{
	struct diagnosis *self = (struct diagnosis *)object;
	struct eadm_gap g = { .size = sizeof(g) };
	PyObject *list;
	unsigned int i;

	(void)unused;
	if (!enter(self))
		return NULL;
	list = PyList_New(0);
	for (i = 0; list && eadm_diagnosis_gap(self->d, i, &g) > 0; i++)
		if (py_append(list, py_struct(gap_type, 6, py_text(g.device), py_text(g.reason),
					      PyLong_FromUnsignedLong(g.count),
					      PyLong_FromUnsignedLong(g.of), py_text(g.why),
					      py_text(g.remedy))))
			Py_CLEAR(list);
	leave(self);
	return list;
}

static PyObject *notes(PyObject *object, void *unused)
{
	struct diagnosis *self = (struct diagnosis *)object;
	struct eadm_note note = { .size = sizeof(note) };
	PyObject *list;
	unsigned int i;

	(void)unused;
	if (!enter(self))
		return NULL;
	list = PyList_New(0);
	for (i = 0; list && eadm_diagnosis_note(self->d, i, &note) > 0; i++)
		if (py_append(list, py_note(&note)))
			Py_CLEAR(list);
	leave(self);
	return list;
}

static PyObject *in_doubt(PyObject *object, void *unused)
{
	struct diagnosis *self = (struct diagnosis *)object;
	bool doubt;

	(void)unused;
	if (!enter(self))
		return NULL;
	doubt = eadm_diagnosis_in_doubt(self->d);
	leave(self);
	return PyBool_FromLong(doubt);
}

static PyObject *interval(PyObject *object, void *unused)
{
	struct diagnosis *self = (struct diagnosis *)object;
	uint64_t ns;

	(void)unused;
	if (!enter(self))
		return NULL;
	ns = eadm_diagnosis_interval(self->d);
	leave(self);
	return PyFloat_FromDouble(ns / 1e9);
}

static PyMethodDef methods[] = {
	{ "sample", (PyCFunction)(void (*)(void))sample, METH_VARARGS | METH_KEYWORDS,
	  "sample(source, *, ...): read a snapshot." },
	{ "evaluate", evaluate, METH_NOARGS,
	  "evaluate() -> list: verdicts about the last two snapshots, worst first." },
	{ 0 },
};

static PyGetSetDef attributes[] = {
	{ "in_doubt", in_doubt, NULL, "True if a longer interval makes the verdicts more certain", NULL },
	{ "interval", interval, NULL, "seconds between the two snapshots", NULL },
	{ "gaps", gaps, NULL, "rules that could not be applied", NULL },
	{ "notes", notes, NULL, "data that could not be read", NULL },
	{ 0 },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "Diagnosis()\n--\n\nSnapshots of a source, and verdicts about them." },
	{ Py_tp_new, new },
	{ Py_tp_dealloc, dealloc },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, attributes },
	{ 0 },
};

static PyType_Spec spec = {
	.name = "eadm._eadm.Diagnosis",
	.basicsize = sizeof(struct diagnosis),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};

int py_diagnosis_init(PyObject *module)
{
	if (py_find_type("Verdict", &verdict_type) ||
	    py_find_type("Evidence", &evidence_type) ||
	    py_find_type("Consequence", &consequence_type) ||
	    py_find_type("Gap", &gap_type))
		return -1;
	return py_add_type(module, &spec, &diagnosis_type);
}
