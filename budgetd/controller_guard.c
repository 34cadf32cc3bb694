/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_guard.c - the nodes of a gang that has waited long are kept for it (doc/model.md, 6)
 *
 * While room is looked for, the first such gang keeps the nodes that it gets, or will get first as minimum
 * runtimes end (pass_guard_choose). From then on who stands behind it and would still be inside its minimum
 * runtime at the planned start, or could not be displaced by it, may not start there: these nodes are among
 * the excluded ones of its records, beside its user's own. Slurm has no other means that looks at a minimum
 * runtime: reservations and backfill go by time limits. A job that has no other nodes is held instead: Slurm
 * would take it for one that can never run.
 *
 * Level-triggered: what was written stands in the books first, with what was there before; a record that has
 * exactly such a text has it from us. So it is taken back after any kill, of a run that was requeued as well,
 * and whatever else is found is its user's or an operator's. */
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_guard.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/ranking.h"
#include "budgetd/room.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UPDATES_A_SECOND 200		/* as places: each costs slurmctld 0.6 ms */
#define MOVED_S 60			/* a planned start that moves by less is the same */
#define GIVEN_UP_AFTER_S 180		/* a gang that has its nodes: Slurm backfills every 30 s */
#define GIVEN_UP_FOR_S 600
/* what was written so long ago stands in no record of a job that neither waits nor runs */
#define FORGET_AFTER_S (30 * 86400)

struct kept_row {
	int64_t admission;
	char *written, *own;
	bool nowhere;
};

struct keeping {
	struct pass *p;
	struct kept_row *rows;		/* by admission */
	size_t nrows, rows_room;
	struct room *room;		/* with a guard */
	bool *guarded;			/* by index of p->cluster->nodes */
	struct fault *why;
};

/* --- the guard ---------------------------------------------------------------------------------- */

static int write_guard(struct pass *p, void *arg, struct fault *why)
{
	if (guard_store(p->b->ledger, arg, why) < 0)
		return -1;
	return kept_off_forget(p->b->ledger, p->now - FORGET_AFTER_S, why);
}

static void publish(struct pass *p, const struct guard *g)
{
	const struct waiting *w = g->nodes[0] ? pass_find_waiting(p, g->admission) : NULL;
	struct gang_guard known = { .job = w ? pass_array_or_job_id(w->job) : 0, .at = g->at,
		.together = g->together };

	snprintf(known.nodes, sizeof(known.nodes), "%.*s", (int)sizeof(known.nodes) - 1, g->nodes);
	cluster_state_set_guard(p->b->cluster, &known);
}

int pass_guard_note(struct pass *p, struct fault *why)
{
	struct guard *old = &p->guard, *now = &p->next_guard;
	bool same = old->admission == now->admission && !strcmp(old->nodes, now->nodes);

	publish(p, now);
	if (same && now->at - old->at < MOVED_S && old->at - now->at < MOVED_S)
		return 0;
	if (!same && now->nodes[0])
		log_info("nodes are cleared for job %u: %s",
			pass_array_or_job_id(pass_find_waiting(p, now->admission)->job), now->nodes);
	return pass_write(p, LEDGER_HOLDS, write_guard, now, why);
}

/* As the last pass left it, when its gang still waits. */
static int load_guard(struct pass *p, struct fault *why)
{
	const struct waiting *gang;

	if (guard_load(p->books, &p->guard, why) < 0)
		return -1;
	gang = p->guard.admission ? pass_find_waiting(p, p->guard.admission) : NULL;
	if (!p->guard.admission ||
		(gang && (gang->cleared || p->guard.together) && p->b->settings->displace != DISPLACE_OFF))
		return 0;
	if (p->guard.nodes[0])
		log_info("no nodes are kept any more for the job that %s were cleared for", p->guard.nodes);
	p->guard = (struct guard){0};
	publish(p, &p->guard);
	return pass_write(p, LEDGER_HOLDS, write_guard, &p->guard, why);
}

static bool is_in(const struct placement_choice *c, size_t n, size_t node)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c[i].nparts; k++)
			if (c[i].parts[k].node == node)
				return true;
	return false;
}

void pass_guard_nodes(struct pass *p, const struct waiting *w, const struct placement_choice *c, size_t n,
	int64_t at)
{
	struct guard *g = &p->next_guard;
	size_t used = 0;

	*g = (struct guard){ .admission = w->admission.id, .at = at, .together = w->job->het_job_id };
	for (size_t i = 0; i < p->cluster->node_count && used < sizeof(g->nodes); i++)
		if (is_in(c, n, i))
			used += (size_t)snprintf(g->nodes + used, sizeof(g->nodes) - used, "%s%s",
				used ? "," : "", p->cluster->nodes[i].name);
	if (used >= sizeof(g->nodes))
		*g = (struct guard){0};
}

