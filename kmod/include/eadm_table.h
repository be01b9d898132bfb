/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables that convert snapshots to attributes: generated for the companion, but also usable by
 * a program that implements the same contract.
 */
#ifndef EADM_TABLE_H
#define EADM_TABLE_H

#include <linux/types.h>

#include "eadm_snap.h"

/* Types of attributes. */
enum eadm_type {
	EADM_TYPE_U32,
	EADM_TYPE_S32,
	EADM_TYPE_U64,
	EADM_TYPE_UINT,
	EADM_TYPE_STRING,
	EADM_TYPE_BINARY,
};

/* Rights; sets of them consist of BIT(right). */
enum eadm_perm {
	EADM_PERM_NONE,
	EADM_PERM_ADMIN,
	EADM_PERM_RAWIO,
};

/* Fields that the companion sets from the resource tracking entry. */
enum eadm_owner {
	EADM_OWNER_PID,
	EADM_OWNER_COMM,
	EADM_OWNER_CGROUP_ID,
	EADM_OWNER_NETNS,
	EADM_OWNER_RES_ID,
	EADM_OWNER_COUNT
};

/**
 * struct eadm_field - one field of a snapshot
 * @attr: attribute number
 * @off: offset of the value in the snapshot
 * @has: offset of the presence mark
 * @len_off: offset of the length of a binary field
 * @len: capacity of a string or binary field
 * @type: EADM_TYPE_*
 * @perm: EADM_PERM_* required to read the field
 * @hw: the value is read from the adapter
 */
struct eadm_field {
	u16 attr;
	u16 off;
	u16 has;
	u16 len_off;
	u16 len;
	u8 type;
	u8 perm;
	bool hw;
};

/**
 * struct eadm_set - the additional fields of an object for one adapter family
 * @family: name of the family
 * @fields: the additional fields
 * @nest: attribute that contains them
 * @n_fields: number of @fields
 * @snap_size: size of their snapshot struct
 */
struct eadm_set {
	const char *family;
	const struct eadm_field *fields;
	u16 nest;
	u16 n_fields;
	u16 snap_size;
};

/**
 * struct eadm_object - one kind of object of the family
 * @name: name in the specification
 * @fields: fields that a driver can set
 * @sets: additional fields by family, terminated by an entry without a name; or NULL
 * @owner: fields among @fields that the companion sets, or NULL
 * @n_fields: number of @fields
 * @snap_size: size of the snapshot struct
 * @key_attr: attribute that identifies a row
 * @key_type: type of the key, EADM_TYPE_U32 or EADM_TYPE_UINT
 * @from_attr: attribute of a dump with the first key, or 0
 * @among_attr: attribute with a bit for each requested value of @among, or 0
 * @least_attr: attribute with the minimum requested value of @least, or 0
 * @only_attr: attribute with a bit for each requested attribute, or 0
 * @among: field that @among_attr filters by
 * @least: field that @least_attr filters by
 * @cmd: command that reads the object
 * @hw_perm: EADM_PERM_* required to query the adapter
 * @hw: some fields are read from the adapter
 * @by_device: one row per device, with no key besides the device
 * @soft_rawio: plain dumps include fields with EADM_PERM_RAWIO
 */
struct eadm_object {
	const char *name;
	const struct eadm_field *fields;
	const struct eadm_set *sets;
	const struct eadm_field *owner[EADM_OWNER_COUNT];
	const struct eadm_field *among;
	const struct eadm_field *least;
	u16 n_fields;
	u16 snap_size;
	u16 key_attr;
	u16 from_attr;
	u16 among_attr;
	u16 least_attr;
	u16 only_attr;
	u8 key_type;
	u8 cmd;
	u8 hw_perm;
	bool hw;
	bool by_device;
	bool soft_rawio;
};

extern const struct eadm_object eadm_objects[EADM_OBJ_COUNT];
/* The object of each command of the netlink family. */
extern const u8 eadm_cmd_obj[];

#endif /* EADM_TABLE_H */
