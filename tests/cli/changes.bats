# SPDX-License-Identifier: GPL-2.0-or-later
# Captures, marks and diffs of devices that could not be read, of objects with the same
# number, and of objects that were created again.
load common

# unread FILE [ERRNO [DEVICES]]: see tests/captures/unread.py.
unread() {
	"$REPO/tests/captures/unread.py" "$@"
}

@test "record: an object that cannot be read is reported, and the rest is recorded" {
	cd "$BATS_TEST_TMPDIR"
	for errno in 1 5 110; do
		unread from "$errno"
		fails 6 "eadm: record: rocep2: queue pairs: $(/usr/bin/python3 -c "import os; print(os.strerror($errno))")" \
			--from from record to
		diff <(eadm --from to dump qp 2>&1) <(eadm --from from dump qp 2>&1)
	done
	# This is normal: the device was removed, or its driver does not support the object.
	for errno in 19 95; do
		unread from "$errno"
		fails 0 "" --from from record to
	done
	unread from 5
	run -6 eadm --from from bundle create -o bundle.tar.zst
	run -0 --separate-stderr eadm bundle show bundle.tar.zst --json
	[ "$(echo "$output" | jq -r '.rows[] | select(.part == "capture.pcapng") | .state')" = partial ]
}
