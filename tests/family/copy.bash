# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A copy of the tree, and what is done to it.
. tests/copy.bash # sets copy
export VM_QUIET=1

# The made-up family.
describe() {
	cp tests/family/zenith/zenith.yaml spec/families/ && spec/gen.py
}

# Of a live one: recordings of the house, which "alone" shows as its own, have interfaces and
# connections.
describe_live() {
	cp tests/family/zenith/zenith.yaml spec/families/ &&
		sed -i '/^provider:/a network-interface: none\nconnection-manager: none' spec/families/zenith.yaml &&
		spec/gen.py
}

build_tool() {
	{ meson setup build "$@" && meson compile -C build; } 2>&1 | tail -40
	[ -x build/eadm/eadm ]
}
