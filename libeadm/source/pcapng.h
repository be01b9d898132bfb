/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The capture format: pcapng with the link type "netlink". */
#ifndef EADM_PCAPNG_H
#define EADM_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCAPNG_SHB	0x0a0d0d0aU
#define PCAPNG_IDB	1U
#define PCAPNG_SPB	3U
#define PCAPNG_EPB	6U
/* A block for local use: a new snapshot begins; its sequence number follows. */
#define PCAPNG_SNAPSHOT	0x8ead0003U
/*
 * Blocks of old captures, in which numbers had different meanings or rows about the
 * machine were missing.
 */
#define PCAPNG_OLD	0x8ead0001U
#define PCAPNG_OLD_TOO	0x8ead0002U

#define PCAPNG_MAGIC	0x1a2b3c4dU

#define PCAPNG_OPT_END		0
#define PCAPNG_SHB_OS		3
#define PCAPNG_SHB_USERAPPL	4
#define PCAPNG_IF_NAME		2
#define PCAPNG_IF_TSRESOL	9

#define PCAPNG_LINK_NETLINK	253
/* Precedes the netlink messages of a packet; big-endian. */
struct pcapng_cooked {
	uint16_t direction;
	uint16_t hardware;
	uint8_t unused[10];
	uint16_t proto;
};

#define PCAPNG_TO_USER		6	/* PACKET_USER */
#define PCAPNG_TO_KERNEL	7	/* PACKET_KERNEL */
#define PCAPNG_ARPHRD_NETLINK	824

#define PCAPNG_MAX_BLOCK	(16U << 20)
#define PCAPNG_MAX_IFS		16

struct pcapng_if {
	uint16_t link;
	uint8_t tsresol;
};

/* State from the blocks so far that affects later blocks. */
struct pcapng_state {
	uint64_t pos;		/* offset of the next block */
	bool swap;		/* the section has the other byte order */
	bool section;		/* a section header has been read */
	unsigned int n_ifs;
	struct pcapng_if ifs[PCAPNG_MAX_IFS];
};

/* A part of the file in memory. */
struct pcapng_buf {
	unsigned char *p;
	size_t size, len;
	uint64_t at;		/* offset of p[0] in the file */
};

struct pcapng {
	int fd;
	uint64_t end;		/* size of the file */
	struct pcapng_state st;
	size_t window;		/* bytes to read at a time */
	struct pcapng_buf buf;
	char err[160];
};

/* A netlink packet or the start of another snapshot. */
struct pcapng_item {
	enum { PCAPNG_IS_PACKET, PCAPNG_IS_SNAPSHOT } what;
	const unsigned char *data;
	uint32_t len;		/* length of the data in the file */
	uint32_t there;		/* length of the data in memory */
	uint64_t offset;	/* offset of the data in the file */
	uint64_t time;
	uint16_t proto;
};

void eadm_pcapng_init(struct pcapng *p, int fd, uint64_t size,
		      const struct pcapng_state *st, size_t window);
void eadm_pcapng_release(struct pcapng *p);
int eadm_pcapng_next(struct pcapng *p, uint32_t want, struct pcapng_item *item);
int eadm_pcapng_option(const unsigned char **pos, size_t *left, bool swap,
		       uint16_t *code, const unsigned char **data,
		       uint16_t *len);

#endif /* EADM_PCAPNG_H */
