# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Surprise removals and unbinds while data is transferred and tools read: EADM_STORM times each.
storm=${EADM_STORM:-1}
drivers=/sys/bus/pci/drivers/erdma
loads=("ib_write_bw -s 65536 -D 600" "ib_send_bw -s 4096 -n 1000000 -e -Q 1"
	"ib_read_bw -s 65536 -q 4 -D 600" "ib_send_lat -s 64 -n 1000000" "ib_atomic_bw -D 600")

sent() {
	cat /sys/class/infiniband/erdma_0/ports/1/hw_counters/tx_reqs_cnt
}

has_sent() {
	[ "$(sent)" -gt "$1" ]
}

# Sets pids to both ends of a load that runs until it is killed, between two adapters or on one.
begin_load() { # NUMBER
	local before address=10.77.0.1
	local -a tool
	read -r -a tool <<<"${loads[$1 % ${#loads[@]}]}"

	[ $(($1 % 2)) = 0 ] || address=10.77.1.1
	before=$(sent)
	"${tool[@]}" -R -F >/tmp/load-server 2>&1 &
	pids=($!)
	until_true 30 listening 18515 || { cat /tmp/load-server; return 1; }
	LD_PRELOAD=$PWD/$programs/listener.so \
		"${tool[@]}" -R -F --source_ip $address 10.77.0.1 >/tmp/load-client 2>&1 &
	pids+=($!)
	until_true 60 has_sent $((before + 4)) || { cat /tmp/load-*; return 1; }
}

# The programs do not always notice the removal. A process that can be killed does not hang.
end_load() {
	kill -KILL "${pids[@]}" 2>/dev/null
	wait "${pids[@]}"
	return 0
}

# in_time COMMAND...: succeeds if COMMAND does, within 30 s.
in_time() {
	local begin=$SECONDS

	"$@" || return 1
	[ $((SECONDS - begin)) -le 30 ] || { echo "$((SECONDS - begin)) s: $*"; return 1; }
}

take_away() {
	case $1 in
	surprise) echo 1 >"$v0/surprise" ;;
	unbind) cat "$v0/address" >$drivers/unbind ;;
	esac && until_true 30 unplugged
}

bring_back() {
	case $1 in
	surprise) echo 1 >"$v0/live" ;;
	unbind) cat "$v0/address" >$drivers/bind ;;
	esac && until_true 30 is_open
}

removals() { # KIND
	local i status=0

	begin_reading
	for ((i = 0; i < storm && status == 0; i++)); do
		{ begin_load "$i" && in_time take_away "$1"; } 8>&- || status=1
		in_time end_load || status=1
		bring_back "$1" || status=1
		[ $status = 0 ] || echo "at removal $i"
	done
	end_reading && return $status
}

works_under_load() {
	local status=0

	begin_load 0 || status=1
	end_load
	return $status
}

# perftest may crash when its device is removed: this is not a fault of the driver, so the kernel
# does not log it.
echo 0 >/proc/sys/debug/exception-trace
echo 30 >/proc/sys/kernel/hung_task_timeout_secs
for kind in surprise unbind; do
	check "$storm times $kind under load, with running dumps" removals $kind
done
check "data can be transferred" works_under_load
check "nothing is left over" until_true 30 nothing_left
echo 60 >/proc/sys/kernel/hung_task_timeout_secs
