/* SPDX-License-Identifier: GPL-2.0-or-later
 * cuda.c - NVIDIA: the driver interface of CUDA (libcuda), without a toolkit
 *
 * The kernel is PTX text that the driver translates for whatever GPU there is: version 6.0 for sm_50 is older
 * than every driver and GPU that is still in use. The primary context is used, which programs use as well. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "gpu_check/backend.h"
#include "gpu_check/pattern.h"

typedef int cu_result;			/* CUresult: 0 = success */
typedef int cu_device;
typedef unsigned long long cu_address;	/* CUdeviceptr */
struct cu_uuid {
	unsigned char bytes[16];
};

#define CUDA_BUSY     46
#define BUSY_TRIES    20		/* 2 s: as long as a proof takes */
#define BUSY_PAUSE_NS 100000000
#define BYTES         (PATTERN_WORDS * sizeof(uint32_t))

struct cuda {
	cu_result (*init)(unsigned flags);
	cu_result (*driver_version)(int *version);
	cu_result (*device_count)(int *n);
	cu_result (*device)(cu_device *device, int ordinal);
	cu_result (*device_name)(char *name, int size, cu_device device);
	cu_result (*device_bus_id)(char *text, int size, cu_device device);
	cu_result (*device_uuid)(struct cu_uuid *uuid, cu_device device);
	cu_result (*instance_uuid)(struct cu_uuid *uuid, cu_device device);
	cu_result (*context_retain)(void **context, cu_device device);
	cu_result (*context_release)(cu_device device);
	cu_result (*context_current)(void *context);
	cu_result (*wait)(void);
	cu_result (*alloc)(cu_address *at, size_t bytes);
	cu_result (*free)(cu_address at);
	cu_result (*alloc_host)(void **at, size_t bytes);
	cu_result (*free_host)(void *at);
	cu_result (*fill)(cu_address at, unsigned pattern, size_t words);
	cu_result (*up)(cu_address to, const void *from, size_t bytes);
	cu_result (*down)(void *to, cu_address from, size_t bytes);
	cu_result (*across)(cu_address to, cu_address from, size_t bytes);
	cu_result (*module_load)(void **module, const void *image);
	cu_result (*module_function)(void **function, void *module, const char *name);
	cu_result (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		unsigned bz, unsigned shared, void *stream, void **params, void **extra);

	cu_device held;
	bool holding;
	cu_address buffer, other;
};

#define SYMBOL(name, member) { name, NULL, offsetof(struct cuda, member), false }
static const struct symbol_row cuda_symbols[] = {
	SYMBOL("cuInit", init),
	SYMBOL("cuDriverGetVersion", driver_version),
	SYMBOL("cuDeviceGetCount", device_count),
	SYMBOL("cuDeviceGet", device),
	SYMBOL("cuDeviceGetName", device_name),
	SYMBOL("cuDeviceGetPCIBusId", device_bus_id),
	SYMBOL("cuDeviceGetUuid", device_uuid),
	{ "cuDeviceGetUuid_v2", NULL, offsetof(struct cuda, instance_uuid), true },	/* since 11.4 */
	SYMBOL("cuDevicePrimaryCtxRetain", context_retain),
	{ "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease", offsetof(struct cuda, context_release),
		false },
	SYMBOL("cuCtxSetCurrent", context_current),
	SYMBOL("cuCtxSynchronize", wait),
	SYMBOL("cuMemAlloc_v2", alloc),
	SYMBOL("cuMemFree_v2", free),
	SYMBOL("cuMemAllocHost_v2", alloc_host),
	SYMBOL("cuMemFreeHost", free_host),
	SYMBOL("cuMemsetD32_v2", fill),
	SYMBOL("cuMemcpyHtoD_v2", up),
	SYMBOL("cuMemcpyDtoH_v2", down),
	SYMBOL("cuMemcpyDtoD_v2", across),
	SYMBOL("cuModuleLoadData", module_load),
	SYMBOL("cuModuleGetFunction", module_function),
	SYMBOL("cuLaunchKernel", launch),
};

