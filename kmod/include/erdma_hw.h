/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers, commands and descriptors of the Elastic RDMA Adapter (ERDMA).
 *
 * The one place where the layout of the adapter is written down: the core
 * driver (kmod/erdma) and the device model (kmod/virt/erdma) both include it
 * and nothing else in common. "hw 4.6" in a comment means section 4.6 of the
 * hardware interface document.
 *
 * Byte order: registers, command requests, SQEs, RQEs, EQEs and doorbells are
 * little endian, CQEs are big endian 32-bit words (one exception: immediate
 * data). Offsets of masks are bit positions in CPU order after conversion.
 */
#ifndef ERDMA_HW_H
#define ERDMA_HW_H

#include <linux/bits.h>
#include <linux/types.h>

/* ---- PCI function (hw 1) ------------------------------------------------ */

#define ERDMA_PCI_VENDOR		0x1ded
#define ERDMA_PCI_DEVICE		0x107f
#define ERDMA_FUNC_BAR			0
#define ERDMA_MSIX_BAR			2
/* All drivers require exactly these memory BARs. */
#define ERDMA_BAR_MASK			(BIT(ERDMA_FUNC_BAR) | BIT(ERDMA_MSIX_BAR))
#define ERDMA_BAR0_SIZE			0x80000
#define ERDMA_MAX_VECTORS		32
#define ERDMA_COMMON_VECTOR		0

#define ERDMA_HW_PAGE_SHIFT		12
#define ERDMA_HW_PAGE_SIZE		BIT(ERDMA_HW_PAGE_SHIFT)

/* Doorbell areas inside BAR0 (hw 1.2). */
#define ERDMA_REGS_SIZE			0x1000
#define ERDMA_BAR_SQDB			0x01000
#define ERDMA_BAR_SQDB_SIZE		0x60000
#define ERDMA_BAR_SQDB_SHARED		0x5f000
/* Of the pages for SQ doorbells, entries for direct work requests (hw 6.7). */
#define ERDMA_SDB_ENTRIES_PER_PAGE	16
#define ERDMA_GRP_NUM_MIN		4
#define ERDMA_GRP_NUM_MAX		24
#define ERDMA_PAGES_PER_GRP		4
#define ERDMA_MAX_SDB_PAGES		64
#define ERDMA_MAX_SDB_ENTRY_PAGES	31
#define ERDMA_BAR_RQDB			0x61000
#define ERDMA_BAR_RQDB_SIZE		0x18000
#define ERDMA_BAR_CQDB			0x79000
#define ERDMA_BAR_CQDB_SIZE		0x6000

/* ---- Registers (hw 2.1) ------------------------------------------------- */

#define ERDMA_REG_VERSION		0x00
#define ERDMA_REG_DEV_PROTO		0x0c
#define   ERDMA_PROTO_IWARP		0
#define   ERDMA_PROTO_ROCEV2		1
#define ERDMA_REG_DEV_CTRL		0x10
#define   ERDMA_CTRL_RESET		BIT(0)
#define   ERDMA_CTRL_INIT		BIT(1)
#define ERDMA_REG_DEV_ST		0x14
#define   ERDMA_ST_RESET_DONE		BIT(0)
#define   ERDMA_ST_INIT_DONE		BIT(1)
#define ERDMA_REG_MAC_L			0x18
#define ERDMA_REG_MAC_H			0x1c
#define ERDMA_REG_CMDQ_SQ_ADDR_L	0x20
#define ERDMA_REG_CMDQ_SQ_ADDR_H	0x24
#define ERDMA_REG_CMDQ_CQ_ADDR_L	0x28
#define ERDMA_REG_CMDQ_CQ_ADDR_H	0x2c
#define ERDMA_REG_CMDQ_DEPTH		0x30
#define ERDMA_REG_CMDQ_EQ_DEPTH		0x34
#define ERDMA_REG_CMDQ_EQ_ADDR_L	0x38
#define ERDMA_REG_CMDQ_EQ_ADDR_H	0x3c
#define ERDMA_REG_AEQ_ADDR_L		0x40
#define ERDMA_REG_AEQ_ADDR_H		0x44
#define ERDMA_REG_AEQ_DEPTH		0x48
#define ERDMA_REG_GRP_NUM		0x4c
#define ERDMA_REG_AEQ_DB		0x50	/* 64 bit, as are all below */
#define ERDMA_REG_CMDQ_SQ_DBREC		0x60
#define ERDMA_REG_CMDQ_CQ_DBREC		0x68
#define ERDMA_REG_CMDQ_EQ_DBREC		0x70
#define ERDMA_REG_AEQ_DBREC		0x78
#define ERDMA_REG_TSO_IN_PACKETS	0x80
#define ERDMA_REG_TSO_OUT_PACKETS	0x88
#define ERDMA_REG_TSO_OUT_BYTES		0x90
#define ERDMA_REG_TX_DROPS		0x98
#define ERDMA_REG_TX_BPS_DROPS		0xa0
#define ERDMA_REG_TX_PPS_DROPS		0xa8
#define ERDMA_REG_RX_PACKETS		0xc0
#define ERDMA_REG_RX_BYTES		0xc8
#define ERDMA_REG_RX_DROPS		0xd0
#define ERDMA_REG_RX_BPS_DROPS		0xd8
#define ERDMA_REG_RX_PPS_DROPS		0xe0
#define ERDMA_REG_CEQ_DB(eqn)		(0x100 + 8 * (eqn))	/* eqn 0: CMDQ EQ */
#define ERDMA_REG_CMDQ_SQ_DB		0x200
#define ERDMA_REG_CMDQ_CQ_DB		0x300

