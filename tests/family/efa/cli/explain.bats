# SPDX-License-Identifier: GPL-2.0-or-later
# Errors that name the family.
load ../../../cli/common
load ../../../cli/explain

@test "efa: explain knows texts of public threads" {
	explain_threads "$REPO/tests/family/efa/explain.tsv"
	[ "$known" -ge 1 ]
}

@test "efa: explain reads the adapter's own numbers where a line names the family" {
	meaning() {
		eadm explain --text-only --json -- "$1" 2>/dev/null | jq -r '[.rows[]?.meaning] | join(" ")'
	}
	[ "$(meaning 'libfabric:1:efa:cq: err: 5 prov_errno: 13')" = peer-unresponsive ]
	[ "$(meaning 'libfabric:1:efa:cq: prov_errno: Unreachable remote (15)')" = peer-unreachable ]
	[ "$(meaning 'efa_0: vendor err 9')" = remote-qp-gone ]
	# The family's name shows that a generic phrase is about RDMA.
	[ "$(meaning 'efa_0: retry limit exceeded')" = wc-retry-exceeded ]
	[ "$(meaning 'job_0: retry limit exceeded')" = "" ]
	# Elsewhere the number is one of verbs, or of an unknown adapter.
	[ "$(meaning 'libfabric:1:verbs:cq: err: 5 prov_errno: 13')" = wc-rnr-retry-exceeded ]
	[ "$(meaning 'other_0: vendor err 9')" = "" ]
}
