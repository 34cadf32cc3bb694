/* SPDX-License-Identifier: GPL-2.0-or-later
 * opencl.c - any vendor: OpenCL 1.2 (libOpenCL)
 *
 * An installation of OpenCL may have processors as devices, and programs that ask for "any device" then run
 * on them. So all kinds are looked at: where there are GPUs, they are counted and processors are left out;
 * where there are none, the processors are shown as what answers instead. */
#include <stdio.h>
#include <string.h>
#include "gpu_check/backend.h"
#include "gpu_check/pattern.h"

typedef int cl_result;			/* cl_int: 0 = success, errors are negative */
typedef void *cl_handle;

#define CL_TYPE_CPU         0x2u
#define CL_TYPE_GPU         0x4u
#define CL_TYPE_ACCELERATOR 0x8u
#define CL_TYPE_ALL         0xFFFFFFFFu
#define CL_NOT_FOUND        (-1)
#define CL_TRUE             1u
#define CL_READ_WRITE       0x1u
#define CL_ALLOC_HOST       0x10u	/* memory of the host that the device reaches directly */
#define CL_MAP_BOTH         0x3u
#define CL_PLATFORMS_MAX    16

enum {				/* cl_device_info, cl_platform_info */
	CL_PLATFORM_NAME = 0x0902,
	CL_DEVICE_TYPE = 0x1000,
	CL_DEVICE_NAME = 0x102B,
	CL_DRIVER_VERSION = 0x102D,
	CL_NV_BUS = 0x4008,
	CL_NV_SLOT = 0x4009,
	CL_NV_DOMAIN = 0x400A,
	CL_AMD_TOPOLOGY = 0x4037,
	CL_DEVICE_UUID = 0x106A,
	CL_PCI_BUS_INFO = 0x410F,
};

struct cl {
	cl_result (*platforms)(uint32_t room, cl_handle *platforms, uint32_t *n);
	cl_result (*platform_info)(cl_handle platform, uint32_t what, size_t size, void *value, size_t *got);
	cl_result (*devices)(cl_handle platform, uint64_t type, uint32_t room, cl_handle *devices,
		uint32_t *n);
	cl_result (*device_info)(cl_handle device, uint32_t what, size_t size, void *value, size_t *got);
	cl_handle (*context_create)(const intptr_t *properties, uint32_t n, const cl_handle *devices,
		void (*notify)(void), void *data, cl_result *rc);
	cl_result (*context_release)(cl_handle context);
	cl_handle (*queue_create)(cl_handle context, cl_handle device, uint64_t properties, cl_result *rc);
	cl_result (*queue_release)(cl_handle queue);
	cl_handle (*buffer_create)(cl_handle context, uint64_t flags, size_t bytes, void *host,
		cl_result *rc);
	cl_result (*buffer_release)(cl_handle buffer);
	cl_result (*fill)(cl_handle queue, cl_handle buffer, const void *pattern, size_t pattern_size,
		size_t at, size_t bytes, uint32_t n, const cl_handle *wait, cl_handle *event);
	cl_result (*read)(cl_handle queue, cl_handle buffer, uint32_t blocking, size_t at, size_t bytes,
		void *to, uint32_t n, const cl_handle *wait, cl_handle *event);
	cl_result (*write)(cl_handle queue, cl_handle buffer, uint32_t blocking, size_t at, size_t bytes,
		const void *from, uint32_t n, const cl_handle *wait, cl_handle *event);
	cl_result (*copy)(cl_handle queue, cl_handle from, cl_handle to, size_t from_at, size_t to_at,
		size_t bytes, uint32_t n, const cl_handle *wait, cl_handle *event);
	void *(*map)(cl_handle queue, cl_handle buffer, uint32_t blocking, uint64_t flags, size_t at,
		size_t bytes, uint32_t n, const cl_handle *wait, cl_handle *event, cl_result *rc);
	cl_result (*unmap)(cl_handle queue, cl_handle buffer, void *at, uint32_t n, const cl_handle *wait,
		cl_handle *event);
	cl_handle (*program_create)(cl_handle context, uint32_t n, const char **text, const size_t *length,
		cl_result *rc);
	cl_result (*program_build)(cl_handle program, uint32_t n, const cl_handle *devices,
		const char *options, void (*notify)(void), void *data);
	cl_result (*program_release)(cl_handle program);
	cl_handle (*kernel_create)(cl_handle program, const char *name, cl_result *rc);
	cl_result (*kernel_release)(cl_handle kernel);
	cl_result (*kernel_argument)(cl_handle kernel, uint32_t index, size_t size, const void *value);
	cl_result (*launch)(cl_handle queue, cl_handle kernel, uint32_t dimensions, const size_t *offset,
		const size_t *global, const size_t *local, uint32_t n, const cl_handle *wait,
		cl_handle *event);
	cl_result (*finish)(cl_handle queue);

