# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # for tests/cli
# What outputs of the scenes of tests/captures depend on.
# Rules that a capture without moments and hardware has nothing for.
UNAPPLIED=9
# Rules that need what the family does not have.
UNFED=(adapter-event cq-too-small failed-requests peer-not-ready peer-unreachable peer-vanished) # a QP stops then
