# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # debian.sh and the suite set them
# The tarball of a release: from it alone tool and packages are built, without a network, the tool
# also without PyYAML.
# Sourced by the suite after debian.sh.
make_tarball() {
	git clone -q . "$work/clone" && git diff HEAD --binary | git -C "$work/clone" apply --allow-empty &&
		git -C "$work/clone" -c user.name=test -c user.email=test@eadm.example commit -qam test --allow-empty &&
		meson setup "$work/clone/build" "$work/clone" -Dtests=false >/dev/null &&
		meson dist -C "$work/clone/build" --no-tests >/dev/null &&
		tarball=$(echo "$work"/clone/build/meson-dist/eadm-*.tar.xz) &&
		(cd "$(dirname "$tarball")" && sha256sum --check --quiet ./*.sha256sum)
}

without_network() { # COMMAND, in the root "dist"
	unshare --net tests/packages/enter "$work/dist" "$cache/archives" sh -c "$1"
}

tool_builds() {
	unpack build.tar dist && cp "$work"/clone/build/meson-dist/eadm-*.tar.xz "$work/dist" &&
		without_network 'mkdir /no && echo "raise ImportError" >/no/yaml.py && export PYTHONPATH=/no &&
		tar -xf eadm-*.tar.xz && cd eadm-*/ && meson setup build >/log && ninja -C build >>/log ||
			{ tail -n 30 /log; exit 1; }' &&
		without_network '/eadm-*/build/eadm/eadm ver'
}

names_in() { # FOLDER
	find "$1" -maxdepth 1 -name '*.deb' -printf '%f\n' | sort
}

# Two commands.
packages_build() {
	without_network 'rm -r /eadm-*/ && tar -xf eadm-*.tar.xz && cd eadm-*/ &&
		DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -b -us -uc -Pnocheck >/log 2>&1 || { tail -n 30 /log; exit 1; }' &&
		same "$(names_in "$work/debs")" "$(names_in "$work/dist")"
}

check "$suite: meson dist makes a tarball" make_tarball
check "$suite: the tool builds from it, without network" tool_builds
check "$suite: so do the packages" packages_build
