/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_watch.h - the thread that asks Prometheus how busy GPUs are
 *
 * It looks back as far as the ladder of idle GPUs is long, piece by piece, and then asks every
 * `prometheus_step` for what is new, so nothing is lost by a restart. A Prometheus that is slow or away
 * delays nothing but itself: a pass reads what is there.
 *
 * Threads  gpu_watch_view: any. start and stop: one, before and after all others */
#ifndef BUDGETD_GPU_WATCH_H
#define BUDGETD_GPU_WATCH_H
#include "budgetd/gpu_table.h"
#include "lib/fault.h"

struct budgetd;
struct gpu_watch;

/* Follows the settings of `b` as they are when it asks. 0 and *out set; or -1. */
int gpu_watch_start(const struct budgetd *b, struct gpu_watch **out, struct fault *why);
/* NULL is fine; returns within a second or two, whatever Prometheus does */
void gpu_watch_stop(struct gpu_watch *w);

/* What is known, when it is of another time than `until`. 1 and *out, to be cleared by gpu_table_clear; 0:
 * nothing new; -1 and ENOMEM. */
int gpu_watch_view(struct gpu_watch *w, int64_t until, struct gpu_table *out);

/* How it goes, in words: "" = nobody looks (no `prometheus`), "ok", "not asked yet", or what is wrong. */
struct gpu_watch_state {
	char text[FAULT_TEXT_MAX];
	size_t gpus;			/* with samples of the newest time */
	int64_t until;			/* that time; 0 = none */
};
void gpu_watch_state(struct gpu_watch *w, struct gpu_watch_state *out);

#endif
