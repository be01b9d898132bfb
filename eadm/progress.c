// SPDX-License-Identifier: GPL-2.0-or-later
/* Progress of long operations, for users waiting at a terminal. */
#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"

#define PATIENCE	1000000000ULL	/* ns before the first message */
#define STEP		200000000ULL	/* ns between messages */

/* This function is cheap enough to be called every few hundred rows. */
void progress(struct cli *cli, const char *what, unsigned long long n)
{
	uint64_t ns = clock_ns(CLOCK_MONOTONIC_COARSE);

	if (!cli->began)
		cli->began = ns;
	if (ns - cli->began < PATIENCE || ns - cli->told < STEP ||
	    !isatty(STDERR_FILENO))
		return;
	cli->told = ns;
	fprintf(stderr, "\readm: %s: %llu %s ...\033[K", cli->verb, n, what);
	fflush(stderr);
}

/* Clear the line, so that the next output starts on an empty line. */
void progress_end(struct cli *cli)
{
	if (cli->told) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	cli->told = 0;
	cli->began = 0;
}
