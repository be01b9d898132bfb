// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Converts RDMA netlink messages to records like those of the companion, for devices
 * that the companion does not show. The messages contain the RDMA core's data about
 * devices of any vendor.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "counters.h"
#include "eadm_nl.h"
#include "machine.h"
#include "nldev.h"
#include "qp_list.h"
#include "rdma.h"
#include "sysfs.h"

/* More ports indicate a broken message. */
#define MAX_PORTS 4096

enum map_as {
	AS_NUMBER,
	AS_PID,		/* sets comm as well */
	AS_KERNEL,	/* name of a kernel consumer */
	AS_ADDR,	/* socket address; our next attribute is the port */
	AS_QPS,		/* list; sets the number of users as well */
	AS_CM_STATE,
	AS_PORT_SPACE,
};

struct map {
	uint16_t from;	/* RDMA_NLDEV_ATTR_* */
	uint16_t to;	/* EADM_A_* */
	uint8_t as;
};

/* Representation of one of our objects in RDMA netlink. */
struct rdma_object {
	int object;		/* EADM_SPEC_OBJ_* */
	uint8_t cmd;
	uint8_t table, entry;	/* nested attributes in a dump */
	uint8_t id;		/* attribute to request a single object, or 0 */
	uint16_t pid, comm;	/* our attributes for the owner */
	uint8_t n_map;
	const struct map *map;
};

#define A(name) RDMA_NLDEV_ATTR_RES_##name

static const struct map qp_map[] = {
	{ A(LQPN), EADM_A_QP_QPN, AS_NUMBER },
	{ A(LQPN), EADM_A_QP_RES_ID, AS_NUMBER },
	{ A(TYPE), EADM_A_QP_TYPE, AS_NUMBER },
	{ A(STATE), EADM_A_QP_STATE, AS_NUMBER },
	{ A(RQPN), EADM_A_QP_DEST_QPN, AS_NUMBER },
	{ A(SQ_PSN), EADM_A_QP_SQ_PSN, AS_NUMBER },
	{ A(RQ_PSN), EADM_A_QP_RQ_PSN, AS_NUMBER },
	{ A(PATH_MIG_STATE), EADM_A_QP_PATH_MIG_STATE, AS_NUMBER },
	{ A(PDN), EADM_A_QP_PDN, AS_NUMBER },
	{ A(PID), EADM_A_QP_PID, AS_PID },
	{ A(KERN_NAME), EADM_A_QP_COMM, AS_KERNEL },
	{ RDMA_NLDEV_ATTR_PORT_INDEX, EADM_A_QP_PORT, AS_NUMBER },
};

static const struct map cq_map[] = {
	{ A(CQN), EADM_A_CQ_CQN, AS_NUMBER },
	{ A(CQN), EADM_A_CQ_RES_ID, AS_NUMBER },
	{ A(CQE), EADM_A_CQ_DEPTH, AS_NUMBER },
	{ A(USECNT), EADM_A_CQ_USERS, AS_NUMBER },
	{ A(CTXN), EADM_A_CQ_CTXN, AS_NUMBER },
	{ A(PID), EADM_A_CQ_PID, AS_PID },
	{ A(KERN_NAME), EADM_A_CQ_COMM, AS_KERNEL },
};

/* The MR number in RDMA netlink is not the index in the protection table. */
static const struct map mr_map[] = {
	{ A(MRN), EADM_A_MR_RES_ID, AS_NUMBER },
	{ A(RKEY), EADM_A_MR_RKEY, AS_NUMBER },
	{ A(LKEY), EADM_A_MR_LKEY, AS_NUMBER },
	{ A(IOVA), EADM_A_MR_IOVA, AS_NUMBER },
	{ A(MRLEN), EADM_A_MR_LENGTH, AS_NUMBER },
	{ A(PDN), EADM_A_MR_PDN, AS_NUMBER },
	{ A(PID), EADM_A_MR_PID, AS_PID },
	{ A(KERN_NAME), EADM_A_MR_COMM, AS_KERNEL },
};

