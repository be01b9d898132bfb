# SPDX-License-Identifier: GPL-2.0-or-later
# What programs read, on captures.
load common

@test "every object's JSON is as the schema says" {
	for capture in "$TWO" "$DEAD" "$MOMENTS"; do
		for object in dev qp cq eq cmdq mr pd ctx counters cmd; do
			eadm --from "$capture" dump "$object" --json || true
		done
	done 2>/dev/null | "$REPO/tests/cli/validate"
}

@test "every command's JSON is as the schema says" {
	{
		eadm -j --from "$TWO" list
		eadm -j --from "$TWO" info
		eadm -j --from "$TWO" info cloud_0 -o qps
		eadm -j --from "$TWO" stat
		eadm -j --from "$TWO" stat eq
		eadm -j --from "$TWO" stat qp --hw
		eadm -j --from "$MOMENTS" stat --live
		eadm -j --from "$MOMENTS" stat cq -l --hw
		eadm -j --from "$TWO" trace
		eadm -j --from "$TWO" ver
		for object in qp cq eq cmdq; do
			eadm -j --from "$TWO" dump "$object" --hw
		done
		eadm -j --from "$TWO" dump mr -o lkey,rkey
	} | "$REPO/tests/cli/validate"
}

@test "errors are documents, too" {
	for arguments in "list --from /nowhere" "dump" "dump qq" "dump qp x" "nothing" \
		"dump qp 99 --from $TWO" "dump qp --from $TWO -d cloud_7" "stat -i x" \
		"list --wrong" "dump eq --from $DEAD" "--device"; do
		# shellcheck disable=SC2086
		run --separate-stderr eadm --json $arguments
		[ "$status" != 0 ]
		[ "$stderr" = "" ]
		echo "$output" | "$REPO/tests/cli/validate"
		[ "$(echo "$output" | jq .error.status)" = "$status" ]
	done
}

@test "the JSON of a few rows" {
	for object in qp counters cmd; do
		golden "json-$object" --from "$TWO" dump "$object" --json
	done
	golden json-odd-list --from "$DEAD" list --json
	golden json-odd-qp --from "$DEAD" dump qp --json
	golden json-live --from "$MOMENTS" stat -l --json
}

@test "JSON has all that is known, secrets only by name" {
	run eadm --from "$TWO" dump mr --json
	[[ $output != *lkey* ]]
	[ "$(echo "$output" | jq '.rows[0].iova' -r)" = 0x7f1200000000 ]
	run eadm --from "$TWO" dump mr --json -o +lkey
	[ "$(echo "$output" | jq '.rows[0].lkey' -r)" = 0x542 ]
	[ "$(echo "$output" | jq '.rows[0].iova' -r)" = 0x7f1200000000 ]
	run eadm --from "$TWO" dump mr --json -o lkey
	[ "$(echo "$output" | jq -c '.rows[0] | keys')" = '["dev_index","dev_name","lkey"]' ]
}

@test "the adapter's fields are in JSON only when asked for" {
	[ "$(eadm --from "$TWO" dump qp --json | jq '[.rows[] | has("hw_sq_pi")] | any')" = false ]
	[ "$(eadm --from "$TWO" dump qp --json --hw | jq '[.rows[] | has("hw_sq_pi")] | all')" = true ]
}

@test "absent is not zero" {
	[ "$(eadm --from "$TWO" dump qp --json | jq -c '[.rows[] | has("sq_ci")]')" = \
		'[false,true,false,false,false]' ]
}

@test "--schema prints the published schema" {
	"$REPO/spec/derive" contract "$BATS_TEST_TMPDIR"
	diff <(eadm --schema | jq -S .) <(jq -S . "$BATS_TEST_TMPDIR/eadm.schema.json")
}

@test "a reader that goes away is no crash" {
	"$REPO/tests/captures/many.py" 20000 "$BATS_TEST_TMPDIR/many.pcapng"
	run bash -c "$EADM --from $BATS_TEST_TMPDIR/many.pcapng dump qp --json | head -c 1; exit \${PIPESTATUS[0]}"
	[ "$status" = 1 ]
	[ "$output" = "{" ]
}

@test "a full disk is told" {
	run --separate-stderr bash -c "$EADM --from $TWO dump qp --json >/dev/full"
	[ "$status" = 1 ]
	[ "$stderr" = "eadm: dump: standard output: No space left on device" ]
	run --separate-stderr bash -c "$EADM --from $TWO dump qp >/dev/full"
	[ "$status" = 1 ]
	[[ $stderr == *"No space left on device"* ]]
}

@test "one device's failure does not hide the others, and the status tells" {
	run --separate-stderr eadm --from "$DEAD" list --json
	[ "$status" = 6 ]
	[ "$(echo "$output" | jq -r '.rows[0].dev_name')" = roce_x ]
	[ "$(echo "$output" | jq -r '.notes[0].device')" = rxe0 ]
}
