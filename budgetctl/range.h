/* SPDX-License-Identifier: GPL-2.0-or-later
 * range.h - the month or range of time that a command is about: --period, or --from and --to; --tz
 *
 * Unit     UTC epoch seconds
 * Threads  one: the zone becomes that of the whole program */
#ifndef BUDGETCTL_RANGE_H
#define BUDGETCTL_RANGE_H
#include <stdint.h>
#include "budgetctl/session.h"

/* The zone of --tz, UTC without it, becomes that of the program; *out is its name, borrowed. DONE; USAGE or
 * REFUSED after a complaint, and nothing is changed. */
int range_zone(struct session *s, const char **out);

/* from <= what is of it < to. From here on times are read and written in --tz, UTC without it. DONE; USAGE
 * after a complaint. */
int range_read(struct session *s, int64_t *from, int64_t *to);

#endif