static const struct map pd_map[] = {
	{ A(PDN), EADM_A_PD_PDN, AS_NUMBER },
	{ A(PDN), EADM_A_PD_RES_ID, AS_NUMBER },
	{ A(USECNT), EADM_A_PD_USERS, AS_NUMBER },
	{ A(LOCAL_DMA_LKEY), EADM_A_PD_LOCAL_DMA_LKEY, AS_NUMBER },
	{ A(CTXN), EADM_A_PD_CTXN, AS_NUMBER },
	{ A(PID), EADM_A_PD_PID, AS_PID },
	{ A(KERN_NAME), EADM_A_PD_COMM, AS_KERNEL },
};

static const struct map ctx_map[] = {
	{ A(CTXN), EADM_A_CTX_CTXN, AS_NUMBER },
	{ A(CTXN), EADM_A_CTX_RES_ID, AS_NUMBER },
	{ A(PID), EADM_A_CTX_PID, AS_PID },
	{ A(KERN_NAME), EADM_A_CTX_COMM, AS_KERNEL },
};

static const struct map srq_map[] = {
	{ A(SRQN), EADM_A_SRQ_SRQN, AS_NUMBER },
	{ A(SRQN), EADM_A_SRQ_RES_ID, AS_NUMBER },
	{ A(TYPE), EADM_A_SRQ_TYPE, AS_NUMBER },
	{ A(PDN), EADM_A_SRQ_PDN, AS_NUMBER },
	{ A(CQN), EADM_A_SRQ_CQN, AS_NUMBER },
	{ A(QP), EADM_A_SRQ_QPNS, AS_QPS },
	{ A(PID), EADM_A_SRQ_PID, AS_PID },
	{ A(KERN_NAME), EADM_A_SRQ_COMM, AS_KERNEL },
};

static const struct map cep_map[] = {
	{ A(CM_IDN), EADM_A_CEP_RES_ID, AS_NUMBER },
	{ A(STATE), EADM_A_CEP_STATE, AS_CM_STATE },
	{ A(PS), EADM_A_CEP_PS, AS_PORT_SPACE },
	{ A(SRC_ADDR), EADM_A_CEP_LOCAL_ADDR, AS_ADDR },
	{ A(DST_ADDR), EADM_A_CEP_PEER_ADDR, AS_ADDR },
	{ A(LQPN), EADM_A_CEP_QPN, AS_NUMBER },
	{ A(PID), EADM_A_CEP_PID, AS_PID },
	{ A(KERN_NAME), EADM_A_CEP_COMM, AS_KERNEL },
};

/* States of the kernel's connection manager, in the kernel's order. */
static const uint8_t cm_states[] = {
	EADM_CEP_STATE_IDLE,
	EADM_CEP_STATE_ADDR_QUERY,
	EADM_CEP_STATE_ADDR_RESOLVED,
	EADM_CEP_STATE_ROUTE_QUERY,
	EADM_CEP_STATE_ROUTE_RESOLVED,
	EADM_CEP_STATE_CONNECT,
	EADM_CEP_STATE_CLOSED,
	EADM_CEP_STATE_ADDR_BOUND,
	EADM_CEP_STATE_LISTENING,
	EADM_CEP_STATE_DEVICE_REMOVAL,
	EADM_CEP_STATE_DESTROYING,
};

static const struct {
	uint16_t from;		/* enum rdma_ucm_port_space */
	uint8_t to;
} port_spaces[] = {
	{ RDMA_PS_TCP, EADM_PORT_SPACE_TCP },
	{ RDMA_PS_UDP, EADM_PORT_SPACE_UDP },
	{ RDMA_PS_IPOIB, EADM_PORT_SPACE_IPOIB },
	{ RDMA_PS_IB, EADM_PORT_SPACE_IB },
};

