# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For suites: tests/guest/tool/cli-live in a guest, and its recording outside. Source it after tests/lib/tap.sh.
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

# The times in tables are local ones; guest and host need not agree on those.
offline() {
	local command

	while read -r command; do
		echo "\$ eadm $command"
		# shellcheck disable=SC2086
		TZ=UTC build/eadm/eadm --from "$VM_OUT/$1.pcapng" $command 2>&1
		echo "status $?"
	done < <(grep -v "^#" tests/guest/tool/cli-offline) >"$VM_OUT/$1.got"
	diff -u "$VM_OUT/$1.expected" "$VM_OUT/$1.got"
}

# live_and_offline KERNEL SCENE [OPTION...]
live_and_offline() {
	local kernel=$1 scene=$2
	shift 2

	export VM_OUT=$temp/$kernel-$scene
	mkdir -p "$VM_OUT"
	guest_tap "$kernel $scene" --kernel "$kernel" "$@" -- tests/guest/tool/cli-live "$scene"
	check "$kernel $scene: --from outside says the same" offline "$scene"
}
