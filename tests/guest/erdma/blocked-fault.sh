# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# A process that is stuck in a page fault while it holds its mmap lock holds up neither recovery
# nor removal.
. tests/lib/stuck.sh

comes_back() {
	stats 1 20000 && until_true 20 stats 0 5000
}

recovers() {
	fault dev_hang count 1 && comes_back && stuck_is_stuck && objects_work
}

unbinds() {
	cat "$v0/address" >/sys/bus/pci/drivers/erdma/unbind &
	until_true 20 unplugged && until_true 20 ended $! && stuck_is_stuck
}

binds() {
	stuck_end && cat "$v0/address" >/sys/bus/pci/drivers/erdma/bind && until_true 30 is_open
}

command_limit erdma_0 1000
check "a process is stuck with doorbells mapped" stuck_begin erdma_0
check "the driver meanwhile recovers from a lost command" recovers
check "the driver can be unbound meanwhile" unbinds
check "the driver can be bound again after the process has ended" binds
command_limit erdma_0 15000
check "objects work" objects_work
check "nothing is left over" nothing_left
