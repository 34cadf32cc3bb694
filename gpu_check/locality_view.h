/* SPDX-License-Identifier: GPL-2.0-or-later
 * locality_view.h - what `gpu-check locality` found, and its two ways of telling it
 *
 * Threads  one */
#ifndef GPU_CHECK_LOCALITY_VIEW_H
#define GPU_CHECK_LOCALITY_VIEW_H
#include "locality/alignment.h"
#include "locality/deal.h"
#include "locality/devices.h"

struct view_task {
	const struct gpu *const *gpu;	/* its GPUs */
	int gpus;
};

struct view {
	struct numa numa;
	struct devices devices;
	const struct gpu *gpu[GPUS_MAX];	/* that were asked for, or all */
	int gpus;
	int tasks;			/* 0: nothing was to be dealt */
	struct deal_task *deal;
	struct view_task *task;
};

/* All on stdout. 0; or -1 and ENOMEM. */
int view_print_json(const struct view *v);
int view_print_table(const struct view *v);

/* "0000:c1:00.0,0000:c6:00.0". Returns buf. */
#define GPU_NAMES_MAX (GPUS_MAX * PCI_TEXT_MAX)
const char *view_gpu_names(const struct view_task *t, char buf[static GPU_NAMES_MAX]);

#endif
