# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # for tests/cli
# What outputs of the scenes of tests/captures depend on.
# Rules that a capture without moments and hardware has nothing for.
UNAPPLIED=9
# Rules that need counters of QPs, which the family does not have.
UNFED=(adapter-event bad-packets cq-too-small failed-requests lost-completion peer-not-ready peer-unreachable peer-vanished
	receive-not-taken receiver-starved retransmission-storm sender-slow sender-stalled
	stray-completion)
