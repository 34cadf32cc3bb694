/* SPDX-License-Identifier: GPL-2.0-or-later
 * libze_stub.c - a stub, not a driver: what gpu_check/level_zero.c calls of libze_loader, with the faults of
 * stub.h
 *
 * GPU_STUB_TILES=N lists each card N times, as drivers do with the tiles of one. */
#include "tests/stubs/stub.h"

struct properties {
	uint32_t stype;
	void *next;
	uint32_t type, vendor, rest[4];
	uint64_t max_alloc;
	uint32_t numbers[7];
	uint64_t timer;
	uint32_t bits[2];
	uint8_t uuid[16];
	char name[256];
};

struct pci {
	uint32_t stype;
	void *next;
	uint32_t domain, bus, device, function;
};

struct group {
	uint32_t stype;
	void *next;
	uint32_t flags;
	size_t pattern_max;
	uint32_t queues;
};

struct module {
	uint32_t stype;
	const void *next;
	uint32_t format;
	size_t size;
	const uint8_t *code;
};

unsigned zeInit(unsigned flags);
unsigned zeDriverGet(uint32_t *n, void **drivers);
unsigned zeDriverGetApiVersion(void *driver, uint32_t *version);
unsigned zeDeviceGet(void *driver, uint32_t *n, void **devices);
unsigned zeDeviceGetProperties(void *device, struct properties *p);
unsigned zeDevicePciGetPropertiesExt(void *device, struct pci *p);
unsigned zeDeviceGetCommandQueueGroupProperties(void *device, uint32_t *n, struct group *g);
unsigned zeContextCreate(void *driver, const void *desc, void **context);
unsigned zeContextDestroy(void *context);
unsigned zeCommandListCreateImmediate(void *context, void *device, const void *desc, void **list);
unsigned zeCommandListDestroy(void *list);
unsigned zeMemAllocDevice(void *context, const void *desc, size_t bytes, size_t align, void *device,
	void **at);
unsigned zeMemAllocHost(void *context, const void *desc, size_t bytes, size_t align, void **at);
unsigned zeMemFree(void *context, void *at);
unsigned zeCommandListAppendMemoryFill(void *list, void *at, const void *pattern, size_t size, size_t bytes,
	void *s, uint32_t n, void **w);
unsigned zeCommandListAppendMemoryCopy(void *list, void *to, const void *from, size_t bytes, void *s,
	uint32_t n, void **w);
unsigned zeCommandListAppendBarrier(void *list, void *s, uint32_t n, void **w);
unsigned zeModuleCreate(void *context, void *device, const struct module *desc, void **module, void **log);
unsigned zeModuleDestroy(void *module);
unsigned zeKernelCreate(void *module, const void *desc, void **kernel);
unsigned zeKernelDestroy(void *kernel);
unsigned zeKernelSetGroupSize(void *kernel, uint32_t x, uint32_t y, uint32_t z);
unsigned zeKernelSetArgumentValue(void *kernel, uint32_t i, size_t size, const void *value);
unsigned zeCommandListAppendLaunchKernel(void *list, void *kernel, const uint32_t *groups, void *s,
	uint32_t n, void **w);

static int token;			/* what handles point to */
static void *argument_buffer;
static uint32_t argument_seed;

unsigned zeInit(unsigned flags)
{
	(void)flags;
	return (unsigned)stub_init(0);
}

unsigned zeDriverGet(uint32_t *n, void **drivers)
{
	*n = 1;
	if (drivers)
		drivers[0] = &token;
	return 0;
}

unsigned zeDriverGetApiVersion(void *driver, uint32_t *version)
{
	(void)driver;
	*version = 1 << 16 | 3;
	return 0;
}

/* A handle is the number of its card, counted from 1. */
unsigned zeDeviceGet(void *driver, uint32_t *n, void **devices)
{
	uint32_t tiles = (uint32_t)stub_number("GPU_STUB_TILES", 1),
		all = tiles * (uint32_t)stub_number("GPU_STUB_DEVICES", 1);

	(void)driver;
	for (uint32_t i = 0; devices && i < *n && i < all; i++)
		devices[i] = (void *)(uintptr_t)(i / tiles + 1);
	*n = all;
	return 0;
}

unsigned zeDeviceGetProperties(void *device, struct properties *p)
{
	p->type = stub_is("cpu") ? 2 : 1;
	p->vendor = 0x8086;
	memset(p->uuid, (int)(uintptr_t)device, sizeof(p->uuid));
	snprintf(p->name, sizeof(p->name), "stub, no GPU");
	return 0;
}

