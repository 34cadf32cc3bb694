/* SPDX-License-Identifier: GPL-2.0-or-later
 * task_devices.c - a task's environment: which GPUs it says are its own */
#include <stdlib.h>
#include <string.h>
#include "gpu_check/allocation.h"
#include "locality/task_devices.h"
#include "tests/fuzz/fuzz.h"

enum { LINES = 6, GPUS = 4 };

static const char *variable(void *from, const char *name)
{
	return environment_value(from, name);
}

static void machine(struct devices *d, struct gpu gpu[GPUS], struct device_name names[GPUS_MAX])
{
	for (int i = 0; i < GPUS; i++) {
		gpu[i] = (struct gpu){ .address = { .bus = (uint8_t)(0x10 + i) }, .class = 0x0302,
			.vendor = i < 2 ? PCI_NVIDIA : i == 2 ? PCI_AMD : PCI_INTEL, .node = NODE_UNKNOWN };
		names[i] = (struct device_name){ .file = i, .order = i < 2 ? i : 0, .allowed = ALLOWED_UNKNOWN };
		snprintf(names[i].uuid, sizeof(names[i].uuid), "GPU-0000000%d-1111", i);
	}
	*d = (struct devices){ .gpus = GPUS, .gpu = gpu };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gpu gpu[GPUS];
	static struct device_name names[GPUS_MAX];
	char *line[LINES + 1];
	struct devices d;
	struct task_gpus out;
	struct allocation a;

	machine(&d, gpu, names);
	fuzz_lines(data, size, LINES, line);
	line[LINES] = NULL;
	task_gpus_find(&d, names, variable, line, &out);
	fuzz_must(out.count >= 0 && out.count <= GPUS);
	for (int i = 0; i < out.count; i++)
		fuzz_must(out.gpu[i] >= gpu && out.gpu[i] < gpu + GPUS && (i == 0 || out.gpu[i] > out.gpu[i - 1]));
	allocation_read(line, "cuda", &a);
	allocation_read(line, "hip", &a);
	fuzz_must(a.allocated >= -1 && a.named >= -1);
	fuzz_lines_free(LINES, line);
	return 0;
}
