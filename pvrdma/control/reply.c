// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages of a response. */
#include "client.h"

#include <linux/genetlink.h>

struct nlmsghdr *reply_begin(struct client *client, uint16_t type, uint16_t flags, uint32_t seq,
			     int cmd)
{
	struct nlmsghdr *nlh = (void *)(client->out + client->out_len);
	struct genlmsghdr *genl;

	if (sizeof(client->out) - client->out_len < MNL_NLMSG_HDRLEN + GENL_HDRLEN)
		return NULL;
	nlh = mnl_nlmsg_put_header(nlh);
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = flags;
	nlh->nlmsg_seq = seq;
	if (cmd < 0)
		return nlh;
	genl = mnl_nlmsg_put_extra_header(nlh, GENL_HDRLEN);
	genl->cmd = (uint8_t)cmd;
	genl->version = 1;
	return nlh;
}

/*
 * The room is measured from the beginning of the message, as mnl_attr_put_*_check()
 * expects.
 */
size_t reply_room(const struct client *client, const struct nlmsghdr *nlh)
{
	return (size_t)(client->out + sizeof(client->out) - (const unsigned char *)nlh);
}

void reply_end(struct client *client, const struct nlmsghdr *nlh)
{
	client->out_len += MNL_ALIGN(nlh->nlmsg_len);
}

void reply_error(struct client *client, const struct nlmsghdr *request, int error,
		 const char *words)
{
	struct nlmsghdr *nlh;
	struct nlmsgerr *err;

	client->out_len = 0;
	nlh = reply_begin(client, NLMSG_ERROR, NLM_F_CAPPED | (words ? NLM_F_ACK_TLVS : 0),
			  request->nlmsg_seq, -1);
	err = mnl_nlmsg_put_extra_header(nlh, sizeof(*err));
	err->error = error;
	err->msg = *request;
	if (words)
		mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, words);
	reply_end(client, nlh);
	client->request.active = false;
}
