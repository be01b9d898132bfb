# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # for who includes it, which sets params
# What of "run" is EFA's: virtual adapters, whose driver has no verbs for the kernel, and QPs
# without connections, of UD and SRD; applications instead of the kernel's consumers.
. tests/lib/traffic.sh
. tests/guest/efa/lib.bash
parameters=()
hold=(-u)
awaits_ack=destroy_awaits_ack
PATH=$PWD/$programs:$PATH

while read -r clause; do
	left_out[$clause]="EFA has no verbs for consumers in the kernel, and the driver refuses them"
done < <(declare -F | sed -n 's/^declare -f clause_\(kernel_.*\)/\1/p')
left_out[events_may_sleep]="handlers that may sleep are those of consumers in the kernel"
left_out[destroy_in_event]="${left_out[events_may_sleep]}; destroy_awaits_ack is about events of applications"

use() { # N
	dev=$(device "e$1")
	addr=-
}

calm_down() {
	calm
	end_former_traffic
}

conform_with() { # TYPE CASE [ARGUMENT]
	"$programs/conform" -d "$dev" -q "$@"
}

# Of QPs of both types, but for what is about none.
conform() { # CASE [ARGUMENT]
	case $1 in
	guid | destroy_awaits_ack) conform_with srd "$@" ;;
	*) conform_with ud "$@" && conform_with srd "$@" ;;
	esac
}

nothing_left() {
	! rdma resource | grep -E ' (pd|cq|qp|mr|ctx) [1-9]'
}

objects_work() {
	"$programs/hold" -d "$dev" "${hold[@]}" -q 50 -c 5 -m 20 -- true && conform post_many &&
		srd -n 16 "$(device e0)" "$(device e1)"
}

# attached HOW: an application while the adapter goes, in traffic with the other one.
attached() {
	begin_traffic && "$1" && until_true 20 away && end_traffic 3 fatal
}

in_order() {
	echo 0 >$config/e0/live
}

by_surprise() {
	echo 1 >$config/e0/surprise
}

come_back() {
	echo 1 >$config/e0/live && until_true 30 active 2
}

unbind() {
	address e0 >"$driver/unbind"
}

unload() {
	rmmod efa
}

load_again() {
	insmod /run/vm/ctl/efa.ko && until_true 30 active 2
}

# A command is lost, and the one that asks for an answer: the driver resets the adapter.
forget_all() {
	fault cmd_drop count 2 && fails stats
}

# CQs have no events; QPs have one when the adapter forgets them.
fail_application_cq() {
	forget_all
}

clause_send_many() {
	srd -n 500 "$(device e0)" "$(device e1)" && srd -n 500 -e "$(device e0)" "$(device e1)" &&
		srd -n 500 -o ud -s 1000 "$(device e0)" "$(device e1)" &&
		srd -n 200 -o read "$(device e0)" "$(device e1)"
}

clause_send_immediate() {
	srd -n 200 -o imm -s 100 "$(device e0)" "$(device e1)"
}

clause_notify_once() {
	conform notify_once
}

clause_destroy_in_callback() {
	conform destroy_in_callback
}

# An SRD QP outlives its failed requests: who ends it is the process.
clause_flush() {
	conform_with srd flush
}

until_true 30 active 2 && limit_is 5
