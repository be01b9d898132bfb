# SPDX-License-Identifier: GPL-2.0-or-later
# Processes that use libibverbs, for a user who may not inspect all processes.
load common

# rows HIDEPID COMMAND...: the rows in a PID namespace that also has a process of another group.
# The tree may belong to root only, so the user that may not inspect it is root with few capabilities.
rows() {
	unshare --pid --fork --mount --mount-proc bash -euc '
		mount -o "remount,hidepid=$0" /proc
		sleep infinity &
		"$@" dump verbs-user --json || exit
		kill $!' "$@" | jq -c .rows
}

@test "an unknown number of processes is hidden if /proc is mounted with hidepid" {
	unshare --pid --fork --mount --mount-proc true || skip "requires root"
	as_user=(setpriv --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all,+dac_override)
	# PID 1 and the other process.
	[ "$(rows 0 "${as_user[@]}" "$EADM")" = '[{"pid":0,"hidden":2}]' ]
	[ "$(rows 1 "${as_user[@]}" "$EADM")" = '[{"pid":0}]' ]
	[ "$(rows 2 "${as_user[@]}" "$EADM")" = '[{"pid":0}]' ]
	# With the right to inspect all processes, none is hidden.
	[ "$(rows 1 "$EADM")" = '[]' ]
	[ "$(rows 2 "$EADM")" = '[]' ]
}

@test "diagnose and top report hidden processes without a number" {
	/usr/bin/python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/hidden" <<-'END'
	import sys
	sys.path.insert(0, sys.argv[1])
	sys.dont_write_bytecode = True
	import synth
	local = synth.Capture.local
	synth.Capture.local = lambda self, obj, *rows, **more: local(
	    self, obj, *({"pid": 0} if "hidden" in row else row for row in rows), **more)
	synth.jobs().write(sys.argv[2])
	END
	run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/hidden" diagnose
	[[ $stderr == *"eadm: diagnose: processes: those hidden by /proc could not be checked (run as root)"* ]]
	run --separate-stderr eadm --from "$BATS_TEST_TMPDIR/hidden" top --processes --batch
	[ "$stderr" = "eadm: top: processes: those hidden by /proc cannot be read (run as root)
eadm: top: TXB/s and RXB/s: unknown without counters bound to QPs (rdma statistic qp set)" ]
	run --separate-stderr eadm --from "$JOBS" diagnose
	[[ $stderr == *"eadm: diagnose: processes: 3 could not be checked: permission denied (run as root)"* ]]
}
