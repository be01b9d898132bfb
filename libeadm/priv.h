/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the files of the library. */
#ifndef EADM_PRIV_H
#define EADM_PRIV_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eadm.h"
#include "model/generated/fields.h"

#define EADM_API __attribute__((visibility("default")))
#define EADM_MUST_CHECK __attribute__((warn_unused_result))
#define EADM_PRINTF(a, b) __attribute__((format(printf, a, b)))
#define EADM_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define EADM_MAX_FIELDS 256
#define EADM_DEV_NAME_MAX 64
/* Command number of messages that come from the char device. */
#define EADM_RAW_CMD 192

/* ---- query.c: requests and their answers ------------------------------- */

enum eadm_arg_type {
	EADM_ARG_U32 = 1,
	EADM_ARG_U64,
	EADM_ARG_STRING,
	EADM_ARG_FLAG,
};

/*
 * One attribute of a request. A narrow one only leaves rows out, so that the
 * answer to the request without it serves as well: readers filter anyway.
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
	uint16_t proto;		/* NETLINK_GENERIC or NETLINK_RDMA */
	uint16_t type;		/* nlmsg_type */
	uint8_t cmd;		/* generic netlink only */
	bool dump;
	uint8_t n_args;
	struct eadm_arg args[EADM_MAX_ARGS];
};

/* Whole netlink messages that arrived together. */
struct eadm_chunk {
	const void *data;
	size_t len;
	uint64_t time;		/* ns since 1970, 0: unknown */
	uint64_t offset;	/* where the data is in a capture, 0: nowhere */
};

struct eadm_stream;
struct eadm_source;
struct nlmsghdr;

/*
 * A source of answers. query() gives a stream or an error: -ENODATA when a
 * capture does not have the answer. next() gives 1 with a chunk, 0 when the
 * answer is complete, a negative errno. One stream at a time is usual, more
 * must work.
 */
struct eadm_source_ops {
	int (*query)(struct eadm_source *src, const struct eadm_query *query,
		     struct eadm_stream **stream);
	int (*next)(struct eadm_stream *stream, struct eadm_chunk *chunk);
	void (*end)(struct eadm_stream *stream);
	const char *(*fact)(struct eadm_source *src, const char *key);
	int (*moment_next)(struct eadm_source *src);
	unsigned int (*moments)(const struct eadm_source *src);
	int (*moment_time)(const struct eadm_source *src, unsigned int index,
			   uint64_t *ns);
	int (*moment_go)(struct eadm_source *src, unsigned int index);
	void (*close)(struct eadm_source *src);
};

struct eadm_source {
	const struct eadm_source_ops *ops;
	struct eadm_ctx *ctx;
};

struct eadm_stream {
	struct eadm_source *src;
	uint32_t seq;		/* nlmsg_seq of the request */
};

int eadm_live_new(struct eadm_ctx *ctx, struct eadm_source **src);
int eadm_file_new(struct eadm_ctx *ctx, const char *path,
		  struct eadm_source **src);

/* A request in flight; lives in its user's memory. */
struct eadm_reply {
	struct eadm_ctx *ctx;
	struct eadm_query query;
	struct eadm_stream *stream;
	struct eadm_chunk chunk;
	size_t pos;
	bool done;
	bool inconsistent;
};

void eadm_query_arg(struct eadm_query *query, uint16_t attr,
		    enum eadm_arg_type type, uint64_t u, const char *str,
		    bool narrow);
int eadm_reply_open(struct eadm_ctx *ctx, const struct eadm_query *query,
		    struct eadm_reply *reply) EADM_MUST_CHECK;
int eadm_reply_next(struct eadm_reply *reply, const struct nlmsghdr **nlh)
	EADM_MUST_CHECK;
void eadm_reply_close(struct eadm_reply *reply);
int eadm_reply_bad(struct eadm_reply *reply, const void *at, const char *fmt,
		   ...) EADM_PRINTF(3, 4);
const char *eadm_source_fact(struct eadm_ctx *ctx, const char *key);

/* ---- record.c, decode.c, rdma.c ---------------------------------------- */

/* Where a value is: in the message, or in the scratch of the record. */
struct eadm_slot {
	const void *p;
	uint32_t len;
};

