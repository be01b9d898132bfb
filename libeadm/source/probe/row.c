// SPDX-License-Identifier: LGPL-2.1-or-later
/* Common parts of all kinds of rows. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/root.h"
#include "eadm_nl.h"
#include "row.h"
#include "source/devlist.h"
#include "source/message.h"

#define ROW(symbol, module, op) { #symbol, EADM_CMD_OP_##op },
#define COMMAND(symbol, ...) { #symbol, EADM_CMD_OP_OTHER },
static const struct {
	const char *name;
	unsigned int op;
} functions[] = {
	EADM_PROBE_CALLS(ROW) EADM_PROBE_EVENTS(ROW) EADM_PROBE_COMMANDS(COMMAND)
};

const char *eadm_probe_function_name(unsigned int function)
{
	return function < EADM_ARRAY_SIZE(functions) ? functions[function].name :
						       "";
}

unsigned int eadm_probe_function_op(unsigned int function)
{
	return function < EADM_ARRAY_SIZE(functions) ? functions[function].op :
						       EADM_CMD_OP_OTHER;
}

const struct eadm_probe_command *eadm_probe_function_command(unsigned int function)
{
	return function >= EADM_PROBE_FIRST_COMMAND &&
	       function < EADM_PROBE_N_FUNCTIONS ?
		       &eadm_probe_commands[function - EADM_PROBE_FIRST_COMMAND] :
		       NULL;
}

/* ---- reading ----------------------------------------------------------------- */

static uint64_t since_boot(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/*
 * If the files below the root are from a different machine, this kernel's probe is not
 * used.
 */
int eadm_probe_view_open(struct eadm_ctx *ctx, struct eadm_probe_view *view)
{
	char ns[64];
	int ret;

	*view = (struct eadm_probe_view){
		.ctx = ctx,
		.maps = { .records = -1, .cpus = -1, .devs = -1, .in_flight = -1 },
	};
	if (ctx->root)
		return -ENOENT;
	ret = eadm_probe_open(ctx, &view->maps);
	if (ret)
		return ret;
	view->boot = eadm_now(ctx) - since_boot();
	view->pids = eadm_root_link(ctx, ns, sizeof(ns), "/proc/self/ns/pid") &&
		     !strcmp(ns, "pid:[4026531836]");
	return 0;
}

void eadm_probe_view_close(struct eadm_probe_view *view)
{
	eadm_probe_close(&view->maps);
	eadm_probe_list_free(&view->list);
	free(view->limit);
	view->limit = NULL;
}

int eadm_probe_view_begin(struct eadm_probe_view *view)
{
	size_t size = EADM_PROBE_DEVS * sizeof(*view->limit);

	if (!view->limit)
		view->limit = malloc(size);
	if (!view->limit)
		return -ENOMEM;
	return eadm_probe_copy_devs(&view->maps, view->limit);
}

bool eadm_probe_view_is_late(const struct eadm_probe_view *view,
			     const struct eadm_probe_rec *rec)
{
	const struct eadm_probe_dev *cell =
		&view->limit[rec->dev & (EADM_PROBE_DEVS - 1)];

	if (!rec->seq)
		return false;
	return rec->seq > (rec->kind == EADM_PROBE_CALL ? cell->calls :
							  cell->events);
}

/* Calls that have not returned have no number and come last. */
static int by_number(const void *a, const void *b)
{
	const struct eadm_probe_rec *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (!x->seq != !y->seq)
		return !x->seq - !y->seq;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

void eadm_probe_view_sort(struct eadm_probe_view *view)
{
	if (view->list.n > 1)
		qsort(view->list.rec, view->list.n, sizeof(*view->list.rec),
		      by_number);
}

/* ---- values ------------------------------------------------------------------ */

void eadm_probe_put_u32(struct eadm_answer *answer, uint16_t attr,
			uint32_t value)
{
	if (value != EADM_PROBE_NONE)
		eadm_message_put_u32(&answer->out, attr, value);
}

void eadm_probe_put_u64(struct eadm_answer *answer, uint16_t attr,
			uint64_t value)
{
	eadm_message_put(&answer->out, attr, &value, sizeof(value));
}

void eadm_probe_put_addr(struct eadm_answer *answer, uint16_t attr,
			 uint16_t port_attr, const struct eadm_probe_addr *addr)
{
	if (!addr->family)
		return;
	eadm_message_put(&answer->out, attr, addr->bytes,
			 addr->family == 4 ? 4 : 16);
	if (port_attr && addr->port)
		eadm_message_put_u32(&answer->out, port_attr,
				     ntohs(addr->port));
}

void eadm_probe_put_owner(const struct eadm_probe_view *view,
			  struct eadm_answer *answer,
			  const struct eadm_probe_rec *rec, uint16_t pid,
			  uint16_t comm)
{
	char text[sizeof(rec->comm) + 3];
	bool kernel = rec->flags & EADM_PROBE_KERNEL;

	if (rec->pid && view->pids && !kernel)
		eadm_message_put_u32(&answer->out, pid, rec->pid);
	snprintf(text, sizeof(text), kernel ? "[%.16s]" : "%.16s",
		 kernel && !rec->comm[0] ? "kernel" : rec->comm);
	if (text[0])
		eadm_message_put_string(&answer->out, comm, text);
}

/* A removed device is still shown under its former name. */
size_t eadm_probe_row(const struct eadm_probe_view *view,
		      struct eadm_answer *answer,
		      const struct eadm_probe_rec *rec)
{
	const struct eadm_probe_dev *cell =
		&view->limit[rec->dev & (EADM_PROBE_DEVS - 1)];
	const struct eadm_probe_command *command;
	const struct eadm_device *known;
	struct eadm_device dev;
	size_t at;

	if (rec->dev == EADM_PROBE_NONE) {
		at = eadm_answer_row(answer, NULL);
	} else {
		memset(&dev, 0, sizeof(dev));
		dev.index = rec->dev;
		known = eadm_device_of(view->ctx, rec->dev);
		if (!known && cell->index == rec->dev + 1)
			snprintf(dev.name, sizeof(dev.name), "%.63s",
				 cell->name);
		at = eadm_answer_row(answer, known ? known : &dev);
	}
	command = eadm_probe_function_command(rec->function);
	eadm_message_put_string(&answer->out, EADM_A_CMD_FAMILY,
				command ? command->family : "verbs");
	return at;
}