unsigned zeDevicePciGetPropertiesExt(void *device, struct pci *p)
{
	p->domain = p->device = p->function = 0;
	p->bus = stub_bus((int)(uintptr_t)device - 1);
	return 0;
}

/* The first group only copies. */
unsigned zeDeviceGetCommandQueueGroupProperties(void *device, uint32_t *n, struct group *g)
{
	(void)device;
	*n = 2;
	if (g) {
		g[0].flags = 2;
		g[1].flags = 1 | 2;
	}
	return 0;
}

unsigned zeContextCreate(void *driver, const void *desc, void **context)
{
	(void)driver;
	(void)desc;
	*context = &token;
	return 0;
}

unsigned zeContextDestroy(void *context)
{
	(void)context;
	return 0;
}

unsigned zeCommandListCreateImmediate(void *context, void *device, const void *desc, void **list)
{
	(void)device;
	*list = context;
	/* the ordinal of the group that computes */
	return ((const uint32_t *)desc)[4] == 1 ? 0 : 0x78000004;
}

unsigned zeCommandListDestroy(void *list)
{
	(void)list;
	return 0;
}

unsigned zeMemAllocDevice(void *context, const void *desc, size_t bytes, size_t align, void *device,
	void **at)
{
	(void)device;
	return zeMemAllocHost(context, desc, bytes, align, at);
}

unsigned zeMemAllocHost(void *context, const void *desc, size_t bytes, size_t align, void **at)
{
	(void)context;
	(void)desc;
	(void)align;
	*at = calloc(1, bytes);
	return *at ? 0 : 0x70000002;
}

unsigned zeMemFree(void *context, void *at)
{
	(void)context;
	free(at);
	return 0;
}

unsigned zeCommandListAppendMemoryFill(void *list, void *at, const void *pattern, size_t size, size_t bytes,
	void *s, uint32_t n, void **w)
{
	(void)list;
	(void)s;
	(void)n;
	(void)w;
	if (size != sizeof(uint32_t))
		return 0x78000009;
	stub_fill(at, *(const uint32_t *)pattern, bytes / size);
	return 0;
}

unsigned zeCommandListAppendMemoryCopy(void *list, void *to, const void *from, size_t bytes, void *s,
	uint32_t n, void **w)
{
	(void)list;
	(void)s;
	(void)n;
	(void)w;
	stub_copy(to, from, bytes);
	return 0;
}

unsigned zeCommandListAppendBarrier(void *list, void *s, uint32_t n, void **w)
{
	(void)list;
	(void)s;
	(void)n;
	(void)w;
	return 0;
}

unsigned zeModuleCreate(void *context, void *device, const struct module *desc, void **module, void **log)
{
	uint32_t magic;

	(void)device;
	(void)log;
	memcpy(&magic, desc->code, sizeof(magic));
	*module = context;
	return desc->format || magic != 0x07230203 ? 0x7800000fu
		: (unsigned)stub_number("GPU_STUB_KERNEL", 0);
}

unsigned zeModuleDestroy(void *module)
{
	(void)module;
	return 0;
}

unsigned zeKernelCreate(void *module, const void *desc, void **kernel)
{
	(void)desc;
	*kernel = module;
	return 0;
}

unsigned zeKernelDestroy(void *kernel)
{
	(void)kernel;
	return 0;
}

unsigned zeKernelSetGroupSize(void *kernel, uint32_t x, uint32_t y, uint32_t z)
{
	(void)kernel;
	return x == PATTERN_GROUP && y == 1 && z == 1 ? 0 : 0x78000008;
}

unsigned zeKernelSetArgumentValue(void *kernel, uint32_t i, size_t size, const void *value)
{
	(void)kernel;
	if (i == 0 && size == sizeof(void *))
		memcpy(&argument_buffer, value, size);
	else if (i == 1 && size == sizeof(uint32_t))
		memcpy(&argument_seed, value, size);
	else
		return 0x78000015;
	return 0;
}

unsigned zeCommandListAppendLaunchKernel(void *list, void *kernel, const uint32_t *groups, void *s,
	uint32_t n, void **w)
{
	(void)list;
	(void)kernel;
	(void)s;
	(void)n;
	(void)w;
	if (groups[0] * PATTERN_GROUP != PATTERN_WORDS)
		return 0x78000004;
	stub_kernel(argument_buffer, argument_seed);
	return 0;
}
