// SPDX-License-Identifier: LGPL-2.1-or-later
/* A dump: an iterator of rows, and at the end notes about missing data. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "binding.h"

struct dump {
	PyObject_HEAD
	struct source *source;
	const struct eadm_object *object;
	struct handle *handle;		/* NULL: ended or closed */
	PyObject *notes;
	bool inconsistent;
};

static PyTypeObject *dump_type;

static void close_handle(void *opened)
{
	eadm_dump_close(opened);
}

static struct eadm_dump *opened(const struct dump *self)
{
	return self->handle ? self->handle->opened : NULL;
}

static PyObject *notes_of(struct eadm_dump *dump)
{
	struct eadm_note note = { .size = sizeof(note) };
	PyObject *list = PyList_New(0);
	unsigned int i;

	for (i = 0; list && eadm_dump_note(dump, i, &note) > 0; i++)
		if (py_append(list, py_note(&note)))
			Py_CLEAR(list);
	return list;
}

/*
 * Keep the notes and the consistency, which are known at the end, and close the dump.
 */
static void finish(struct dump *self)
{
	struct eadm_dump *dump = opened(self);

	if (dump && !self->notes) {
		self->notes = notes_of(dump);
		self->inconsistent = eadm_dump_inconsistent(dump);
	}
	py_handle_drop(self->source, self->handle);
	self->handle = NULL;
}

static PyObject *next(PyObject *object)
{
	struct dump *self = (struct dump *)object;
	const struct eadm_record *row;
	PyObject *record = NULL;
	struct eadm_ctx *ctx;
	struct eadm_dump *dump;
	int ret;

	if (!self->handle || !(ctx = py_enter(self->source)))
		return NULL;
	dump = opened(self);
	UNLOCKED(ret, eadm_dump_next(dump, &row));
	if (ret > 0)
		record = py_record(self->object, row);
	else if (ret < 0)
		py_fail(ctx, ret);
	if (ret <= 0) {
		PyObject *type, *value, *trace;

		PyErr_Fetch(&type, &value, &trace);
		finish(self);
		PyErr_Restore(type, value, trace);
	}
	py_leave(self->source);
	return record;
}

/* ---- options ------------------------------------------------------------------------- */

static bool set_number(PyObject *value, bool *has, uint64_t *number)
{
	if (value == Py_None)
		return true;
	*has = true;
	return py_u64(value, number);
}

static bool set_states(const struct eadm_object *object, PyObject *names,
		       uint64_t *states)
{
	const struct eadm_field *field = eadm_object_find_field(object, "state");
	PyObject *iterator, *name;
	uint64_t value;

	if (names == Py_None)
		return true;
	if (!field || !(iterator = PyObject_GetIter(names))) {
		if (!field)
			PyErr_SetString(PyExc_ValueError, "the object has no field 'state'");
		return false;
	}
	while ((name = PyIter_Next(iterator))) {
		bool found = py_field_value(field, name, &value);

		Py_DECREF(name);
		if (!found)
			break;
		if (value > 63) {
			PyErr_SetString(PyExc_ValueError, "unknown state");
			break;
		}
		*states |= 1ULL << value;
	}
	Py_DECREF(iterator);
	return !PyErr_Occurred();
}

/* Returns the position of @name in @names, from 1; 0 for NULL; -1 with an exception. */
static int choice(const char *what, const char *name, const char *const *names)
{
	int i;

	for (i = 0; name && names[i]; i++)
		if (!strcmp(name, names[i]))
			return i + 1;
	if (!name)
		return 0;
	PyErr_Format(PyExc_ValueError, "unknown %s '%s'", what, name);
	return -1;
}

static bool set_entries(struct eadm_entry_opts *entries, const char *hwctx,
			const char *around, PyObject *positions)
{
	static const char *const contexts[] = { "qp", "cq", "eq", NULL };
	static const char *const indices[] = { "pi", "ci", NULL };
	int context = choice("context", hwctx, contexts);
	int index = choice("index", around, indices);

	if (context < 0 || index < 0)
		return false;
	entries->hwctx = context;
	entries->around = index;
	if (positions == Py_None)
		return true;
	entries->has_range = true;
	if (!PyTuple_Check(positions)) {
		PyErr_SetString(PyExc_TypeError, "positions must be a pair of numbers");
		return false;
	}
	return PyArg_ParseTuple(positions, "O&O&", py_u32, &entries->first, py_u32,
				&entries->last);
}

/* The arguments: rows and objects to read. */
struct wish {
	const char *object, *hwctx, *around;
	PyObject *id, *start, *states, *positions;
	int hw, original, limits, setup, payload;
	struct eadm_entry_opts entries;
	struct eadm_command_opts commands;
	struct eadm_dump_opts opts;
};

