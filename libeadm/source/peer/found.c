// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Programs that emulate adapters, found by their control sockets. A program that hangs or
 * has ended is left out and must not prevent other programs from being shown.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/root.h"
#include "eadm_nl.h"
#include "follow.h"
#include "found.h"
#include "link.h"
#include "model/attr.h"
#include "model/fields.h"
#include "peer_wire.h"
#include "source/message.h"

/* Indices of one program's devices differ in these bits only. */
#define INDEX_BASE 0x80000000U
#define INDEX_SHIFT 6
#define NO_PROGRAM UINT32_MAX

struct program {
	struct eadm_link *link;
	uint32_t base;		/* base of its devices' indices; NO_PROGRAM: unknown */
	bool seen;
};

struct eadm_found {
	struct eadm_ctx *ctx;
	const char *const *folders;
	struct program programs[EADM_MAX_PROGRAMS];
	unsigned int n;
};

struct joined {
	struct eadm_stream stream;
	struct eadm_found *found;
	struct eadm_query query;
	struct eadm_stream *current;
	struct program programs[EADM_MAX_PROGRAMS];
	unsigned int n, next;
	bool first, ended;
	struct {
		struct nlmsghdr nlh;
		int error;
	} done;
};

bool eadm_found_has(uint32_t dev_index)
{
	return dev_index >= INDEX_BASE;
}

/* ---- finding programs ----------------------------------------------------------- */

static struct program *program_at(struct eadm_found *found, const char *path)
{
	unsigned int i;

	for (i = 0; i < found->n; i++) {
		if (!strcmp(eadm_link_path(found->programs[i].link), path))
			return &found->programs[i];
	}
	if (found->n == EADM_MAX_PROGRAMS)
		return NULL;
	found->programs[i] = (struct program){
		.link = eadm_link_new(found->ctx, path), .base = NO_PROGRAM,
	};
	return found->programs[i].link ? &found->programs[found->n++] : NULL;
}

/*
 * Programs create the socket in the folder itself, services in one of its subfolders.
 */
static const char *const patterns[] = { "*.sock", "*/control.sock" };

static void look_for(struct eadm_found *found, const char *folder, const char *pattern)
{
	struct program *program;
	glob_t sockets;
	size_t i;

	eadm_root_glob(found->ctx, 0, &sockets, "%s/%s", folder, pattern);
	for (i = 0; i < sockets.gl_pathc; i++) {
		program = program_at(found, sockets.gl_pathv[i]);
		if (program)
			program->seen = true;
	}
	globfree(&sockets);
}

unsigned int eadm_found_look(struct eadm_found *found)
{
	const char *const *folder;
	unsigned int i, n = 0;

	for (i = 0; i < found->n; i++)
		found->programs[i].seen = false;
	for (folder = found->folders; *folder; folder++)
		for (i = 0; i < EADM_ARRAY_SIZE(patterns); i++)
			look_for(found, *folder, patterns[i]);
	for (i = 0; i < found->n; i++) {
		if (found->programs[i].seen)
			found->programs[n++] = found->programs[i];
		else
			eadm_link_put(found->programs[i].link);
	}
	found->n = n;
	return n;
}

struct eadm_ctx *eadm_found_ctx(const struct eadm_found *found)
{
	return found->ctx;
}

struct eadm_link *eadm_found_link(const struct eadm_found *found, unsigned int i)
{
	return found->programs[i].link;
}

/*
 * ---- queries of all programs ------------------------------------------------------
 */

/* Only log a program's error: the response as a whole continues. */
static void left_out(const struct eadm_found *found)
{
	eadm_log(found->ctx, EADM_LOG_WARNING, "left out: %s", found->ctx->errmsg);
}

static bool begin_next(struct joined *s)
{
	struct program *program;

	while (s->next < s->n) {
		program = &s->programs[s->next++];
		if (!eadm_link_query(program->link, &s->query, s->stream.seq,
				     &s->current))
			return true;
		s->current = NULL;
		left_out(s->found);
	}
	return false;
}

/* Remove the message that ends this part; returns false if nothing is left. */
static bool cut_end(struct eadm_chunk *chunk, bool keep_errors)
{
	const struct nlmsghdr *nlh = chunk->data;
	size_t pos = 0;

	while (chunk->len - pos >= NLMSG_HDRLEN) {
		nlh = (const void *)((const char *)chunk->data + pos);
		if (nlh->nlmsg_len < NLMSG_HDRLEN ||
		    nlh->nlmsg_len > chunk->len - pos)
			break;
		if (nlh->nlmsg_type == NLMSG_DONE ||
		    (nlh->nlmsg_type == NLMSG_ERROR && !keep_errors)) {
			chunk->len = pos;
			break;
		}
		pos += NLMSG_ALIGN(nlh->nlmsg_len);
		if (pos > chunk->len)
			break;
	}
	return chunk->len;
}

static int joined_next(struct eadm_stream *stream, struct eadm_chunk *chunk)
{
	struct joined *s = (struct joined *)stream;
	int ret;

	for (;;) {
		if (!s->current && !begin_next(s))
			break;
		ret = s->current->ops->next(s->current, chunk);
		if (ret > 0 && cut_end(chunk, s->first))
			return 1;
		if (ret > 0)
			continue;
		if (ret < 0 && s->first)
			return ret;
		if (ret < 0)
			left_out(s->found);
		s->current->ops->end(s->current);
		s->current = NULL;
		s->first = false;
	}
	if (s->ended)
		return 0;
	s->ended = true;
	s->done.nlh = (struct nlmsghdr){
		.nlmsg_len = sizeof(s->done), .nlmsg_type = NLMSG_DONE,
		.nlmsg_flags = NLM_F_MULTI, .nlmsg_seq = stream->seq,
	};
	*chunk = (struct eadm_chunk){
		.data = &s->done, .len = sizeof(s->done),
		.time = eadm_now(s->found->ctx),
	};
	return 1;
}

