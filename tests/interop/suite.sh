# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For suites that run a script of this folder in a guest, after tests/lib/tap.sh.

# interop KERNEL SCRIPT [ARGUMENT...]: passes on the results of a guest, which has
# no companion module unless $interop_kmods names it, and $interop_cpus CPUs.
interop() {
	local kernel=$1
	shift

	EADM_VM_KMODS=${interop_kmods:-erdma virt} guest_tap "$kernel" --kernel "$kernel" \
		--cpus "${interop_cpus:-2}" --timeout 600 -- "$@"
}
