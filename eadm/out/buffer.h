/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A byte buffer that grows at its end. */
#ifndef BUFFER_H
#define BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
	char *data;
	size_t len, size;
	bool failed;		/* out of memory: the contents are incomplete */
};

bool buffer_grow(struct buffer *buffer, size_t len);

/* Returns room for @len bytes at the end; NULL if out of memory. */
static inline char *buffer_room(struct buffer *buffer, size_t len)
{
	if (buffer->len + len > buffer->size && !buffer_grow(buffer, len))
		return NULL;
	return buffer->failed ? NULL : buffer->data + buffer->len;
}

void buffer_put(struct buffer *buffer, const void *data, size_t len);
void buffer_puts(struct buffer *buffer, const char *str);
void buffer_free(struct buffer *buffer);

#endif /* BUFFER_H */
