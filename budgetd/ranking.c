/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking.c - the budget tree with what each project got (doc/model.md, 5). */
#include "budgetd/ranking.h"
#include "budgetd/ranking_inside.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

ssize_t ranking_node(const struct ranking *r, int64_t project)
{
	return ranking_tree_node(&r->tree, project);
}

/* --- what each got ------------------------------------------------------------------------------ */

static void add_used(int64_t project, amount_t paid, amount_t unpaid, void *arg)
{
	struct ranking *r = arg;
	ssize_t i = ranking_node(r, project);

	if (i >= 0) {
		r->tree.nodes[i].charged += paid;
		r->unpaid[i] += unpaid;
	}
}

/* Seconds of [from, to) that there are. */
static int64_t span(int64_t from, int64_t to)
{
	return to > from ? to - from : 0;
}

/* A run is felt while it runs: what it has used so far counts as charged as far as its hold goes, what is left of its minimum as the entry
 * penalty. */
static void add_run(const struct open_use *run, void *arg)
{
	struct ranking *r = arg;
	ssize_t i = ranking_node(r, run->project);
	int64_t from = run->charged_to > r->from ? run->charged_to : r->from;	/* what is before has its charges */
	int64_t paid_to = !run->paid ? from : run->covered_until < r->now ? run->covered_until : r->now;

	if (i < 0)
		return;
	r->tree.nodes[i].charged += run->price * span(from, paid_to);
	r->unpaid[i] += run->price * span(paid_to > from ? paid_to : from, r->now);
	if (run->paid)
		r->tree.nodes[i].entry += run->price * span(r->now, run->start + run->min_runtime_s);
}

/* --- the order ---------------------------------------------------------------------------------- */

static int rank_free_tier(struct ranking *r, struct fault *why)
{
	struct fairshare_node *nodes = calloc(r->tree.count + 1, sizeof(*nodes));
	int rc;

	if (!nodes)
		return fault_errno(why, ENOMEM, "out of memory for %zu projects", r->tree.count);
	for (size_t i = 0; i < r->tree.count; i++) {
		nodes[i] = r->tree.nodes[i];
		nodes[i].charged = r->unpaid[i];
		nodes[i].entry = 0;
	}
	rc = fairshare_new(nodes, r->tree.count, &r->tree.cluster, &r->free_tier, why);
	free(nodes);
	return rc;
}

static int rank(struct ranking *r, struct fault *why)
{
	fairshare_free(r->funded);
	fairshare_free(r->free_tier);
	r->funded = r->free_tier = NULL;
	if (fairshare_new(r->tree.nodes, r->tree.count, &r->tree.cluster, &r->funded, why) < 0)
		return -1;
	return rank_free_tier(r, why);
}

/* --- made --------------------------------------------------------------------------------------- */

int ranking_capacity(struct rates *rates, const struct gpu_count *healthy, int64_t now, amount_t *out, struct fault *why)
{
	struct gpu_count gpus = *healthy;

	gpus.shards = gpus.mps = 0;
	if (rates_price(rates, &gpus, now, out) < 0)
		return fault_errno(why, EOVERFLOW, "the GPUs of the cluster cost more than can be counted");
	return 0;
}

/* The tree, and what each of its nodes used. */
static int fill(struct ranking *r, struct ledger *l, amount_t capacity, struct fault *why)
{
	if (occupancy_read(r->occupancy, l, r->from, why) < 0 ||
		ranking_tree_read(&r->tree, l, r->from, r->now, capacity, occupancy_imported_from(r->occupancy), why) < 0)
		return -1;
	free(r->unpaid);
	r->unpaid = calloc(r->tree.count + 1, sizeof(*r->unpaid));
	if (!r->unpaid)
		return fault_errno(why, ENOMEM, "out of memory for %zu projects", r->tree.count);
	occupancy_walk(r->occupancy, add_used, r);
	return occupancy_walk_open(l, add_run, r, why);
}

int ranking_renew(struct ranking *r, struct ledger *l, int64_t window_s, struct rates *rates, const struct gpu_count *healthy, int64_t now,
	struct fault *why)
{
	amount_t capacity = -1;

	r->from = now - window_s;
	r->now = now;
	if (healthy && ranking_capacity(rates, healthy, now, &capacity, why) < 0)
		return -1;
	return fill(r, l, capacity, why) < 0 ? -1 : rank(r, why);
}

int ranking_new(struct ledger *l, int64_t window_s, struct rates *rates, const struct gpu_count *healthy, int64_t now, struct ranking **out,
	struct fault *why)
{
	struct ranking *r = calloc(1, sizeof(*r));

	if (r)
		r->occupancy = occupancy_new();
	if (!r || !r->occupancy) {
		free(r);
		return fault_errno(why, ENOMEM, "out of memory");
	}
	if (ranking_renew(r, l, window_s, rates, healthy, now, why) < 0) {
		ranking_free(r);
		return -1;
	}
	*out = r;
	return 0;
}

int ranking_add_entry(struct ranking *r, int64_t project, amount_t units, struct fault *why)
{
	ssize_t i = ranking_node(r, project);
	struct fairshare *anew;

	if (i < 0)
		return 0;
	r->tree.nodes[i].entry += units;
	if (fairshare_new(r->tree.nodes, r->tree.count, &r->tree.cluster, &anew, why) < 0) {
		r->tree.nodes[i].entry -= units;
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
	occupancy_free(r->occupancy);
	ranking_tree_clear(&r->tree);
	free(r->unpaid);
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

	for (ssize_t i = ranking_node(r, project); i >= 0 && depth < BUDGET_DEPTH_MAX; i = r->tree.nodes[i].parent)
		path[depth++] = (int)i;
	for (int k = 0; k < depth && k < max; k++) {
		int i = path[depth - 1 - k], ahead = fairshare_ahead(r->funded, (size_t)i);

		memcpy(out[k].name, r->tree.projects[i].name, sizeof(out[k].name));
		out[k].share_ppm = fairshare_share_ppm(r->funded, (size_t)i);
		out[k].ratio_ppm = fairshare_ratio_ppm(r->funded, (size_t)i);
		memset(out[k].ahead, 0, sizeof(out[k].ahead));
		if (ahead >= 0)
			memcpy(out[k].ahead, r->tree.projects[ahead].name, sizeof(out[k].ahead));
	}
	return depth < max ? depth : max;
}
