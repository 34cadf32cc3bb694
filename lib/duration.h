/* SPDX-License-Identifier: GPL-2.0-or-later
 * duration.h - lengths of time as people and Slurm write them
 *
 * Unit     seconds
 * Threads  pure functions: any thread */
#ifndef LIB_DURATION_H
#define LIB_DURATION_H
#include <stdint.h>
#include "lib/fault.h"

#define DURATION_UNLIMITED INT64_MAX

/* "2h", "1.5h", "90m", "3600s", "2d", "1h30m", and Slurm's own "MM", "MM:SS", "HH:MM:SS", "D-HH", "D-HH:MM",
 * "D-HH:MM:SS". A bare number is minutes, as in sbatch --time; "0" is 0. UNLIMITED and INFINITE (any case)
 * give DURATION_UNLIMITED. 0 and *out set; or -1, *out untouched, errno EINVAL or EOVERFLOW (over 10 years),
 * `why` names the position. */
int duration_parse(const char *text, int64_t *out, struct fault *why);

/* "2 h", "1 h 30 min", "45 s", "3 d 4 h", "no limit": at most the two largest units, cut, never rounded up.
 * Returns buf; cannot fail. */
#define DURATION_TEXT_MAX 40
const char *duration_text(int64_t seconds, char buf[DURATION_TEXT_MAX]);

#endif
