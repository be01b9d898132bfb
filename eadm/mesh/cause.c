// SPDX-License-Identifier: GPL-2.0-or-later
#include "cause.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name, *text;
	bool local;
} causes[CAUSE_END] = {
	[CAUSE_NONE] = { "none", "no cause reported", false },
	[CAUSE_LOST] = { "lost", "packets are lost (firewall, security group or network)", false },
	[CAUSE_MTU] = { "mtu", "large packets are lost (MTU)", false },
	[CAUSE_NEIGHBOUR] = { "neighbour", "the neighbour does not respond", false },
	[CAUSE_ROUTE] = { "route", "no route to the peer's GID", false },
	[CAUSE_GID] = { "gid", "no usable GID", true },
	[CAUSE_ROCE] = { "roce", "the GIDs of the two ends have different RoCE versions", false },
	[CAUSE_TYPE] = { "type", "the adapters use different queue pair types", false },
	[CAUSE_PORT] = { "port", "the port is not active", true },
	[CAUSE_ADAPTER] = { "adapter", "the adapter is missing or cannot be used", true },
	[CAUSE_PROVIDER] = { "provider", "a library is missing", true },
	[CAUSE_LIMIT] = { "limit", "the limit on locked memory is too low", true },
	[CAUSE_CONTROL] = { "control", "no TCP connection between the two hosts", false },
	[CAUSE_ABSENT] = { "absent", "the host did not join", true },
	[CAUSE_DIED] = { "died", "the process on the host ended", true },
	[CAUSE_HUNG] = { "hung", "the process on the host hangs", true },
	[CAUSE_OTHER] = { "other", "other failure", false },
};

/* Phrases in the messages of eadm/test; the first match determines the cause. */
static const struct {
	const char *phrase;
	enum mesh_cause cause;
} phrases[] = {
	{ "see ulimit -l", CAUSE_LIMIT },
	{ "is not active", CAUSE_PORT },
	{ "no provider", CAUSE_PROVIDER },
	{ "not installed", CAUSE_PROVIDER },
	{ "no neighbour", CAUSE_NEIGHBOUR },
	{ "route resolution failed", CAUSE_ROUTE },
	{ "no port has a GID", CAUSE_GID },
	{ "no GID belongs", CAUSE_GID },
	{ "has no IP address", CAUSE_GID },
	{ "GID index", CAUSE_GID },
	{ "cannot be opened", CAUSE_ADAPTER },
	{ "completion queue failed", CAUSE_ADAPTER },
	{ "completion channel failed", CAUSE_ADAPTER },
	{ "protection domain failed", CAUSE_ADAPTER },
	{ "the queue pair failed", CAUSE_ADAPTER },
	{ "queue pair to ", CAUSE_ADAPTER },
	{ "no UD queue pairs", CAUSE_ADAPTER },
	{ "of memory failed", CAUSE_ADAPTER },
	{ "though TCP works", CAUSE_LOST },
	{ "retry counter exceeded", CAUSE_LOST },
	{ "timed out waiting", CAUSE_LOST },
	{ "no message arrived", CAUSE_LOST },
	{ "does not respond", CAUSE_LOST },
	{ "the connection ended", CAUSE_LOST },
};

const char *cause_name(enum mesh_cause cause)
{
	return causes[cause < CAUSE_END ? cause : CAUSE_OTHER].name;
}

const char *cause_text(enum mesh_cause cause)
{
	return causes[cause < CAUSE_END ? cause : CAUSE_OTHER].text;
}

bool cause_is_local(enum mesh_cause cause)
{
	return cause < CAUSE_END && causes[cause].local;
}

enum mesh_cause cause_of(const char *why)
{
	size_t i;

	for (i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		if (strstr(why, phrases[i].phrase))
			return phrases[i].cause;
	}
	return CAUSE_OTHER;
}
