// SPDX-License-Identifier: GPL-2.0-or-later
/* Filters on rows. */
#include <arpa/inet.h>
#include <errno.h>
#include <fnmatch.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "columns.h"
#include "filter.h"

static int no_such(struct cli *cli, const char *option,
		   const struct eadm_object *object)
{
	return fail(cli, STATUS_USAGE, option, "this filter does not apply to %s",
		    eadm_object_title(object));
}

static int unknown_value(struct cli *cli, const struct eadm_field *field,
			 const char *name)
{
	struct word_list words = { 0 };
	const char *value;
	char what[80];
	unsigned int i;

	for (i = 0; (value = eadm_field_value_at(field, i, NULL)); i++)
		word_add(&words, value);
	snprintf(what, sizeof(what), "unknown %s", eadm_field_name(field));
	return unknown_word(cli, name, what, &words, NULL);
}

/* Parses a list of names of states. */
static int parse_states(struct cli *cli, struct filter *filter,
			const char *list)
{
	uint64_t value;
	char name[32];
	size_t len;

	for (;;) {
		len = strcspn(list, ",");
		snprintf(name, sizeof(name), "%.*s", (int)len, list);
		if (eadm_field_value_find(filter->state_field, name, &value))
			return unknown_value(cli, filter->state_field, name);
		filter->states |= 1ULL << (value & 63);
		list += len;
		if (!*list)
			break;
		list++;
	}
	filter->has_state = true;
	return 0;
}

/* Parses ADDR, ADDR/BITS, ADDR:PORT or [ADDR]:PORT. */
static bool parse_peer(struct filter *filter, const char *text)
{
	char addr[INET6_ADDRSTRLEN + 24], *p = addr, *end = NULL;
	unsigned char *a = filter->peer;
	uint64_t bits;

	if (strlen(text) >= sizeof(addr))
		return false;
	strcpy(addr, text);
	if (*p == '[') {
		end = strchr(++p, ']');
		if (!end || end[1] != ':')
			return false;
		*end++ = '\0';
	} else if (strchr(p, ':') && strchr(p, ':') == strrchr(p, ':')) {
		end = strchr(p, ':');
	}
	if (end) {
		*end++ = '\0';
		if (!parse_u64(end, &filter->peer_port) ||
		    !filter->peer_port || filter->peer_port > 65535)
			return false;
	}
	end = strchr(p, '/');
	if (end)
		*end++ = '\0';
	if (inet_pton(AF_INET, p, a) == 1)
		filter->peer_len = 4;
	else if (inet_pton(AF_INET6, p, a) == 1)
		filter->peer_len = 16;
	else
		return false;
	bits = 8 * filter->peer_len;
	if (end && (!parse_u64(end, &bits) || bits > 8 * filter->peer_len))
		return false;
	/* Rows have the IPv4 address that a GID contains. */
	if (filter->peer_len == 16 && bits >= 96 &&
	    !memcmp(a, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12)) {
		memmove(a, a + 12, 4);
		filter->peer_len = 4;
		bits -= 96;
	}
	filter->peer_bits = bits;
	filter->has_peer = true;
	return true;
}

/* Finds the inode number of an object that is given by name, path or number. */
static int parse_inode(struct cli *cli, const char *text, const char *folder,
		       const char *what, long magic, uint64_t *number)
{
	char path[512];
	struct statfs fs;
	struct stat st;

	if (parse_u64(text, number))
		return 0;
	if (cli->args.opt[OPT_FROM])
		return fail(cli, STATUS_USAGE, text,
			    "with --from, a %s must be given by its number",
			    what);
	snprintf(path, sizeof(path), "%s%s%s",
		 strchr(text, '/') ? "" : folder,
		 strchr(text, '/') ? "" : "/", text);
	if (stat(path, &st) || statfs(path, &fs))
		return fail(cli, STATUS_USAGE, text, "no %s: %s: %s", what,
			    path, strerror(errno));
	/* Inodes of other file systems do not identify such an object. */
	if (fs.f_type != magic)
		return fail(cli, STATUS_USAGE, path, "not a %s", what);
	*number = st.st_ino;
	return 0;
}

static int parse_owner(struct cli *cli, const struct eadm_object *object,
		       struct filter *filter)
{
	const char *netns = cli->args.opt[OPT_NETNS];
	const char *cgroup = cli->args.opt[OPT_CGROUP];
	const char *peer = cli->args.opt[OPT_PEER];
	int ret = 0;

