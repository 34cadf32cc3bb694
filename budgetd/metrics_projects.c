/* SPDX-License-Identifier: GPL-2.0-or-later
 * metrics_projects.c - what /metrics tells of projects, out of the books.
 *
 * Series are what a Prometheus pays for, so their number is bounded by a setting. Which projects have rows of
 * their own is by their shares: those hardly change, so a series does not come and go. */
#include "budgetd/ledger_money.h"
#include "budgetd/metrics.h"
#include "budgetd/ranking.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct metrics_project row;
	int64_t parent;			/* index, -1 = none */
	bool own;			/* it has a row of its own */
};

struct reading {
	const struct budgetd *b;
	struct ledger *l;
	int64_t now;
	struct ranking *ranking;
	amount_t *owed;
	struct entry *entries;
	size_t count, room;
	int64_t above[BUDGET_DEPTH_MAX + 1];	/* index of the last one of each depth */
	struct fault *why;
};

static int put_budget(struct reading *x, int64_t project, struct metrics_project *m)
{
	struct path path;
	const struct budget_node *n;

	if (path_load(x->l, project, x->now, &path, x->why) < 0)
		return -1;
	n = &path.nodes[0].budget;
	m->metered = n->metered;
	if (!n->metered)
		return 0;
	m->amount = n->amount;
	m->charged = n->charged;
	m->held = n->held;
	m->credit = n->credit;
	m->available = budget_available(n);
	return 0;
}

static void put_share(const struct reading *x, int64_t project, struct metrics_project *m)
{
	const struct fairshare *funded = ranking_funded(x->ranking);
	ssize_t at = ranking_node(x->ranking, project);
	size_t i = (size_t)at;

	m->shared = at >= 0;
	if (!m->shared)
		return;
	m->share_ppm = fairshare_share_ppm(funded, i);
	m->ratio_ppm = fairshare_ratio_ppm(funded, i);
	m->entitled = fairshare_entitled(funded, i);
	m->occupied = fairshare_charged(funded, i);
	m->entry = fairshare_entry(funded, i);
	m->owed = x->owed[i];
	m->delivered = m->occupied < m->owed ? m->occupied : m->owed;
	m->free_used = fairshare_charged(ranking_free_tier(x->ranking), i);
}

static int read_project(const struct project *p, int depth, void *arg)
{
	struct reading *x = arg;
	struct entry *e;

	if (x->count == x->room) {
		size_t room = x->room ? x->room * 2 : 64;

		e = reallocarray(x->entries, room, sizeof(*e));
		if (!e)
			return fault_errno(x->why, ENOMEM, "out of memory");
		x->entries = e;
		x->room = room;
	}
	e = &x->entries[x->count];
	*e = (struct entry){ .parent = depth > 0 ? x->above[depth - 1] : -1 };
	x->above[depth] = (int64_t)x->count++;
	memcpy(e->row.name, p->name, sizeof(e->row.name));
	put_share(x, p->id, &e->row);
	return put_budget(x, p->id, &e->row);
}

/* --- which, and the others ------------------------------------------------------------------------ */

static int by_share(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;

	if (x->row.share_ppm != y->row.share_ppm)
		return x->row.share_ppm < y->row.share_ppm ? 1 : -1;
	return strcmp(x->row.name, y->row.name);
}

static int choose(struct reading *x, size_t max)
{
	struct entry **order = calloc(x->count ? x->count : 1, sizeof(*order));

	if (!order)
		return fault_errno(x->why, ENOMEM, "out of memory");
	for (size_t i = 0; i < x->count; i++)
		order[i] = &x->entries[i];
	qsort(order, x->count, sizeof(*order), by_share);
	for (size_t i = 0; i < x->count && i < max; i++)
		order[i]->own = true;
	free(order);
	return 0;
}

/* Is one above it among the others too, with figures of that kind? Then it is in those. */
static bool is_counted_above(const struct reading *x, const struct entry *e, bool budget)
{
	for (int64_t i = e->parent; i >= 0; i = x->entries[i].parent)
		if (!x->entries[i].own && (budget ? x->entries[i].row.metered : x->entries[i].row.shared))
			return true;
	return false;
}

static void add_budget(struct metrics_project *sum, const struct metrics_project *m)
{
	sum->metered = true;
	sum->amount += m->amount;
	sum->charged += m->charged;
	sum->held += m->held;
	sum->credit += m->credit;
	sum->available += m->available;
}

static void add_share(struct metrics_project *sum, const struct metrics_project *m)
{
	sum->shared = true;
	sum->share_ppm += m->share_ppm;
	sum->entitled += m->entitled;
	sum->occupied += m->occupied;
	sum->entry += m->entry;
	sum->owed += m->owed;
	sum->delivered += m->delivered;
	sum->free_used += m->free_used;
}

static void sum_others(const struct reading *x, struct metrics_project *sum)
{
	*sum = (struct metrics_project){ .name = METRICS_OTHERS };
	for (size_t i = 0; i < x->count; i++) {
		const struct entry *e = &x->entries[i];

		if (e->own)
			continue;
		if (e->row.metered && !is_counted_above(x, e, true))
			add_budget(sum, &e->row);
		if (e->row.shared && !is_counted_above(x, e, false))
			add_share(sum, &e->row);
	}
	/* as that of a project (doc/model.md, 5), of what they have together */
	sum->ratio_ppm = sum->entitled > 0
		? (int64_t)((__int128)(sum->occupied + sum->entry) * 1000000 / sum->entitled) : -1;
}

static int fill(struct reading *x, size_t max, struct metrics_projects *out)
{
	size_t n = 0;

	if (choose(x, max) < 0)
		return -1;
	out->live = x->count;
	out->rows = calloc((x->count < max ? x->count : max) + 1, sizeof(*out->rows));
	if (!out->rows)
		return fault_errno(x->why, ENOMEM, "out of memory");
	for (size_t i = 0; i < x->count; i++)
		if (x->entries[i].own)
			out->rows[n++] = x->entries[i].row;
	if (n < x->count)
		sum_others(x, &out->rows[n++]);
	out->count = n;
	return 0;
}

int metrics_projects_read(const struct budgetd *b, struct ledger *l, size_t max, int64_t now,
	struct metrics_projects *out, struct fault *why)
{
	struct reading x = { .b = b, .l = l, .now = now, .why = why };
	const struct settings *s = b->settings;
	struct cluster_health health;
	int rc = -1;

	*out = (struct metrics_projects){ 0 };
	cluster_state_health(b->cluster, &health);
	/* before the first pass nobody knows how many GPUs there are: as the books saw it last */
	if (ranking_new(l, s->window_s, b->rates, health.gpus ? &health.healthy : NULL, now, &x.ranking,
		why) == 0 &&
		ranking_owed(x.ranking, l, s->hold == HOLD_TIME_LIMIT, &x.owed, why) == 0 &&
		project_walk(l, 0, read_project, &x, why) == 0)
		rc = fill(&x, max, out);
	ranking_free(x.ranking);
	free(x.owed);
	free(x.entries);
	return rc;
}
