// SPDX-License-Identifier: GPL-2.0-or-later
/* Events for subscribed clients. */
#include "client.h"

#include <string.h>

#include "pvrdma_classes.h"

static void fill(const struct event_row *row, struct eadm_snap_event *snap)
{
	const struct journal_event *event = &row->event;

	SNAP_SET(snap, seq, row->seq);
	SNAP_SET(snap, time, row->time);
	switch (event->type) {
	case JOURNAL_EVENT_ASYNC:
		SNAP_SET(snap, type, EADM_EVENT_TYPE_ASYNC);
		SNAP_SET(snap, async, pvrdma_event_class(event->event));
		SNAP_SET(snap, async_raw, event->event);
		if (event->qpn)
			SNAP_SET(snap, qpn, event->qpn);
		if (event->cq)
			SNAP_SET(snap, cqn, event->cq);
		if (event->srq)
			SNAP_SET(snap, srqn, event->srq);
		if (event->port)
			SNAP_SET(snap, port, event->port);
		break;
	case JOURNAL_EVENT_TIMEOUT:
		SNAP_SET(snap, type, EADM_EVENT_TYPE_CMD_TIMEOUT);
		SNAP_SET(snap, cmd_seq, event->command);
		SNAP_SET(snap, op, pvrdma_op_class(event->code));
		SNAP_SET(snap, op_raw, event->code);
		break;
	case JOURNAL_EVENT_CAME:
		SNAP_SET(snap, type, EADM_EVENT_TYPE_DEVICE_ADDED);
		break;
	case JOURNAL_EVENT_GONE:
		SNAP_SET(snap, type, EADM_EVENT_TYPE_DEVICE_REMOVED);
		break;
	}
}

/* Sends one event, with the number of earlier events that were lost. */
void news_put(struct client *client)
{
	const struct event_row *row = &client->events[client->first_event];
	struct eadm_snap_event snap = { 0 };
	struct nlmsghdr *nlh;

	fill(row, &snap);
	if (client->lost_events) {
		SNAP_SET(&snap, lost, client->lost_events);
		client->lost_events = 0;
	}
	nlh = reply_begin(client, client->event_type, NLM_F_MULTI, client->event_seq,
			  EADM_CMD_EVENT_NTF);
	if (put_row(nlh, reply_room(client, nlh), &client->control->devices[row->device],
		    EADM_OBJ_EVENT, &snap, RIGHT(EADM_PERM_NONE), false, 0))
		reply_end(client, nlh);
	client->first_event = (client->first_event + 1) % MAX_EVENTS;
	client->n_events--;
}
