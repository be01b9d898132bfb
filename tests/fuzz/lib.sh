# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # $dir: of the suite, for what it makes
# The project's own build, instrumented, of which fuzz targets link parts.

instrument=-fsanitize=address,undefined
# shellcheck disable=SC2054 # the commas are of the compiler
flags=(-g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -D_GNU_SOURCE
	-Icommon -Ilibeadm -Ieadm -Ikmod/uapi)

# instrumented TARGET...: in $dir/build
instrumented() {
	[ -d "$dir/build" ] || CC=clang meson setup --buildtype=plain -Db_lundef=false \
		-Dc_args="-g -O1 $instrument -fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined" \
		-Dc_link_args="$instrument" "$dir/build" || return
	ninja -C "$dir/build" "$@"
}

# target SOURCE [OBJECT...]: an executable of that name in $dir
target() {
	local source=$1
	shift

	clang "${flags[@]}" -I"$dir/build/libeadm" "$source" "$@" "$dir/build/libeadm/libeadm-internal.a" \
		-lmnl -ldl -o "$dir/$(basename "$source" .c)"
}