	int count;
	cl_handle device[REPORT_DEVICES_MAX];
	cl_handle at, context, queue, buffer, other;
};

#define SYMBOL(name, member) { name, NULL, offsetof(struct cl, member), false }
static const struct symbol_row cl_symbols[] = {
	SYMBOL("clGetPlatformIDs", platforms),
	SYMBOL("clGetPlatformInfo", platform_info),
	SYMBOL("clGetDeviceIDs", devices),
	SYMBOL("clGetDeviceInfo", device_info),
	SYMBOL("clCreateContext", context_create),
	SYMBOL("clReleaseContext", context_release),
	SYMBOL("clCreateCommandQueue", queue_create),
	SYMBOL("clReleaseCommandQueue", queue_release),
	SYMBOL("clCreateBuffer", buffer_create),
	SYMBOL("clReleaseMemObject", buffer_release),
	SYMBOL("clEnqueueFillBuffer", fill),
	SYMBOL("clEnqueueReadBuffer", read),
	SYMBOL("clEnqueueWriteBuffer", write),
	SYMBOL("clEnqueueCopyBuffer", copy),
	SYMBOL("clEnqueueMapBuffer", map),
	SYMBOL("clEnqueueUnmapMemObject", unmap),
	SYMBOL("clCreateProgramWithSource", program_create),
	SYMBOL("clBuildProgram", program_build),
	SYMBOL("clReleaseProgram", program_release),
	SYMBOL("clCreateKernel", kernel_create),
	SYMBOL("clReleaseKernel", kernel_release),
	SYMBOL("clSetKernelArg", kernel_argument),
	SYMBOL("clEnqueueNDRangeKernel", launch),
	SYMBOL("clFinish", finish),
};

static const struct code_row cl_codes[] = {
	{ -1, "CL_DEVICE_NOT_FOUND (-1)", CAUSE_NO_DEVICE },
	{ -2, "CL_DEVICE_NOT_AVAILABLE (-2)", CAUSE_BUSY },
	{ -3, "CL_COMPILER_NOT_AVAILABLE (-3)", CAUSE_COMPILER },
	{ -4, "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)", CAUSE_NO_MEMORY },
	{ -5, "CL_OUT_OF_RESOURCES (-5)", CAUSE_LOST },	/* NVIDIA's word for a kernel that failed */
	{ -6, "CL_OUT_OF_HOST_MEMORY (-6)", CAUSE_NO_MEMORY },
	{ -11, "CL_BUILD_PROGRAM_FAILURE (-11)", CAUSE_COMPILER },
	{ -15, "CL_COMPILE_PROGRAM_FAILURE (-15)", CAUSE_COMPILER },
	{ -44, "CL_INVALID_PROGRAM (-44)", CAUSE_COMPILER },
	{ -45, "CL_INVALID_PROGRAM_EXECUTABLE (-45)", CAUSE_COMPILER },
	{ -1001, "CL_PLATFORM_NOT_FOUND_KHR (-1001)", CAUSE_NO_ICD },
};

static const char *const cl_libraries[] = { "libOpenCL.so.1", NULL };
static const char *const cl_environment[] = {
	/* nothing is left in the user's home; PoCL's folder is set by the parent */
	"CUDA_CACHE_DISABLE=1",
	"NEO_CACHE_PERSISTENT=0",
	"AMD_COMGR_CACHE=0",
	NULL
};

