// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * RDMA netlink shows QPs without their connections, and connections with their QP
 * number: combining the two yields the peer of a QP.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eadm_nl.h"
#include "grow.h"
#include "peers.h"
#include "rdma.h"

#define MAX_ADDR 16

struct end {
	uint16_t port;
	uint8_t len;		/* length of the address; 0: unknown */
	unsigned char addr[MAX_ADDR];
};

struct eadm_peer {
	uint32_t qpn;
	struct end local, peer;
};

static void take_end(const struct eadm_record *rec, unsigned int addr,
		     unsigned int port, struct end *end)
{
	const struct eadm_slot *slot = &rec->slot[addr - 1];

	*end = (struct end){ 0 };
	if (!eadm_record_attr_has(rec, addr) || slot->len > sizeof(end->addr))
		return;
	end->len = slot->len;
	memcpy(end->addr, slot->p, slot->len);
	end->port = eadm_record_attr_u64(rec, port);
}

/* Datagrams are sent to many peers, and an unconnected QP has no peer. */
static bool is_connection(const struct eadm_record *rec)
{
	uint64_t ps, state;

	if (!eadm_record_attr_has(rec, EADM_A_CEP_QPN) ||
	    !eadm_record_attr_has(rec, EADM_A_CEP_PS) ||
	    !eadm_record_attr_has(rec, EADM_A_CEP_STATE) ||
	    !eadm_record_attr_has(rec, EADM_A_CEP_PEER_ADDR))
		return false;
	ps = eadm_record_attr_u64(rec, EADM_A_CEP_PS);
	state = eadm_record_attr_u64(rec, EADM_A_CEP_STATE);
	return (ps == EADM_PORT_SPACE_TCP || ps == EADM_PORT_SPACE_IB) &&
	       (state == EADM_CEP_STATE_CONNECT ||
		state == EADM_CEP_STATE_CLOSED);
}

static int add(struct eadm_ctx *ctx, struct eadm_peers *peers,
	       const struct eadm_record *rec)
{
	struct eadm_peer *peer;

	if (!grow(peers->peer, peers->n, peers->max))
		return eadm_oom(ctx);
	peer = &peers->peer[peers->n++];
	peer->qpn = eadm_record_attr_u64(rec, EADM_A_CEP_QPN);
	take_end(rec, EADM_A_CEP_LOCAL_ADDR, EADM_A_CEP_LOCAL_PORT,
		 &peer->local);
	take_end(rec, EADM_A_CEP_PEER_ADDR, EADM_A_CEP_PEER_PORT, &peer->peer);
	return 0;
}

static int by_qpn(const void *a, const void *b)
{
	const struct eadm_peer *x = a, *y = b;

	return x->qpn < y->qpn ? -1 : x->qpn > y->qpn;
}

/* Load the connections of a device. @rec is used for rows. */
int eadm_peers_load(struct eadm_ctx *ctx, const struct eadm_device *dev,
		    struct eadm_peers *peers, struct eadm_record *rec)
{
	const struct eadm_object *cep = &eadm_spec_objects[EADM_SPEC_OBJ_CEP];
	struct eadm_rdma_cursor cursor;
	const struct nlmsghdr *nlh;
	struct eadm_query query;
	struct eadm_reply reply;
	int ret;

	eadm_peers_free(peers);
	eadm_rdma_query(cep, dev, 0, NULL, &query);
	ret = eadm_reply_open(ctx, &query, &reply);
	while (!ret && (ret = eadm_reply_next(&reply, &nlh)) > 0) {
		ret = eadm_rdma_begin(&reply, nlh, cep, &cursor);
		while (!ret && (ret = eadm_rdma_next(&reply, &cursor, cep, dev,
						     rec)) > 0)
			ret = is_connection(rec) ? add(ctx, peers, rec) : 0;
	}
	eadm_reply_close(&reply);
	if (ret)
		eadm_peers_free(peers);
	else if (peers->n > 1)
		qsort(peers->peer, peers->n, sizeof(*peers->peer), by_qpn);
	return ret;
}

void eadm_peers_free(struct eadm_peers *peers)
{
	free(peers->peer);
	*peers = (struct eadm_peers){ 0 };
}

/*
 * Find the connection with the number of a QP. If two connections have the number, one
 * of them has ended, and it is unknown which.
 */
static const struct eadm_peer *find(const struct eadm_peers *peers,
				    uint32_t qpn)
{
	const struct eadm_peer key = { .qpn = qpn }, *end, *peer;

	if (!peers->n)
		return NULL;
	end = peers->peer + peers->n;
	peer = bsearch(&key, peers->peer, peers->n, sizeof(key), by_qpn);
	if (!peer || (peer > peers->peer && peer[-1].qpn == qpn) ||
	    (peer + 1 < end && peer[1].qpn == qpn))
		return NULL;
	return peer;
}

static void put_end(struct eadm_record *rec, unsigned int addr,
		    unsigned int port, const struct end *end)
{
	if (!end->len)
		return;
	eadm_record_put_bytes(rec, addr, end->addr, end->len);
	eadm_record_put_u64(rec, port, end->port);
}

/* @qp is a row of RDMA netlink. */
void eadm_peers_put(const struct eadm_peers *peers, struct eadm_record *qp)
{
	const struct eadm_peer *peer;
	uint64_t state;

	if (!eadm_record_attr_has(qp, EADM_A_QP_QPN) ||
	    !eadm_record_attr_has(qp, EADM_A_QP_STATE))
		return;
	/* The QP is not connected yet: the number belongs to an older connection. */
	state = eadm_record_attr_u64(qp, EADM_A_QP_STATE);
	if (state == EADM_QP_STATE_RESET || state == EADM_QP_STATE_INIT)
		return;
	peer = find(peers, eadm_record_attr_u64(qp, EADM_A_QP_QPN));
	if (!peer)
		return;
	put_end(qp, EADM_A_QP_LOCAL_ADDR, EADM_A_QP_LOCAL_PORT, &peer->local);
	put_end(qp, EADM_A_QP_PEER_ADDR, EADM_A_QP_PEER_PORT, &peer->peer);
}
