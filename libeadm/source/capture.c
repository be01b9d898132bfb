// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writing captures. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pcapng.h"
#include "priv.h"
#include "bundle/redact.h"

#define BUFFER_SIZE (256 * 1024)
#define MAX_FACT 511

#define MAX_MISSING 64

/* What was asked for and could not be read. */
struct missing {
	int error;
	char device[EADM_DEV_NAME_MAX];
	char what[96];
	char why[sizeof(((struct eadm_ctx *)0)->errmsg)];
};

struct eadm_capture {
	struct eadm_output *out;
	int fd;			/* of the output */
	unsigned char *buf;
	size_t used;
	int error;		/* the first error of writing */
	uint32_t moments;
	uint64_t offset;	/* bytes written so far */
	uint64_t limit;		/* 0: none */
	uint64_t *starts;	/* offset of each moment in the file */
	size_t n_starts;
	struct missing *missing;
	unsigned int n_missing;
};

/* ---- bytes ------------------------------------------------------------------ */

static void flush(struct eadm_capture *c)
{
	size_t done = 0;
	ssize_t n;

	while (!c->error && done < c->used) {
		n = write(c->fd, c->buf + done, c->used - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			c->error = -errno;
		else
			done += n;
	}
	c->offset += done;
	c->used = 0;
}

static void put(struct eadm_capture *c, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t n;

	while (len) {
		if (c->used == BUFFER_SIZE)
			flush(c);
		n = BUFFER_SIZE - c->used;
		if (n > len)
			n = len;
		memcpy(c->buf + c->used, p, n);
		c->used += n;
		p += n;
		len -= n;
	}
}

static void put32(struct eadm_capture *c, uint32_t v)
{
	put(c, &v, sizeof(v));
}

static void put16(struct eadm_capture *c, uint16_t v)
{
	put(c, &v, sizeof(v));
}

static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

static void put_padded(struct eadm_capture *c, const void *data, size_t len)
{
	put(c, data, len);
	put(c, "\0\0\0", padded(len) - len);
}

static void put_option(struct eadm_capture *c, uint16_t code, const void *data,
		       size_t len)
{
	put16(c, code);
	put16(c, len);
	put_padded(c, data, len);
}

/* ---- blocks ----------------------------------------------------------------- */

static void put_section(struct eadm_ctx *ctx)
{
	struct eadm_capture *c = ctx->capture;
	const char *kernel = ctx->src->ops->fact(ctx->src, "kernel");
	const char app[] = "eadm " EADM_VERSION;
	char os[128];
	size_t os_len;
	uint32_t len;

	os_len = snprintf(os, sizeof(os), "Linux %.100s", kernel ? kernel : "");
	len = 28 + 4 + padded(os_len) + 4 + padded(strlen(app)) + 4;
	put32(c, PCAPNG_SHB);
	put32(c, len);
	put32(c, PCAPNG_MAGIC);
	put16(c, 1);
	put16(c, 0);
	put32(c, UINT32_MAX);	/* length of the section: not known */
	put32(c, UINT32_MAX);
	put_option(c, PCAPNG_SHB_OS, os, os_len);
	put_option(c, PCAPNG_SHB_USERAPPL, app, strlen(app));
	put_option(c, PCAPNG_OPT_END, NULL, 0);
	put32(c, len);

	len = 20 + 12 + 8 + 4;
	put32(c, PCAPNG_IDB);
	put32(c, len);
	put16(c, PCAPNG_LINK_NETLINK);
	put16(c, 0);
	put32(c, 0);
	put_option(c, PCAPNG_IF_NAME, "netlink", 7);
	put_option(c, PCAPNG_IF_TSRESOL, "\x09", 1);
	put_option(c, PCAPNG_OPT_END, NULL, 0);
	put32(c, len);
}

static void write_packet(struct eadm_ctx *ctx, uint16_t proto,
			 uint16_t direction, const void *data, size_t n,
			 uint64_t time)
{
	struct eadm_capture *c = ctx->capture;
	struct pcapng_cooked cooked = {
		.direction = htons(direction),
		.hardware = htons(PCAPNG_ARPHRD_NETLINK),
		.proto = htons(proto),
	};
	uint32_t len = 32 + sizeof(cooked) + padded(n);

	put32(c, PCAPNG_EPB);
	put32(c, len);
	put32(c, 0);
	put32(c, time >> 32);
	put32(c, time);
	put32(c, sizeof(cooked) + n);
	put32(c, sizeof(cooked) + n);
	put(c, &cooked, sizeof(cooked));
	put_padded(c, data, n);
	put32(c, len);
}

static void put_packet(struct eadm_ctx *ctx, uint16_t proto,
		       uint16_t direction, const void *data, size_t n,
		       uint64_t time)
{
	struct eadm_grow out = { 0 };

	if (!ctx->redactor) {
		write_packet(ctx, proto, direction, data, n, time);
		return;
	}
	eadm_redact_packet(ctx->redactor, proto, data, n, &out);
	if (out.fail)
		ctx->capture->error = -ENOMEM;
	else
		write_packet(ctx, proto, direction, out.p, out.len, time);
	free(out.p);
}

static void write_fact(struct eadm_ctx *ctx, const char *fact, size_t n)
{
	struct eadm_capture *c = ctx->capture;
	uint32_t len;

	if (n > MAX_FACT)
		n = MAX_FACT;
	len = 12 + 4 + padded(n) + 4;
	put32(c, PCAPNG_FACT);
	put32(c, len);
	put_option(c, PCAPNG_OPT_COMMENT, fact, n);
	put_option(c, PCAPNG_OPT_END, NULL, 0);
	put32(c, len);
}

void eadm_capture_fact(struct eadm_ctx *ctx, const char *key,
		       const char *value)
{
	struct eadm_grow out = { 0 };
	char fact[MAX_FACT + 1];

	if (!ctx->redactor) {
		write_fact(ctx, fact, snprintf(fact, sizeof(fact), "%s=%s",
					       key, value));
		return;
	}
	eadm_redact_fact(ctx->redactor, key, value, &out);
	if (out.fail)
		ctx->capture->error = -ENOMEM;
	else
		write_fact(ctx, (const char *)out.p, out.len);
	free(out.p);
}

/* Here begins the state of another moment. */
void eadm_capture_moment(struct eadm_ctx *ctx)
{
	struct eadm_capture *c = ctx->capture;
	uint64_t *starts;
	char number[16];

	starts = realloc(c->starts, (c->n_starts + 1) * sizeof(*starts));
	if (!starts) {
		c->error = -ENOMEM;
		return;
	}
	c->starts = starts;
	starts[c->n_starts++] = c->offset + c->used;
	snprintf(number, sizeof(number), "%u", c->moments++);
	eadm_capture_fact(ctx, "moment", number);
}

void eadm_capture_request(struct eadm_ctx *ctx, const struct eadm_query *query,
			  uint32_t seq)
{
	_Alignas(8) char buf[EADM_REQUEST_MAX] = { 0 };
	size_t len = eadm_nl_build(query, seq, buf);

	if (!ctx->capture->moments)
		eadm_capture_moment(ctx);
	put_packet(ctx, query->proto, PCAPNG_TO_KERNEL, buf, len,
		   eadm_now(ctx));
}

void eadm_capture_chunk(struct eadm_ctx *ctx, const struct eadm_query *query,
			const struct eadm_chunk *chunk)
{
	put_packet(ctx, query->proto, PCAPNG_TO_USER, chunk->data, chunk->len,
		   chunk->time);
}

/*
 * An error that came from no message is written as the one it could be, with
 * the sentence about it.
 */
void eadm_capture_error(struct eadm_ctx *ctx, const struct eadm_query *query,
			uint32_t seq, int error)
{
	struct {
		struct nlmsghdr nlh;
		struct nlmsgerr err;
		struct nlattr attr;
		char sentence[sizeof(ctx->errmsg)];
	} msg = {
		.nlh = {
			.nlmsg_type = NLMSG_ERROR,
			.nlmsg_flags = NLM_F_CAPPED | NLM_F_ACK_TLVS,
			.nlmsg_seq = seq,
		},
		.err = {
			.error = error,
			.msg = {
				.nlmsg_len = NLMSG_HDRLEN,
				.nlmsg_type = query->type,
				.nlmsg_seq = seq,
			},
		},
		.attr.nla_type = EADM_ERROR_SENTENCE,
	};
	size_t len = strlen(ctx->errmsg) + 1;

	memcpy(msg.sentence, ctx->errmsg, len);
	msg.attr.nla_len = NLA_HDRLEN + len;
	msg.nlh.nlmsg_len = offsetof(typeof(msg), sentence) + NLA_ALIGN(len);
	put_packet(ctx, query->proto, PCAPNG_TO_USER, &msg,
		   msg.nlh.nlmsg_len, eadm_now(ctx));
}

/* ---- files ------------------------------------------------------------------- */

static void capture_free(struct eadm_ctx *ctx)
{
	struct eadm_capture *c = ctx->capture;

	if (c->out)
		eadm_output_close(c->out, false);
	free(c->starts);
	free(c->missing);
	free(c->buf);
	free(c);
	ctx->capture = NULL;
}

EADM_API int eadm_capture_open(struct eadm_ctx *ctx, const char *path)
{
	static const char *const facts[] = { "eadm", "kernel", "host", "pidns" };
	const char *value;
	unsigned int i;
	int ret;

	if (!ctx->src)
		return eadm_fail(ctx, -EINVAL, "the context is not open");
	if (ctx->capture)
		return eadm_fail(ctx, -EBUSY, "a capture is open already");
	ctx->capture = calloc(1, sizeof(*ctx->capture));
	if (!ctx->capture)
		return eadm_fail(ctx, -ENOMEM, "out of memory");
	ctx->capture->buf = malloc(BUFFER_SIZE);
	ret = ctx->capture->buf ?
		      eadm_output_open(ctx, path, &ctx->capture->out) :
		      eadm_fail(ctx, -ENOMEM, "out of memory");
	if (ret) {
		capture_free(ctx);
		return ret;
	}
	ctx->capture->fd = eadm_output_fd(ctx->capture->out);
	put_section(ctx);
	for (i = 0; i < EADM_ARRAY_SIZE(facts); i++) {
		value = ctx->src->ops->fact(ctx->src, facts[i]);
		if (value)
			eadm_capture_fact(ctx, facts[i], value);
	}
	return 0;
}

/* Move what follows @from to @to; the buffer is empty. */
static int close_gap(struct eadm_capture *c, uint64_t from, uint64_t to)
{
	ssize_t n;

	while (from < c->offset) {
		n = pread(c->fd, c->buf, BUFFER_SIZE, from);
		if (n > 0)
			n = pwrite(c->fd, c->buf, n, to);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from += n;
		to += n;
	}
	if (ftruncate(c->fd, to) || lseek(c->fd, to, SEEK_SET) < 0)
		return -errno;
	c->offset = to;
	return 0;
}

/*
 * Make room by leaving out the oldest moments. A quarter more than need be
 * goes, so that the rest is not moved for each new one.
 */
static void drop_oldest(struct eadm_capture *c)
{
	uint64_t gone, first = c->starts[0];
	size_t i, n = 0;

	flush(c);
	if (c->error || c->offset <= c->limit)
		return;
	while (n + 1 < c->n_starts && c->offset - (c->starts[n] - first) >
					      c->limit - c->limit / 4)
		n++;
	gone = c->starts[n] - first;
	if (c->offset - gone > c->limit) {
		c->error = -EFBIG;
		return;
	}
	c->error = close_gap(c, c->starts[n], first);
	for (i = n; i < c->n_starts; i++)
		c->starts[i - n] = c->starts[i] - gone;
	c->n_starts -= n;
}

/* The context's error is why; each is kept once, however often it comes. */
void eadm_capture_missing(struct eadm_ctx *ctx, int error, const char *device,
			  const char *what)
{
	struct eadm_capture *c = ctx->capture;
	struct missing *more;
	unsigned int i;

	for (i = 0; i < c->n_missing; i++) {
		if (!strcmp(c->missing[i].device, device) &&
		    !strcmp(c->missing[i].what, what))
			return;
	}
	if (c->n_missing == MAX_MISSING)
		return;
	more = realloc(c->missing, (c->n_missing + 1) * sizeof(*more));
	if (!more) {
		c->error = -ENOMEM;
		return;
	}
	c->missing = more;
	more += c->n_missing++;
	more->error = error;
	snprintf(more->device, sizeof(more->device), "%s", device);
	snprintf(more->what, sizeof(more->what), "%s", what);
	snprintf(more->why, sizeof(more->why), "%s", ctx->errmsg);
}

EADM_API int eadm_capture_note(const struct eadm_ctx *ctx, unsigned int index,
			       struct eadm_note *note)
{
	const struct eadm_capture *c = ctx->capture;
	const struct missing *m;
	struct eadm_note full;
	size_t size = note->size;

	if (!c || index >= c->n_missing || size > sizeof(full))
		return 0;
	m = &c->missing[index];
	full = (struct eadm_note){ size, m->error, m->device, m->what, m->why };
	memcpy(note, &full, size);
	return 1;
}

/* Read all rows for the sake of what is read; errors are in the capture. */
static int read_rows(struct eadm_ctx *ctx, const struct eadm_object *object,
		     bool hw)
{
	struct eadm_dump_opts opts = { .size = sizeof(opts), .hw = hw,
				       .limits = true };
	struct eadm_note note = { .size = sizeof(note) };
	const struct eadm_record *rec;
	struct eadm_dump *dump;
	unsigned int i;
	int ret;

	ret = eadm_dump_open(ctx, object, &opts, &dump);
	if (ret)
		return ret;
	while ((ret = eadm_dump_next(dump, &rec)) > 0 && !ctx->capture->error)
		;
	/* Rows of other devices do not make up for those of one. */
	for (i = 0; !ret && eadm_dump_note(dump, i, &note); i++) {
		if (note.error)
			ret = eadm_fail(ctx, note.error, "%s", note.why);
	}
	eadm_dump_close(dump);
	return ret;
}

static void read_object(struct eadm_ctx *ctx, const struct eadm_object *object,
			bool hw)
{
	int ret;

	if (object->sort != EADM_SPEC_SORT_ROWS)
		return;
	hw = hw && object->hw;
	ret = read_rows(ctx, object, hw);
	if (!hw || !ret)
		return;
	/* The capture that is read may have been made without. */
	if (ret == -EPERM || ret == -EACCES)
		eadm_capture_missing(ctx, ret, "", "the adapters' contexts");
	else if (ret != -ENODATA)
		return;
	read_rows(ctx, object, false);
}

static void read_module(struct eadm_ctx *ctx, const char *name)
{
	char key[96];

	snprintf(key, sizeof(key), "module.%s", name);
	if (!eadm_source_fact(ctx, key))
		return;
	snprintf(key, sizeof(key), "origin.%s", name);
	eadm_source_fact(ctx, key);
}

/* The version of modules belongs to the picture. */
static void read_modules(struct eadm_ctx *ctx)
{
	static const char *const common[] = { "ib_core", "ib_uverbs",
					      "rdma_cm", "eadm" };
	const struct eadm_family *family = NULL;
	const char *name;
	unsigned int i;

	for (i = 0; i < EADM_ARRAY_SIZE(common); i++)
		read_module(ctx, common[i]);
	while ((family = eadm_family_next(family))) {
		for (i = 0; (name = eadm_family_module(family, i)); i++)
			read_module(ctx, name);
	}
}

EADM_API int eadm_capture_all(struct eadm_ctx *ctx, bool hw)
{
	struct eadm_capture *c = ctx->capture;
	const struct eadm_object *object;

	if (!c)
		return eadm_fail(ctx, -EINVAL, "no capture is open");
	if (!c->moments)
		eadm_capture_machine(ctx);
	eadm_capture_moment(ctx);
	read_modules(ctx);
	for (object = eadm_object_next(NULL); object && !c->error;
	     object = eadm_object_next(object)) {
		read_object(ctx, object, hw);
		/* The next one may never come to an end. */
		flush(c);
	}
	if (!c->error && c->limit)
		drop_oldest(c);
	if (c->error == -EFBIG)
		return eadm_fail(ctx, c->error,
				 "a single moment is larger than the limit");
	if (c->error)
		return eadm_fail(ctx, c->error, "%s",
				 strerror(-c->error));
	return 0;
}

EADM_API int eadm_capture_limit(struct eadm_ctx *ctx, uint64_t bytes)
{
	struct eadm_capture *c = ctx->capture;

	if (!c || !eadm_output_is_file(c->out))
		return eadm_fail(ctx, -EINVAL,
				 "only a file can be kept within a size");
	c->limit = bytes;
	return 0;
}

EADM_API int eadm_capture_close(struct eadm_ctx *ctx, bool keep)
{
	struct eadm_capture *c = ctx->capture;
	int ret;

	if (!c)
		return eadm_fail(ctx, -EINVAL, "no capture is open");
	if (keep)
		flush(c);
	ret = c->error;
	if (ret)
		eadm_fail(ctx, ret, "%s", strerror(-ret));
	if (keep && !ret) {
		ret = eadm_output_close(c->out, true);
		c->out = NULL;
	}
	capture_free(ctx);
	return ret;
}
