# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# CPU time of idle virtual adapters.

model_ticks() {
	pgrep '^eadm_virt' | sed 's|.*|/proc/&/stat|' | xargs cat |
		awk '{ n += $14 + $15 } END { print n }'
}

# idle_cost ADAPTERS: each adapter uses less than 2 % of a CPU, multiplied by EADM_PATIENCE. Ticks are
# hundredths of a second.
idle_cost() {
	local begin end from to

	pause 1
	read -r from _ </proc/uptime
	begin=$(model_ticks)
	pause 10
	end=$(model_ticks)
	read -r to _ </proc/uptime
	awk -v ticks=$((end - begin)) -v from="$from" -v to="$to" -v n="$1" \
		-v limit=$((2 * ${EADM_PATIENCE:-1})) 'BEGIN {
		percent = ticks / (to - from) / n
		printf "%.2f %% of a CPU per idle adapter\n", percent
		exit percent >= limit
	}'
}
