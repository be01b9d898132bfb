# SPDX-License-Identifier: GPL-2.0-or-later
# For bats files on captures of guests.
load "${BASH_SOURCE[0]%/*}/common"

# Versions are those of this build.
outputs() {
	local command

	while read -r command; do
		echo "\$ eadm $command"
		# shellcheck disable=SC2086
		eadm --from "$1" $command 2>&1 | grep -vE '^(eadm|libeadm) +[0-9]'
		echo "status ${PIPESTATUS[0]}"
	done <"$REPO/tests/guest/tool/cli-offline"
}

# recorded CAPTURE GOLDEN: it shows what it did.
recorded() {
	outputs "$1" >"$BATS_TEST_TMPDIR/got"
	if [ "${EADM_GOLDEN-}" = update ]; then
		cp "$BATS_TEST_TMPDIR/got" "$2"
	fi
	diff -u "$2" "$BATS_TEST_TMPDIR/got"
}
