# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # guest sets them
# Part of tests/bench/guest: the tables of eight devices of rdma_rxe with 256 GIDs each, beside a loop
# of the shell over these entries in sysfs. Each table has 1,024, all of which eadm reads.
GID_DEVICES=8
GIDS=256

gid_devices() {
	local i n

	for ((i = 0; i < GID_DEVICES; i++)); do
		rxe_add gid$i
		# The first is made of the MAC address.
		for ((n = 1; n < GIDS; n++)); do
			echo "address add 10.80.$i.$n/16 dev gid$i"
		done
	done >"$temp/addresses"
	ip -batch "$temp/addresses"
	until_true 60 gid_all
}

gid_all() {
	[ "$(eadm dump gid --json | jq '.rows | length')" -ge $((GID_DEVICES * GIDS)) ]
}

bench_gid() {
	local i

	gid_devices
	cat >"$temp/loop" <<-'END'
		for port in /sys/class/infiniband/*/ports/*; do
			for file in $port/gids/? $port/gids/?? $port/gids/1?? $port/gids/2[0-4]? $port/gids/25[0-5]; do
				[ ! -e $file ] || cat $file
			done
		done
	END
	measure 3 ours "eadm dump gid" theirs "sh $temp/loop" >"$temp/gid"
	report "loop of cat / eadm dump gid, $GID_DEVICES x $GIDS GIDs" \
		"$(value "$temp/gid" theirs 1)" "$(value "$temp/gid" ours 1)" us ">= 10"
	for ((i = 0; i < GID_DEVICES; i++)); do
		rxe_delete gid$i
	done
}
