# SPDX-License-Identifier: GPL-2.0-or-later
# Thin front for Meson (userland) and Kbuild (kmod/).
BUILD = build
# meson.build and the compiler find all else; this installs what is missing.
DEPS = packaging/deps-debian

all: $(BUILD)/build.ninja
	meson compile -C $(BUILD)

$(BUILD)/build.ninja:
	@$(DEPS) --check build
	meson setup $(BUILD) $(MESON_FLAGS)

deps: build-deps

%-deps:
	$(DEPS) $*

demo: demo-deps all
	tests/demo

# The gate; SUITE=quick runs the suites with that tag instead. Skipped tests are failures.
test: gate-deps
	CI=true tests/run $(if $(SUITE),--suite $(SUITE))

# Whether this tree could be released (docs/releasing.md).
release-check: test-deps all
	packaging/release-check

# Hours. tests/ledger has the results.
test-all: test-deps debug-deps packages-deps
	tests/all

bench: bench-deps all
	tests/bench/run

# Userland and, for DKMS, the sources of the companion; DRIVERS="NAME..." adds drivers,
# which take the place of the kernel's own.
install: all
	packaging/dkms/install --check eadm $(DRIVERS) >/dev/null
	meson install -C $(BUILD) --no-rebuild
	packaging/dkms/install eadm $(DRIVERS)

# What the last "make install" from this folder has installed, and modules of DKMS.
uninstall:
	packaging/dkms/uninstall
	ninja -C $(BUILD) uninstall

clean:
	rm -rf $(BUILD)

# What tests have downloaded and built, for all checkouts of this machine.
clean-cache:
	rm -rf "$$(tests/lib/cache)"

# Packages, in build/deb.
deb: deb-deps
	packaging/deb

# The exporter's container image, of these packages: an OCI archive beside them.
image: image-deps deb
	packaging/container

# RPM packages, and an SPDX document of this tree and its libraries.
rpm: rpm-deps
	packaging/rpm/build

sbom: all
	packaging/sbom $(BUILD) >$(BUILD)/eadm.spdx.json

# The documentation, in build/html.
html:
	docs/html $(BUILD)/html

help:
	@echo "make deps      install what the build requires (as root)"
	@echo "make           build the library and the tools"
	@echo "make demo      show eadm on two virtual adapters in a virtual machine"
	@echo "make test      run the gate, as CI does: 5 to 15 minutes (SUITE=NAME: that suite)"
	@echo "make test-all  run every suite on every kernel (hours)"
	@echo "make release-check  whether versions, documents and tests allow a release"
	@echo "make bench     compare speed and cost with other tools"
	@echo "make install   install tools, pages and, for DKMS, the companion (DESTDIR, DRIVERS=erdma)"
	@echo "make uninstall remove what make install has installed"
	@echo "make deb       build Debian packages into build/deb"
	@echo "make image     build the container image of the exporter into build/deb"
	@echo "make rpm       build RPM packages into build/rpm"
	@echo "make html      render the documentation into build/html"
	@echo "make sbom      write build/eadm.spdx.json"
	@echo "make clean     remove what was built"
	@echo "make clean-cache  remove kernels and modules that tests have fetched and built"

.PHONY: all deps demo test test-all release-check bench install uninstall deb image rpm sbom html clean clean-cache help
