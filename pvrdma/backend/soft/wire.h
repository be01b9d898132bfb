/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The protocol of links between programs: a stream of messages, each with a header.
 * Values are little-endian; opcodes and statuses are those of libibverbs.
 */
#ifndef SOFT_WIRE_H
#define SOFT_WIRE_H

#include <stdint.h>

#define WIRE_MAGIC 0x4c4e494c4d444145ull
#define WIRE_VERSION 1u
/* Maximum number of requests without a response, in each direction. */
#define WIRE_WINDOW 64u
/* Maximum size of the data of one message. */
#define WIRE_PIECE (64u << 10)

enum wire_type {
	WIRE_HELLO = 1,
	WIRE_GID,
	WIRE_REQUEST,
	WIRE_ANSWER,
	WIRE_DATAGRAM,
};

struct wire_head {
	/* Size of the rest of the message. */
	uint32_t size;
	uint8_t type;
	uint8_t rsvd[3];
};

/* The first message, sent by both sides. */
struct wire_hello {
	uint64_t magic;
	uint32_t version;
	uint32_t rsvd;
};

/* A GID of the sender's port was added or removed. */
struct wire_gid {
	uint8_t gid[16];
	uint32_t port;
	uint8_t there;
	uint8_t rsvd[3];
};

/* A piece of a request to the RC QP "responder" at the GID "to"; its data may follow. */
struct wire_request {
	uint64_t token;
	uint64_t addr, compare_add, swap;
	uint8_t to[16];
	/* Port of the requester. */
	uint32_t port;
	uint32_t requester, responder;
	/* Counts all pieces between the two QPs, from 1. */
	uint32_t number;
	/* Properties of the whole request. */
	uint32_t length, rkey, imm;
	/* Offset and size of the piece. */
	uint32_t offset, size;
	uint8_t opcode, solicited;
	uint8_t rsvd[2];
};

enum wire_kind {
	WIRE_DONE,
	/* "status" is the status of the requester's completion. */
	WIRE_FAILED,
	/* There is no receive; "timer" is the responder's RNR timer. */
	WIRE_NOT_READY,
	/* There is no such QP, or it is in the wrong state. */
	WIRE_NOBODY,
};

/* The data read, or the value before an atomic operation, may follow. */
struct wire_answer {
	uint64_t token;
	uint32_t port, requester;
	uint32_t size;
	uint8_t kind, status, timer;
	uint8_t rsvd;
};

/*
 * A datagram to the UD QP "qpn" at the GID "to"; the network header and the data follow.
 */
struct wire_datagram {
	uint8_t to[16];
	uint32_t qpn, qkey, src_qpn, imm;
	uint8_t solicited, has_imm, net_type;
	uint8_t rsvd;
};

#endif /* SOFT_WIRE_H */
