# SPDX-License-Identifier: GPL-2.0-or-later
# Captures of real guests: what older recordings say must not change unnoticed.
# tests/captures/record makes them anew.
load common

# Versions are those of this build.
outputs() {
	local command

	while read -r command; do
		echo "\$ eadm $command"
		# shellcheck disable=SC2086
		eadm --from "$1" $command 2>&1 | grep -vE '^(eadm|libeadm) +[0-9]'
		echo "status ${PIPESTATUS[0]}"
	done <"$REPO/tests/vm/cli-offline"
}

recorded() {
	outputs "$REPO/tests/captures/live/$1.pcapng" >"$BATS_TEST_TMPDIR/got"
	if [ "${EADM_GOLDEN-}" = update ]; then
		cp "$BATS_TEST_TMPDIR/got" "$REPO/tests/golden/live-$1"
	fi
	diff -u "$REPO/tests/golden/live-$1" "$BATS_TEST_TMPDIR/got"
}

@test "two erdma devices with the companion" {
	recorded erdma
}

@test "rxe without the companion" {
	recorded rxe
}