	filter->netns_field = eadm_object_find_field(object, "netns");
	filter->cgroup_field = eadm_object_find_field(object, "cgroup-id");
	filter->peer_field = eadm_object_find_field(object, "peer-addr");
	filter->peer_port_field = eadm_object_find_field(object, "peer-port");
	filter->has_netns = netns != NULL;
	filter->has_cgroup = cgroup != NULL;
	if (netns && !filter->netns_field)
		return no_such(cli, "--netns", object);
	if (cgroup && !filter->cgroup_field)
		return no_such(cli, "--cgroup", object);
	if (peer && !filter->peer_field)
		return no_such(cli, "--peer", object);
	if (netns)
		ret = parse_inode(cli, netns, "/run/netns",
				  "network namespace", NSFS_MAGIC,
				  &filter->netns);
	if (!ret && cgroup)
		ret = parse_inode(cli, cgroup, "/sys/fs/cgroup",
				  "control group", CGROUP2_SUPER_MAGIC,
				  &filter->cgroup);
	if (!ret && peer && !parse_peer(filter, peer))
		ret = fail(cli, STATUS_USAGE, peer,
			   "not an address (such as 10.0.0.1, 10.0.0.1:4420 or 10.0.0.0/8)");
	return ret;
}

int filter_init(struct cli *cli, const struct eadm_object *object,
		struct filter *filter)
{
	const char *state = cli->args.opt[OPT_STATE];
	const char *op = cli->args.opt[OPT_OPCODE];

	*filter = (struct filter){
		.comm = cli->args.opt[OPT_COMM],
		.has_pid = cli->args.opt[OPT_PID] != NULL,
		.has_op = op != NULL,
		.pid_field = eadm_object_find_field(object, "pid"),
		.comm_field = eadm_object_find_field(object, "comm"),
		.state_field = eadm_object_find_field(object, "state"),
		.latency_field = eadm_object_find_field(object, "latency"),
		.op_field = eadm_object_find_field(object, "op"),
	};
	if (filter->has_pid && !filter->pid_field)
		return no_such(cli, "--pid", object);
	if (filter->comm && !filter->comm_field)
		return no_such(cli, "--comm", object);
	if (state && !filter->state_field)
		return no_such(cli, "--state", object);
	if (!opt_u64(cli, OPT_PID, &filter->pid) ||
	    !opt_duration(cli, OPT_SLOWER_THAN, 1000000,
			  &filter->min_latency))
		return STATUS_USAGE;
	if (op && eadm_field_value_find(filter->op_field, op, &filter->op) &&
	    !parse_u64(op, &filter->op))
		return unknown_value(cli, filter->op_field, op);
	if (parse_owner(cli, object, filter))
		return STATUS_USAGE;
	return state ? parse_states(cli, filter, state) : 0;
}

/* A row that lacks the field passes if @absent is true. */
static bool is_value(const struct eadm_record *record,
		     const struct eadm_field *field, uint64_t wanted,
		     bool absent)
{
	uint64_t value;

	return eadm_record_u64(record, field, &value) ? absent :
							value == wanted;
}

static bool is_peer(const struct filter *filter,
		    const struct eadm_record *record, bool absent)
{
	const unsigned char *addr;
	unsigned int whole = filter->peer_bits / 8;
	unsigned int rest = filter->peer_bits % 8;
	size_t len;

	addr = eadm_record_bytes(record, filter->peer_field, &len);
	if (!addr)
		return absent;
	if (len != filter->peer_len || memcmp(addr, filter->peer, whole))
		return false;
	if (rest && (addr[whole] ^ filter->peer[whole]) >> (8 - rest))
		return false;
	return !filter->peer_port ||
	       is_value(record, filter->peer_port_field, filter->peer_port,
			absent);
}

static bool passes(const struct filter *filter,
		   const struct eadm_record *record, bool absent)
{
	const char *comm;
	uint64_t value;

	if (filter->has_pid &&
	    !is_value(record, filter->pid_field, filter->pid, absent))
		return false;
	if (filter->has_netns &&
	    !is_value(record, filter->netns_field, filter->netns, absent))
		return false;
	if (filter->has_cgroup &&
	    !is_value(record, filter->cgroup_field, filter->cgroup, absent))
		return false;
	if (filter->has_peer && !is_peer(filter, record, absent))
		return false;
	if (filter->has_op &&
	    !is_value(record, filter->op_field, filter->op, absent))
		return false;
	if (filter->min_latency &&
	    (eadm_record_u64(record, filter->latency_field, &value) ||
	     value < filter->min_latency))
		return false;
	if (filter->has_state &&
	    (eadm_record_u64(record, filter->state_field, &value) ? !absent :
	     value > 63 || !(filter->states >> value & 1)))
		return false;
	if (filter->comm) {
		comm = eadm_record_string(record, filter->comm_field);
		if (comm ? fnmatch(filter->comm, comm, 0) : !absent)
			return false;
	}
	return true;
}

bool filter_passes(const struct filter *filter,
		   const struct eadm_record *record)
{
	return passes(filter, record, false);
}

bool filter_may_pass(const struct filter *filter,
		     const struct eadm_record *record)
{
	return passes(filter, record, true);
}
