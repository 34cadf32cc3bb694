/* SPDX-License-Identifier: GPL-2.0-or-later
 * report.h - what a helper found out about one backend
 *
 * Filled on one side of a pipe by gpu_check/stages.c, line by line, and on the other side read back by
 * gpu_check/lines.c; so everything in it has a bound, and all texts are printable ASCII.
 *
 * Threads  a report belongs to its caller */
#ifndef GPU_CHECK_REPORT_H
#define GPU_CHECK_REPORT_H
#include <stdbool.h>
#include <stdint.h>
#include "gpu_check/cause.h"
#include "gpu_check/stage.h"
#include "locality/pci.h"

#define REPORT_DEVICES_MAX 64	/* of one node; devices behind it are counted and not looked at */
#define REPORT_TEXT_MAX    256
#define REPORT_NONE        (-1)	/* no device: the stage is of the backend as a whole */
#define REPORT_NOT_RUN     (-1)	/* as a time */

enum device_kind { DEVICE_GPU, DEVICE_CPU, DEVICE_OTHER, DEVICE_KINDS };

extern const char *const device_kind_name[DEVICE_KINDS];

struct device_report {
	enum device_kind kind;
	char bus_id[PCI_TEXT_MAX];	/* "": the backend does not tell */
	char uuid[64];			/* "": the same */
	char name[96];
	int64_t us[STAGES];		/* microseconds, or REPORT_NOT_RUN */
	int64_t up_mb_s, down_mb_s;	/* 10^6 bytes a second to the device and from it; 0 = not measured */
};

struct report {
	char backend[16];
	char library[REPORT_TEXT_MAX];	/* the file that was loaded */
	char version[64];		/* of the driver, in its own words */
	int count;			/* devices that the backend has; -1: it never came to that */
	int devices;			/* rows of device[] */
	struct device_report device[REPORT_DEVICES_MAX];
	int64_t us[STAGES];		/* stages that are not per device */
	bool done;			/* the report is complete */

	/* the stage that was begun and has not ended: where it hangs or crashed */
	bool within;
	enum stage within_stage;
	int within_device;

	/* the first failure; CAUSE_NONE = none */
	enum cause cause;
	enum stage failed_stage;
	int failed_device;
	char text[REPORT_TEXT_MAX];	/* the call, its code, the values that were found */
	bool no_kernel;			/* a kernel was asked for and there is nothing to make one with */
};

/* An empty one. */
void report_init(struct report *r);

/* The device's row; NULL where `device` is REPORT_NONE or too large. */
struct device_report *report_device(struct report *r, int device);

/* All time that the stage took, over all devices; REPORT_NOT_RUN. */
int64_t report_stage_us(const struct report *r, enum stage stage);

#endif