static const char *const cl_kernel_source[] = {
	"__kernel void prove(__global uint *words, uint seed)\n"
	"{\n"
	"	uint i = get_global_id(0);\n"
	"	words[i] = " PATTERN_KERNEL_SOURCE ";\n"
	"}\n"
};

#define BYTES (PATTERN_WORDS * sizeof(uint32_t))

/* The call, and its name for the text. */
#define TRY(s, c, call, name, ...)                             \
	do {                                                   \
		cl_result rc_ = (c)->call(__VA_ARGS__);        \
		if (rc_)                                       \
			return backend_failed(s, name, rc_);   \
	} while (0)

/* The same for calls that return a handle; they end with &rc, an int of the caller. */
#define MAKE(s, to, c, call, name, ...)                                          \
	do {                                                                     \
		(to) = (c)->call(__VA_ARGS__);                                   \
		if (!(to) || rc)                                                 \
			return backend_failed(s, name, rc);                      \
	} while (0)

/* --- devices --------------------------------------------------------------------------------------- */

static cl_result devices_of(struct cl *c, cl_handle platform, uint32_t type)
{
	uint32_t n = 0, room = (uint32_t)(REPORT_DEVICES_MAX - c->count);
	cl_result rc;

	if (room == 0)
		return 0;
	rc = c->devices(platform, type, room, &c->device[c->count], &n);
	if (rc == 0)
		c->count += (int)(n < room ? n : room);
	return rc == CL_NOT_FOUND ? 0 : rc;
}

static int all_devices(struct session *s, const cl_handle *platform, uint32_t n, uint32_t type)
{
	for (uint32_t i = 0; i < n; i++) {
		cl_result rc = devices_of(s->state, platform[i], type);

		if (rc)
			return backend_failed(s, "clGetDeviceIDs", rc);
	}
	return 0;
}

static int cl_init(struct session *s)
{
	struct cl *c = s->state;
	cl_handle platform[CL_PLATFORMS_MAX];
	uint32_t n = 0;

	TRY(s, c, platforms, "clGetPlatformIDs", CL_PLATFORMS_MAX, platform, &n);
	if (n > 0)
		c->platform_info(platform[0], CL_PLATFORM_NAME, sizeof(s->version), s->version, NULL);
	s->version[sizeof(s->version) - 1] = '\0';
	return 0;
}

static int cl_count(struct session *s, int *n)
{
	struct cl *c = s->state;
	cl_handle platform[CL_PLATFORMS_MAX];
	uint32_t platforms = 0;

	TRY(s, c, platforms, "clGetPlatformIDs", CL_PLATFORMS_MAX, platform, &platforms);
	if (platforms > CL_PLATFORMS_MAX)
		platforms = CL_PLATFORMS_MAX;
	if (!s->any_kind && all_devices(s, platform, platforms, CL_TYPE_GPU | CL_TYPE_ACCELERATOR) < 0)
		return -1;
	if (c->count == 0 && all_devices(s, platform, platforms, CL_TYPE_ALL) < 0)
		return -1;
	*n = c->count;
	return 0;
}

static uint32_t info_number(struct cl *c, cl_handle device, uint32_t what, bool *known)
{
	uint32_t n = 0;
	size_t got = 0;

	*known = *known && c->device_info(device, what, sizeof(n), &n, &got) == 0 && got == sizeof(n);
	return n;
}

/* Each vendor has its own way to tell, and Khronos one for all. */
static void note_bus_id(struct cl *c, cl_handle device, char buf[PCI_TEXT_MAX])
{
	struct { uint32_t domain, bus, device, function; } pci = { 0, 0, 0, 0 };
	struct { uint32_t type; unsigned char unused[17], bus, device, function; } amd;
	bool known = true;
	uint32_t bus, slot, domain;

	if (c->device_info(device, CL_PCI_BUS_INFO, sizeof(pci), &pci, NULL) == 0) {
		pci_text(&(struct pci_address){ pci.domain, (uint8_t)pci.bus, (uint8_t)pci.device,
			(uint8_t)pci.function }, buf);
		return;
	}
	bus = info_number(c, device, CL_NV_BUS, &known);
	slot = info_number(c, device, CL_NV_SLOT, &known);
	if (known) {
		bool has_domain = true;

		domain = info_number(c, device, CL_NV_DOMAIN, &has_domain);
		pci_text(&(struct pci_address){ has_domain ? domain : 0, (uint8_t)bus, (uint8_t)(slot >> 3),
			(uint8_t)(slot & 7) }, buf);
	} else if (c->device_info(device, CL_AMD_TOPOLOGY, sizeof(amd), &amd, NULL) == 0 && amd.type == 1) {
		pci_text(&(struct pci_address){ 0, amd.bus, amd.device, amd.function }, buf);
	}
}

