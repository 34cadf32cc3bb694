/* SPDX-License-Identifier: GPL-2.0-or-later
 * level_zero.c - Intel: Level Zero (libze_loader)
 *
 * Structures as in version 1.3 of the interface, which every loader still takes: each begins with its type
 * and a chain of extensions. A driver may list the tiles of a card as devices; they have the bus id of their
 * card. */
#include <stdio.h>
#include <string.h>
#include "gpu_check/backend.h"
#include "gpu_check/level_zero_kernel.h"
#include "gpu_check/pattern.h"

typedef uint32_t ze_result;
typedef void *ze_handle;

enum {				/* ze_structure_type_t */
	ZE_DEVICE_PROPERTIES = 0x3,
	ZE_GROUP_PROPERTIES = 0x6,
	ZE_CONTEXT_DESC = 0xd,
	ZE_QUEUE_DESC = 0xe,
	ZE_DEVICE_MEMORY_DESC = 0x15,
	ZE_HOST_MEMORY_DESC = 0x16,
	ZE_MODULE_DESC = 0x1b,
	ZE_KERNEL_DESC = 0x1d,
	ZE_PCI_PROPERTIES = 0x10008,
};

#define ZE_INIT_GPU_ONLY    1u
#define ZE_TYPE_GPU         1u
#define ZE_TYPE_CPU         2u
#define ZE_GROUP_COMPUTE    1u		/* a group of queues that run kernels */
#define ZE_MODE_SYNCHRONOUS 1u		/* a call returns when the device has done it */
#define ZE_FORMAT_SPIRV     0u
#define ZE_GROUPS_MAX       16
#define ZE_DRIVERS_MAX      8

struct ze_device_properties {
	uint32_t stype;
	void *next;
	uint32_t type, vendor, device, flags, subdevice, clock;
	uint64_t max_alloc;
	uint32_t contexts, priority, threads, width, units, subslices, slices;
	uint64_t timer;
	uint32_t timestamp_bits, kernel_bits;
	uint8_t uuid[16];
	char name[256];
};

struct ze_pci_properties {
	uint32_t stype;
	void *next;
	uint32_t domain, bus, device, function;
	int32_t generation, width;
	int64_t bandwidth;
};

struct ze_group_properties {
	uint32_t stype;
	void *next;
	uint32_t flags;
	size_t pattern_max;
	uint32_t queues;
};

struct ze_desc {			/* context, memory on the host */
	uint32_t stype;
	const void *next;
	uint32_t flags;
};

struct ze_memory_desc {
	uint32_t stype;
	const void *next;
	uint32_t flags, ordinal;
};

struct ze_queue_desc {
	uint32_t stype;
	const void *next;
	uint32_t ordinal, index, flags, mode, priority;
};

struct ze_module_desc {
	uint32_t stype;
	const void *next;
	uint32_t format;
	size_t size;
	const uint8_t *module;
	const char *build_flags;
	const void *constants;
};

struct ze_kernel_desc {
	uint32_t stype;
	const void *next;
	uint32_t flags;
	const char *name;
};

struct ze_groups {
	uint32_t x, y, z;
};