static const struct code_row cuda_codes[] = {
	{ 2, "CUDA_ERROR_OUT_OF_MEMORY (2)", CAUSE_NO_MEMORY },
	{ 3, "CUDA_ERROR_NOT_INITIALIZED (3)", CAUSE_NO_DEVICE },
	{ 34, "CUDA_ERROR_STUB_LIBRARY (34)", CAUSE_STUB_LIBRARY },
	{ CUDA_BUSY, "CUDA_ERROR_DEVICE_UNAVAILABLE (46)", CAUSE_BUSY },
	{ 100, "CUDA_ERROR_NO_DEVICE (100)", CAUSE_NO_DEVICE },
	{ 101, "CUDA_ERROR_INVALID_DEVICE (101)", CAUSE_NO_DEVICE },
	{ 209, "CUDA_ERROR_NO_BINARY_FOR_GPU (209)", CAUSE_KERNEL_UNSUITED },
	{ 214, "CUDA_ERROR_ECC_UNCORRECTABLE (214)", CAUSE_LOST },
	{ 218, "CUDA_ERROR_INVALID_PTX (218)", CAUSE_KERNEL_UNSUITED },
	{ 221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND (221)", CAUSE_COMPILER },
	{ 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)", CAUSE_KERNEL_UNSUITED },
	{ 223, "CUDA_ERROR_JIT_COMPILATION_DISABLED (223)", CAUSE_COMPILER },
	{ 304, "CUDA_ERROR_OPERATING_SYSTEM (304)", CAUSE_FORBIDDEN },
	{ 700, "CUDA_ERROR_ILLEGAL_ADDRESS (700)", CAUSE_LOST },
	{ 702, "CUDA_ERROR_LAUNCH_TIMEOUT (702)", CAUSE_LOST },
	{ 719, "CUDA_ERROR_LAUNCH_FAILED (719)", CAUSE_LOST },
	{ 800, "CUDA_ERROR_NOT_PERMITTED (800)", CAUSE_FORBIDDEN },
	{ 802, "CUDA_ERROR_SYSTEM_NOT_READY (802)", CAUSE_FABRIC },
	{ 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)", CAUSE_MISMATCH },
	{ 804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE (804)", CAUSE_MISMATCH },
	{ 805, "CUDA_ERROR_MPS_CONNECTION_FAILED (805)", CAUSE_MPS },
	{ 806, "CUDA_ERROR_MPS_RPC_FAILURE (806)", CAUSE_MPS },
	{ 807, "CUDA_ERROR_MPS_SERVER_NOT_READY (807)", CAUSE_MPS },
	{ 808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED (808)", CAUSE_MPS },
	{ 809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED (809)", CAUSE_MPS },
	{ 810, "CUDA_ERROR_MPS_CLIENT_TERMINATED (810)", CAUSE_MPS },
	{ 999, "CUDA_ERROR_UNKNOWN (999)", CAUSE_LOST },
};

static const char *const cuda_libraries[] = { "libcuda.so.1", NULL };
static const char *const cuda_environment[] = {
	"CUDA_CACHE_DISABLE=1",		/* nothing is left in the user's home */
	"CUDA_MODULE_LOADING=LAZY",
	NULL
};

/* word[i] = (i ^ seed) * 2654435761 + (i << 7): pattern_kernel() */
static const char cuda_kernel_ptx[] =
	".version 6.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry prove(.param .u64 words, .param .u32 seed)\n"
	"{\n"
	"	.reg .b32 %r<10>;\n"
	"	.reg .b64 %a<5>;\n"
	"	ld.param.u64 %a1, [words];\n"
	"	ld.param.u32 %r1, [seed];\n"
	"	cvta.to.global.u64 %a2, %a1;\n"
	"	mov.u32 %r2, %ctaid.x;\n"
	"	mov.u32 %r3, %ntid.x;\n"
	"	mov.u32 %r4, %tid.x;\n"
	"	mad.lo.s32 %r5, %r2, %r3, %r4;\n"
	"	xor.b32 %r6, %r5, %r1;\n"
	"	mul.lo.s32 %r7, %r6, -1640531535;\n"
	"	shl.b32 %r8, %r5, 7;\n"
	"	add.s32 %r9, %r7, %r8;\n"
	"	mul.wide.u32 %a3, %r5, 4;\n"
	"	add.s64 %a4, %a2, %a3;\n"
	"	st.global.u32 [%a4], %r9;\n"
	"	ret;\n"
	"}\n";


/* The call, and its name for the text. */
#define TRY(s, c, call, name, ...)                             \
	do {                                                   \
		cu_result rc_ = (c)->call(__VA_ARGS__);        \
		if (rc_)                                       \
			return backend_failed(s, name, rc_);   \
	} while (0)

static int cuda_init(struct session *s)
{
	struct cuda *c = s->state;
	int version = 0;

	if (c->driver_version(&version) == 0)	/* works without a device, too */
		snprintf(s->version, sizeof(s->version), "CUDA %d.%d", version / 1000, version % 1000 / 10);
	TRY(s, c, init, "cuInit", 0);
	return 0;
}

static int cuda_count(struct session *s, int *n)
{
	struct cuda *c = s->state;

	TRY(s, c, device_count, "cuDeviceGetCount", n);
	return 0;
}

static void uuid_text(const char *kind, const struct cu_uuid *u, char *buf, size_t size)
{
	const unsigned char *b = u->bytes;

	snprintf(buf, size, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", kind,
		b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
		b[15]);
}

/* Of a MIG instance the older call gives the UUID of the whole GPU, the newer one its own. */
static void note_uuid(struct cuda *c, cu_device device, struct device_report *d)
{
	struct cu_uuid whole, own;

	if (c->device_uuid(&whole, device))
		return;
	uuid_text("GPU", &whole, d->uuid, sizeof(d->uuid));
	if (c->instance_uuid && c->instance_uuid(&own, device) == 0 && memcmp(&own, &whole, sizeof(own)))
		uuid_text("MIG", &own, d->uuid, sizeof(d->uuid));
}

static int cuda_identify(struct session *s, int ordinal, struct device_report *d)
{
	struct cuda *c = s->state;
	char bus[32] = "";
	struct pci_address at;
	cu_device device;

	TRY(s, c, device, "cuDeviceGet", &device, ordinal);
	TRY(s, c, device_name, "cuDeviceGetName", d->name, sizeof(d->name), device);
	TRY(s, c, device_bus_id, "cuDeviceGetPCIBusId", bus, sizeof(bus), device);
	if (pci_parse(bus, &at) < 0)
		return backend_fault(s, CAUSE_API, "cuDeviceGetPCIBusId: \"%.24s\" is no bus id", bus);
	pci_text(&at, d->bus_id);
	note_uuid(c, device, d);
	d->kind = DEVICE_GPU;
	return 0;
}

/* A GPU in exclusive mode has one process at a time: the task beside this one may be proving it just now. */
static cu_result retain_patiently(struct cuda *c, void **context, cu_device device)
{
	cu_result rc = c->context_retain(context, device);

	for (int i = 0; rc == CUDA_BUSY && i < BUSY_TRIES; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = BUSY_PAUSE_NS }, NULL);
		rc = c->context_retain(context, device);
	}
	return rc;
}

static int cuda_context(struct session *s, int ordinal)
{
	struct cuda *c = s->state;
	cu_result rc;
	void *context;
	cu_device device;

	TRY(s, c, device, "cuDeviceGet", &device, ordinal);
	rc = retain_patiently(c, &context, device);
	if (rc)
		return backend_failed(s, "cuDevicePrimaryCtxRetain", rc);
	c->held = device;
	c->holding = true;
	TRY(s, c, context_current, "cuCtxSetCurrent", context);
	TRY(s, c, alloc, "cuMemAlloc", &c->buffer, BYTES);
	TRY(s, c, alloc, "cuMemAlloc", &c->other, BYTES);
	return 0;
}

static int cuda_fill(struct session *s, uint32_t pattern, uint32_t *words)
{
	struct cuda *c = s->state;

	TRY(s, c, fill, "cuMemsetD32", c->buffer, pattern, PATTERN_WORDS);
	TRY(s, c, wait, "cuCtxSynchronize after cuMemsetD32");
	TRY(s, c, down, "cuMemcpyDtoH", words, c->buffer, BYTES);
	return 0;
}

static int cuda_copy(struct session *s, const uint32_t *in, uint32_t *out)
{
	struct cuda *c = s->state;

	TRY(s, c, up, "cuMemcpyHtoD", c->buffer, in, BYTES);
	TRY(s, c, across, "cuMemcpyDtoD", c->other, c->buffer, BYTES);
	TRY(s, c, wait, "cuCtxSynchronize after cuMemcpyDtoD");
	TRY(s, c, down, "cuMemcpyDtoH", out, c->other, BYTES);
	return 0;
}

static int cuda_kernel(struct session *s, uint32_t seed, uint32_t *words)
{
	struct cuda *c = s->state;
	void *module, *function, *params[] = { &c->buffer, &seed };

	TRY(s, c, module_load, "cuModuleLoadData", &module, cuda_kernel_ptx);
	TRY(s, c, module_function, "cuModuleGetFunction", &function, module, "prove");
	TRY(s, c, launch, "cuLaunchKernel", function, PATTERN_WORDS / PATTERN_GROUP, 1, 1, PATTERN_GROUP, 1,
		1, 0, NULL, params, NULL);
	TRY(s, c, wait, "cuCtxSynchronize after cuLaunchKernel");
	TRY(s, c, down, "cuMemcpyDtoH", words, c->buffer, BYTES);
	return 0;		/* the module goes with the context */
}

/* Twice, and the second time counts: the first one also pays for what the driver sets up. */
static int timed_copies(struct session *s, struct cuda *c, cu_address at, void *host, size_t bytes,
	int64_t *up_us, int64_t *down_us)
{
	for (int i = 0; i < 2; i++) {
		int64_t start = backend_now_us();

		TRY(s, c, up, "cuMemcpyHtoD", at, host, bytes);
		TRY(s, c, wait, "cuCtxSynchronize after cuMemcpyHtoD");
		*up_us = backend_now_us() - start;
		start = backend_now_us();
		TRY(s, c, down, "cuMemcpyDtoH", host, at, bytes);
		*down_us = backend_now_us() - start;
	}
	return 0;
}

static int cuda_bandwidth(struct session *s, size_t bytes, int64_t *up_us, int64_t *down_us)
{
	struct cuda *c = s->state;
	cu_address at;
	void *host;
	int rv;

	TRY(s, c, alloc, "cuMemAlloc", &at, bytes);
	TRY(s, c, alloc_host, "cuMemAllocHost", &host, bytes);
	memset(host, 0x5A, bytes);	/* its pages are there before the clock runs */
	rv = timed_copies(s, c, at, host, bytes, up_us, down_us);
	c->free_host(host);
	c->free(at);
	return rv;
}

static void cuda_release(struct session *s)
{
	struct cuda *c = s->state;

	c->free(c->buffer);
	c->free(c->other);
	c->context_current(NULL);
	if (c->holding)
		c->context_release(c->held);
	c->holding = false;
}

const struct backend backend_cuda = {
	.name = "cuda",
	.libraries = cuda_libraries,
	.symbols = cuda_symbols,
	.symbol_count = sizeof(cuda_symbols) / sizeof(cuda_symbols[0]),
	.codes = cuda_codes,
	.code_count = sizeof(cuda_codes) / sizeof(cuda_codes[0]),
	.state_size = sizeof(struct cuda),
	.environment = cuda_environment,
	.init = cuda_init,
	.count = cuda_count,
	.identify = cuda_identify,
	.context = cuda_context,
	.fill = cuda_fill,
	.copy = cuda_copy,
	.kernel = cuda_kernel,
	.bandwidth = cuda_bandwidth,
	.release = cuda_release,
};
