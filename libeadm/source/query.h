/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests and their responses. */
#ifndef EADM_QUERY_H
#define EADM_QUERY_H

#include "base/ctx.h"
#include "source.h"

/* Command number of messages from the char device. */
#define EADM_RAW_CMD 192
/*
 * Messages about this machine, made from its files. They use the protocol that
 * netlink reserves for user space, with a generic netlink header.
 */
#define EADM_LOCAL_PROTO 2	/* NETLINK_USERSOCK */
#define EADM_LOCAL_TYPE 32
/* Attribute of an error that was not reported by a message: its complete text. */
#define EADM_ERROR_SENTENCE 0x2ead

enum eadm_arg_type {
	EADM_ARG_U32 = 1,
	EADM_ARG_U64,
	EADM_ARG_STRING,
	EADM_ARG_FLAG,
};

/*
 * One attribute of a request. A narrow attribute does nothing but leave rows out, so
 * the response to the same request without it is also suitable: readers filter rows
 * anyway.
 */
struct eadm_arg {
	uint16_t attr;
	uint8_t type;
	bool narrow;
	uint64_t u;
	const char *str;
};

#define EADM_MAX_ARGS 8

struct eadm_query {
	uint16_t proto;		/* NETLINK_GENERIC, NETLINK_RDMA, EADM_LOCAL_PROTO */
	uint16_t type;		/* nlmsg_type */
	uint8_t cmd;		/* not for RDMA netlink */
	bool dump;
	uint8_t n_args;
	struct eadm_arg args[EADM_MAX_ARGS];
};

struct eadm_kept;
struct nlmsghdr;

/* A request in flight, in the caller's memory. */
struct eadm_reply {
	struct eadm_ctx *ctx;
	struct eadm_query query;
	struct eadm_stream *stream;
	struct eadm_chunk chunk;
	size_t pos;
	bool done;
	bool whole;		/* the response ended without an error */
	struct eadm_kept *kept;	/* copy made for eadm_keep_answers(), or NULL */
	bool endless;		/* see eadm_reply_listen() */
	bool inconsistent;
};

void eadm_query_arg(struct eadm_query *query, uint16_t attr,
		    enum eadm_arg_type type, uint64_t u, const char *str,
		    bool narrow);
struct eadm_query eadm_query_local(unsigned int object);
int eadm_reply_open(struct eadm_ctx *ctx, const struct eadm_query *query,
		    struct eadm_reply *reply) EADM_MUST_CHECK;
int eadm_reply_listen(struct eadm_ctx *ctx, const struct eadm_query *query,
		      uint32_t group, struct eadm_reply *reply)
	EADM_MUST_CHECK;
int eadm_reply_next(struct eadm_reply *reply, const struct nlmsghdr **nlh)
	EADM_MUST_CHECK;
void eadm_reply_close(struct eadm_reply *reply);
int eadm_reply_bad(struct eadm_reply *reply, const void *at, const char *fmt,
		   ...) EADM_PRINTF(3, 4);
void eadm_source_mark(struct eadm_ctx *ctx);
/*
 * Returns true if all data read is captured: readers of the capture may want all
 * of it.
 */
bool eadm_source_records(const struct eadm_ctx *ctx);

/* Error messages if the companion module is not loaded or does not respond. */
#define EADM_COMPANION_ABSENT	"the companion module eadm.ko is not loaded"
#define EADM_COMPANION_SILENT	"the companion module eadm.ko does not respond"

#endif /* EADM_QUERY_H */
