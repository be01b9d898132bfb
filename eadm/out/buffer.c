// SPDX-License-Identifier: GPL-2.0-or-later
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

/* Room for @len bytes behind the last one, NULL without memory. */
char *buffer_room(struct buffer *buffer, size_t len)
{
	size_t size;
	char *more;

	if (buffer->failed)
		return NULL;
	if (buffer->len + len > buffer->size) {
		size = 2 * (buffer->len + len) + 64;
		more = realloc(buffer->data, size);
		if (!more) {
			buffer->failed = true;
			return NULL;
		}
		buffer->data = more;
		buffer->size = size;
	}
	return buffer->data + buffer->len;
}

void buffer_put(struct buffer *buffer, const void *data, size_t len)
{
	char *to = buffer_room(buffer, len);

	if (!to)
		return;
	memcpy(to, data, len);
	buffer->len += len;
}

void buffer_puts(struct buffer *buffer, const char *str)
{
	buffer_put(buffer, str, strlen(str));
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}
