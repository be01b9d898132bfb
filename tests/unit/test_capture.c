// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading captures, whole, broken and hostile ones; writing them again. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build.h"
#include "eadm_nl.h"
#include "source/message.h"
#include "source/pcapng.h"
#include "base/ctx.h"
#include "read/machine.h"
#include "tap.h"

static const char *captures;	/* folder */

static struct bytes capture(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", captures, name);
	return read_whole(path);
}

/* Rows of an object, or a negative errno. */
static int count(struct eadm_ctx *ctx, const char *name)
{
	const struct eadm_record *rec;
	struct eadm_dump *dump;
	int ret, n = 0;

	ret = eadm_dump_open(ctx, eadm_object_find(name), NULL, &dump);
	if (ret)
		return ret;
	while ((ret = eadm_dump_next(dump, &rec)) > 0)
		n++;
	eadm_dump_close(dump);
	return ret ? ret : n;
}

static int count_in(const struct bytes *b, const char *name, char *why,
		    size_t size)
{
	struct eadm_ctx *ctx = eadm_new();
	int ret = eadm_open_file(ctx, path_of(b));

	if (!ret)
		ret = count(ctx, name);
	snprintf(why, size, "%s", eadm_errmsg(ctx));
	eadm_free(ctx);
	return ret;
}

static void refused(const struct bytes *b, const char *what, const char *words)
{
	char why[512];
	int ret = count_in(b, "qp", why, sizeof(why));

	if (!ok(ret == -EBADMSG && strstr(why, words), "refused: %s", what))
		printf("# %d %s\n", ret, why);
}

static void whole(void)
{
	struct bytes two = capture("two.pcapng");
	struct bytes turned = capture("two-be.pcapng");
	struct eadm_ctx *ctx = eadm_new();
	char why[512];

	ok(count_in(&two, "qp", why, sizeof(why)) == 5, "a capture is read");
	ok(count_in(&turned, "qp", why, sizeof(why)) == 5,
	   "a capture of the other byte order is read");
	ok(!eadm_open_file(ctx, path_of(&two)) &&
		   eadm_open_live(ctx) == -EBUSY,
	   "a context has one source");
	ok(eadm_machine_module_text(ctx, "eadm", EADM_A_MODULE_VERSION, why,
				    sizeof(why)) &&
		   !*why &&
		   !eadm_machine_module_text(ctx, "siw", EADM_A_MODULE_VERSION,
					     why, sizeof(why)) &&
		   count(ctx, "machine") == 1 && count(ctx, "module") == 2,
	   "a capture has rows about the machine");
	ok(!eadm_is_live(ctx) && !eadm_snapshot_next(ctx),
	   "a capture of one moment has no other");
	eadm_free(ctx);
	clear(&two);
	clear(&turned);
}

static void broken_format(void)
{
	struct bytes b = { 0 };
	uint32_t v;

	refused(&b, "empty file", "empty");
	add(&b, "hello, world, this is text", 26);
	refused(&b, "text", "not a pcapng file");
	b.n = 0;
	add_section(&b);
	refused(&b, "a capture without packets", "no request");
	add_block(&b, 0x8ead0002, "text", 4);
	refused(&b, "one of an older eadm", "an older eadm");
	b.n = 0;
	add_section(&b);
	v = 0x12345678;
	memcpy(b.p + 8, &v, 4);
	refused(&b, "an unknown byte order", "byte-order");
	b.n = 0;
	add_section(&b);
	v = 7;
	memcpy(b.p + 12, &v, 2);
	refused(&b, "an unknown version", "version");
	b.n = 0;
	add_section(&b);
	add32(&b, PCAPNG_EPB);
	add32(&b, 0xfffffff0);
	refused(&b, "an endless block", "invalid block length");
	b.n = 0;
	add_section(&b);
	add_block(&b, PCAPNG_EPB, "\0\0\0\0", 4);
	refused(&b, "packet block too short", "too short");
	b.n = 0;
	add_section(&b);
	add_block(&b, PCAPNG_EPB,
		  "\7\0\0\0\0\0\0\0\0\0\0\0\20\0\0\0\20\0\0\0"
		  "0123456789abcdef", 36);
	refused(&b, "packet of an unknown interface", "unknown interface");
	b.n = 0;
	add_section(&b);
	add_block(&b, PCAPNG_EPB,
		  "\0\0\0\0\0\0\0\0\0\0\0\0\377\0\0\0\377\0\0\0"
		  "0123456789abcdef", 36);
	refused(&b, "a packet that exceeds its block", "exceeds its block");
	b.n = 0;
	add_section(&b);
	b.p[b.n - 4]++;
	refused(&b, "a block with two lengths", "block lengths differ");
	clear(&b);
}

