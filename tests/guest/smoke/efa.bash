# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # for who includes it
# What of "run" is EFA's: SRD of Debian's libefa, without connections.
adapters=/sys/kernel/config/eadm_virt/efa
client=srd

verified() {
	timeout 60 srd -n 300 efa_0 efa_1
}

remote_memory() {
	timeout 60 srd -o read -n 100 efa_0 efa_1
}

# RDMA netlink has no QPs of a driver's own type, such as SRD: these are of UD.
busy() {
	srd -u -o ud -p 20 -t 120000 efa_0 efa_1 >"$work/client" 2>&1 </dev/null &
	pids=($!)
	until_true 30 grep -qs begun "$work/client"
}

# Two processes without rights: the former owner of a send queue, and the next one.
isolated() {
	stale efa_0
}
