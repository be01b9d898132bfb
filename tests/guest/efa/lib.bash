# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # used by the scripts that include this file
# Common functions of the scripts in this folder. Adapters e0 and e1 must exist.
config=/sys/kernel/config/eadm_virt/efa
. tests/lib/knobs.sh
. tests/lib/stuck.sh
. tests/lib/lend.sh
driver=/sys/bus/pci/drivers/efa
patience=${EADM_PATIENCE:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
QUERY_QP=3 GET_STATS=13

active() { # N: succeeds if exactly N ports are active
	[ "$(rdma link show | grep -c '^link .* state ACTIVE')" = "$1" ]
}

address() { # ADAPTER
	cat "$config/$1/address"
}

device() { # ADAPTER
	ls "/sys/bus/pci/devices/$(address "$1")/infiniband"
}

fault() { # KNOB FILE VALUE..., of e0
	set_knob "$config/e0/fault/$1" "${@:2}"
}

# Reads counters with a command to the adapter; the kernel briefly caches those in sysfs.
stats() {
	rdma statistic show link "$(device e0)/1"
}

counter() { # NAME, of the driver of e0
	cat "/sys/class/infiniband/$(device e0)/hw_counters/$1"
}

fails() {
	! "$@"
}

row() { # OBJECT FILTER OPTION...: succeeds if at least one row matches
	eadm dump "$1" -d "$(device e0)" --json "${@:3}" >"$work/rows" || return
	jq -e "[.rows[] | select($2)] | length > 0" "$work/rows" >"$work/out" ||
		{ echo "no $1 where $2"; cat "$work/rows"; return 1; }
}

now_ms() {
	local now=${EPOCHREALTIME/./}

	echo "${now%???}"
}

# ---- traffic of another process, whose data is compared

doorbells() { # ADAPTER
	cat "$config/$1/doorbells"
}

rings_more() { # COUNT: e0 has received more doorbells than that
	[ "$(doorbells e0)" -gt "$1" ]
}

goes_on() {
	until_true 20 rings_more $(($(doorbells e0) + 20)) && kill -0 "$traffic"
}

dead() { # PID
	! kill -0 "$1" 2>/dev/null
}

# Ends the traffic of a test that failed.
end_former_traffic() {
	local pid

	[ -e "$work/pid" ] || return 0
	pid=$(cat "$work/pid")
	dead "$pid" || kill -KILL "$pid"
	until_true 10 dead "$pid"
}

begin_traffic() { # OPTION...
	end_former_traffic
	srd -u -t $((120000 * patience)) "$@" "$(device e0)" "$(device e1)" >"$work/srd" 2>&1 &
	traffic=$!
	echo "$traffic" >"$work/pid"
	goes_on
}

# end_traffic STATUS OUTPUT: status 0 means that all data was right, 3 that a device failed.
end_traffic() {
	local status

	[ "$1" = 3 ] || kill "$traffic"
	wait "$traffic"
	status=$?
	cat "$work/srd"
	same "$1" "$status" && grep -q "$2" "$work/srd"
}

# ---- settings of adapters, and the time limit of commands

limit_ms() {
	local units

	units=$(cat "$config/e0/cmd_timeout")
	echo $((units ? units * 100 : 30000))
}

limit_is() { # UNITS of 100 ms: sets the limit of both adapters, which are plugged in again
	local i

	for i in e0 e1; do
		{ echo 0 >$config/$i/live && echo "$1" >$config/$i/cmd_timeout &&
			echo 1 >$config/$i/live; } || return
	done
	until_true 30 active 2
}

replug() { # FILE VALUE...: sets parameters of e0 and plugs it in again
	echo 0 >"$config/e0/live" && set_knob "$config/e0" "$@" && echo 1 >"$config/e0/live" &&
		until_true 30 active 2
}
