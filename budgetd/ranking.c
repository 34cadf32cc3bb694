/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking.c - the budget tree with what each project got (doc/model.md, 5). */
#include "budgetd/ranking.h"
#include "budgetd/ledger_run.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct place_of {
	int64_t project;
	size_t node;
};

struct ranking {
	size_t count, room;
	struct fairshare_node *nodes;	/* parents before children */
	struct project *projects;	/* in the order of nodes */
	amount_t *unpaid;		/* likewise: what each used without paying for it, in the window */
	struct place_of *places;	/* by project, once the tree is complete */
	size_t path[BUDGET_DEPTH_MAX];	/* while it is read: the nodes above the next one */
	struct fairshare_cluster cluster;
	struct fairshare *funded, *free_tier;
	int64_t from, now;
};

/* --- the tree ----------------------------------------------------------------------------------- */

static int by_project(const void *a, const void *b)
{
	int64_t x = ((const struct place_of *)a)->project, y = ((const struct place_of *)b)->project;

	return (x > y) - (x < y);
}

ssize_t ranking_node(const struct ranking *r, int64_t project)
{
	const struct place_of key = { .project = project };
	const struct place_of *found = r->count ? bsearch(&key, r->places, r->count, sizeof(*r->places), by_project) : NULL;

	return found ? (ssize_t)found->node : -1;
}

static int grow(struct ranking *r)
{
	size_t room = r->room ? r->room * 2 : 64;
	struct fairshare_node *nodes = reallocarray(r->nodes, room, sizeof(*nodes));
	struct project *projects;

	if (!nodes)
		return -1;
	r->nodes = nodes;
	projects = reallocarray(r->projects, room, sizeof(*projects));
	if (!projects)
		return -1;
	r->projects = projects;
	r->room = room;
	return 0;
}

/* They come depth first: the last one a level higher is the parent. */
static int add_project(const struct project *p, int depth, void *arg)
{
	struct ranking *r = arg;

	if (r->count == r->room && grow(r) < 0)
		return -1;
	r->path[depth] = r->count;
	r->projects[r->count] = *p;
	r->nodes[r->count++] = (struct fairshare_node){ .parent = depth == 0 ? FAIRSHARE_NO_PARENT : (int)r->path[depth - 1],
		.share = p->share, .entitled = FAIRSHARE_BY_SHARE };
	return 0;
}

static int read_tree(struct ranking *r, struct ledger *l, struct fault *why)
{
	if (project_walk(l, 0, add_project, r, why) < 0)
		return -1;
	r->places = calloc(r->count + 1, sizeof(*r->places));
	r->unpaid = calloc(r->count + 1, sizeof(*r->unpaid));
	if (!r->places || !r->unpaid)
		return fault_errno(why, ENOMEM, "out of memory for %zu projects", r->count);
	for (size_t i = 0; i < r->count; i++)
		r->places[i] = (struct place_of){ r->projects[i].id, i };
	qsort(r->places, r->count, sizeof(*r->places), by_project);
	return 0;
}

/* --- what each got ------------------------------------------------------------------------------ */

static int add_charges(int64_t project, amount_t units, void *arg)
{
	struct ranking *r = arg;
	ssize_t i = ranking_node(r, project);

	if (i >= 0)
		r->nodes[i].charged += units;
	return 0;
}

static int add_unpaid(int64_t project, amount_t units, void *arg)
{
	struct ranking *r = arg;
	ssize_t i = ranking_node(r, project);

	if (i >= 0)
		r->unpaid[i] += units;
	return 0;
}

/* Seconds of [from, to) that there are. */
static int64_t span(int64_t from, int64_t to)
{
	return to > from ? to - from : 0;
}

/* A run is felt while it runs: what it has used so far counts as charged as far as its hold goes, what is left of its minimum as the entry
 * penalty. */
static int add_run(const struct run *run, void *arg)
{
	struct ranking *r = arg;
	ssize_t i = ranking_node(r, run->project);
	int64_t from = run->charged_to > r->from ? run->charged_to : r->from;	/* what is before has its charges */
	bool paid = run->tier == TIER_FUNDED && run->admission;
	int64_t paid_to = !paid ? from : run->covered_until < r->now ? run->covered_until : r->now;

	if (i < 0)
		return 0;
	r->nodes[i].charged += run->price * span(from, paid_to);
	r->unpaid[i] += run->price * span(paid_to > from ? paid_to : from, r->now);
	if (paid)
		r->nodes[i].entry += run->price * span(r->now, run->start + run->min_runtime_s);
	return 0;
}

