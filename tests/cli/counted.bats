# SPDX-License-Identifier: GPL-2.0-or-later
# What is wrong according to the counters and QPs of stock drivers.
load common

# verdicts PYTHON: on a capture that it writes to "path" (tests/captures/stock.py).
verdicts() {
	/usr/bin/python3 - "$REPO/tests/captures" "$BATS_TEST_TMPDIR/capture" <<-END
	import sys
	sys.path.insert(0, sys.argv[1])
	sys.dont_write_bytecode = True
	from stock import *
	path = sys.argv[2]
	$1
	END
	eadm --from "$BATS_TEST_TMPDIR/capture" diagnose --json 2>/dev/null |
		jq -r '.rows[] | "\(.severity) \(.rule) \(.finding)"'
}

@test "a request that failed because the receiver was not ready is reported, however few NAKs there were" {
	[ "$(verdicts 'grown(path, dict(req_rnr_retries_exceeded=1, rnr_nak_retry_err=7))')" = \
		"warning receiver-not-ready requests found no receive posted 7 times at the peer within 2.0 s; 1 request has failed" ]
	[ "$(verdicts 'grown(path, dict(req_rnr_retries_exceeded=1))')" = \
		"warning receiver-not-ready requests found no receive posted 1 time at the peer within 2.0 s; 1 request has failed" ]
	# Receivers that are late, but in time.
	[ "$(verdicts 'grown(path, dict(rnr_nak_retry_err=7))')" = "" ]
}

@test "requests that either end refused are reported, flushed ones are not" {
	[ "$(verdicts 'grown(path, dict(req_remote_access_errors=50, req_remote_invalid_request=20, resp_local_length_error=40))')" = \
		"warning rdma-errors requests were refused 70 times by the peer and 40 times here within 2.0 s" ]
	[ "$(verdicts 'grown(path, dict(resp_remote_access_errors=1))')" = \
		"warning rdma-errors requests were refused 1 time here within 2.0 s" ]
	[ "$(verdicts 'grown(path, dict(remote_access_err=2), driver="bnxt_re")')" = \
		"warning rdma-errors requests were refused 2 times by the peer within 2.0 s" ]
	# A connection that is closed.
	[ "$(verdicts 'grown(path, dict(req_cqe_error=64, req_cqe_flush_error=64, resp_cqe_error=128, resp_cqe_flush_error=128))')" = "" ]
}