/*
 * A simple packet of the other byte order: its head is shorter than that of
 * others, and its messages go on after the first bytes of it.
 */
static void simple_packet(void)
{
	unsigned char body[4 + sizeof(struct pcapng_cooked) + 1024] = { 0 };
	unsigned char *msgs = body + 4 + sizeof(struct pcapng_cooked);
	struct pcapng_item item = { 0 };
	struct bytes b = { 0 };
	char why[512];
	struct pcapng in;
	size_t at;
	int fd;

	body[1] = (sizeof(body) - 4) >> 8;
	body[0] = (sizeof(body) - 4) & 0xff;
	body[4 + 15] = NETLINK_GENERIC;
	/* A request of all that is read of one, then short ones. */
	for (at = 0; at < 1024; at += at ? 16 : EADM_REQUEST_MAX) {
		msgs[at + 2] = at ? 0 : EADM_REQUEST_MAX >> 8;
		msgs[at + 3] = at ? 16 : 0;
		msgs[at + 5] = 0x20;
		msgs[at + 7] = NLM_F_REQUEST;
	}
	add_section(&b);
	add_block(&b, PCAPNG_SPB, body, sizeof(body));
	fd = open(path_of(&b), O_RDONLY);
	eadm_pcapng_init(&in, fd, b.n, NULL, 4096);
	ok(eadm_pcapng_next(&in, EADM_REQUEST_MAX, &item) == 1 &&
		   item.len == 1024 && item.there == EADM_REQUEST_MAX,
	   "of a simple packet as much is in memory as was asked for");
	eadm_pcapng_release(&in);
	close(fd);
	ok(count_in(&b, "qp", why, sizeof(why)) == -ENODATA,
	   "one of the other byte order is read");
	clear(&b);
}

static void unknown_parts(void)
{
	struct bytes two = capture("two.pcapng"), b = { 0 };
	char why[512];

	/* An interface of another kind and its packet, in front of all. */
	add(&b, two.p, 28);
	add_block(&b, 0x0badbeef, "whatever", 8);
	add_block(&b, 0x80001234, "", 0);
	add(&b, two.p + 28, two.n - 28);
	ok(count_in(&b, "qp", why, sizeof(why)) == 5,
	   "unknown blocks are skipped");
	clear(&b);
	clear(&two);
}

/* Everything that is whole before the cut is there; then comes an error. */
static void cut_off(void)
{
	struct bytes two = capture("two.pcapng");
	size_t full = two.n, n;
	int ret, told = 0, served = 0, odd = 0;
	char why[512];

	for (n = 0; n < full; n += 7) {
		two.n = n;
		ret = count_in(&two, "qp", why, sizeof(why));
		if (ret == 5)
			served++;
		else if (ret == -EBADMSG || ret == -ENODATA || ret == 4)
			told += why[0] != '\0';
		else
			odd++;
	}
	ok(!odd && served && told, "a capture cut anywhere: rows or an error");
	two.n = 2220;	/* within the answer that has the QPs */
	ret = count_in(&two, "qp", why, sizeof(why));
	if (!ok(ret < 0 && strstr(why, "offset"), "the error tells where"))
		printf("# %d %s\n", ret, why);
	clear(&two);
}