/* What an absent or removed PCI function returns. */
#define ERDMA_REG_GONE			0xffffffffu

/* ---- Rings -------------------------------------------------------------- */

#define ERDMA_WQEBB_SHIFT		5
#define ERDMA_WQEBB_SIZE		BIT(ERDMA_WQEBB_SHIFT)
#define ERDMA_CQE_SHIFT			5
#define ERDMA_CQE_SIZE			BIT(ERDMA_CQE_SHIFT)
#define ERDMA_EQE_SHIFT			4
#define ERDMA_EQE_SIZE			BIT(ERDMA_EQE_SHIFT)
#define ERDMA_RQE_SHIFT			5
#define ERDMA_RQE_SIZE			BIT(ERDMA_RQE_SHIFT)
#define ERDMA_DBREC_SIZE		8

#define ERDMA_CMDQ_MAX_OUTSTANDING	128
#define ERDMA_CMDQ_SLOT_WQEBB		4	/* 128 byte slots (hw 3.1) */
#define ERDMA_CMDQ_DEPTH		(ERDMA_CMDQ_MAX_OUTSTANDING * ERDMA_CMDQ_SLOT_WQEBB)
#define ERDMA_CMDQ_EQ_DEPTH		128
#define ERDMA_EQ_DEPTH			4096
#define ERDMA_EQ_MAX_DEPTH		32768

/*
 * Ownership (hw 3.5): the entry at ci & (depth - 1) of a CQ or EQ is valid
 * when its owner bit differs from the lap bit (ci & depth).
 */
static inline bool erdma_hw_owned(u32 owner_bit, u32 ci, u32 depth)
{
	return !!owner_bit != !!(ci & depth);
}

/* ---- Command SQE (hw 3.2) ----------------------------------------------- */

#define ERDMA_CMD_HDR_WQEBB_CNT		GENMASK_ULL(54, 52)	/* slot WQEBBs - 1 */
#define ERDMA_CMD_HDR_COOKIE		GENMASK_ULL(47, 32)
#define ERDMA_CMD_HDR_SUB_MOD		GENMASK_ULL(25, 24)
#define ERDMA_CMD_HDR_OPCODE		GENMASK_ULL(23, 16)
#define ERDMA_CMD_HDR_WQEBB_INDEX	GENMASK_ULL(15, 0)	/* PI after the slot */

enum erdma_sub_mod {
	ERDMA_SUB_RDMA			= 0,
	ERDMA_SUB_COMMON		= 1,
};

enum erdma_rdma_opcode {
	ERDMA_CMD_QUERY_DEVICE		= 0,
	ERDMA_CMD_CREATE_QP		= 1,
	ERDMA_CMD_DESTROY_QP		= 2,
	ERDMA_CMD_MODIFY_QP		= 3,
	ERDMA_CMD_CREATE_CQ		= 4,
	ERDMA_CMD_DESTROY_CQ		= 5,
	ERDMA_CMD_REFLUSH		= 6,
	ERDMA_CMD_REG_MR		= 8,
	ERDMA_CMD_DEREG_MR		= 9,
	ERDMA_CMD_QUERY_QPC		= 11,
	ERDMA_CMD_QUERY_CQC		= 12,
	ERDMA_CMD_SET_GID		= 14,	/* RoCEv2 generation only */
	ERDMA_CMD_CREATE_AH		= 15,
	ERDMA_CMD_DESTROY_AH		= 16,
	ERDMA_CMD_QUERY_QP		= 17,
};