static int read_use(struct ranking *r, struct ledger *l, struct fault *why)
{
	if (charge_sums(l, r->from, add_charges, r, why) < 0 || charge_sums_free(l, r->from, add_unpaid, r, why) < 0)
		return -1;
	return run_walk_open(l, "", add_run, r, why);
}

/* --- the order ---------------------------------------------------------------------------------- */

static int rank_free_tier(struct ranking *r, struct fault *why)
{
	struct fairshare_node *nodes = calloc(r->count + 1, sizeof(*nodes));
	int rc;

	if (!nodes)
		return fault_errno(why, ENOMEM, "out of memory for %zu projects", r->count);
	for (size_t i = 0; i < r->count; i++) {
		nodes[i] = r->nodes[i];
		nodes[i].charged = r->unpaid[i];
		nodes[i].entry = 0;
	}
	rc = fairshare_new(nodes, r->count, &r->cluster, &r->free_tier, why);
	free(nodes);
	return rc;
}

/* Units a second. While every node is down the order stays what it was: nobody is entitled to anything, but some used less. */
static int capacity_of(struct rates *rates, const struct gpu_count *healthy, int64_t now, amount_t *out, struct fault *why)
{
	struct gpu_count gpus = *healthy;

	gpus.shards = gpus.mps = 0;
	if (rates_price(rates, &gpus, now, out) < 0)
		return fault_errno(why, EOVERFLOW, "the GPUs of the cluster cost more than can be counted");
	if (*out == 0)
		*out = AMOUNT_RATE_ONE;
	return 0;
}

int ranking_new(struct ledger *l, int64_t window_s, struct rates *rates, const struct gpu_count *healthy, int64_t now, struct ranking **out,
	struct fault *why)
{
	struct ranking *r = calloc(1, sizeof(*r));

	if (!r)
		return fault_errno(why, ENOMEM, "out of memory");
	r->from = now - window_s;
	r->now = now;
	if (capacity_of(rates, healthy, now, &r->cluster.capacity, why) < 0)
		goto fail;
	r->cluster.capacity_window = r->cluster.capacity * window_s;
	if (read_tree(r, l, why) < 0 || read_use(r, l, why) < 0)
		goto fail;
	if (fairshare_new(r->nodes, r->count, &r->cluster, &r->funded, why) < 0 || rank_free_tier(r, why) < 0)
		goto fail;
	*out = r;
	return 0;
fail:
	ranking_free(r);
	return -1;
}

int ranking_add_entry(struct ranking *r, int64_t project, amount_t units, struct fault *why)
{
	ssize_t i = ranking_node(r, project);
	struct fairshare *anew;

	if (i < 0)
		return 0;
	r->nodes[i].entry += units;
	if (fairshare_new(r->nodes, r->count, &r->cluster, &anew, why) < 0) {
		r->nodes[i].entry -= units;
		return -1;
	}
	fairshare_free(r->funded);
	r->funded = anew;
	return 0;
}

void ranking_free(struct ranking *r)
{
	if (!r)
		return;
	fairshare_free(r->funded);
	fairshare_free(r->free_tier);
	free(r->nodes);
	free(r->projects);
	free(r->unpaid);
	free(r->places);
	free(r);
}

/* --- questions ---------------------------------------------------------------------------------- */

const struct fairshare *ranking_funded(const struct ranking *r)
{
	return r->funded;
}

const struct fairshare *ranking_free_tier(const struct ranking *r)
{
	return r->free_tier;
}

uint32_t ranking_rank(const struct ranking *r, int64_t project)
{
	ssize_t i = ranking_node(r, project);

	return i < 0 ? UINT32_MAX : fairshare_rank(r->funded, (size_t)i);
}

int ranking_levels(const struct ranking *r, int64_t project, struct ranking_level *out, int max)
{
	int path[BUDGET_DEPTH_MAX], depth = 0;

	for (ssize_t i = ranking_node(r, project); i >= 0 && depth < BUDGET_DEPTH_MAX; i = r->nodes[i].parent)
		path[depth++] = (int)i;
	for (int k = 0; k < depth && k < max; k++) {
		int i = path[depth - 1 - k], ahead = fairshare_ahead(r->funded, (size_t)i);

		memcpy(out[k].name, r->projects[i].name, sizeof(out[k].name));
		out[k].share_ppm = fairshare_share_ppm(r->funded, (size_t)i);
		out[k].ratio_ppm = fairshare_ratio_ppm(r->funded, (size_t)i);
		memset(out[k].ahead, 0, sizeof(out[k].ahead));
		if (ahead >= 0)
			memcpy(out[k].ahead, r->projects[ahead].name, sizeof(out[k].ahead));
	}
	return depth < max ? depth : max;
}
