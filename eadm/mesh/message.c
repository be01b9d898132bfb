// SPDX-License-Identifier: GPL-2.0-or-later
#include "message.h"

#include <endian.h>
#include <string.h>

#include "../out/json.h"

#define HELLO_FIXED	(32 + MESH_NAME)
#define START_SIZE	20
#define NUMBER_SIZE	5

enum { ALL_PAIRS = 1, BANDWIDTH = 2, UD = 4, ALL_START_FLAGS = 7 };
enum { REACHED = 1, FROM_BLAMED = 2, TO_BLAMED = 4, PARTIAL = 8, ALL_FLAGS = 15 };

/* A position in a message; @data is NULL after reading beyond its end. */
struct reader {
	const uint8_t *data;
	size_t left;
};

static void put(uint8_t **to, uint64_t value, int bytes)
{
	value = htobe64(value << (64 - 8 * bytes));
	memcpy(*to, &value, bytes);
	*to += bytes;
}

static void put_bytes(uint8_t **to, const void *bytes, size_t len)
{
	memcpy(*to, bytes, len);
	*to += len;
}

static const uint8_t *take_bytes(struct reader *r, size_t len)
{
	const uint8_t *data = r->data;

	if (!data || r->left < len) {
		r->data = NULL;
		return NULL;
	}
	r->data += len;
	r->left -= len;
	return data;
}

static uint64_t take(struct reader *r, int bytes)
{
	const uint8_t *data = take_bytes(r, bytes);
	uint64_t value = 0;

	if (!data)
		return 0;
	memcpy(&value, data, bytes);
	return be64toh(value) >> (64 - 8 * bytes);
}

/* Returns the length in bytes of a printable character; 0: not printable, or invalid. */
static size_t shown_len(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n;

	if (*p < 0x80)
		return *p >= ' ' && *p != 0x7f;
	n = utf8_len(p);
	return n && !utf8_is_hidden(p, n) ? n : 0;
}

static bool is_clean(const char *text)
{
	size_t n;

	while (*text) {
		n = shown_len(text);
		if (!n)
			return false;
		text += n;
	}
	return true;
}

/* Copies as many characters as fit into @size bytes, with '?' for unprintable ones. */
static size_t copy_clean(char *to, const char *text, size_t size)
{
	size_t at = 0, shown, n;

	for (; *text; text += n) {
		shown = shown_len(text);
		n = shown ? shown : 1;
		if (at + n > size)
			break;
		memcpy(to + at, shown ? text : "?", n);
		at += n;
	}
	return at;
}

static void put_text(uint8_t **to, const char *text)
{
	size_t len = copy_clean((char *)*to + 1, text, MESH_WHY - 1);

	put(to, len, 1);
	*to += len;
}

static bool take_text(struct reader *r, char text[MESH_WHY])
{
	size_t len = take(r, 1);
	const uint8_t *data = take_bytes(r, len);

	if (!data || len >= MESH_WHY || memchr(data, 0, len))
		return false;
	memcpy(text, data, len);
	text[len] = '\0';
	return is_clean(text);
}

/* ---- hello --------------------------------------------------------------------------- */

size_t hello_write(const struct hello *hello, uint8_t *out)
{
	uint8_t *p = out;

	put(&p, hello->rank, 4);
	put(&p, hello->ranks, 4);
	put(&p, hello->to, 4);
	put(&p, hello->rails, 1);
	put(&p, 0, 1);
	put(&p, hello->port, 2);
	put_bytes(&p, &hello->addr, sizeof(hello->addr));
	memset(p, 0, MESH_NAME);
	copy_clean((char *)p, hello->name, MESH_NAME - 1);
	p += MESH_NAME;
	put_text(&p, hello->why);
	return p - out;
}

