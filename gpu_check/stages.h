/* SPDX-License-Identifier: GPL-2.0-or-later
 * stages.h - one backend led through the stages of a level, in this process
 *
 * Called by the helper alone: see backend.h for what may happen to the process.
 *
 * Threads  one */
#ifndef GPU_CHECK_STAGES_H
#define GPU_CHECK_STAGES_H
#include "gpu_check/backend.h"

/* Write the report of `b` at `level` to `fd`, as the lines of lines.h, up to "done". `seed` has to be new in
 * every run. Where there is no memory nothing more is written, and the reader sees that "done" is missing. */
void stages_run(const struct backend *b, enum level level, bool any_kind, uint32_t seed, int fd);

#endif
