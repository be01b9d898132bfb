// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: the reader of captures. The last two bytes of the input
 * say which object is read of each moment, with or without the adapter's
 * contexts, and of which queue entries are read; the rest is the file. Rows
 * are copied and written as text, and a copy must say the same as its row.
 */
#include <eadm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "asan.h"

#define MAX_MOMENTS 8
#define MAX_ROWS 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void same_text(const struct eadm_record *a, const struct eadm_record *b)
{
	const struct eadm_field *f = NULL, *g = NULL;
	char x[600], y[600];

	do {
		f = eadm_record_next(a, f);
		g = eadm_record_next(b, g);
		if (f != g)
			abort();
		if (!f)
			return;
		if (eadm_record_text(a, f, x, sizeof(x)) !=
			    eadm_record_text(b, f, y, sizeof(y)) ||
		    strcmp(x, y))
			abort();
	} while (f);
}

static void read_object(struct eadm_ctx *ctx, const struct eadm_object *object,
			const struct eadm_dump_opts *opts)
{
	struct eadm_extra extra = { .size = sizeof(extra) };
	struct eadm_note note = { .size = sizeof(note) };
	const struct eadm_record *record;
	struct eadm_record *copy;
	struct eadm_dump *dump;
	unsigned int i, rows = 0;

	if (eadm_dump_open(ctx, object, opts, &dump))
		return;
	while (eadm_dump_next(dump, &record) > 0 && rows++ < MAX_ROWS) {
		copy = eadm_record_new(record);
		if (!copy)
			abort();
		same_text(record, copy);
		for (i = 0; eadm_record_extra(copy, i, &extra) > 0; i++)
			;
		eadm_record_free(copy);
	}
	for (i = 0; eadm_dump_note(dump, i, &note) > 0; i++)
		;
	eadm_dump_close(dump);
}

/* Bit 7 of the first byte: contexts; the second one: 0, or the queue's number. */
static void read_moment(struct eadm_ctx *ctx, const uint8_t which[2])
{
	struct eadm_entry_opts entries = { .size = sizeof(entries) };
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .hw = which[0] & 0x80,
		.has_id = which[1], .id = which[1],
	};
	const struct eadm_object *object = NULL;
	unsigned int n = which[0] & 0x7f;

	while ((object = eadm_object_next(object)) && n)
		n--;
	/* Numbers beyond the last object are kinds of contexts. */
	if (!object) {
		object = eadm_object_find("hwctx");
		entries.hwctx = EADM_HWCTX_QP + n % 3;
	}
	if (eadm_object_class(object) == EADM_CLASS_ENTRIES)
		opts.entries = &entries;
	read_object(ctx, object, &opts);
}

/* Made once: a file for each run would be half of its time. */
static int put_file(const uint8_t *data, size_t len)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	if (ftruncate(fd, len) || pwrite(fd, data, len, 0) != (ssize_t)len)
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct eadm_ctx *ctx;
	unsigned int i, n;
	uint64_t time;
	char path[40];

	if (len < 2)
		return 0;
	ctx = eadm_new();
	snprintf(path, sizeof(path), "/proc/self/fd/%d",
		 put_file(data, len - 2));
	if (!eadm_open_file(ctx, path)) {
		n = eadm_snapshots(ctx);
		/* Backwards, since forwards is what everybody does. */
		for (i = n < MAX_MOMENTS ? n : MAX_MOMENTS; i-- > 0;) {
			if (eadm_snapshot_go(ctx, i))
				abort();
			eadm_snapshot_time(ctx, i, &time);
			read_moment(ctx, data + len - 2);
		}
		if (eadm_snapshot_go(ctx, n) == 0)
			abort();
	}
	eadm_free(ctx);
	return 0;
}
