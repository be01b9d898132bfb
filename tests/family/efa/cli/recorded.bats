# SPDX-License-Identifier: GPL-2.0-or-later
# A capture of a real guest with two EFA adapters of the kernel's own driver
# (tests/captures/record).
load ../../../cli/recordings
GOLDENS=$BATS_TEST_DIRNAME/../golden

UPSTREAM=$BATS_TEST_DIRNAME/../captures/upstream.pcapng

@test "two EFA adapters without the companion" {
	recorded "$UPSTREAM" "$GOLDENS/upstream"
}

@test "what applies to them is checked, and nothing is wrong" {
	[ "$(eadm --from "$UPSTREAM" check --json | jq -c '[.rows[] | select(.dev_name == "efa_0" and .result == "ok") |
		[.check, .result]] | sort')" = '[["gid","ok"],["in-use","ok"],["iommu","ok"],["limits","ok"],["port","ok"],["provider","ok"],["uverbs","ok"]]' ]
	[ "$(eadm --from "$UPSTREAM" check --json | jq -c '[.rows[] | select(.dev_name == null) |
		[.check, .result]] | sort')" = '[["companion","note"],["devices","ok"],["fork","ok"],["huge-pages","ok"],["libibverbs","ok"],["lockdown","ok"],["memlock","ok"],["netns-mode","ok"],["rdma-modules","ok"]]' ]
	[ "$(eadm --from "$UPSTREAM" diagnose --json | jq -c .rows)" = '[]' ]
}
