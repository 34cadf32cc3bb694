/* SPDX-License-Identifier: GPL-2.0-or-later
 * hip.c - AMD: the run-time library of HIP (libamdhip64), and its compiler (hiprtc) where it is there
 *
 * hipGetDeviceProperties is left alone: its structure has grown, and its name with it. hipMemsetD32 launches
 * a kernel of the library's own, so that memory which was filled is already more than an answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gpu_check/backend.h"
#include "gpu_check/pattern.h"

typedef int hip_result;			/* hipError_t, hiprtcResult: 0 = success */

#define HIP_TO_DEVICE   1		/* hipMemcpyKind */
#define HIP_TO_HOST     2
#define HIP_ON_DEVICE   3
#define HIP_TEXT        64

struct hip {
	hip_result (*init)(unsigned flags);
	hip_result (*runtime_version)(int *version);
	hip_result (*device_count)(int *n);
	hip_result (*device_set)(int device);
	hip_result (*device_bus_id)(char *text, int size, int device);
	hip_result (*device_name)(char *name, int size, int device);
	hip_result (*device_uuid)(unsigned char *uuid, int device);	/* 16 bytes */
	hip_result (*wait)(void);
	hip_result (*alloc)(void **at, size_t bytes);
	hip_result (*free)(void *at);
	hip_result (*alloc_host)(void **at, size_t bytes, unsigned flags);
	hip_result (*free_host)(void *at);
	hip_result (*fill)(void *at, int pattern, size_t words);
	hip_result (*copy)(void *to, const void *from, size_t bytes, int kind);
	hip_result (*module_load)(void **module, const void *image);
	hip_result (*module_unload)(void *module);
	hip_result (*module_function)(void **function, void *module, const char *name);
	hip_result (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		unsigned bz, unsigned shared, void *stream, void **params, void **extra);

	void *buffer, *other;
};

/* hiprtc: it was part of libamdhip64 at first. */
struct hiprtc {
	hip_result (*create)(void **program, const char *source, const char *name, int headers,
		const char **header, const char **header_name);
	hip_result (*compile)(void *program, int options, const char **option);
	hip_result (*size)(void *program, size_t *bytes);
	hip_result (*code)(void *program, char *code);
	hip_result (*destroy)(void **program);
};

#define SYMBOL(name, member) { name, NULL, offsetof(struct hip, member), false }
static const struct symbol_row hip_symbols[] = {
	SYMBOL("hipInit", init),
	SYMBOL("hipRuntimeGetVersion", runtime_version),
	SYMBOL("hipGetDeviceCount", device_count),
	SYMBOL("hipSetDevice", device_set),
	SYMBOL("hipDeviceGetPCIBusId", device_bus_id),
	SYMBOL("hipDeviceGetName", device_name),
	{ "hipDeviceGetUuid", NULL, offsetof(struct hip, device_uuid), true },	/* since ROCm 5.2 */
	SYMBOL("hipDeviceSynchronize", wait),
	SYMBOL("hipMalloc", alloc),
	SYMBOL("hipFree", free),
	SYMBOL("hipHostMalloc", alloc_host),
	SYMBOL("hipHostFree", free_host),
	SYMBOL("hipMemsetD32", fill),
	SYMBOL("hipMemcpy", copy),
	SYMBOL("hipModuleLoadData", module_load),
	SYMBOL("hipModuleUnload", module_unload),
	SYMBOL("hipModuleGetFunction", module_function),
	SYMBOL("hipModuleLaunchKernel", launch),
};

#define RTC(name, member) { name, NULL, offsetof(struct hiprtc, member), false }
static const struct symbol_row hiprtc_symbols[] = {
	RTC("hiprtcCreateProgram", create),  RTC("hiprtcCompileProgram", compile),
		RTC("hiprtcGetCodeSize", size),
	RTC("hiprtcGetCode", code),          RTC("hiprtcDestroyProgram", destroy),
};

static const struct code_row hip_codes[] = {
	{ 2, "hipErrorOutOfMemory (2)", CAUSE_NO_MEMORY },
	{ 3, "hipErrorNotInitialized (3)", CAUSE_NO_DRIVER },
	{ 35, "hipErrorInsufficientDriver (35)", CAUSE_MISMATCH },
	{ 100, "hipErrorNoDevice (100)", CAUSE_NO_DEVICE },
	{ 101, "hipErrorInvalidDevice (101)", CAUSE_NO_DEVICE },
	{ 209, "hipErrorNoBinaryForGpu (209)", CAUSE_KERNEL_UNSUITED },
	{ 214, "hipErrorECCNotCorrectable (214)", CAUSE_LOST },
	{ 304, "hipErrorOperatingSystem (304)", CAUSE_FORBIDDEN },
	{ 700, "hipErrorIllegalAddress (700)", CAUSE_LOST },
	{ 702, "hipErrorLaunchTimeOut (702)", CAUSE_LOST },
	{ 719, "hipErrorLaunchFailure (719)", CAUSE_LOST },
	{ 999, "hipErrorUnknown (999)", CAUSE_LOST },
};

