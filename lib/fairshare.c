/* SPDX-License-Identifier: GPL-2.0-or-later
 * fairshare.c - ratios as exact fractions, one order for all projects
 *
 * A share product is a fraction p/q of at most 48 bits each; amounts have 58. So a ratio with A_n given is
 * (O+K) / A_n, and one by share is (O+K) x q / (p x capacity): 106 bits, which leaves room for the factor 1 +
 * h in 128. Fractions are compared by Euclid's algorithm (integer parts, then the inverted remainders), which
 * never multiplies and so never overflows.
 *
 * The order is made level by level: nodes of one level are sorted by (class of the parent, ratio), and equal
 * neighbours get one class. That is what "merged" means: classes, not parents, are compared below a tie. */
#include "lib/fairshare.h"
#include <errno.h>
#include <stdlib.h>
#include "lib/fraction.h"

#define PPM 1000000

struct node {
	struct fairshare_node in;	/* as given; `charged` and `entry` are rolled up */
	struct share share;		/* product down to here */
	int64_t siblings;		/* sum of weights of its children */
	struct fraction ratio;
	int depth;			/* 0 without a parent */
	uint32_t class;			/* among the nodes of its depth: smaller goes first, equal ties */
	uint32_t rank;			/* among all */
};

struct fairshare {
	struct node *nodes;
	size_t count;
	int64_t root_siblings;
	int64_t capacity_hour;		/* units: one hour of what is healthy now */
	int64_t capacity_window;
};

/* --- building -------------------------------------------------------------------------------------- */

static int check_node(const struct fairshare_node *n, size_t i, struct fault *why)
{
	if (n->parent != FAIRSHARE_NO_PARENT && (n->parent < 0 || (size_t)n->parent >= i))
		return fault_errno(why, EINVAL, "node %zu: its parent %d does not stand before it", i,
			n->parent);
	if (n->share < 0 || n->share > FAIRSHARE_SHARE_MAX)
		return fault_errno(why, EINVAL, "node %zu: share %jd is not between 0 and %d", i,
			(intmax_t)n->share, FAIRSHARE_SHARE_MAX);
	if (n->charged < 0 || n->entry < 0 || n->entitled < FAIRSHARE_BY_SHARE)
		return fault_errno(why, EINVAL, "node %zu: an amount is negative", i);
	if (n->charged >= FAIRSHARE_MAX || n->entry >= FAIRSHARE_MAX || n->entitled >= FAIRSHARE_MAX)
		return fault_errno(why, EOVERFLOW, "node %zu: an amount is too large", i);
	return 0;
}

static int check_cluster(const struct fairshare_cluster *c, struct fault *why)
{
	if (c->capacity < 0 || c->capacity_window < 0)
		return fault_errno(why, EINVAL, "the capacity of the cluster is negative");
	if (c->capacity >= FAIRSHARE_MAX / 3600 || c->capacity_window >= FAIRSHARE_MAX)
		return fault_errno(why, EOVERFLOW, "the capacity of the cluster is too large");
	return 0;
}

static int copy_in(struct fairshare *f, const struct fairshare_node *nodes, struct fault *why)
{
	for (size_t i = 0; i < f->count; i++) {
		struct node *n = &f->nodes[i];
		bool root = nodes[i].parent == FAIRSHARE_NO_PARENT;

		if (check_node(&nodes[i], i, why) < 0)
			return -1;
		n->in = nodes[i];
		n->depth = root ? 0 : f->nodes[n->in.parent].depth + 1;
		*(root ? &f->root_siblings : &f->nodes[n->in.parent].siblings) += n->in.share;
	}
	return 0;
}

/* Children stand behind their parents, so from the back each node is complete when its turn comes. */
static int roll_up(struct fairshare *f, struct fault *why)
{
	for (size_t i = f->count; i-- > 0;) {
		const struct fairshare_node *n = &f->nodes[i].in;

		if (n->charged + n->entry >= FAIRSHARE_MAX)
			return fault_errno(why, EOVERFLOW, "node %zu: what is charged below it is too large",
				i);
		if (n->parent == FAIRSHARE_NO_PARENT)
			continue;
		f->nodes[n->parent].in.charged += n->charged;
		f->nodes[n->parent].in.entry += n->entry;
	}
	return 0;
}