enum erdma_common_opcode {
	ERDMA_CMD_CREATE_EQ		= 0,
	ERDMA_CMD_DESTROY_EQ		= 1,
	ERDMA_CMD_QUERY_FW_INFO		= 2,
	ERDMA_CMD_CONF_MTU		= 3,
	ERDMA_CMD_GET_STATS		= 4,
	ERDMA_CMD_CONF_DEVICE		= 5,
	ERDMA_CMD_QUERY_EQC		= 6,
	ERDMA_CMD_SET_RETRANS_NUM	= 7,
	ERDMA_CMD_ALLOC_DB		= 8,
	ERDMA_CMD_FREE_DB		= 9,
	ERDMA_CMD_SET_EXT_ATTR		= 10,
	ERDMA_CMD_GET_EXT_ATTR		= 11,
};

/* Command SQ doorbell: bits 15:0 are the SQ PI in WQEBBs (hw 3.3). */
#define ERDMA_CMDQ_SQ_DB_PI		GENMASK_ULL(15, 0)

/* ---- CQE, shared by the command CQ and completion queues (hw 3.4, 7.1) --- */

struct erdma_cqe {
	__be32 hdr;
	__be32 qe_idx;
	union {
		__be32 resp[4];		/* CMDQ: qword 0 lo, hi, qword 1 lo, hi */
		struct {
			__be32 qpn;
			union {
				__le32 imm;		/* the one LE word */
				__be32 inv_stag;
			};
			__be32 byte_cnt;
			__be32 rsvd;
		};
	};
	__be32 rsvd0;
	__be32 ud_info;			/* UD receive only (RoCEv2) */
};

#define ERDMA_CQE_OWNER			BIT(31)
#define ERDMA_CQE_OPCODE		GENMASK(23, 16)
#define ERDMA_CQE_QTYPE			GENMASK(15, 8)
#define ERDMA_CQE_SYNDROME		GENMASK(7, 0)

enum erdma_cqe_qtype {
	ERDMA_CQE_QTYPE_SQ		= 0,
	ERDMA_CQE_QTYPE_RQ		= 1,
	ERDMA_CQE_QTYPE_CMDQ		= 2,
};

/* Syndromes of work completions (hw 7.2); 17 and up mean GENERAL_ERR. */
enum erdma_syndrome {
	ERDMA_WC_SUCCESS		= 0,
	ERDMA_WC_GENERAL_ERR		= 1,
	ERDMA_WC_RECV_WQE_FORMAT_ERR	= 2,
	ERDMA_WC_RECV_STAG_INVALID_ERR	= 3,
	ERDMA_WC_RECV_ADDR_VIOLATION	= 4,
	ERDMA_WC_RECV_RIGHT_VIOLATION	= 5,
	ERDMA_WC_RECV_PDID_ERR		= 6,
	ERDMA_WC_RECV_WRAPPING_ERR	= 7,
	ERDMA_WC_SEND_WQE_FORMAT_ERR	= 8,
	ERDMA_WC_SEND_WQE_ORD_EXCEED	= 9,
	ERDMA_WC_SEND_STAG_INVALID_ERR	= 10,
	ERDMA_WC_SEND_ADDR_VIOLATION	= 11,
	ERDMA_WC_SEND_RIGHT_VIOLATION	= 12,
	ERDMA_WC_SEND_PDID_ERR		= 13,
	ERDMA_WC_SEND_WRAPPING_ERR	= 14,
	ERDMA_WC_FLUSH_ERR		= 15,
	ERDMA_WC_RETRY_EXC_ERR		= 16,
	ERDMA_WC_SYNDROMES
};

/* CQ doorbell, command CQ and ordinary CQs alike (hw 3.6, 7.4). */
#define ERDMA_CQ_DB_IDX			GENMASK_ULL(63, 56)
#define ERDMA_CQ_DB_CQN			GENMASK_ULL(55, 32)
#define ERDMA_CQ_DB_ARM			BIT_ULL(31)
#define ERDMA_CQ_DB_SOL			BIT_ULL(30)
#define ERDMA_CQ_DB_CMDSN		GENMASK_ULL(29, 28)
#define ERDMA_CQ_DB_CI			GENMASK_ULL(23, 0)

/* ---- Event queues (hw 8) ------------------------------------------------ */

struct erdma_ceqe {
	__le64 word;
	__le64 rsvd;
};

#define ERDMA_CEQE_DB			BIT_ULL(63)
#define ERDMA_CEQE_PI			GENMASK_ULL(55, 32)
#define ERDMA_CEQE_OWNER		BIT_ULL(31)
#define ERDMA_CEQE_CQN			GENMASK_ULL(19, 0)

struct erdma_aeqe {
	__le32 hdr;
	__le32 data0;			/* QPN, or CQN for CQ_ERR */
	__le32 data1;
	__le32 rsvd;
};

