/* SPDX-License-Identifier: GPL-2.0-or-later
 * libcuda_stub.c - a stub, not a driver: what gpu_check/cuda.c calls of libcuda, with the faults of stub.h
 *
 * -DSTUB_NO_FILL leaves cuMemsetD32_v2 out, as emulations do. */
#include "tests/stubs/stub.h"

typedef unsigned long long address;

#define VISIBLE __attribute__((visibility("default")))

VISIBLE int cuDriverGetVersion(int *v);
VISIBLE int cuInit(unsigned flags);
VISIBLE int cuDeviceGetCount(int *n);
VISIBLE int cuDeviceGet(int *d, int ordinal);
VISIBLE int cuDeviceGetName(char *name, int size, int d);
VISIBLE int cuDeviceGetPCIBusId(char *text, int size, int d);
VISIBLE int cuDeviceGetUuid(unsigned char *uuid, int d);
VISIBLE int cuDeviceGetUuid_v2(unsigned char *uuid, int d);
VISIBLE int cuDevicePrimaryCtxRetain(void **context, int d);
VISIBLE int cuDevicePrimaryCtxRelease_v2(int d);
VISIBLE int cuCtxSetCurrent(void *context);
VISIBLE int cuCtxSynchronize(void);
VISIBLE int cuMemAlloc_v2(address *at, size_t bytes);
VISIBLE int cuMemFree_v2(address at);
VISIBLE int cuMemAllocHost_v2(void **at, size_t bytes);
VISIBLE int cuMemFreeHost(void *at);
VISIBLE int cuMemsetD32_v2(address at, unsigned pattern, size_t words);
VISIBLE int cuMemcpyHtoD_v2(address to, const void *from, size_t bytes);
VISIBLE int cuMemcpyDtoH_v2(void *to, address from, size_t bytes);
VISIBLE int cuMemcpyDtoD_v2(address to, address from, size_t bytes);
VISIBLE int cuModuleLoadData(void **module, const void *image);
VISIBLE int cuModuleGetFunction(void **function, void *module, const char *name);
VISIBLE int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
	unsigned bz, unsigned shared, void *stream, void **params, void **extra);

static int token;			/* what handles point to */

int cuDriverGetVersion(int *v)
{
	*v = 12040;
	return 0;
}

int cuInit(unsigned flags)
{
	(void)flags;
	return stub_init(0);
}

int cuDeviceGetCount(int *n)
{
	*n = stub_number("GPU_STUB_DEVICES", 1);
	return 0;
}

int cuDeviceGet(int *d, int ordinal)
{
	*d = ordinal;
	return 0;
}

int cuDeviceGetName(char *name, int size, int d)
{
	(void)d;
	snprintf(name, (size_t)size, "stub, no GPU");
	return 0;
}

int cuDeviceGetPCIBusId(char *text, int size, int d)
{
	snprintf(text, (size_t)size, "0000:%02X:00.0", stub_bus(d));	/* in capitals, as CUDA writes it */
	return 0;
}

int cuDeviceGetUuid(unsigned char *uuid, int d)
{
	memset(uuid, 0x10 + d, 16);
	return 0;
}

int cuDeviceGetUuid_v2(unsigned char *uuid, int d)
{
	memset(uuid, (stub_is("mig") ? 0x40 : 0x10) + d, 16);
	return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int d)
{
	static int tries;

	(void)d;
	*context = &token;
	return stub_is("busy-for-long") || (stub_is("busy") && tries++ < 2) ? 46 : 0;
}

int cuDevicePrimaryCtxRelease_v2(int d)
{
	(void)d;
	return 0;
}

int cuCtxSetCurrent(void *context)
{
	(void)context;
	return 0;
}

int cuCtxSynchronize(void)
{
	return 0;
}

int cuMemAlloc_v2(address *at, size_t bytes)
{
	*at = (address)(uintptr_t)calloc(1, bytes);
	return *at ? 0 : 2;
}

int cuMemFree_v2(address at)
{
	free((void *)(uintptr_t)at);
	return 0;
}

int cuMemAllocHost_v2(void **at, size_t bytes)
{
	*at = calloc(1, bytes);
	return *at ? 0 : 2;
}

int cuMemFreeHost(void *at)
{
	free(at);
	return 0;
}

#ifndef STUB_NO_FILL
int cuMemsetD32_v2(address at, unsigned pattern, size_t words)
{
	stub_fill((uint32_t *)(uintptr_t)at, pattern, words);
	return 0;
}
#endif

int cuMemcpyHtoD_v2(address to, const void *from, size_t bytes)
{
	stub_copy((void *)(uintptr_t)to, from, bytes);
	return 0;
}

int cuMemcpyDtoH_v2(void *to, address from, size_t bytes)
{
	memcpy(to, (const void *)(uintptr_t)from, bytes);
	return 0;
}

int cuMemcpyDtoD_v2(address to, address from, size_t bytes)
{
	return cuMemcpyHtoD_v2(to, (const void *)(uintptr_t)from, bytes);
}

int cuModuleLoadData(void **module, const void *image)
{
	*module = &token;
	return strncmp(image, ".version", 8) ? 218 : stub_number("GPU_STUB_KERNEL", 0);
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
	*function = module;
	return strcmp(name, "prove") ? 500 : 0;
}

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared, void *stream, void **params, void **extra)
{
	(void)f;
	(void)shared;
	(void)stream;
	(void)extra;
	if (gx * bx != PATTERN_WORDS || gy * gz * by * bz != 1)
		return 1;
	stub_kernel((uint32_t *)(uintptr_t)*(address *)params[0], *(uint32_t *)params[1]);
	return 0;
}
