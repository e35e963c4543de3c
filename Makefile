# SPDX-License-Identifier: GPL-2.0
#
# What a user or a developer calls.  `make help` lists it.

KERNELRELEASE ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KERNELRELEASE)/build
KERNEL ?= 6.1
BOND_VERSION := $(shell cat VERSION)
VM := tools/vm

all: modules

modules: headers
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

headers:
	@test -e $(KDIR)/Makefile || { \
		echo "No kernel headers in $(KDIR)." >&2; \
		echo "On Debian: apt-get install linux-headers-$(KERNELRELEASE)" >&2; \
		echo "For another kernel: make KDIR=/path/to/its/headers" >&2; \
		exit 1; }
	@! grep -qs '^CONFIG_BONDING=y' $(KDIR)/.config || { \
		echo "This kernel has bonding built in: it cannot be replaced by a module." >&2; \
		exit 1; }

install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_DIR=updates modules_install

clean:
	-$(MAKE) -C $(KDIR) M=$(CURDIR) clean

.PHONY: all modules headers install clean
