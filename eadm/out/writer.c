// SPDX-License-Identifier: GPL-2.0-or-later
/* Common parts of all writers. */
#include "writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "../signals.h"

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

/*
 * Returns 0 if writing to standard output succeeded, otherwise the errno, or -1 if it
 * is unknown. If stdio fails to write, it drops the data and the errno; writing one
 * more byte then fails for the same reason.
 */
int stdout_error(void)
{
	errno = 0;
	if (fflush(stdout))
		return errno ? errno : -1;
	if (!ferror(stdout))
		return 0;
	putchar('\n');
	return fflush(stdout) && errno ? errno : -1;
}

const char *stdout_why(int err)
{
	return err > 0 ? strerror(err) : "write error";
}

/*
 * Incomplete output is a failure, unless the reader stopped early and the status
 * already reports a problem.
 */
int stdout_status(int err, int status)
{
	if (!err || (err == EPIPE && status && status != STATUS_PARTIAL))
		return status;
	return STATUS_FAILED;
}

/*
 * Writes the data for --save that was read so far. Stops the command if this fails, because
 * it might otherwise never end; close_save() reports the failure.
 */
void flush_save(struct cli *cli)
{
	if (cli->save && eadm_capture_flush(cli->save))
		interrupted = SIGPIPE;
}

/* Finishes the output; returns @status unless writing failed. */
int write_end(struct cli *cli, int status)
{
	int err = cli->writer->ops->end(cli->writer);

	if (err && err != EPIPE)
		note(cli, "%s: %s", cli->writer->target ?
		     cli->writer->target : "standard output", stdout_why(err));
	if (err && !cli->writer->target)
		cli->stdout_failed = true;
	return stdout_status(err, status);
}
