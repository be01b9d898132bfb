# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# After a reset, no doorbell page is mapped to the adapter, not even a page that was being mapped
# during the reset. EADM_LATEMAP_KO: tests/guest/kmod/latemap
late=/sys/module/latemap/parameters

# Counts the provider's mappings; all are present after they have been accessed.
count_mappings() {
	local status=0

	echo 1000 >$late/nth
	doorbells_open
	look "" '^mapped: 0 of [1-9]' && look "" '^mapped: ([1-9][0-9]*) of \1$' || status=1
	doorbells_close || status=1
	cat /tmp/doorbells-out
	return $status
}

comes_back() {
	stats 1 20000 && until_true 20 stats 0 5000
}

# The last mapping is being created while the adapter is reset.
zapped() { # HOW_MANY
	local status=0

	echo "$1" >$late/nth
	doorbells_open
	until_true 30 grep -qx 1 $late/held || status=1
	fault dev_hang count 1
	comes_back || status=1
	echo 1 >$late/release
	look "" "^mapped: 0 of $1\$" && look dummy "^dummy: $1 of $1\$" || status=1
	doorbells_close || status=1
	cat /tmp/doorbells-out
	return $status
}

check "a module that holds up mmap() of the device is loaded" insmod "$EADM_LATEMAP_KO" device=erdma_0
check "doorbell pages are mapped to the adapter" count_mappings
nth=$(cat $late/nth)
echo 0 >$late/nth
command_limit erdma_0 1000
check "no doorbell page is mapped to the adapter after a reset" zapped $((1000 - nth))
check "the module is unloaded" rmmod latemap
command_limit erdma_0 15000
check "objects work" objects_work
check "nothing is left over" nothing_left