struct eadm_record {
	const struct eadm_object *object;
	uint64_t time;
	uint64_t has[EADM_MAX_FIELDS / 64];
	unsigned int n_extra;
	unsigned int max_extra;
	unsigned int used;		/* bytes of scratch */
	struct eadm_extra *extra;
	struct eadm_slot slot[EADM_MAX_FIELDS];
	_Alignas(8) unsigned char scratch[4096];
};

void eadm_record_reset(struct eadm_record *rec,
		       const struct eadm_object *object, uint64_t time);
void eadm_record_release(struct eadm_record *rec);
void eadm_record_drop(struct eadm_record *rec, unsigned int attr);
bool eadm_record_attr_has(const struct eadm_record *rec, unsigned int attr);
uint64_t eadm_record_attr_u64(const struct eadm_record *rec,
			      unsigned int attr);
void eadm_record_put_u64(struct eadm_record *rec, unsigned int attr,
			 uint64_t value);
void eadm_record_put_bytes(struct eadm_record *rec, unsigned int attr,
			   const void *data, size_t len);
void eadm_record_put_string(struct eadm_record *rec, unsigned int attr,
			    const char *str);
int eadm_record_add_extra(struct eadm_record *rec,
			  const struct eadm_extra *extra);

/* Point a field at a value; the record does not look at it here. */
static inline void eadm_record_point(struct eadm_record *rec,
				     unsigned int attr, const void *p,
				     uint32_t len)
{
	unsigned int i = attr - 1;

	rec->slot[i].p = p;
	rec->slot[i].len = len;
	rec->has[i / 64] |= 1ULL << (i % 64);
}

int eadm_decode(struct eadm_reply *reply, const struct nlmsghdr *nlh,
		const struct eadm_object *object, bool hw,
		struct eadm_record *rec) EADM_MUST_CHECK;

struct eadm_device {
	uint32_t index;
	uint32_t ports;
	bool companion;		/* the companion shows it */
	bool rdma;		/* RDMA netlink shows it */
	const struct eadm_family *family;	/* NULL: of no known driver */
	char name[EADM_DEV_NAME_MAX];
	char fw[32];
	uint64_t node_guid;
	bool has_guid;
};

/* Where reading of a message of RDMA netlink stands. */
struct eadm_rdma_cursor {
	const unsigned char *pos;
	size_t left;
	uint16_t entry;		/* attribute of an entry, 0: all is one entry */
	bool more;
	bool original;		/* counters as the driver names them */
};

bool eadm_rdma_is_nest(unsigned int type);
bool eadm_rdma_knows(const struct eadm_object *object);
bool eadm_rdma_per_port(const struct eadm_object *object);
void eadm_rdma_query(const struct eadm_object *object,
		     const struct eadm_device *dev, uint32_t port,
		     const uint64_t *id, struct eadm_query *query);
int eadm_rdma_begin(struct eadm_reply *reply, const struct nlmsghdr *nlh,
		    const struct eadm_object *object,
		    struct eadm_rdma_cursor *cur) EADM_MUST_CHECK;
int eadm_rdma_next(struct eadm_reply *reply, struct eadm_rdma_cursor *cur,
		   const struct eadm_object *object,
		   const struct eadm_device *dev, struct eadm_record *rec)
	EADM_MUST_CHECK;
int eadm_rdma_device(struct eadm_ctx *ctx, const struct eadm_device *dev,
		     bool limits, struct eadm_record *rec) EADM_MUST_CHECK;
int eadm_rdma_counters(struct eadm_ctx *ctx, const struct eadm_device *dev,
		       uint32_t port, struct eadm_record *rec);
int eadm_rdma_counter(struct eadm_record *rec, const char *name,
		      uint64_t value, bool original, bool spare)
	EADM_MUST_CHECK;
int eadm_rdma_list(struct eadm_ctx *ctx) EADM_MUST_CHECK;
int eadm_rdma_driver_id(struct eadm_ctx *ctx, const struct eadm_device *dev,
			uint32_t *id) EADM_MUST_CHECK;

/* ---- driver.c -------------------------------------------------------------- */

void eadm_driver_put(struct eadm_ctx *ctx, const struct eadm_device *dev,
		     struct eadm_record *rec);

/* ---- peers.c -------------------------------------------------------------- */

struct eadm_peer;

/* Connections of a device. */
struct eadm_peers {
	struct eadm_peer *peer;	/* by the number of the QP */
	size_t n;
};

int eadm_peers_load(struct eadm_ctx *ctx, const struct eadm_device *dev,
		    struct eadm_peers *peers, struct eadm_record *rec)
	EADM_MUST_CHECK;
