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

/*
 * Catches SIGINT and SIGTERM once each, and SIGHUP unless it is ignored, as by nohup(1).
 */
void catch_signals(void);
void catch_signal(int signum);

#endif /* SIGNALS_H */
