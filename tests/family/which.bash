# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # for those who source it
# Of what family captures and the driver without a device are (also tests/captures/nlcap.py):
# the first one that is described and has a face. FAMILY is its name, HOUSE its folder.
for HOUSE in "${BASH_SOURCE[0]%/*}"/*/face.py; do
	HOUSE=${HOUSE%/face.py}
	FAMILY=${HOUSE##*/}
	[ ! -e "$HOUSE/../../../spec/families/$FAMILY.yaml" ] || break
done
