# SPDX-License-Identifier: GPL-2.0-or-later
# Thin front for Meson (userland) and Kbuild (kmod/).
BUILD = build
# meson.build and the compiler find all else; this installs what is missing.
DEPS = packaging/deps-debian

all: build-deps $(BUILD)/build.ninja
	meson compile -C $(BUILD)

$(BUILD)/build.ninja:
	meson setup $(BUILD) $(MESON_FLAGS)

%-deps:
	$(DEPS) $*

demo: demo-deps all
	tests/demo

# SUITE=quick limits the run to suites with that tag.
test: test-deps all
	tests/run $(if $(SUITE),--suite $(SUITE))

# Hours. What is known of a commit is in tests/ledger.
test-all: test-deps debug-deps all
	tests/run --ledger
	EADM_TEST_KERNELS=6.1 tests/run --ledger --suite vm
	EADM_TEST_KERNELS=latest tests/run --ledger --suite module-build --suite kernels
	EADM_TEST_KERNELS=debug EADM_PATIENCE=5 tests/run --ledger --suite vm
	tests/run --table

bench: bench-deps all
	tests/bench/run

# Userland and, for DKMS, the sources of the modules.
install: all
	meson install -C $(BUILD) --no-rebuild
	packaging/dkms/install

help:
	@echo "make           build the library and the tools"
	@echo "make demo      show eadm on two virtual adapters in a virtual machine"
	@echo "make test      run all tests (SUITE=quick: those without a machine)"
	@echo "make test-all  run every suite on every kernel (hours)"
	@echo "make bench     compare speed and cost with other tools"
	@echo "make install   install tools, pages and, for DKMS, the modules (DESTDIR)"

.PHONY: all demo test test-all bench install help
