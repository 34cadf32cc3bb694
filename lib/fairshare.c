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
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/fraction.h"

#define PPM 1000000

struct node {
	struct fairshare_node in;	/* as given; `charged` and `entry` are rolled up */
	struct share share;		/* product down to here */
	int64_t siblings;		/* sum of weights of its children */
	struct fraction ratio;
	double near;			/* the ratio, but for its last digits */
	int depth;			/* 0 without a parent */
	uint32_t class;			/* among the nodes of its depth: smaller goes first, equal ties */
	uint32_t rank;			/* among all */
};

struct fairshare {
	struct node *nodes;
	size_t count;
	int depths;			/* of the tree */
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
		f->depths = n->depth < f->depths ? f->depths : n->depth + 1;
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
		n->near = n->ratio.den ? (double)n->ratio.num / (double)n->ratio.den : INFINITY;
	}
}

/* --- order ----------------------------------------------------------------------------------------- */

static uint32_t parent_class(const struct fairshare *f, const struct node *n)
{
	return n->in.parent == FAIRSHARE_NO_PARENT ? 0 : f->nodes[n->in.parent].class;
}

/* A node among those of its level, small enough to be sorted where it is. */
struct key {
	uint32_t parent_class;
	uint32_t node;
	double near;
};

/* Most differ by far more than a double can be wrong, some 1e-15 of it; where they may tie it is told
 * exactly. */
static int compare_ratios(const struct fairshare *f, const struct key *x, const struct key *y)
{
	double difference = x->near - y->near, larger = x->near > y->near ? x->near : y->near;

	if (larger == 0)
		return 0;
	if (isfinite(larger) && fabs(difference) > larger * 1e-9)
		return difference < 0 ? -1 : 1;
	return fraction_compare(f->nodes[x->node].ratio, f->nodes[y->node].ratio);
}

/* 0 = they tie. Meant for nodes of one depth whose parents have their class. */
static int by_level(const void *a, const void *b, void *context)
{
	const struct key *x = a, *y = b;

	if (x->parent_class != y->parent_class)
		return x->parent_class < y->parent_class ? -1 : 1;
	return compare_ratios(context, x, y);
}

static void set_classes_of_level(struct fairshare *f, struct key *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		keys[i].parent_class = parent_class(f, &f->nodes[keys[i].node]);
	qsort_r(keys, count, sizeof(*keys), by_level, f);
	f->nodes[keys[0].node].class = 0;
	for (size_t i = 1; i < count; i++) {
		bool ties = by_level(&keys[i - 1], &keys[i], f) == 0;

		f->nodes[keys[i].node].class = f->nodes[keys[i - 1].node].class + !ties;
	}
}

/* The nodes by depth, and each depth's by (class of the parent, ratio); ends[d]: where those of depth d
 * end. */
static void set_classes(struct fairshare *f, struct key *keys, size_t *ends)
{
	for (size_t i = 0; i < f->count; i++)
		ends[f->nodes[i].depth + 1]++;
	for (int d = 1; d <= f->depths; d++)
		ends[d] += ends[d - 1];
	for (size_t i = 0; i < f->count; i++)
		keys[ends[f->nodes[i].depth]++] = (struct key){ .node = (uint32_t)i,
			.near = f->nodes[i].near };
	for (int d = 0; d < f->depths; d++) {
		size_t begin = d ? ends[d - 1] : 0;

		set_classes_of_level(f, keys + begin, ends[d] - begin);
	}
}

/* Where the walk stands in one depth. */
struct walk {
	size_t at, end;
	uint32_t below;			/* the class whose children are next */
	uint32_t rank;			/* of that class */
	bool first;			/* none of those was met yet */
};

/* All that tie with the one at w->at, which are next in the order; `met` are in front of them. What goes on
 * where a path ends has its rank: Slurm ranks a user beside tied accounts like the best of what is below
 * them. Their class. */
static uint32_t rank_class(struct fairshare *f, const struct key *keys, struct walk *w, size_t *met,
	uint32_t *rank)
{
	uint32_t class = f->nodes[keys[w->at].node].class;

	*rank = w->first ? w->rank : (uint32_t)*met;
	for (; w->at < w->end && f->nodes[keys[w->at].node].class == class; w->at++, ++*met)
		f->nodes[keys[w->at].node].rank = *rank;
	w->first = false;
	return class;
}

/* Class by class, each with all below it in front of the next: those below a class stand together in the
 * depth below, in the order of classes. */
static void set_ranks(struct fairshare *f, const struct key *keys, const size_t *ends, struct walk *walks)
{
	size_t met = 0;
	int d = 0;

	for (int i = 0; i < f->depths; i++)
		walks[i] = (struct walk){ .at = i ? ends[i - 1] : 0, .end = ends[i] };
	while (d >= 0) {
		struct walk *w = &walks[d];
		uint32_t class, rank;

		if (w->at == w->end || keys[w->at].parent_class != w->below) {
			d--;
			continue;
		}
		class = rank_class(f, keys, w, &met, &rank);
		if (d + 1 < f->depths) {
			walks[++d].below = class;
			walks[d].rank = rank;
			walks[d].first = true;
		}
	}
}

static int set_order(struct fairshare *f, struct fault *why)
{
	struct key *keys = calloc(f->count + 1, sizeof(*keys));
	size_t *ends = calloc((size_t)f->depths + 2, sizeof(*ends));
	struct walk *walks = calloc((size_t)f->depths + 1, sizeof(*walks));
	int rv = 0;

	if (!keys || !ends || !walks)
		rv = fault_errno(why, ENOMEM, "out of memory for %zu projects", f->count);
	if (rv == 0 && f->count) {
		set_classes(f, keys, ends);
		set_ranks(f, keys, ends, walks);
	}
	free(keys);
	free(ends);
	free(walks);
	return rv;
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

static size_t up_to_depth(const struct fairshare *f, size_t node, int depth)
{
	while (f->nodes[node].depth > depth)
		node = (size_t)f->nodes[node].in.parent;
	return node;
}

bool fairshare_beats(const struct fairshare *f, size_t p, size_t r, int64_t h_ppm)
{
	int dp = f->nodes[p].depth, dr = f->nodes[r].depth, depth = dp < dr ? dp : dr;
	struct fraction mine;

	p = up_to_depth(f, p, depth);
	r = up_to_depth(f, r, depth);
	/* one project, or one above the other: now they are the same node, and no ratio is larger than
	 * itself */
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

bool fairshare_part(const struct fairshare *f, size_t a, size_t b, size_t *at_a, size_t *at_b)
{
	int da = f->nodes[a].depth, db = f->nodes[b].depth, depth = da < db ? da : db;

	for (int d = 0; d <= depth; d++) {
		size_t x = up_to_depth(f, a, d), y = up_to_depth(f, b, d);

		if (f->nodes[x].class == f->nodes[y].class)
			continue;
		*at_a = x;
		*at_b = y;
		return true;
	}
	return false;
}

const char *fairshare_text(int64_t ppm, char buf[FAIRSHARE_TEXT_MAX])
{
	int64_t step = 10000, rounded;
	int decimals = 2;

	for (; decimals < 6 && ppm % step && ppm < 10 * step; decimals++)
		step /= 10;
	rounded = ppm / step + (ppm % step * 2 >= step);
	snprintf(buf, FAIRSHARE_TEXT_MAX, "%" PRId64 ".%0*" PRId64, rounded * step / 1000000, decimals,
		rounded % (1000000 / step));
	return buf;
}
