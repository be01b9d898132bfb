# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For suites that run a script of this folder in a guest, after tests/tap.sh.
suite_temp=$(mktemp -d)
trap 'rm -rf "$suite_temp"' EXIT

# interop KERNEL SCRIPT [ARGUMENT...]: passes on the results of a guest, which has
# no companion module unless $interop_kmods names it.
interop() {
	local kernel=$1 line status=0
	shift

	EADM_VM_KMODS=${interop_kmods:-erdma virt} tests/vm/run --kernel "$kernel" --timeout 600 -- "$@" \
		>"$suite_temp/out" 2>"$suite_temp/err" || status=$?
	while IFS= read -r line; do
		case $line in
		'ok '*) tap_pass "$kernel: ${line#ok * - }" ;;
		'not ok '*) tap_fail "$kernel: ${line#not ok * - }" ;;
		'1..'*) ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <"$suite_temp/out"
	if [ "$status" -gt 1 ] || { [ "$status" = 1 ] && ! grep -q '^not ok' "$suite_temp/out"; }; then
		tail -n 200 "$suite_temp/err" | sed 's/^/# /'
		tap_fail "$kernel: the guest of '$1' ends well (status $status)"
	else
		tap_pass "$kernel: the kernel has nothing to say about '$1'"
	fi
}
