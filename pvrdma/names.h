/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of adapters and of the control socket, and the owner of that socket. */
#ifndef PVRDMA_NAMES_H
#define PVRDMA_NAMES_H

#include <stdbool.h>
#include <sys/types.h>

/* Directory of control sockets that "eadm list" reads. */
#define CONTROL_FOLDER "/run/eadm-pvrdma"

bool name_is_valid(const char *name);
/*
 * Returns the default name of an adapter: the program's name, if any, and the name of the
 * socket's file without ".sock". The memory is never freed; NULL if out of memory.
 */
char *name_of_socket(const char *program, const char *path);
/*
 * Returns the default path of the control socket: in CONTROL_FOLDER if that exists,
 * otherwise NULL.
 */
char *name_of_control(const char *program, const char *first_path);
/* Parses USER, USER:GROUP or :GROUP, by name or number. */
bool name_parse_owner(const char *text, uid_t *uid, gid_t *gid);

#endif /* PVRDMA_NAMES_H */
