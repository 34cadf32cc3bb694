/* SPDX-License-Identifier: GPL-2.0-or-later
 * notice.h - what people are told of without asking, and when: one notice for each crossing
 *
 * A budget crosses a threshold once, however much its use jitters around it: the threshold is told again only
 * after the use was `rearm_points` percentage points below it, or after there was more money (a deposit). An
 * allocation that ends is told of once for each end. What was told stands beside the notices (budgetd/
 * notice_queue.h); these rules see the state before and the state now (doc/model.md, 11).
 *
 * Unit     amounts in units, percent of what is granted, times UTC epoch seconds
 * Threads  pure functions: any thread */
#ifndef LIB_NOTICE_H
#define LIB_NOTICE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/amount.h"
#include "lib/fault.h"

/* --- what there is to tell ------------------------------------------------------------------------- */

enum notice_kind { NOTICE_BUDGET, NOTICE_EXPIRY, NOTICE_DISPLACED, NOTICE_IDLE, NOTICE_TEST,
	NOTICE_KINDS };
enum notice_severity { NOTICE_INFO, NOTICE_WARNING, NOTICE_CRITICAL, NOTICE_SEVERITIES };

/* The one list of kinds, for the settings, the queue and budgetd(8). */
struct notice_kind_row {
	const char *name, *whom, *meaning;
};
extern const struct notice_kind_row notice_kinds[NOTICE_KINDS];

const char *notice_severity_name(enum notice_severity s);	/* "info", "warning", "critical" */

/* "budget idle", names of kinds with blanks or commas between: a bit (1 << kind) each. NOTICE_TEST is always
 * there. 0; or -1, *out untouched, EINVAL and a text that names the word. */
int notice_kinds_parse(const char *text, unsigned *out, struct fault *why);

/* --- a budget that is used up ---------------------------------------------------------------------- */

#define NOTICE_LEVELS_MAX 8
struct notice_levels {
	size_t count;
	int64_t percent[NOTICE_LEVELS_MAX];	/* rising */
	int64_t rearm_points;
};

/* "80 95 100": rising, 1 to 1000, at most NOTICE_LEVELS_MAX; "" = none. 0; or -1, EINVAL and a text. */
int notice_levels_parse(const char *text, int64_t rearm_points, struct notice_levels *out, struct fault *why);

/* Of one project; all zero = nothing was told and nothing is known. */
struct notice_budget {
	int64_t told;			/* percent: the highest threshold that counts as told */
	amount_t amount;		/* that was granted then */
};

struct notice_use {
	amount_t used;			/* charged and held */
	amount_t amount;		/* of what is granted */
	/* of the amount, what was given back of charges since the last look: more money, and no deposit */
	amount_t refunded;
};

/* The threshold that is to be told, in percent, and of several that were crossed at once the highest; 0 =
 * none. *b becomes what counts as told from now on. */
int64_t notice_budget_next(const struct notice_levels *l, struct notice_budget *b, const struct notice_use *u);

/* How much is used, in whole percent, rounded down; 0 of nothing that is granted. */
int64_t notice_percent(amount_t used, amount_t amount);

/* INFO below 95 %, WARNING below 100 %. */
enum notice_severity notice_budget_severity(int64_t percent);

/* --- an allocation that ends ----------------------------------------------------------------------- */

/* Is it to be told that an allocation which ends at `ends` (0 = never) has `left` units? `told_ends` is the end
 * that was told of, 0 = none. within_s 0 = never. */
bool notice_expiry_due(int64_t ends, amount_t left, int64_t told_ends, int64_t within_s, int64_t now);

/* --- telling it ------------------------------------------------------------------------------------ */

/* How long to wait after the n-th failure in a row: first_s, twice as long each time, at most an hour (or
 * first_s, where that is more). failures >= 1. */
int64_t notice_pause_s(int64_t failures, int64_t first_s);

/* Is it too old to be told? */
bool notice_is_stale(int64_t at, int64_t keep_s, int64_t now);

/* Names and reasons of people on one line: what is no UTF-8 or a control character becomes '?', and so does
 * what turns the direction of a text. Cut to fit. Returns out. */
const char *notice_line(const char *text, char *out, size_t size);

/* "https://hooks.example.org:8443" out of a URL that may have a secret in its path or query: what logs and
 * answers may show. http or https, a host, no user, no blanks. 0; or -1, EINVAL and a text that shows nothing
 * of the URL. */
#define NOTICE_PLACE_MAX 300
int notice_url_place(const char *url, char place[static NOTICE_PLACE_MAX], struct fault *why);

#endif
