// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Converts netlink packets from a machine with the other byte order in place, with the
 * types in the tables. Data that exceeds its container is left unchanged; the decoder
 * rejects it.
 */
#include <byteswap.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "model/record.h"
#include "rdma_wire.h"
#include "swap.h"

static void turn(void *p, size_t len)
{
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (len) {
	case 2:
		memcpy(&u16, p, 2);
		u16 = bswap_16(u16);
		memcpy(p, &u16, 2);
		break;
	case 4:
		memcpy(&u32, p, 4);
		u32 = bswap_32(u32);
		memcpy(p, &u32, 4);
		break;
	case 8:
		memcpy(&u64, p, 8);
		u64 = bswap_64(u64);
		memcpy(p, &u64, 8);
		break;
	}
}

typedef void (*attr_fn)(unsigned int type, unsigned char *data, size_t len,
			const void *arg);

static void turn_attrs(unsigned char *p, size_t left, attr_fn fn,
		       const void *arg)
{
	struct nlattr nla;
	size_t step;

	while (left >= NLA_HDRLEN) {
		turn(p, 2);
		turn(p + 2, 2);
		memcpy(&nla, p, sizeof(nla));
		if (nla.nla_len < NLA_HDRLEN || nla.nla_len > left)
			return;
		fn(nla.nla_type & NLA_TYPE_MASK, p + NLA_HDRLEN,
		   nla.nla_len - NLA_HDRLEN, arg);
		step = NLA_ALIGN(nla.nla_len);
		if (step > left)
			return;
		p += step;
		left -= step;
	}
}

/*
 * Converts messages of the generic netlink controller, but only those that
 * find_family() reads.
 */
static void turn_control(unsigned int type, unsigned char *data, size_t len,
			 const void *arg)
{
	(void)arg;
	if (type == CTRL_ATTR_FAMILY_ID && len == 2)
		turn(data, 2);
}

/*
 * Tables for looking up an object's attributes: those that all families have, or those
 * of a nest.
 */
struct body {
	const struct eadm_object *object;
	unsigned int base, max;
};

static void turn_eadm(unsigned int type, unsigned char *data, size_t len,
		      const void *arg)
{
	const struct body *body = arg;
	const struct eadm_object *object = body->object;
	const struct eadm_spec_set *set = body->base ? NULL :
		eadm_spec_set_of(object, type);
	int place;

	if (set) {
		struct body nest = { object, set->base, set->max_attr };

		turn_attrs(data, len, turn_eadm, &nest);
		return;
	}
	place = type > body->max ? -1 : object->by_slot[body->base + type];
	if (place < 0)
		return;
	switch (object->fields[place].type) {
	case EADM_SPEC_TYPE_STRING:
	case EADM_SPEC_TYPE_BINARY:
		break;
	default:
		turn(data, len);
		break;
	}
}

static void turn_rdma(unsigned int type, unsigned char *data, size_t len,
		      const void *arg)
{
	if (eadm_rdma_is_nest(type)) {
		turn_attrs(data, len, turn_rdma, arg);
		return;
	}
	switch (type) {
	case RDMA_NLDEV_ATTR_RES_SRC_ADDR:
	case RDMA_NLDEV_ATTR_RES_DST_ADDR:
		/* Only the family of a socket address is in host byte order. */
		turn(data, len < sizeof(sa_family_t) ? len : sizeof(sa_family_t));
		break;
	case RDMA_NLDEV_ATTR_DEV_NAME:
	case RDMA_NLDEV_ATTR_FW_VERSION:
	case RDMA_NLDEV_ATTR_NDEV_NAME:
	case RDMA_NLDEV_ATTR_RES_KERN_NAME:
	case RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME:
	case RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME:
	case RDMA_NLDEV_ATTR_CHARDEV_TYPE:
	case RDMA_NLDEV_ATTR_CHARDEV_NAME:
	case RDMA_NLDEV_ATTR_DRIVER:
		break;
	default:
		turn(data, len);
		break;
	}
}

static void turn_body(uint16_t proto, uint16_t type, unsigned char *p,
		      size_t len)
{
	const struct eadm_object *object;

	if (type == NLMSG_ERROR || type == NLMSG_DONE) {
		if (len >= 4)
			turn(p, 4);
		return;
	}
	if (type < NLMSG_MIN_TYPE)
		return;
	if (proto == NETLINK_RDMA) {
		turn_attrs(p, len, turn_rdma, NULL);
		return;
	}
	if (len < GENL_HDRLEN)
		return;
	if (type == GENL_ID_CTRL) {
		turn_attrs(p + GENL_HDRLEN, len - GENL_HDRLEN, turn_control,
			   NULL);
		return;
	}
	object = eadm_object_of_cmd(p[0]);
	if (object) {
		struct body body = { object, 0, object->max_attr };

		turn_attrs(p + GENL_HDRLEN, len - GENL_HDRLEN, turn_eadm,
			   &body);
	}
}

/* Returns true if a packet has the other byte order, judging by its length. */
bool eadm_swap_needed(const void *data, size_t len)
{
	uint32_t n;

	if (len < NLMSG_HDRLEN)
		return false;
	memcpy(&n, data, sizeof(n));
	if (n >= NLMSG_HDRLEN && n <= len)
		return false;
	n = bswap_32(n);
	return n >= NLMSG_HDRLEN && n <= len;
}

void eadm_swap(uint16_t proto, void *data, size_t len)
{
	unsigned char *p = data;
	struct nlmsghdr nlh;
	size_t step;

	while (len >= NLMSG_HDRLEN) {
		turn(p, 4);
		turn(p + 4, 2);
		turn(p + 6, 2);
		turn(p + 8, 4);
		turn(p + 12, 4);
		memcpy(&nlh, p, sizeof(nlh));
		if (nlh.nlmsg_len < NLMSG_HDRLEN || nlh.nlmsg_len > len)
			return;
		turn_body(proto, nlh.nlmsg_type, p + NLMSG_HDRLEN,
			  nlh.nlmsg_len - NLMSG_HDRLEN);
		step = NLMSG_ALIGN(nlh.nlmsg_len);
		if (step > len)
			return;
		p += step;
		len -= step;
	}
}
