// SPDX-License-Identifier: LGPL-2.1-or-later
/* Network interface of a device: dropped packets, and causes of low throughput. */
#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "base/root.h"
#include "devlist.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

#define REQUEST_SIZE 128

static void put_counts(struct eadm_answer *answer, const char *netdev)
{
	static const struct {
		const char *file;
		uint16_t attr;
	} counts[] = {
		{ "carrier_down_count", EADM_A_LINK_DOWNS },
		{ "statistics/rx_errors", EADM_A_LINK_RX_ERRORS },
		{ "statistics/rx_dropped", EADM_A_LINK_RX_DROPPED },
		{ "statistics/rx_missed_errors", EADM_A_LINK_RX_MISSED },
		{ "statistics/tx_errors", EADM_A_LINK_TX_ERRORS },
		{ "statistics/tx_dropped", EADM_A_LINK_TX_DROPPED },
	};
	char text[32];
	size_t i;

	for (i = 0; i < EADM_ARRAY_SIZE(counts); i++)
		if (eadm_root_line(answer->ctx, text, sizeof(text),
				   "/sys/class/net/%.64s/%s", netdev,
				   counts[i].file))
			eadm_local_put_u64(answer, counts[i].attr,
					   strtoull(text, NULL, 10));
}

/* ---- pause frames: ethtool netlink, with statistics since Linux 5.10 ------------ */

static int take_pause_count(const struct nlattr *attr, void *data)
{
	unsigned int type = mnl_attr_get_type(attr);

	if (mnl_attr_validate(attr, MNL_TYPE_U64) < 0)
		return MNL_CB_OK;
	if (type == ETHTOOL_A_PAUSE_STAT_RX_FRAMES)
		eadm_local_put_u64(data, EADM_A_LINK_RX_PAUSES,
				   mnl_attr_get_u64(attr));
	if (type == ETHTOOL_A_PAUSE_STAT_TX_FRAMES)
		eadm_local_put_u64(data, EADM_A_LINK_TX_PAUSES,
				   mnl_attr_get_u64(attr));
	return MNL_CB_OK;
}

static int take_pause(const struct nlattr *attr, void *data)
{
	static const uint16_t states[] = {
		[ETHTOOL_A_PAUSE_AUTONEG] = EADM_A_LINK_PAUSE_AUTO,
		[ETHTOOL_A_PAUSE_RX] = EADM_A_LINK_PAUSE_RX,
		[ETHTOOL_A_PAUSE_TX] = EADM_A_LINK_PAUSE_TX,
	};
	unsigned int type = mnl_attr_get_type(attr);
	struct eadm_answer *answer = data;

	if (type == ETHTOOL_A_PAUSE_STATS &&
	    mnl_attr_validate(attr, MNL_TYPE_NESTED) >= 0)
		return mnl_attr_parse_nested(attr, take_pause_count, data);
	if (type < EADM_ARRAY_SIZE(states) && states[type] &&
	    mnl_attr_validate(attr, MNL_TYPE_U8) >= 0)
		eadm_message_put_u32(&answer->out, states[type],
				     mnl_attr_get_u8(attr));
	return MNL_CB_OK;
}

static int take_pauses(const struct nlmsghdr *nlh, void *data)
{
	mnl_attr_parse(nlh, sizeof(struct genlmsghdr), take_pause, data);
	return MNL_CB_OK;
}

static void put_pauses(struct eadm_answer *answer, const char *netdev)
{
	char buf[REQUEST_SIZE];
	struct nlmsghdr *nlh;
	struct nlattr *header;
	uint16_t family;

	if (!eadm_ask_family(answer->ctx, ETHTOOL_GENL_NAME, &family))
		return;
	nlh = eadm_ask_begin(buf, family, NLM_F_ACK, ETHTOOL_MSG_PAUSE_GET,
			     ETHTOOL_GENL_VERSION);
	header = mnl_attr_nest_start(nlh, ETHTOOL_A_PAUSE_HEADER);
	mnl_attr_put_strz(nlh, ETHTOOL_A_HEADER_DEV_NAME, netdev);
	mnl_attr_put_u32(nlh, ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_STATS);
	mnl_attr_nest_end(nlh, header);
	/* An interface that does not support pause frames rejects the request. */
	eadm_ask(NETLINK_GENERIC, nlh, take_pauses, answer);
}

