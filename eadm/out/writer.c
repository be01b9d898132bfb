// SPDX-License-Identifier: GPL-2.0-or-later
/* What all writers have in common. */
#include "writer.h"

#include <errno.h>
#include <string.h>

/* Finish the output; returns @status unless writing failed. */
int write_end(struct cli *cli, int status)
{
	int err = cli->writer->ops->end(cli->writer);

	if (err && err != EPIPE)
		note(cli, "%s: %s", cli->writer->target ?
		     cli->writer->target : "standard output", strerror(err));
	/* What is there of it is not all that was read. */
	return err && (!status || status == STATUS_PARTIAL) ? STATUS_FAILED :
							      status;
}
