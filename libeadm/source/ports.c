// SPDX-License-Identifier: LGPL-2.1-or-later
/* Ports of a device ("rdma link"), from RDMA netlink. */
#include <rdma/rdma_netlink.h>

#include "ask.h"
#include "devlist.h"
#include "eadm_nl.h"
#include "local.h"
#include "message.h"
#include "model/fields.h"

struct ports {
	struct eadm_answer *answer;
	const struct eadm_device *dev;
};

/* The kernel sends LIDs only with InfiniBand, even if they are 0. */
static int put_field(const struct nlattr *attr, void *data)
{
	struct eadm_answer *answer = data;

	switch (mnl_attr_get_type(attr)) {
	case RDMA_NLDEV_ATTR_PORT_INDEX:
		if (mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
			eadm_message_put_u32(&answer->out, EADM_A_PORT_PORT,
					     mnl_attr_get_u32(attr));
		break;
	case RDMA_NLDEV_ATTR_PORT_STATE:
		if (mnl_attr_validate(attr, MNL_TYPE_U8) >= 0)
			eadm_message_put_u32(&answer->out, EADM_A_PORT_STATE,
					     mnl_attr_get_u8(attr));
		break;
	case RDMA_NLDEV_ATTR_NDEV_NAME:
		if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
			eadm_local_put(answer, EADM_A_PORT_NETDEV,
				       mnl_attr_get_str(attr));
		break;
	case RDMA_NLDEV_ATTR_LID:
		if (mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
			eadm_message_put_u32(&answer->out, EADM_A_PORT_LID,
					     mnl_attr_get_u32(attr));
		break;
	case RDMA_NLDEV_ATTR_SM_LID:
		if (mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
			eadm_message_put_u32(&answer->out, EADM_A_PORT_SM_LID,
					     mnl_attr_get_u32(attr));
		break;
	}
	return MNL_CB_OK;
}

/* Each message describes one port. */
static int put_port(const struct nlmsghdr *nlh, void *data)
{
	struct ports *ports = data;
	size_t at = eadm_answer_row(ports->answer, ports->dev);

	mnl_attr_parse(nlh, 0, put_field, ports->answer);
	eadm_message_end(&ports->answer->out, at);
	return MNL_CB_OK;
}

void eadm_local_ports(struct eadm_answer *answer, const struct eadm_query *query)
{
	struct ports ports = {
		.answer = answer, .dev = eadm_local_device_of(answer, query),
	};
	char buf[MNL_NLMSG_HDRLEN + 64];
	struct nlmsghdr *nlh;

	if (!ports.dev)
		return;
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
					   RDMA_NLDEV_CMD_PORT_GET);
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, ports.dev->index);
	eadm_ask(NETLINK_RDMA, nlh, put_port, &ports);
}
