// SPDX-License-Identifier: LGPL-2.1-or-later
/* The context of a source: one thread at a time, and the handles opened on it. */
#include <stdlib.h>

#include "binding.h"

static struct handle *unlink_dropped(struct source *source)
{
	struct handle **at, *handle;

	for (at = &source->handles; (handle = *at); at = &handle->next)
		if (handle->dropped) {
			*at = handle->next;
			break;
		}
	return handle;
}

/*
 * Closes handles whose objects are gone; closing one may drop another, and may release
 * the GIL: the source must be busy.
 */
static void reap(struct source *source)
{
	struct handle *handle;

	while ((handle = unlink_dropped(source))) {
		if (handle->opened)
			handle->close(handle->opened);
		free(handle);
	}
}

struct eadm_ctx *py_enter(struct source *source)
{
	if (!source->ctx) {
		PyErr_SetString(PyExc_ValueError, "the source is closed");
		return NULL;
	}
	if (source->busy) {
		PyErr_SetString(PyExc_RuntimeError,
				"the source is in use by another thread");
		return NULL;
	}
	source->busy = true;
	return source->ctx;
}

void py_leave(struct source *source)
{
	reap(source);
	source->busy = false;
}

struct eadm_ctx *py_enter_alone(struct source *source)
{
	struct handle *handle;

	for (handle = source->handles; handle; handle = handle->next)
		if (handle->dump && handle->opened) {
			PyErr_SetString(PyExc_RuntimeError,
					"a dump of the source is unfinished; read it to its end or close it");
			return NULL;
		}
	return py_enter(source);
}

struct handle *py_handle(struct source *source, void *opened,
			 void (*close)(void *opened))
{
	struct handle *handle = calloc(1, sizeof(*handle));

	if (!handle) {
		close(opened);
		PyErr_NoMemory();
		return NULL;
	}
	handle->opened = opened;
	handle->close = close;
	handle->next = source->handles;
	source->handles = handle;
	return handle;
}

void py_handle_drop(struct source *source, struct handle *handle)
{
	if (!handle)
		return;
	handle->dropped = true;
	if (!source->busy) {
		source->busy = true;
		py_leave(source);
	}
}
