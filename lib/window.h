/* SPDX-License-Identifier: GPL-2.0-or-later
 * window.h - what each project used in a sliding window, in buckets of 5 minutes
 *
 * The window at `now` goes from the beginning of the bucket in which now - length falls, up to now; what is
 * entitled must be counted over the same span (window_from). budgetd takes use from the ledger; this is for
 * who has no ledger, as `budgetctl simulate`.
 *
 * Unit     units of amount.h (GPU-seconds x rate in thousandths), seconds
 * Memory   8 bytes a project and bucket: 16 KiB a project for 7 days
 * Threads  an object belongs to one thread */
#ifndef LIB_WINDOW_H
#define LIB_WINDOW_H
#include <stddef.h>
#include <stdint.h>

#define WINDOW_BUCKET_S 300

struct window;

/* Empty, at `now`. `length_s` is a multiple of WINDOW_BUCKET_S, above 0. NULL: EINVAL or ENOMEM. */
struct window *window_new(size_t projects, int64_t length_s, int64_t now);
void window_free(struct window *w); /* NULL is fine */

/* Time goes on to `now`, not back; buckets that leave the window are forgotten. */
void window_move(struct window *w, int64_t now);

/* `units_a_second` were used from `from` until `to`, to <= now of the last move. What is before the window
 * does not count. */
void window_add(struct window *w, size_t project, int64_t from, int64_t to, int64_t units_a_second);

int64_t window_sum(const struct window *w, size_t project);
int64_t window_from(const struct window *w);

#endif
