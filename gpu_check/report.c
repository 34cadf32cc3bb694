/* SPDX-License-Identifier: GPL-2.0-or-later
 * report.c - an empty report and sums over one (report.h) */
#include "gpu_check/report.h"
#include <stddef.h>
#include <string.h>

const char *const device_kind_name[DEVICE_KINDS] = { "gpu", "cpu", "other" };

void report_init(struct report *r)
{
	memset(r, 0, sizeof(*r));
	r->count = -1;
	r->within_device = r->failed_device = REPORT_NONE;
	for (int s = 0; s < STAGES; s++) {
		r->us[s] = REPORT_NOT_RUN;
		for (int d = 0; d < REPORT_DEVICES_MAX; d++)
			r->device[d].us[s] = REPORT_NOT_RUN;
	}
}

struct device_report *report_device(struct report *r, int device)
{
	return device >= 0 && device < REPORT_DEVICES_MAX ? &r->device[device] : NULL;
}

int64_t report_stage_us(const struct report *r, enum stage stage)
{
	int64_t sum = r->us[stage];

	for (int d = 0; d < r->devices; d++)
		if (r->device[d].us[stage] >= 0)
			sum = (sum < 0 ? 0 : sum) + r->device[d].us[stage];
	return sum;
}
