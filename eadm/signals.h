/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that end a command. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>

/*
 * The signal received since catch_signals() was called, or 0. A writer whose output
 * fails sets this variable to SIGPIPE, and reports the failure when it is closed.
 */
extern volatile sig_atomic_t interrupted;

void catch_signals(void);	/* catches SIGINT and SIGTERM once each */
void catch_signal(int signum);

#endif /* SIGNALS_H */