static void dump_everything(const struct bytes *b)
{
	struct eadm_ctx *ctx = eadm_new();
	const struct eadm_object *object = NULL;

	if (!eadm_open_file(ctx, path_of(b))) {
		while ((object = eadm_object_next(object)))
			count(ctx, eadm_object_name(object));
	}
	eadm_free(ctx);
}

static void flipped(const char *name, unsigned int rounds)
{
	struct bytes b = capture(name);
	unsigned int seed = 7, i, j;

	for (i = 0; i < rounds; i++) {
		struct bytes copy = { 0 };

		add(&copy, b.p, b.n);
		for (j = 0; j <= i % 4; j++) {
			seed = seed * 1103515245 + 12345;
			copy.p[(seed >> 4) % copy.n] ^= 1 << (seed >> 28 & 7);
		}
		dump_everything(&copy);
		clear(&copy);
	}
	ok(b.n > 0, "%s with flipped bits does no harm", name);
	clear(&b);
}

static void written_again(void)
{
	struct bytes two = capture("two.pcapng"), copy;
	struct eadm_ctx *ctx = eadm_new();
	struct eadm_capture *c;
	char folder[] = "/tmp/eadm-test-XXXXXX", path[64], why[512];
	struct stat st;

	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/x", folder);
	eadm_open_file(ctx, path_of(&two));
	ok(!eadm_capture_open(ctx, path, NULL, &c) && access(path, F_OK),
	   "a capture appears when it is complete");
	ok(eadm_capture_open(ctx, path, NULL, &c) == -EBUSY, "one capture at a time");
	ok(!eadm_capture_all(c, true) && !eadm_capture_close(c, true),
	   "what is read from a capture is written again");
	ok(!stat(path, &st) && (st.st_mode & 07777) == 0600,
	   "a capture is its owner's");
	copy = read_whole(path);
	ok(count_in(&copy, "qp", why, sizeof(why)) == 5 &&
		   count_in(&copy, "cmd", why, sizeof(why)) == 4,
	   "and has the same rows");
	unlink(path);
	eadm_capture_open(ctx, path, NULL, &c);
	eadm_capture_all(c, false);
	ok(!eadm_capture_close(c, false) && access(path, F_OK),
	   "a dropped capture leaves nothing");
	ok(!rmdir(folder), "not even a temporary file");
	ok(eadm_capture_open(ctx, "/nowhere/x", NULL, &c) == -ENOENT,
	   "a folder that is not there is told");
	eadm_free(ctx);
	clear(&copy);
	clear(&two);
}

static void limited(void)
{
	char folder[] = "/tmp/test_capture.XXXXXX", path[64], why[512];
	struct bytes two = capture("two.pcapng"), copy;
	struct eadm_ctx *ctx = eadm_new();
	struct eadm_capture *c;
	struct stat st;
	int i, ret = 0;

	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/x", folder);
	eadm_open_file(ctx, path_of(&two));
	eadm_capture_open(ctx, path, NULL, &c);
	eadm_capture_limit(c, 64 * 1024);
	for (i = 0; i < 40; i++)
		ret |= eadm_capture_all(c, true);
	ok(!ret && !eadm_capture_close(c, true) && !stat(path, &st) &&
		   st.st_size <= 64 * 1024 && st.st_size > 16 * 1024,
	   "a limited capture stays within its limit");
	copy = read_whole(path);
	ok(count_in(&copy, "qp", why, sizeof(why)) == 5,
	   "what it keeps is whole");
	eadm_free(ctx);
	ctx = eadm_new();
	ok(!eadm_open_file(ctx, path) && eadm_snapshots(ctx) > 1 &&
		   eadm_snapshots(ctx) < 40 &&
		   !eadm_snapshot_go(ctx, eadm_snapshots(ctx) - 1) &&
		   count(ctx, "cmd") == 4,
	   "and has the newest moments, up to the last one");
	unlink(path);
	eadm_capture_open(ctx, path, NULL, &c);
	eadm_capture_limit(c, 1000);
	ok(eadm_capture_all(c, true) == -EFBIG,
	   "one moment that is too large is told");
	eadm_capture_close(c, false);
	eadm_capture_open(ctx, "/dev/null", NULL, &c);
	ok(eadm_capture_limit(c, 1000) == -EINVAL,
	   "only files have a limit");
	eadm_free(ctx);
	rmdir(folder);
	clear(&copy);
	clear(&two);
}

