// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading pcapng from an untrusted file. */
#include "grow.h"
#include "pcapng.h"

#include <arpa/inet.h>
#include <byteswap.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_MIN	12U	/* type, length, trailing length */
#define EPB_FIXED	20U
#define SPB_FIXED	4U

void eadm_pcapng_init(struct pcapng *p, int fd, uint64_t size,
		      const struct pcapng_state *st, size_t window)
{
	*p = (struct pcapng){ .fd = fd, .end = size, .window = window };
	if (st)
		p->st = *st;
}

void eadm_pcapng_release(struct pcapng *p)
{
	free(p->buf.p);
	p->buf = (struct pcapng_buf){ 0 };
}

static uint32_t get32(const unsigned char *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? bswap_32(v) : v;
}

static uint16_t get16(const unsigned char *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? bswap_16(v) : v;
}

static int bad(struct pcapng *p, const char *what)
{
	snprintf(p->err, sizeof(p->err), "%s at offset %llu", what,
		 (unsigned long long)p->st.pos);
	return -EBADMSG;
}

/*
 * Returns the bytes at the reading position, up to @want; *there is set to the number
 * available. Returns NULL with *there == 0 on a read error.
 */
static const unsigned char *fetch(struct pcapng *p, size_t want, size_t *there)
{
	struct pcapng_buf *b = &p->buf;
	uint64_t pos = p->st.pos, left;
	size_t size;
	ssize_t got;

	if (pos >= b->at && pos + want <= b->at + b->len) {
		*there = want;
		return b->p + (pos - b->at);
	}
	/*
	 * Read at most to the end of the file: lengths may be wrong, and most files are
	 * small.
	 */
	left = p->end > pos ? p->end - pos : 0;
	size = want > p->window ? want : p->window;
	if (size > left)
		size = left;
	b->len = 0;
	if (!grow_to(b->p, size, b->size)) {
		errno = ENOMEM;
		*there = 0;
		return NULL;
	}
	b->at = pos;
	while (b->len < size) {
		got = pread(p->fd, b->p + b->len, size - b->len, pos + b->len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			*there = 0;
			return NULL;
		}
		if (!got)
			break;
		b->len += got;
	}
	*there = b->len < want ? b->len : want;
	return b->p;
}

static int read_error(struct pcapng *p)
{
	int err = errno;

	snprintf(p->err, sizeof(p->err), "%s", strerror(err));
	return -err;
}

static int section(struct pcapng *p, const unsigned char *b)
{
	struct pcapng_state *st = &p->st;
	uint32_t magic = get32(b + 8, false);

	if (magic != PCAPNG_MAGIC && magic != bswap_32(PCAPNG_MAGIC))
		return bad(p, "section without a byte-order magic");
	st->swap = magic != PCAPNG_MAGIC;
	st->section = true;
	st->n_ifs = 0;
	if (get16(b + 12, st->swap) != 1)
		return bad(p, "unsupported major version");
	return 0;
}

/*
 * Read one option of a block. Returns 1 with an option, 0 at the end, -1 if the option
 * exceeds the block.
 */
int eadm_pcapng_option(const unsigned char **pos, size_t *left, bool swap,
		       uint16_t *code, const unsigned char **data,
		       uint16_t *len)
{
	size_t step;

	if (*left < 4)
		return *left ? -1 : 0;
	*code = get16(*pos, swap);
	*len = get16(*pos + 2, swap);
	*data = *pos + 4;
	if (*code == PCAPNG_OPT_END)
		return 0;
	if (*len > *left - 4)
		return -1;
	step = 4 + ((*len + 3U) & ~3U);
	if (step > *left)
		step = *left;
	*pos += step;
	*left -= step;
	return 1;
}

static int interface(struct pcapng *p, const unsigned char *b, uint32_t len)
{
	struct pcapng_state *st = &p->st;
	const unsigned char *pos = b + 16, *data;
	struct pcapng_if *iface;
	uint16_t code, n;
	size_t left;
	int ret;

	if (len < BLOCK_MIN + 8)
		return bad(p, "interface block too short");
	if (st->n_ifs == PCAPNG_MAX_IFS)
		return bad(p, "too many interfaces");
	iface = &st->ifs[st->n_ifs++];
	iface->link = get16(b + 8, st->swap);
	iface->tsresol = 6;
	left = len - BLOCK_MIN - 8;
	while ((ret = eadm_pcapng_option(&pos, &left, st->swap, &code, &data,
					 &n)) > 0) {
		if (code == PCAPNG_IF_TSRESOL && n == 1)
			iface->tsresol = *data;
	}
	return ret < 0 ? bad(p, "option exceeds its block") : 0;
}

