# SPDX-License-Identifier: GPL-2.0-or-later
# Verdicts from counters of QPs, values of settings, a page.
load ../../../cli/common
GOLDENS=$BATS_TEST_DIRNAME/../golden

@test "an index that lags as it may accuses nobody, and what follows is listed" {
	local verdicts
	verdicts=$(eadm --from "$SICK" diagnose -d conns --json) || [ $? = 8 ]
	# 14 has receives that its adapter has not looked at, as nothing has arrived; 4 is held back.
	[ "$(jq -c '.rows[] | select(.object == "qp" and (.id == 4 or .id == 14)) | [.rule, .id]' \
		<<<"$verdicts")" = '["sender-stalled",4]' ]
	[ "$(jq -c '.rows[] | select(.affects) | [.rule, .id, (.affects | map(.id))]' <<<"$verdicts")" = \
		'["lost-doorbell",13,[3]]
["receive-not-taken",20,[10]]
["peer-silent",6,[16]]
["receiver-starved",11,[1]]
["past-failure",1,[2]]' ]
	# No object has two verdicts, and none of those that are affected has one.
	[ "$(jq '[.rows[] | select(.object == "qp") | .id, .affects[]?.id] | length - (unique | length)' \
		<<<"$verdicts")" = 0 ]
}

@test "values of a setting get a hint" {
	fails 2 "eadm: conf: cubix: invalid value for cc (did you mean 'cubic'?)" --from "$TWO" conf set cc cubix
	run --separate-stderr eadm --from "$TWO" conf set cc xyzzy
	[[ $stderr == "eadm: conf: xyzzy: invalid value for cc ("*cubic*")" ]]
}

@test "eadm(1) names the page" {
	grep -qF '*eadm-erdma*(7)' "$REPO/man/eadm.1.scd" && [ -s "$REPO/build/man/eadm-erdma.7" ]
}

@test "a column that only the family has is added" {
	golden columns-own --from "$TWO" dump qp -o +cookie,sq-depth
}
