/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: events and settings. Part of eadm.h, which says what holds for all
 * functions; it can be included alone as well.
 */
#ifndef EADM_EVENTS_H
#define EADM_EVENTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct eadm_ctx;
struct eadm_record;

/**
 * struct eadm_events - a stream of events
 */
struct eadm_events;

/* ---- events -------------------------------------------------------------- */

/**
 * eadm_events_open() - listen to what happens on the devices
 * @ctx: an open context
 * @events: where to put the stream; close it with eadm_events_close()
 *
 * From a capture: the events that were recorded by this function with a
 * capture open. One thread at a time, like all that belongs to a context.
 *
 * Return: 0; -EOPNOTSUPP without the companion module or when the capture has
 * no events; other errors of the source.
 * Since: 0.1
 */
int eadm_events_open(struct eadm_ctx *ctx, struct eadm_events **events);

/**
 * eadm_events_fd() - file descriptor to wait on with poll() for POLLIN
 * @events: the stream
 *
 * Return: the descriptor, or -1 when the events come from a capture.
 * Since: 0.1
 */
int eadm_events_fd(const struct eadm_events *events);

/**
 * eadm_events_next() - the next event
 * @events: the stream
 * @record: where to put it, of the object "event"; valid until the next call
 *	on @events
 *
 * Return: 1 with an event, 0 when there is none yet or, of a capture, no more;
 * a negative errno.
 * Since: 0.1
 */
int eadm_events_next(struct eadm_events *events,
		     const struct eadm_record **record);

/**
 * eadm_events_lost() - events that came too fast to be reported
 * @events: the stream
 *
 * Return: their number since eadm_events_open().
 * Since: 0.1
 */
uint64_t eadm_events_lost(const struct eadm_events *events);

/**
 * eadm_events_close() - end listening
 * @events: the stream or NULL
 *
 * Since: 0.1
 */
void eadm_events_close(struct eadm_events *events);

/* ---- settings ------------------------------------------------------------- */

/**
 * eadm_conf_set() - change a setting of a device of this machine
 * @ctx: a context open on this machine
 * @device: name of the RDMA device
 * @param: value of the field "param" of the object "conf"
 * @value: what it shall be
 * @now: where to put what it is afterwards
 *
 * Requires CAP_NET_ADMIN.
 *
 * Return: 0; -EOPNOTSUPP when the adapter does not have the setting, for a
 * capture, or without the companion module; -ERANGE when it cannot have the
 * value; -EPERM; -ENODEV.
 * Since: 0.1
 */
int eadm_conf_set(struct eadm_ctx *ctx, const char *device, uint64_t param,
		  uint64_t value, uint64_t *now);

#ifdef __cplusplus
}
#endif

#endif /* EADM_EVENTS_H */
