# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Which processes can cause adapter commands, and how often. At the end, the kernel is locked down.
attrs=/sys/class/infiniband/erdma_0
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all"

commands_so_far() {
	eadm dump cmdq --device erdma_0 --json | jq '.rows[0].submitted'
}

# few_commands COMMAND...: COMMAND, which an unprivileged user runs and which reads 100 times, causes at most
# ten adapter commands per second.
few_commands() {
	local before after begin=${EPOCHREALTIME/./} took

	before=$(commands_so_far)
	$nobody --bounding-set=-all "$@" || return 1
	after=$(commands_so_far)
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
	echo "$((after - before)) commands in $took ms"
	[ $((after - before)) -gt 0 ] && [ $((after - before)) -le $((took / 100 + 5)) ]
}

# shellcheck disable=SC2016 # expanded by the inner shell
reads='for ((i = 0; i < 100; i++)); do read -r x <$0 || exit 1; done'

asks() { # OBJECT FIELD...
	few_commands env PYTHONPATH=tests/guest/companion python3 -c '
import sys
from rawnl import Client
client = Client()
name, field, value = sys.argv[1:]
for _ in range(100):
    out = client.do(name, dev_name="erdma_0", query_hw=1, **{field: int(value)})
    if out.error or "hw-error" in out.rows[0]:
        sys.exit(f"{out.error} {out.rows}")' "$@"
}

statistics() {
	yes statistic show link erdma_0/1 | head -n 100 >/tmp/batch
	few_commands rdma -b /tmp/batch >/tmp/statistics || { tail -n 3 /tmp/statistics; return 1; }
	tail -n 1 /tmp/statistics
	[ "$(grep -c '^link erdma_0/1' /tmp/statistics)" = 100 ]
}

# A setting is read back correctly immediately after it was changed.
no_old_setting() {
	local i

	for i in 3 4 5 6; do
		eadm conf set delayed-ack $i -d erdma_0 >/dev/null || return 1
		same $i "$($nobody eadm conf get delayed-ack -d erdma_0 --json | jq '.rows[0].value')" ||
			return 1
	done
}

check "reads of hw_counters by an unprivileged user cause few commands" few_commands bash -c "$reads" $attrs/ports/1/hw_counters/rx_bytes_cnt
check "reads of counters over netlink cause few commands" asks counters port 1
check "reads of settings over netlink cause few commands" asks conf param 2
check "runs of rdma statistic cause few commands" statistics
check "a changed setting is read with its new value" no_old_setting

# Every user can see the number of a region; its key has a part that does not depend on the number.
keys_are_not_numbers() {
	local rows

	rows=$(eadm dump mr --device erdma_0 --json -o mrn,rkey) || return 1
	jq -c '.rows[] | [.mrn, .rkey]' <<<"$rows"
	jq -e '[.rows[].rkey | if type == "string" then .[-2:] else . % 256 end] |
		length >= 20 and (unique | length >= 5)' <<<"$rows"
}

# raw OBJECT [THROUGH...]: reads the objects' contexts, long lines of digits; fails if they are
# refused.
raw() {
	local object=$1
	shift

	"$@" rdma -r resource show "$object" >/tmp/raw 2>&1
	echo "status $?: $(head -c 300 /tmp/raw)"
	grep -qE '^(dev|link) [^ ]+ [0-9a-f]{40}' /tmp/raw
}

refused() {
	! raw "$@"
}

net_admin="$nobody,+net_admin --ambient-caps=-all,+net_admin"
both="$nobody,+net_admin,+sys_rawio --ambient-caps=-all,+net_admin,+sys_rawio"

mkfifo /tmp/hold-in && exec {held}<>/tmp/hold-in
"$programs/hold" -d erdma_0 -q 6 -c 2 -m 20 </tmp/hold-in >/tmp/hold 2>&1 &
holder=$!
until_true 20 grep -q ready /tmp/hold

check "keys of regions do not follow from their numbers" keys_are_not_numbers

# takes WANT HOW QPN [THROUGH...]: another process tries to connect (HOW: accept or connect) a QP.
takes() {
	local want=$1 how=$2 qpn=$3
	shift 3

	same "$want" "$("$@" "$programs/takeqp" "$how" 10.77.0.1 10.77.0.1 "$qpn")"
}

chmod 666 /dev/infiniband/uverbs* /dev/infiniband/rdma_cm
mapfile -t qps < <(eadm dump qp --device erdma_0 --json --pid $holder | jq '.rows[].qpn')
for how in accept connect; do
	# shellcheck disable=SC2086 # a list of words
	check "$how: another user cannot take a QP" takes "Invalid argument" $how "${qps[0]}" $nobody
	check "$how: neither can a process that cannot see its owner" \
		takes "Invalid argument" $how "${qps[1]}" unshare -pf
	check "$how: a process of the same user can" takes taken $how "${qps[2]}"
	check "$how: a process that has become another user can" takes taken $how erdma_0
	qps=("${qps[@]:3}")
done

lock_down() {
	local file=/sys/kernel/security/lockdown

	[ -e $file ] || mount -t securityfs none /sys/kernel/security || return 1
	echo integrity >$file
}

# shellcheck disable=SC2086 # lists of words
for object in qp cq; do
	check "a $object's context is shown to root" raw $object
	check "a $object's context is not shown with only CAP_NET_ADMIN" refused $object $net_admin
	check "a $object's context is shown with CAP_NET_ADMIN and CAP_SYS_RAWIO" raw $object $both
done
# The debug kernel has no security modules.
if [ -d /sys/kernel/security ]; then
	check "the kernel is locked down" lock_down
	for object in qp cq; do
		check "a $object's context is not shown by a locked-down kernel" refused $object
	done
fi
kill $holder
wait $holder
exec {held}>&-
check "nothing is left over" until_true 10 nothing_left
