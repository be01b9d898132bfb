# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# After a reset no doorbell page leads to the adapter, also not one that was being
# mapped meanwhile. EADM_LATEMAP_KO: tests/guest/kmod/latemap
late=/sys/module/latemap/parameters

# The provider's mappings, all there once they were touched.
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

# The last of them is under way while the adapter is reset.
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

check "mmap() of the device can be held up" insmod "$EADM_LATEMAP_KO" device=erdma_0
check "doorbell pages lead to the adapter" count_mappings
nth=$(cat $late/nth)
echo 0 >$late/nth
command_limit erdma_0 1000
check "after a reset no doorbell page does" zapped $((1000 - nth))
check "mmap() is held up no more" rmmod latemap
command_limit erdma_0 15000
check "objects work" objects_work
check "nothing is left over" nothing_left
