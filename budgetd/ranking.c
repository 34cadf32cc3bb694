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

/* Of the user, or -1. */
static ssize_t user_node(const struct ranking *r, int64_t project, int64_t uid)
{
	ssize_t i = r->tree.divides ? ranking_node(r, project) : -1;

	return i >= 0 && r->tree.projects[i].divided ? ranking_tree_user(&r->tree, (size_t)i, uid) : -1;
}

ssize_t ranking_node_of(const struct ranking *r, int64_t project, int64_t uid)
{
	ssize_t user = user_node(r, project, uid);

	return user >= 0 ? user : ranking_node(r, project);
}

uint32_t ranking_user_of(const struct ranking *r, int64_t project, int64_t uid)
{
	return (uint32_t)(user_node(r, project, uid) + 1);
}

int ranking_walk_users(const struct ranking *r, int64_t project, ranking_user_fn each, void *arg)
{
	const struct ranking_tree *t = &r->tree;
	ssize_t up = ranking_node(r, project);
	size_t n = up < 0 || !t->projects[up].divided ? 0 : t->count - t->nprojects;

	for (size_t i = ranking_tree_first_user(t, up < 0 ? 0 : (size_t)up); i < n &&
		t->users[i].up == (size_t)up; i++)
		if (each(t->nprojects + i, t->users[i].uid, t->nodes[t->nprojects + i].share, arg) < 0)
			return -1;
	return 0;
}

/* --- what each got ------------------------------------------------------------------------------ */

static void add_used(int64_t project, int64_t uid, amount_t paid, amount_t unpaid, void *arg)
{
	struct ranking *r = arg;
	ssize_t i = ranking_node_of(r, project, uid);

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

/* A run is felt while it runs: what it has used so far counts as charged as far as its hold goes, what is
 * left of its minimum as the entry penalty. */
static void add_run(const struct open_use *run, void *arg)
{
	struct ranking *r = arg;
	ssize_t i = ranking_node_of(r, run->project, run->uid);
	/* what is before has its charges */
	int64_t from = run->charged_to > r->from ? run->charged_to : r->from;
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

int ranking_capacity(struct rates *rates, const struct gpu_count *healthy, int64_t now, amount_t *out,
	struct fault *why)
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
	bool by_user;

	if (ranking_users_any(l, &by_user, why) < 0 ||
		occupancy_read(r->occupancy, l, r->from, by_user, why) < 0 ||
		ranking_tree_read(&r->tree, l, r->from, why) < 0 ||
		ranking_users_find(&r->tree, r->occupancy, l, r->expected, r->nexpected, why) < 0 ||
		ranking_tree_entitle(&r->tree, l, r->from, r->now, capacity,
		occupancy_imported_from(r->occupancy), why) < 0)
		return -1;
	free(r->unpaid);
	r->unpaid = calloc(r->tree.count + 1, sizeof(*r->unpaid));
	if (!r->unpaid)
		return fault_errno(why, ENOMEM, "out of memory for %zu projects", r->tree.count);
	occupancy_walk(r->occupancy, add_used, r);
	return occupancy_walk_open(l, add_run, r, why);
}

int ranking_renew(struct ranking *r, struct ledger *l, int64_t window_s, struct rates *rates,
	const struct gpu_count *healthy, int64_t now, struct fault *why)
{
	amount_t capacity = -1;

	r->from = now - window_s;
	r->now = now;
	if (healthy && ranking_capacity(rates, healthy, now, &capacity, why) < 0)
		return -1;
	return fill(r, l, capacity, why) < 0 ? -1 : rank(r, why);
}

int ranking_empty(struct ranking **out, struct fault *why)
{
	struct ranking *r = calloc(1, sizeof(*r));

	if (r)
		r->occupancy = occupancy_new();
	if (!r || !r->occupancy) {
		free(r);
		return fault_errno(why, ENOMEM, "out of memory");
	}
	*out = r;
	return 0;
}

int ranking_expect(struct ranking *r, const struct project_user *users, size_t count, struct fault *why)
{
	struct project_user *kept = count ? reallocarray(r->expected, count, sizeof(*kept)) : r->expected;

	if (count && !kept)
		return fault_errno(why, ENOMEM, "out of memory for %zu users", count);
	r->expected = kept;
	r->nexpected = count;
	if (count)
		memcpy(kept, users, count * sizeof(*kept));
	return 0;
}

int ranking_new(struct ledger *l, int64_t window_s, struct rates *rates, const struct gpu_count *healthy,
	int64_t now, struct ranking **out, struct fault *why)
{
	struct ranking *r = NULL;	/* gcc 14 does not see that it is set */

	if (ranking_empty(&r, why) < 0)
		return -1;
	if (ranking_renew(r, l, window_s, rates, healthy, now, why) < 0) {
		ranking_free(r);
		return -1;
	}
	*out = r;
	return 0;
}

int ranking_add_entry(struct ranking *r, int64_t project, int64_t uid, amount_t units, struct fault *why)
{
	ssize_t i = ranking_node_of(r, project, uid);
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
	free(r->expected);
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

size_t ranking_count(const struct ranking *r)
{
	return r->tree.count;
}

struct ranking_node ranking_node_at(const struct ranking *r, size_t node)
{
	const struct ranking_tree *t = &r->tree;
	const struct tree_user *u = node < t->nprojects ? NULL : &t->users[node - t->nprojects];

	return (struct ranking_node){ .parent = t->nodes[node].parent,
		.project = t->projects[u ? u->up : node].id, .uid = u ? u->uid : RANKING_NO_USER };
}

uint32_t ranking_rank(const struct ranking *r, int64_t project, int64_t uid)
{
	ssize_t i = ranking_node_of(r, project, uid);

	return i < 0 ? UINT32_MAX : fairshare_rank(r->funded, (size_t)i);
}

static struct ranking_level level_of(const struct ranking *r, size_t i)
{
	const struct ranking_tree *t = &r->tree;
	int ahead = fairshare_ahead(r->funded, i);
	struct ranking_level level = { .share_ppm = fairshare_share_ppm(r->funded, i),
		.ratio_ppm = fairshare_ratio_ppm(r->funded, i),
		.uid = i < t->nprojects ? RANKING_NO_USER : t->users[i - t->nprojects].uid,
		.ahead_uid = ahead < (int)t->nprojects ? RANKING_NO_USER
		: t->users[(size_t)ahead - t->nprojects].uid };

	memcpy(level.name, t->projects[i < t->nprojects ? i : t->users[i - t->nprojects].up].name,
		sizeof(level.name));
	if (ahead >= 0 && ahead < (int)t->nprojects)
		memcpy(level.ahead, t->projects[ahead].name, sizeof(level.ahead));
	return level;
}

int ranking_levels(const struct ranking *r, int64_t project, int64_t uid, struct ranking_level *out, int max)
{
	int path[RANKING_LEVELS_MAX], depth = 0;

	for (ssize_t i = ranking_node_of(r, project, uid); i >= 0 && depth < RANKING_LEVELS_MAX;
		i = r->tree.nodes[i].parent)
		path[depth++] = (int)i;
	for (int k = 0; k < depth && k < max; k++)
		out[k] = level_of(r, (size_t)path[depth - 1 - k]);
	return depth < max ? depth : max;
}