struct ze {
	ze_result (*init)(uint32_t flags);
	ze_result (*drivers)(uint32_t *n, ze_handle *drivers);
	ze_result (*api_version)(ze_handle driver, uint32_t *version);
	ze_result (*devices)(ze_handle driver, uint32_t *n, ze_handle *devices);
	ze_result (*properties)(ze_handle device, struct ze_device_properties *p);
	ze_result (*pci)(ze_handle device, struct ze_pci_properties *p);
	ze_result (*groups)(ze_handle device, uint32_t *n, struct ze_group_properties *p);
	ze_result (*context_create)(ze_handle driver, const struct ze_desc *desc, ze_handle *context);
	ze_result (*context_destroy)(ze_handle context);
	ze_result (*list_create)(ze_handle context, ze_handle device, const struct ze_queue_desc *desc,
		ze_handle *list);
	ze_result (*list_destroy)(ze_handle list);
	ze_result (*alloc)(ze_handle context, const struct ze_memory_desc *desc, size_t bytes, size_t align,
		ze_handle device, void **at);
	ze_result (*alloc_host)(ze_handle context, const struct ze_desc *desc, size_t bytes, size_t align,
		void **at);
	ze_result (*free)(ze_handle context, void *at);
	ze_result (*fill)(ze_handle list, void *at, const void *pattern, size_t pattern_size, size_t bytes,
		ze_handle signal, uint32_t n, ze_handle *wait);
	ze_result (*copy)(ze_handle list, void *to, const void *from, size_t bytes, ze_handle signal,
		uint32_t n, ze_handle *wait);
	ze_result (*barrier)(ze_handle list, ze_handle signal, uint32_t n, ze_handle *wait);
	ze_result (*module_create)(ze_handle context, ze_handle device, const struct ze_module_desc *desc,
		ze_handle *module, ze_handle *log);
	ze_result (*module_destroy)(ze_handle module);
	ze_result (*kernel_create)(ze_handle module, const struct ze_kernel_desc *desc, ze_handle *kernel);
	ze_result (*kernel_destroy)(ze_handle kernel);
	ze_result (*kernel_group)(ze_handle kernel, uint32_t x, uint32_t y, uint32_t z);
	ze_result (*kernel_argument)(ze_handle kernel, uint32_t index, size_t size, const void *value);
	ze_result (*launch)(ze_handle list, ze_handle kernel, const struct ze_groups *groups,
		ze_handle signal, uint32_t n, ze_handle *wait);

	int count;
	ze_handle device[REPORT_DEVICES_MAX], driver[REPORT_DEVICES_MAX];
	ze_handle context, list;
	ze_handle at;			/* the device in use */
	void *buffer, *other;
};

#define SYMBOL(name, member) { name, NULL, offsetof(struct ze, member), false }
static const struct symbol_row ze_symbols[] = {
	SYMBOL("zeInit", init),
	SYMBOL("zeDriverGet", drivers),
	SYMBOL("zeDriverGetApiVersion", api_version),
	SYMBOL("zeDeviceGet", devices),
	SYMBOL("zeDeviceGetProperties", properties),
	{ "zeDevicePciGetPropertiesExt", NULL, offsetof(struct ze, pci), true },
	SYMBOL("zeDeviceGetCommandQueueGroupProperties", groups),
	SYMBOL("zeContextCreate", context_create),
	SYMBOL("zeContextDestroy", context_destroy),
	SYMBOL("zeCommandListCreateImmediate", list_create),
	SYMBOL("zeCommandListDestroy", list_destroy),
	SYMBOL("zeMemAllocDevice", alloc),
	SYMBOL("zeMemAllocHost", alloc_host),
	SYMBOL("zeMemFree", free),
	SYMBOL("zeCommandListAppendMemoryFill", fill),
	SYMBOL("zeCommandListAppendMemoryCopy", copy),
	SYMBOL("zeCommandListAppendBarrier", barrier),
	SYMBOL("zeModuleCreate", module_create),
	SYMBOL("zeModuleDestroy", module_destroy),
	SYMBOL("zeKernelCreate", kernel_create),
	SYMBOL("zeKernelDestroy", kernel_destroy),
	SYMBOL("zeKernelSetGroupSize", kernel_group),
	SYMBOL("zeKernelSetArgumentValue", kernel_argument),
	SYMBOL("zeCommandListAppendLaunchKernel", launch),
};

