# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# A peer on the second adapter writes to a process's memory through the first adapter, even when
# the first adapter fails. Neither the peer's driver nor its adapter notices that the connection
# is over, as if the peer were on a different machine and this machine had crashed.
v1=/sys/kernel/config/eadm_virt/erdma/v1

# ask LIMIT REGEX LINE: sends LINE, waits up to LIMIT s for the answer, and matches it.
ask() {
	local word=${3%% *} before

	before=$(wc -l </tmp/landing-out)
	echo "$3" >&7
	answered() {
		tail -n "+$((before + 1))" /tmp/landing-out | grep -q "^$word:"
	}
	until_true "$1" answered || { cat /tmp/landing-out; return 1; }
	tail -n "+$((before + 1))" /tmp/landing-out
	tail -n "+$((before + 1))" /tmp/landing-out | grep -qE "^$word: $2\$"
}

# Not called by check, which runs commands in a subshell.
begin_landing() {
	rm -f /tmp/landing-in
	mkfifo /tmp/landing-in
	"$programs/traffic" -s 10.77.0.1 -c 10.77.1.1 -p 7900 </tmp/landing-in >/tmp/landing-out 2>&1 &
	landing_pid=$!
	exec 7>/tmp/landing-in
	check "a peer writes to a process's memory" landing_begins
}

landing_begins() {
	until_true 30 grep -q '^connected' /tmp/landing-out || { cat /tmp/landing-out; return 1; }
	echo 1 >"$v1/stale"
	ask 10 ok flood && ask 10 yes 'moves 5000'
}

end_landing() {
	echo 0 >"$v1/stale"
	exec 7>&-
	wait "$landing_pid"
}

# replug [PARAMETER VALUE]: plugs in the first adapter again, with a different parameter.
replug() {
	echo 0 >"$v0/live" && until_true 20 unplugged || return 1
	[ $# = 0 ] || echo "$2" >"$v0/$1" || return 1
	plug
}

# driver bind|unbind: for the first adapter. This runs on the same CPU as the thread of the second
# adapter, so that the two take turns. In an emulator that runs one CPU at a time, that thread
# would otherwise run too late to write while the driver starts.
driver() {
	taskset -c 1 sh -c "cat $v0/address >/sys/bus/pci/drivers/erdma/$1"
}

state_is() { # STATE
	[ "$(eadm dump dev -d erdma_0 --json | jq -r '.rows[0].state')" = "$1" ]
}

# kept FILTER: the device's row, with the bytes and objects that are kept, matches.
kept() {
	eadm dump dev -d erdma_0 --json | jq -e ".rows[0] | $1"
}
