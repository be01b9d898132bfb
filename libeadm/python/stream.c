// SPDX-License-Identifier: LGPL-2.1-or-later
/* Streams: an adapter's flight records, or events of all devices. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <time.h>

#include "binding.h"

/* The differences between the two. */
struct kind {
	const char *object;
	int (*fd)(const void *stream);
	int (*next)(void *stream, const struct eadm_record **record);
	uint64_t (*lost)(const void *stream);
};

struct stream {
	PyObject_HEAD
	const struct kind *kind;
	struct source *source;
	struct handle *handle;
};

static PyTypeObject *trace_type, *events_type;

/* ---- the two kinds ---------------------------------------------------------------------- */

static int trace_fd(const void *stream)
{
	return eadm_trace_fd(stream);
}

static int trace_next(void *stream, const struct eadm_record **record)
{
	return eadm_trace_next(stream, record);
}

static uint64_t trace_lost(const void *stream)
{
	return eadm_trace_lost(stream);
}

static void trace_close(void *stream)
{
	eadm_trace_close(stream);
}

static int events_fd(const void *stream)
{
	return eadm_events_fd(stream);
}

static int events_next(void *stream, const struct eadm_record **record)
{
	return eadm_events_next(stream, record);
}

static uint64_t events_lost(const void *stream)
{
	return eadm_events_lost(stream);
}

static void events_close(void *stream)
{
	eadm_events_close(stream);
}

static const struct kind trace_kind = { "cmd", trace_fd, trace_next, trace_lost };
static const struct kind events_kind = { "event", events_fd, events_next, events_lost };

/* Called with @source busy. */
static PyObject *make(PyTypeObject *type, const struct kind *kind,
		      PyObject *source, void *opened, void (*close)(void *opened))
{
	struct stream *self = (struct stream *)py_new(type);

	if (!self) {
		close(opened);
		return NULL;
	}
	self->kind = kind;
	self->source = (struct source *)py_ref(source);
	self->handle = py_handle(self->source, opened, close);
	if (!self->handle)
		Py_CLEAR(self);
	return (PyObject *)self;
}

PyObject *py_trace(PyObject *source, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { "device", "oldest", "min_latency", "op", NULL };
	struct eadm_trace_opts opts = { .size = sizeof(opts) };
	struct eadm_trace *trace = NULL;
	PyObject *op = Py_None, *self;
	struct eadm_ctx *ctx;
	const char *device;
	int oldest = 0, ret;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|$pO&O:trace", words,
					 &device, &oldest, py_u64, &opts.min_latency, &op))
		return NULL;
	opts.oldest = oldest;
	opts.has_op = op != Py_None;
	if (opts.has_op &&
	    !py_field_value(eadm_object_find_field(eadm_object_find("cmd"), "op"),
			    op, &opts.op))
		return NULL;
	ctx = py_enter((struct source *)source);
	if (!ctx)
		return NULL;
	UNLOCKED(ret, eadm_trace_open(ctx, device, &opts, &trace));
	self = ret ? py_fail(ctx, ret) :
		     make(trace_type, &trace_kind, source, trace, trace_close);
	py_leave((struct source *)source);
	return self;
}

PyObject *py_events(PyObject *source, PyObject *unused)
{
	struct eadm_ctx *ctx = py_enter((struct source *)source);
	struct eadm_events *events = NULL;
	PyObject *self;
	int ret;

	(void)unused;
	if (!ctx)
		return NULL;
	UNLOCKED(ret, eadm_events_open(ctx, &events));
	self = ret ? py_fail(ctx, ret) :
		     make(events_type, &events_kind, source, events, events_close);
	py_leave((struct source *)source);
	return self;
}

/* ---- reading ------------------------------------------------------------------------------ */

static void *opened(const struct stream *self)
{
	void *stream = self->handle ? self->handle->opened : NULL;

	if (!stream)
		PyErr_SetString(PyExc_ValueError, "the stream is closed");
	return stream;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Returns 1 if there may be data to read, 0 at the deadline, -1 with an exception. */
static int wait_for(int fd, double deadline)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	double left;
	int ret;

	for (;;) {
		left = isinf(deadline) ? -1 : fmin(ceil((deadline - now()) * 1000), 1e9);
		if (!isinf(deadline) && left <= 0)
			return 0;
		UNLOCKED(ret, poll(&poller, 1, left));
		if (ret > 0)
			return 1;
		if (ret < 0 && errno != EINTR) {
			PyErr_SetFromErrno(PyExc_OSError);
			return -1;
		}
		if (PyErr_CheckSignals())
			return -1;
	}
}

