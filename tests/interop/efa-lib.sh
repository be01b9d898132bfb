# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For scripts about virtual EFA adapters, in the guest; with what lib.sh has.
# shellcheck source=tests/interop/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"
# Two processes of one machine shall not find a way around the adapters.
export FI_EFA_ENABLE_SHM_TRANSFER=0

listening() { # PORT: of TCP, by which all of them meet
	[ -n "$(ss -Hltn "sport = :$1")" ]
}

ports() { # N: so many are active
	[ "$(rdma link show | grep -c '^link efa_.* state ACTIVE')" = "$1" ]
}

adapters() {
	ls -d /sys/kernel/config/eadm_virt/efa/e*
}

command_errors() {
	cat /sys/kernel/config/eadm_virt/efa/e*/command_errors
}

probe() { # MODULE: all adapters have a port then
	insmod "$1" && until_true "$LIMIT" ports "$(adapters | wc -l)"
}

unload() {
	rmmod efa && ports 0
}

says_nothing() {
	! dmesg | grep -E 'efa [0-9a-f]{4}:.*(fail|error|timeout|timed)|blocked for more'
}

no_command_failed() {
	! command_errors | grep -vx 0
}
