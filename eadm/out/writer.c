// SPDX-License-Identifier: GPL-2.0-or-later
/* Common parts of all writers. */
#include "writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

const struct eadm_value *row_values(struct writer *w, const struct table *table,
				    const struct row *row)
{
	if (row->values)
		return row->values;
	if (!grow_to(w->values, table->n_cols, w->max_values))
		return NULL;
	values_of_record(table, row->record, w->values);
	return w->values;
}

void write_values(struct writer *w, const struct eadm_value *values)
{
	w->ops->row(w, &(struct row){ .values = values });
}

void write_record(struct writer *w, const struct eadm_record *record)
{
	w->ops->row(w, &(struct row){ .record = record });
}

/* Finish the output; returns @status unless writing failed. */
int write_end(struct cli *cli, int status)
{
	int err = cli->writer->ops->end(cli->writer);

	if (err && err != EPIPE)
		note(cli, "%s: %s", cli->writer->target ?
		     cli->writer->target : "standard output", strerror(err));
	/* The output is incomplete. */
	return err && (!status || status == STATUS_PARTIAL) ? STATUS_FAILED :
							      status;
}