/*
 * Returns the next row; NULL without an exception if none arrives before the deadline.
 */
static PyObject *take(struct stream *self, double deadline)
{
	const struct eadm_record *row;
	PyObject *record = NULL;
	struct eadm_ctx *ctx;
	void *stream;
	int ret, fd;

	if (!opened(self) || !(ctx = py_enter(self->source)))
		return NULL;
	stream = self->handle->opened;
	do {
		UNLOCKED(ret, self->kind->next(stream, &row));
		fd = self->kind->fd(stream);
		/* In a capture, 0 means that there are no more rows. */
	} while (!ret && fd >= 0 && wait_for(fd, deadline) > 0);
	if (ret > 0)
		record = py_record(eadm_object_find(self->kind->object), row);
	else if (ret < 0)
		py_fail(ctx, ret);
	py_leave(self->source);
	return record;
}

static PyObject *next(PyObject *self)
{
	return take((struct stream *)self, INFINITY);
}

static PyObject *read_one(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { "timeout", NULL };
	double deadline = INFINITY;
	PyObject *timeout = Py_None, *record;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:read", words, &timeout))
		return NULL;
	if (timeout != Py_None)
		deadline = now() + PyFloat_AsDouble(timeout);
	if (PyErr_Occurred())
		return NULL;
	record = take((struct stream *)self, deadline);
	if (!record && !PyErr_Occurred())
		Py_RETURN_NONE;
	return record;
}

/* ---- the types ------------------------------------------------------------------------------ */

static PyObject *fileno_of(PyObject *object, PyObject *unused)
{
	struct stream *self = (struct stream *)object;
	void *stream = opened(self);

	(void)unused;
	return stream ? PyLong_FromLong(self->kind->fd(stream)) : NULL;
}

static PyObject *lost(PyObject *object, void *unused)
{
	struct stream *self = (struct stream *)object;
	void *stream = opened(self);

	(void)unused;
	return stream ? PyLong_FromUnsignedLongLong(self->kind->lost(stream)) : NULL;
}

static PyObject *close_stream(PyObject *object, PyObject *unused)
{
	struct stream *self = (struct stream *)object;

	(void)unused;
	if (self->handle && self->handle->opened) {
		if (!py_enter(self->source))
			return NULL;
		py_handle_drop(self->source, self->handle);
		self->handle = NULL;
		py_leave(self->source);
	}
	Py_RETURN_NONE;
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((struct stream *)self)->source);
	return 0;
}

static void dealloc(PyObject *object)
{
	struct stream *self = (struct stream *)object;

	PyObject_GC_UnTrack(object);
	if (self->source)
		py_handle_drop(self->source, self->handle);
	Py_CLEAR(self->source);
	py_free(object);
}

static PyMethodDef methods[] = {
	{ "read", (PyCFunction)(void (*)(void))read_one, METH_VARARGS | METH_KEYWORDS,
	  "read(timeout=None) -> Record | None: the next record; timeout in seconds." },
	{ "fileno", fileno_of, METH_NOARGS,
	  "fileno() -> int: descriptor to wait on; -1 for a capture." },
	{ "close", close_stream, METH_NOARGS, "close(): close the stream." },
	{ "__enter__", py_self, METH_NOARGS, NULL },
	{ "__exit__", close_stream, METH_VARARGS, NULL },
	{ 0 },
};

static PyGetSetDef attributes[] = {
	{ "lost", lost, NULL, "number of lost records", NULL },
	{ 0 },
};

#define SLOTS(doc)                                                         \
	{                                                                  \
		{ Py_tp_doc, (doc) }, { Py_tp_new, py_no_new }, { Py_tp_dealloc, dealloc }, \
		{ Py_tp_traverse, traverse }, { Py_tp_iter, PyObject_SelfIter }, \
		{ Py_tp_iternext, next }, { Py_tp_methods, methods },      \
		{ Py_tp_getset, attributes }, { 0 },                       \
	}

static PyType_Slot trace_slots[] =
	SLOTS("An iterator over the commands of an adapter; waits for the next one.");
static PyType_Slot events_slots[] =
	SLOTS("An iterator over events; waits for the next one, or ends after the last one of a capture.");

static PyType_Spec trace_spec = {
	.name = "eadm._eadm.Trace",
	.basicsize = sizeof(struct stream),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = trace_slots,
};

static PyType_Spec events_spec = {
	.name = "eadm._eadm.Events",
	.basicsize = sizeof(struct stream),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = events_slots,
};

int py_stream_init(PyObject *module)
{
	if (py_add_type(module, &trace_spec, &trace_type))
		return -1;
	return py_add_type(module, &events_spec, &events_type);
}
