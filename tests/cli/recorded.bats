# SPDX-License-Identifier: GPL-2.0-or-later
# Captures of real guests: what older recordings say must not change unnoticed.
# tests/captures/record makes them again.
load recordings

@test "rxe without the companion" {
	recorded "$RXE" "$REPO/tests/golden/live-rxe"
}
