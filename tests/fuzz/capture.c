// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: the reader of captures. Every object of every moment is
 * read, with and without the adapter's contexts; rows are copied and written
 * as text, and a copy must say the same as its row.
 */
#include <eadm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
			bool hw)
{
	struct eadm_dump_opts opts = { .size = sizeof(opts), .hw = hw };
	struct eadm_extra extra = { .size = sizeof(extra) };
	struct eadm_note note = { .size = sizeof(note) };
	const struct eadm_record *record;
	struct eadm_record *copy;
	struct eadm_dump *dump;
	unsigned int i, rows = 0;

	if (eadm_dump_open(ctx, object, &opts, &dump))
		return;
	while (eadm_dump_next(dump, &record) > 0 && rows++ < MAX_ROWS) {
		copy = eadm_record_new(record);
		if (!copy)
			abort();
		same_text(record, copy);
		for (i = 0; eadm_record_extra(copy, i, &extra); i++)
			;
		eadm_record_free(copy);
	}
	for (i = 0; eadm_dump_note(dump, i, &note); i++)
		;
	eadm_dump_close(dump);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct eadm_object *object;
	struct eadm_ctx *ctx = eadm_new();
	unsigned int i, n;
	uint64_t time;
	char path[40];
	int fd;

	fd = memfd_create("fuzz", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, len) == (ssize_t)len &&
	    !eadm_open_file(ctx, path)) {
		n = eadm_moments(ctx);
		/* Backwards, since forwards is what everybody does. */
		for (i = n < MAX_MOMENTS ? n : MAX_MOMENTS; i-- > 0;) {
			if (eadm_moment_go(ctx, i))
				abort();
			eadm_moment_time(ctx, i, &time);
			object = NULL;
			while ((object = eadm_object_next(object))) {
				read_object(ctx, object, false);
				if (eadm_object_hw(object, NULL))
					read_object(ctx, object, true);
			}
		}
		if (eadm_moment_go(ctx, n) == 0)
			abort();
	}
	eadm_free(ctx);
	close(fd);
	return 0;
}