static const char *const hip_libraries[] = { "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
	"libamdhip64.so", NULL };
static const char *const hiprtc_libraries[] = { "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5",
	"libhiprtc.so", NULL };
static const char *const hip_environment[] = {
	"AMD_COMGR_CACHE=0",		/* nothing is left in the user's home */
	NULL
};

static const char hip_kernel_source[] =
	"extern \"C\" __global__ void prove(unsigned *words, unsigned seed)\n"
	"{\n"
	"	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	words[i] = " PATTERN_KERNEL_SOURCE ";\n"
	"}\n";

#define BYTES (PATTERN_WORDS * sizeof(uint32_t))

/* The call, and its name for the text. */
#define TRY(s, h, call, name, ...)                             \
	do {                                                   \
		hip_result rc_ = (h)->call(__VA_ARGS__);       \
		if (rc_)                                       \
			return backend_failed(s, name, rc_);   \
	} while (0)

static int hip_init(struct session *s)
{
	struct hip *h = s->state;
	int version = 0;

	TRY(s, h, init, "hipInit", 0);
	if (h->runtime_version(&version) == 0)
		snprintf(s->version, sizeof(s->version), "HIP %d.%d", version / 10000000,
			version / 100000 % 100);
	return 0;
}

static int hip_count(struct session *s, int *n)
{
	struct hip *h = s->state;

	TRY(s, h, device_count, "hipGetDeviceCount", n);
	return 0;
}

/* 16 letters in newer versions, bytes in older ones. */
static void note_uuid(const unsigned char u[16], char *buf, size_t size)
{
	bool letters = true;
	size_t n = (size_t)snprintf(buf, size, "GPU-");

	for (int i = 0; i < 16; i++)
		letters = letters && u[i] >= '0' && u[i] <= 'f';
	for (int i = 0; i < 16 && n + 2 < size; i++)
		n += (size_t)snprintf(buf + n, size - n, letters ? "%c" : "%02x", u[i]);
}

static int hip_identify(struct session *s, int device, struct device_report *d)
{
	struct hip *h = s->state;
	unsigned char uuid[16];
	char bus[HIP_TEXT] = "";
	struct pci_address at;

	TRY(s, h, device_name, "hipDeviceGetName", d->name, sizeof(d->name), device);
	TRY(s, h, device_bus_id, "hipDeviceGetPCIBusId", bus, sizeof(bus), device);
	if (pci_parse(bus, &at) < 0)
		return backend_fault(s, CAUSE_API, "hipDeviceGetPCIBusId: \"%.24s\" is no bus id", bus);
	pci_text(&at, d->bus_id);
	if (h->device_uuid && h->device_uuid(uuid, device) == 0)
		note_uuid(uuid, d->uuid, sizeof(d->uuid));
	d->kind = DEVICE_GPU;
	return 0;
}

static int hip_context(struct session *s, int device)
{
	struct hip *h = s->state;

	TRY(s, h, device_set, "hipSetDevice", device);
	TRY(s, h, alloc, "hipMalloc", &h->buffer, BYTES);
	TRY(s, h, alloc, "hipMalloc", &h->other, BYTES);
	return 0;
}

static int hip_fill(struct session *s, uint32_t pattern, uint32_t *words)
{
	struct hip *h = s->state;

	TRY(s, h, fill, "hipMemsetD32", h->buffer, (int)pattern, PATTERN_WORDS);
	TRY(s, h, wait, "hipDeviceSynchronize after hipMemsetD32");
	TRY(s, h, copy, "hipMemcpy to the host", words, h->buffer, BYTES, HIP_TO_HOST);
	return 0;
}

static int hip_copy(struct session *s, const uint32_t *in, uint32_t *out)
{
	struct hip *h = s->state;

	TRY(s, h, copy, "hipMemcpy to the device", h->buffer, in, BYTES, HIP_TO_DEVICE);
	TRY(s, h, copy, "hipMemcpy on the device", h->other, h->buffer, BYTES, HIP_ON_DEVICE);
	TRY(s, h, wait, "hipDeviceSynchronize after hipMemcpy");
	TRY(s, h, copy, "hipMemcpy to the host", out, h->other, BYTES, HIP_TO_HOST);
	return 0;
}