/* max(A_n, share x GPUs x 1 h) as a fraction of units: A_n / 1, or share x capacity. */
static struct fraction entitlement(const struct fairshare *f, const struct node *n)
{
	struct fraction by_hour = share_of(n->share, f->capacity_hour);
	struct fraction in_window = { (fraction_int)n->in.entitled, 1 };

	if (n->in.entitled == FAIRSHARE_BY_SHARE)
		in_window = share_of(n->share, f->capacity_window);
	return fraction_compare(in_window, by_hour) >= 0 ? in_window : by_hour;
}

static void set_ratios(struct fairshare *f)
{
	for (size_t i = 0; i < f->count; i++) {
		struct node *n = &f->nodes[i];
		const struct node *up = n->in.parent == FAIRSHARE_NO_PARENT ? NULL : &f->nodes[n->in.parent];
		fraction_int used = (fraction_int)(n->in.charged + n->in.entry);
		struct fraction e;

		n->share = share_below(up ? up->share : share_whole(), n->in.share,
			up ? up->siblings : f->root_siblings);
		e = entitlement(f, n);
		/* without a share, or when no GPU is healthy: behind all that have a ratio */
		n->ratio = fraction_infinite();
		if (n->share.p && e.num)
			n->ratio = (struct fraction){ used * e.den, e.num };
	}
}

/* --- order ----------------------------------------------------------------------------------------- */

static uint32_t parent_class(const struct fairshare *f, const struct node *n)
{
	return n->in.parent == FAIRSHARE_NO_PARENT ? 0 : f->nodes[n->in.parent].class;
}

/* 0 = they tie. Meant for nodes of one depth whose parents have their class. */
static int compare_in_level(const struct fairshare *f, size_t a, size_t b)
{
	const struct node *x = &f->nodes[a], *y = &f->nodes[b];
	uint32_t cx = parent_class(f, x), cy = parent_class(f, y);

	if (cx != cy)
		return cx < cy ? -1 : 1;
	return fraction_compare(x->ratio, y->ratio);
}

static int by_depth(const void *a, const void *b, void *context)
{
	const struct fairshare *f = context;
	int x = f->nodes[*(const size_t *)a].depth, y = f->nodes[*(const size_t *)b].depth;

	return (x > y) - (x < y);
}

static int by_level(const void *a, const void *b, void *context)
{
	return compare_in_level(context, *(const size_t *)a, *(const size_t *)b);
}

static void set_classes_of_level(struct fairshare *f, size_t *index, size_t count)
{
	qsort_r(index, count, sizeof(*index), by_level, f);
	f->nodes[index[0]].class = 0;
	for (size_t i = 1; i < count; i++) {
		size_t before = index[i - 1];
		bool ties = compare_in_level(f, before, index[i]) == 0;

		f->nodes[index[i]].class = f->nodes[before].class + !ties;
	}
}

static void set_classes(struct fairshare *f, size_t *index)
{
	qsort_r(index, f->count, sizeof(*index), by_depth, f);
	for (size_t begin = 0, end; begin < f->count; begin = end) {
		int depth = f->nodes[index[begin]].depth;

		for (end = begin; end < f->count && f->nodes[index[end]].depth == depth; end++)
			;
		set_classes_of_level(f, index + begin, end - begin);
	}
}

static size_t up_to_depth(const struct fairshare *f, size_t node, int depth)
{
	while (f->nodes[node].depth > depth)
		node = (size_t)f->nodes[node].in.parent;
	return node;
}

/* Paths of different length: at the depth of the shorter one; when they tie there, the shorter one stands
 * first. */
static int compare_paths(const struct fairshare *f, size_t a, size_t b)
{
	int da = f->nodes[a].depth, db = f->nodes[b].depth, depth = da < db ? da : db;
	uint32_t x = f->nodes[up_to_depth(f, a, depth)].class, y = f->nodes[up_to_depth(f, b, depth)].class;

	if (x != y)
		return x < y ? -1 : 1;
	return (da > db) - (da < db);
}

static int by_path(const void *a, const void *b, void *context)
{
	return compare_paths(context, *(const size_t *)a, *(const size_t *)b);
}

/* Does `b` go on where the path of `a` ends, or tie with it? Then `b`, when it stands right behind `a`, has
 * its rank: Slurm ranks a user beside tied accounts like the best of what is below them. */
static bool goes_on(const struct fairshare *f, size_t a, size_t b)
{
	int depth = f->nodes[a].depth;

	return depth <= f->nodes[b].depth && f->nodes[up_to_depth(f, b, depth)].class == f->nodes[a].class;
}

