/* SPDX-License-Identifier: GPL-2.0-or-later
 * sacct_time.h - moments and lengths of time as sacct prints them
 *
 * A moment is a reading of the local clock without its offset ("2026-10-25T02:30:00"), with one ("...Z",
 * "...+01:00", "...+0100"), epoch seconds (SLURM_TIME_FORMAT=%s), or a word for none ("Unknown", "None").
 * A local reading may have happened twice, which only other columns can tell apart.
 *
 * Unit     UTC epoch seconds
 * Threads  pure functions: any thread */
#ifndef LIB_SACCT_TIME_H
#define LIB_SACCT_TIME_H
#include "lib/zone.h"

struct sacct_time {
	int n;			/* 0 = none; 2 = the clock was put back over it: one of both */
	int64_t at[2];		/* the earlier first */
};

/* 0 and *out set; or -1, *out untouched, errno EINVAL, `why` quotes the text: it is no moment, or a clock
 * of this zone never read it. */
int sacct_time_read(const char *text, const struct zone *z, struct sacct_time *out, struct fault *why);

/* "1-02:03:04", "02:03:04", "03:04.500" (fractions are cut), or whole seconds "93784"; a word for none is -1
 * in *out. 0; or -1, *out untouched, errno EINVAL, `why` quotes the text. */
int sacct_length_read(const char *text, int64_t *out, struct fault *why);

/* Is it one of sacct's words for nothing, in any case: "", "Unknown", "None", "None assigned", "N/A"? */
int sacct_is_none(const char *text);

#endif
