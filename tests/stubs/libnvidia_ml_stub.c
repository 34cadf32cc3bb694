/* SPDX-License-Identifier: GPL-2.0-or-later
 * libnvidia_ml_stub.c - a libnvidia-ml.so.1 that fails as it is told to, by NVML_STUB: hang hang-d crash lost
 * reset ecc rows pending heat heat-once busy slow no-answer unsupported print; NVML_STUB_INIT=CODE is what nvmlInit
 * returns
 *
 * NVML_STUB=bridges: the GPUs on buses c3 and c4 have four links to each other, and two more that end nowhere;
 * switches: every GPU has 18 to NVSwitches, of that on bus c9 one is down. Others have no links.
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
	static unsigned char buses[256];
	unsigned bus = (unsigned)strtoul(strchr(bus_id, ':') + 1, NULL, 16);

	buses[bus & 255] = (unsigned char)bus;
	*device = &buses[bus & 255];
	return bus == 0xc1 || is("bridges") || is("switches") ? 0 : 6;
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

/* --- links -------------------------------------------------------------------------------------------- */

static unsigned bus_of(const void *device)
{
	return *(const unsigned char *)device;
}

int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *active);
int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *active)
{
	unsigned bus = bus_of(device);

	*active = is("bridges") ? link < 4 : !(bus == 0xc9 && link == 17);
	if (is("bridges"))
		return (bus == 0xc3 || bus == 0xc4) && link < 6 ? 0 : 3;
	return is("switches") && link < 18 ? 0 : 3;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, unsigned *type);
int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, unsigned *type)
{
	(void)device;
	(void)link;
	*type = is("switches") ? 2 : 0;
	return 0;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, void *out);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, void *out)
{
	unsigned at[3] = { 0, bus_of(device) == 0xc3 ? 0xc4 : 0xc3, 0 };

	(void)link;
	memset(out, 0, 68);	/* nvmlPciInfo_t */
	memcpy((char *)out + 16, at, sizeof(at));
	return is("bridges") ? 0 : 3;
}
