# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # config: folder of a family's virtual adapters
# Fault knobs, which are folders of files, of any family.

# set_knob KNOB FILE VALUE...: in this order: it strikes from when it has a count.
set_knob() {
	local knob=$1
	shift

	while [ $# -gt 0 ]; do
		echo "$2" >"$knob/$1" || return 1
		shift 2
	done
}

# No knob of any adapter strikes.
calm() {
	local knob

	for knob in "$config"/*/fault/*/; do
		echo 0 >"$knob/count"
		echo 100 >"$knob/probability"
		echo -1 >"$knob/target"
		echo 0 >"$knob/arg"
	done
}
