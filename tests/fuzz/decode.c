// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: entries of queues, contexts, registers, and attributes of
 * the companion's messages. The first byte tells which; whatever bytes there
 * are must give rows or an error. What was scrubbed must stay decodable.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "asan.h"
#include "eadm_nl.h"
#include "read/entry.h"
#include "read/decode.h"
#include "bundle/redact.h"

static struct eadm_record rec;
static const struct eadm_device device = { .name = "fuzz" };

/* Everything of a row is looked at. */
static void read_row(void)
{
	struct eadm_value values[EADM_MAX_FIELDS];
	unsigned int i, n;
	char text[512];

	n = eadm_record_values(&rec, values, EADM_MAX_FIELDS);
	for (i = 0; i < n; i++)
		eadm_record_text(&rec, values[i].field, text, sizeof(text));
}

static const char *object_of(uint32_t kind)
{
	static const char *const names[] = {
		[EADM_RAW_KIND_SQ] = "sqe", [EADM_RAW_KIND_RQ] = "rqe",
		[EADM_RAW_KIND_CQ] = "cqe", [EADM_RAW_KIND_EQ] = "eqe",
		[EADM_RAW_KIND_CMD_SQ] = "cmde", [EADM_RAW_KIND_CMD_CQ] = "cqe",
	};

	return names[kind];
}

static void decode_all(struct eadm_ring *ring)
{
	const struct eadm_object *object =
		eadm_object_find(object_of(ring->kind));
	uint32_t place;

	if (ring->kind == EADM_RAW_KIND_SQ)
		eadm_entry_index(ring, ring->places);
	for (place = ring->first; place < ring->first + ring->count; place++) {
		if (eadm_entry_decode(ring, place, object, &rec))
			read_row();
	}
}

static void entries(const uint8_t *p, size_t len)
{
	struct eadm_ring ring = {
		.dev = &device, .family = eadm_family_find("erdma"),
	};
	uint32_t word[6];

	if (len < 4 + sizeof(word))
		return;
	ring.kind = p[0] % (EADM_RAW_KIND_CMD_CQ + 1);
	ring.depth = 1U << (p[1] % 16);
	ring.payload = p[2] & 1;
	ring.has_sw_pi = p[3] & 1;
	ring.has_sw_ci = p[3] & 2;
	ring.has_hw_pi = p[3] & 4;
	ring.has_hw_ci = p[3] & 8;
	memcpy(word, p + 4, sizeof(word));
	p += 4 + sizeof(word);
	len -= 4 + sizeof(word);
	ring.entry_size = ring.kind == EADM_RAW_KIND_EQ ? 16 : 32;
	ring.sw_pi = word[0];
	ring.sw_ci = word[1];
	ring.hw_pi = word[2];
	ring.hw_ci = word[3];
	ring.id = word[4];
	ring.first = word[5] % ring.depth;
	ring.count = len / ring.entry_size;
	if (ring.count > ring.depth - ring.first)
		ring.count = ring.depth - ring.first;
	if (!ring.count)
		return;
	/* No byte more than there is, for the sanitizer to see. */
	ring.data = malloc((size_t)ring.count * ring.entry_size);
	ring.places = malloc(ring.count);
	if (!ring.data || !ring.places)
		abort();
	memcpy(ring.data, p, (size_t)ring.count * ring.entry_size);
	decode_all(&ring);
	if (ring.kind == EADM_RAW_KIND_SQ) {
		if (eadm_entry_scrub(&ring))
			abort();
		decode_all(&ring);
	}
	free(ring.data);
	free(ring.places);
}

static void members(const uint8_t *p, size_t len)
{
	const struct eadm_family *family = eadm_family_find("erdma");
	unsigned char *copy;
	unsigned int i;

	if (!len)
		return;
	copy = malloc(len);
	if (!copy)
		abort();
	memcpy(copy, p + 1, len - 1);
	for (i = 0; i < 64; i++) {
		eadm_record_reset(&rec, &eadm_spec_objects[EADM_SPEC_OBJ_HWCTX],
				  0);
		if (eadm_context_row(family, p[0] % 12, copy, len - 1, i, &rec))
			read_row();
		eadm_record_reset(&rec, &eadm_spec_objects[EADM_SPEC_OBJ_REGS],
				  0);
		if (eadm_regs_row(family, copy, len - 1, i, &rec))
			read_row();
	}
	free(copy);
}

/* A message around the bytes, and the same from the other kind of machine. */
static void attributes(const uint8_t *p, size_t len)
{
	size_t size = NLMSG_LENGTH(GENL_HDRLEN) + (len ? len - 1 : 0);
	struct eadm_ctx *ctx = eadm_new();
	struct eadm_reply reply = { .ctx = ctx };
	const struct eadm_object *object;
	struct nlmsghdr *nlh;

	if (!ctx || !len)
		goto out;
	object = &eadm_spec_objects[p[0] % EADM_SPEC_OBJ_COUNT];
	nlh = malloc(size);
	if (!nlh)
		abort();
	*nlh = (struct nlmsghdr){ .nlmsg_len = size, .nlmsg_type = 0x20 };
	memset(NLMSG_DATA(nlh), 0, GENL_HDRLEN);
	((uint8_t *)NLMSG_DATA(nlh))[0] = object->cmd;
	memcpy((char *)NLMSG_DATA(nlh) + GENL_HDRLEN, p + 1, len - 1);
	reply.chunk.data = nlh;
	reply.chunk.len = size;
	if (!eadm_decode(&reply, nlh, object, true, &rec))
		read_row();
	eadm_swap(NETLINK_GENERIC, nlh, size);
	free(nlh);
out:
	eadm_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] % 4) {
	case 0:
	case 1:
		entries(data + 1, size - 1);
		break;
	case 2:
		members(data + 1, size - 1);
		break;
	default:
		attributes(data + 1, size - 1);
		break;
	}
	return 0;
}
