// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writing captures: blocks in a file whose size is limited. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/abi.h"
#include "base/write.h"
#include "capture.h"
#include "grow.h"
#include "message.h"
#include "pcapng.h"

#define BUFFER_SIZE (256 * 1024)

#define MAX_MISSING 64

/* Size of the block that begins a snapshot. */
#define SNAPSHOT_SIZE 16

/* Requested data that could not be read. */
struct missing {
	int error;
	char device[EADM_DEV_NAME_MAX];
	char what[96];
	char why[sizeof(((struct eadm_ctx *)0)->errmsg)];
};

struct eadm_capture {
	struct eadm_ctx *ctx;
	struct eadm_filter *filter;	/* NULL: none */
	struct eadm_output *out;
	int fd;			/* file descriptor of the output */
	unsigned char *buf;
	size_t used;
	int error;		/* the first write error */
	bool oversized;		/* @error: a single snapshot exceeds @limit */
	uint32_t snapshots;
	uint64_t offset;	/* bytes written so far */
	uint64_t stream;	/* offset from which each packet is complete, or 0 */
	uint64_t limit;		/* 0: none */
	uint64_t *starts;	/* offset of each snapshot in the file */
	size_t n_starts, max_starts;
	struct missing *missing;
	size_t n_missing, max_missing;
};

/* ---- bytes ------------------------------------------------------------------ */