bool hello_read(const uint8_t *data, size_t len, struct hello *hello)
{
	struct reader r = { data, len };

	if (len <= HELLO_FIXED)
		return false;
	hello->rank = take(&r, 4);
	hello->ranks = take(&r, 4);
	hello->to = take(&r, 4);
	hello->rails = take(&r, 1);
	if (take(&r, 1))
		return false;
	hello->port = take(&r, 2);
	memcpy(&hello->addr, take_bytes(&r, sizeof(hello->addr)),
	       sizeof(hello->addr));
	memcpy(hello->name, take_bytes(&r, MESH_NAME), MESH_NAME);
	return take_text(&r, hello->why) && !r.left &&
	       !hello->name[MESH_NAME - 1] && is_clean(hello->name) &&
	       hello->rails <= MESH_MAX_RAILS;
}

/* ---- start --------------------------------------------------------------------------- */

size_t start_write(const struct start *start, uint8_t *out)
{
	uint8_t *p = out;

	put(&p, start->ranks, 4);
	put(&p, (start->all_pairs ? ALL_PAIRS : 0) |
		(start->bandwidth ? BANDWIDTH : 0) | (start->ud ? UD : 0), 4);
	put(&p, start->count, 4);
	put(&p, start->size, 4);
	put(&p, start->timeout, 4);
	return START_SIZE;
}

bool start_read(const uint8_t *data, size_t len, struct start *start)
{
	struct reader r = { data, len };
	uint32_t flags;

	if (len != START_SIZE)
		return false;
	start->ranks = take(&r, 4);
	flags = take(&r, 4);
	start->all_pairs = flags & ALL_PAIRS;
	start->bandwidth = flags & BANDWIDTH;
	start->ud = flags & UD;
	start->count = take(&r, 4);
	start->size = take(&r, 4);
	start->timeout = take(&r, 4);
	return flags <= ALL_START_FLAGS && start->ranks &&
	       start->ranks <= MESH_MAX_HOSTS && start->count && start->size &&
	       start->count <= 1000000 && start->size <= 1 << 20 &&
	       start->timeout && start->timeout <= 3600000;
}

/* ---- roster -------------------------------------------------------------------------- */

size_t roster_write(const struct roster *entry, uint8_t *out)
{
	uint8_t *p = out;

	put(&p, entry->rank, 4);
	put(&p, entry->port, 2);
	put(&p, entry->rails, 1);
	put(&p, 0, 1);
	put_bytes(&p, &entry->addr, sizeof(entry->addr));
	return ROSTER_ENTRY;
}

bool roster_read(const uint8_t *data, size_t len, size_t i,
		 struct roster *entry)
{
	struct reader r = { data + i * ROSTER_ENTRY, ROSTER_ENTRY };

	if (len % ROSTER_ENTRY || i >= len / ROSTER_ENTRY)
		return false;
	entry->rank = take(&r, 4);
	entry->port = take(&r, 2);
	entry->rails = take(&r, 1);
	if (take(&r, 1))
		return false;
	memcpy(&entry->addr, take_bytes(&r, sizeof(entry->addr)),
	       sizeof(entry->addr));
	return entry->rails <= MESH_MAX_RAILS;
}

/* ---- results ------------------------------------------------------------------------- */

size_t result_write(const struct edge *result, uint8_t *out)
{
	uint8_t *p = out;

	put(&p, result->from, 4);
	put(&p, result->to, 4);
	put(&p, result->from_rail, 1);
	put(&p, result->to_rail, 1);
	put(&p, (result->reached ? REACHED : 0) |
		(result->from_blamed ? FROM_BLAMED : 0) |
		(result->to_blamed ? TO_BLAMED : 0) |
		(result->partial ? PARTIAL : 0), 1);
	put(&p, result->cause, 1);
	put(&p, result->min, 4);
	put(&p, result->p50, 4);
	put(&p, result->p99, 4);
	put(&p, result->lost, 4);
	put(&p, result->mtu, 4);
	put(&p, result->rate, 8);
	put_text(&p, result->from_why);
	put_text(&p, result->to_why);
	return p - out;
}

