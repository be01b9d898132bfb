# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2016,SC2086 # of lib.sh; for eval; names without blanks
# What is left when the probe stops.
check "it stops" eadm probe stop
check "nothing is left in the kernel" until_true 60 no_programs
check "a second stop says so" eval '! eadm probe stop 2>"$temp/why" && grep -q "not running" "$temp/why"'
