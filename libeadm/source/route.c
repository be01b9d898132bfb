// SPDX-License-Identifier: LGPL-2.1-or-later
/* Addresses of a network interface and its failed neighbours, from routing netlink. */
#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "eadm_nl.h"
#include "local.h"
#include "model/fields.h"

/* Maximum length of the field in spec/eadm.yaml. */
#define MAX_ADDRESSES 512

struct found {
	unsigned int index;
	char words[MAX_ADDRESSES];
};

/* On an interface with a peer, the local attribute is its own address. */
static int take_attribute(const struct nlattr *attr, void *data)
{
	const struct nlattr **address = data;
	unsigned int type = mnl_attr_get_type(attr);

	if (type == IFA_LOCAL || (type == IFA_ADDRESS && !*address))
		*address = attr;
	return MNL_CB_OK;
}

/* Adds an address such as "10.77.0.1/24". */
static int take_address(const struct nlmsghdr *nlh, void *data)
{
	const struct ifaddrmsg *message = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *address = NULL;
	struct found *found = data;
	char text[INET6_ADDRSTRLEN + 8];
	size_t len;

	/* Kernels without the strict check send the addresses of all interfaces. */
	if (nlh->nlmsg_type != RTM_NEWADDR || message->ifa_index != found->index ||
	    mnl_attr_parse(nlh, sizeof(*message), take_attribute, &address) < 0 ||
	    !address ||
	    mnl_attr_get_payload_len(address) <
		    (message->ifa_family == AF_INET ? 4 : 16) ||
	    !inet_ntop(message->ifa_family, mnl_attr_get_payload(address), text,
		       sizeof(text)))
		return MNL_CB_OK;
	len = strlen(text);
	snprintf(text + len, sizeof(text) - len, "/%u", message->ifa_prefixlen);
	eadm_local_add_word(found->words, sizeof(found->words), text,
			    strlen(text));
	return MNL_CB_OK;
}

/* A host may have thousands of interfaces: request only one. */
static bool ask(struct found *found)
{
	char buf[MNL_NLMSG_HDRLEN + sizeof(struct ifaddrmsg)];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifaddrmsg *message;

	nlh->nlmsg_type = RTM_GETADDR;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	message = mnl_nlmsg_put_extra_header(nlh, sizeof(*message));
	message->ifa_index = found->index;
	return eadm_ask(NETLINK_ROUTE, nlh, take_address, found);
}

/*
 * Lists addresses in the caller's network namespace: an interface in a different
 * namespace has none there.
 */
void eadm_local_addresses(struct eadm_answer *answer, const char *netdev)
{
	struct found found = { if_nametoindex(netdev), "" };

	if (!found.index)
		eadm_local_put(answer, EADM_A_DEV_ADDRESSES, "");
	else if (ask(&found))
		eadm_local_put(answer, EADM_A_DEV_ADDRESSES, found.words);
}

/* ---- neighbours ------------------------------------------------------------------ */

/*
 * Maximum age of an entry, in seconds. Older ones are ignored, because the kernel may never
 * remove them.
 */
#define RECENT 600

struct neighbour {
	const struct nlattr *address;
	bool recent;
};

static int take_neighbour_attribute(const struct nlattr *attr, void *data)
{
	struct neighbour *neighbour = data;
	struct nda_cacheinfo times;

	if (mnl_attr_get_type(attr) == NDA_DST)
		neighbour->address = attr;
	if (mnl_attr_get_type(attr) == NDA_CACHEINFO &&
	    mnl_attr_get_payload_len(attr) >= sizeof(times)) {
		memcpy(&times, mnl_attr_get_payload(attr), sizeof(times));
		neighbour->recent = times.ndm_updated <
				    RECENT * sysconf(_SC_CLK_TCK);
	}
	return MNL_CB_OK;
}

/* An entry is incomplete for a few seconds before it fails. */
static int take_neighbour(const struct nlmsghdr *nlh, void *data)
{
	const struct ndmsg *message = mnl_nlmsg_get_payload(nlh);
	struct neighbour neighbour = { 0 };
	char text[INET6_ADDRSTRLEN];
	struct found *found = data;

	if (nlh->nlmsg_type != RTM_NEWNEIGH ||
	    (unsigned int)message->ndm_ifindex != found->index ||
	    message->ndm_state != NUD_FAILED ||
	    mnl_attr_parse(nlh, sizeof(*message), take_neighbour_attribute,
			   &neighbour) < 0 ||
	    !neighbour.address || !neighbour.recent ||
	    mnl_attr_get_payload_len(neighbour.address) <
		    (message->ndm_family == AF_INET ? 4 : 16) ||
	    !inet_ntop(message->ndm_family,
		       mnl_attr_get_payload(neighbour.address), text,
		       sizeof(text)))
		return MNL_CB_OK;
	eadm_local_add_word(found->words, sizeof(found->words), text,
			    strlen(text));
	return MNL_CB_OK;
}

void eadm_local_unresolved(struct eadm_answer *answer, const char *netdev)
{
	char buf[MNL_NLMSG_HDRLEN + sizeof(struct ndmsg) + 16];
	struct found found = { if_nametoindex(netdev), "" };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = RTM_GETNEIGH;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ndmsg));
	mnl_attr_put_u32(nlh, NDA_IFINDEX, found.index);
	if (found.index && eadm_ask(NETLINK_ROUTE, nlh, take_neighbour, &found))
		eadm_local_put(answer, EADM_A_LINK_UNRESOLVED, found.words);
}
