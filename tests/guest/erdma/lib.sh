# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Common functions of the parts.
v0=/sys/kernel/config/eadm_virt/erdma/v0
programs=build/tests/lib/src
. tests/lib/knobs.sh
. tests/lib/lend.sh

# fault NAME FILE VALUE...: sets the files of a fault knob of the first adapter in this
# order; the knob strikes once its count is set.
fault() {
	set_knob "$v0/fault/$1" "${@:2}"
}

faults_off() {
	local dir

	for dir in "$v0"/fault/*; do
		[ ! -d "$dir" ] || echo 0 >"$dir/count"
	done
}

# stats STATUS LIMIT: a command of the first device succeeds (0) or fails (1) within LIMIT ms.
stats() {
	local begin=${EPOCHREALTIME/./} status took

	rdma statistic show link erdma_0/1 >/tmp/stats 2>&1
	status=$?
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
	echo "status $status after $took ms: $(head -c 100 /tmp/stats)"
	[ $((status > 0)) = "$1" ] && [ "$took" -le $(($2 * ${EADM_PATIENCE:-1})) ]
}

nothing_left() {
	rdma resource
	! rdma resource | grep -vE ': pd 0 cq 0 qp 0 cm_id 0 mr 0 ctx 0 srq 0'
}

objects_work() {
	"$programs/objs" -d erdma_0 -n 20 states cqs qps
}

# doorbells_open ... doorbells_close: the process "$doorbells" reads commands from descriptor 6.
doorbells_open() {
	rm -f /tmp/doorbells-in
	mkfifo /tmp/doorbells-in
	"$programs/doorbells" erdma_0 </tmp/doorbells-in >/tmp/doorbells-out 2>&1 &
	doorbells=$!
	exec 6>/tmp/doorbells-in
}

doorbells_close() {
	exec 6>&-
	wait "$doorbells"
}

has_said() { # REGEX
	grep -qE "$1" /tmp/doorbells-out
}

look() { # COMMAND REGEX
	until_true 30 has_said '^opened' && echo "$1" >&6 && until_true 10 has_said "$2"
}

# A process with objects that prints asynchronous events: begin_async [DEVICE] ... end_async.
# end_async makes the process destroy its objects and create new ones; async_said then checks
# the output.
begin_async() {
	rm -f /tmp/async-in /tmp/async-out
	mkfifo /tmp/async-in
	"$programs/async" -d "${1:-erdma_0}" </tmp/async-in >/tmp/async-out &
	async_pid=$!
	exec 9>/tmp/async-in
	until_true 30 grep -q ready /tmp/async-out
}

end_async() {
	exec 9>&-
	wait "$async_pid"
}

# async_said COUNT TEXT...
async_said() {
	cat /tmp/async-out
	while [ $# -gt 0 ]; do
		[ "$(grep -c "$2" /tmp/async-out)" = "$1" ] ||
			{ echo "not $1 times: $2"; return 1; }
		shift 2
	done
}

unplugged() {
	! [ -e /sys/class/infiniband/erdma_0 ]
}

# Processes can open the first device; its node is created slightly later than the device.
is_open() {
	local node

	for node in /sys/class/infiniband/erdma_0/device/infiniband_verbs/uverbs*; do
		[ ! -e "/dev/infiniband/${node##*/}" ] || return 0
	done
	return 1
}

plug() {
	echo 1 >"$v0/live" && until_true 30 is_open
}

# Reads the state of all objects repeatedly while devices come and go: begin_reading ...
# end_reading, which fails if a reader hung, crashed or wrote an incomplete document.
begin_reading() {
	rm -f /tmp/reading-in
	mkfifo /tmp/reading-in
	tests/guest/erdma/dumps.py "eadm dump qp --json" "eadm dump qp --hw --json" \
		"eadm dump cep --json" "eadm stat --json" </tmp/reading-in >/tmp/reading-out 2>&1 &
	reading_pid=$!
	exec 8>/tmp/reading-in
}

end_reading() {
	exec 8>&-
	wait "$reading_pid" || { cat /tmp/reading-out; return 1; }
	cat /tmp/reading-out
}
