/* SPDX-License-Identifier: GPL-2.0-or-later
 * counts.h - a gpu_count as the tables write it: "a100=4,untyped=2,shards=40,mps=50", "-" for none. */
#ifndef UNIT_COUNTS_H
#define UNIT_COUNTS_H
#include "lib/gpu_count.h"

#define COUNTS_TEXT_MAX 512

/* In the order of the count. Returns buf. */
const char *counts_text(const struct gpu_count *c, char buf[COUNTS_TEXT_MAX]);

/* Do the types of c sum to its total? */
int counts_sum_up(const struct gpu_count *c);

#endif
