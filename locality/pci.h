/* SPDX-License-Identifier: GPL-2.0-or-later
 * pci.h - the address of a device on the PCI bus, the one name of a GPU that kernel, runtimes and Slurm share
 *
 * Written 0000:c1:00.0 by the kernel, 0000:C1:00.0 by CUDA, 00000000:C1:00.0 by NVML; a domain may have 32
 * bits.
 *
 * Threads  pure functions, but for pci_path_read */
#ifndef LOCALITY_PCI_H
#define LOCALITY_PCI_H
#include <stdbool.h>
#include <stdint.h>

struct pci_address {
	uint32_t domain;
	uint8_t bus, device, function;
};

/* "c1:00.0" (domain 0), "0000:C1:00.0". 0 and *out set; or -1 and EINVAL, *out untouched. */
int pci_parse(const char *text, struct pci_address *out);

#define PCI_TEXT_MAX 24
/* as the kernel writes it */
const char *pci_text(const struct pci_address *a, char buf[static PCI_TEXT_MAX]);

/* <0, 0, >0: the order of the bus */
int pci_compare(const struct pci_address *a, const struct pci_address *b);

/* The way from the host bridge down to the device, as sysfs shows it: bridges first, the device last. */
#define PCI_HOPS_MAX 16
struct pci_path {
	char host[PCI_TEXT_MAX];	/* "pci0000:c0", the root complex; "" when sysfs does not tell */
	int hops;			/* at least 1, the device itself */
	struct pci_address hop[PCI_HOPS_MAX];
};

/* `root` as in sysfs.h. A device whose place is not told is its own only hop. Cannot fail. */
void pci_path_read(int root, const struct pci_address *a, struct pci_path *out);

/* "nvidia", "amd", "intel" and others, by the number of the vendor; NULL for one that is not known.
 * Static. */
const char *pci_vendor_name(unsigned vendor);

enum { PCI_NVIDIA = 0x10de, PCI_AMD = 0x1002, PCI_INTEL = 0x8086 };

#endif
