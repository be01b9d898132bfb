# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A copy of the tree that goes with the test, in $copy; guests see it.
copy=$(mktemp -d "$(tests/lib/cache)/copy.XXXXXX")
trap 'rm -rf "$copy"' EXIT

copy_tree() {
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy" &&
		cd "$copy" && git init -q && git add -A &&
		git -c user.name=test -c user.email=test@localhost commit -qm before
}

# The files that differ from before, less those that the generator writes.
by_hand() {
	git add -A
	git diff --cached --name-only | grep -vxFf <(spec/gen.py --list) | sort | tr '\n' ' '
}
