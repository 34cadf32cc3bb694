/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_policy.h - what a site says about evidence: gpu-node.conf
 *
 *   KIND off|warn|fail|drain            evidence.h
 *   corrected-per-hour N                of one device; more are evidence
 *   xid KIND|nothing N...               which kind NVIDIA's Xids are
 *   log KIND|nothing PATTERN            lines of the kernel's log, by a pattern as of a shell, to the end of
 * the line
 *
 * Blank lines and lines that begin with # are skipped.
 *
 * Threads  any; nothing is kept */
#ifndef GPU_CHECK_NODE_POLICY_H
#define GPU_CHECK_NODE_POLICY_H
#include <stdint.h>
#include "gpu_check/log_table.h"
#include "lib/fault.h"

#define CORRECTED_PER_HOUR 60 /* one a minute: a sound link has none for days */

struct node_policy {
	enum policy of[EVIDENCES];
	int64_t corrected_per_hour;
	struct log_table log;
};

/* What is so without a file. */
void node_policy_preset(struct node_policy *p);

/* The file at `path` below `root` over the preset, trusted only (trusted.h). 0, also where there is none; or
 * -1, errno EINVAL with line and reason, EPERM, or that of reading; *out is then the preset. */
int node_policy_read(int root, const char *path, struct node_policy *out, struct fault *why);

#endif
