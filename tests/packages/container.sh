# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # debian.sh and the suite set them
# The container image of the exporter, of the packages that debian.sh has built: run by a
# container engine with the rights that the DaemonSet gives it. Sourced by the suite after
# debian.sh.
image_twice() {
	EADM_DEBIAN_SUITE=$suite packaging/container "$work/debs" "$work/image.tar" &&
		EADM_DEBIAN_SUITE=$suite packaging/container "$work/debs" "$work/again.tar" &&
		cmp "$work/image.tar" "$work/again.tar" && rm "$work/again.tar" &&
		skopeo inspect "oci-archive:$work/image.tar" | jq -e '.Os == "linux" and (.Layers | length == 1)'
}

nothing_else() {
	local found

	skopeo copy -q "oci-archive:$work/image.tar" "oci:$work/oci:test" &&
		umoci unpack --image "$work/oci:test" "$work/bundle" >&2 || return
	jq -c .process "$work/bundle/config.json"
	found=$(find "$work/bundle/rootfs" -type f -perm /111 \( -path '*bin/*' -o -path '*libexec/*' \) -printf '%f ')
	same "eadm eadm-exporter" "$(tr ' ' '\n' <<<"$found" | sort | xargs)" &&
		[ -e "$work/bundle/rootfs/var/lib/dpkg/status.d/libgnutls30" ]
}

as_daemonset() { # sets the rights that packaging/kubernetes asks for
	jq '.process.args += ["--listen", "127.0.0.1:10707"] | .process.capabilities = {} |
		.process.noNewPrivileges = true | .process.terminal = false | .root.readonly = true |
		.linux.namespaces |= map(select(.type != "network" and .type != "pid"))' \
		"$work/bundle/config.json" >"$work/config" && mv "$work/config" "$work/bundle/config.json"
}

container_serves() {
	as_daemonset && unshare --net bash -euc '
		. tests/lib/wait.sh
		cd "$1"
		ip link set lo up
		runc run --bundle bundle --pid-file pid "eadm-test-$$" &
		until_true 30 curl -sf -o metrics http://127.0.0.1:10707/metrics
		grep -c "^# TYPE eadm_" metrics
		grep -E "^(Uid|CapBnd|CapEff|NoNewPrivs|Seccomp):" "/proc/$(cat pid)/status" | tee status
		runc kill "eadm-test-$$" TERM
		wait $!' container "$work" &&
		grep -q '^CapBnd:	0*$' "$work/status" && grep -q '^Uid:	65534	' "$work/status"
}

check "$suite: the container image, twice with the same bytes" image_twice
check "$suite: it has the program, its libraries and their licences" nothing_else
check "$suite: a container engine runs it without a capability, and it serves" container_serves