static void add_exchange(struct bytes *b, uint16_t type, uint16_t flags,
			 uint8_t cmd, const struct bytes *request,
			 const struct bytes *answer)
{
	struct bytes msgs = { 0 };
	size_t at = msg_begin(&msgs, type, NLM_F_REQUEST | flags, b->n);
	uint32_t seq = b->n;

	add32(&msgs, cmd);
	add(&msgs, request->p, request->n);
	msg_end(&msgs, at);
	add_packet(b, NETLINK_GENERIC, &msgs);
	msgs.n = 0;
	at = msg_begin(&msgs, type, NLM_F_MULTI, seq);
	add32(&msgs, cmd);
	add(&msgs, answer->p, answer->n);
	msg_end(&msgs, at);
	at = msg_begin(&msgs, NLMSG_DONE, NLM_F_MULTI, seq);
	add32(&msgs, 0);
	msg_end(&msgs, at);
	add_packet(b, NETLINK_GENERIC, &msgs);
	clear(&msgs);
}

/* A capture of a device and a command of it that has no number. */
static void without_number(void)
{
	struct eadm_command_opts commands = {
		.size = sizeof(commands), .has_from = true, .from = 1,
	};
	struct eadm_dump_opts opts = {
		.size = sizeof(opts), .commands = &commands,
	};
	struct bytes b = { 0 }, none = { 0 }, name = { 0 }, row = { 0 };
	const struct eadm_record *rec;
	struct eadm_dump *dump = NULL;
	struct eadm_ctx *ctx = eadm_new();
	uint16_t family = 0x20;

	add_section(&b);
	add_attr(&name, CTRL_ATTR_FAMILY_NAME, "eadm", 5);
	add_attr(&row, CTRL_ATTR_FAMILY_ID, &family, sizeof(family));
	add_exchange(&b, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY, &name, &row);
	row.n = 0;
	add_attr32(&row, EADM_A_COMMON_DEV_INDEX, 0);
	add_attr(&row, EADM_A_COMMON_DEV_NAME, "cloud_0", 8);
	add_exchange(&b, family, NLM_F_DUMP, EADM_CMD_DEV_GET, &none, &row);
	add_exchange(&b, family, NLM_F_DUMP, EADM_CMD_CMD_GET, &none, &row);
	ok(!eadm_open_file(ctx, path_of(&b)) && count(ctx, "cmd") == 1 &&
		   !eadm_dump_open(ctx, eadm_object_find("cmd"), &opts,
				   &dump) &&
		   eadm_dump_next(dump, &rec) == 0,
	   "what has no number is not after any");
	eadm_dump_close(dump);
	eadm_free(ctx);
	clear(&row);
	clear(&name);
	clear(&b);
}

static uint64_t cpus_of(struct eadm_ctx *ctx)
{
	uint64_t cpus = 0;

	eadm_machine_u64(ctx, EADM_A_MACHINE_CPUS, &cpus);
	return cpus;
}

/* How the machine is set up holds for all snapshots of a capture. */
static void set_up(void)
{
	char folder[] = "/tmp/test_capture.XXXXXX", path[64];
	struct eadm_ctx *ctx = eadm_new();
	struct eadm_capture *c;
	uint64_t cpus;

	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/x", folder);
	eadm_open_live(ctx);
	cpus = cpus_of(ctx);
	ok(cpus, "there is a processor");
	eadm_capture_open(ctx, path, NULL, &c);
	eadm_capture_all(c, false);
	eadm_capture_all(c, false);
	eadm_capture_close(c, true);
	eadm_free(ctx);
	ctx = eadm_new();
	ok(!eadm_open_file(ctx, path) && !eadm_snapshot_go(ctx, 1) &&
		   cpus_of(ctx) == cpus,
	   "a capture has it at its last snapshot, too");
	ok(eadm_snapshots(ctx) == 2 && count(ctx, "verbs") == 1 &&
		   count(ctx, "module") >= 4,
	   "and more about the machine");
	eadm_free(ctx);
	unlink(path);
	rmdir(folder);
}

