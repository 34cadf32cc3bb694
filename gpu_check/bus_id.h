/* SPDX-License-Identifier: GPL-2.0-or-later
 * bus_id.h - the address of a device on the PCI bus: the one name that driver, kernel and Slurm share
 *
 * Vendors write it with 4 or 8 digits of the domain, in capitals or not, with a function or without; domains may be 32 bit wide.
 * Here it is what sysfs calls it: "0000:c1:00.0".
 *
 * Threads  pure functions: any thread */
#ifndef GPU_CHECK_BUS_ID_H
#define GPU_CHECK_BUS_ID_H
#include <stddef.h>

#define BUS_ID_MAX 24

/* `text` as sysfs writes it, in `buf`. 0, or -1 with errno EINVAL and buf untouched: it is no bus id. */
int bus_id_read(const char *text, char buf[BUS_ID_MAX]);

/* The same from numbers. Returns buf. */
const char *bus_id_make(unsigned domain, unsigned bus, unsigned device, unsigned function, char buf[BUS_ID_MAX]);

#endif
