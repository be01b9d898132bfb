# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Objects of all sizes come and go.
no_refusal() {
	same 0 "$(cat "$v0/command_errors")"
}

echo 16 >/proc/sys/vm/nr_hugepages
for objects in cqs qps mrs states refused; do
	check "$objects" "$programs/objs" -n 1000 -g 31 "$objects"
done
check "contexts" "$programs/objs" -n 300 open
echo 0 >/proc/sys/vm/nr_hugepages
check "nothing is left over" nothing_left
check "the adapter refused no command" no_refusal
