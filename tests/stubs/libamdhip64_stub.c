/* SPDX-License-Identifier: GPL-2.0-or-later
 * libamdhip64_stub.c - a stub, not a driver: what gpu_check/hip.c calls, with the faults of stub.h
 *
 * hiprtc is in it, as it was in ROCm 5; -DSTUB_NO_COMPILER leaves it out. */
#include "tests/stubs/stub.h"

int hipInit(unsigned flags);
int hipRuntimeGetVersion(int *v);
int hipGetDeviceCount(int *n);
int hipSetDevice(int d);
int hipDeviceGetPCIBusId(char *text, int size, int d);
int hipDeviceGetName(char *name, int size, int d);
int hipDeviceSynchronize(void);
int hipMalloc(void **at, size_t bytes);
int hipFree(void *at);
int hipHostMalloc(void **at, size_t bytes, unsigned flags);
int hipHostFree(void *at);
int hipMemsetD32(void *at, int pattern, size_t words);
int hipMemcpy(void *to, const void *from, size_t bytes, int kind);
int hipModuleLoadData(void **module, const void *image);
int hipModuleUnload(void *module);
int hipModuleGetFunction(void **function, void *module, const char *name);
int hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
	unsigned bz, unsigned shared, void *stream, void **params, void **extra);

#define CODE "code of a stub"

static int token;			/* what handles point to */

int hipInit(unsigned flags)
{
	(void)flags;
	return stub_init(0);
}

int hipRuntimeGetVersion(int *v)
{
	*v = 60032830;
	return 0;
}

int hipGetDeviceCount(int *n)
{
	*n = stub_number("GPU_STUB_DEVICES", 1);
	return *n ? 0 : 100;
}

int hipSetDevice(int d)
{
	(void)d;
	return 0;
}

int hipDeviceGetPCIBusId(char *text, int size, int d)
{
	snprintf(text, (size_t)size, "0000:%02x:00.0", stub_bus(d));
	return 0;
}

int hipDeviceGetName(char *name, int size, int d)
{
	(void)d;
	snprintf(name, (size_t)size, "stub, no GPU");
	return 0;
}

int hipDeviceSynchronize(void)
{
	return 0;
}

int hipMalloc(void **at, size_t bytes)
{
	*at = calloc(1, bytes);
	return *at ? 0 : 2;
}

int hipFree(void *at)
{
	free(at);
	return 0;
}

int hipHostMalloc(void **at, size_t bytes, unsigned flags)
{
	(void)flags;
	return hipMalloc(at, bytes);
}

int hipHostFree(void *at)
{
	return hipFree(at);
}

int hipMemsetD32(void *at, int pattern, size_t words)
{
	stub_fill(at, (uint32_t)pattern, words);
	return 0;
}

int hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	if (kind == 2)
		memcpy(to, from, bytes);
	else
		stub_copy(to, from, bytes);
	return 0;
}

int hipModuleLoadData(void **module, const void *image)
{
	*module = &token;
	return strcmp(image, CODE) ? 209 : stub_number("GPU_STUB_KERNEL", 0);
}

int hipModuleUnload(void *module)
{
	(void)module;
	return 0;
}

int hipModuleGetFunction(void **function, void *module, const char *name)
{
	*function = module;
	return strcmp(name, "prove") ? 500 : 0;
}

int hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
	unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
	(void)f;
	(void)shared;
	(void)stream;
	(void)extra;
	if (gx * bx != PATTERN_WORDS || gy * gz * by * bz != 1)
		return 1;
	stub_kernel(*(uint32_t **)params[0], *(uint32_t *)params[1]);
	return 0;
}

#ifndef STUB_NO_COMPILER
int hiprtcCreateProgram(void **p, const char *source, const char *name, int n, const char **headers,
	const char **names);
int hiprtcCompileProgram(void *p, int n, const char **options);
int hiprtcGetCodeSize(void *p, size_t *bytes);
int hiprtcGetCode(void *p, char *code);
int hiprtcDestroyProgram(void **p);

int hiprtcCreateProgram(void **p, const char *source, const char *name, int n, const char **headers,
	const char **names)
{
	(void)name;
	(void)headers;
	(void)names;
	*p = &token;
	return n == 0 && strstr(source, "void prove(") ? 0 : 1;
}

int hiprtcCompileProgram(void *p, int n, const char **options)
{
	(void)p;
	(void)n;
	(void)options;
	return stub_is("no-compiler") ? 6 : 0;
}

int hiprtcGetCodeSize(void *p, size_t *bytes)
{
	(void)p;
	*bytes = sizeof(CODE);
	return 0;
}

int hiprtcGetCode(void *p, char *code)
{
	(void)p;
	memcpy(code, CODE, sizeof(CODE));
	return 0;
}

int hiprtcDestroyProgram(void **p)
{
	*p = NULL;
	return 0;
}
#endif
