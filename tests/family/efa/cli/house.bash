# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For the bats files of this family, which is not that of the common captures: its outputs are
# in its own folder.
HOME_OF_EFA=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)

# shown NAME ARGUMENTS...: as golden
shown() {
	local HOUSE=$HOME_OF_EFA

	[ -e "$HOUSE/golden/$1" ] || [ "${EADM_GOLDEN-}" != update ] || touch "$HOUSE/golden/$1"
	golden "$@"
}