/* Convert an interface's ticks to nanoseconds. */
static uint64_t ticks_ns(uint64_t ticks, uint8_t tsresol)
{
	unsigned int n = tsresol & 0x7f;
	uint64_t per = 1;

	if (tsresol & 0x80) {
		if (n > 63)
			return 0;
		return (uint64_t)((unsigned __int128)ticks * 1000000000U >> n);
	}
	if (n > 19)
		return 0;
	for (; n > 9; n--)
		per *= 10;
	if (per > 1)
		return ticks / per;
	for (; n < 9; n++)
		per *= 10;
	return ticks * per;
}

static uint32_t fixed_part(uint32_t type)
{
	return type == PCAPNG_EPB ? EPB_FIXED : SPB_FIXED;
}

/*
 * Fill in @item from a packet block whose first @there bytes are in memory. Returns 1 for
 * a netlink packet, 0 for a different kind of packet.
 */
static int packet(struct pcapng *p, const unsigned char *b, uint32_t type,
		  uint32_t len, size_t there, struct pcapng_item *item)
{
	struct pcapng_state *st = &p->st;
	uint32_t fixed = fixed_part(type);
	uint32_t iface = 0, caplen, skip = sizeof(struct pcapng_cooked);
	const unsigned char *cooked;
	uint64_t ticks = 0;

	if (len < BLOCK_MIN + fixed)
		return bad(p, "packet block too short");
	if (type == PCAPNG_EPB) {
		iface = get32(b + 8, st->swap);
		ticks = (uint64_t)get32(b + 12, st->swap) << 32 |
			get32(b + 16, st->swap);
		caplen = get32(b + 20, st->swap);
	} else {
		caplen = get32(b + 8, st->swap);
		if (caplen > len - BLOCK_MIN - fixed)
			caplen = len - BLOCK_MIN - fixed;
	}
	if (caplen > len - BLOCK_MIN - fixed)
		return bad(p, "packet exceeds its block");
	if (iface >= st->n_ifs)
		return bad(p, "packet of an unknown interface");
	if (st->ifs[iface].link != PCAPNG_LINK_NETLINK)
		return 0;
	if (caplen < skip)
		return bad(p, "packet too short for a netlink message");
	cooked = b + 8 + fixed;
	item->what = PCAPNG_IS_PACKET;
	item->data = cooked + skip;
	item->len = caplen - skip;
	item->there = there - (item->data - b);
	if (item->there > item->len)
		item->there = item->len;
	item->offset = st->pos + (item->data - b);
	item->time = ticks_ns(ticks, st->ifs[iface].tsresol);
	item->proto = cooked[14] << 8 | cooked[15];
	return 1;
}

/*
 * Read the next netlink packet or snapshot. The first @want bytes of a packet are in
 * memory; if that is the whole packet, the end of its block was checked. Returns 1 if
 * there was one, 0 at the end of the file, or a negative errno with p->err set.
 */
int eadm_pcapng_next(struct pcapng *p, uint32_t want, struct pcapng_item *item)
{
	struct pcapng_state *st = &p->st;
	const unsigned char *b;
	uint32_t type, len, need;
	size_t there;
	int ret;

	for (;;) {
		b = fetch(p, 16, &there);
		if (!b)
			return read_error(p);
		if (!there)
			return st->section ? 0 : bad(p, "empty file");
		if (there < 8)
			return bad(p, "truncated");
		type = get32(b, st->swap);
		if (type == PCAPNG_SHB) {
			if (there < 16)
				return bad(p, "truncated");
			ret = section(p, b);
			if (ret)
				return ret;
		} else if (!st->section) {
			snprintf(p->err, sizeof(p->err), "not a pcapng file");
			return -EBADMSG;
		}
		len = get32(b + 4, st->swap);
		if (len < BLOCK_MIN || len % 4 || len > PCAPNG_MAX_BLOCK ||
		    (type == PCAPNG_SHB && len < 28))
			return bad(p, "invalid block length");
		need = len;
		if ((type == PCAPNG_EPB || type == PCAPNG_SPB) &&
		    want < len)
			need = 8 + fixed_part(type) +
			       sizeof(struct pcapng_cooked) + want;
		if (need > len)
			need = len;
		b = fetch(p, need, &there);
		if (!b)
			return read_error(p);
		if (there < need)
			return bad(p, "truncated");
		if (need == len && get32(b + len - 4, st->swap) != len)
			return bad(p, "block lengths differ");
		ret = 0;
		if (type == PCAPNG_IDB) {
			ret = interface(p, b, len);
		} else if (type == PCAPNG_EPB || type == PCAPNG_SPB) {
			ret = packet(p, b, type, len, there, item);
		} else if (type == PCAPNG_OLD || type == PCAPNG_OLD_TOO) {
			snprintf(p->err, sizeof(p->err),
				 "recorded by an older eadm; captures of that version are no longer supported: record it again");
			return -EBADMSG;
		} else if (type == PCAPNG_SNAPSHOT) {
			item->what = PCAPNG_IS_SNAPSHOT;
			ret = 1;
		}
		if (ret < 0)
			return ret;
		st->pos += len;
		if (ret)
			return 1;
	}
}
