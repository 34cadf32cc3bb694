/* SPDX-License-Identifier: GPL-2.0-or-later
 * metrics.h - /metrics for Prometheus: what is told (metrics_table.c), of what, and where it is asked
 *
 * A scrape reads what passes have published (cluster_state.h), counters (tally.h) and, over a reader of its
 * own, the books: no pass and no submission waits for it. Each name is in one table, with its type, unit and
 * help; doc/api.md describes the same rows.
 *
 * Unit     GPU-hours are told as GPU-seconds at rate 1.000, Prometheus' base unit
 * Threads  a struct metrics_view and its text belong to one thread */
#ifndef BUDGETD_METRICS_H
#define BUDGETD_METRICS_H
#include <stdio.h>
#include <sys/types.h>
#include "budgetd/budgetd.h"
#include "budgetd/cluster_state.h"
#include "lib/budget.h"

struct ledger;
struct tally;

/* --- what is told of ------------------------------------------------------------------------------ */

/* Of one project; or, the last row with the name METRICS_OTHERS, of all that have no row. */
#define METRICS_OTHERS "(others)"
struct metrics_project {
	char name[PROJECT_NAME_MAX];
	bool metered;			/* it has a budget: what follows is of it */
	amount_t amount, charged, held, available, credit;
	bool shared;			/* it is in the tree of fair share: what follows */
	int64_t share_ppm, ratio_ppm;	/* ratio -1: a share of 0 */
	amount_t entitled, occupied, entry, owed, delivered, free_used;
};

struct metrics_projects {
	struct metrics_project *rows;
	size_t count;
	size_t live;			/* projects that there are */
};

/* At most `max` projects, those with the largest shares, and the row of the others where there are more: of a
 * project and one below it that are both among them the upper one is counted, which has what the lower one
 * has. Wants an open transaction on `l`. 0, or -1; to be freed with free(out->rows) in either case. */
int metrics_projects_read(const struct budgetd *b, struct ledger *l, size_t max, int64_t now,
	struct metrics_projects *out, struct fault *why);

/* TIER_OTHERS: GPUs in a QOS that is none of ours. WAITING: held until its project can pay for it. */
enum metrics_tier { METRICS_FUNDED, METRICS_FREE, METRICS_NO_TIER, METRICS_TIERS };
enum metrics_state { METRICS_RUNNING, METRICS_PENDING, METRICS_WAITING, METRICS_STATES };
struct metrics_jobs {
	int64_t jobs[METRICS_TIERS][METRICS_STATES];
	int64_t gpus[METRICS_TIERS];	/* of those that run */
	int64_t longest_wait_s[METRICS_TIERS];	/* of those that could run */
};
void metrics_jobs_count(const struct budgetd *b, int64_t now, struct metrics_jobs *out);

struct metrics_view {
	const struct tally *tally;
	struct cluster_health health;
	struct metrics_jobs jobs;
	struct metrics_projects projects;
	bool books_read;		/* false: the rows of projects are missing */
	bool books_written;		/* the last write succeeded */
	bool tells;			/* notices are on: of those that wait, and failed */
	int64_t notices_waiting, notices_failed;
	bool watches_gpus;		/* idle jobs are known */
};

/* --- as text -------------------------------------------------------------------------------------- */

/* Prometheus asks for the first one, and takes the second one too, which is what `promtool check metrics`
 * reads. They differ in how counters are named, and in the end. */
enum metrics_format { METRICS_OPENMETRICS, METRICS_TEXT };
const char *metrics_content_type(enum metrics_format f);
/* All of the table, to `to`: whether that worked is told by ferror(). */
void metrics_print(const struct metrics_view *v, enum metrics_format f, FILE *to);

/* A row of the table; name with its unit and without the `_total` of a counter. unit "" = none. */
enum metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM };
struct metric_writer;
struct metric_row {
	const char *name;
	enum metric_type type;
	const char *unit, *help;
	void (*samples)(struct metric_writer *w, const struct metrics_view *v);
};
const struct metric_row *metric_at(size_t i);	/* NULL behind the last */
/* The table as a list of budgetd(8), in mdoc(7). */
void metrics_print_manual(FILE *to);

/* --- where it is asked ----------------------------------------------------------------------------- */

struct metrics_door;
/* Listens at `metrics_listen`; where that is empty *out is NULL. `b` must outlive it. 0, or -1. */
int metrics_start(const struct budgetd *b, struct metrics_door **out, struct fault *why);
void metrics_stop(struct metrics_door *d);	/* NULL is fine */

#endif
