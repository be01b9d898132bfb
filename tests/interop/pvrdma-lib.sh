# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For scripts about PVRDMA adapters, in the guest; with what lib.sh has.
# shellcheck source=tests/interop/lib.sh
. "${BASH_SOURCE%/*}/lib.sh"

# The interfaces of functions 0, in the order of their slots.
interfaces() {
	local path

	for path in /sys/bus/pci/drivers/vmxnet3/*:*; do
		ls "$path/net"
	done
}

# Brings all of them up, with their addresses; may be repeated.
network() {
	local i=0 net

	for net in $(interfaces); do
		ip link set "$net" up && ip addr replace "10.78.$i.1/24" dev "$net" || return
		i=$((i + 1))
	done
}

# By TCP or by rdma_cm.
listening() { # PORT
	[ -n "$(ss -Hltn "sport = :$1")" ] || rdma resource show cm_id | grep -q "LISTEN.*:$1 "
}

devices() {
	ls /sys/class/infiniband
}

# The upstream driver dereferences NULL when it is loaded with interfaces that are up.
load() { # MODULE
	modprobe -a vmxnet3 ib_uverbs rdma_ucm && insmod "$1"
}

active() { # N
	[ "$(grep -l '4: ACTIVE' /sys/class/infiniband/*/ports/1/state | wc -l)" = "$1" ]
}

# The index of a device's GID that is its IPv4 address.
gid_index() { # DEVICE
	local file

	for file in "/sys/class/infiniband/$1"/ports/1/gids/*; do
		grep -q '^0000:0000:0000:0000:0000:ffff:' "$file" && basename "$file" && return
	done
	return 1
}

# nvme_over ADDRESS OPTION...: NVMe over Fabrics, whose consumers register memory by work
# requests; its results among the others.
nvme_over() {
	local line

	while read -r line; do
		case $line in
		"ok "*) result 0 "NVMe: ${line#ok *- }" ;;
		"not ok "*) result 1 "NVMe: ${line#not ok *- }" ;;
		"#"*) echo "$line" ;;
		esac
	done < <(tests/interop/nvme.sh "$@")
	modprobe -r nvme_rdma nvmet_rdma
}
