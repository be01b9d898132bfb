// SPDX-License-Identifier: GPL-2.0-or-later
#include "build.h"

#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "source/pcapng.h"

void add(struct bytes *b, const void *data, size_t n)
{
	if (b->n + n > b->max) {
		b->max = 2 * (b->n + n);
		b->p = realloc(b->p, b->max);
		if (!b->p)
			abort();
	}
	if (n)
		memcpy(b->p + b->n, data, n);
	b->n += n;
}

void add16(struct bytes *b, uint16_t v)
{
	add(b, &v, sizeof(v));
}

void add32(struct bytes *b, uint32_t v)
{
	add(b, &v, sizeof(v));
}

static void align(struct bytes *b)
{
	add(b, "\0\0\0", -b->n & 3);
}

void add_attr(struct bytes *b, uint16_t type, const void *data, size_t n)
{
	add16(b, NLA_HDRLEN + n);
	add16(b, type);
	add(b, data, n);
	align(b);
}

void add_attr32(struct bytes *b, uint16_t type, uint32_t v)
{
	add_attr(b, type, &v, sizeof(v));
}

size_t msg_begin(struct bytes *b, uint16_t type, uint16_t flags, uint32_t seq)
{
	size_t at = b->n;

	add32(b, 0);
	add16(b, type);
	add16(b, flags);
	add32(b, seq);
	add32(b, 0);
	return at;
}

void msg_end(struct bytes *b, size_t at)
{
	uint32_t len = b->n - at;

	memcpy(b->p + at, &len, sizeof(len));
}

void add_block(struct bytes *b, uint32_t type, const void *body, size_t n)
{
	uint32_t len = 12 + ((n + 3) & ~3U);

	add32(b, type);
	add32(b, len);
	add(b, body, n);
	add(b, "\0\0\0", -n & 3);
	add32(b, len);
}

void add_section(struct bytes *b)
{
	struct bytes body = { 0 };

	add32(&body, PCAPNG_MAGIC);
	add32(&body, 1);
	add32(&body, ~0U);
	add32(&body, ~0U);
	add_block(b, PCAPNG_SHB, body.p, body.n);
	body.n = 0;
	add16(&body, PCAPNG_LINK_NETLINK);
	add16(&body, 0);
	add32(&body, 0);
	add_block(b, PCAPNG_IDB, body.p, body.n);
	clear(&body);
}

void add_packet(struct bytes *b, uint16_t proto, const struct bytes *msgs)
{
	struct pcapng_cooked cooked = { .proto = proto << 8 | proto >> 8 };
	struct bytes body = { 0 };

	add32(&body, 0);
	add32(&body, 0);
	add32(&body, 0);
	add32(&body, sizeof(cooked) + msgs->n);
	add32(&body, sizeof(cooked) + msgs->n);
	add(&body, &cooked, sizeof(cooked));
	add(&body, msgs->p, msgs->n);
	add_block(b, PCAPNG_EPB, body.p, body.n);
	clear(&body);
}

void clear(struct bytes *b)
{
	free(b->p);
	*b = (struct bytes){ 0 };
}

static int path_fd = -1;

const char *path_of(const struct bytes *b)
{
	static char path[32];

	close_path();
	path_fd = memfd_create("test", MFD_CLOEXEC);
	if (path_fd < 0 || write(path_fd, b->p, b->n) != (ssize_t)b->n)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	return path;
}

void close_path(void)
{
	if (path_fd >= 0)
		close(path_fd);
	path_fd = -1;
}

struct bytes read_whole(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct bytes b = { 0 };
	char buf[4096];
	size_t n;

	if (!file)
		return b;
	while ((n = fread(buf, 1, sizeof(buf), file)))
		add(&b, buf, n);
	fclose(file);
	return b;
}
