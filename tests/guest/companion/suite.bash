# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Guests with tests of the companion, for suites. Source it after tests/lib/tap.sh.
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

# parts KERNEL [OPTION...] -- ARG...: in a guest, run with these arguments.
parts() {
	local kernel=$1 options=()
	shift

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	EADM_KO=/run/vm/ctl/eadm.ko guest_tap "$kernel" --kernel "$kernel" --timeout 900 \
		"${options[@]}" -- tests/guest/companion/run "${@:2}"
}

build_fake() {
	tests/guest/kmod/build "$1" fakediag "$temp/$1"
}

# fake KERNEL ARG...: in a guest with the scripted driver alone.
fake() {
	local kernel=$1
	shift

	check "$kernel: the scripted driver builds" build_fake "$kernel"
	EADM_FAKE_KO=$temp/$kernel/fakediag.ko EADM_VM_KMODS=eadm parts "$kernel" --devices 0 -- "$@"
}
