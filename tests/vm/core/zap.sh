# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# After a reset no doorbell page leads to the adapter, also not one that was being
# mapped meanwhile. EADM_LATEMAP_KO: tests/vm/kmod/latemap
late=/sys/module/latemap/parameters

# doorbells_open: the process "$doorbells" obeys descriptor 6.
doorbells_open() {
	rm -f /tmp/doorbells-in
	mkfifo /tmp/doorbells-in
	"$programs/doorbells" erdma_0 </tmp/doorbells-in >/tmp/doorbells-out 2>&1 &
	doorbells=$!
	exec 6>/tmp/doorbells-in
}

doorbells_close() {
	exec 6>&-
	wait "$doorbells"
}

has_said() { # REGEX
	grep -qE "$1" /tmp/doorbells-out
}

look() {
	until_true 30 has_said '^opened' && echo >&6 && until_true 10 has_said '^mapped'
	cat /tmp/doorbells-out
}

# The provider's mappings, all there.
count_mappings() {
	echo 1000 >$late/nth
	doorbells_open
	look
	doorbells_close && has_said '^mapped: ([1-9][0-9]*) of \1$'
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
	look
	doorbells_close && has_said "^mapped: 0 of $1\$" || status=1
	return $status
}

# finding: D13
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
