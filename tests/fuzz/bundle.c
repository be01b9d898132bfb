// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: bundles and what becomes of captures in them. The first
 * byte tells how the rest is taken, so that the fuzzer need not find out how
 * to pack or to make checksums.
 */
#include <eadm.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "asan.h"

#define TAR 512

static void put(int fd, const void *data, size_t len)
{
	if (write(fd, data, len) != (ssize_t)len)
		abort();
}

/* The checksum of each tar header, as far as sizes lead from one to the next. */
static void fix_checksums(uint8_t *tar, size_t len)
{
	size_t at = 0, size, i;
	unsigned int sum;
	char octal[13] = "";

	while (len - at >= TAR) {
		memset(tar + at + 148, ' ', 8);
		for (sum = 0, i = 0; i < TAR; i++)
			sum += tar[at + i];
		snprintf((char *)tar + at + 148, 8, "%06o", sum);
		memcpy(octal, tar + at + 124, 12);
		size = strtoul(octal, NULL, 8);
		if (size > len)
			return;
		at += TAR + (size + TAR - 1) / TAR * TAR;
		if (at > len)
			return;
	}
}

/* A zstd frame of blocks as they are: nothing to pack, nothing to get wrong. */
static void put_frame(int fd, const uint8_t *data, size_t len)
{
	static const uint8_t head[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38 };
	uint8_t block[3];
	size_t n;

	put(fd, head, sizeof(head));
	do {
		n = len < 65536 ? len : 65536;
		block[0] = (n << 3 & 0xf8) | (n == len);
		block[1] = n >> 5;
		block[2] = n >> 13;
		put(fd, block, sizeof(block));
		put(fd, data, n);
		data += n;
		len -= n;
	} while (len);
}

static void read_bundle(const char *path)
{
	struct eadm_member m = { .size = sizeof(m) };
	struct eadm_ctx *ctx = eadm_new();
	struct eadm_bundle *b;
	char buf[4096];

	if (!eadm_bundle_open(ctx, path, &b)) {
		while (eadm_bundle_next(b, &m) > 0) {
			while (eadm_bundle_read(b, buf, sizeof(buf)) > 0)
				;
		}
		eadm_bundle_close(b);
	}
	eadm_free(ctx);
}

static void read_capture(const char *path, bool redact)
{
	struct eadm_redactor *r = NULL;
	struct eadm_ctx *ctx = eadm_new();
	struct eadm_capture *capture;

	if (redact)
		eadm_redactor_open(ctx, "0123456789abcdef", 16, &r);
	if (!eadm_open_file(ctx, path) &&
	    !eadm_capture_open(ctx, "/dev/null", r, &capture)) {
		eadm_capture_all(capture, true);
		eadm_capture_close(capture, true);
	}
	eadm_free(ctx);
	eadm_redactor_close(r);
}

static void redact_text(const uint8_t *data, size_t len)
{
	struct eadm_ctx *ctx = eadm_new();
	struct eadm_redactor *r;
	size_t out_len;
	char *out;

	if (!eadm_redactor_open(ctx, "0123456789abcdef", 16, &r)) {
		eadm_redactor_host(r, "node.example.org");
		eadm_redactor_process(r, "ib_write_bw");
		if (!eadm_redactor_text(r, (const char *)data, len, &out,
					&out_len))
			free(out);
		eadm_redactor_close(r);
	}
	eadm_free(ctx);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A context that stays keeps libarchive loaded. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static struct eadm_redactor *r;

	(void)argc;
	(void)argv;
	return eadm_redactor_open(eadm_new(), "0123456789abcdef", 16, &r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static int fd = -1;
	uint8_t *copy;
	char path[40];

	if (!len)
		return 0;
	/* One file for all runs: to make one takes longer than to fill it. */
	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	copy = malloc(len);
	memcpy(copy, data + 1, len - 1);
	switch (data[0] % 5) {
	case 0:
		put(fd, copy, len - 1);
		read_bundle(path);
		break;
	case 1:
		fix_checksums(copy, len - 1);
		put_frame(fd, copy, len - 1);
		read_bundle(path);
		break;
	case 2:
		fix_checksums(copy, len - 1);
		put_frame(fd, copy, len - 1);
		read_capture(path, false);
		break;
	case 3:
		redact_text(copy, len - 1);
		break;
	default:
		put(fd, copy, len - 1);
		read_capture(path, true);
		break;
	}
	free(copy);
	return 0;
}
