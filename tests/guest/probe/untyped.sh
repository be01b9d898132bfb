# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2016,SC2086 # of lib.sh; for eval; names without blanks
# A stack that was rebuilt without types: the stock modules of the kernel without theirs, which tests/guest/probe/untype
# made, and a file with the types.
untyped=build/tests/vm/untyped/$(uname -r)

# The modules lie where modprobe takes them from.
replace_modules() {
	local module path
	# The guest comes with the stock ones loaded.
	for module in rdma_ucm rdma_cm iw_cm ib_cm ib_uverbs ib_core; do
		[ ! -e /sys/module/$module ] || rmmod $module || { lsmod; return 1; }
	done
	for module in ib_core ib_uverbs rdma_cm; do
		path=$(modinfo -n $module) && mount --bind "$untyped/${path##*/}" "$path" || return
	done
}
check "modules have no types" replace_modules
check "rdma_rxe is set up" set_up
check "the kernel has no types of them" eval '[ -e /sys/kernel/btf/rdma_rxe ] && ! ls /sys/kernel/btf | grep -E "^(ib_core|ib_uverbs|rdma_cm)$"'

refuses() { # PATTERN ARG...
	! eadm probe start "${@:2}" 2>"$temp/why" && cat "$temp/why" && grep -q "$1" "$temp/why" && [ ! -e /sys/fs/bpf/eadm ]
}
# Debian's kernel itself has the public types of ib_core.
check "without a file it says which types are missing" refuses "\(ib_core\|ib_uverbs\) has no type information: use --btf FILE"
check "a file that is not there" refuses "cannot read type information" --btf "$temp/none"
head -c 1000 /dev/urandom >"$temp/noise"
check "a file of something else" refuses "cannot read type information" --btf "$temp/noise"
check "a file without types of modules" refuses "the types of \(ib_core\|ib_uverbs\) are missing" --btf /sys/kernel/btf/vmlinux
head -c 3000 "$untyped/types.btf" >"$temp/cut"
check "a file that is cut" refuses "cannot read type information" --btf "$temp/cut"

check "with the file it starts" eadm probe start --btf "$untyped/types.btf"
check "its level is kprobe" [ "$(probe_field level)" = '"kprobe"' ]
check "links are pinned, no process is left" eval '[ "$(ls /sys/fs/bpf/eadm/links | wc -l)" -gt 40 ] && ! pgrep eadm-probe'
counts() {
	local made
	made=$($src/scenes $dev churn 50) || return
	eadm probe status --json | jq -e --argjson made "$made" \
		'.rows[0] | .made == $made and .made == .recorded + .lost and .lost == 0'
}
check "made = recorded, by the program's own count" counts
check "create-qp: number, device, owner" eval '[ "$(eadm trace --json | jq "[.rows[] | select(.op == \"create-qp\" and .qpn > 0 and .dev_name == \"$dev\" and .comm == \"scenes\")] | length")" -ge 1 ]'
check "it stops" eadm probe stop
check "nothing is left in the kernel" until_true 60 no_programs
