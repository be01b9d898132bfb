/* SPDX-License-Identifier: GPL-2.0-or-later */
/* librdmacm with scripted events, and the parts of eadm that connections by rdma_cm use. */
#ifndef SCRIPTED_CM_H
#define SCRIPTED_CM_H

#include "test/cm.h"

extern struct cm_script {
	int missed;			/* requests for an address that time out */
	int status;			/* of these */
	const void *reply;		/* private data of an established connection */
	uint8_t reply_len;
	int asked, longest;		/* requests, and the longest time in ms */
} script;

/* Fills in the functions, and returns the channel that events arrive on. */
struct rdma_event_channel *script_begin(void);

#endif /* SCRIPTED_CM_H */
