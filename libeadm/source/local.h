/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows about this machine, made from its files. */
#ifndef EADM_LOCAL_H
#define EADM_LOCAL_H

#include "answer.h"

int eadm_local_query(struct eadm_ctx *ctx, const struct eadm_query *query,
		     uint32_t seq, struct eadm_stream **stream)
	EADM_MUST_CHECK;

/*
 * Helpers for the readers below. A request that names fields (as attributes without
 * content) requests only these fields.
 */
const struct eadm_device *eadm_local_device_of(const struct eadm_answer *answer,
					       const struct eadm_query *query);
const struct eadm_arg *eadm_local_arg(const struct eadm_query *query,
				      uint16_t attr);
const char *eadm_local_name(const struct eadm_query *query, uint16_t attr);
bool eadm_local_wants(const struct eadm_query *query, uint16_t attr);
void eadm_local_put(struct eadm_answer *answer, uint16_t attr, const char *text);
void eadm_local_put_u64(struct eadm_answer *answer, uint16_t attr,
			uint64_t value);
void eadm_local_put_number(struct eadm_answer *answer, uint16_t attr,
			   const char *text);
void eadm_local_put_access(struct eadm_answer *answer, uint16_t attr,
			   const char *name, const char *class);
void eadm_local_add_word(char *buf, size_t size, const char *word, size_t len);
void eadm_local_sort_words(char *buf);
struct ifaddrs;
/* The label of an address may have a suffix after the interface's name: "eth0:1". */
void eadm_local_interface(const struct ifaddrs *one, char name[16]);
bool eadm_local_is_of(const struct ifaddrs *one, const char *netdev);
/*
 * A flag of the address, not of the interface: a different host has the address, so the
 * kernel does not use it.
 */
#define EADM_IFA_DUPLICATE	(1U << 31)
/*
 * Returns the addresses of all interfaces in this network namespace, or NULL if
 * unknown.
 */
struct ifaddrs *eadm_local_interfaces(const struct eadm_ctx *ctx);

/*
 * One reader for each kind of row. Readers put existing values and leave out unknown
 * values; an empty string means that the described thing does not exist.
 */
typedef void eadm_local_reader(struct eadm_answer *answer,
			       const struct eadm_query *query);

eadm_local_reader eadm_local_machine;	/* machine.c */
eadm_local_reader eadm_local_irq;
eadm_local_reader eadm_local_module;	/* modules.c */
eadm_local_reader eadm_local_process;	/* process.c */
void eadm_local_put_ipc_lock(struct eadm_answer *answer, uint16_t attr);
void eadm_local_put_container(struct eadm_answer *answer, const char *number,
			      uint16_t pod, uint16_t container);
eadm_local_reader eadm_local_cgroups;	/* cgroups.c */
eadm_local_reader eadm_local_verbs;	/* verbs.c */
eadm_local_reader eadm_local_verbs_users; /* users.c */
eadm_local_reader eadm_local_smc;	/* smc.c */
eadm_local_reader eadm_local_smc_fallbacks;
void eadm_local_limits(struct eadm_answer *answer,
		       const struct eadm_device *dev);
eadm_local_reader eadm_local_functions;	/* functions.c */
eadm_local_reader eadm_local_gids;	/* gids.c */
void eadm_local_gid_words(struct eadm_answer *answer,
			  const struct eadm_device *dev);
void eadm_local_chosen_gid(struct eadm_answer *answer,
			  const struct eadm_device *dev);
bool eadm_local_is_roce(struct eadm_ctx *ctx, const char *device, uint32_t port);
int eadm_local_gid_use(struct eadm_ctx *ctx, const char *device, uint32_t index);
bool eadm_local_unmatched(struct eadm_ctx *ctx, const char *pid, /* settings.c */
			  char *buf, size_t size);
eadm_local_reader eadm_local_link;	/* netdev.c */
eadm_local_reader eadm_local_health;	/* devlink.c */
eadm_local_reader eadm_local_qp_counters; /* qpcounters.c */
eadm_local_reader eadm_local_ports;	/* ports.c */
void eadm_local_addresses(struct eadm_answer *answer, /* route.c */
			  const char *netdev);
void eadm_local_unresolved(struct eadm_answer *answer, const char *netdev);
void eadm_local_subnet(struct eadm_answer *answer, /* subnet.c */
		       const struct ifaddrs *all, const char *netdev);
void eadm_local_links(struct eadm_answer *answer, /* links.c */
		      const struct eadm_device *dev, const char *netdev);
eadm_local_reader eadm_local_device;	/* adapters.c */
eadm_local_reader eadm_local_setup;
eadm_local_reader eadm_local_counters;
eadm_local_reader eadm_local_probe;	/* probe/status.c */
eadm_local_reader eadm_local_probe_calls;
eadm_local_reader eadm_local_probe_events;
eadm_local_reader eadm_local_probe_failures;

#endif /* EADM_LOCAL_H */
