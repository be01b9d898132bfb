# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154 # lib.sh and rxe-lib.sh set them
# "eadm test mesh" of 64 hosts, or $argument, with a device of rdma_rxe each: each fault alone, and
# three at once. Large messages are two packets, which suffices for a fault of the MTU.
# shellcheck source=tests/guest/mesh/rxe-lib.sh
. "$here/rxe-lib.sh"
hosts=${argument:-64}
COUNT=1 SIZE=2048 WAIT=600s

# among NAME COMMAND...
among() {
	local begin=$SECONDS

	check "$1, among $hosts hosts" "${@:2}"
	echo "# $((SECONDS - begin)) s"
}

dead() {
	END=KILL finds 1 "host node5 both died"
}

among "devices are set up" set_up_mesh
among "no fault" finds 0 ""
among "a firewall in one direction" one_way
among "a port that is down" down
among "a path whose MTU is too small" path_mtu
among "a neighbour that does not answer" no_neighbour
among "a host that dies" dead
among "two groups without a path" groups
among "three faults at once" three
