/* SPDX-License-Identifier: GPL-2.0-or-later
 * when.h - moments as people write them
 *
 * Unit     UTC epoch seconds; what is written without an offset is local time (TZ)
 * Threads  any, as long as nobody changes TZ; the clock is an argument */
#ifndef BUDGETCTL_WHEN_H
#define BUDGETCTL_WHEN_H
#include <stdbool.h>
#include <stdint.h>
#include "lib/fault.h"

/* "2026-12-31" (its 00:00), "2026-12-31T12:00", "2026-12-31 12:00:30", either with "Z", "+02:00" or
 * "+0200"; "now", "today", "tomorrow", "yesterday", each with "+30d", "-2weeks" and so on (s, m, h, d, w
 * and their long names). Days and weeks are those of the calendar: the hour stays the same over a change of
 * the clocks. 0 and *out set; or -1, *out untouched, errno EINVAL, `why` quotes the text; so it is for a
 * local time where TZ names no zone. */
int when_parse(const char *text, int64_t now, int64_t *out, struct fault *why);

/* "2026-12-31T12:00:30" local time, with `offset` "2026-12-31T12:00:30+01:00". Returns buf; cannot fail. */
#define WHEN_TEXT_MAX 48
const char *when_text(int64_t at, bool offset, char buf[WHEN_TEXT_MAX]);

#endif