#define OBJECT_OF(OUR, THEIR, our, CMD, ...)				\
	{								\
		.object = EADM_SPEC_OBJ_##OUR,				\
		.cmd = RDMA_NLDEV_CMD_##CMD,				\
		.table = A(THEIR),					\
		.entry = A(THEIR##_ENTRY),				\
		.pid = EADM_A_##OUR##_PID,				\
		.comm = EADM_A_##OUR##_COMM,				\
		.n_map = EADM_ARRAY_SIZE(our##_map),			\
		.map = our##_map,					\
		__VA_ARGS__						\
	}
#define OBJECT(NAME, name, ...) OBJECT_OF(NAME, NAME, name, __VA_ARGS__)

static const struct rdma_object rdma_objects[] = {
	OBJECT(QP, qp, RES_QP_GET),
	OBJECT(CQ, cq, RES_CQ_GET, .id = A(CQN)),
	OBJECT(MR, mr, RES_MR_GET, .id = A(MRN)),
	OBJECT(PD, pd, RES_PD_GET, .id = A(PDN)),
	OBJECT(CTX, ctx, RES_CTX_GET, .id = A(CTXN)),
	OBJECT(SRQ, srq, RES_SRQ_GET, .id = A(SRQN)),
	OBJECT_OF(CEP, CM_ID, cep, RES_CM_ID_GET, .id = A(CM_IDN)),
};

static int number_of(const struct eadm_object *object)
{
	return object - eadm_spec_objects;
}

static const struct rdma_object *find(const struct eadm_object *object)
{
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(rdma_objects); i++) {
		if (rdma_objects[i].object == number_of(object))
			return &rdma_objects[i];
	}
	return NULL;
}

bool eadm_rdma_per_port(const struct eadm_object *object)
{
	return number_of(object) == EADM_SPEC_OBJ_COUNTERS;
}

bool eadm_rdma_knows(const struct eadm_object *object)
{
	return number_of(object) == EADM_SPEC_OBJ_DEV ||
	       eadm_rdma_per_port(object) || find(object);
}

void eadm_rdma_query(const struct eadm_object *object,
		     const struct eadm_device *dev, uint32_t port,
		     const uint64_t *id, struct eadm_query *query)
{
	const struct rdma_object *ro = find(object);

	if (!ro) {
		*query = eadm_nldev_query(RDMA_NLDEV_CMD_STAT_GET, false);
		eadm_nldev_device(query, dev);
		eadm_query_arg(query, RDMA_NLDEV_ATTR_PORT_INDEX, EADM_ARG_U32,
			       port, NULL, false);
		return;
	}
	/* A single QP can only be requested together with its port, which is unknown. */
	if (!ro->id)
		id = NULL;
	*query = eadm_nldev_query(ro->cmd, !id);
	eadm_nldev_device(query, dev);
	if (id)
		eadm_query_arg(query, ro->id, EADM_ARG_U32, *id, NULL, true);
}

static void put_comm(struct eadm_ctx *ctx, struct eadm_record *rec,
		     uint16_t attr, uint64_t pid)
{
	const char *comm = eadm_machine_comm(ctx, pid);

	if (comm)
		eadm_record_put_string(rec, attr, comm);
}

static bool is_zero(const void *data, size_t len)
{
	static const unsigned char zeros[16];

	return !memcmp(data, zeros, len);
}

/* InfiniBand addresses are not IP addresses and stay absent. */
static void put_addr(struct eadm_record *rec, uint16_t to,
		     const struct nlattr *attr)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} u = { 0 };
	size_t len = eadm_attr_len(attr), size;
	const void *addr;
	uint16_t port;

	memcpy(&u, eadm_attr_data(attr), len < sizeof(u) ? len : sizeof(u));
	if (u.sa.sa_family == AF_INET && len >= sizeof(u.in)) {
		addr = &u.in.sin_addr;
		size = sizeof(u.in.sin_addr);
		port = ntohs(u.in.sin_port);
	} else if (u.sa.sa_family == AF_INET6 && len >= sizeof(u.in6)) {
		addr = &u.in6.sin6_addr;
		size = sizeof(u.in6.sin6_addr);
		port = ntohs(u.in6.sin6_port);
	} else {
		return;
	}
	/* A connection that has no peer yet has only the address family. */
	if (to == EADM_A_CEP_PEER_ADDR && is_zero(addr, size))
		return;
	eadm_record_put_bytes(rec, to, addr, size);
	eadm_record_put_u64(rec, to + 1, port);
}