size_t result_read(const uint8_t *data, size_t len, struct edge *result)
{
	struct reader r = { data, len };
	uint8_t flags;

	result->from = take(&r, 4);
	result->to = take(&r, 4);
	result->from_rail = take(&r, 1);
	result->to_rail = take(&r, 1);
	flags = take(&r, 1);
	result->reached = flags & REACHED;
	result->from_blamed = flags & FROM_BLAMED;
	result->to_blamed = flags & TO_BLAMED;
	result->partial = flags & PARTIAL;
	result->cause = take(&r, 1);
	result->min = take(&r, 4);
	result->p50 = take(&r, 4);
	result->p99 = take(&r, 4);
	result->lost = take(&r, 4);
	result->mtu = take(&r, 4);
	result->rate = take(&r, 8);
	if (!take_text(&r, result->from_why) || !take_text(&r, result->to_why))
		return 0;
	if (flags > ALL_FLAGS || (result->partial && !result->reached) ||
	    result->cause >= CAUSE_END ||
	    result->lost > 1000000 || result->from_rail >= MESH_MAX_RAILS ||
	    result->to_rail >= MESH_MAX_RAILS)
		return 0;
	return len - r.left;
}

/* ---- views --------------------------------------------------------------------------- */

enum { VIEW_OK = 1, VIEW_RECEIVED = 2 };

size_t view_write(const struct view *view, uint8_t *out)
{
	uint8_t *p = out;

	put(&p, view->step, 1);
	put(&p, (view->ok ? VIEW_OK : 0) | (view->received ? VIEW_RECEIVED : 0), 1);
	put(&p, view->cause, 1);
	put(&p, view->min, 4);
	put(&p, view->p50, 4);
	put(&p, view->p99, 4);
	put(&p, view->lost, 4);
	put(&p, view->rate, 8);
	put_bytes(&p, view->address, VIEW_ADDRESS);
	put_text(&p, view->why);
	return p - out;
}

bool view_read(const uint8_t *data, size_t len, struct view *view)
{
	struct reader r = { data, len };
	const uint8_t *address;
	uint8_t flags;

	view->step = take(&r, 1);
	flags = take(&r, 1);
	view->ok = flags & VIEW_OK;
	view->received = flags & VIEW_RECEIVED;
	view->cause = take(&r, 1);
	view->min = take(&r, 4);
	view->p50 = take(&r, 4);
	view->p99 = take(&r, 4);
	view->lost = take(&r, 4);
	view->rate = take(&r, 8);
	address = take_bytes(&r, VIEW_ADDRESS);
	if (!address || !take_text(&r, view->why) || r.left)
		return false;
	memcpy(view->address, address, VIEW_ADDRESS);
	return flags <= (VIEW_OK | VIEW_RECEIVED) && view->cause < CAUSE_END &&
	       view->lost <= 1000000;
}

/* ---- numbers ------------------------------------------------------------------------- */

size_t number_write(uint32_t number, uint8_t extra, uint8_t *out)
{
	uint8_t *p = out;

	put(&p, number, 4);
	put(&p, extra, 1);
	return NUMBER_SIZE;
}

bool number_read(const uint8_t *data, size_t len, uint32_t *number,
		 uint8_t *extra)
{
	struct reader r = { data, len };

	if (len != NUMBER_SIZE)
		return false;
	*number = take(&r, 4);
	*extra = take(&r, 1);
	return true;
}

const char *refusal_text(enum mesh_refusal refusal)
{
	switch (refusal) {
	case REFUSED_NOTHING:
		break;
	case REFUSED_RANK:
		return "the rank is not below the number of ranks";
	case REFUSED_RANKS:
		return "rank 0 has a different number of ranks";
	case REFUSED_TWICE:
		return "another process has the same rank";
	case REFUSED_LATE:
		return "the tests began without this host";
	case REFUSED_HUNG:
		return "no keep-alive arrived in time";
	case REFUSED_ENDED:
		return "the mesh ended early";
	}
	return "refused";
}
