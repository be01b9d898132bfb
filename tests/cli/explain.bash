# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# explain_threads FILE: each text has its meaning alone, and the causes that are named come first.
# Sets known, the number of texts.
explain_threads() {
	local thread meaning causes text wrong=0
	known=0

	while IFS=$'\t' read -r thread meaning causes text; do
		[[ $thread != "#"* ]] || continue
		known=$((known + 1))
		eadm explain --text-only --json -- "$text" 2>/dev/null |
			jq -e --arg meaning "$meaning" --arg causes "$causes" '[.rows[]?.meaning] == [$meaning] and
				(([.rows[0].causes[].cause] | join(",") + ",") | startswith($causes + ","))' >/dev/null || {
			echo "$thread: not $meaning for $causes: $text"
			wrong=$((wrong + 1))
		}
	done <"$1"
	[ "$wrong" = 0 ]
}
