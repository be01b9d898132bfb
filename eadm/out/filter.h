/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters on rows. */
#ifndef FILTER_H
#define FILTER_H

#include "../cli.h"

struct filter {
	bool has_pid, has_netns, has_cgroup, has_peer;
	uint64_t pid, netns, cgroup;
	unsigned char peer[16];
	unsigned int peer_len;		/* length of the address: 4 or 16 bytes */
	unsigned int peer_bits;		/* number of bits that must match */
	uint64_t peer_port;		/* 0: any */
	const char *comm;
	const char *state;
	bool has_state;
	uint64_t states;		/* set of bits 1 << value */
	uint64_t min_latency;
	bool has_op;
	uint64_t op;
	const struct eadm_field *pid_field, *comm_field, *state_field,
		*latency_field, *op_field, *netns_field, *cgroup_field,
		*peer_field, *peer_port_field;
};

int filter_init(struct cli *cli, const struct eadm_object *object,
		struct filter *filter);
bool filter_passes(const struct filter *filter,
		   const struct eadm_record *record);

/* Also returns true if the result depends on data that the row lacks. */
bool filter_may_pass(const struct filter *filter,
		     const struct eadm_record *record);

#endif /* FILTER_H */