/* The nodes that it has already, as long as they do as soon as was planned; else those that are empty enough
 * first. */
static int forecast(struct pass *p, struct room *room, const struct placement_rules *rules,
	const struct placement_job *shape, const struct waiting *w, struct placement_choice *c, int64_t *at)
{
	struct placement_job same = *shape;
	int64_t planned = p->guard.at > p->now ? p->guard.at : p->now;

	same.kept_only = true;
	if (p->guard.admission == w->admission.id) {
		int rc;

		for (size_t i = 0; i < p->cluster->node_count; i++)
			if (slurm_link_has_node(p->guard.nodes, p->cluster->nodes[i].name))
				placement_keep(room_placement(room), (uint32_t)i);
		rc = placement_forecast(room_placement(room), rules, &same, p->now, c, at);
		if (rc < 0 || (rc == 1 && *at <= planned + MOVED_S))
			return rc;
	}
	return placement_forecast(room_placement(room), rules, shape, p->now, c, at);
}

int pass_guard_choose(struct pass *p, struct room *room, const struct placement_rules *rules,
	const struct placement_job *shape, const struct waiting *w, struct placement_choice *c,
	int64_t promised)
{
	int64_t at = promised;
	int rc = promised ? 1 : forecast(p, room, rules, shape, w, c, &at);

	if (rc != 1)
		return rc;
	pass_guard_nodes(p, w, c, 1, at);
	if (!promised)
		placement_guard(room_placement(room), c->parts, c->nparts, at);
	return 0;
}

static int write_given_up(struct pass *p, void *arg, struct fault *why)
{
	return guard_give_up(p->b->ledger, *(const int64_t *)arg, p->now, p->now - GIVEN_UP_FOR_S, why);
}

int pass_guard_gives_up(struct pass *p, const struct waiting *w, bool has_nodes, struct fault *why)
{
	int64_t admission = w->admission.id;

	if (p->guard.admission != admission)
		return guard_given_up(p->books, admission, p->now - GIVEN_UP_FOR_S, why);
	if (!has_nodes || p->now - p->guard.at <= GIVEN_UP_AFTER_S)
		return 0;
	log_info("job %u does not start on the nodes that were cleared for it: they are given up",
		pass_array_or_job_id(w->job));
	return pass_write(p, LEDGER_HOLDS, write_given_up, &admission, why) < 0 ? -1 : 1;
}

/* --- who is kept off ---------------------------------------------------------------------------- */

static int know_row(const struct kept_off *k, void *arg)
{
	struct keeping *x = arg;
	struct kept_row *more = x->rows, *row;
	size_t room = x->rows_room ? 2 * x->rows_room : 64;

	if (x->nrows == x->rows_room) {
		more = reallocarray(x->rows, room, sizeof(*more));
		if (!more)
			return -1;
		x->rows = more;
		x->rows_room = room;
	}
	row = &x->rows[x->nrows++];
	*row = (struct kept_row){ k->admission, strdup(k->written), strdup(k->own), k->nowhere };
	return row->written && row->own ? 0 : -1;
}

/* The first of the admission's rows, or NULL. */
static const struct kept_row *rows_of(const struct keeping *x, int64_t admission)
{
	size_t low = 0, high = x->nrows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->rows[middle].admission < admission)
			low = middle + 1;
		else
			high = middle;
	}
	return low < x->nrows && x->rows[low].admission == admission ? &x->rows[low] : NULL;
}

static bool was_nowhere(const struct keeping *x, const struct waiting *w)
{
	const struct kept_row *end = x->rows + x->nrows, *row = rows_of(x, w->admission.id);

	for (; row && row < end && row->admission == w->admission.id; row++)
		if (row->nowhere)
			return true;
	return false;
}

/* What the record has is ours: which of what we wrote. NULL: it is its user's. */
static const struct kept_row *written_in(const struct keeping *x, const struct waiting *w,
	const struct job_view *j)
{
	const struct kept_row *end = x->rows + x->nrows,
		*row = j->excluded ? rows_of(x, w->admission.id) : NULL;

	for (; row && row < end && row->admission == w->admission.id; row++)
		if (!strcmp(row->written, j->excluded))
			return row;
	return NULL;
}

