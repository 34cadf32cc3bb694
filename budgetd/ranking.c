/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking.c - the budget tree with what each project got (doc/model.md, 5). */
#include "budgetd/ranking.h"
#include "budgetd/ledger_run.h"
#include "lib/fairshare.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ranking {
	size_t count, room;
	struct fairshare_node *nodes;
	struct project *projects;	/* in the order of nodes: parents before children */
	struct fairshare *fairshare;
	int64_t from, now;
};

static ssize_t find(const struct ranking *r, int64_t project)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->projects[i].id == project)
			return (ssize_t)i;
	return -1;
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

static int add_project(const struct project *p, int depth, void *arg)
{
	struct ranking *r = arg;
	ssize_t parent = p->parent ? find(r, p->parent) : -1;

	(void)depth;
	if (r->count == r->room && grow(r) < 0)
		return -1;
	r->projects[r->count] = *p;
	r->nodes[r->count++] = (struct fairshare_node){ .parent = parent < 0 ? FAIRSHARE_NO_PARENT : (int)parent, .share = p->share,
		.entitled = FAIRSHARE_BY_SHARE };
	return 0;
}

static int add_charges(int64_t project, amount_t units, void *arg)
{
	struct ranking *r = arg;
	ssize_t i = find(r, project);

	if (i >= 0)
		r->nodes[i].charged += units;
	return 0;
}

/* A run is felt while it runs: what it has used so far counts as charged, what is left of its minimum as the entry penalty. */
static int add_run(const struct run *run, void *arg)
{
	struct ranking *r = arg;
	ssize_t i = find(r, run->project);
	int64_t from = run->charged_to > r->from ? run->charged_to : r->from;	/* what is before has its charges */
	int64_t used_to = run->covered_until < r->now ? run->covered_until : r->now;
	int64_t minimum_end = run->start + run->min_runtime_s;

	if (i < 0 || run->tier != TIER_FUNDED || !run->admission)
		return 0;
	if (used_to > from)
		r->nodes[i].charged += run->price * (used_to - from);
	if (minimum_end > r->now)
		r->nodes[i].entry += run->price * (minimum_end - r->now);
	return 0;
}

static int fill(struct ranking *r, struct ledger *l, struct fault *why)
{
	if (project_walk(l, 0, add_project, r, why) < 0 || charge_sums(l, r->from, add_charges, r, why) < 0)
		return -1;
	return run_walk_open(l, "", add_run, r, why);
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
	struct fairshare_cluster c;
	struct ranking *r;

	if (capacity_of(rates, healthy, now, &c.capacity, why) < 0)
		return -1;
	c.capacity_window = c.capacity * window_s;
	r = calloc(1, sizeof(*r));
	if (!r)
		return fault_errno(why, ENOMEM, "out of memory");
	r->from = now - window_s;
	r->now = now;
	if (fill(r, l, why) < 0 || fairshare_new(r->nodes, r->count, &c, &r->fairshare, why) < 0) {
		ranking_free(r);
		return -1;
	}
	*out = r;
	return 0;
}

void ranking_free(struct ranking *r)
{
	if (!r)
		return;
	fairshare_free(r->fairshare);
	free(r->nodes);
	free(r->projects);
	free(r);
}

uint32_t ranking_rank(const struct ranking *r, int64_t project)
{
	ssize_t i = find(r, project);

	return i < 0 ? UINT32_MAX : fairshare_rank(r->fairshare, (size_t)i);
}

int ranking_levels(const struct ranking *r, int64_t project, struct ranking_level *out, int max)
{
	int path[BUDGET_DEPTH_MAX], depth = 0;

	for (ssize_t i = find(r, project); i >= 0 && depth < BUDGET_DEPTH_MAX; i = r->nodes[i].parent)
		path[depth++] = (int)i;
	for (int k = 0; k < depth && k < max; k++) {
		int i = path[depth - 1 - k], ahead = fairshare_ahead(r->fairshare, (size_t)i);

		memcpy(out[k].name, r->projects[i].name, sizeof(out[k].name));
		out[k].share_ppm = fairshare_share_ppm(r->fairshare, (size_t)i);
		out[k].ratio_ppm = fairshare_ratio_ppm(r->fairshare, (size_t)i);
		memset(out[k].ahead, 0, sizeof(out[k].ahead));
		if (ahead >= 0)
			memcpy(out[k].ahead, r->projects[ahead].name, sizeof(out[k].ahead));
	}
	return depth < max ? depth : max;
}
