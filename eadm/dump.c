// SPDX-License-Identifier: GPL-2.0-or-later
/* From a dump of the library to a writer: what most commands do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

/* "no RDMA device of this name" deserves a hint. */
static int unknown_device(struct cli *cli, const char *name)
{
	const struct eadm_object *object = eadm_object_find("dev");
	const struct eadm_field *field;
	const struct eadm_record *record;
	struct word_list words = { 0 };
	struct eadm_dump *dump;
	const char *near;
	int status;
	size_t i;

	field = eadm_object_find_field(object, "dev-name");
	if (!eadm_dump_open(cli->ctx, object, NULL, &dump)) {
		while (eadm_dump_next(dump, &record) > 0)
			word_add(&words,
				 strdup(eadm_record_string(record, field)));
		eadm_dump_close(dump);
	}
	near = suggest(name, words.words);
	if (near)
		status = fail(cli, STATUS_NOT_FOUND, name,
			      "no such RDMA device (did you mean '%s'?)", near);
	else
		status = fail(cli, STATUS_NOT_FOUND, name,
			      "no such RDMA device");
	for (i = 0; i < words.n; i++)
		free((char *)words.words[i]);
	word_free(&words);
	return status;
}

static int open_failed(struct cli *cli, const struct eadm_object *object,
		       const struct eadm_dump_opts *opts, int error)
{
	if (error == -ENODEV && opts->device)
		return unknown_device(cli, opts->device);
	return fail_lib(cli, error, eadm_object_title(object));
}

/* Hand the dump's notes to the writer; STATUS_PARTIAL when one is an error. */
int dump_notes(struct cli *cli, struct eadm_dump *dump)
{
	struct eadm_note n = { .size = sizeof(n) };
	int status = STATUS_OK;
	unsigned int i;

	if (eadm_dump_inconsistent(dump))
		cli->writer->ops->inconsistent(cli->writer);
	for (i = 0; eadm_dump_note(dump, i, &n); i++) {
		if (n.error)
			status = STATUS_PARTIAL;
		cli->writer->ops->note(cli->writer, &n);
	}
	return status;
}

/* Finish the output; returns @status unless writing failed. */
int write_end(struct cli *cli, int status)
{
	int err = cli->writer->ops->end(cli->writer);

	if (err && err != EPIPE)
		note(cli, "standard output: %s", strerror(err));
	return err && !status ? STATUS_FAILED : status;
}

/* Rows of a dump to the writer, which is open afterwards. */
int dump_table(struct cli *cli, const struct eadm_object *object,
	       const struct eadm_dump_opts *opts, const struct filter *filter,
	       struct table *table)
{
	const struct eadm_record *record;
	struct cell *cells;
	struct eadm_dump *dump;
	struct row row;
	int status, ret;

	ret = eadm_dump_open(cli->ctx, object, opts, &dump);
	if (ret)
		return open_failed(cli, object, opts, ret);
	cells = calloc(table->n_cols ? table->n_cols : 1, sizeof(*cells));
	if (!cells) {
		eadm_dump_close(dump);
		return fail(cli, STATUS_FAILED, "rows", "out of memory");
	}
	/* The first row decides between a document and a mere error. */
	ret = eadm_dump_next(dump, &record);
	if (ret >= 0)
		cli->writer->ops->begin(cli->writer, table);
	for (; ret > 0 && !interrupted; ret = eadm_dump_next(dump, &record)) {
		if (filter && !filter_passes(filter, record))
			continue;
		if (!cli->json || !table->all)
			cells_of_record(table, record, cells);
		row = (struct row){ .cells = cells, .record = record };
		cli->writer->ops->row(cli->writer, &row);
	}
	free(cells);
	if (ret < 0 && ret == -ENOENT && opts->has_id) {
		char id[32];

		snprintf(id, sizeof(id), "%s %llu", eadm_object_name(object),
			 (unsigned long long)opts->id);
		status = fail(cli, STATUS_NOT_FOUND, id,
			      "no such object%s%s", opts->device ? " on " : "",
			      opts->device ? opts->device : "");
	} else if (ret < 0) {
		status = fail_lib(cli, ret, eadm_object_title(object));
	} else {
		status = dump_notes(cli, dump);
		if (interrupted)
			status = fail(cli, STATUS_FAILED,
				      eadm_object_title(object), "interrupted");
	}
	eadm_dump_close(dump);
	return status;
}
