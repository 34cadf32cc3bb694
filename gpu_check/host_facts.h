/* SPDX-License-Identifier: GPL-2.0-or-later
 * host_facts.h - what a person looks at first when GPUs are slow and nothing is broken: IOMMU, huge pages,
 * memory pressure, time that a hypervisor took, CPUs that were throttled
 *
 * Unit     percent in hundredths; -1 = the kernel does not tell
 * Threads  any; nothing is kept */
#ifndef GPU_CHECK_HOST_FACTS_H
#define GPU_CHECK_HOST_FACTS_H
#include <stdint.h>
#include "locality/devices.h"

enum iommu { IOMMU_UNKNOWN, IOMMU_OFF, IOMMU_PASSES, IOMMU_TRANSLATES, IOMMUS };
extern const char *const iommu_name[IOMMUS]; /* "unknown", "off", "passthrough", "translating" */

struct host_facts {
	enum iommu iommu;                             /* of the GPUs; the strictest */
	int64_t huge_pages, huge_free, huge_kib;      /* of the default size */
	char transparent[16];                         /* "always", "madvise", "never"; "" */
	int64_t some_10, some_300, full_10, full_300; /* share of the time in which tasks waited for memory */
	int64_t steal;                                /* of all time since the boot */
	int64_t throttled;                            /* how often since the boot, all packages together */
	char governor[24];                            /* of CPU 0; "" */
};

/* `root` as in sysfs.h. Cannot fail. */
void host_facts_read(int root, const struct devices *d, struct host_facts *out);

#endif