/* ---- priority flow control: DCB netlink ---------------------------------------- */

static int take_pfc(const struct nlattr *attr, void *data)
{
	struct eadm_answer *answer = data;
	struct ieee_pfc pfc;
	uint64_t rx = 0, tx = 0;
	char words[32] = "", word[4];
	unsigned int i;

	if (mnl_attr_get_type(attr) != DCB_ATTR_IEEE_PFC ||
	    mnl_attr_get_payload_len(attr) < sizeof(pfc))
		return MNL_CB_OK;
	memcpy(&pfc, mnl_attr_get_payload(attr), sizeof(pfc));
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		/* "Requests" are those sent by this end. */
		tx += pfc.requests[i];
		rx += pfc.indications[i];
		snprintf(word, sizeof(word), "%u", i);
		if (pfc.pfc_en >> i & 1)
			eadm_local_add_word(words, sizeof(words), word,
					    strlen(word));
	}
	eadm_local_put(answer, EADM_A_LINK_PFC, words);
	eadm_local_put_u64(answer, EADM_A_LINK_RX_PFC, rx);
	eadm_local_put_u64(answer, EADM_A_LINK_TX_PFC, tx);
	return MNL_CB_OK;
}

static int take_dcb(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == DCB_ATTR_IEEE)
		return mnl_attr_parse_nested(attr, take_pfc, data);
	return MNL_CB_OK;
}

static int take_dcbs(const struct nlmsghdr *nlh, void *data)
{
	mnl_attr_parse(nlh, sizeof(struct dcbmsg), take_dcb, data);
	return MNL_CB_OK;
}

static void put_dcb(struct eadm_answer *answer, const char *netdev)
{
	char buf[REQUEST_SIZE];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct dcbmsg *message;

	nlh->nlmsg_type = RTM_GETDCB;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	message = mnl_nlmsg_put_extra_header(nlh, sizeof(*message));
	message->cmd = DCB_CMD_IEEE_GET;
	mnl_attr_put_strz(nlh, DCB_ATTR_IFNAME, netdev);
	/* Most interfaces do not support DCB and reject the request. */
	eadm_ask(NETLINK_ROUTE, nlh, take_dcbs, answer);
}

/* ---- settings used by rdma_cm and the driver for sending ------------------------- */

static void put_roce(struct eadm_answer *answer, const char *device)
{
	static const char folder[] = "/sys/kernel/config/rdma_cm";
	char text[64];

	/* The configfs files exist only for devices that an administrator has configured. */
	if (eadm_root_line(answer->ctx, text, sizeof(text),
			   "%s/%.64s/ports/1/default_roce_mode", folder, device))
		eadm_local_put(answer, EADM_A_LINK_ROCE_MODE, text);
	if (eadm_root_line(answer->ctx, text, sizeof(text),
			   "%s/%.64s/ports/1/default_roce_tos", folder, device))
		eadm_local_put_number(answer, EADM_A_LINK_TOS, text);
	if (eadm_root_line(answer->ctx, text, sizeof(text),
			   "/sys/class/infiniband/%.64s/tc/1/traffic_class",
			   device))
		eadm_local_put(answer, EADM_A_LINK_TRAFFIC_CLASS, text);
}

/* The caller takes the network interface from the device's row. */
void eadm_local_link(struct eadm_answer *answer, const struct eadm_query *query)
{
	const struct eadm_device *dev = eadm_local_device_of(answer, query);
	const char *netdev = eadm_local_name(query, EADM_A_LINK_NETDEV);
	char state[16];
	size_t at;

	if (!dev || !netdev || strlen(netdev) >= IFNAMSIZ)
		return;
	at = eadm_answer_row(answer, dev);
	eadm_local_put(answer, EADM_A_LINK_NETDEV, netdev);
	if (eadm_root_line(answer->ctx, state, sizeof(state),
			   "/sys/class/net/%.64s/operstate", netdev)) {
		eadm_local_put(answer, EADM_A_LINK_STATE, state);
		put_counts(answer, netdev);
		put_pauses(answer, netdev);
		put_dcb(answer, netdev);
		eadm_local_unresolved(answer, netdev);
	}
	put_roce(answer, dev->name);
	eadm_message_end(&answer->out, at);
}