static void flush(struct eadm_capture *c)
{
	size_t done = 0;

	if (!c->error && c->used)
		c->error = eadm_write_all(c->fd, c->buf, c->used, &done);
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

static void put_section(struct eadm_capture *c, const char *kernel)
{
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
	put32(c, UINT32_MAX);	/* length of the section: unknown */
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

static void write_packet(struct eadm_capture *c, uint16_t proto,
			 uint16_t direction, const void *data, size_t n,
			 uint64_t time)
{
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

static void put_packet(struct eadm_capture *c, uint16_t proto,
		       uint16_t direction, const void *data, size_t n,
		       uint64_t time)
{
	struct eadm_filter *filter = c->filter;
	struct eadm_bytes out = { 0 };

	if (!filter) {
		write_packet(c, proto, direction, data, n, time);
		return;
	}
	filter->packet(filter, proto, data, n, &out);
	if (out.fail)
		c->error = -ENOMEM;
	else
		write_packet(c, proto, direction, out.p, out.len, time);
	free(out.p);
}

/*
 * Begin a new snapshot, unless the last one is still empty: callers that move to a snapshot
 * and callers that read all of it both call this. After an error, offsets no longer match
 * the file.
 */
void eadm_capture_snapshot(struct eadm_capture *c)
{
	uint64_t end = c->offset + c->used;

	if (c->error || (c->n_starts && c->starts[c->n_starts - 1] + SNAPSHOT_SIZE == end))
		return;
	if (!grow(c->starts, c->n_starts, c->max_starts)) {
		c->error = -ENOMEM;
		return;
	}
	c->starts[c->n_starts++] = end;
	put32(c, PCAPNG_SNAPSHOT);
	put32(c, SNAPSHOT_SIZE);
	put32(c, c->snapshots++);
	put32(c, SNAPSHOT_SIZE);
}

void eadm_capture_request(struct eadm_capture *c,
			  const struct eadm_query *query, uint32_t seq)
{
	_Alignas(8) unsigned char buf[EADM_REQUEST_MAX];
	struct eadm_bytes msg = {
		.p = buf, .max = sizeof(buf), .fixed = true,
	};

	/*
	 * Rows about the setup of the machine belong to all snapshots without such
	 * rows.
	 */
	if (!c->snapshots && query->proto != EADM_LOCAL_PROTO)
		eadm_capture_snapshot(c);
	eadm_message_query(&msg, query, seq);
	put_packet(c, query->proto, PCAPNG_TO_KERNEL, msg.p, msg.len,
		   eadm_now(c->ctx));
	c->stream = 0;
}

/*
 * The next packet belongs to an endless stream: unlike a response, it can be read without
 * the packets that follow it.
 */
void eadm_capture_stream(struct eadm_capture *c)
{
	if (!c->stream)
		c->stream = c->offset + c->used;
}

void eadm_capture_chunk(struct eadm_capture *c, uint16_t proto,
			const struct eadm_chunk *chunk)
{
	put_packet(c, proto, PCAPNG_TO_USER, chunk->data, chunk->len,
		   chunk->time);
}

/*
 * An error that was not reported by a netlink message is written as such a message,
 * with the text of the context's error.
 */
void eadm_capture_error(struct eadm_capture *c, const struct eadm_query *query,
			uint32_t seq, int error)
{
	_Alignas(8) unsigned char buf[sizeof(c->ctx->errmsg) + 64];
	struct eadm_bytes msg = {
		.p = buf, .max = sizeof(buf), .fixed = true,
	};
	struct nlmsgerr err = {
		.error = error,
		.msg = {
			.nlmsg_len = NLMSG_HDRLEN,
			.nlmsg_type = query->type,
			.nlmsg_seq = seq,
		},
	};
	const char *sentence = c->ctx->errmsg;
	size_t at = eadm_message_begin(&msg, NLMSG_ERROR,
				       NLM_F_CAPPED | NLM_F_ACK_TLVS, seq);

	eadm_bytes_put(&msg, &err, sizeof(err));
	eadm_message_put(&msg, EADM_ERROR_SENTENCE, sentence,
			 strlen(sentence) + 1);
	eadm_message_end(&msg, at);
	put_packet(c, query->proto, PCAPNG_TO_USER, msg.p, msg.len,
		   eadm_now(c->ctx));
}

/* ---- files ------------------------------------------------------------------- */

static void capture_free(struct eadm_capture *c)
{
	if (c->out)
		eadm_output_close(c->out, false);
	free(c->starts);
	free(c->missing);
	free(c->buf);
	free(c);
}

/* @kernel: the machine's kernel release, for the header, or NULL. */
int eadm_capture_begin(struct eadm_ctx *ctx, const char *path,
		       const char *kernel, struct eadm_filter *filter,
		       struct eadm_capture **capture)
{
	struct eadm_capture *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return eadm_oom(ctx);
	c->ctx = ctx;
	c->filter = filter;
	c->buf = malloc(BUFFER_SIZE);
	ret = c->buf ? eadm_output_open(ctx, path, &c->out) : eadm_oom(ctx);
	if (ret) {
		capture_free(c);
		return ret;
	}
	c->fd = eadm_output_fd(c->out);
	put_section(c, kernel);
	*capture = c;
	return 0;
}

/*
 * Move the data after @from to @to; the buffer must be empty. If this fails, the data
 * before the new offset is valid.
 */
static int close_gap(struct eadm_capture *c, uint64_t from, uint64_t to)
{
	ssize_t n;

	while (from < c->offset) {
		n = pread(c->fd, c->buf, BUFFER_SIZE, from);
		if (n > 0)
			n = pwrite(c->fd, c->buf, n, to);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			c->offset = to;
			return n ? -errno : -EIO;
		}
		from += n;
		to += n;
	}
	if (ftruncate(c->fd, to) || lseek(c->fd, to, SEEK_SET) < 0)
		return -errno;
	c->offset = to;
	return 0;
}

/*
 * Make room by dropping the oldest snapshots. Drop a quarter more than necessary, so
 * that the remaining data is not moved for every new snapshot.
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
		c->oversized = true;
		return;
	}
	c->error = close_gap(c, c->starts[n], first);
	for (i = n; i < c->n_starts; i++)
		c->starts[i - n] = c->starts[i] - gone;
	c->n_starts -= n;
	if (c->stream)
		c->stream -= gone;
}

static const char *why(const struct eadm_capture *c)
{
	return c->oversized ? "a single snapshot is larger than the limit" :
			      strerror(-c->error);
}

EADM_API int eadm_capture_flush(struct eadm_capture *c)
{
	flush(c);
	return c->error ? eadm_fail(c->ctx, c->error, "%s", why(c)) : 0;
}

/*
 * Make sure that all data so far is in the file and that the file is within the limit.
 * Returns the first error and sets the context's message.
 */
int eadm_capture_settle(struct eadm_capture *c)
{
	if (!c->error && c->limit)
		drop_oldest(c);
	return eadm_capture_flush(c);
}

/* Returns the first write error. */
int eadm_capture_status(const struct eadm_capture *c)
{
	return c->error;
}

struct eadm_ctx *eadm_capture_ctx(const struct eadm_capture *c)
{
	return c->ctx;
}

bool eadm_capture_is_empty(const struct eadm_capture *c)
{
	return !c->snapshots;
}

/* Returns the end of the last packet of an endless stream that is complete, or 0. */
static uint64_t end_of_stream(const struct eadm_capture *c)
{
	uint32_t head[2];	/* type and length of a block */
	uint64_t at = c->stream;

	if (at > c->offset)
		return 0;
	while (at && c->offset - at >= sizeof(head) &&
	       pread(c->fd, head, sizeof(head), at) == sizeof(head) &&
	       head[1] >= sizeof(head) && head[1] <= c->offset - at)
		at += head[1];
	return at;
}

/*
 * After an error, keep the packets of an endless stream that are complete, or else the
 * snapshots that are complete: those followed by the start of another one. @kept is set if
 * there is such data.
 */
static void keep_complete(struct eadm_capture *c, char *kept, size_t size)
{
	uint64_t end = end_of_stream(c);
	size_t n = c->n_starts;
	int ret;

	while (n && c->starts[n - 1] > c->offset)
		n--;
	if (!eadm_output_is_file(c->out) || (!end && n < 2) ||
	    ftruncate(c->fd, end ? end : c->starts[n - 1]))
		return;
	ret = eadm_output_close(c->out, true);
	c->out = NULL;
	if (!ret && end)
		snprintf(kept, size, " (kept all complete packets)");
	else if (!ret)
		snprintf(kept, size, " (kept %zu complete snapshot%s)", n - 1,
			 n == 2 ? "" : "s");
}

/* Ends the capture in any case, even on failure. */
int eadm_capture_end(struct eadm_capture *c, bool keep)
{
	struct eadm_ctx *ctx = c->ctx;
	char kept[64] = "";
	int ret;

	if (keep)
		flush(c);
	ret = c->error;
	if (ret) {
		if (keep)
			keep_complete(c, kept, sizeof(kept));
		eadm_fail(ctx, ret, "%s%s", why(c), kept);
	} else if (keep) {
		ret = eadm_output_close(c->out, true);
		c->out = NULL;
	}
	capture_free(c);
	return ret;
}

/* Redactors leave out secrets, too. */
EADM_API int eadm_capture_omit_secrets(struct eadm_capture *c)
{
	if (c->filter)
		return 0;
	if (c->snapshots)
		return eadm_fail(c->ctx, -EINVAL,
				 "the capture already contains a snapshot");
	c->filter = &eadm_omit_secrets;
	return 0;
}

int eadm_capture_bound(struct eadm_capture *c, uint64_t bytes)
{
	if (!eadm_output_is_file(c->out))
		return -EINVAL;
	c->limit = bytes;
	return 0;
}

/* ---- missing data --------------------------------------------------------------- */

/*
 * Note missing data, with the context's error as the reason. Each reason is stored
 * once, even if it occurs repeatedly.
 */
void eadm_capture_missing(struct eadm_capture *c, int error,
			  const char *device, const char *what)
{
	struct missing *more;
	size_t i;

	for (i = 0; i < c->n_missing; i++) {
		if (!strcmp(c->missing[i].device, device) &&
		    !strcmp(c->missing[i].what, what))
			return;
	}
	if (c->n_missing == MAX_MISSING)
		return;
	if (!grow(c->missing, c->n_missing, c->max_missing)) {
		c->error = -ENOMEM;
		return;
	}
	more = &c->missing[c->n_missing++];
	more->error = error;
	snprintf(more->device, sizeof(more->device), "%s", device);
	snprintf(more->what, sizeof(more->what), "%s", what);
	snprintf(more->why, sizeof(more->why), "%s", c->ctx->errmsg);
}

EADM_API int eadm_capture_note(const struct eadm_capture *c, unsigned int index,
			       struct eadm_note *note)
{
	const struct missing *m;
	struct eadm_note full;

	if (index >= c->n_missing)
		return 0;
	m = &c->missing[index];
	full = (struct eadm_note){
		.error = m->error, .device = m->device, .what = m->what,
		.why = m->why,
	};
	return eadm_abi_give(note, &full, sizeof(full));
}