/* It must have one of these nodes, or there are too few others. */
static bool has_nowhere_else(const struct keeping *x, const struct waiting *w)
{
	const struct pass *p = x->p;
	const struct kept_row *row = written_in(x, w, w->job);
	const char *own = row ? row->own : w->job->excluded;
	struct placement_job shape;

	for (size_t i = 0; w->job->required && i < p->cluster->node_count; i++)
		if (x->guarded[i] && slurm_link_has_node(w->job->required, p->cluster->nodes[i].name))
			return true;
	if (was_nowhere(x, w))
		return true;
	/* of one whose nodes are not known here Slurm finds out (note_nowhere) */
	return room_shape(x->room, w, p->ranking, &shape) == 1 &&
		!room_has_others(x->room, &shape, x->guarded, own);
}

/* A het job displaces nobody in Slurm: just before its turn nothing free may begin there. */
static bool free_may_start_there(const struct pass *p)
{
	return !p->guard.together || p->now + GUARD_CLOSES_S(p->b->settings) < p->guard.at;
}

static bool may_start_there(const struct pass *p, const struct waiting *gang, const struct waiting *w)
{
	const struct placement_rules rules = { ranking_funded(p->ranking), NULL,
		p->b->settings->hysteresis_percent * 10000 };
	ssize_t its = ranking_node(p->ranking, gang->admission.project),
		other = ranking_node(p->ranking, w->admission.project);
	struct placement_job job = { .project = (uint32_t)its,
		.user = ranking_user_of(p->ranking, gang->admission.project, gang->admission.uid),
		.front = gang->front, .cleared = true };
	struct placement_run run = { .project = (uint32_t)other,
		.user = ranking_user_of(p->ranking, w->admission.project, w->admission.uid),
		.slot = pass_slot_is_open(p, w->admission.project) };

	if (p->now + w->admission.min_runtime_s > p->guard.at || its < 0 || other < 0)
		return false;
	return placement_may_displace(&rules, &job, &run);
}

static bool are_one(const struct waiting *a, const struct waiting *b)
{
	return a->job->het_job_id && a->job->het_job_id == b->job->het_job_id;
}

static bool is_bound(const struct pass *p, const struct waiting *w)
{
	return !w->job->cron && pass_mode(p, w->job) == ENFORCE_ON;
}

static void keep_off(const struct keeping *x, struct waiting *w)
{
	w->kept_off = true;
	w->nowhere = has_nowhere_else(x, w);
}

static void choose_free(struct keeping *x)
{
	for (size_t i = 0; i < x->p->nwaiting; i++) {
		struct waiting *w = &x->p->waiting[i];

		if (w->admission.tier == TIER_FREE && is_bound(x->p, w))
			keep_off(x, w);
	}
}

