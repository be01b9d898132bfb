/* SPDX-License-Identifier: GPL-2.0-only */
/* Generic netlink, char devices and resource tracking, for the companion. */
#ifndef COMPAT_NETLINK_H
#define COMPAT_NETLINK_H

#include <linux/device/class.h>
#include <net/genetlink.h>

/* Qualifier of the device argument of a class's devnode(). */
#ifdef COMPAT_HAVE_DEVNODE_CONST
#define COMPAT_DEVNODE_CONST	const
#else
#define COMPAT_DEVNODE_CONST
#endif

#ifdef COMPAT_HAVE_GENL_INFO_DUMP
static inline struct nlattr **compat_genl_dump_attrs(struct netlink_callback *cb)
{
	return genl_info_dump(cb)->attrs;
}
#else
static inline struct nlattr **compat_genl_dump_attrs(struct netlink_callback *cb)
{
	return genl_dumpit_info(cb)->attrs;
}
#endif

/* Makes the kernel refuse requests with non-zero reserved fields, for all commands from @cmd on. */
static inline void compat_genl_resv_start(struct genl_family *family, unsigned int cmd)
{
#ifdef COMPAT_HAVE_GENL_RESV_START_OP
	family->resv_start_op = cmd;
#endif
}

#ifndef NL_SET_ERR_ATTR_MISS
#define NL_SET_ERR_ATTR_MISS(extack, nest, type)			\
	do {								\
		(void)(extack);						\
		(void)(nest);						\
		(void)(type);						\
	} while (0)
#endif

/* Unsigned numbers of 4 or 8 bytes. */
#ifdef COMPAT_HAVE_NLA_UINT
#define COMPAT_NLA_POLICY_UINT	{ .type = NLA_UINT }
#else
static inline int compat_nla_check_uint(const struct nlattr *attr,
					struct netlink_ext_ack *extack)
{
	if (nla_len(attr) == sizeof(u32) || nla_len(attr) == sizeof(u64))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "invalid attribute length");
	return -ERANGE;
}

#define COMPAT_NLA_POLICY_UINT	NLA_POLICY_VALIDATE_FN(NLA_BINARY, compat_nla_check_uint)

static inline u64 nla_get_uint(const struct nlattr *attr)
{
	return nla_len(attr) == sizeof(u32) ? nla_get_u32(attr) : nla_get_u64(attr);
}
#endif

#endif /* COMPAT_NETLINK_H */
