// SPDX-License-Identifier: GPL-2.0-or-later
/* Received datagrams: those that cannot be delivered are silently dropped. */
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stddef.h>
#include <string.h>

#include "soft.h"

static struct soft_qp *find_receiver(struct soft_port *port, const struct soft_datagram *datagram)
{
	struct soft_qp *qp = datagram->qpn == 1 ? port->gsi : table_get(&port->qps, datagram->qpn);

	if (datagram->qpn == 1 && datagram->size > SOFT_GRH + SOFT_MAD)
		return NULL;
	if (!qp || qp->type != IBV_QPT_UD || qp->attr.qkey != datagram->qkey)
		return NULL;
	switch (qp->attr.qp_state) {
	case IBV_QPS_RTR:
	case IBV_QPS_RTS:
	case IBV_QPS_SQD:
	case IBV_QPS_SQE:
		return qp;
	default:
		return NULL;
	}
}

union ibv_gid soft_ud_source(const struct soft_datagram *datagram)
{
	const unsigned char *ip = datagram->data + SOFT_GRH - sizeof(struct iphdr);
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	if (datagram->wc.net_type == BACKEND_NET_IPV4)
		memcpy(gid.raw + 12, ip + offsetof(struct iphdr, saddr), 4);
	else
		memcpy(gid.raw, datagram->data + offsetof(struct ip6_hdr, ip6_src), 16);
	return gid;
}

void soft_ud_arrive(struct soft_port *port, struct soft_datagram *datagram)
{
	struct soft_qp *to = find_receiver(port, datagram);
	struct soft_recv *recv = to ? soft_take(to) : NULL;
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	struct soft_list into;

	if (!recv)
		return;
	into = (struct soft_list){
		.pd = to->pd,
		.sges = recv->sges,
		.n_sge = recv->n_sge,
		.access = IBV_ACCESS_LOCAL_WRITE,
	};
	if (datagram->size > soft_list_length(&into))
		status = IBV_WC_LOC_LEN_ERR;
	else if (!soft_list_check(&into) || !soft_put(&into, 0, datagram->data, datagram->size))
		status = IBV_WC_LOC_PROT_ERR;
	soft_received(to, recv, status, &datagram->wc);
	/*
	 * The sender chooses the length, and may be any program, so a wrong length must
	 * not make the receiver fail.
	 */
	if (status == IBV_WC_LOC_PROT_ERR)
		soft_qp_fail(to);
}
