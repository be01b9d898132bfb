/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: writing captures. Part of eadm.h, which states the rules for all
 * functions; this header can also be included on its own.
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
struct eadm_redactor;

/**
 * struct eadm_capture - a capture being written
 */
struct eadm_capture;

/**
 * eadm_capture_open() - start recording all data that is read
 * @ctx: an open context without a dump; it can have one capture at a time
 * @path: file to create, with mode 0600; it appears, replacing any existing file, only
 *	when eadm_capture_close() succeeds; "-" writes to standard output immediately
 * @redactor: redacts the written data, but not the rows that are read; NULL:
 *	nothing is redacted. It must outlive the capture.
 * @capture: set to the capture; close it with eadm_capture_close(). eadm_free()
 *	discards it.
 *
 * A capture is a pcapng file with the link type "netlink": it contains the
 * requests and raw responses of all dumps from now on. Both eadm_open_file()
 * and Wireshark can read it.
 *
 * Return: 0; -EINVAL if @ctx is not open; -EBUSY if it is already writing a
 * capture; another negative errno if the file cannot be created; -ENOMEM.
 * Since: 0.9
 */
int eadm_capture_open(struct eadm_ctx *ctx, const char *path,
		      struct eadm_redactor *redactor,
		      struct eadm_capture **capture);

/**
 * eadm_capture_all() - read all objects of all devices into the capture
 * @capture: the capture
 * @hw: include the adapters' own contexts
 *
 * Errors are part of the capture: if an object cannot be read now, reading it
 * from the capture returns the same error.
 *
 * The first snapshot is preceded by rows about the machine, which apply to all
 * snapshots without such rows of their own. Of these rows, later snapshots contain only
 * those of objects that change: "module", "link", "health", "qp-counter", "cgroup",
 * "port", "verbs-user", "smc" and "smc-fallback".
 *
 * Each snapshot includes a row of "process" for each process that owns a QP, a
 * CQ or a context: a diagnosis of the capture needs these rows.
 *
 * Return: 0, or a negative errno if the capture cannot be written.
 * Since: 0.9
 */
int eadm_capture_all(struct eadm_capture *capture, bool hw);

/**
 * eadm_capture_state() - read the current state of all objects into the capture
 * @capture: the capture
 * @hw: include the adapters' own contexts
 *
 * Like eadm_capture_all(), but without records of the past, which do not
 * change: objects whose rows are EADM_ROWS_PAST, such as the thousands of
 * commands in flight recorders, are left out.
 *
 * Return: 0, or a negative errno if the capture cannot be written.
 * Since: 0.9
 */
int eadm_capture_state(struct eadm_capture *capture, bool hw);

/**
 * eadm_capture_rings() - read the bytes of all queues into the capture
 * @capture: the capture of a context that is open on this machine
 * @max_bytes: maximum number of bytes; 0: 64 MiB
 *
 * Entries, registers and contexts can be shown from the capture only if it
 * contains these bytes. Inline payload is left out. Requires CAP_SYS_RAWIO:
 * without it, nothing is read, and eadm_capture_note() reports this.
 *
 * Return: 0, -EFBIG if the limit was reached, another negative errno.
 * Since: 0.9
 */
int eadm_capture_rings(struct eadm_capture *capture, uint64_t max_bytes);

/**
 * eadm_capture_note() - read a note about data missing from the capture
 * @capture: the capture
 * @index: from 0
 * @note: filled in; the strings are valid until the next call on
 *	@capture
 *
 * The notes list objects and adapters' contexts that eadm_capture_all() and
 * eadm_capture_state() could not read in at least one snapshot, and bytes that
 * eadm_capture_rings() could not read. Data that a driver or a machine does not have is
 * not missing. The capture contains all data that could be read.
 *
 * Return: 1, 0 if there are no more, -EINVAL if @note->size is not set.
 * Since: 0.9
 */
int eadm_capture_note(const struct eadm_capture *capture, unsigned int index,
		      struct eadm_note *note);

/**
 * eadm_capture_omit_secrets() - leave keys and raw bytes out of a capture
 * @capture: the capture, which does not contain any snapshot yet
 *
 * From now on, keys (fields of the kind EADM_KIND_SECRET, and keys in messages of RDMA
 * netlink) are not written, nor are raw bytes, which can contain keys, except those of
 * commands that failed. Rows that are read still have them. A capture with a redactor
 * never contains keys or raw bytes.
 *
 * Return: 0; -EINVAL if the capture already contains a snapshot with keys.
 * Since: 0.9
 */
int eadm_capture_omit_secrets(struct eadm_capture *capture);

/**
 * eadm_capture_limit() - limit the size of a capture
 * @capture: the capture, which must be a file
 * @bytes: keep only the newest snapshots that fit into this number of bytes; 0: no limit
 *
 * While a snapshot is being written, the file may exceed the limit by the size of that
 * snapshot. eadm_capture_all() returns -EFBIG if a snapshot is larger than the limit.
 *
 * Return: 0; -EINVAL if the capture is not a file.
 * Since: 0.9
 */
int eadm_capture_limit(struct eadm_capture *capture, uint64_t bytes);

/**
 * eadm_capture_flush() - write the data read so far
 * @capture: the capture
 *
 * Data is otherwise written in large pieces. Without this call, a program that follows events
 * learns only from eadm_capture_close() that they could not be written.
 *
 * Return: 0, or the negative errno of the first failure to write; the capture then takes no
 * further data, and eadm_capture_close() keeps the part described there.
 * Since: 0.9
 */
int eadm_capture_flush(struct eadm_capture *capture);

/**
 * eadm_capture_close() - finish or discard the capture
 * @capture: the capture, freed in any case; if NULL, 0 is returned
 * @keep: false to leave no file behind
 *
 * If an error occurred while a snapshot was written, and @keep is set, the file contains
 * the complete snapshots before it, and eadm_errmsg() reports their number. If it occurred
 * while events or commands were followed, the file contains all complete packets. If there
 * are none, or if the capture is not a file, there is no file.
 *
 * Return: 0, or a negative errno if writing, syncing or renaming the file
 *	fails.
 * Since: 0.9
 */
int eadm_capture_close(struct eadm_capture *capture, bool keep);

#ifdef __cplusplus
}
#endif

#endif /* EADM_CAPTURE_H */
