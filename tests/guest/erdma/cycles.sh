# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The module is unloaded and loaded repeatedly.
count=40
[ "${EADM_TESTS-}" != full ] || count=200

cycles() {
	local i

	for ((i = 0; i < count; i++)); do
		rmmod erdma && insmod /run/vm/ctl/erdma.ko || { echo "cycle $i"; return 1; }
	done
}

check "the module is unloaded and loaded $count times" cycles
check "objects work" objects_work
check "nothing is left over" nothing_left
