# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2016,SC2034,SC2086 # of lib.sh; for eval, twice; names without blanks
# What goes while the probe records: a device under traffic, its driver, and the file system that keeps the probe.
[ -e "/sys/class/infiniband/$dev" ] || check "rdma_rxe is set up" set_up
check "the probe starts" eadm probe start

# Until it fails, which it does when the device goes.
churns() {
	while $src/scenes $dev churn 20 >/dev/null 2>&1; do :; done
}
deleted() {
	local churner

	churns &
	churner=$!
	until_true 60 eval '[ "$(probe_field made)" -gt 200 ]'
	rdma link delete $dev && until_true 60 eval '! kill -0 $churner 2>/dev/null'
}
check "the device is deleted while calls are made" deleted
check "  its records stay" eval 'eadm trace --json | jq -e "[.rows[] | select(.comm == \"scenes\")] | length > 100"'
check "  also by its name" eval 'eadm trace -d $dev --json | jq -e "[.rows[] | select(.comm == \"scenes\")] | length > 100"'
check "  but not that of another" eval '! eadm trace -d nosuch 2>"$temp/why" && grep -q "no such RDMA device" "$temp/why"'
check "  no call is left pending" until_true 30 eval '[ "$(probe_field pending)" = 0 ]'
check "its driver is unloaded" rmmod rdma_rxe
check "  it still records" same '"running"' "$(probe_field state)"
again() {
	modprobe rdma_rxe && rdma link add $dev type rxe netdev probe0 && chmod 666 /dev/infiniband/* && local before &&
		before=$(probe_field made) && $src/scenes $dev churn 5 && [ "$(probe_field made)" -gt "$before" ]
}
check "a new device of that name is recorded" again
check "  numbers of its calls begin again" eval 'eadm trace -d $dev --json | jq -e "[.rows[].seq] | min == 1"'

check "the file system of its files is unmounted" umount /sys/fs/bpf
check "  it is stopped" same '"stopped"' "$(probe_field state)"
check "  and nothing is left in the kernel" until_true 60 no_programs
check "  commands say so" eval '! eadm trace 2>"$temp/why" && cat "$temp/why" && grep -q "eadm probe start\|not running" "$temp/why"'
check "mounted again, it starts" eval 'mount -t bpf -o mode=700 bpf /sys/fs/bpf && eadm probe start && [ "$(probe_field state)" = "\"running\"" ]'
check "it stops" eadm probe stop
check "nothing is left in the end" until_true 60 no_programs