/* false: this installation has no compiler. */
static bool find_compiler(struct session *s, struct hiprtc *rtc)
{
	const size_t n = sizeof(hiprtc_symbols) / sizeof(hiprtc_symbols[0]);
	struct library l;
	enum cause cause;
	char text[REPORT_TEXT_MAX];
	const char *missing;

	if (library_open(&l, hiprtc_libraries, &cause, text, sizeof(text)) == 0 &&
		library_symbols(&l, hiprtc_symbols, n, rtc, &missing) == 0)
		return true;
	return library_symbols(&s->library, hiprtc_symbols, n, rtc, &missing) == 0;
}

static int compile(struct session *s, struct hiprtc *rtc, char **code)
{
	void *program;
	size_t bytes = 0;

	if (rtc->create(&program, hip_kernel_source, "prove.hip", 0, NULL, NULL))
		return backend_fault(s, CAUSE_COMPILER, "hiprtcCreateProgram failed");
	if (rtc->compile(program, 0, NULL) || rtc->size(program, &bytes) ||
		!(*code = malloc(bytes ? bytes : 1)))
		return backend_fault(s, CAUSE_COMPILER, "hiprtcCompileProgram failed");
	if (rtc->code(program, *code))
		return backend_fault(s, CAUSE_COMPILER, "hiprtcGetCode failed");
	rtc->destroy(&program);
	return 0;
}

static int run_kernel(struct session *s, struct hip *h, const char *code, uint32_t seed, uint32_t *words)
{
	void *module, *function, *params[] = { &h->buffer, &seed };

	TRY(s, h, module_load, "hipModuleLoadData", &module, code);
	TRY(s, h, module_function, "hipModuleGetFunction", &function, module, "prove");
	TRY(s, h, launch, "hipModuleLaunchKernel", function, PATTERN_WORDS / PATTERN_GROUP, 1, 1,
		PATTERN_GROUP, 1, 1, 0, NULL, params, NULL);
	TRY(s, h, wait, "hipDeviceSynchronize after hipModuleLaunchKernel");
	TRY(s, h, copy, "hipMemcpy to the host", words, h->buffer, BYTES, HIP_TO_HOST);
	h->module_unload(module);
	return 0;
}

static int hip_kernel(struct session *s, uint32_t seed, uint32_t *words)
{
	struct hiprtc rtc;
	char *code = NULL;
	int rv;

	if (!find_compiler(s, &rtc))
		return CANNOT;
	rv = compile(s, &rtc, &code);
	if (rv == 0)
		rv = run_kernel(s, s->state, code, seed, words);
	free(code);
	return rv;
}

/* Twice, and the second time counts: the first one also pays for what the driver sets up. */
static int timed_copies(struct session *s, struct hip *h, void *at, void *host, size_t bytes, int64_t *up_us,
	int64_t *down_us)
{
	for (int i = 0; i < 2; i++) {
		int64_t start = backend_now_us();

		TRY(s, h, copy, "hipMemcpy to the device", at, host, bytes, HIP_TO_DEVICE);
		TRY(s, h, wait, "hipDeviceSynchronize after hipMemcpy");
		*up_us = backend_now_us() - start;
		start = backend_now_us();
		TRY(s, h, copy, "hipMemcpy to the host", host, at, bytes, HIP_TO_HOST);
		*down_us = backend_now_us() - start;
	}
	return 0;
}

static int hip_bandwidth(struct session *s, size_t bytes, int64_t *up_us, int64_t *down_us)
{
	struct hip *h = s->state;
	void *at, *host;
	int rv;

	TRY(s, h, alloc, "hipMalloc", &at, bytes);
	TRY(s, h, alloc_host, "hipHostMalloc", &host, bytes, 0);
	memset(host, 0x5A, bytes);	/* its pages are there before the clock runs */
	rv = timed_copies(s, h, at, host, bytes, up_us, down_us);
	h->free_host(host);
	h->free(at);
	return rv;
}

static void hip_release(struct session *s)
{
	struct hip *h = s->state;

	h->free(h->buffer);
	h->free(h->other);
}

const struct backend backend_hip = {
	.name = "hip",
	.libraries = hip_libraries,
	.symbols = hip_symbols,
	.symbol_count = sizeof(hip_symbols) / sizeof(hip_symbols[0]),
	.codes = hip_codes,
	.code_count = sizeof(hip_codes) / sizeof(hip_codes[0]),
	.state_size = sizeof(struct hip),
	.environment = hip_environment,
	.init = hip_init,
	.count = hip_count,
	.identify = hip_identify,
	.context = hip_context,
	.fill = hip_fill,
	.copy = hip_copy,
	.kernel = hip_kernel,
	.bandwidth = hip_bandwidth,
	.release = hip_release,
};