/* Those behind the gang in the order; to one that is no het job a free one gives way at any time. */
static int choose(struct keeping *x)
{
	struct pass *p = x->p;
	struct order_job *jobs = calloc(p->nwaiting + 1, sizeof(*jobs));
	const struct waiting *gang = NULL;
	size_t n = 0;

	for (size_t i = 0; jobs && i < p->nwaiting; i++)
		if (p->waiting[i].admission.tier == TIER_FUNDED)
			jobs[n++] = pass_order_job(&p->waiting[i], p->ranking);
	if (!jobs || order_sort(jobs, n) < 0) {
		free(jobs);
		return fault_errno(x->why, ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < n; i++) {
		struct waiting *w = jobs[i].data;

		if (w->admission.id == p->guard.admission)
			gang = w;
		else if (gang && is_bound(p, w) && !are_one(gang, w) && !may_start_there(p, gang, w))
			keep_off(x, w);
	}
	free(jobs);
	if (!free_may_start_there(p))
		choose_free(x);
	return 0;
}

static int write_row(struct pass *p, void *arg, struct fault *why)
{
	return kept_off_add(p->b->ledger, arg, p->now, why);
}

static int set_excluded(struct keeping *x, const struct job_view *j, const char *nodes)
{
	const struct job_update u = { .excluded = nodes };
	struct pass *p = x->p;
	struct fault problem = {0};
	char record[RECORD_MAX];

	p->updates++;
	if (slurm_link_update(p->b->slurm, pass_record(j, record), &u, &problem) < 0 && errno != EAGAIN &&
		errno != ENOENT && errno != EBUSY)
		log_warning("job %u: the nodes that it is kept off could not be set: %s", j->job_id,
			problem.text);
	return 0;
}

/* In the books first: what stands there is taken back, whatever happens in between. */
static int keep_record_off(struct keeping *x, const struct waiting *w, const struct job_view *j,
	const char *own)
{
	struct kept_off k = { .admission = w->admission.id, .own = own };
	char *written = NULL;
	int rc = -1;

	if (asprintf(&written, "%s%s%s", own, *own ? "," : "", x->p->guard.nodes) < 0)
		return fault_errno(x->why, ENOMEM, "out of memory");
	k.written = written;
	if (j->excluded && !strcmp(j->excluded, written))
		rc = 0;
	else if (pass_write(x->p, LEDGER_HOLDS, write_row, &k, x->why) == 0)
		rc = set_excluded(x, j, written);
	free(written);
	return rc;
}

/* Slurm knows more of the job than we do, and has found that no other node would ever do. */
static int note_nowhere(struct keeping *x, const struct kept_row *row)
{
	struct kept_off k = { row->admission, row->written, row->own, true };

	return pass_write(x->p, LEDGER_HOLDS, write_row, &k, x->why);
}

/* Before it has its nodes again: Slurm looks at a job that was changed at once, and it would start on them. */
static void hold_first(struct pass *p, const struct job_view *j)
{
	struct fault problem = {0};

	if (pass_mark(p, j, NULL, NULL, true, &problem) < 0 && errno != EAGAIN)
		log_warning("job %u has no other nodes than those that it is kept off, and could not be held: %s",
			j->job_id, problem.text);
}

static int follow_record(struct keeping *x, const struct waiting *w, const struct job_view *j)
{
	const struct kept_row *row = written_in(x, w, j);
	const char *own = row ? row->own : j->excluded ? j->excluded : "";
	bool stuck = row && j->held == HELD_BY_OTHER && j->reason && !strcmp(j->reason, "BadConstraints");

	if (j->cron || x->p->updates >= (size_t)(UPDATES_A_SECOND * x->p->b->settings->pass_interval_s))
		return 0;
	if (stuck && note_nowhere(x, row) < 0)
		return -1;
	if (stuck && w->kept_off)
		hold_first(x->p, j);
	if (w->kept_off && !w->nowhere && !stuck)
		return keep_record_off(x, w, j, own);
	return row ? set_excluded(x, j, own) : 0;
}

static int follow_all(struct keeping *x)
{
	int rc = 0;

	for (size_t i = 0; i < x->p->nwaiting && rc == 0; i++) {
		const struct waiting *w = &x->p->waiting[i];

		for (size_t k = 0; k < w->nrecords && rc == 0 && (w->kept_off || rows_of(x, w->admission.id));
			k++)
			rc = follow_record(x, w, w->records[k]);
	}
	return rc;
}

/* Who is no business of ours any more has nothing of ours left. */
static int let_back_where_off(struct keeping *x)
{
	struct pass *p = x->p;
	int rc = 0;

	for (size_t i = 0; x->nrows && i < p->jobs->count && rc == 0; i++) {
		const struct job_view *j = &p->jobs->jobs[i];
		struct waiting w = { .job = j };

		if (j->stage != STAGE_PENDING || !j->excluded || pass_mode(p, j) != ENFORCE_OFF)
			continue;
		rc = pass_admission(p, j, &w.admission, x->why);
		rc = rc == 1 ? follow_record(x, &w, j) : rc;
	}
	return rc;
}

static int look_around(struct keeping *x)
{
	struct pass *p = x->p;

	x->guarded = calloc(p->cluster->node_count + 1, sizeof(*x->guarded));
	if (!x->guarded)
		return fault_errno(x->why, ENOMEM, "out of memory");
	for (size_t i = 0; i < p->cluster->node_count; i++)
		x->guarded[i] = slurm_link_has_node(p->guard.nodes, p->cluster->nodes[i].name);
	return pass_ranking(p, x->why) && room_new(p, p->ranking, &x->room, x->why) == 0 ? 0 : -1;
}

int pass_keep_off(struct pass *p, struct fault *why)
{
	struct keeping x = { .p = p, .why = why };
	int rc = load_guard(p, why);

	if (rc == 0 && kept_off_walk(p->books, know_row, &x, why) < 0)
		rc = why->text[0] ? -1 : fault_errno(why, ENOMEM, "out of memory");
	if (rc == 0 && p->guard.nodes[0])
		rc = look_around(&x) < 0 ? -1 : choose(&x);
	if (rc == 0)
		rc = follow_all(&x) < 0 ? -1 : let_back_where_off(&x);
	for (size_t i = 0; i < x.nrows; i++) {
		free(x.rows[i].written);
		free(x.rows[i].own);
	}
	free(x.rows);
	free(x.guarded);
	room_free(x.room);
	return rc;
}