void eadm_peers_put(const struct eadm_peers *peers, struct eadm_record *qp);
void eadm_peers_free(struct eadm_peers *peers);

/* ---- sysfs.c, verbs.c ----------------------------------------------------- */

bool eadm_sysfs_shows_no_other(struct eadm_ctx *ctx);
int eadm_sysfs_counters(struct eadm_ctx *ctx, const struct eadm_device *dev,
			bool original, struct eadm_record *rec)
	EADM_MUST_CHECK;
bool eadm_verbs_limits(const char *name, char *buf, size_t size);

/* ---- device.c ------------------------------------------------------------ */

struct eadm_devices {
	struct eadm_device *dev;
	unsigned int n;
	int family_err;		/* why there is no companion, 0: it is there */
	int rdma_err;		/* why there is no RDMA netlink, 0: it is there */
	uint16_t family;
	uint32_t events;	/* number of the multicast group, 0: none */
	bool held;		/* eadm_devices_hold() */
};

int eadm_companion_find(struct eadm_ctx *ctx) EADM_MUST_CHECK;
int eadm_devices_load(struct eadm_ctx *ctx) EADM_MUST_CHECK;
bool eadm_devices_begin(struct eadm_ctx *ctx) EADM_MUST_CHECK;
int eadm_devices_rest(struct eadm_ctx *ctx) EADM_MUST_CHECK;
struct eadm_device *eadm_device_add(struct eadm_ctx *ctx, uint32_t index,
				    const char *name);

/* ---- capture.c: writing ---------------------------------------------------- */

struct eadm_capture;

/* Attribute of an error that came from no message: the whole sentence. */
#define EADM_ERROR_SENTENCE 0x2ead

void eadm_capture_moment(struct eadm_ctx *ctx);
void eadm_capture_request(struct eadm_ctx *ctx, const struct eadm_query *query,
			  uint32_t seq);
void eadm_capture_chunk(struct eadm_ctx *ctx, const struct eadm_query *query,
			const struct eadm_chunk *chunk);
void eadm_capture_error(struct eadm_ctx *ctx, const struct eadm_query *query,
			uint32_t seq, int error);
void eadm_capture_fact(struct eadm_ctx *ctx, const char *key,
		       const char *value);
void eadm_capture_missing(struct eadm_ctx *ctx, int error, const char *device,
			  const char *what);

/* ---- machine.c --------------------------------------------------------------- */

bool eadm_read_line(const char *path, char *buf, size_t size);
bool eadm_machine_fact(const char *key, char *buf, size_t size);
void eadm_capture_machine(struct eadm_ctx *ctx);

/* ---- swap.c ----------------------------------------------------------------- */

bool eadm_swap_needed(const void *data, size_t len);
void eadm_swap(uint16_t proto, void *data, size_t len);

/* ---- nl.c ------------------------------------------------------------------ */

#define EADM_REQUEST_MAX 512

size_t eadm_nl_build(const struct eadm_query *query, uint32_t seq, void *buf);

/* ---- archlib.c, bundle.c --------------------------------------------------- */

struct eadm_archive;

void eadm_archive_free(struct eadm_archive *lib);
int eadm_bundle_open_fd(struct eadm_ctx *ctx, int fd,
			struct eadm_bundle **bundle);
int eadm_bundle_capture(struct eadm_ctx *ctx, int fd);

/* ---- ctx.c ------------------------------------------------------------------ */

struct eadm_ctx {
	struct eadm_source *src;
	struct eadm_capture *capture;
	struct eadm_archive *archive;	/* NULL until a bundle needs it */
	struct eadm_redactor *redactor;	/* of captures, NULL: none */
	struct eadm_devices devices;
	unsigned int timeout_ms;
	bool live;
	int64_t clock_offset;	/* wall clock less monotonic clock, ns */
	eadm_log_fn log;
	void *log_data;
	char errmsg[512];
};

int eadm_fail(struct eadm_ctx *ctx, int error, const char *fmt, ...)
	EADM_PRINTF(3, 4);
void eadm_log(struct eadm_ctx *ctx, const char *fmt, ...) EADM_PRINTF(2, 3);
uint64_t eadm_now(const struct eadm_ctx *ctx);
int64_t eadm_clock_step(const struct eadm_ctx *ctx);

#endif /* EADM_PRIV_H */
