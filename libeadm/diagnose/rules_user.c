// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rules about processes that have libibverbs loaded: their devices, settings and libraries. */
#include <inttypes.h>

#include "rules.h"

#define BOTH	(EADM_GROUP_STATE | EADM_GROUP_SETUP)

static void cite(struct judge *j, const struct diag_row *now, unsigned int field)
{
	eadm_cite(j, DIAG_USER, now, USER_PID);
	eadm_cite(j, DIAG_USER, now, field);
}

static void look_removed(struct judge *j, const struct diag_row *now,
			 const struct diag_row *then)
{
	uint64_t removed = diag_u64(now, USER_REMOVED);

	(void)then;
	if (!removed)
		return;
	eadm_accuse(j, now, "%s (PID %" PRIu64 ") has %" PRIu64 " %s of removed RDMA devices open",
		    diag_text(now, USER_COMM), diag_u64(now, USER_PID), removed,
		    eadm_plural(removed, "file", "files"));
	cite(j, now, USER_FILES);
	eadm_cite(j, DIAG_USER, now, USER_REMOVED);
}

static void look_settings(struct judge *j, const struct diag_row *now,
			  const struct diag_row *then)
{
	const char *unmatched = diag_text(now, USER_UNMATCHED);

	(void)then;
	if (!*unmatched)
		return;
	eadm_accuse(j, now, "%s (PID %" PRIu64 ") has environment variables that match no device on this host: %s",
		    diag_text(now, USER_COMM), diag_u64(now, USER_PID), unmatched);
	cite(j, now, USER_UNMATCHED);
}

static void look_copies(struct judge *j, const struct diag_row *now,
			const struct diag_row *then)
{
	const char *copies = diag_text(now, USER_COPIES);

	(void)then;
	if (!*copies)
		return;
	eadm_accuse(j, now, "%s (PID %" PRIu64 ") has more than one libibverbs loaded: %s",
		    diag_text(now, USER_COMM), diag_u64(now, USER_PID), copies);
	cite(j, now, USER_COPIES);
}

const struct eadm_rule eadm_rules_user[] = {
	{
		.name = "removed-device", .kind = DIAG_USER, .groups = BOTH,
		.check = "removed",
		.severity = EADM_SEVERITY_WARNING,
		.help = "A process has the device file of a removed RDMA device open.",
		.cause = "The device was removed, or its driver was loaded again, while the process used it. Until the process closes the file, some drivers cannot be unloaded.",
		.next = "restart the process: it can no longer use the device; eadm dump verbs-user",
		.alike = "A file in /dev that was deleted although its device still exists does not count. In a container with device files created by the runtime, a device that was added again with the same number is not detected.",
		.look = look_removed,
	}, {
		.name = "settings", .kind = DIAG_USER,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "The environment of a process selects devices, GIDs or network interfaces that do not exist.",
		.cause = "The variables were set for a different host, the devices or interfaces were renamed, for example by udev, or the index of the GID changed.",
		.next = "eadm list; eadm dump gid; ip link; correct or remove the variables where the job is started",
		.alike = "A variable that lists names for several hosts is not reported if one of the names exists on this host. Exclusions (^), patterns, processes in another network namespace, and programs that change their own environment are ignored. A variable has no effect if the job does not use the library that reads it, so the verdict is only a notice.",
		.look = look_settings,
	}, {
		.name = "two-libibverbs", .kind = DIAG_USER,
		.severity = EADM_SEVERITY_NOTICE,
		.help = "A process has more than one file of libibverbs loaded.",
		.cause = "Libraries of different origin were combined, such as those of the system, of an environment (conda) and of a vendor's package. Each copy has its own list of devices and loads only providers of the same version; the objects of one copy cannot be used with another copy.",
		.next = "run ldd on the program and its plugins; set LD_LIBRARY_PATH so that only one libibverbs is found; eadm dump verbs-user -o +verbs-copies",
		.alike = "A file that is mapped several times, or through a symbolic link, counts once.",
		.look = look_copies,
	},
	{ 0 }
};