_Static_assert(EADM_A_CEP_LOCAL_PORT == EADM_A_CEP_LOCAL_ADDR + 1 &&
	       EADM_A_CEP_PEER_PORT == EADM_A_CEP_PEER_ADDR + 1,
	       "the port of an address is the next attribute");

static void put_number(struct eadm_reply *reply, const struct rdma_object *ro,
		       const struct map *map, uint64_t u,
		       struct eadm_record *rec)
{
	size_t i;

	switch (map->as) {
	case AS_CM_STATE:
		if (u >= EADM_ARRAY_SIZE(cm_states))
			return;
		eadm_record_put_u64(rec, map->to, cm_states[u]);
		if (cm_states[u] == EADM_CEP_STATE_LISTENING)
			eadm_record_put_u64(rec, EADM_A_CEP_ROLE,
					    EADM_CEP_ROLE_LISTENER);
		return;
	case AS_PORT_SPACE:
		for (i = 0; i < EADM_ARRAY_SIZE(port_spaces); i++) {
			if (port_spaces[i].from == u)
				eadm_record_put_u64(rec, map->to,
						    port_spaces[i].to);
		}
		return;
	case AS_PID:
		put_comm(reply->ctx, rec, ro->comm, u);
		break;
	}
	eadm_record_put_u64(rec, map->to, u);
}

static int map_attr(struct eadm_reply *reply, const struct rdma_object *ro,
		    const struct nlattr *attr, struct eadm_record *rec)
{
	unsigned int type = eadm_attr_type(attr);
	const char *str;
	char name[80];
	uint64_t u;
	size_t i;

	for (i = 0; i < ro->n_map; i++) {
		const struct map *map = &ro->map[i];

		if (map->from != type)
			continue;
		if (map->as == AS_KERNEL) {
			str = eadm_attr_string(attr);
			if (!str)
				return eadm_nldev_leaves(reply, attr);
			snprintf(name, sizeof(name), "[%s]", str);
			eadm_record_put_string(rec, map->to, name);
		} else if (map->as == AS_QPS) {
			if (eadm_qp_list_put(eadm_attr_nested(attr), rec))
				return eadm_nldev_leaves(reply, attr);
		} else if (map->as == AS_ADDR) {
			put_addr(rec, map->to, attr);
		} else if (eadm_nldev_number(attr, &u)) {
			put_number(reply, ro, map, u, rec);
		} else {
			return eadm_nldev_leaves(reply, attr);
		}
	}
	return 0;
}

/* ---- counters ------------------------------------------------------------ */

static int put_counter(struct eadm_reply *reply, const struct nlattr *entry,
		       bool original, struct eadm_record *rec)
{
	struct eadm_attrs attrs = eadm_attr_nested(entry);
	struct eadm_extra extra = { 0 };
	const struct nlattr *attr;
	bool has_value = false;
	int ret;

	while ((ret = eadm_attr_next(&attrs, &attr)) > 0) {
		switch (eadm_attr_type(attr)) {
		case RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME:
			extra.name = eadm_attr_string(attr);
			break;
		case RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE:
			has_value = eadm_nldev_number(attr, &extra.value);
			break;
		}
	}
	if (ret < 0 || !extra.name || !has_value)
		return eadm_nldev_leaves(reply, entry);
	return eadm_counter_put(rec, extra.name, extra.value, original, NULL);
}

static int map_counters(struct eadm_reply *reply, struct eadm_attrs attrs,
			bool original, struct eadm_record *rec)
{
	const struct nlattr *attr, *entry;
	struct eadm_attrs nested;
	uint64_t port;
	int ret, err;

	while ((ret = eadm_attr_next(&attrs, &attr)) > 0) {
		if (eadm_attr_type(attr) == RDMA_NLDEV_ATTR_PORT_INDEX &&
		    eadm_nldev_number(attr, &port))
			eadm_record_put_u64(rec, EADM_A_COUNTERS_PORT, port);
		if (eadm_attr_type(attr) != RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)
			continue;
		nested = eadm_attr_nested(attr);
		while ((err = eadm_attr_next(&nested, &entry)) > 0) {
			err = put_counter(reply, entry, original, rec);
			if (err)
				return err;
		}
		if (err < 0)
			return eadm_nldev_leaves(reply, nested.pos);
	}
	return ret < 0 ? eadm_nldev_leaves(reply, attrs.pos) : 0;
}

