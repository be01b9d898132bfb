/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "eadm-pvrdma fault": the knobs of a running program. */
#ifndef CONTROL_FAULT_CLIENT_H
#define CONTROL_FAULT_CLIENT_H

/* @argv[0] is "fault". Returns the exit status. */
int fault_main(int argc, char **argv);

#endif /* CONTROL_FAULT_CLIENT_H */
