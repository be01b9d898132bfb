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

@test "losses are compared with the packets of their direction, and not reported if these are unknown" {
	local irdma='driver="irdma", name="irdma0"'
	[ "$(verdicts "grown(path, dict(ip4OutPkts=7000000, ip6OutPkts=1000000, ip4InPkts=8000000, RetransSegs=12), $irdma)")" = "" ]
	[ "$(verdicts "grown(path, dict(ip4OutPkts=700, ip6OutPkts=100, RetransSegs=18), $irdma)")" = \
		"warning packet-loss 18 packets were lost or retransmitted within 2.0 s" ]
	# A receiver sends only acknowledgements.
	[ "$(verdicts 'grown(path, dict(rx_pkts=1000000, tx_pkts=9000, out_of_sequence=400))')" = "" ]
	[ "$(verdicts 'grown(path, dict(rx_pkts=10000, tx_pkts=900, out_of_sequence=400))')" = \
		"warning packet-loss 400 packets were received out of order within 2.0 s" ]
	[ "$(verdicts 'grown(path, dict(tx_pkts=3000, rx_pkts=3000, to_retransmits=50, oos_drop_count=60))')" = \
		"warning packet-loss 50 packets were lost or retransmitted and 60 packets were received out of order within 2.0 s" ]
	[ "$(verdicts 'grown(path, dict(rx_write_requests=4000000, out_of_sequence=12, local_ack_timeout_err=12))')" = "" ]
	[ "$(verdicts 'grown(path, dict(tcpRetransSegs=500), name="cxgb4_0")')" = "" ]
	[ "$(verdicts 'grown(path, dict(rx_roce_discards=500), driver="bnxt_re")')" = "" ]
	[ "$(verdicts 'grown(path, dict(rx_roce_discards=500, rx_pkts=1000), driver="bnxt_re")')" = \
		"notice receive-drops 500 of 1500 received packets were dropped within 2.0 s" ]
}

@test "a device or QP is not compared with the one that had its number before" {
	local busy='tx_pkts=9000, rx_pkts=9000, out_of_sequence=4000, req_transport_retries_exceeded=55'
	swap() { # NAME: of the later device
		verdicts "judged(path, [adapter(dict(tx_pkts=10, rx_pkts=10, out_of_sequence=0, req_transport_retries_exceeded=0), qps=())],
		[adapter(dict($busy), name='$1', qps=())])"
	}
	[ "$(swap mlx5_7)" = "" ]
	[[ $(swap mlx5_0) == "warning packet-loss 4000 packets "*"warning retries-exceeded 55 requests "* ]]
	# Neither by another process, nor for another peer.
	reused() { # QP
		verdicts "judged(path, *([adapter({}, qps=[q])] for q in (qp(17, state=6, peer=77), $1)))"
	}
	[ "$(reused 'qp(17, state=6, peer=77, who=100)')" = "" ]
	[ "$(reused 'qp(17, state=6, peer=78)')" = "" ]
	[[ $(reused 'qp(17, state=6, peer=77)') == "notice qp-in-error in error for at least 2.0 s; its peer is QP 77"* ]]
}

@test "snapshots whose time does not increase are not compared" {
	silent() { # SECONDS
		verdicts "judged(path, *([adapter(dict(tx_pkts=1000 + 700 * n, rx_pkts=9, local_ack_timeout_err=20 * n))] for n in range(2)), seconds=$1)"
	}
	[[ $(silent 2) == "critical peer-unresponsive "*": within 2.0 s, "* ]]
	for seconds in -3600 0; do
		[ "$(silent $seconds)" = "" ]
		[[ $(eadm --from "$BATS_TEST_TMPDIR/capture" diagnose 2>&1) == *"require an earlier snapshot for comparison (the clock was set back)"* ]]
	done
}

@test "a QP is named only if the counters of the port can concern no other" {
	local quiet='dict(tx_pkts=700, rx_pkts=0, to_retransmits=20)' here=$BATS_TEST_TMPDIR/capture
	cited() { eadm --from "$here" diagnose --json 2>/dev/null | jq -c '[.rows[0].evidence[] | select(.object == "qp" and .name == "pid") | .value]'; }
	[[ $(verdicts "grown(path, $quiet)") == "critical peer-unresponsive the peer of QP 17 of job (99), QP 77,"* ]]
	# Of another port.
	[[ $(verdicts "grown(path, dict(tx_pkts=700, rx_pkts=700), $quiet, qps=[qp(17, port=1, peer=77)])") == "critical peer-unresponsive no peer responds: "* ]]
	[ "$(cited)" = '[]' ]
	[[ $(verdicts "grown(path, dict(tx_pkts=700, rx_pkts=700), $quiet, qps=[qp(17, port=1, peer=77), qp(18, port=2, peer=78)])") == "critical peer-unresponsive the peer of QP 18 of job (99), QP 78,"* ]]
	# Of a type that only the driver knows, beside one that is idle.
	[[ $(verdicts "grown(path, $quiet, qps=[qp(17, 99, kind=255), qp(18, 'nvme_rdma', peer=9)])") == "critical peer-unresponsive no peer responds: "* ]]
	[ "$(cited)" = '[99]' ]
	# No longer there; another one was closed.
	gone() { # QPS
		verdicts "judged(path, *([adapter(dict(tx_pkts=700 * n, rx_pkts=500 * n, req_transport_retries_exceeded=n), qps=q)] for n, q in enumerate((($1), [qp(18, 100, state=6, peer=78)]))))"
	}
	[[ $(gone '[qp(17, peer=77), qp(18, 100, peer=78)]') == "warning retries-exceeded 1 request failed after all retries (completion status 12) within 2.0 s" ]]
	[ "$(cited)" = '[100,99]' ]
	[[ $(gone '[qp(17, state=1), qp(18, 100, peer=78)]') == "warning retries-exceeded 1 request failed "*"; QP 18 of "*" is in the state ERR, and its peer is QP 78"* ]]
}

@test "a QP is judged by the counters of its port" {
	[ "$(verdicts "judged(path, *([adapter(dict(req_transport_retries_exceeded=8), dict(req_transport_retries_exceeded=0), qps=[qp(17, state=6, port=2, peer=77)])] for n in range(2)))")" = \
		"notice qp-in-error in error for at least 2.0 s; its peer is QP 77, whose address is not visible" ]
}

@test "a sender notices losses by NAKs, and each loss counts once" {
	[ "$(verdicts 'grown(path, dict(tx_pkts=100000, rx_pkts=20000, packet_seq_err=20000, implied_nak_seq_err=5000, local_ack_timeout_err=7))')" = \
		"warning packet-loss 25007 packets were lost or retransmitted within 2.0 s" ]
	[ "$(verdicts 'grown(path, dict(tx_pkts=10000, rx_pkts=200, seq_err_naks_rcvd=400), driver="bnxt_re")')" = \
		"warning packet-loss 400 packets were lost or retransmitted within 2.0 s" ]
	[ "$(verdicts 'grown(path, dict(sent_pkts=10000, rcvd_pkts=200, rcvd_seq_err=400, completer_retry_err=430), driver="rdma_rxe")')" = \
		"warning packet-loss 430 packets were lost or retransmitted within 2.0 s" ]
	[ "$(verdicts 'grown(path, dict(tx_pkts=100000, rx_pkts=20000, packet_seq_err=900, implied_nak_seq_err=50))')" = "" ]
}