/*
 * Adds the counters of a port that are available even if the adapter did not deliver
 * its own: the device's counters, which require no command. Returns 1 with a row, 0 if
 * there are none, or -ENOMEM.
 */
int eadm_rdma_counters_rest(struct eadm_ctx *ctx, const struct eadm_device *dev,
			    uint32_t port, bool original, int error,
			    struct eadm_record *rec)
{
	int ret;

	eadm_record_reset(rec, &eadm_spec_objects[EADM_SPEC_OBJ_COUNTERS],
			  eadm_now(ctx));
	eadm_record_put_u64(rec, EADM_A_COMMON_DEV_INDEX, dev->index);
	eadm_record_put_string(rec, EADM_A_COMMON_DEV_NAME, dev->name);
	eadm_record_put_u64(rec, EADM_A_COMMON_HW_ERROR, error);
	eadm_record_put_u64(rec, EADM_A_COUNTERS_PORT, port);
	ret = eadm_sysfs_counters(ctx, dev, original, rec);
	return ret < 0 ? ret : ret > 0;
}

/* ---- rows ------------------------------------------------------------------ */

/* Find the rows in a message. */
int eadm_rdma_begin(struct eadm_reply *reply, const struct nlmsghdr *nlh,
		    const struct eadm_object *object,
		    struct eadm_rdma_cursor *cur)
{
	const struct rdma_object *ro = find(object);
	struct eadm_attrs attrs = eadm_attr_msg(nlh, 0);
	const struct nlattr *attr;
	int ret;

	/* The response for a single object is not nested. */
	*cur = (struct eadm_rdma_cursor){
		.pos = attrs.pos,
		.left = attrs.left,
		.more = !ro || !(nlh->nlmsg_flags & NLM_F_MULTI),
	};
	if (cur->more)
		return 0;
	while ((ret = eadm_attr_next(&attrs, &attr)) > 0) {
		if (eadm_attr_type(attr) != ro->table)
			continue;
		cur->pos = eadm_attr_data(attr);
		cur->left = eadm_attr_len(attr);
		cur->entry = ro->entry;
		cur->more = true;
	}
	return ret < 0 ? eadm_nldev_leaves(reply, attrs.pos) : 0;
}

/* Returns 1 with a row, 0 if the message has no more rows, or a negative errno. */
int eadm_rdma_next(struct eadm_reply *reply, struct eadm_rdma_cursor *cur,
		   const struct eadm_object *object,
		   const struct eadm_device *dev, struct eadm_record *rec)
{
	struct eadm_attrs attrs = { cur->pos, cur->left }, entry;
	const struct rdma_object *ro = find(object);
	const struct nlattr *attr;
	int ret;

	if (!cur->more)
		return 0;
	if (cur->entry) {
		do {
			ret = eadm_attr_next(&attrs, &attr);
			if (ret < 0)
				return eadm_nldev_leaves(reply, attrs.pos);
			if (!ret)
				return 0;
		} while (eadm_attr_type(attr) != cur->entry);
		cur->pos = attrs.pos;
		cur->left = attrs.left;
		entry = eadm_attr_nested(attr);
	} else {
		cur->more = false;
		entry = attrs;
	}

	cur->row = entry;
	eadm_record_reset(rec, object, reply->chunk.time);
	eadm_record_put_u64(rec, EADM_A_COMMON_DEV_INDEX, dev->index);
	eadm_record_put_string(rec, EADM_A_COMMON_DEV_NAME, dev->name);
	if (!ro) {
		ret = map_counters(reply, entry, cur->original, rec);
		if (!ret)
			ret = eadm_sysfs_counters(reply->ctx, dev,
						  cur->original, rec);
		return ret < 0 ? ret : 1;
	}
	while ((ret = eadm_attr_next(&entry, &attr)) > 0) {
		ret = map_attr(reply, ro, attr, rec);
		if (ret)
			return ret;
	}
	return ret < 0 ? eadm_nldev_leaves(reply, entry.pos) : 1;
}

