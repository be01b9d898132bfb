// SPDX-License-Identifier: GPL-2.0-or-later
/* Sending datagrams. */
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <string.h>

#include "soft.h"

#define ROCE_V2_PORT_PROTOCOL 0x11	/* UDP */
#define IBA_PROTOCOL 0x1b

static bool is_v4(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, prefix, sizeof(prefix));
}

static uint16_t checksum(const void *data, size_t size)
{
	const uint16_t *word = data;
	uint32_t sum = 0;

	for (; size > 1; size -= 2)
		sum += *word++;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Builds the network header that a receiver gets before the data. */
static void make_header(unsigned char header[SOFT_GRH], const struct soft_gid *from,
			const struct ibv_ah_attr *ah, uint64_t length, struct backend_wc *wc)
{
	bool v2 = from->type == IBV_GID_TYPE_ROCE_V2;
	struct ip6_hdr ip6 = { 0 };
	struct iphdr ip = { 0 };

	memset(header, 0, SOFT_GRH);
	if (v2 && is_v4(&from->gid)) {
		ip = (struct iphdr){
			.version = 4,
			.ihl = 5,
			.tos = ah->grh.traffic_class,
			.tot_len = htons((uint16_t)(sizeof(ip) + length)),
			.ttl = ah->grh.hop_limit,
			.protocol = ROCE_V2_PORT_PROTOCOL,
		};
		memcpy(&ip.saddr, from->gid.raw + 12, 4);
		memcpy(&ip.daddr, ah->grh.dgid.raw + 12, 4);
		ip.check = checksum(&ip, sizeof(ip));
		memcpy(header + SOFT_GRH - sizeof(ip), &ip, sizeof(ip));
		wc->net_type = BACKEND_NET_IPV4;
		return;
	}
	ip6.ip6_flow = htonl(6u << 28 | (uint32_t)ah->grh.traffic_class << 20 |
			     (ah->grh.flow_label & 0xfffff));
	ip6.ip6_plen = htons((uint16_t)length);
	ip6.ip6_nxt = v2 ? ROCE_V2_PORT_PROTOCOL : IBA_PROTOCOL;
	ip6.ip6_hlim = ah->grh.hop_limit;
	memcpy(&ip6.ip6_src, from->gid.raw, 16);
	memcpy(&ip6.ip6_dst, ah->grh.dgid.raw, 16);
	memcpy(header, &ip6, sizeof(ip6));
	wc->net_type = v2 ? BACKEND_NET_IPV6 : BACKEND_NET_ROCE_V1;
}

static void deliver(struct soft_qp *qp, const struct soft_send *send,
		    const struct soft_list *from, const struct soft_gid *gid)
{
	const union ibv_gid *dgid = &send->ah.grh.dgid;
	struct soft *soft = qp->port->soft;
	struct soft_port *port = soft_find_port(soft, dgid);
	struct soft_link *link = port ? NULL : soft_find_link(soft, dgid);
	bool imm = send->wr.opcode == IBV_WR_SEND_WITH_IMM;
	struct soft_datagram datagram;

	if (!port && !link)
		return;
	datagram.qpn = send->wr.wr.ud.remote_qpn;
	datagram.qkey = send->wr.wr.ud.remote_qkey;
	datagram.size = SOFT_GRH + (size_t)send->length;
	datagram.wc = (struct backend_wc){
		.wc = {
			.opcode = IBV_WC_RECV,
			.byte_len = (uint32_t)datagram.size,
			.src_qp = qp->qpn,
			.wc_flags = IBV_WC_GRH | (imm ? IBV_WC_WITH_IMM : 0),
		},
		.solicited = send->wr.send_flags & IBV_SEND_SOLICITED,
	};
	datagram.wc.wc.imm_data = send->wr.imm_data;
	make_header(datagram.data, gid, &send->ah, send->length, &datagram.wc);
	/* The memory existed at the check above, but may be gone by now. */
	if (!soft_get(from, 0, datagram.data + SOFT_GRH, (size_t)send->length))
		memset(datagram.data + SOFT_GRH, 0, (size_t)send->length);
	if (port)
		soft_ud_arrive(port, &datagram);
	else
		soft_remote_datagram(link, dgid, &datagram);
}

bool soft_ud_step(struct soft_qp *qp, struct soft_send *send)
{
	struct soft_list from = { .pd = qp->pd, .sges = send->sges, .n_sge = send->n_sge };
	uint8_t index = send->ah.grh.sgid_index;
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	if (send->length > SOFT_MTU)
		status = IBV_WC_LOC_LEN_ERR;
	else if (!soft_list_check(&from))
		status = IBV_WC_LOC_PROT_ERR;
	else if (index >= SOFT_MAX_GIDS || !qp->port->gids[index].used)
		status = IBV_WC_LOC_QP_OP_ERR;
	else
		deliver(qp, send, &from, &qp->port->gids[index]);
	qp->port->soft->bytes -= (int64_t)send->length;
	soft_sent(qp, status);
	if (status) {
		qp->attr.qp_state = IBV_QPS_SQE;
		soft_qp_schedule(qp);
	}
	return true;
}
