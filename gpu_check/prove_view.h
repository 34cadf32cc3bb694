/* SPDX-License-Identifier: GPL-2.0-or-later
 * prove_view.h - a proof as a table, as sentences, and as one line of JSON
 *
 * Threads  one */
#ifndef GPU_CHECK_PROVE_VIEW_H
#define GPU_CHECK_PROVE_VIEW_H
#include <stdio.h>
#include "gpu_check/prove.h"

/* Proofs one after the other, as long as each was sound. */
struct soak {
	int64_t proofs, us, slowest_us;
};

/* One line for each backend: "gpu-check: FAIL cuda: ...". */
void proof_print_lines(FILE *to, const struct proof *p);

/* Devices and the time of each stage, for people. Nothing for a backend without a device. */
void proof_print_table(FILE *to, const struct proof *p);

/* "gpu-check: 118 proofs in 10 min, the slowest took 5.21 s". */
void soak_print(FILE *to, const struct soak *soak);

/* One object in one line; `soak` NULL = there was one proof only. 0; or -1 and ENOMEM, nothing written. */
int proof_print_json(FILE *to, const struct proof *p, enum level level, const struct soak *soak);

#endif
