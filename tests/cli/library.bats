# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that use the library: its examples and the one of its page.
load common

@test "an example shows every field of every row" {
	for object in dev qp cq counters; do
		rows=$("$BUILD/examples/fields" $object "$TWO")
		[ "$(wc -l <<<"$rows")" = "$(eadm --from "$TWO" dump $object --json | jq '.rows | length')" ]
	done
	grep -q ' qpn=10 type=rc state=rts ' <("$BUILD/examples/fields" qp "$TWO")
}

@test "an example tells the same verdicts as diagnose" {
	for capture in "$MOMENTS" "$SICK" "$WELL"; do
		diff <("$BUILD/examples/verdicts" "$capture" | awk '{ print $1, $2 }' | tr -d :) \
			<(eadm --from "$capture" diagnose --json | jq -r '.rows[] | .rule + " " + .dev_name')
	done
}

@test "examples fail in words" {
	run "$BUILD/examples/fields" no-such-object
	[ "$status" = 2 ]
	run "$BUILD/examples/verdicts" "$BATS_TEST_TMPDIR/none"
	[ "$status" = 1 ] && [[ $output == *"No such file"* ]]
}

@test "the example of libeadm(3) compiles and runs" {
	sed -n '/^# EXAMPLE/,/^# SEE/p' "$REPO/man/libeadm.3.scd" | sed '1,/^```/d; /^```/,$d; s/\\\\/\\/g' \
		>"$BATS_TEST_TMPDIR/example.c"
	flags=()
	! nm -D "$BUILD/libeadm/libeadm.so" | grep -q __asan || flags=(-fsanitize=address,undefined)
	cc -Wall -Wextra -Werror "${flags[@]}" -I"$REPO/libeadm" -o "$BATS_TEST_TMPDIR/example" \
		"$BATS_TEST_TMPDIR/example.c" -L"$BUILD/libeadm" -leadm
	LD_LIBRARY_PATH=$BUILD/libeadm run "$BATS_TEST_TMPDIR/example"
	[ "$status" = 0 ] || [[ $output == *RDMA* ]] || [[ $output == *netlink* ]]
}

@test "the tool needs the public interface only" {
	# Linked to the shared library, which exports nothing else.
	shared=$BUILD/eadm/eadm-shared
	[ -z "$(nm -D --defined-only "$shared" | grep ' T eadm_')" ]
	nm -D --undefined-only "$shared" | grep -q ' U eadm_dump_open'
	for command in list info ver stat "stat eq" "dump qp" "dump counters" "dump sqe qp 10" trace "trace hist" \
		diagnose "diagnose --rules" check "diff @#1" events; do
		for format in "" --json; do
			# shellcheck disable=SC2086
			diff <("$EADM" --from "$TWO" $format $command 2>&1) \
				<("$shared" --from "$TWO" $format $command 2>&1)
		done
	done
}
