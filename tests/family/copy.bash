# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A copy of the tree that goes with the test, in $copy, and what is done to it.
mkdir -p .cache
copy=$(mktemp -d "$PWD/.cache/family.XXXXXX")
trap 'rm -rf "$copy"' EXIT
export VM_QUIET=1

copy_tree() {
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy" &&
		mkdir "$copy/.cache" && cp -al .cache/vm "$copy/.cache/" &&
		find "$copy/.cache/vm" -maxdepth 2 -name 'kmod*' -exec rm -rf {} + &&
		cd "$copy" && git init -q && git add -A &&
		git -c user.name=test -c user.email=test@localhost commit -qm before
}

# The made-up family.
describe() {
	cp tests/family/zenith/zenith.yaml spec/families/ && spec/gen.py
}

build_tool() {
	{ meson setup build "$@" && meson compile -C build; } 2>&1 | tail -40
	[ -x build/eadm/eadm ]
}
