/* SPDX-License-Identifier: GPL-2.0-or-later
 * bare.c - the least that a CUDA program does before it can work: cuInit and a context, as a process of its
 * own
 *
 * What a proof costs beside it is what tests/gpu/run.sh tells. Without headers of a vendor. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
	int (*init)(unsigned), (*device)(int *, int), (*retain)(void **, int), n, rc;

	if (!library)
		return fprintf(stderr, "%s\n", dlerror()), 1;
	*(void **)&init = dlsym(library, "cuInit");
	*(void **)&device = dlsym(library, "cuDeviceGet");
	*(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
	if (!init || !device || !retain)
		return 1;
	rc = init(0);
	if (!rc)
		rc = device(&n, 0);
	if (!rc)
		rc = retain(&context, n);
	if (rc)
		fprintf(stderr, "CUDA error %d\n", rc);
	return rc != 0;
}
