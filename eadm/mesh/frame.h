/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages on a TCP connection between processes of a mesh. The accepting side sends
 * a challenge; the other side replies with its own random bytes. Both derive the key of
 * the connection from these bytes and the shared secret. Each message then has a digest
 * over its direction, its number, its header and its contents, so that no message can
 * be forged, replayed, reordered or reflected.
 */
#ifndef MESH_FRAME_H
#define MESH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seal.h"

#define FRAME_HEADER	8
#define FRAME_MAC	16
#define FRAME_MAX	4096	/* bytes of contents */
#define FRAME_ROOM	(FRAME_HEADER + FRAME_MAX + FRAME_MAC)
#define FRAME_NONCE	16
#define CHALLENGE_SIZE	24

/* One end of a connection. */
struct lane {
	struct hmac_sha256_ctx key;
	uint64_t sent, received;
	bool connector;
};

struct frame {
	uint8_t kind;
	const uint8_t *data;
	size_t len;
	size_t total;		/* bytes of the message in the buffer */
};

enum frame_result {
	FRAME_OK,
	FRAME_MORE,		/* incomplete */
	FRAME_ALIEN,		/* different protocol or version */
	FRAME_FORGED,		/* wrong digest: different secret, or modified message */
};

void challenge_write(const uint8_t nonce[FRAME_NONCE],
		     uint8_t buf[CHALLENGE_SIZE]);
enum frame_result challenge_read(const uint8_t *buf, size_t len,
				 uint8_t nonce[FRAME_NONCE]);

/* nettle_open() must have succeeded. */
void lane_init(struct lane *lane, const void *secret, size_t len,
	       const uint8_t challenge[FRAME_NONCE],
	       const uint8_t reply[FRAME_NONCE], bool connector);

/*
 * Returns the number of bytes written to @out, which has room for FRAME_ROOM bytes.
 * @len is at most FRAME_MAX.
 */
size_t frame_seal(struct lane *lane, uint8_t kind, const void *data, size_t len,
		  uint8_t *out);
enum frame_result frame_open(struct lane *lane, const uint8_t *buf, size_t len,
			     struct frame *frame);

#endif /* MESH_FRAME_H */
