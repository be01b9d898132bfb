# SPDX-License-Identifier: GPL-2.0-or-later
# eadm probe, in a separate BPF file system.
load common

setup_file() {
	unshare --mount mount -t bpf bpf /sys/fs/bpf || skip "requires root and BPF"
}

# within OPTIONS SCRIPT: runs a script with a new BPF file system.
within() {
	[ -x "$BUILD/libeadm/source/probe/load/eadm-probe" ] || skip "built without the probe"
	dir=$BATS_TEST_TMPDIR run unshare --mount bash -euc "
		mount -t bpf -o '$1' bpf /sys/fs/bpf
		as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups \"\$@\"; }
		$2" "$EADM"
}

@test "stop removes nothing through an unprivileged user's links" {
	touch "$BATS_TEST_TMPDIR"/{enter_x,x,info}
	within mode=1777 'cd /sys/fs/bpf; as_user mkdir eadm; as_user ln -s "$dir" eadm/links
		as_user ln -s "$dir" eadm/programs; "$0" probe stop; ls -l eadm >&2'
	[ "$status" = 4 ]
	[[ $output == "eadm: probe: stop: /sys/fs/bpf/eadm was created by user ID 65534, not by the probe"* ]]
	[ -e "$BATS_TEST_TMPDIR/enter_x" ] && [ -e "$BATS_TEST_TMPDIR/x" ]
	within mode=1777 'as_user ln -s "$dir" /sys/fs/bpf/eadm; "$0" probe stop'
	[ "$status" != 0 ]
	[ -e "$BATS_TEST_TMPDIR/info" ]
	# Nor in a directory of root.
	within mode=700 'cd /sys/fs/bpf; mkdir eadm; ln -s "$dir" eadm/links; "$0" probe stop; ls /sys/fs/bpf/eadm 2>&1; :'
	[[ $output == *"No such file or directory" ]]
	[ -e "$BATS_TEST_TMPDIR/enter_x" ] && [ -e "$BATS_TEST_TMPDIR/x" ]
}

@test "start names the user who created the probe's directory" {
	within mode=1777 'as_user mkdir -p /sys/fs/bpf/eadm/x; "$0" probe start'
	[ "$status" = 4 ]
	[[ $output == "eadm: probe: start: /sys/fs/bpf/eadm was created by user ID 65534, not by the probe: remove it"* ]]
}

@test "stop removes what a killed probe left" {
	within mode=700 'mkdir -p /sys/fs/bpf/eadm/{links,programs}; "$0" probe stop; [ ! -e /sys/fs/bpf/eadm ]; "$0" probe stop'
	[ "$status" = 3 ]
	[ "$output" = "eadm: probe: stop: not running" ]
}

@test "with the probe, the group's right to search the file system ends" {
	local group start
	group='printf "root:x:0:\neadm:x:4321:\n" >"$dir/group"; mount --bind "$dir/group" /etc/group'
	start='"$0" probe start --btf /nonexistent || stat -c "%a %g" /sys/fs/bpf'
	within mode=700 "$group; $start"
	[ "${lines[-1]}" = "1700 0" ]
	# As a probe that was started leaves it.
	within mode=700 "$group"'; chgrp 4321 /sys/fs/bpf; chmod 1710 /sys/fs/bpf; mkdir /sys/fs/bpf/eadm
		"$0" probe stop; stat -c "%a %g" /sys/fs/bpf'
	[ "${lines[-1]}" = "1700 0" ]
	within mode=700 "$group; chgrp 5 /sys/fs/bpf; $start"
	[ "${lines[-1]}" = "1700 5" ]
	within mode=755 "$group; $start"
	[ "${lines[-1]}" = "1755 0" ]
}

@test "a size that the records of all CPUs cannot reach is refused" {
	local cpus=$(python3 -c 'print(sum(int(a[-1]) - int(a[0]) + 1
		for a in (r.split("-") for r in open("/sys/devices/system/cpu/possible").read().split(","))))')
	[ $((cpus * 27)) -lt 1024 ] || skip "at most 1G is accepted"
	within mode=700 "\"\$0\" probe start --size $((cpus * 27))M --btf /nonexistent"
	[ "$output" = "eadm: probe: start: --size: must be less than $((cpus * 27))M for the number of CPUs ($cpus)" ]
	within mode=700 "\"\$0\" probe start --size $((cpus * 27 - 1))M --btf /nonexistent"
	[[ $output != *--size* ]]
}
