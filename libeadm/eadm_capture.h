/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: writing captures. Part of eadm.h, which says what holds for all
 * functions; it can be included alone as well.
 */
#ifndef EADM_CAPTURE_H
#define EADM_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include <eadm_note.h>

#ifdef __cplusplus
extern "C" {
#endif

struct eadm_ctx;

/* ---- files -------------------------------------------------------------- */

/**
 * struct eadm_output - a file being written
 */
struct eadm_output;

/**
 * eadm_output_open() - begin to write a file
 * @ctx: a context; it need not be open
 * @path: file to make; it appears, with mode 0600, when eadm_output_close()
 *	succeeds, and replaces an older one; "-": standard output
 * @output: where to put the file; close it with eadm_output_close()
 *
 * Standard output, devices, pipes and sockets get what is written as it comes.
 * A symbolic link stays, and the file that it leads to is replaced.
 *
 * Return: 0; -EISDIR for a folder; the errno of making the file; -ENOMEM.
 * Since: 0.1
 */
int eadm_output_open(struct eadm_ctx *ctx, const char *path,
		     struct eadm_output **output);

/**
 * eadm_output_fd() - the descriptor to write to
 * @output: the file
 *
 * Return: a descriptor that eadm_output_close() closes.
 * Since: 0.1
 */
int eadm_output_fd(const struct eadm_output *output);

/**
 * eadm_output_is_file() - whether it is a file rather than a stream
 * @output: the file
 *
 * What was written to a file can be read and changed until it is closed.
 *
 * Since: 0.1
 */
bool eadm_output_is_file(const struct eadm_output *output);

/**
 * eadm_output_close() - finish the file, or drop it
 * @output: the file; gone afterwards in any case
 * @keep: false to leave what was there before
 *
 * Return: 0, or the errno of syncing, closing or naming the file.
 * Since: 0.1
 */
int eadm_output_close(struct eadm_output *output, bool keep);

/* ---- captures ----------------------------------------------------------- */

/**
 * eadm_capture_open() - begin to write everything that is read to a capture
 * @ctx: an open context without a dump
 * @path: file to make; it appears, with mode 0600, when eadm_capture_close()
 *	succeeds, and replaces an older one; "-" writes to standard output as
 *	it goes
 *
 * A capture is pcapng with the link type "netlink": the requests and raw
 * answers of all dumps from here on. eadm_open_file() reads it, and so does
 * Wireshark.
 *
 * Return: 0, -EBUSY when a capture is being written already, the errno of
 * making the file.
 * Since: 0.1
 */
int eadm_capture_open(struct eadm_ctx *ctx, const char *path);

/**
 * eadm_capture_all() - read all objects of all devices into the capture
 * @ctx: a context with an open capture
 * @hw: with the adapters' own contexts
 *
 * Objects that can't be read are part of the capture as such: reading it
 * gives the same errors.
 *
 * Before the first snapshot comes how the machine is set up, which holds for all:
 * the objects "machine", "verbs", "module", "setup" and "irq".
 *
 * With each snapshot comes "process.PID" for the processes that own queues: the
 * letter of its state in /proc, the kernel function that it sleeps in or "-", 1
 * if its control group is frozen, the path of its control group or "-".
 *
 * Return: 0, or a negative errno when the capture can't be written.
 * Since: 0.1
 */
int eadm_capture_all(struct eadm_ctx *ctx, bool hw);

/**
 * eadm_capture_state() - read all objects as they are now into the capture
 * @ctx: a context with an open capture
 * @hw: with the adapters' own contexts
 *
 * As eadm_capture_all(), without what is past and stays as it is: objects whose rows
 * are EADM_ROWS_PAST, as the commands of flight recorders, which are thousands.
 *
 * Return: 0, or a negative errno when the capture can't be written.
 * Since: 0.1
 */
int eadm_capture_state(struct eadm_ctx *ctx, bool hw);

/**
 * eadm_capture_rings() - read the bytes of all queues into the capture
 * @ctx: a context with an open capture, on this machine
 * @max_bytes: how many bytes at most, 0: 64 MiB
 *
 * With them entries, registers and contexts can be shown from the capture.
 * Inline payload is left out. Requires CAP_SYS_RAWIO; without it nothing is read,
 * and eadm_capture_note() says so.
 *
 * Return: 0, -EFBIG when there were more, another negative errno.
 * Since: 0.1
 */
int eadm_capture_rings(struct eadm_ctx *ctx, uint64_t max_bytes);

/**
 * eadm_capture_note() - what was asked for and is not in the capture
 * @ctx: a context with an open capture
 * @index: from 0
 * @note: filled in; the strings are valid until the next call on @ctx
 *
 * About contexts of adapters that eadm_capture_all() and bytes that
 * eadm_capture_rings() could not read, mostly for want of a right. What can be
 * read without it is in the capture.
 *
 * Return: 1, 0 when there are no more, -EINVAL when @note->size is not set.
 * Since: 0.1
 */
int eadm_capture_note(const struct eadm_ctx *ctx, unsigned int index,
		      struct eadm_note *note);

/**
 * eadm_capture_limit() - bound the size of a capture
 * @ctx: a context with an open capture that is a file
 * @bytes: keep only the newest snapshots that fit into this number of bytes
 *
 * While a snapshot is written the file may be larger by that snapshot.
 * eadm_capture_all() returns -EFBIG when not even one fits.
 *
 * Return: 0; -EINVAL when the capture is no file.
 * Since: 0.1
 */
int eadm_capture_limit(struct eadm_ctx *ctx, uint64_t bytes);

/**
 * eadm_capture_close() - finish the capture, or drop it
 * @ctx: the context
 * @keep: false to leave no file behind
 *
 * Return: 0, or the errno of writing, syncing or renaming the file.
 * Since: 0.1
 */
int eadm_capture_close(struct eadm_ctx *ctx, bool keep);

#ifdef __cplusplus
}
#endif

#endif /* EADM_CAPTURE_H */
