#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# NVMe over Fabrics in the guest: target and host on one machine, a file system
# written through it, read back after a reconnect, again after a reset, and
# compared. TAP on stdout.
# Usage: nvme.sh TARGET_ADDRESS [--foreign | --reset COMMAND | --target DIR | --host DIR]
# --foreign: neither driver nor adapter are ours: nothing shows entries of queues, and
# no firmware restarts. --reset: so, but COMMAND resets the adapter. --target, --host: as
# --foreign, and this machine is but one of the ends; both have the folder DIR.
set -u
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/interop/lib.sh
. "$here/lib.sh"
address=$1
foreign=${2-}
shared=${3-}
reset=(reset_adapter)
[ "$foreign" != --reset ] || reset=("${@:3}")
nqn=nqn.2024-01.org.eadm:test
cfg=/sys/kernel/config/nvmet
mnt=$work/mnt

target_up() {
	modprobe nvmet-rdma && modprobe nvme-rdma && modprobe loop || return
	truncate -s 128M "$work/disk" &&
		loop=$(losetup --find --show "$work/disk") || return
	mkdir "$cfg/subsystems/$nqn" "$cfg/subsystems/$nqn/namespaces/1" "$cfg/ports/1" || return
	echo 1 >"$cfg/subsystems/$nqn/attr_allow_any_host" &&
		echo "$loop" >"$cfg/subsystems/$nqn/namespaces/1/device_path" &&
		echo 1 >"$cfg/subsystems/$nqn/namespaces/1/enable" &&
		echo rdma >"$cfg/ports/1/addr_trtype" &&
		echo ipv4 >"$cfg/ports/1/addr_adrfam" &&
		echo "$address" >"$cfg/ports/1/addr_traddr" &&
		echo 4420 >"$cfg/ports/1/addr_trsvcid" &&
		ln -s "$cfg/subsystems/$nqn" "$cfg/ports/1/subsystems/$nqn"
}

target_down() {
	rm "$cfg/ports/1/subsystems/$nqn"
	rmdir "$cfg/ports/1"
	echo 0 >"$cfg/subsystems/$nqn/namespaces/1/enable"
	rmdir "$cfg/subsystems/$nqn/namespaces/1" "$cfg/subsystems/$nqn"
	losetup -d "$loop"
}

disk() { # prints the block device of the connected namespace
	local dir

	for dir in /sys/class/nvme/nvme*; do
		[ "$(cat "$dir/subsysnqn" 2>/dev/null)" = "$nqn" ] || continue
		for block in /sys/class/nvme-subsystem/*/nvme*n1 "$dir"/nvme*n1; do
			[ -b "/dev/${block##*/}" ] && echo "/dev/${block##*/}" && return
		done
	done
	return 1
}

up() {
	nvme connect -t rdma -a "$address" -s 4420 -n "$nqn" -i 2 -c 1 && until_true "$LIMIT" disk
}

down() {
	nvme disconnect -n "$nqn"
}

fill() {
	mkfs.ext2 -q "$(disk)" && mkdir -p "$mnt" && mount "$(disk)" "$mnt" || return
	for i in 1 2 3 4 5 6 7 8; do
		head -c $((i * 1000003)) /dev/urandom >"$mnt/file$i" || return
	done
	(cd "$mnt" && sha256sum file*) >"$work/sums" && umount "$mnt"
}

compare() {
	mount -o ro "$(disk)" "$mnt" && (cd "$mnt" && sha256sum -c --quiet "$work/sums")
	local status=$?

	umount "$mnt"
	return $status
}

# kernel_qp END: number of a QP of an end, "local" (the target's) or "peer", and of its CQ.
kernel_qp() {
	eadm dump qp --json | jq -r --arg port "$1_port" '[.rows[] | select(has("pid") | not) |
		select(.[$port] == 4420)] | max_by(.sq_pi) | "\(.qpn) \(.send_cqn)"'
}

# has FILTER COMMAND...: the filter holds for the rows of its JSON.
has() {
	local filter=$1
	shift

	"$@" --json | tee "$work/json" | jq -e ".rows | $filter" || {
		head -c 4000 "$work/json"
		return 1
	}
}

# What the kernel's consumers wrote into their queues, and where they stand.
host_entries() {
	local qpn cqn marks='([.[] | .mark // [] | .[]] | contains(["sw-pi", "sw-ci", "hw-ci"]))'

	read -r qpn cqn < <(kernel_qp peer)
	has "$marks"' and any(.state == "done" and .op == "register-mr" and .pages > 0) and
		any(.state == "done" and (.op | startswith("send")) and .sge0_length == 64)' \
		eadm dump sqe "$qpn" --hw || return
	has "$marks"' and any(.state == "posted" and .length == 16)' eadm dump rqe "$qpn" --hw || return
	has 'any(.queue == "sq" and .op == "send" and .qpn == '"$qpn"') and
		any(.queue == "rq" and .length == 16 and .qpn == '"$qpn"') and
		all(.status // "none" == "none") and any(.mark // [] | index("sw-ci"))' \
		eadm dump cqe "$cqn"
}

target_entries() {
	local qpn cqn

	read -r qpn cqn < <(kernel_qp local)
	has 'any(.op == "write" and .length > 0 and has("remote_addr")) and
		any(.op | tostring | startswith("read")) and any(.op == "send-with-inv")' \
		eadm dump sqe "$qpn" || return
	has 'any(.state == "posted" and .length >= 64)' eadm dump rqe "$qpn" || return
	has 'any(.op == "receive" and .length == 64)' eadm dump cqe "$cqn"
}

# Both ends get the CQs of before from the core's pool, which the reset has killed.
is_back() {
	dmesg | grep -q 'nvme.*Successfully reconnected'
}

# The target frees a connection's objects behind the host's back.
settle() {
	until_true "$LIMIT" eval "! rdma resource show qp | grep -q nvme"
}

target() {
	check "NVMe target over RDMA" target_up
	: >"$shared/target"
	until_true $((LIMIT * 2)) test -e "$shared/host"
	check "no connection is left over" until_true "$LIMIT" idle_but_listener
	check "take the target down" target_down
}

idle_but_listener() {
	! rdma resource show cm_id | grep -q 'state CONNECT'
}

first_connection() {
	check "connect" up
	check "write a file system" fill
	if [ -z "$foreign" ]; then
		check "entries of the host's queues" host_entries
		check "entries of the target's queues" target_entries
	fi
	check "disconnect" down
}

second_connection() {
	check "connect again" up
	check "read back and compare" compare
	if [ -z "$foreign" ] || [ "$foreign" = --reset ]; then
		check "the adapter is reset" "${reset[@]}"
		check "the host connects by itself" until_true "$LIMIT" is_back
		check "read back and compare again" compare
	fi
	check "disconnect again" down
}

both_connections() {
	first_connection
	# The core keeps the CQs of the first connection in a pool for later ones.
	settle && before=$(objects)
	second_connection
	check "no object is left over" until_true "$LIMIT" same_objects "$before"
}

case $foreign in
--target)
	target
	;;
--host)
	modprobe nvme-rdma
	until_true "$LIMIT" test -e "$shared/target"
	both_connections
	: >"$shared/host"
	;;
*)
	check "NVMe target over RDMA" target_up
	both_connections
	check "take the target down" target_down
	check "no connection is left over" until_true "$LIMIT" idle
	;;
esac
plan
