// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals that end a command. */
#include "signals.h"

#include <stddef.h>

volatile sig_atomic_t interrupted;

static void on_signal(int signum)
{
	interrupted = signum;
}

/* Ends the next read or poll; the operation in progress is then finished. */
void catch_signal(int signum)
{
	struct sigaction action = { .sa_handler = on_signal };

	action.sa_flags = SA_RESETHAND;
	sigaction(signum, &action, NULL);
}

/*
 * A terminal that is closed sends SIGHUP more than once: the shell forwards it to its
 * jobs before the kernel sends it to the process group.
 */
static void catch_hangup(void)
{
	struct sigaction action, old;

	if (sigaction(SIGHUP, NULL, &old) || old.sa_handler == SIG_IGN)
		return;
	action = (struct sigaction){ .sa_handler = on_signal };
	sigaction(SIGHUP, &action, NULL);
}

void catch_signals(void)
{
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	catch_hangup();
}