static const struct eadm_object *parse(struct wish *w, PyObject *args,
				       PyObject *kwargs)
{
	static char *words[] = {
		"object", "device", "id", "hw", "start", "states", "min_latency", "name",
		"original", "limits", "setup", "hwctx", "around", "positions", "part", "payload", NULL,
	};
	const struct eadm_object *object;

	if (!PyArg_ParseTupleAndKeywords(
		    args, kwargs, "s|$zOpOOO&zpppzzOO&p:dump", words, &w->object, &w->opts.device,
		    &w->id, &w->hw, &w->start, &w->states, py_u64,
		    &w->commands.min_latency, &w->opts.name, &w->original, &w->limits, &w->setup,
		    &w->hwctx, &w->around, &w->positions, py_u32, &w->entries.sub, &w->payload))
		return NULL;
	object = py_find_object(w->object);
	if (!object || !set_number(w->id, &w->opts.has_id, &w->opts.id) ||
	    !set_number(w->start, &w->commands.has_from, &w->commands.from) ||
	    !set_states(object, w->states, &w->commands.states) ||
	    !set_entries(&w->entries, w->hwctx, w->around, w->positions))
		return NULL;
	w->opts.hw = w->hw;
	w->opts.original = w->original;
	w->opts.limits = w->limits;
	w->opts.setup = w->setup;
	/*
	 * Pass the selection for any object: the library rejects it if the object is
	 * not "cmd".
	 */
	if (w->commands.has_from || w->commands.states || w->commands.min_latency)
		w->opts.commands = &w->commands;
	w->entries.payload = w->payload;
	if (eadm_object_class(object) == EADM_CLASS_ENTRIES)
		w->opts.entries = &w->entries;
	return object;
}

/* Called with @source busy. */
static PyObject *make(PyObject *source, const struct eadm_object *object,
		      struct eadm_dump *dump)
{
	struct dump *self = (struct dump *)py_new(dump_type);

	if (!self) {
		eadm_dump_close(dump);
		return NULL;
	}
	self->object = object;
	self->source = (struct source *)py_ref(source);
	self->handle = py_handle(self->source, dump, close_handle);
	if (self->handle)
		self->handle->dump = true;
	else
		Py_CLEAR(self);
	return (PyObject *)self;
}

PyObject *py_dump(PyObject *source, PyObject *args, PyObject *kwargs)
{
	struct wish w = {
		.id = Py_None, .start = Py_None, .states = Py_None, .positions = Py_None,
		.entries.size = sizeof(w.entries), .commands.size = sizeof(w.commands),
		.opts.size = sizeof(w.opts),
	};
	const struct eadm_object *object = parse(&w, args, kwargs);
	struct eadm_dump *dump = NULL;
	struct eadm_ctx *ctx;
	PyObject *self;
	int ret;

	if (!object || !(ctx = py_enter((struct source *)source)))
		return NULL;
	UNLOCKED(ret, eadm_dump_open(ctx, object, &w.opts, &dump));
	self = ret ? py_fail(ctx, ret) : make(source, object, dump);
	py_leave((struct source *)source);
	return self;
}

/* ---- the type --------------------------------------------------------------------------- */

static PyObject *close_dump(PyObject *object, PyObject *unused)
{
	struct dump *self = (struct dump *)object;

	(void)unused;
	if (!self->handle)
		Py_RETURN_NONE;
	if (opened(self)) {
		if (!py_enter(self->source))
			return NULL;
		finish(self);
		py_leave(self->source);
	}
	PyErr_Clear();
	Py_RETURN_NONE;
}

static PyObject *notes(PyObject *object, void *unused)
{
	struct dump *self = (struct dump *)object;
	PyObject *list;

	(void)unused;
	if (self->notes)
		return PyList_GetSlice(self->notes, 0, PY_SSIZE_T_MAX);
	if (!opened(self))
		return PyList_New(0);
	if (!py_enter(self->source))
		return NULL;
	list = notes_of(opened(self));
	py_leave(self->source);
	return list;
}

static PyObject *inconsistent(PyObject *object, void *unused)
{
	(void)unused;
	return PyBool_FromLong(((struct dump *)object)->inconsistent);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((struct dump *)self)->source);
	return 0;
}

/* There is no tp_clear: the handle needs the source until the end. */
static void dealloc(PyObject *object)
{
	struct dump *self = (struct dump *)object;

	PyObject_GC_UnTrack(object);
	if (self->source)
		py_handle_drop(self->source, self->handle);
	Py_CLEAR(self->source);
	Py_CLEAR(self->notes);
	py_free(object);
}

static PyMethodDef methods[] = {
	{ "close", close_dump, METH_NOARGS, "close(): end the dump early." },
	{ "__enter__", py_self, METH_NOARGS, NULL },
	{ "__exit__", close_dump, METH_VARARGS, NULL },
	{ 0 },
};

static PyGetSetDef attributes[] = {
	{ "notes", notes, NULL, "missing data; complete at the end", NULL },
	{ "inconsistent", inconsistent, NULL,
	  "True if objects appeared or vanished during the dump; known at the end", NULL },
	{ 0 },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "An iterator over the rows of an object." },
	{ Py_tp_new, py_no_new },
	{ Py_tp_dealloc, dealloc },
	{ Py_tp_traverse, traverse },
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, next },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, attributes },
	{ 0 },
};

static PyType_Spec spec = {
	.name = "eadm._eadm.Dump",
	.basicsize = sizeof(struct dump),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = slots,
};

int py_dump_init(PyObject *module)
{
	return py_add_type(module, &spec, &dump_type);
}