#define ERDMA_AEQE_OWNER		BIT(31)
#define ERDMA_AEQE_TYPE			GENMASK(23, 16)
#define ERDMA_AEQE_SUB_TYPE		GENMASK(7, 0)

enum erdma_aeqe_type {
	ERDMA_AE_QP_FATAL		= 0,
	ERDMA_AE_QP_ERQ_ERR		= 1,
	ERDMA_AE_ACC_ERR		= 2,
	ERDMA_AE_CQ_ERR			= 3,
	ERDMA_AE_OTHER			= 4,
};

#define ERDMA_EQ_DB_ARM			BIT_ULL(31)
#define ERDMA_EQ_DB_CI			GENMASK_ULL(23, 0)

/* Numbering (hw 8.4). */
#define ERDMA_EQN_CMDQ			0
#define ERDMA_EQN_CEQ(n)		((n) + 1)
#define ERDMA_EQC_INDEX_AEQ		0
#define ERDMA_EQC_INDEX_CMDQ		1
#define ERDMA_EQC_INDEX_CEQ(n)		((n) + 2)

enum erdma_eq_type {
	ERDMA_EQ_TYPE_AEQ		= 0,
	ERDMA_EQ_TYPE_CEQ		= 1,
};

/* ---- QUERY_DEVICE (hw 4.1) ---------------------------------------------- */

#define ERDMA_CAP0_MAX_MR_SIZE		GENMASK_ULL(7, 0)	/* log2 */
#define ERDMA_CAP0_MAX_AH		GENMASK_ULL(15, 8)	/* log2 */
#define ERDMA_CAP0_MAX_RECV_WR		GENMASK_ULL(23, 16)	/* log2 */
#define ERDMA_CAP0_FLAGS		GENMASK_ULL(31, 24)
#define ERDMA_CAP0_MAX_CQE		GENMASK_ULL(47, 40)	/* log2 */
#define ERDMA_CAP0_MAX_GID		GENMASK_ULL(51, 48)	/* log2 */
#define ERDMA_CAP1_MAX_MW		GENMASK_ULL(7, 0)	/* log2 */
#define ERDMA_CAP1_QBLOCK		GENMASK_ULL(27, 16)
#define ERDMA_CAP1_DEFAULT_CC		GENMASK_ULL(31, 28)
#define ERDMA_CAP1_LOCAL_KEY		GENMASK_ULL(63, 32)

#define ERDMA_FLAG_EXTEND_DB		BIT(3)
#define ERDMA_FLAG_IPV6			BIT(4)
#define ERDMA_FLAG_MTT_VA		BIT(5)
#define ERDMA_FLAG_QUERY_QC		BIT(6)
#define ERDMA_FLAG_ATOMIC		BIT(7)

#define ERDMA_QP_PER_QBLOCK		1024

enum erdma_cc {
	ERDMA_CC_NEWRENO		= 0,
	ERDMA_CC_CUBIC			= 1,	/* fallback when the ends differ */
	ERDMA_CC_HPCC_RTT		= 2,
	ERDMA_CC_HPCC_ECN		= 3,
	ERDMA_CC_HPCC_INT		= 4,
};

/* ---- QUERY_FW_INFO (hw 4.2), response qword 0 --------------------------- */

#define ERDMA_FW_MAJOR			GENMASK(23, 16)
#define ERDMA_FW_MEDIUM			GENMASK(15, 8)
#define ERDMA_FW_MINOR			GENMASK(7, 0)

/* Limits fixed in software, not queried (hw 4.1, 6.1). */
#define ERDMA_MAX_SEND_WR		8192
#define ERDMA_MAX_SEND_SGE		6
#define ERDMA_MAX_RECV_SGE		1
#define ERDMA_MAX_SGE_RD		1
#define ERDMA_MAX_INLINE		96
#define ERDMA_MAX_ORD			128
#define ERDMA_MAX_IRD			128
#define ERDMA_MAX_PD			131072
#define ERDMA_MAX_CONTEXT		131072
#define ERDMA_MAX_FRMR_PAGES		512
#define ERDMA_MAX_ALLOC_MR_PAGES	524288
#define ERDMA_MAX_SQEBB_PER_WQE		4
#define ERDMA_MAX_SQ_DEPTH		32768

/* ---- Command requests (hw 4.2 - 4.14); word 0 is the header -------------- */

struct erdma_cmd_create_eq {
	__le64 hdr;
	__le64 ring_addr;
	u8 vector;
	u8 eqn;
	u8 depth_log2;
	u8 type;			/* enum erdma_eq_type */
	__le32 dbrec_l;
	__le32 dbrec_h;
} __packed;

