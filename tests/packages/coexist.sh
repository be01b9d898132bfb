# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # debian.sh and the suite set them
# A host whose kernel has a driver of ERDMA adapters, to which first the companion comes,
# then our driver, which then leaves again: the packages that debian.sh has built are
# installed in a root, which a guest with an adapter sees as its own. Sourced by the suite
# after debian.sh.
kernel=6.12
release=$(cut -d" " -f1 "$(tests/vm/fetch $kernel)/version") || exit 1
module=/lib/modules/$release/kernel/drivers/infiniband/hw/erdma
# As a pattern.
versioned=${release//[+.]/\\&}
in_kernel="^/lib/modules/$versioned/kernel/drivers/infiniband/hw/erdma/erdma.ko"
in_dkms="/lib/modules/$versioned/updates/dkms/erdma.ko"
host=$(mktemp -d -p "$(tests/lib/cache)/packages") # guests see this folder, unlike that for temporary files
trap 'leave; rm -rf "$host"' EXIT

# The driver, built from the kernel's source, lies where the kernel's own one does and says
# that it belongs to the kernel.
host_of_upstream() {
	local vm upstream

	vm=$(tests/vm/fetch $kernel) && upstream=$(tests/vm/fetch upstream-$kernel) &&
		tar --numeric-owner -xf "$cache/build.tar" -C "$host" && mkdir -p "$host/lib/modules" "$host/debs" &&
		cp -r "$vm/lib/modules/$release" "$host/lib/modules" && cp -r "$vm"/usr/{lib,src} "$host/usr" &&
		ln -sfn "/usr/src/linux-headers-$release" "$host/lib/modules/$release/build" &&
		mkdir -p "$host$module" && objcopy --dump-section ".modinfo=$host/info" "$upstream/erdma.ko" &&
		printf 'intree=Y\0' >>"$host/info" &&
		objcopy --update-section ".modinfo=$host/info" "$upstream/erdma.ko" "$host$module/erdma.ko" && depmod -b "$host" "$release" &&
		cp "$work"/debs/*.deb "$host/debs" && on_host "apt-get -q install -y --no-install-recommends pahole"
}

on_host() { # COMMAND
	tests/packages/enter "$host" "$cache/archives" sh -c "$1"
}

# Boots it with two adapters; COMMAND sees what the driver makes of them.
boot_host() { # COMMAND
	local virt

	virt=$(kmod/build --kernel $kernel)/virt/eadm_virt.ko || return
	tests/vm/run --kernel $kernel --no-modules --timeout 400 -- bash -c "
		. tests/lib/wait.sh
		for dir in proc sys dev; do mount --rbind /\$dir $host/\$dir || exit; done
		within() { chroot $host \"\$@\"; }
		within modprobe -a ib_uverbs rdma_ucm crc16 && insmod $virt || exit
		config=/sys/kernel/config/eadm_virt/erdma
		for i in 0 1; do
			mkdir \$config/v\$i && cat /sys/class/net/eth\$i/address >\$config/v\$i/mac &&
				echo 1 >\$config/v\$i/live || exit
		done
		within modprobe erdma
		until_true 30 test -e /sys/class/infiniband/erdma_1 || exit
		$1"
}

# Prints what the tool says, for a person to compare, and looks for PATTERN...
says() { # COMMAND PATTERN...
	local got pattern

	got=$(boot_host "$1" 2>&1)
	echo "$got"
	for pattern in "${@:2}"; do
		grep -qE "$pattern" <<<"$got" || { echo "not there: $pattern"; return 1; }
	done
}

only_the_tool() {
	on_host "apt-get -q install -y --no-install-recommends /debs/libeadm0_*.deb /debs/eadm_*.deb" &&
		says 'within eadm check; within eadm list; within modinfo -F filename erdma' \
			"driver erdma \(in-tree\)" "$in_kernel"
}

# By the package's own script, as dpkg calls it.
removal_ends_the_probe() {
	says 'within mount -t bpf bpf /sys/fs/bpf && within eadm probe start && within eadm probe status &&
		within sh /var/lib/dpkg/info/eadm.prerm upgrade && within test -e /sys/fs/bpf/eadm && echo "an upgrade lets it run" &&
		within sh /var/lib/dpkg/info/eadm.prerm remove && within test ! -e /sys/fs/bpf/eadm && echo "it ended"' \
		"an upgrade lets it run" "it ended"
}

companion() {
	local said

	said=$(on_host "apt-get -q install -y --no-install-recommends /debs/eadm-dkms_*.deb" 2>&1)
	echo "$said"
	[ -e "$host/lib/modules/$release/updates/dkms/eadm.ko.xz" ] && ! grep -q 'takes the place' <<<"$said" &&
		says 'within modprobe eadm; within eadm ver; within eadm check; within eadm dump qp; within modinfo -F filename erdma' \
			"the loaded driver erdma is not eadm's \(in-tree\)" "$in_kernel"
}

driver_says_first() {
	local said

	said=$(on_host "apt-get -q install -y --no-install-recommends /debs/eadm-erdma-dkms_*.deb" 2>&1)
	echo "$said"
	grep -q "takes the place of:" <<<"$said" && grep -q "$module/erdma.ko" <<<"$said" &&
		grep -qE "^eadm-erdma-dkms: kernel $versioned loads $in_dkms" <<<"$said" &&
		[ "$(grep -n 'takes the place of:' <<<"$said" | cut -d: -f1)" -lt "$(grep -n '^Unpacking eadm-erdma-dkms' <<<"$said" | cut -d: -f1)" ]
}

driver_serves() {
	says 'within modprobe eadm; within eadm ver; within eadm check; within eadm dump cmdq; within modinfo -F filename erdma' \
		"^$in_dkms" "ok +driver +erdma_0:? driver erdma 0" "^erdma_0 .*event"
}

# Three commands of an operator: apt above, modprobe, and this one. One end of Debian's rping
# is held back by its adapter.
first_diagnose() {
	says 'within modprobe eadm
		rping -s -a 10.77.0.1 -C 1000000 >/dev/null 2>&1 &
		until_true 30 eval "ss -ltn | grep :7174; within eadm dump cep --state listening | grep 7174"
		rping -c -a 10.77.0.1 -I 10.77.1.1 -C 1000000 >/dev/null 2>&1 &
		until_true 30 eval "within eadm dump qp -d erdma_1 --state rts | grep rping"
		qpn=$(within eadm dump qp -d erdma_1 --state rts --json | jq ".rows[0].qpn")
		echo "held back: erdma_1 qp $qpn"
		for file in target=$qpn arg=0 count=1; do echo ${file#*=} >$config/v1/fault/qp_stall/${file%=*}; done
		until_true 30 eval "[ \$(cat $config/v1/fault/qp_stall/hits) -gt 0 ]"
		within eadm diagnose >named; cat named
		grep -q "^critical sender-stalled erdma_1 qp $qpn\$" named && echo "it was named"' "it was named"
}

rolls_back() {
	on_host "apt-get -q remove -y eadm-erdma-dkms" && [ ! -e "$host/lib/modules/$release/updates/dkms/erdma.ko.xz" ] &&
		says 'within modprobe eadm; within eadm check; within modinfo -F filename erdma' \
			"the loaded driver erdma is not eadm's \(in-tree\)" "$in_kernel"
}

check "coexistence: a host whose kernel has a driver" host_of_upstream
check "coexistence: the tool says whose driver it is" only_the_tool
check "coexistence: removal of the tool ends its probe" removal_ends_the_probe
check "coexistence: the companion leaves it in place" companion
check "coexistence: the driver package says first what it takes the place of" driver_says_first
check "coexistence: then its driver serves the adapter" driver_serves
check "coexistence: a planted stall is named in the third command of a fresh host" first_diagnose
check "coexistence: without the package the kernel's own does again" rolls_back
