/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libeadm: events. Part of eadm.h, which states the rules for all functions;
 * this header can also be included on its own.
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

/**
 * eadm_events_open() - listen to events of the devices
 * @ctx: an open context
 * @events: set to the stream; close it with eadm_events_close()
 *
 * If the context reads a capture, the stream contains the events that were
 * recorded from an event stream while the capture was written. Like everything
 * that belongs to a context, the stream may be used by only one thread at a
 * time.
 *
 * Return: 0; -EOPNOTSUPP if neither the companion module, nor a program that emulates
 * adapters, nor the probe provides events, or if the capture has none; other errors of the
 * source.
 * Since: 0.9
 */
int eadm_events_open(struct eadm_ctx *ctx, struct eadm_events **events);

/**
 * eadm_events_fd() - file descriptor for poll() with POLLIN
 * @events: the stream
 *
 * Return: the descriptor, or -1 if the events come from a capture.
 * Since: 0.9
 */
int eadm_events_fd(const struct eadm_events *events);

/**
 * eadm_events_next() - read the next event
 * @events: the stream
 * @record: set to the event, a row of the object "event"; valid until the next
 *	call on @events
 *
 * Return: 1 with an event; 0 if there is none yet or, in a capture, no more; a
 * negative errno.
 * Since: 0.9
 */
int eadm_events_next(struct eadm_events *events,
		     const struct eadm_record **record);

/**
 * eadm_events_lost() - number of events that arrived too fast to be reported
 * @events: the stream
 *
 * Return: the number since eadm_events_open().
 * Since: 0.9
 */
uint64_t eadm_events_lost(const struct eadm_events *events);

/**
 * eadm_events_close() - close a stream of events
 * @events: the stream or NULL
 *
 * Since: 0.9
 */
void eadm_events_close(struct eadm_events *events);

#ifdef __cplusplus
}
#endif

#endif /* EADM_EVENTS_H */