struct erdma_cmd_destroy_eq {
	__le64 hdr;
	__le64 rsvd;
	u8 vector;
	u8 eqn;
	u8 rsvd1;
	u8 type;
} __packed;

struct erdma_cmd_conf_device {
	__le64 hdr;
	__le32 cfg;
	__le32 rsvd[5];
} __packed;

#define ERDMA_CONF_DEVICE_PS_EN		BIT(31)
#define ERDMA_CONF_DEVICE_PAGE_SHIFT	GENMASK(4, 0)

struct erdma_cmd_conf_mtu {
	__le64 hdr;
	__le32 mtu;			/* bytes */
} __packed;

struct erdma_cmd_create_cq {
	__le64 hdr;
	__le32 cfg0;
	__le32 addr_l;
	__le32 addr_h;
	__le32 cfg1;
	__le64 dbrec;
	__le32 first_page_offset;	/* bytes */
	__le32 cfg2;
} __packed;

#define ERDMA_CREATE_CQ0_DEPTH		GENMASK(31, 24)	/* log2 */
#define ERDMA_CREATE_CQ0_PAGE_SIZE	GENMASK(23, 20)	/* log2 - 12 */
#define ERDMA_CREATE_CQ0_CQN		GENMASK(19, 0)
#define ERDMA_CREATE_CQ1_MTT_CNT	GENMASK(31, 16)
/* Set with a count of 1 by one driver generation: still direct (hw 4.6). */
#define ERDMA_CREATE_CQ1_MTT_TABLE	BIT(15)
#define ERDMA_CREATE_CQ1_DB_CFG		BIT(11)
#define ERDMA_CREATE_CQ1_EQN		GENMASK(9, 0)
#define ERDMA_CREATE_CQ2_DB_PAGE	GENMASK(15, 0)

struct erdma_cmd_destroy_cq {
	__le64 hdr;
	__le32 cqn;
} __packed;

struct erdma_cmd_create_qp {
	__le64 hdr;
	__le32 cfg0;
	__le32 cfg1;
	__le32 sq_cqn;
	__le32 rq_cqn;
	__le64 sq_addr;			/* buffer (MTT entry 0) or table */
	__le64 rq_addr;
	__le32 sq_mtt;
	__le32 rq_mtt;
	__le64 sq_dbrec;
	__le64 rq_dbrec;
	/* From here on only in 128 byte slots (hw 4.7). */
	__le64 sq_inline_mtt[3];
	__le64 rq_inline_mtt[3];
	__le32 db_cfg;
	__le32 cfg2;			/* RoCEv2 generation only */
} __packed;

#define ERDMA_CREATE_QP0_SQ_DEPTH	GENMASK(31, 20)	/* log2 */
#define ERDMA_CREATE_QP0_QPN		GENMASK(19, 0)
#define ERDMA_CREATE_QP1_RQ_DEPTH	GENMASK(31, 20)	/* log2 */
#define ERDMA_CREATE_QP1_PD		GENMASK(19, 0)
#define ERDMA_CREATE_QP_PAGE_SIZE	GENMASK(31, 28)	/* log2 - 12 */
#define ERDMA_CREATE_QP_DB_CFG		BIT(25)		/* sq_cqn only */
#define ERDMA_CREATE_QP_CQN		GENMASK(23, 0)
/* The word holds the byte offset itself, a multiple of 4096: not shifted. */
#define ERDMA_CREATE_QP_MTT_OFFSET	GENMASK(31, 12)
#define ERDMA_CREATE_QP_MTT_CNT		GENMASK(11, 1)
#define ERDMA_CREATE_QP_MTT_LEVEL	BIT(0)
#define ERDMA_CREATE_QP_SQDB_PAGE	GENMASK(31, 16)
#define ERDMA_CREATE_QP_RQDB_PAGE	GENMASK(15, 0)
#define ERDMA_CREATE_QP2_TYPE		GENMASK(3, 0)
#define ERDMA_QP_INLINE_MTT		4

struct erdma_cmd_destroy_qp {
	__le64 hdr;
	__le32 qpn;
} __packed;

struct erdma_cmd_modify_qp {
	__le64 hdr;
	__le32 cfg;
	/* Valid for a change to RTS only (hw 4.8). */
	__le32 remote_cookie;
	__be32 dip;
	__be32 sip;
	__be16 sport;
	__be16 dport;
	__le32 send_nxt;
	__le32 recv_nxt;
} __packed;

#define ERDMA_MODIFY_QP_STATE		GENMASK(31, 24)
#define ERDMA_MODIFY_QP_CC		GENMASK(23, 20)
#define ERDMA_MODIFY_QP_QPN		GENMASK(19, 0)

