/* SPDX-License-Identifier: GPL-2.0-or-later
 * bus_id.c - bus ids as sysfs writes them (bus_id.h) */
#include "gpu_check/bus_id.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A hexadecimal number and the character behind it. 0, or -1. */
static int read_part(const char **text, char behind, unsigned long max, unsigned *out)
{
	char *end;
	unsigned long n;

	if (!isxdigit((unsigned char)**text))
		return -1;
	n = strtoul(*text, &end, 16);
	if (*end != behind || n > max)
		return -1;
	*out = (unsigned)n;
	*text = end + (behind != '\0');
	return 0;
}

const char *bus_id_make(unsigned domain, unsigned bus, unsigned device, unsigned function, char buf[BUS_ID_MAX])
{
	snprintf(buf, BUS_ID_MAX, "%04x:%02x:%02x.%x", domain, bus & 0xFF, device & 0x1F, function & 0x7);
	return buf;
}

int bus_id_read(const char *text, char buf[BUS_ID_MAX])
{
	unsigned domain, bus, device, function;

	if (read_part(&text, ':', 0xFFFFFFFFul, &domain) < 0 || read_part(&text, ':', 0xFF, &bus) < 0 ||
		read_part(&text, '.', 0x1F, &device) < 0 || read_part(&text, '\0', 7, &function) < 0) {
		errno = EINVAL;
		return -1;
	}
	bus_id_make(domain, bus, device, function, buf);
	return 0;
}
