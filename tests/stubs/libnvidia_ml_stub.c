/* SPDX-License-Identifier: GPL-2.0-or-later
 * libnvidia_ml_stub.c - a libnvidia-ml.so.1 that fails as it is told to, by NVML_STUB: hang hang-d crash lost
 * reset ecc rows pending heat heat-once busy slow no-answer unsupported print; NVML_STUB_INIT=CODE is what nvmlInit
 * returns
 *
 * A stub is no emulation: it proves that the check takes the right turns, and nothing about any GPU. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *fault)
{
	const char *asked = getenv("NVML_STUB");

	return asked && !strcmp(asked, fault);
}

static int answer(void)
{
	return is("unsupported") ? 3 : is("no-answer") ? 999 : is("lost") ? 15 : is("reset") ? 16 : 0;
}

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
	const char *code = getenv("NVML_STUB_INIT");

	if (is("hang-d") && vfork() == 0)	/* the parent waits in state D */
		for (;;)
			pause();
	while (is("hang"))
		pause();
	if (is("crash"))
		raise(SIGSEGV);
	if (is("print"))
		puts("NVML: a line that nobody asked for");
	fflush(stdout);
	return code ? atoi(code) : 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device)
{
	static int dummy;

	*device = &dummy;
	return strstr(bus_id, ":c1:") ? 0 : 6;
}

int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *count);
int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *count)
{
	(void)device;
	*count = is("ecc") && type == 1 && counter == 0 ? 2 : 0;
	return answer();
}

int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected, unsigned *pending,
	unsigned *failed);
int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected, unsigned *pending,
	unsigned *failed)
{
	(void)device;
	*corrected = *uncorrected = 0;
	*pending = is("pending");
	*failed = is("rows");
	return answer();
}

/* The older name: drivers before 535 have this one only. */
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	static int looks;

	(void)device;
	*reasons = 0x1 | 0x4;	/* idle, and its power limit: no faults */
	if (is("heat") || (is("heat-once") && looks++ == 0))
		*reasons |= 0x40;
	return answer();
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned use[2]);
int nvmlDeviceGetUtilizationRates(void *device, unsigned use[2])
{
	(void)device;
	use[0] = use[1] = is("busy") ? 97 : 0;
	return answer();
}

int nvmlDeviceGetApplicationsClock(void *device, int type, unsigned *mhz);
int nvmlDeviceGetApplicationsClock(void *device, int type, unsigned *mhz)
{
	(void)device;
	*mhz = is("slow") && type == 0 ? 1200 : 1980;
	return answer();
}

int nvmlDeviceGetDefaultApplicationsClock(void *device, int type, unsigned *mhz);
int nvmlDeviceGetDefaultApplicationsClock(void *device, int type, unsigned *mhz)
{
	(void)device;
	(void)type;
	*mhz = 1980;
	return answer();
}
