/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: files that are written completely or not at all. Part of eadm.h,
 * which states the rules for all functions; this header can also be included on
 * its own.
 */
#ifndef EADM_OUTPUT_H
#define EADM_OUTPUT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct eadm_ctx;

/**
 * struct eadm_output - a file being written
 */
struct eadm_output;

/**
 * eadm_output_open() - start writing a file
 * @ctx: a context; it need not be open
 * @path: file to create, with mode 0600; it appears, replacing any existing file, only
 *	when eadm_output_close() succeeds; "-": standard output
 * @output: set to the file; close it with eadm_output_close()
 *
 * Standard output, devices and pipes are written to immediately. A symbolic
 * link is kept, and the file that it points to is replaced.
 *
 * Pipes and devices must be owned by the caller or root. A link in a
 * world-writable directory must be owned by the caller, or by root if root also
 * owns the directory. Opening a pipe waits up to 10 seconds for a reader.
 *
 * Return: 0; -EISDIR for a directory; -EACCES for a link, pipe or device owned
 * by another user; -ENXIO for a pipe without a reader; another negative errno if
 * the file cannot be created; -ENOMEM.
 * Since: 0.9
 */
int eadm_output_open(struct eadm_ctx *ctx, const char *path,
		     struct eadm_output **output);

/**
 * eadm_output_fd() - return the descriptor to write to
 * @output: the file
 *
 * Return: a descriptor, which eadm_output_close() closes.
 * Since: 0.9
 */
int eadm_output_fd(const struct eadm_output *output);

/**
 * eadm_output_is_file() - check whether the output is a file, not a stream
 * @output: the file
 *
 * Data written to a file can be read back and changed until the file is closed.
 *
 * Since: 0.9
 */
bool eadm_output_is_file(const struct eadm_output *output);

/**
 * eadm_output_close() - finish or discard the file
 * @output: the file; freed in any case
 * @keep: false to leave an existing file unchanged
 *
 * Return: 0, or a negative errno if syncing, closing or naming the file fails.
 * Since: 0.9
 */
int eadm_output_close(struct eadm_output *output, bool keep);

#ifdef __cplusplus
}
#endif

#endif /* EADM_OUTPUT_H */