static const struct code_row ze_codes[] = {
	{ 0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST (0x70000001)", CAUSE_LOST },
	{ 0x70000002, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY (0x70000002)", CAUSE_NO_MEMORY },
	{ 0x70000003, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003)", CAUSE_NO_MEMORY },
	{ 0x70000004, "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE (0x70000004)", CAUSE_COMPILER },
	{ 0x70000006, "ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET (0x70000006)", CAUSE_LOST },
	{ 0x70010000, "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS (0x70010000)", CAUSE_FORBIDDEN },
	{ 0x70020000, "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE (0x70020000)", CAUSE_COMPILER },
	{ 0x78000001, "ZE_RESULT_ERROR_UNINITIALIZED (0x78000001)", CAUSE_NO_DRIVER },
	{ 0x78000003, "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE (0x78000003)", CAUSE_KERNEL_UNSUITED },
	{ 0x7800000f, "ZE_RESULT_ERROR_INVALID_NATIVE_BINARY (0x7800000f)", CAUSE_KERNEL_UNSUITED },
};

static const char *const ze_libraries[] = { "libze_loader.so.1", NULL };
static const char *const ze_environment[] = {
	"NEO_CACHE_PERSISTENT=0",	/* nothing is left in the user's home */
	NULL
};

#define BYTES (PATTERN_WORDS * sizeof(uint32_t))

/* The call, and its name for the text. */
#define TRY(s, z, call, name, ...)                             \
	do {                                                   \
		ze_result rc_ = (z)->call(__VA_ARGS__);        \
		if (rc_)                                       \
			return backend_failed(s, name, rc_);   \
	} while (0)

static int ze_init(struct session *s)
{
	struct ze *z = s->state;

	TRY(s, z, init, "zeInit", ZE_INIT_GPU_ONLY);
	return 0;
}

static int devices_of(struct session *s, struct ze *z, ze_handle driver)
{
	uint32_t n = 0, room = (uint32_t)(REPORT_DEVICES_MAX - z->count);

	TRY(s, z, devices, "zeDeviceGet", driver, &n, NULL);
	if (n > room)
		n = room;
	if (n == 0)
		return 0;
	TRY(s, z, devices, "zeDeviceGet", driver, &n, &z->device[z->count]);
	for (uint32_t i = 0; i < n && i < room; i++)
		z->driver[z->count++] = driver;
	return 0;
}

static int ze_count(struct session *s, int *n)
{
	struct ze *z = s->state;
	ze_handle driver[ZE_DRIVERS_MAX];
	uint32_t drivers = 0, version = 0;

	TRY(s, z, drivers, "zeDriverGet", &drivers, NULL);
	if (drivers > ZE_DRIVERS_MAX)
		drivers = ZE_DRIVERS_MAX;
	if (drivers > 0)
		TRY(s, z, drivers, "zeDriverGet", &drivers, driver);
	for (uint32_t i = 0; i < drivers && i < ZE_DRIVERS_MAX; i++)
		if (devices_of(s, z, driver[i]) < 0)
			return -1;
	if (drivers > 0 && z->api_version(driver[0], &version) == 0)
		snprintf(s->version, sizeof(s->version), "Level Zero %u.%u", version >> 16, version & 0xFFFF);
	*n = z->count;
	return 0;
}

static enum device_kind kind_of(uint32_t type)
{
	return type == ZE_TYPE_GPU ? DEVICE_GPU : type == ZE_TYPE_CPU ? DEVICE_CPU : DEVICE_OTHER;
}

/* Level Zero writes a UUID from its last byte on. */
static void uuid_text(const uint8_t u[16], char *buf, size_t size)
{
	snprintf(buf, size, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[15],
		u[14], u[13], u[12], u[11], u[10], u[9], u[8], u[7], u[6], u[5], u[4], u[3], u[2], u[1],
		u[0]);
}

static int ze_identify(struct session *s, int device, struct device_report *d)
{
	struct ze *z = s->state;
	struct ze_device_properties p = { .stype = ZE_DEVICE_PROPERTIES };
	struct ze_pci_properties pci = { .stype = ZE_PCI_PROPERTIES };

	TRY(s, z, properties, "zeDeviceGetProperties", z->device[device], &p);
	d->kind = kind_of(p.type);
	uuid_text(p.uuid, d->uuid, sizeof(d->uuid));
	snprintf(d->name, sizeof(d->name), "%.*s", (int)sizeof(d->name) - 1, p.name);
	if (z->pci && z->pci(z->device[device], &pci) == 0)
		pci_text(&(struct pci_address){ pci.domain, (uint8_t)pci.bus, (uint8_t)pci.device,
			(uint8_t)pci.function }, d->bus_id);
	return 0;
}

/* The first group of queues that runs kernels. */
static int compute_group(struct session *s, struct ze *z, uint32_t *ordinal)
{
	struct ze_group_properties group[ZE_GROUPS_MAX];
	uint32_t n = 0;

	TRY(s, z, groups, "zeDeviceGetCommandQueueGroupProperties", z->at, &n, NULL);
	if (n > ZE_GROUPS_MAX)
		n = ZE_GROUPS_MAX;
	memset(group, 0, sizeof(group));
	for (uint32_t i = 0; i < n; i++)
		group[i].stype = ZE_GROUP_PROPERTIES;
	if (n > 0)
		TRY(s, z, groups, "zeDeviceGetCommandQueueGroupProperties", z->at, &n, group);
	for (*ordinal = 0; *ordinal < n && *ordinal < ZE_GROUPS_MAX; ++*ordinal)
		if (group[*ordinal].flags & ZE_GROUP_COMPUTE)
			return 0;
	return backend_fault(s, CAUSE_API,
		"zeDeviceGetCommandQueueGroupProperties: none of %u groups of queues computes", n);
}

static int ze_context(struct session *s, int device)
{
	struct ze *z = s->state;
	struct ze_desc context = { .stype = ZE_CONTEXT_DESC };
	struct ze_queue_desc queue = { .stype = ZE_QUEUE_DESC, .mode = ZE_MODE_SYNCHRONOUS };
	struct ze_memory_desc memory = { .stype = ZE_DEVICE_MEMORY_DESC };

	z->at = z->device[device];
	TRY(s, z, context_create, "zeContextCreate", z->driver[device], &context, &z->context);
	if (compute_group(s, z, &queue.ordinal) < 0)
		return -1;
	TRY(s, z, list_create, "zeCommandListCreateImmediate", z->context, z->at, &queue, &z->list);
	TRY(s, z, alloc, "zeMemAllocDevice", z->context, &memory, BYTES, sizeof(uint64_t), z->at, &z->buffer);
	TRY(s, z, alloc, "zeMemAllocDevice", z->context, &memory, BYTES, sizeof(uint64_t), z->at, &z->other);
	return 0;
}

static int bring(struct session *s, struct ze *z, void *to, const void *from, size_t bytes)
{
	TRY(s, z, barrier, "zeCommandListAppendBarrier", z->list, NULL, 0, NULL);
	TRY(s, z, copy, "zeCommandListAppendMemoryCopy", z->list, to, from, bytes, NULL, 0, NULL);
	return 0;
}

static int ze_fill(struct session *s, uint32_t pattern, uint32_t *words)
{
	struct ze *z = s->state;

	TRY(s, z, fill, "zeCommandListAppendMemoryFill", z->list, z->buffer, &pattern, sizeof(pattern), BYTES,
		NULL, 0, NULL);
	return bring(s, z, words, z->buffer, BYTES);
}

static int ze_copy(struct session *s, const uint32_t *in, uint32_t *out)
{
	struct ze *z = s->state;

	if (bring(s, z, z->buffer, in, BYTES) < 0 || bring(s, z, z->other, z->buffer, BYTES) < 0)
		return -1;
	return bring(s, z, out, z->other, BYTES);
}

static int launch(struct session *s, struct ze *z, ze_handle kernel, uint32_t seed)
{
	struct ze_groups groups = { PATTERN_WORDS / PATTERN_GROUP, 1, 1 };

	TRY(s, z, kernel_group, "zeKernelSetGroupSize", kernel, PATTERN_GROUP, 1, 1);
	TRY(s, z, kernel_argument, "zeKernelSetArgumentValue", kernel, 0, sizeof(z->buffer), &z->buffer);
	TRY(s, z, kernel_argument, "zeKernelSetArgumentValue", kernel, 1, sizeof(seed), &seed);
	TRY(s, z, launch, "zeCommandListAppendLaunchKernel", z->list, kernel, &groups, NULL, 0, NULL);
	return 0;
}

static int ze_kernel(struct session *s, uint32_t seed, uint32_t *words)
{
	struct ze *z = s->state;
	struct ze_module_desc desc = { .stype = ZE_MODULE_DESC, .format = ZE_FORMAT_SPIRV,
		.size = sizeof(level_zero_kernel), .module = (const uint8_t *)level_zero_kernel,
		.build_flags = "" };
	struct ze_kernel_desc entry = { .stype = ZE_KERNEL_DESC, .name = "prove" };
	ze_handle module, kernel;

	TRY(s, z, module_create, "zeModuleCreate", z->context, z->at, &desc, &module, NULL);
	TRY(s, z, kernel_create, "zeKernelCreate", module, &entry, &kernel);
	if (launch(s, z, kernel, seed) < 0 || bring(s, z, words, z->buffer, BYTES) < 0)
		return -1;
	z->kernel_destroy(kernel);
	z->module_destroy(module);
	return 0;
}

/* Twice, and the second time counts: the first one also pays for what the driver sets up. */
static int timed_copies(struct session *s, struct ze *z, void *at, void *host, size_t bytes, int64_t *up_us,
	int64_t *down_us)
{
	for (int i = 0; i < 2; i++) {
		int64_t start = backend_now_us();

		if (bring(s, z, at, host, bytes) < 0)
			return -1;
		*up_us = backend_now_us() - start;
		start = backend_now_us();
		if (bring(s, z, host, at, bytes) < 0)
			return -1;
		*down_us = backend_now_us() - start;
	}
	return 0;
}

static int ze_bandwidth(struct session *s, size_t bytes, int64_t *up_us, int64_t *down_us)
{
	struct ze *z = s->state;
	struct ze_memory_desc memory = { .stype = ZE_DEVICE_MEMORY_DESC };
	struct ze_desc pinned = { .stype = ZE_HOST_MEMORY_DESC };
	void *at, *host;
	int rv;

	TRY(s, z, alloc, "zeMemAllocDevice", z->context, &memory, bytes, sizeof(uint64_t), z->at, &at);
	TRY(s, z, alloc_host, "zeMemAllocHost", z->context, &pinned, bytes, sizeof(uint64_t), &host);
	memset(host, 0x5A, bytes);	/* its pages are there before the clock runs */
	rv = timed_copies(s, z, at, host, bytes, up_us, down_us);
	z->free(z->context, host);
	z->free(z->context, at);
	return rv;
}

static void ze_release(struct session *s)
{
	struct ze *z = s->state;

	z->free(z->context, z->buffer);
	z->free(z->context, z->other);
	z->list_destroy(z->list);
	z->context_destroy(z->context);
}

const struct backend backend_level_zero = {
	.name = "level-zero",
	.libraries = ze_libraries,
	.symbols = ze_symbols,
	.symbol_count = sizeof(ze_symbols) / sizeof(ze_symbols[0]),
	.codes = ze_codes,
	.code_count = sizeof(ze_codes) / sizeof(ze_codes[0]),
	.state_size = sizeof(struct ze),
	.environment = ze_environment,
	.init = ze_init,
	.count = ze_count,
	.identify = ze_identify,
	.context = ze_context,
	.fill = ze_fill,
	.copy = ze_copy,
	.kernel = ze_kernel,
	.bandwidth = ze_bandwidth,
	.release = ze_release,
};
