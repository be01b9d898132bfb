#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# In a guest with EFA adapters and the companion: a registration fails, because of the limit of the process
# or because of the adapter, and diagnose names the one that it was. Prints TAP.
here=$(dirname "$(readlink -f "$0")")
. tests/lib/tap.sh
# shellcheck source=tests/guest/host/lib.sh
. "$here/lib.sh"
. tests/lib/knobs.sh
trap 'rm -rf "$work"' EXIT
dev=efa_0
knob=/sys/kernel/config/eadm_virt/efa/e0/fault/cmd_error
REG_MR=7
MIB=$((1024 * 1024))

# keep COMMAND...: starts a process that has a region of 1 MiB, and registers another one when asked.
# Not in a subshell, as check has one.
keep() {
	coproc JOB { "$@" hold -d "$dev" -q 0 -c 0 -m 1 -s $MIB -x $((16 * MIB)) 2>&1; }
	read -r -t 60 ready <&"${JOB[0]}"
	job=$(pgrep -nx hold)
	[ "$ready" = ready ]
}

let_go() {
	kill "$job"
	wait "$JOB_PID" 2>/dev/null
	return 0
}

# fails RULE CAUSE: a registration of the job fails, between two samples; so says a recording of them.
fails() {
	local answer

	eadm record -n 1 "$work/before.pcapng" && echo >&"${JOB[1]}" && read -r -t 60 answer <&"${JOB[0]}" &&
		same "Cannot allocate memory" "$answer" && eadm record -n 1 "$work/after.pcapng" || return
	cat "$work/before.pcapng" "$work/after.pcapng" >"$work/both.pcapng"
	eadm --from "$work/both.pcapng" diagnose -d "$dev" --json | tee "$work/said"
	same "1 MR could not be registered" "$(verdict .finding | grep -o "^.* registered")" &&
		verdict .cause | tee "$work/cause" && grep -qE "$1" "$work/cause" && ! grep -qE "$2" "$work/cause"
}

verdict() { # FIELD: of create-failures
	jq -r ".rows[] | select(.rule == \"create-failures\") | $1" "$work/said"
}

adapter="^The adapter refused the registration, because "
limit="RLIMIT_MEMLOCK limits a process that has the device open: hold \(PID [0-9]+\) has pinned 10[0-9]+ of 8192 KiB"
chmod 666 /dev/infiniband/uverbs*
keep prlimit --memlock=$((8 * MIB)) "${as_user[@]}"
check "a job of a user runs" [ $? = 0 ]
check "its limit is named where it was the limit" fails "^The request did not reach the adapter\. $limit" "The adapter refused"
remedy() {
	verdict .next | grep -q "prlimit --memlock=unlimited --pid PID" &&
		prlimit --memlock=unlimited --pid "$job" && echo >&"${JOB[1]}" &&
		read -r -t 60 answer <&"${JOB[0]}" && same registered "$answer"
}
check "what is said there is to be done helps" remedy
let_go

keep prlimit --memlock=$((8 * MIB)) "${as_user[@]}"
prlimit --memlock=$((32 * MIB)) --pid "$job"
set_knob $knob target $REG_MR arg 1 count 1
check "the adapter is named where it was the adapter" fails "$adapter.*The limit on locked memory is not the cause" "PID"
seen() {
	verdict '.evidence[] | select(.object == "cmd") | "\(.name) \(.value)"' | tee "$work/evidence"
	grep -q "^op reg-mr" "$work/evidence" && grep -q "^comm hold" "$work/evidence"
}
check "with the command that it refused" seen
let_go

keep
set_knob $knob target $REG_MR arg 1 count 1
check "a process without a limit, too" fails "$adapter" "PID"
let_go

# Without the companion, both remain where both may be.
rmmod eadm
keep prlimit --memlock=$((8 * MIB)) "${as_user[@]}"
check "without the companion, what cannot be seen is said" fails "^Without the companion.*$limit" "The adapter refused"
let_go
keep
set_knob $knob target $REG_MR arg 1 count 1
check "the limit is ruled out where it limits no process" \
	fails "RLIMIT_MEMLOCK limits none of the processes.*the adapter has no resources" "PID"
let_go
tap_end
