# SPDX-License-Identifier: GPL-2.0
#
# What a user or a developer calls; `make help` lists it.  How the module is
# built is in Kbuild, how guests are run in tools/vm.

KERNELRELEASE ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KERNELRELEASE)/build
KERNEL ?= 6.1
VERSION := $(shell cat VERSION)
DKMS_SRC := /usr/src/bonding-$(VERSION)

all: modules

modules: headers
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

headers:
	@test -e $(KDIR)/Makefile || { \
		echo "No kernel headers in $(KDIR)." >&2; \
		echo "Debian: apt-get install linux-headers-$(KERNELRELEASE)" >&2; \
		echo "Other kernel: make KDIR=/path/to/its/headers" >&2; \
		exit 1; }
	@! grep -qs '^CONFIG_BONDING=y' $(KDIR)/.config || { \
		echo "This kernel has bonding built in:" \
			"a module cannot replace it." >&2; \
		exit 1; }

install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_DIR=updates modules_install

uninstall:
	rm -f $(INSTALL_MOD_PATH)/lib/modules/$(KERNELRELEASE)/updates/bonding.ko*
	depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(KERNELRELEASE)

clean: headers
	$(MAKE) -C $(KDIR) M=$(CURDIR) clean

demo:
	tools/demo/run.sh $(KERNEL)

check:
	tools/check.sh -k $(KERNEL) $(CHECK_ARGS)

check-diff:
	tools/check-diff/run.sh -k $(KERNEL)

check-upstream:
	tools/check-upstream.sh -k $(KERNEL)

check-static:
	tools/static/run.sh

check-package:
	tools/package/check.sh

dkms-install:
	tools/package/dkms-sources.sh $(DKMS_SRC)
	dkms install bonding/$(VERSION)

dkms-remove:
	dkms remove bonding/$(VERSION) --all
	rm -rf $(DKMS_SRC)

help:
	@echo "Build and install:"
	@echo "  make                 build for the running kernel"
	@echo "  make KDIR=DIR        build for the headers in DIR"
	@echo "  make install         install under updates/, before the in-tree module"
	@echo "  make uninstall       remove it; the in-tree module is back"
	@echo "  make clean           remove what was built"
	@echo "  make dkms-install    install with DKMS, dkms-remove removes"
	@echo
	@echo "See it, test it (in a guest; KERNEL=6.1|6.12|7.3|all, default 6.1):"
	@echo "  make demo            show what a bond does, draw a failure"
	@echo "  make check           build and run the selftests"
	@echo "  make check-diff      compare with the in-tree module"
	@echo "  make check-upstream  run the kernel's own bonding selftests"
	@echo "  make check-static    style, sparse, layers and the like"
	@echo "  make check-package   DKMS build, install and removal"
	@echo
	@echo "Variables: V=1 W=1 C=1 KDIR= INSTALL_MOD_PATH= CHECK_ARGS="

.PHONY: all modules headers install uninstall clean demo check check-diff
.PHONY: check-upstream check-static check-package dkms-install dkms-remove help
