// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about each port of a device with several ports, and about InfiniBand ports. */
#include <inttypes.h>
#include <stdio.h>

#include "eadm_nl.h"
#include "rules.h"

static struct diag_rows ports_of(struct judge *j, const struct diag_row *row)
{
	return eadm_diag_of(eadm_judge_now(j), DIAG_PORT, row->dev);
}

/* RDMA netlink reports LIDs only with InfiniBand, even if they are 0. */
static bool is_infiniband(const struct diag_row *port)
{
	return diag_has(port, PORT_LID);
}

bool eadm_judge_is_infiniband(struct judge *j, const struct diag_row *dev)
{
	struct diag_rows ports = ports_of(j, dev);
	size_t i;

	for (i = 0; i < ports.n; i++) {
		if (!is_infiniband(&ports.row[i]))
			return false;
	}
	return ports.n;
}

static bool is_default_qp(const struct diag_row *qp)
{
	uint64_t type = diag_u64(qp, QP_TYPE);

	return !diag_u64(qp, QP_PID) && diag_has(qp, QP_TYPE) &&
	       (type == EADM_QP_TYPE_SMI || type == EADM_QP_TYPE_GSI ||
		type == EADM_QP_TYPE_UD);
}

/* QPs of a port that nothing uses: SMI, GSI, UD of IPoIB, and one of the driver. */
#define DEFAULT_QPS 4

/*
 * Without rows of QPs, as in "eadm check": the only port that could be used is used.
 * Storage in the kernel has QPs, but no contexts.
 */
static bool may_use_port(struct judge *j, const struct diag_row *port)
{
	const struct diag_row *dev =
		eadm_diag_find(eadm_judge_now(j), DIAG_DEV, port->dev, port->dev);
	struct diag_rows ports = ports_of(j, port);
	size_t i;

	for (i = 0; i < ports.n; i++) {
		if (diag_u64(&ports.row[i], PORT_STATE) == EADM_PORT_STATE_ACTIVE)
			return false;
	}
	return diag_u64(dev, DEV_CTXS) || diag_u64(dev, DEV_QPS) > DEFAULT_QPS * ports.n;
}

bool eadm_judge_uses_port(struct judge *j, const struct diag_row *port)
{
	struct diag_rows qps =
		eadm_diag_of(eadm_judge_now(j), DIAG_QP, port->dev);
	size_t i;

	for (i = 0; i < qps.n; i++) {
		if (diag_u64(&qps.row[i], QP_PORT) == port->id &&
		    !is_default_qp(&qps.row[i]))
			return true;
	}
	return !qps.n && may_use_port(j, port);
}

void eadm_judge_port_down(struct judge *j, const char *netdev, bool infiniband)
{
	char next[160];

	if (infiniband) {
		eadm_judge_cause(j, "No cable is connected, or the port at the other end is off or disabled.");
		eadm_judge_next(j, "ibstat {dev}; eadm dump port -d {dev}");
	} else if (*netdev) {
		eadm_judge_cause(j, "The network interface is administratively down, or has no carrier.");
		snprintf(next, sizeof(next), "ip link set %s up; ip -s link show %s; eadm dump port -d {dev}",
			 netdev, netdev);
		eadm_judge_next(j, next);
	} else {
		eadm_judge_cause(j, "Its network interface, which may be in another network namespace, is administratively down or has no carrier.");
		eadm_judge_next(j, "ip -br link, also in other network namespaces; eadm dump port -d {dev}");
	}
}

static void cite_port(struct judge *j, const struct diag_row *port)
{
	static const signed char fields[] = {
		PORT_STATE, PORT_NETDEV, PORT_LID, PORT_SM_LID, -1,
	};

	/* An unused port may be down on purpose. */
	if (!eadm_judge_uses_port(j, port))
		eadm_judge_severity(j, EADM_SEVERITY_NOTICE);
	eadm_cite_all(j, DIAG_PORT, port, fields);
}

static void look_down(struct judge *j, const struct diag_row *now,
		      const struct diag_row *then)
{
	const char *netdev = diag_text(now, PORT_NETDEV);

	(void)then;
	/* For the only port of a device, this is link-down. */
	if (ports_of(j, now).n < 2 || !diag_has(now, PORT_STATE))
		return;
	if (diag_u64(now, PORT_STATE) != EADM_PORT_STATE_DOWN) {
		if (!is_infiniband(now))
			eadm_pass(j, now, "port %" PRIu64 " is not down", now->id);
		return;
	}
	if (*netdev)
		eadm_accuse(j, now, "port %" PRIu64 " is down: %s is down or has no carrier",
			    now->id, netdev);
	else
		eadm_accuse(j, now, "port %" PRIu64 " is down", now->id);
	eadm_judge_port_down(j, netdev, is_infiniband(now));
	cite_port(j, now);
}

static bool is_unconfigured(const struct diag_row *port)
{
	uint64_t state = diag_u64(port, PORT_STATE);

	return is_infiniband(port) && (state == EADM_PORT_STATE_INIT ||
				       state == EADM_PORT_STATE_ARMED);
}

static void look_subnet_manager(struct judge *j, const struct diag_row *now,
				const struct diag_row *then)
{
	if (!is_infiniband(now) || !diag_has(now, PORT_STATE) ||
	    diag_u64(now, PORT_STATE) == EADM_PORT_STATE_DOWN)
		return;
	if (!is_unconfigured(now)) {
		eadm_pass(j, now, "port %" PRIu64 " is configured by a subnet manager",
			  now->id);
		return;
	}
	if (then && !is_unconfigured(then))
		return;
	eadm_accuse(j, now, "no subnet manager has configured port %" PRIu64,
		    now->id);
	cite_port(j, now);
}

#define BOTH	(EADM_GROUP_STATE | EADM_GROUP_SETUP)

const struct eadm_rule eadm_rules_ports[] = {
	{
		.name = "port-down", .kind = DIAG_PORT,
		.check = "port", .groups = BOTH,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "A port of a device with several ports is down.",
		.cause = "The network interface is administratively down, or has no carrier; or, with InfiniBand, no cable is connected.",
		.next = "eadm dump port -d {dev}",
		.alike = "A port that no QP uses, such as one without a cable, is reported as a notice. The port of a device with one port is checked by the rule link-down.",
		.look = look_down,
	}, {
		.name = "no-subnet-manager", .kind = DIAG_PORT,
		.check = "port", .groups = BOTH,
		.severity = EADM_SEVERITY_CRITICAL,
		.help = "An InfiniBand port is connected, but no subnet manager has made it active.",
		.cause = "No subnet manager runs on the InfiniBand network, or it does not reach the port.",
		.next = "ibstat {dev}; sminfo -C {dev}; check opensm, or the subnet manager in the switch; eadm dump port -d {dev}",
		.alike = "A port that came up between the two snapshots is excluded, because its subnet manager needs time. A port that no QP uses is reported as a notice.",
		.look = look_subnet_manager,
	},
	{ 0 }
};
