/* SPDX-License-Identifier: GPL-2.0-or-later
 * bar.h - an amount of two kinds as a bar of text
 *
 * Threads  any */
#ifndef BUDGETCTL_BAR_H
#define BUDGETCTL_BAR_H
#include <stdbool.h>
#include <stdint.h>

#define BAR_COLUMNS_MAX 200
#define BAR_TEXT_MAX    (3 * BAR_COLUMNS_MAX + 1)

/* `first` and `second`, >= 0, of `most` (their largest sum), which is `columns` columns wide: "####..", or
 * in blocks where `utf8`. What is not 0 has a column. Returns buf; cannot fail. */
const char *bar_text(int64_t first, int64_t second, int64_t most, int columns, bool utf8,
	char buf[BAR_TEXT_MAX]);

#endif
