# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Filters that a stock driver cannot serve, and views that remain while the device goes and comes.
start_job
check "watch: a job runs" [ $? = 0 ]

cannot() { # OPTION WHY ARGUMENTS...
	ends 5 eadm "${@:3}" && said "$dev: $1: .*$2" && ! said "no queue pairs"
}
check "--peer is not applied to peers that are not known" \
	cannot --peer "the peers of the queue pairs are unknown" dump qp --peer "$addr"
check "--netns is not applied, and no right is missing" \
	cannot --netns "the queue pairs have no netns" dump qp --netns /proc/self/ns/net
check "--hw: rows, and that the driver shows no context" \
	cannot --hw "have no adapter context" dump qp --hw
nothing() {
	ends 0 eadm dump qp --pid 1 && said "no queue pairs" && ! said "applied"
}
check "a process without queue pairs" nothing
peers() {
	eadm dump qp --json | jq -e '[.rows[].pid | values] | unique | length == 2'
}
check "processes are known" peers
stop_job

idle() {
	[ "$(rdma resource show qp | grep -c 'type RC')" = 0 ]
}
check "watch: the job has ended" until_true 20 idle
not_connected() {
	ends 0 eadm dump qp --peer "$addr" && said "no queue pairs" && ! said "applied"
}
check "no queue pair has that peer where none is connected" not_connected

# Views are live, and their device goes.
eadm list --watch 100ms >"$work/list" 2>&1 &
views=($!)
eadm dump qp --watch 100ms --json >"$work/qps" 2>&1 &
views+=($!)
eadm top --batch -i 100ms >"$work/top" 2>&1 &
views+=($!)
eadm stat -i 100ms >"$work/stat" 2>&1 &
views+=($!)

last() { # FILE REGEX: in what was written since the mark
	tail -c +$((mark + 1)) "$work/$1" | grep -qE "$2"
}

# all_show REGEX JSON: each view, since now.
all_show() {
	local file regex

	for file in list top stat qps; do
		regex=$1
		[ "$file" != qps ] || regex=$2
		mark=$(stat -c %s "$work/$file")
		until_true 30 last "$file" "$regex" || { tail -5 "$work/$file"; return 1; }
	done
}
check "views show the device" all_show "^($dev|-- .*[0-9]$|-- .*no activity|-- .*1 device)" "\"$dev\""
rdma link del "$dev"
check "without a device, they say so and go on" all_show "no device" '"rows":\[\]'
rdma link add "$dev" type rxe netdev v0 && until_true 20 has_address
check "and show the device that comes" all_show "^($dev|-- .*[0-9]$|-- .*no activity|-- .*1 device)" "\"$dev\""
go_on() {
	kill -0 "${views[@]}"
}
check "none of them has ended" go_on
kill "${views[@]}"
ended=0
for view in "${views[@]}"; do
	wait "$view" || ended=$?
done
check "an interrupt ends them" [ $ended = 0 ]
