# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # lib.sh sets them
# Connections: many, and ended in every state.
here_is=10.77.0.1
there_is=10.77.1.1

conns() {
	"$programs/conns" "$@" && nothing_left
}

for scenario in $("$programs/conns" list); do
	case $scenario in
	many) continue ;;
	again) times=20 ;;
	*) times=4 ;;
	esac
	check "$scenario on one adapter" conns "$scenario" $here_is $here_is "$times"
	check "$scenario between adapters" conns "$scenario" $here_is $there_is "$times"
done
# Either takes a while: one for each kernel is enough.
case $(uname -r) in
6.1.*) check "1000 connections at once on one adapter" conns many $here_is $here_is 1000 ;;
*) check "1000 connections at once between adapters" conns many $there_is $here_is 1000 ;;
esac
