# SPDX-License-Identifier: GPL-2.0-or-later
# A capture of a real guest with two devices (tests/captures/record).
load ../../../cli/recordings
GOLDENS=$BATS_TEST_DIRNAME/../golden
load ../../../cli/traced

@test "two erdma devices with the companion" {
	recorded "$LIVE" "$GOLDENS/live"
}

@test "their trace is sound, its histograms add up, its percentiles were measured" {
	exported "$LIVE"
	adds_up "$LIVE"
	measured "$LIVE"
}

@test "diff with them shows no keys" {
	run eadm diff "$TWO" "$LIVE" --json
	[[ $output == *'"mr"'* && $output != *lkey* ]]
}
