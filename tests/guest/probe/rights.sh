# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2016,SC2086 # of lib.sh; for eval; names without blanks
# Who may load the probe, who may read its records, and under which lockdown. Last, as a lockdown stays.
[ -e "/sys/class/infiniband/$dev" ] || check "rdma_rxe is set up" set_up
getent group eadm >/dev/null || groupadd --system eadm
mode() {
	stat -c "%a %G" /sys/fs/bpf
}
umount /sys/fs/bpf
check "the file system is mounted as by systemd" mount -t bpf -o mode=700 bpf /sys/fs/bpf
check "root loads it" eadm probe start
check "  the group may search the file system, and no more" same "1710 eadm" "$(mode)"
check "  there is something to read" eval '$src/scenes $dev churn 3 >"$temp/n"'

as_nobody() { # GROUPS COMMAND...
	setpriv --reuid=65534 --regid=65534 "$1" --inh-caps=-all --bounding-set=-all "${@:2}"
}
refused() { # STATUS PATTERN COMMAND...
	local status
	"${@:3}" 2>"$temp/why"
	status=$?
	cat "$temp/why"
	[ $status = "$1" ] && grep -q "$2" "$temp/why"
}
check "a user without the group may not read" refused 4 "requires root or the group eadm" \
	as_nobody --clear-groups build/eadm/eadm trace
check "  nor see the counts" eval '[ "$(as_nobody --clear-groups build/eadm/eadm probe status --json | jq -r ".rows[0].state")" = unreadable ]'
check "a member of the group reads, without any capability" eval \
	'[ "$(as_nobody --groups=eadm build/eadm/eadm trace --json | jq "[.rows[] | select(.op == \"create-qp\")] | length")" -ge 3 ]'
check "  it sees the same counts" same "$(eadm probe status --json | jq -c '.rows[0] | [.made, .lost]')" \
	"$(as_nobody --groups=eadm build/eadm/eadm probe status --json | jq -c '.rows[0] | [.made, .lost]')"
check "  it may not stop it" refused 4 "" as_nobody --groups=eadm build/eadm/eadm probe stop
check "  nor write into it" eval '! as_nobody --groups=eadm bpftool map update pinned /sys/fs/bpf/eadm/cpus key 0 0 0 0 value $(yes 0 | head -n 64 | xargs) 2>/dev/null'

scrape() {
	as_nobody --groups=eadm build/eadm/eadm exporter --listen 127.0.0.1:10799 >"$temp/exporter" 2>&1 &
	local pid=$!
	until_true 30 curl -sf -o "$temp/metrics" http://127.0.0.1:10799/metrics || return
	$src/scenes $dev churn 1 >/dev/null
	curl -sf -o "$temp/metrics" http://127.0.0.1:10799/metrics || return
	grep -E 'eadm_cmd_records_total\{.*op="create-qp"' "$temp/metrics" && kill -0 $pid && kill $pid
}
check "the exporter reads as that group, behind its filter of system calls" scrape
check "root stops it" eadm probe stop
another_mode() {
	chmod 1700 /sys/fs/bpf && chgrp daemon /sys/fs/bpf && eadm probe start && same "1700 daemon" "$(mode)" &&
		refused 4 "no permission to search /sys/fs/bpf" as_nobody --groups=eadm build/eadm/eadm trace && eadm probe stop
}
check "an administrator's group of the file system is kept" another_mode
until_true 60 no_programs

check "a user without rights may not load it" refused 4 "" as_nobody --clear-groups build/eadm/eadm probe start
check "  nothing is left of the attempt" [ ! -e /sys/fs/bpf/eadm ]
with_caps() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$1" --ambient-caps="$1" --bounding-set="-all,$1" \
		build/eadm/eadm probe start --level typed
}
check "CAP_BPF and CAP_PERFMON do not suffice for types of modules" refused 4 "" with_caps +bpf,+perfmon,+dac_override,+chown
rm -rf /sys/fs/bpf/eadm 2>/dev/null

lock() { # LEVEL: a kernel that is locked down further
	grep -q securityfs /proc/mounts || mount -t securityfs none /sys/kernel/security
	echo "$1" >/sys/kernel/security/lockdown && grep -F "[$1]" /sys/kernel/security/lockdown
}
works() {
	eadm probe start && $src/scenes $dev churn 2 >"$temp/n" &&
		[ "$(eadm trace --json | jq "[.rows[] | select(.op == \"create-qp\" and .qpn > 0)] | length")" = 2 ] &&
		eadm probe stop
}
for level in integrity confidentiality; do
	check "lockdown $level" lock $level
	check "  root loads it, and it records" works
done
