/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_links.h - how the GPUs of a machine are linked with each other
 *
 * Of several ways the best counts: NVIDIA's links (nvlink.h), AMD's as its driver lists them, then PCIe: by the
 * bridges that both are below, then by the NUMA node.
 *
 * Threads  any; nothing is kept */
#ifndef GPU_CHECK_GPU_LINKS_H
#define GPU_CHECK_GPU_LINKS_H
#include "gpu_check/nvlink.h"

enum gpu_way { WAY_NVLINK, WAY_XGMI, WAY_SWITCH, WAY_ROOT, WAY_NODE, WAY_ELSEWHERE, WAYS };
extern const char *const gpu_way_name[WAYS];	/* "nvlink", "xgmi", "switch", "root", "node", "elsewhere" */

struct gpu_link {
	enum gpu_way way;
	int links;	/* of NVIDIA's and AMD's how many there are side by side; 0: not told */
	bool switched;	/* over NVSwitches */
};

struct gpu_links {
	struct gpu_link to[GPUS_MAX][GPUS_MAX];
};

/* Between all of them; `root` as in sysfs.h. Cannot fail. */
void gpu_links_read(int root, const struct gpu *const gpu[], int gpus, const struct nvlinks *nvlinks,
	struct gpu_links *out);

#endif
