// SPDX-License-Identifier: GPL-2.0-or-later
#include "exchange.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#define MAGIC 0x45414454	/* "EADT" */
#define HEADER 8		/* magic, version and length, in every version */
#define MAX_QPN 0xffffff
#define MAX_LID 0xbfff
#define MAX_ERRNO 4095

enum { LAST = 1, CAN_READ = 2, CAN_WRITE = 4, ALL_FLAGS = 7 };

/* Big-endian. */
struct wire {
	uint32_t magic;
	uint16_t version, length;
	uint8_t kind, flags, roce, mtu;
	uint16_t lid, depth;
	char type[EXCHANGE_TYPE];
	uint32_t qpn, psn, qkey, size, shared, rkey;
	uint64_t addr;
	uint8_t gid[16];
	uint16_t reason, error;
	uint32_t reserved;
};

_Static_assert(sizeof(struct wire) == EXCHANGE_SIZE, "no padding");

void exchange_write(const struct exchange *m, uint8_t buf[EXCHANGE_SIZE])
{
	struct wire wire = {
		.magic = htobe32(MAGIC),
		.version = htobe16(EXCHANGE_VERSION),
		.length = htobe16(EXCHANGE_SIZE),
		.kind = m->kind,
		.flags = (m->last ? LAST : 0) | (m->can_read ? CAN_READ : 0) |
			 (m->can_write ? CAN_WRITE : 0),
		.roce = m->roce,
		.mtu = m->mtu,
		.lid = htobe16(m->lid),
		.depth = htobe16(m->depth),
		.qpn = htobe32(m->qpn),
		.psn = htobe32(m->psn),
		.qkey = htobe32(m->qkey),
		.size = htobe32(m->size),
		.shared = htobe32(m->shared),
		.rkey = htobe32(m->rkey),
		.addr = htobe64(m->addr),
		.reason = htobe16(m->reason),
		.error = htobe16(m->error),
	};

	memcpy(wire.type, m->type, sizeof(wire.type));
	memcpy(wire.gid, m->gid, sizeof(wire.gid));
	memcpy(buf, &wire, sizeof(wire));
}

/* Capital letters and digits, followed by zeros. */
static bool is_type(const char type[EXCHANGE_TYPE])
{
	size_t i = 0, n;

	while (i < EXCHANGE_TYPE && ((type[i] >= 'A' && type[i] <= 'Z') ||
				     (type[i] >= '0' && type[i] <= '9')))
		i++;
	for (n = i; i < EXCHANGE_TYPE && !type[i]; i++)
		;
	return n && n < EXCHANGE_TYPE && i == EXCHANGE_TYPE;
}

/* Neither zero nor a multicast group. */
static bool is_gid(const uint8_t gid[16])
{
	static const uint8_t none[16];

	return memcmp(gid, none, sizeof(none)) != 0 && gid[0] != 0xff;
}

static bool is_refusal(const struct exchange *m)
{
	return m->reason && m->reason < REFUSED_END && m->error <= MAX_ERRNO;
}

static bool is_address(const struct exchange *m)
{
	return !m->reason && !m->error && is_type(m->type) && is_gid(m->gid) &&
	       m->roce <= 2 && m->mtu >= 1 && m->mtu <= 5 && m->lid <= MAX_LID &&
	       m->qpn <= MAX_QPN && m->psn <= MAX_QPN && m->depth &&
	       m->depth <= EXCHANGE_MAX_DEPTH && m->size &&
	       m->size <= EXCHANGE_MAX_BYTES &&
	       (uint64_t)m->size * m->depth <= EXCHANGE_MAX_FLIGHT && m->shared &&
	       m->shared <= EXCHANGE_MAX_BYTES;
}

static bool is_valid(const struct exchange *m)
{
	switch (m->kind) {
	case EXCHANGE_HELLO:
		return is_address(m);
	case EXCHANGE_WELCOME:
		return is_address(m) && !m->last;
	case EXCHANGE_REFUSAL:
		return is_refusal(m);
	}
	return false;
}

enum exchange_result exchange_read(const uint8_t *buf, size_t len,
				   struct exchange *message)
{
	const uint32_t magic = htobe32(MAGIC);
	struct wire wire;
	struct exchange m;

	if (memcmp(buf, &magic, len < sizeof(magic) ? len : sizeof(magic)))
		return EXCHANGE_ALIEN;
	if (len < HEADER)
		return EXCHANGE_MORE;
	memcpy(&wire, buf, HEADER);
	if (be16toh(wire.version) != EXCHANGE_VERSION)
		return EXCHANGE_OTHER_VERSION;
	if (be16toh(wire.length) != EXCHANGE_SIZE)
		return EXCHANGE_INVALID;
	if (len < EXCHANGE_SIZE)
		return EXCHANGE_MORE;
	memcpy(&wire, buf, sizeof(wire));
	m = (struct exchange){
		.kind = wire.kind,
		.last = wire.flags & LAST,
		.can_read = wire.flags & CAN_READ,
		.can_write = wire.flags & CAN_WRITE,
		.roce = wire.roce,
		.mtu = wire.mtu,
		.lid = be16toh(wire.lid),
		.depth = be16toh(wire.depth),
		.qpn = be32toh(wire.qpn),
		.psn = be32toh(wire.psn),
		.qkey = be32toh(wire.qkey),
		.size = be32toh(wire.size),
		.shared = be32toh(wire.shared),
		.rkey = be32toh(wire.rkey),
		.addr = be64toh(wire.addr),
		.reason = be16toh(wire.reason),
		.error = be16toh(wire.error),
	};
	memcpy(m.type, wire.type, sizeof(m.type));
	memcpy(m.gid, wire.gid, sizeof(m.gid));
	if (wire.flags & ~ALL_FLAGS || wire.reserved || !is_valid(&m))
		return EXCHANGE_INVALID;
	*message = m;
	return EXCHANGE_OK;
}

const char *exchange_refusal(const struct exchange *message, char *buf,
			     size_t size)
{
	static const char *const reasons[] = {
		[REFUSED_BUSY] = "the server has too many clients",
		[REFUSED_VERSION] = "the server runs a different version of eadm",
		[REFUSED_TYPE] = "the server's adapter uses a different queue pair type",
		[REFUSED_PROTOCOL] = "the GIDs of the two ends have different RoCE versions",
		[REFUSED_ADAPTER] = "the server has no usable adapter",
		[REFUSED_QP] = "the server cannot create a queue pair",
		[REFUSED_ROUTE] = "the server has no route to this GID",
	};

	snprintf(buf, size, "%s%s%s%s", reasons[message->reason],
		 message->error ? " (" : "",
		 message->error ? strerror(message->error) : "",
		 message->error ? ")" : "");
	return buf;
}