static void set_ranks(struct fairshare *f, size_t *index)
{
	qsort_r(index, f->count, sizeof(*index), by_path, f);
	for (size_t i = 0; i < f->count; i++) {
		bool ties = i > 0 && goes_on(f, index[i - 1], index[i]);

		f->nodes[index[i]].rank = ties ? f->nodes[index[i - 1]].rank : (uint32_t)i;
	}
}

static int set_order(struct fairshare *f, struct fault *why)
{
	size_t *index = calloc(f->count + 1, sizeof(*index));

	if (!index)
		return fault_errno(why, ENOMEM, "out of memory for %zu projects", f->count);
	for (size_t i = 0; i < f->count; i++)
		index[i] = i;
	set_classes(f, index);
	set_ranks(f, index);
	free(index);
	return 0;
}

int fairshare_new(const struct fairshare_node *nodes, size_t count, const struct fairshare_cluster *c,
	struct fairshare **out, struct fault *why)
{
	struct fairshare *f;

	if (check_cluster(c, why) < 0)
		return -1;
	f = calloc(1, sizeof(*f));
	if (f)
		f->nodes = calloc(count + 1, sizeof(*f->nodes));
	if (!f || !f->nodes) {
		fault_errno(why, ENOMEM, "out of memory for %zu projects", count);
		goto fail;
	}
	f->count = count;
	f->capacity_hour = c->capacity * 3600;
	f->capacity_window = c->capacity_window;
	if (copy_in(f, nodes, why) < 0 || roll_up(f, why) < 0)
		goto fail;
	set_ratios(f);
	if (set_order(f, why) < 0)
		goto fail;
	*out = f;
	return 0;
fail:
	fairshare_free(f);
	return -1;
}

void fairshare_free(struct fairshare *f)
{
	int saved = errno;

	if (f) {
		free(f->nodes);
		free(f);
	}
	errno = saved;
}

/* --- questions ------------------------------------------------------------------------------------- */

int64_t fairshare_ratio_ppm(const struct fairshare *f, size_t node)
{
	const struct fraction *r = &f->nodes[node].ratio;

	return r->den ? fraction_scaled(*r, PPM) : FAIRSHARE_NO_RATIO;
}

int64_t fairshare_share_ppm(const struct fairshare *f, size_t node)
{
	return fraction_scaled(share_of(f->nodes[node].share, 1), PPM);
}

int64_t fairshare_charged(const struct fairshare *f, size_t node)
{
	return f->nodes[node].in.charged;
}

int64_t fairshare_entry(const struct fairshare *f, size_t node)
{
	return f->nodes[node].in.entry;
}

int64_t fairshare_entitled(const struct fairshare *f, size_t node)
{
	struct fraction e = entitlement(f, &f->nodes[node]);

	return (int64_t)(e.num / e.den);
}

uint32_t fairshare_rank(const struct fairshare *f, size_t node)
{
	return f->nodes[node].rank;
}

int fairshare_ahead(const struct fairshare *f, size_t node)
{
	int best = -1;

	for (size_t i = 0; i < f->count; i++) {
		if (f->nodes[i].in.parent != f->nodes[node].in.parent)
			continue;
		if (fraction_compare(f->nodes[i].ratio, f->nodes[node].ratio) >= 0)
			continue;
		if (best < 0 || fraction_compare(f->nodes[i].ratio, f->nodes[best].ratio) > 0)
			best = (int)i;
	}
	return best;
}

bool fairshare_beats(const struct fairshare *f, size_t p, size_t r, int64_t h_ppm)
{
	int dp = f->nodes[p].depth, dr = f->nodes[r].depth, depth = dp < dr ? dp : dr;
	struct fraction mine;

	p = up_to_depth(f, p, depth);
	r = up_to_depth(f, r, depth);
	/* one project, or one above the other: now they are the same node, and no ratio is larger than itself
	 * */
	while (f->nodes[p].in.parent != f->nodes[r].in.parent) {
		p = (size_t)f->nodes[p].in.parent;
		r = (size_t)f->nodes[r].in.parent;
	}
	mine = f->nodes[p].ratio;
	if (!mine.den)
		return false;
	mine.num *= (fraction_int)(PPM + h_ppm);
	mine.den *= PPM;
	return fraction_compare(f->nodes[r].ratio, mine) > 0;
}
