# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# A process that opens and closes a device does not affect the doorbell pages of other processes.

kept() {
	local status=0

	doorbells_open
	look "" '^mapped: 0 of [1-9]' && look "" '^mapped: ([1-9]) of \1$' || status=1
	objects_work || status=1
	echo >&6 && until_true 10 looks 3 &&
		tail -n 1 /tmp/doorbells-out | grep -E '^mapped: ([1-9]) of \1$' || status=1
	doorbells_close || status=1
	cat /tmp/doorbells-out
	return $status
}

looks() { # N
	[ "$(grep -c ^mapped /tmp/doorbells-out)" = "$1" ]
}

check "a process keeps its doorbell pages while other processes use the device" kept
check "nothing is left over" nothing_left
