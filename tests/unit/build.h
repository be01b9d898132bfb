/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages and captures in memory, right and wrong ones. */
#ifndef BUILD_H
#define BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	unsigned char *p;
	size_t n, max;
};

void add(struct bytes *b, const void *data, size_t n);
void add16(struct bytes *b, uint16_t v);
void add32(struct bytes *b, uint32_t v);
void add_attr(struct bytes *b, uint16_t type, const void *data, size_t n);
void add_attr32(struct bytes *b, uint16_t type, uint32_t v);
/* Begin a message; its length is set by msg_end(). */
size_t msg_begin(struct bytes *b, uint16_t type, uint16_t flags, uint32_t seq);
void msg_end(struct bytes *b, size_t at);
void add_block(struct bytes *b, uint32_t type, const void *body, size_t n);
void add_section(struct bytes *b);
void add_packet(struct bytes *b, uint16_t proto, const struct bytes *msgs);
void clear(struct bytes *b);

/* A path that leads to these bytes, valid until close_path(). */
const char *path_of(const struct bytes *b);
void close_path(void);
struct bytes read_whole(const char *path);

#endif /* BUILD_H */
