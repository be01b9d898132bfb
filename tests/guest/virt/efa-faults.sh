#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests every fault knob of a virtual EFA adapter, in the guest: prints TAP lines. Requires
# adapters e0 and e1. Usage: efa-faults.sh MODULE [own]
#
# The kernel's driver gives up permanently when a command is lost: binding it again restores
# service. Our own driver recovers, and with the companion there is a record of each fault
# (efa-recorded.bash).
cd "$(dirname "$(readlink -f "$0")")/../../.." || exit 1
. tests/lib/tap.sh
. tests/guest/virt/efa-knobs.bash
. tests/guest/virt/efa-recorded.bash
export PATH=$PWD/build/eadm:$PATH
module=$1
config=/sys/kernel/config/eadm_virt/efa
# shellcheck disable=SC2034 # for the tests of knobs
driver_is=${2:-upstream} driver=/sys/bus/pci/drivers/efa
mapfile -t knobs < <(sed -n 's/^test_\([a-z_]*\)() {$/\1/p' tests/guest/virt/efa-knobs.bash)

every_knob() {
	same "$(cd "$config/e0/fault" && printf '%s\n' * | sort)" \
		"$(printf '%s\n' "${knobs[@]}" | sort)"
}

check "every knob has a test" every_knob
check "adapters get a short command timeout" quicken
check "probe" insmod "$module"
check "both ports are active" until_true 30 active 2
if own; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	check "the table has a record for each knob" every_knob_is_in_the_table
	begin_events "$work/events"
fi
for knob in "${knobs[@]}"; do
	if own; then
		check "$knob, recorded: $(recorded_of "$knob")" recorded "$knob"
	else
		check "$knob" "test_$knob"
	fi
	calm
done
own && end_events
check "service is restored after all faults" again
check "removal" rmmod efa
tap_end
