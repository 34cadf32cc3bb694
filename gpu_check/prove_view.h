/* SPDX-License-Identifier: GPL-2.0-or-later
 * prove_view.h - a proof as a table, as sentences, and as one line of JSON
 *
 * Threads  one */
#ifndef GPU_CHECK_PROVE_VIEW_H
#define GPU_CHECK_PROVE_VIEW_H
#include <stdio.h>
#include "gpu_check/prove.h"

/* One line for each backend: "gpu-check: FAIL cuda: ...". */
void proof_print_lines(FILE *to, const struct proof *p);

/* Devices and the time of each stage, for people. Nothing for a backend without a device. */
void proof_print_table(FILE *to, const struct proof *p);

/* One object in one line. 0; or -1 and ENOMEM, nothing written. */
int proof_print_json(FILE *to, const struct proof *p, enum level level);

#endif
