/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The protocol on the control socket of a program that emulates an adapter.
 *
 * The socket is of type SOCK_SEQPACKET. Packets are netlink messages like those of a
 * generic netlink socket: requests of the family "eadm" (spec/eadm.yaml), whose type may
 * be any number from 16 on; requests CTRL_CMD_GETFAMILY; and responses, which have the
 * type and number of the request. EADM_CMD_EVENT_NTF as a request subscribes to events,
 * which are messages of a response without an end. Additional requests are defined below.
 * One request is processed at a time.
 */
#ifndef EADM_PEER_WIRE_H
#define EADM_PEER_WIRE_H

/* Commands of messages with a generic netlink header. */
#define EADM_PEER_FAULT_GET	240	/* all knobs, of one device or all devices */
#define EADM_PEER_FAULT_SET	241
#define EADM_PEER_RING		242	/* as EADM_IOC_RING: PEER_STRUCT, then PEER_DATA */
#define EADM_PEER_REGS		243	/* as EADM_IOC_REGS: PEER_DATA */

enum {
	EADM_PEER_A_DEVICE = 1,		/* name */
	EADM_PEER_A_KNOB,		/* name */
	EADM_PEER_A_COUNT,		/* s32: remaining injections; -1: unlimited */
	EADM_PEER_A_PROBABILITY,	/* u32: percent */
	EADM_PEER_A_TARGET,		/* s64: -1: any */
	EADM_PEER_A_ARG,		/* u64 */
	EADM_PEER_A_HITS,		/* u64 */
	EADM_PEER_A_ABOUT,		/* string */
	EADM_PEER_A_STRUCT,		/* struct eadm_ioc_ring; its member data is 0 */
	EADM_PEER_A_DATA,		/* bytes of entries, or struct eadm_ioc_reg */
};

/* Message type. The kernel assigns its families up to GENL_MAX_ID, 1023. */
#define EADM_PEER_TYPE		0xead
#define EADM_PEER_EVENTS	1	/* number of the multicast group */
/* Maximum length of a request and of a packet of a response. */
#define EADM_PEER_REQUEST_MAX	1024
#define EADM_PEER_PACKET_MAX	49152
#define EADM_PEER_DATA_MAX	32768

#endif /* EADM_PEER_WIRE_H */