enum erdma_qp_state {
	ERDMA_QPS_IDLE			= 0,
	ERDMA_QPS_RTR			= 1,
	ERDMA_QPS_RTS			= 2,
	ERDMA_QPS_CLOSING		= 3,
	ERDMA_QPS_TERMINATE		= 4,
	ERDMA_QPS_ERROR			= 5,
	ERDMA_QPS_COUNT
};

struct erdma_cmd_reg_mr {
	__le64 hdr;
	__le32 cfg0;
	__le32 cfg1;
	__le64 start_va;
	__le32 size;			/* bytes, low 32 bits */
	__le32 cfg2;
	union {
		__le64 phy_addr[4];	/* level 0 */
		struct {
			__le64 table;	/* level 1 and up */
			/* VERSION 1 only */
			__le32 size_h;
			__le32 mtt_cnt_h;
		};
	};
} __packed;

#define ERDMA_REG_MR0_VALID		BIT(31)
#define ERDMA_REG_MR0_VERSION		GENMASK(30, 28)
#define ERDMA_REG_MR0_KEY		GENMASK(27, 20)
#define ERDMA_REG_MR0_MPT		GENMASK(19, 0)
#define ERDMA_REG_MR1_PD		GENMASK(31, 12)
#define ERDMA_REG_MR1_TYPE		GENMASK(7, 6)
#define ERDMA_REG_MR1_RIGHTS		GENMASK(5, 1)
#define ERDMA_REG_MR2_PAGE_SIZE		GENMASK(31, 27)	/* log2 */
#define ERDMA_REG_MR2_MTT_PAGE_SIZE	GENMASK(26, 24)	/* log2 - 12, VERSION 1 */
#define ERDMA_REG_MR2_MTT_LEVEL		GENMASK(21, 20)
#define ERDMA_REG_MR2_MTT_CNT		GENMASK(19, 0)
#define ERDMA_REG_MR2_MTT_CNT_BITS	20
#define ERDMA_MR_INLINE_MTT		4
#define ERDMA_MR_MAX_LEVEL		3

/* Rights, in the 5-bit field of REG_MR and of the REG_MR WQE. */
#define ERDMA_MR_RA			BIT(0)	/* remote atomic */
#define ERDMA_MR_LR			BIT(1)
#define ERDMA_MR_LW			BIT(2)
#define ERDMA_MR_RR			BIT(3)
#define ERDMA_MR_RW			BIT(4)

enum erdma_mr_type {
	ERDMA_MR_NORMAL			= 0,
	ERDMA_MR_FRMR			= 1,
	ERDMA_MR_DMA			= 2,
};

/* stag = MPT index and key byte (hw 5.4). */
#define ERDMA_STAG_INDEX		GENMASK(31, 8)
#define ERDMA_STAG_KEY			GENMASK(7, 0)
#define ERDMA_MPT_BITS			20

struct erdma_cmd_dereg_mr {
	__le64 hdr;
	__le32 cfg;			/* ERDMA_REG_MR0_KEY, ERDMA_REG_MR0_MPT */
} __packed;

struct erdma_cmd_reflush {
	__le64 hdr;
	__le32 qpn;
	__le32 sq_pi;
	__le32 rq_pi;
} __packed;

struct erdma_cmd_db {
	__le64 hdr;
	__le32 cfg;
	__le16 rdb;			/* FREE_DB only, page indices */
	__le16 sdb;
	__le16 rsvd;
	__le16 cdb;
	__le32 rsvd1[3];
} __packed;

#define ERDMA_DB_SQ			BIT(0)
#define ERDMA_DB_RQ			BIT(1)
#define ERDMA_DB_CQ			BIT(2)
/*
 * ALLOC_DB response qword 0, page indices in host pages. Swap trap (hw 4.11):
 * the page named "rdb" takes CQ doorbells, the one named "cdb" RQ doorbells.
 */
#define ERDMA_ALLOC_DB_SDB		GENMASK_ULL(15, 0)
#define ERDMA_ALLOC_DB_CDB		GENMASK_ULL(47, 32)
#define ERDMA_ALLOC_DB_RDB		GENMASK_ULL(63, 48)

struct erdma_cmd_set_retrans_num {
	__le64 hdr;
	__le32 retrans_num;		/* 1..255 */
} __packed;

#define ERDMA_RETRANS_DEFAULT		24
#define ERDMA_RETRANS_MAX		255

struct erdma_cmd_set_ext_attr {
	__le64 hdr;
	__le32 mask;
	u8 delayed_ack;
	u8 legacy;
} __packed;

#define ERDMA_EXT_ATTR_DELAYED_ACK	BIT(0)
#define ERDMA_EXT_ATTR_LEGACY		BIT(2)

