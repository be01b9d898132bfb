// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame.h"

#include <endian.h>
#include <string.h>

#define MAGIC 0x4541444d	/* "EADM" */
#define VERSION 2

static const char label[] = "eadm test mesh";

static void put32(uint8_t *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof(value));
}

static uint32_t get32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return be32toh(value);
}

void challenge_write(const uint8_t nonce[FRAME_NONCE],
		     uint8_t buf[CHALLENGE_SIZE])
{
	put32(buf, MAGIC);
	put32(buf + 4, VERSION);
	memcpy(buf + 8, nonce, FRAME_NONCE);
}

enum frame_result challenge_read(const uint8_t *buf, size_t len,
				 uint8_t nonce[FRAME_NONCE])
{
	uint8_t head[8];

	put32(head, MAGIC);
	put32(head + 4, VERSION);
	/* Reject invalid data as early as possible. */
	if (memcmp(buf, head, len < sizeof(head) ? len : sizeof(head)) != 0)
		return FRAME_ALIEN;
	if (len < CHALLENGE_SIZE)
		return FRAME_MORE;
	memcpy(nonce, buf + sizeof(head), FRAME_NONCE);
	return FRAME_OK;
}

void lane_init(struct lane *lane, const void *secret, size_t len,
	       const uint8_t challenge[FRAME_NONCE],
	       const uint8_t reply[FRAME_NONCE], bool connector)
{
	uint8_t key[SHA256_DIGEST_SIZE];

	memset(lane, 0, sizeof(*lane));
	lane->connector = connector;
	nettle.nettle_hmac_sha256_set_key(&lane->key, len, secret);
	nettle.nettle_hmac_sha256_update(&lane->key, sizeof(label),
					 (const uint8_t *)label);
	nettle.nettle_hmac_sha256_update(&lane->key, FRAME_NONCE, challenge);
	nettle.nettle_hmac_sha256_update(&lane->key, FRAME_NONCE, reply);
	nettle.nettle_hmac_sha256_digest(&lane->key, sizeof(key), key);
	nettle.nettle_hmac_sha256_set_key(&lane->key, sizeof(key), key);
	explicit_bzero(key, sizeof(key));
}

static void digest(struct lane *lane, bool by_connector, uint64_t number,
		   const uint8_t *message, size_t len, uint8_t mac[FRAME_MAC])
{
	uint8_t prefix[9] = { by_connector };

	number = htobe64(number);
	memcpy(prefix + 1, &number, sizeof(number));
	nettle.nettle_hmac_sha256_update(&lane->key, sizeof(prefix), prefix);
	nettle.nettle_hmac_sha256_update(&lane->key, len, message);
	/* This also prepares the key for the next message. */
	nettle.nettle_hmac_sha256_digest(&lane->key, FRAME_MAC, mac);
}

size_t frame_seal(struct lane *lane, uint8_t kind, const void *data, size_t len,
		  uint8_t *out)
{
	put32(out, len);
	put32(out + 4, (uint32_t)kind << 24);
	if (len)
		memcpy(out + FRAME_HEADER, data, len);
	digest(lane, lane->connector, lane->sent++, out, FRAME_HEADER + len,
	       out + FRAME_HEADER + len);
	return FRAME_HEADER + len + FRAME_MAC;
}

/* Compares in constant time. */
static bool differ(const uint8_t *a, const uint8_t *b, size_t len)
{
	uint8_t bits = 0;
	size_t i;

	for (i = 0; i < len; i++)
		bits |= a[i] ^ b[i];
	return bits;
}

enum frame_result frame_open(struct lane *lane, const uint8_t *buf, size_t len,
			     struct frame *frame)
{
	uint8_t mac[FRAME_MAC];
	uint32_t size;

	if (len < FRAME_HEADER)
		return FRAME_MORE;
	size = get32(buf);
	if (size > FRAME_MAX || (get32(buf + 4) & 0xffffff))
		return FRAME_ALIEN;
	if (len < FRAME_HEADER + size + FRAME_MAC)
		return FRAME_MORE;
	digest(lane, !lane->connector, lane->received, buf, FRAME_HEADER + size,
	       mac);
	if (differ(mac, buf + FRAME_HEADER + size, FRAME_MAC))
		return FRAME_FORGED;
	lane->received++;
	frame->kind = buf[4];
	frame->data = buf + FRAME_HEADER;
	frame->len = size;
	frame->total = FRAME_HEADER + size + FRAME_MAC;
	return FRAME_OK;
}
