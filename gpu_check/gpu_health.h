/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_health.h - what a GPU's own driver tells of its memory and of what slows it down, without a library of
 * the vendor: sysfs of amdgpu, xe and i915
 *
 * Slowed by the power limit that somebody set, or by having nothing to do, is no fault: only heat, the power
 * brake and the board's own slow-down are looked at, and only what holds in each of several looks.
 *
 * Threads  any; nothing is kept */
#ifndef GPU_CHECK_GPU_HEALTH_H
#define GPU_CHECK_GPU_HEALTH_H
#include <stdint.h>
#include "gpu_check/finding.h"
#include "gpu_check/node_rules.h"

#define THROTTLE_LOOKS   4
#define THROTTLE_WAIT_MS 60 /* between two looks */

/* Of each GPU of `s`: uncorrected errors, and what slows it down now. What the driver does not tell stays as
 * it is. */
void gpu_health_look(int root, struct node_state *s);

/* The same, several times: `slowed` is what held each time. And once how high clocks may go. */
void gpu_health_read(int root, struct node_state *s);

/* Bits of `indep_throttle_status` in AMD's gpu_metrics, version 1.3, `size` bytes; 0: another version. */
enum throttle amd_throttle(const unsigned char *metrics, int size);

/* Uncorrected errors of memory beyond those of the mark (else of the baseline), and what is slowed down or
 * was set to be slow. */
void rule_health(const struct node_views *v, struct findings *out);

#endif
