#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# NFS over RDMA in the guest: the kernel's server and client on one machine,
# files written through it, read back from a cache that was emptied, again
# after a reset, and compared. TAP on stdout.
# Usage: nfs.sh SERVER_ADDRESS
set -u
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/interop/lib.sh
. "$here/lib.sh"
address=$1
exported=$work/exported
mnt=$work/mnt

server_up() {
	modprobe rpcrdma && modprobe nfsd && modprobe nfsv4 || return
	mkdir "$exported" "$mnt" && mount -t tmpfs tmpfs "$exported" &&
		mount -t nfsd nfsd /proc/fs/nfsd &&
		mount -t tmpfs tmpfs /var/lib/nfs && mkdir /var/lib/nfs/{v4recovery,rpc_pipefs} &&
		touch /var/lib/nfs/{etab,rmtab} || return
	rpcbind && exportfs -i -o rw,no_root_squash,insecure,fsid=0,no_subtree_check "*:$exported" &&
		rpc.mountd -N 3 && rpc.nfsd -N 3 -G 10 -L 10 --rdma=20049 4
}

server_down() {
	rpc.nfsd 0 && exportfs -ua && umount "$exported"
}

up() {
	timeout "$patient_limit" mount -t nfs \
		-o rdma,port=20049,vers=4.1,rsize=65536,wsize=65536 "$address:/" "$mnt" &&
		grep "^$address:/ $mnt nfs4 .*proto=rdma" /proc/mounts
}

fill() { # NAME
	local i

	for i in 1 2 3 4 5 6 7 8; do
		head -c $((i * 1000003)) /dev/urandom >"$mnt/$1$i" || return
	done
	for ((i = 0; i < 100; i++)); do
		echo "$1 $i" >"$mnt/small-$1$i" || return
	done
	sync -f "$mnt"
	(cd "$exported" && sha256sum -- *) >"$work/sums"
	[ "$(wc -l <"$work/sums")" -ge 108 ]
}

compare() {
	echo 3 >/proc/sys/vm/drop_caches
	(cd "$mnt" && sha256sum -c --quiet "$work/sums")
}

# Writes while the adapter restarts: the client connects again and repeats what it got no answer to.
fill_over_reset() {
	local writer

	fill c &
	writer=$!
	reset_adapter && wait "$writer"
}

before=$(objects)
check "NFS server over RDMA" server_up
check "it listens" until_true "$LIMIT" listening 20049
check "mount" up
check "write files" fill a
check "read back and compare" compare
check "write while the adapter's firmware restarts" fill_over_reset
check "read back and compare again" compare
check "unmount" umount "$mnt"
check "mount again" up
check "read back and compare once more" compare
check "unmount again" umount "$mnt"
check "take the server down" server_down
check "no connection is left over" until_true "$LIMIT" idle
check "no object is left over" until_true "$LIMIT" same_objects "$before"
plan
