/* SPDX-License-Identifier: GPL-2.0-or-later
 * pci.c - addresses and ways on the PCI bus (pci.h) */
#include "locality/pci.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "locality/sysfs.h"

/* Up to `digits` hexadecimal digits. */
static bool hex_read(const char **p, int digits, uint64_t *out)
{
	int n = 0;

	for (*out = 0; n < digits && isxdigit((unsigned char)**p); n++, ++*p)
		*out = *out << 4 | (uint64_t)(isdigit((unsigned char)**p) ? **p - '0'
			: tolower((unsigned char)**p) - 'a' + 10);
	return n > 0;
}

int pci_parse(const char *text, struct pci_address *out)
{
	uint64_t part[3], function;
	int n = 0;

	while (n < 3 && hex_read(&text, 8, &part[n]) && *text == ':') {
		n++;
		text++;
	}
	if (n >= 1 && n < 3 && *text == '.') {	/* the last part is the device */
		text++;
		if (hex_read(&text, 1, &function) && !*text && part[n - 1] <= 0xff && part[n] <= 0x1f &&
			function <= 7) {
			*out = (struct pci_address){ .domain = n == 2 ? (uint32_t)part[0] : 0,
				.bus = (uint8_t)part[n - 1], .device = (uint8_t)part[n],
				.function = (uint8_t)function };
			return 0;
		}
	}
	errno = EINVAL;
	return -1;
}

const char *pci_text(const struct pci_address *a, char buf[static PCI_TEXT_MAX])
{
	snprintf(buf, PCI_TEXT_MAX, "%04x:%02x:%02x.%x", a->domain, a->bus, a->device, a->function & 7u);
	return buf;
}

int pci_compare(const struct pci_address *a, const struct pci_address *b)
{
	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	if (a->bus != b->bus)
		return a->bus - b->bus;
	return a->device != b->device ? a->device - b->device : a->function - b->function;
}

/* The link is ../../../devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0; other parts than these have other
 * parents. */
static void path_take(char *link, struct pci_path *out)
{
	struct pci_address a;
	char *save = NULL;

	for (char *part = strtok_r(link, "/", &save); part; part = strtok_r(NULL, "/", &save)) {
		if (!strncmp(part, "pci", 3) && strlen(part) < PCI_TEXT_MAX) {
			strcpy(out->host, part);
			out->hops = 0;
		} else if (out->hops < PCI_HOPS_MAX && pci_parse(part, &a) == 0) {
			out->hop[out->hops++] = a;
		}
	}
}

void pci_path_read(int root, const struct pci_address *a, struct pci_path *out)
{
	char path[SYSFS_PATH_MAX], link[SYSFS_PATH_MAX], text[PCI_TEXT_MAX];
	ssize_t n;

	*out = (struct pci_path){ .hops = 0 };
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s", pci_text(a, text));
	n = readlinkat(root, path, link, sizeof(link) - 1);
	if (n > 0) {
		link[n] = '\0';
		path_take(link, out);
	}
	if (!out->hops || pci_compare(&out->hop[out->hops - 1], a)) {
		*out = (struct pci_path){ .hops = 1 };
		out->hop[0] = *a;
	}
}

const char *pci_vendor_name(unsigned vendor)
{
	static const struct {
		unsigned vendor;
		const char *name;
	} names[] = {
		{ PCI_NVIDIA, "nvidia" }, { PCI_AMD, "amd" }, { PCI_INTEL, "intel" }, { 0x15b3, "mellanox" },
			{ 0x17db, "hpe" },
		{ 0x1a03, "aspeed" }, { 0x102b, "matrox" }, { 0x1d0f, "amazon" }, { 0x14e4, "broadcom" },
			{ 0x1af4, "virtio" },
		{ 0x1234, "qemu" }, { 0x1da3, "habana" }, { 0x1bcf, "nec" }, { 0x19e5, "huawei" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].vendor == vendor)
			return names[i].name;
	return NULL;
}
