# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# The outcome of a change to RTS is unknown.
MODIFY_QP=3

# stopped_first SERVER CLIENT: the first adapter loses the answer. The model logs a QP that
# is destroyed while it is connected.
stopped_first() {
	echo rts-mark >/dev/kmsg
	fault cmd_drop target $MODIFY_QP arg 1 count 1 || return 1
	"$programs/conns" again "$1" "$2" 1
	same 0 "$(cat "$v0/fault/cmd_drop/count")" || return 1
	! dmesg | sed '1,/rts-mark/d' | grep 'destroyed while connected' || return 1
	nothing_left && objects_work
}

command_limit erdma_0 2000
check "a server's QP whose change to RTS was lost is stopped" stopped_first 10.77.0.1 10.77.1.1
check "a client's QP whose change to RTS was lost is stopped" stopped_first 10.77.1.1 10.77.0.1
faults_off
command_limit erdma_0 15000
check "objects work" objects_work
check "nothing is left over" nothing_left
fault cmd_drop target -1 arg 0
