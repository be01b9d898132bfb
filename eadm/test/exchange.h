/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses that two ends of "eadm test" exchange if there is no connection manager: one
 * message from the client, and one from the server. The peer can be any program that
 * reaches the port.
 */
#ifndef TEST_EXCHANGE_H
#define TEST_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXCHANGE_SIZE 80
#define EXCHANGE_VERSION 1
#define EXCHANGE_MAX_BYTES (1 << 20)	/* maximum size of messages and of memory */
#define EXCHANGE_MAX_DEPTH 64
#define EXCHANGE_MAX_FLIGHT (4 << 20)	/* bytes of all messages in flight */
#define EXCHANGE_TYPE 8

enum exchange_kind {
	EXCHANGE_HELLO = 1,	/* from the client */
	EXCHANGE_WELCOME,	/* from the server */
	EXCHANGE_REFUSAL,
};

enum exchange_reason {
	REFUSED_BUSY = 1, REFUSED_VERSION, REFUSED_TYPE, REFUSED_PROTOCOL,
	REFUSED_ADAPTER, REFUSED_QP, REFUSED_ROUTE,
	REFUSED_END
};

struct exchange {
	enum exchange_kind kind;
	bool last;		/* no further connection follows */
	bool can_read, can_write;	/* access to the other side's memory */
	uint8_t roce;		/* version; 0: no RoCE */
	uint8_t mtu;		/* as in verbs: 1 is 256 bytes, 5 is 4096 */
	uint16_t lid;
	uint16_t depth;		/* maximum number of messages in flight */
	char type[EXCHANGE_TYPE];	/* queue pair type: "RC" */
	uint32_t qpn, psn, qkey;
	uint32_t size;		/* size of the largest message */
	uint32_t shared;	/* bytes of memory to read and write */
	uint32_t rkey;
	uint64_t addr;
	uint8_t gid[16];
	/* A refusal uses only these members and the kind; the errno may be 0. */
	enum exchange_reason reason;
	int error;
};

enum exchange_result {
	EXCHANGE_OK,
	EXCHANGE_MORE,		/* bytes are missing */
	EXCHANGE_ALIEN,		/* a different protocol */
	EXCHANGE_OTHER_VERSION,
	EXCHANGE_INVALID,
};

void exchange_write(const struct exchange *message, uint8_t buf[EXCHANGE_SIZE]);

/*
 * Check the @len bytes received so far, of which at most EXCHANGE_SIZE are used. Garbage
 * is recognized as early as possible. @message is set if the result is EXCHANGE_OK.
 */
enum exchange_result exchange_read(const uint8_t *buf, size_t len,
				   struct exchange *message);

/* Returns the text of a refusal, which may be in @buf. */
const char *exchange_refusal(const struct exchange *message, char *buf,
			     size_t size);

#endif /* TEST_EXCHANGE_H */
