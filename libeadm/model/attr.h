/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bounded reading of netlink attributes. */
#ifndef EADM_ATTR_H
#define EADM_ATTR_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct eadm_attrs {
	const unsigned char *pos;
	size_t left;
};

/*
 * Returns 1 if *attr is an attribute within the bounds, 0 at the end, -1 if it exceeds
 * the bounds.
 */
static inline int eadm_attr_next(struct eadm_attrs *attrs,
				 const struct nlattr **attr)
{
	const struct nlattr *nla = (const void *)attrs->pos;
	size_t len, step;

	if (attrs->left < NLA_HDRLEN)
		return attrs->left ? -1 : 0;
	len = nla->nla_len;
	/* A length below that of the header wraps to a very large value. */
	if (len - NLA_HDRLEN > attrs->left - NLA_HDRLEN)
		return -1;
	step = (len + NLA_ALIGNTO - 1) & ~(size_t)(NLA_ALIGNTO - 1);
	if (step > attrs->left)
		step = attrs->left;
	attrs->pos += step;
	attrs->left -= step;
	*attr = nla;
	return 1;
}

static inline unsigned int eadm_attr_type(const struct nlattr *attr)
{
	return attr->nla_type & NLA_TYPE_MASK;
}

static inline const void *eadm_attr_data(const struct nlattr *attr)
{
	return (const unsigned char *)attr + NLA_HDRLEN;
}

static inline size_t eadm_attr_len(const struct nlattr *attr)
{
	return (size_t)attr->nla_len - NLA_HDRLEN;
}

static inline struct eadm_attrs eadm_attr_nested(const struct nlattr *attr)
{
	return (struct eadm_attrs){ eadm_attr_data(attr), eadm_attr_len(attr) };
}

/* Returns the attributes of a message after a fixed header of @hdrlen bytes. */
static inline struct eadm_attrs eadm_attr_msg(const struct nlmsghdr *nlh,
					      size_t hdrlen)
{
	size_t skip = NLMSG_HDRLEN + NLMSG_ALIGN(hdrlen);
	struct eadm_attrs attrs = { (const unsigned char *)nlh + skip, 0 };

	if (nlh->nlmsg_len > skip)
		attrs.left = nlh->nlmsg_len - skip;
	return attrs;
}

/*
 * Returns the string in an attribute; NULL if it is not terminated within the
 * attribute.
 */
static inline const char *eadm_attr_string(const struct nlattr *attr)
{
	const char *str = eadm_attr_data(attr);
	size_t len = eadm_attr_len(attr);

	return len && !str[len - 1] ? str : NULL;
}

static inline uint64_t eadm_load(const void *p, size_t len)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (len) {
	case 8:
		memcpy(&u64, p, 8);
		return u64;
	case 4:
		memcpy(&u32, p, 4);
		return u32;
	case 2:
		memcpy(&u16, p, 2);
		return u16;
	default:
		return *(const unsigned char *)p;
	}
}

#endif /* EADM_ATTR_H */