/* ---- devices --------------------------------------------------------------- */

static int add_device(struct eadm_reply *reply, const struct nlmsghdr *nlh)
{
	struct eadm_attrs attrs = eadm_attr_msg(nlh, 0);
	struct eadm_device seen = { .index = UINT32_MAX }, *dev;
	const char *name = NULL, *fw = NULL;
	const struct nlattr *attr;
	uint64_t u;
	int ret;

	while ((ret = eadm_attr_next(&attrs, &attr)) > 0) {
		switch (eadm_attr_type(attr)) {
		case RDMA_NLDEV_ATTR_DEV_INDEX:
			if (eadm_nldev_number(attr, &u))
				seen.index = u;
			break;
		case RDMA_NLDEV_ATTR_DEV_NAME:
			name = eadm_attr_string(attr);
			break;
		case RDMA_NLDEV_ATTR_PORT_INDEX:
			if (eadm_nldev_number(attr, &u))
				seen.ports = u;
			break;
		case RDMA_NLDEV_ATTR_FW_VERSION:
			fw = eadm_attr_string(attr);
			break;
		case RDMA_NLDEV_ATTR_NODE_GUID:
			seen.has_guid = eadm_nldev_number(attr, &seen.node_guid);
			break;
		}
	}
	if (ret < 0)
		return eadm_nldev_leaves(reply, attrs.pos);
	if (seen.ports > MAX_PORTS)
		return eadm_reply_bad(reply, nlh, "device with %u ports",
				      seen.ports);
	if (!name || seen.index == UINT32_MAX)
		return eadm_reply_bad(reply, nlh, "device without a name");
	dev = eadm_device_add(reply->ctx, seen.index, name);
	if (!dev)
		return -ENOMEM;
	dev->rdma = true;
	dev->ports = seen.ports;
	dev->has_guid = seen.has_guid;
	dev->node_guid = seen.node_guid;
	if (fw)
		snprintf(dev->fw, sizeof(dev->fw), "%s", fw);
	return 0;
}

/* Add all devices that RDMA netlink shows to the context's list. */
int eadm_rdma_list(struct eadm_ctx *ctx)
{
	struct eadm_query query = eadm_nldev_query(RDMA_NLDEV_CMD_GET, true);
	const struct nlmsghdr *nlh;
	struct eadm_reply reply;
	int ret;

	ret = eadm_reply_open(ctx, &query, &reply);
	while (!ret && (ret = eadm_reply_next(&reply, &nlh)) > 0)
		ret = add_device(&reply, nlh);
	eadm_reply_close(&reply);
	return ret;
}

static void put_nothing(struct eadm_attrs attrs, struct eadm_record *rec)
{
	(void)attrs;
	(void)rec;
}

/*
 * Returns 0 if the driver has counters for the port, -EINVAL if not, another negative
 * errno if unknown. The RDMA core responds without querying the adapter. Leaves the
 * context's error message unchanged.
 */
int eadm_rdma_counters(struct eadm_ctx *ctx, const struct eadm_device *dev,
		       uint32_t port, struct eadm_record *rec)
{
	struct eadm_errmsg before;
	struct eadm_query query;
	int ret;

	eadm_errmsg_push(ctx, &before);
	query = eadm_nldev_query(RDMA_NLDEV_CMD_STAT_GET_STATUS, false);
	eadm_nldev_device(&query, dev);
	eadm_query_arg(&query, RDMA_NLDEV_ATTR_PORT_INDEX, EADM_ARG_U32, port,
		       NULL, false);
	ret = eadm_nldev_ask(ctx, &query, put_nothing, rec);
	eadm_errmsg_pop(ctx, &before);
	return ret;
}
