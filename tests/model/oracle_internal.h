/* SPDX-License-Identifier: GPL-2.0-or-later
 * oracle_internal.h - what the files of the oracle share: money that is set aside and taken, runs and their
 * parts */
#ifndef TESTS_MODEL_ORACLE_INTERNAL_H
#define TESTS_MODEL_ORACLE_INTERNAL_H
#include "tests/model/oracle.h"

static inline int64_t o_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t o_most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline bool o_is_live(const struct o_allocation *a, int64_t now)
{
	return a->from <= now && (!a->until || now < a->until);
}

/* --- oracle_cap.c --- */

/* What a decision may still take for the project: the tightest of it and all above that ever had an
 * allocation, and what the caps of the user leave there; INT64_MAX: no bound. */
int64_t o_room(const struct oracle *o, int node, int user, int64_t now);
/* What is left for the user at one of them, and whether that is for a cap. */
int64_t o_available_to(const struct oracle *o, int node, int user, int64_t now, bool *is_cap);

/* --- oracle_money.c --- */

/* At each of them: out of what expires first, its credit last. */
void o_hold_more(struct oracle *o, int hold, int node, int64_t units, int64_t now);
/* Given back at each: what expires last, and credit before all, was taken last. */
void o_hold_less(struct oracle *o, int hold, int64_t units);
/* To the hold `to`. */
void o_hold_move(struct oracle *o, int hold, int to, int64_t units);
/* Units of a hold become a charge: at each project what expires first is spent first. */
void o_hold_charge(struct oracle *o, int hold, int part, int64_t units);

/* --- oracle.c --- */

/* What becomes of a job that its project cannot pay. */
enum o_policy o_policy_of(const struct oracle *o, const struct o_job *j);

/* The terms of a job, and its price by the rates of now. */
void o_declare(struct oracle *o, struct o_job *j, const struct o_seen *want, int64_t minimum, int64_t now);

/* --- oracle_queue.c --- */

/* Who is in front, in the order in which they were refused. */
struct o_line {
	struct o_place {
		int node, user; /* that refused; whose jobs are behind: O_NONE: all */
	} at[O_JOBS];
	int n;
};

/* The first of the line at the nearest project of the job's path, NULL: nobody is in front. */
const struct o_place *o_in_front(const struct oracle *o, const struct o_line *l, const struct o_job *j);
/* It waits for what refused it. */
void o_park(struct o_job *j, const struct o_place *p);
/* The project that has least, the nearest of those that have as little. */
struct o_place o_refused_by(const struct oracle *o, const struct o_job *j, int64_t now);
/* Those who wait, as a new job meets them: by the time of their answers. */
struct o_line o_those_who_wait(const struct oracle *o);
/* What is too much, and what nobody waits for, comes back; those who need more get it in their order. */
void o_look_at_queue(struct oracle *o, int64_t now, const struct o_seen *table, int n, bool all_seen);

/* --- oracle_run.c --- */

/* The first second of the month (of UTC) that `at` is in, or of the next one. */
int64_t o_month_edge(int64_t at, bool next);

/* Units a second of GPUs of a known type, or the dearest that the cluster has. */
int64_t o_price_at(const struct oracle *o, int gpus, int type, int64_t at);

int o_hold_new(struct oracle *o, int node, int user, int64_t units, int64_t now);
/* The share of one of its `tasks` tasks becomes a hold of its own: what expires first goes first. */
int o_hold_share(struct oracle *o, int hold, int tasks);
void o_hold_end(struct oracle *o, int *hold);
int64_t o_held_by(const struct oracle *o, int hold); /* 0 for O_NONE */

struct o_run *o_run_of(struct oracle *o, const struct o_seen *s); /* NULL: not known */
void o_start(struct oracle *o, const struct o_seen *s, int64_t now, bool from_rows);
void o_changes(struct oracle *o, struct o_run *r, const struct o_seen *s, int64_t now);
void o_interim(struct oracle *o, struct o_run *r, const struct o_seen *s, int64_t now);
void o_extend(struct oracle *o, struct o_run *r, const struct o_seen *s, int64_t now);
void o_settle(struct oracle *o, struct o_run *r, const struct o_seen *s, int64_t now, bool from_rows);

#endif