/* ---- Commands with a response buffer in host memory (hw 4.13) ------------ */

struct erdma_cmd_query {
	__le64 hdr;
	__le32 rsvd;
	__le32 index;
	__le64 buf_addr;
	__le32 buf_len;
} __packed;

#define ERDMA_QUERY_BUF_SIZE		256
#define ERDMA_QUERY_MAGIC		0x5566

struct erdma_query_hdr {
	__le16 magic;
	u8 version;
	u8 length;
	__le32 index;
	__le32 rsvd[2];
} __packed;

/* Order of hw 11. */
#define ERDMA_STATS_COUNT		11

struct erdma_stats {
	struct erdma_query_hdr hdr;
	__le64 value[ERDMA_STATS_COUNT];
} __packed;

struct erdma_qpc_queue {
	u8 enabled;
	u8 page_offset;
	u8 page_size;
	u8 depth;
	__le16 pi;
	__le16 ci;
} __packed;

struct erdma_qpc {
	struct erdma_query_hdr hdr;
	struct erdma_qpc_queue sq;	/* 0x10 */
	struct erdma_qpc_queue rq;	/* 0x18 */
	__le16 last_sqe;		/* 0x20 */
	__le16 last_rqe;
	__le16 send_cqes;
	__le16 recv_cqes;
	__le16 tx_packets;		/* 0x28 */
	__le16 rx_packets;
	__le16 rx_error_drops;
	__le16 rx_invalid_drops;
	__le32 rto_retrans;		/* 0x30 */
	__le32 remote_qpn;
	__le32 pd;			/* 0x38 */
	__le16 fw_sq_pi;
	__le16 fw_sq_ci;
	__le16 fw_rq_ci;		/* 0x40 */
	u8 sq_flushing;
	u8 rq_flushing;
	__le16 flushed_sq_pi;		/* 0x44 */
	__le16 flushed_rq_pi;
	__le32 send_cqn;		/* 0x48 */
	__le32 recv_cqn;
	__le64 sq_addr;			/* 0x50 */
	__le64 rq_addr;
	__le64 sq_dbrec_addr;		/* 0x60 */
	__le64 rq_dbrec_addr;
	__le64 sq_dbrec;		/* 0x70 */
	__le64 rq_dbrec;
	__be32 sip;			/* 0x80 */
	__be32 dip;
	__be16 sport;			/* 0x88 */
	__be16 dport;
} __packed;

struct erdma_cqc {
	struct erdma_query_hdr hdr;
	__le32 pi;			/* 0x10 */
	u8 enabled;
	u8 depth_log2;
	u8 owner;
	u8 bad_db_type;			/* 0 duplicate, 1 out of order */
	__le32 bad_db_ci;		/* 0x18 */
	u8 out_of_order;
	u8 duplicate;
	__le16 rsvd;
	__le64 db_addr;			/* 0x20 */
	__le64 dbrec;
} __packed;

struct erdma_eqc {
	struct erdma_query_hdr hdr;
	__le16 depth;			/* 0x10 */
	__le16 vector;
	u8 suppressed;
	u8 tail_owner;
	u8 head_owner;
	u8 overflow;
	__le32 head;			/* 0x18 */
	__le32 tail;
	__le64 ring_addr;		/* 0x20 */
	__le64 db_addr;
	__le64 dbrec;			/* 0x30 */
} __packed;

struct erdma_ext_attr {
	struct erdma_query_hdr hdr;
	__le32 cap_mask;		/* 0x10 */
	__le32 attr_mask;
	u8 delayed_ack;			/* 0x18 */
} __packed;

/* ---- Work queue entries (hw 6) ------------------------------------------ */

#define ERDMA_SQE_SGL_LEN		GENMASK_ULL(63, 56)	/* SGEs or inline bytes */
#define ERDMA_SQE_WQEBB_CNT		GENMASK_ULL(54, 52)
#define ERDMA_SQE_QPN			GENMASK_ULL(51, 32)
#define ERDMA_SQE_OPCODE		GENMASK_ULL(31, 27)
#define ERDMA_SQE_DWQE			BIT_ULL(26)
#define ERDMA_SQE_INLINE		BIT_ULL(25)
#define ERDMA_SQE_FENCE			BIT_ULL(24)
#define ERDMA_SQE_SE			BIT_ULL(23)
#define ERDMA_SQE_CE			BIT_ULL(22)
#define ERDMA_SQE_WQEBB_INDEX		GENMASK_ULL(15, 0)

