# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For scripts that run foreign clients inside a guest: TAP, server/client
# pairs and the question whether anything was left over.

. "${BASH_SOURCE%/*}/../lib/wait.sh"
LIMIT=${LIMIT:-60}	# seconds for one client
patient_limit=$((LIMIT * ${EADM_PATIENCE:-1}))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests=0
failed=0
turn=0
step=1

result() { # STATUS NAME [LOG...]
	local status=$1 name=$2 file

	shift 2
	tests=$((tests + 1))
	if [ "$status" = 0 ]; then
		echo "ok $tests - $name"
		return 0
	fi
	failed=$((failed + 1))
	echo "not ok $tests - $name (status $status)"
	for file in "$@"; do
		[ ! -s "$file" ] || sed "s|^|# ${file##*/}: |" "$file" | tail -n 30
	done
	return 0
}

check() { # NAME COMMAND...
	local name=$1

	shift
	"$@" >"$work/log" 2>&1
	result $? "$name" "$work/log"
}

plan() {
	echo "1..$tests"
	[ "$failed" = 0 ] && [ "$tests" -gt 0 ]
}

# cleared OBJECTS: no connection, no listener, and of other objects none but those of before
cleared() {
	idle && [ "$(objects)" = "$1" ]
}

# all_cleared NAME OBJECTS: what an application had is gone soon after it
all_cleared() {
	until_true "$LIMIT" cleared "$2" >/dev/null && return
	rdma resource show >"$work/objects"
	result 1 "$1: objects were left over" "$work/objects"
}

idle() { # no connection and no listener is left
	! rdma resource show cm_id 2>/dev/null | grep -q 'ps TCP'
}

# choose even|odd: every other of the pairs from now on.
choose() {
	step=2
	[ "$1" = even ] || turn=1
}

wanted() {
	turn=$((turn + 1))
	[ $((turn % step)) = 0 ]
}

# pair NAME PORT SERVER_COMMAND -- CLIENT_COMMAND
# Both must end with status 0.
pair() {
	local name=$1 port=$2 server=() pid status server_status before

	wanted || return 0
	before=$(objects)
	shift 2
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	timeout "$patient_limit" "${server[@]}" >"$work/server" 2>&1 </dev/null &
	pid=$!
	if ! until_true "$LIMIT" listening "$port"; then
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		result 1 "$name: the server never listened" "$work/server"
		return 0
	fi
	timeout "$patient_limit" "$@" >"$work/client" 2>&1 </dev/null
	status=$?
	# Otherwise it would wait for another one till its limit.
	[ "$status" = 0 ] || kill "$pid" 2>/dev/null
	wait "$pid"
	server_status=$?
	[ "$status" != 0 ] || status=$server_status
	result "$status" "$name" "$work/server" "$work/client"
	all_cleared "$name" "$before"
}

# Objects of processes, as the kernel counts them; QP 1 and the like stay.
objects() {
	rdma resource show | sed 's/.*: //' |
		awk '{ for (i = 1; i < NF; i += 2) n[$i] += $(i + 1) } END { for (k in n) print k, n[k] }' | sort
}

# same_objects OBJECTS: neither more nor less than those of before
same_objects() {
	[ "$1" = "$(objects)" ] && return
	printf 'before:\n%s\nafter:\n%s\n' "$1" "$(objects)"
	return 1
}

# The firmware of the first adapter restarts.
reset_adapter() {
	local fault=/sys/kernel/config/eadm_virt/erdma/v0/fault/fw_reset

	echo 1 >$fault/count
	until_true "$LIMIT" grep -qx 1 $fault/hits
}