static enum device_kind kind_of(uint64_t type)
{
	return type & CL_TYPE_GPU ? DEVICE_GPU : type & CL_TYPE_CPU ? DEVICE_CPU : DEVICE_OTHER;
}

static int cl_identify(struct session *s, int device, struct device_report *d)
{
	struct cl *c = s->state;
	uint64_t type = 0;
	unsigned char u[16];

	TRY(s, c, device_info, "clGetDeviceInfo", c->device[device], CL_DEVICE_TYPE, sizeof(type), &type,
		NULL);
	TRY(s, c, device_info, "clGetDeviceInfo", c->device[device], CL_DEVICE_NAME, sizeof(d->name), d->name,
		NULL);
	d->name[sizeof(d->name) - 1] = '\0';
	d->kind = kind_of(type);
	note_bus_id(c, c->device[device], d->bus_id);
	if (c->device_info(c->device[device], CL_DEVICE_UUID, sizeof(u), u, NULL) == 0)
		for (size_t i = 0, n = 0; i < sizeof(u); i++)
			n += (size_t)snprintf(d->uuid + n, sizeof(d->uuid) - n,
				i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", u[i]);
	return 0;
}

/* --- what it can do -------------------------------------------------------------------------------- */

static int cl_context(struct session *s, int device)
{
	struct cl *c = s->state;
	cl_result rc = 0;

	c->at = c->device[device];
	MAKE(s, c->context, c, context_create, "clCreateContext", NULL, 1, &c->at, NULL, NULL, &rc);
	MAKE(s, c->queue, c, queue_create, "clCreateCommandQueue", c->context, c->at, 0, &rc);
	MAKE(s, c->buffer, c, buffer_create, "clCreateBuffer", c->context, CL_READ_WRITE, BYTES, NULL, &rc);
	MAKE(s, c->other, c, buffer_create, "clCreateBuffer", c->context, CL_READ_WRITE, BYTES, NULL, &rc);
	return 0;
}

static int cl_fill(struct session *s, uint32_t pattern, uint32_t *words)
{
	struct cl *c = s->state;

	TRY(s, c, fill, "clEnqueueFillBuffer", c->queue, c->buffer, &pattern, sizeof(pattern), 0, BYTES, 0,
		NULL, NULL);
	TRY(s, c, finish, "clFinish after clEnqueueFillBuffer", c->queue);
	TRY(s, c, read, "clEnqueueReadBuffer", c->queue, c->buffer, CL_TRUE, 0, BYTES, words, 0, NULL, NULL);
	return 0;
}

static int cl_copy(struct session *s, const uint32_t *in, uint32_t *out)
{
	struct cl *c = s->state;

	TRY(s, c, write, "clEnqueueWriteBuffer", c->queue, c->buffer, CL_TRUE, 0, BYTES, in, 0, NULL, NULL);
	TRY(s, c, copy, "clEnqueueCopyBuffer", c->queue, c->buffer, c->other, 0, 0, BYTES, 0, NULL, NULL);
	TRY(s, c, finish, "clFinish after clEnqueueCopyBuffer", c->queue);
	TRY(s, c, read, "clEnqueueReadBuffer", c->queue, c->other, CL_TRUE, 0, BYTES, out, 0, NULL, NULL);
	return 0;
}

static int launch(struct session *s, struct cl *c, cl_handle kernel, uint32_t seed)
{
	const size_t global = PATTERN_WORDS;

	TRY(s, c, kernel_argument, "clSetKernelArg", kernel, 0, sizeof(c->buffer), &c->buffer);
	TRY(s, c, kernel_argument, "clSetKernelArg", kernel, 1, sizeof(seed), &seed);
	TRY(s, c, launch, "clEnqueueNDRangeKernel", c->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
	TRY(s, c, finish, "clFinish after clEnqueueNDRangeKernel", c->queue);
	return 0;
}

static int cl_kernel(struct session *s, uint32_t seed, uint32_t *words)
{
	struct cl *c = s->state;
	cl_handle program, kernel;
	cl_result rc = 0;

	MAKE(s, program, c, program_create, "clCreateProgramWithSource", c->context, 1,
		(const char **)cl_kernel_source, NULL, &rc);
	TRY(s, c, program_build, "clBuildProgram", program, 1, &c->at, "", NULL, NULL);
	MAKE(s, kernel, c, kernel_create, "clCreateKernel", program, "prove", &rc);
	if (launch(s, c, kernel, seed) < 0)
		return -1;
	TRY(s, c, read, "clEnqueueReadBuffer", c->queue, c->buffer, CL_TRUE, 0, BYTES, words, 0, NULL, NULL);
	c->kernel_release(kernel);
	c->program_release(program);
	return 0;
}

/* Twice, and the second time counts: the first one also pays for what the driver sets up. */
static int timed_copies(struct session *s, struct cl *c, cl_handle at, void *host, size_t bytes,
	int64_t *up_us, int64_t *down_us)
{
	for (int i = 0; i < 2; i++) {
		int64_t start = backend_now_us();

		TRY(s, c, write, "clEnqueueWriteBuffer", c->queue, at, CL_TRUE, 0, bytes, host, 0, NULL,
			NULL);
		*up_us = backend_now_us() - start;
		start = backend_now_us();
		TRY(s, c, read, "clEnqueueReadBuffer", c->queue, at, CL_TRUE, 0, bytes, host, 0, NULL, NULL);
		*down_us = backend_now_us() - start;
	}
	return 0;
}

static int cl_bandwidth(struct session *s, size_t bytes, int64_t *up_us, int64_t *down_us)
{
	struct cl *c = s->state;
	cl_handle at, pinned;
	cl_result rc = 0;
	void *host;
	int rv;

	MAKE(s, at, c, buffer_create, "clCreateBuffer", c->context, CL_READ_WRITE, bytes, NULL, &rc);
	MAKE(s, pinned, c, buffer_create, "clCreateBuffer", c->context, CL_READ_WRITE | CL_ALLOC_HOST, bytes,
		NULL, &rc);
	MAKE(s, host, c, map, "clEnqueueMapBuffer", c->queue, pinned, CL_TRUE, CL_MAP_BOTH, 0, bytes, 0, NULL,
		NULL, &rc);
	memset(host, 0x5A, bytes);	/* its pages are there before the clock runs */
	rv = timed_copies(s, c, at, host, bytes, up_us, down_us);
	c->unmap(c->queue, pinned, host, 0, NULL, NULL);
	c->finish(c->queue);
	c->buffer_release(pinned);
	c->buffer_release(at);
	return rv;
}

static void cl_release(struct session *s)
{
	struct cl *c = s->state;

	c->buffer_release(c->buffer);
	c->buffer_release(c->other);
	c->queue_release(c->queue);
	c->context_release(c->context);
}

const struct backend backend_opencl = {
	.name = "opencl",
	.libraries = cl_libraries,
	.symbols = cl_symbols,
	.symbol_count = sizeof(cl_symbols) / sizeof(cl_symbols[0]),
	.codes = cl_codes,
	.code_count = sizeof(cl_codes) / sizeof(cl_codes[0]),
	.state_size = sizeof(struct cl),
	.environment = cl_environment,
	.init = cl_init,
	.count = cl_count,
	.identify = cl_identify,
	.context = cl_context,
	.fill = cl_fill,
	.copy = cl_copy,
	.kernel = cl_kernel,
	.bandwidth = cl_bandwidth,
	.release = cl_release,
};