/* A copy has the same values when its dump and its context are gone. */
static void copies(void)
{
	struct bytes b = capture("two.pcapng");
	struct eadm_ctx *ctx = eadm_new();
	const struct eadm_object *qp = eadm_object_find("qp");
	const struct eadm_record *rec;
	struct eadm_record *copy[8];
	struct eadm_dump *dump;
	char before[8][64], after[64];
	unsigned int i, n = 0;
	bool same = true;

	eadm_open_file(ctx, path_of(&b));
	eadm_dump_open(ctx, qp, NULL, &dump);
	while (n < 8 && eadm_dump_next(dump, &rec) > 0) {
		eadm_record_text(rec, eadm_object_find_field(qp, "peer-addr"),
				 before[n], sizeof(before[n]));
		copy[n++] = eadm_record_new(rec);
	}
	eadm_dump_close(dump);
	eadm_free(ctx);
	for (i = 0; i < n; i++) {
		eadm_record_text(copy[i],
				 eadm_object_find_field(qp, "peer-addr"),
				 after, sizeof(after));
		same &= !strcmp(before[i], after) &&
			eadm_record_string(copy[i],
				eadm_object_find_field(qp, "dev-name"));
		eadm_record_free(copy[i]);
	}
	ok(n == 5 && same, "copied rows keep their values");
	clear(&b);
}

/* Rows go on evenly; what the kernel dates is compared with its own clock. */
static void clock_set(void)
{
	const int64_t hour = 3600 * 1000000000LL;
	struct eadm_ctx *ctx = eadm_new();
	int64_t step;

	ctx->clock_offset -= hour;
	ctx->live = true;
	step = eadm_clock_step(ctx);
	/* Whoever keeps this machine's clock may move it meanwhile. */
	ok(step > hour - hour / 60 && step < hour + hour / 60,
	   "a clock that was set an hour forward is known");
	eadm_free(ctx);
}

static void moments(void)
{
	struct bytes b = capture("moments.pcapng");
	struct eadm_ctx *ctx = eadm_new();
	uint64_t first = 0, last = 0;
	int n = 1;

	eadm_open_file(ctx, path_of(&b));
	while (eadm_snapshot_next(ctx) > 0)
		n++;
	ok(n == 3 && count(ctx, "counters") == 1,
	   "the moments of a capture follow each other");
	ok(eadm_snapshots(ctx) == 3 && !eadm_snapshot_time(ctx, 0, &first) &&
		   !eadm_snapshot_time(ctx, 2, &last) && first < last &&
		   eadm_snapshot_time(ctx, 3, &last) == -ENOENT,
	   "moments have their time");
	ok(!eadm_snapshot_go(ctx, 0) && count(ctx, "counters") == 1 &&
		   eadm_snapshot_next(ctx) && eadm_snapshot_go(ctx,
							       3) == -ENOENT,
	   "a capture goes to any of its moments");
	eadm_free(ctx);
	clear(&b);
}

static int rows_left(struct eadm_dump *dump)
{
	const struct eadm_record *rec;
	int ret, n = 0;

	while ((ret = eadm_dump_next(dump, &rec)) > 0)
		n++;
	return ret ? ret : n;
}

