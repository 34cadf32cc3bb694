/* SPDX-License-Identifier: GPL-2.0-or-later
 * words.c - what stands in single files and variables: lists of CPUs, bus ids, speeds, lines name: value */
#include <stdlib.h>
#include <string.h>
#include "gpu_check/gpu_health.h"
#include "lib/nearest.h"
#include "locality/cpu_set.h"
#include "locality/link.h"
#include "locality/pci.h"
#include "locality/sysfs.h"
#include "tests/fuzz/fuzz.h"

static void cpus(const char *text)
{
	struct cpu_set *s = calloc(2, sizeof(*s));
	char shown[CPU_LIST_MAX];

	fuzz_must(s);
	if (cpu_set_parse(text, &s[0]) == 0) {
		cpu_set_text(&s[0], shown);
		if (!strstr(shown, "..."))	/* it was not cut */
			fuzz_must(cpu_set_parse(shown, &s[1]) == 0 && cpu_set_equal(&s[0], &s[1]));
	}
	free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), shown[PCI_TEXT_MAX], value[16];
	struct pci_address a, b;

	cpus(text);
	if (pci_parse(text, &a) == 0)
		fuzz_must(pci_parse(pci_text(&a, shown), &b) == 0 && pci_compare(&a, &b) == 0);
	fuzz_must(link_speed_parse(text) >= 0);
	if (sysfs_field(text, "Bus Location", ':', value, sizeof(value)) == 0)
		fuzz_must(strlen(value) < sizeof(value));
	sysfs_field(text, "domain", ' ', value, sizeof(value));
	amd_throttle(data, (int)size);
	free(text);
	return 0;
}
