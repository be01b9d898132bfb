// SPDX-License-Identifier: GPL-2.0-or-later
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

#include "grow.h"

/* Helper of buffer_room(). */
bool buffer_grow(struct buffer *buffer, size_t len)
{
	if (!buffer->failed &&
	    !grow_to(buffer->data, 2 * (buffer->len + len) + 64, buffer->size))
		buffer->failed = true;
	return !buffer->failed;
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
