/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PVRDMA_OPTIONS_H
#define PVRDMA_OPTIONS_H

#include "control.h"
#include "model.h"

#define MAX_FUNCTIONS 64

struct options {
	const char *backend;
	/* Without a device, the soft backend is used. */
	struct backend_verbs_config verbs;
	struct backend_soft_config soft;
	mode_t mode;
	bool no_sandbox;
	/*
	 * All settings except name, backend, MAC and limits, which are separate for each
	 * function.
	 */
	struct model_config config;
	/* Name of the program; NULL: none. */
	const char *name;
	/* If its path is NULL, there is no control socket. */
	struct control_config control;
	unsigned int n_functions;
	struct option_function {
		char *path;
		const char *name;
		uint8_t mac[6];
		struct model_limits limits;
	} functions[MAX_FUNCTIONS];
};

/* Returns -1 to continue; otherwise, the exit status of the program. */
int options_parse(struct options *options, int argc, char **argv);

#endif /* PVRDMA_OPTIONS_H */