static void joined_end(struct eadm_stream *stream)
{
	struct joined *s = (struct joined *)stream;

	unsigned int i;

	if (s->current)
		s->current->ops->end(s->current);
	for (i = 0; i < s->n; i++)
		eadm_link_put(s->programs[i].link);
	free(s);
}

static const struct eadm_stream_ops joined_ops = {
	.next = joined_next,
	.end = joined_end,
};

int eadm_found_query_all(struct eadm_found *found, const struct eadm_query *query,
			 uint32_t seq, struct eadm_stream *first,
			 struct eadm_stream **stream)
{
	struct joined *s = calloc(1, sizeof(*s));

	if (!s) {
		if (first)
			first->ops->end(first);
		return eadm_oom(found->ctx);
	}
	s->stream.ops = &joined_ops;
	s->stream.seq = seq;
	s->stream.fd = -1;
	s->found = found;
	s->query = *query;
	s->current = first;
	s->first = first;
	memcpy(s->programs, found->programs, sizeof(s->programs));
	for (s->n = 0; s->n < found->n; s->n++)
		eadm_link_get(s->programs[s->n].link);
	*stream = &s->stream;
	return 0;
}

/*
 * ---- queries of one program -------------------------------------------------------
 */

/* Derives the program's index base from the index of its first device. */
static uint32_t ask_base(struct eadm_found *found, struct program *program)
{
	const struct eadm_query query = {
		.proto = NETLINK_GENERIC, .type = EADM_PEER_TYPE,
		.cmd = EADM_CMD_DEV_GET, .dump = true,
	};
	uint32_t base = NO_PROGRAM;
	const struct nlmsghdr *nlh;
	struct eadm_stream *stream;
	const struct nlattr *attr;
	struct eadm_chunk chunk;
	struct eadm_attrs attrs;

	if (eadm_link_query(program->link, &query, 1, &stream)) {
		left_out(found);
		return NO_PROGRAM;
	}
	while (stream->ops->next(stream, &chunk) > 0) {
		nlh = chunk.data;
		if (base != NO_PROGRAM || chunk.len < NLMSG_LENGTH(GENL_HDRLEN) ||
		    nlh->nlmsg_len > chunk.len ||
		    nlh->nlmsg_type != query.type)
			continue;
		attrs = eadm_attr_msg(nlh, GENL_HDRLEN);
		if (eadm_attr_next(&attrs, &attr) > 0 &&
		    eadm_attr_type(attr) == EADM_A_COMMON_DEV_INDEX &&
		    eadm_attr_len(attr) == 4)
			base = eadm_load(eadm_attr_data(attr), 4) >> INDEX_SHIFT;
	}
	stream->ops->end(stream);
	return base;
}

static struct program *program_of(struct eadm_found *found, uint32_t index)
{
	unsigned int i;

	for (i = 0; i < found->n; i++) {
		if (found->programs[i].base == index >> INDEX_SHIFT)
			return &found->programs[i];
	}
	for (i = 0; i < found->n; i++) {
		found->programs[i].base = ask_base(found, &found->programs[i]);
		if (found->programs[i].base == index >> INDEX_SHIFT)
			return &found->programs[i];
	}
	eadm_fail(found->ctx, -ENODEV, "the program that provides the adapter has exited");
	return NULL;
}

int eadm_found_query(struct eadm_found *found, const struct eadm_query *query,
		     uint32_t seq, struct eadm_stream **stream)
{
	struct program *program = program_of(found, query->args[0].u);

	return program ? eadm_link_query(program->link, query, seq, stream) :
			 -ENODEV;
}

int eadm_found_follow(struct eadm_found *found, const struct eadm_query *query,
		      uint32_t seq, struct eadm_stream **stream)
{
	struct program *program = program_of(found, query->args[0].u);

	return program ? eadm_peer_follow(found->ctx, program->link, query, seq,
					  stream) : -ENODEV;
}

int eadm_found_raw(struct eadm_found *found, const struct eadm_query *query,
		   uint32_t seq, eadm_scrub_fn scrub,
		   struct eadm_stream **stream)
{
	const struct eadm_device *dev = eadm_device_of(found->ctx,
						       query->args[0].u);
	struct program *program = program_of(found, query->args[0].u);
	struct eadm_link_device at = { 0 };

	if (!program || !dev)
		return program ? eadm_fail(found->ctx, -ENODEV,
					   "no such RDMA device") : -ENODEV;
	at.link = program->link;
	at.name = dev->name;
	return eadm_node_query_by(found->ctx, query, seq, scrub,
				  eadm_link_ioctl, &at, stream);
}

/* ---- life ------------------------------------------------------------------------------ */

struct eadm_found *eadm_found_new(struct eadm_ctx *ctx,
				  const char *const *folders)
{
	struct eadm_found *found = calloc(1, sizeof(*found));

	if (!found)
		return NULL;
	found->ctx = ctx;
	found->folders = folders;
	return found;
}

void eadm_found_free(struct eadm_found *found)
{
	unsigned int i;

	for (i = 0; found && i < found->n; i++)
		eadm_link_put(found->programs[i].link);
	free(found);
}