enum erdma_opcode {
	ERDMA_OP_WRITE			= 0,
	ERDMA_OP_READ			= 1,
	ERDMA_OP_SEND			= 2,
	ERDMA_OP_SEND_WITH_IMM		= 3,
	ERDMA_OP_RECEIVE		= 4,
	ERDMA_OP_RECV_IMM		= 5,
	ERDMA_OP_RECV_INV		= 6,
	ERDMA_OP_WRITE_WITH_IMM		= 9,
	ERDMA_OP_RSP_SEND_IMM		= 12,
	ERDMA_OP_SEND_WITH_INV		= 13,
	ERDMA_OP_REG_MR			= 14,
	ERDMA_OP_LOCAL_INV		= 15,
	ERDMA_OP_READ_WITH_INV		= 16,
	ERDMA_OP_ATOMIC_CAS		= 17,
	ERDMA_OP_ATOMIC_FAA		= 18,
	ERDMA_OP_COUNT
};

struct erdma_sge {
	__le64 addr;
	__le32 length;
	__le32 key;
};

struct erdma_send_sqe {
	__le64 hdr;
	union {
		__be32 imm;
		__le32 inv_stag;
	};
	__le32 length;
	struct erdma_sge sgl[];
};

struct erdma_write_sqe {
	__le64 hdr;
	__be32 imm;
	__le32 length;
	__le32 rkey;
	__le32 raddr_l;
	__le32 raddr_h;
	__le32 rsvd;
	struct erdma_sge sgl[];
};

struct erdma_read_sqe {
	__le64 hdr;
	__le32 inv_stag;
	__le32 length;
	__le32 lkey;
	__le32 laddr_l;
	__le32 laddr_h;
	__le32 rsvd;
	struct erdma_sge remote;
};

struct erdma_atomic_sqe {
	__le64 hdr;
	__le64 rsvd;
	__le64 swap_add;
	__le64 compare;
	struct erdma_sge remote;
	struct erdma_sge local;
};

struct erdma_reg_mr_sqe {
	__le64 hdr;
	__le64 addr;
	__le32 length;
	__le32 stag;
	__le32 attr0;
	__le32 attr1;
	__le64 mtt[];			/* inline, at most 4 */
};

#define ERDMA_SQE_MR_MTT_CNT		GENMASK(31, 12)
#define ERDMA_SQE_MR_MTT_TYPE		GENMASK(7, 6)
#define   ERDMA_SQE_MR_MTT_INLINE	0
#define   ERDMA_SQE_MR_MTT_TABLE	1
#define ERDMA_SQE_MR_RIGHTS		GENMASK(5, 1)
#define ERDMA_SQE_MR_PAGE_SIZE_EN	BIT(0)
#define ERDMA_SQE_MR_PAGE_SIZE		GENMASK(4, 0)	/* attr1 */

struct erdma_rqe {
	__le16 qe_idx;			/* PI after this entry */
	__le16 rsvd0;
	__le32 qpn;
	__le32 rsvd1;
	__le32 rsvd2;
	__le64 addr;
	__le32 length;
	__le32 lkey;
};

#define ERDMA_SQ_DB_QPN			GENMASK_ULL(51, 32)
#define ERDMA_SQ_DB_PI			GENMASK_ULL(15, 0)
#define ERDMA_RQ_DB_QPN			GENMASK_ULL(63, 32)
#define ERDMA_RQ_DB_PI			GENMASK_ULL(15, 0)

/* Offset of a queue's doorbell inside a mapped page, as providers use it (hw 9.3). */
#define ERDMA_SQDB_SLOT(qpn)		(((qpn) & 0x1f) * 128)
#define ERDMA_RQDB_SLOT(qpn)		(((qpn) & 0x7f) * 32)
#define ERDMA_CQDB_SLOT(cqn)		(((cqn) & 511) * 8)

/* ---- MPA frame extension (hw 10.3) -------------------------------------- */

#define ERDMA_MPA_KEY_REQ		"MPA ID Req Frame"
#define ERDMA_MPA_KEY_REP		"MPA ID Rep Frame"
#define ERDMA_MPA_KEY_LEN		16
#define ERDMA_MPA_REVISION		129
#define ERDMA_MPA_MAX_PRIVATE		256

struct erdma_mpa_frame {
	u8 key[ERDMA_MPA_KEY_LEN];
	__be16 bits;
	__be16 pd_len;
	__be32 cookie;
	__be32 cc;
} __packed;

#define ERDMA_MPA_MARKERS		0x8000
#define ERDMA_MPA_CRC			0x4000
#define ERDMA_MPA_REJECT		0x2000
#define ERDMA_MPA_REV			0x00ff
#define ERDMA_MPA_EXT_CC		GENMASK(3, 0)

#endif /* ERDMA_HW_H */