/* Contexts that share a capture do not read it again, and do not disturb each other. */
static void shared(void)
{
	struct bytes b = capture("two.pcapng");
	struct eadm_ctx *first = eadm_new(), *second = eadm_new();
	const struct eadm_object *qp = eadm_object_find("qp");
	const char *path = path_of(&b);
	struct eadm_dump *one, *two;
	const struct eadm_record *rec;
	int fd, n;

	ok(eadm_open_shared(second, first) == -EINVAL,
	   "a context that is not open has no capture to share");
	n = eadm_open_file(first, path) ? -1 : count(first, "qp");
	ok(!truncate(path, 0) && !eadm_open_shared(second, first) && n > 1 &&
		   count(second, "qp") == n && count(first, "qp") == n,
	   "a shared capture is read once, by both contexts");
	ok(eadm_open_shared(second, first) == -EBUSY,
	   "an open context shares no other capture");
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, b.p, b.n) != (ssize_t)b.n)
		abort();
	close(fd);
	eadm_dump_open(first, qp, NULL, &one);
	eadm_dump_next(one, &rec);
	eadm_dump_open(second, qp, NULL, &two);
	ok(rows_left(two) == n && rows_left(one) == n - 1,
	   "dumps of two contexts take turns with the buffer");
	eadm_dump_close(one);
	eadm_free(first);
	eadm_dump_close(two);
	ok(count(second, "qp") == n, "the capture stays open for the last context");
	eadm_free(second);
	second = eadm_new();
	first = eadm_new();
	eadm_open_live(first);
	ok(eadm_open_shared(second, first) == -EINVAL, "this machine is no capture");
	eadm_free(first);
	eadm_free(second);
	clear(&b);
}

static uint64_t first_name(struct eadm_ctx *ctx)
{
	const struct eadm_object *dev = eadm_object_find("dev");
	const struct eadm_record *rec;
	struct eadm_dump *dump;
	const char *name = NULL;
	uint64_t last = 0;

	if (eadm_dump_open(ctx, dev, NULL, &dump))
		return 0;
	if (eadm_dump_next(dump, &rec) > 0)
		name = eadm_record_string(rec, eadm_object_find_field(dev, "dev-name"));
	if (name)
		last = name[strlen(name) - 1];
	while (eadm_dump_next(dump, &rec) > 0)
		;
	eadm_dump_close(dump);
	return last;
}

/* A device whose name is another one in each answer. */
static void kept(void)
{
	struct bytes b = { 0 }, none = { 0 }, name = { 0 }, row = { 0 };
	struct eadm_ctx *ctx = eadm_new();
	uint16_t family = 0x20;
	char device[] = "cloud_0";

	add_section(&b);
	add_attr(&name, CTRL_ATTR_FAMILY_NAME, "eadm", 5);
	add_attr(&row, CTRL_ATTR_FAMILY_ID, &family, sizeof(family));
	add_exchange(&b, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY, &name, &row);
	for (; device[6] < '8'; device[6]++) {
		row.n = 0;
		add_attr32(&row, EADM_A_COMMON_DEV_INDEX, 0);
		add_attr(&row, EADM_A_COMMON_DEV_NAME, device, sizeof(device));
		add_exchange(&b, family, NLM_F_DUMP, EADM_CMD_DEV_GET, &none, &row);
	}
	if (eadm_open_file(ctx, path_of(&b)))
		abort();
	ok(first_name(ctx) < first_name(ctx), "a repeated request is sent again");
	eadm_keep_answers(ctx, true);
	family = first_name(ctx);
	ok(family && first_name(ctx) == family && first_name(ctx) == family,
	   "a kept answer is given again");
	eadm_snapshot_go(ctx, 0);
	ok(first_name(ctx) == '0' && first_name(ctx) == '0',
	   "an answer of another snapshot is not");
	eadm_keep_answers(ctx, false);
	ok(first_name(ctx) > '0' && first_name(ctx) < first_name(ctx),
	   "nor is any when answers are no longer kept");
	eadm_free(ctx);
	clear(&row);
	clear(&name);
	clear(&b);
}

int main(int argc, char **argv)
{
	captures = argc > 1 ? argv[1] : ".";
	whole();
	broken_format();
	simple_packet();
	unknown_parts();
	cut_off();
	flipped("two.pcapng", 1500);
	flipped("dead.pcapng", 1500);
	flipped("two-be.pcapng", 500);
	written_again();
	limited();
	without_number();
	set_up();
	copies();
	clock_set();
	moments();
	shared();
	kept();
	close_path();
	return done();
}
