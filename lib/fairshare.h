/* SPDX-License-Identifier: GPL-2.0-or-later
 * fairshare.h - who got less than their share goes first
 *
 *   ratio(n) = (O_n + K_n) / max(A_n, share(n) x GPUs x 1 h)          (doc/model.md, 5)
 *
 * O_n is what was charged in the window, K_n the entry penalty (what is left of the minimum runtimes that
 * run), A_n what the node was entitled to in the window, share(n) the product of its weights down the tree.
 * All three are rolled up from below by this file. Projects are ordered by their path of ratios, level by
 * level from the top, smaller first. Nodes of one level whose parents tie and whose own ratios are equal tie
 * too, and what is below them is compared as if they were one node (Slurm's Fair Tree does the same). Where a
 * path ends, it ties with the first of those that go on from there, as a user beside tied accounts does in
 * Slurm: while nothing has been used, all projects tie, however deep they stand. A share of 0 is last among
 * its siblings: it has the free tier only.
 *
 * Ratios are fractions of integers and compared exactly, so that a tie is a tie on every machine. Two bounds
 * make that possible: O_n, K_n, A_n and the capacities are below FAIRSHARE_MAX, and a share product whose
 * reduced fraction has more than 48 bits is rounded to them.
 *
 * Unit     units of amount.h (GPU-seconds x rate in thousandths), seconds, ppm
 * Threads  pure functions: any thread; a struct fairshare is constant once built */
#ifndef LIB_FAIRSHARE_H
#define LIB_FAIRSHARE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/fault.h"

#define FAIRSHARE_MAX ((int64_t)1 << 58)	/* 80 thousand million GPU-hours at rate 1.000 */
#define FAIRSHARE_SHARE_MAX 1000000000		/* largest weight of one node */
#define FAIRSHARE_WEIGHT_MAX 1000000		/* largest that somebody can set */
#define FAIRSHARE_H_PPM 50000		/* the usual hysteresis of fairshare_beats: 5 % */
#define FAIRSHARE_BY_SHARE (-1)			/* entitled: share(n) x capacity_window */
#define FAIRSHARE_NO_RATIO (-1)			/* a share of 0 */
#define FAIRSHARE_NO_PARENT (-1)

/* One node of the budget tree. Parents stand before their children; several nodes may have no parent: they
 * are siblings. */
struct fairshare_node {
	int parent;		/* index, smaller than the node's own; or FAIRSHARE_NO_PARENT */
	int64_t share;		/* weight among its siblings, 0 .. FAIRSHARE_SHARE_MAX */
	int64_t charged;	/* O of its own jobs, without what is below it */
	int64_t entry;		/* K of its own jobs, likewise */
	int64_t entitled;	/* A of the node with all below it, or FAIRSHARE_BY_SHARE when its share was
				 * the same all window long */
};

/* The cluster. GPUs are rate-weighted: a healthy GPU at rate 1.000 counts 1000. */
struct fairshare_cluster {
	int64_t capacity;		/* thousandths of GPUs, now: for the floor of one hour */
	int64_t capacity_window;	/* units: integral of the capacity over the window */
};

struct fairshare;

/* Build it: roll up, ratios, order. Takes O(n log n); `nodes` is not kept.
 * 0 and *out set, to be freed by fairshare_free; or -1, *out untouched: EINVAL (`why` names the index of the
 * node), EOVERFLOW (a sum reaches FAIRSHARE_MAX), ENOMEM. */
int fairshare_new(const struct fairshare_node *nodes, size_t count, const struct fairshare_cluster *c,
	struct fairshare **out, struct fault *why);
void fairshare_free(struct fairshare *f);	/* NULL is fine; errno is kept */

/* In what follows `node` is an index of the array that was given, and must be in it. */

/* The ratio in millionths, half rounded up, at most INT64_MAX; FAIRSHARE_NO_RATIO for a share of 0. For
 * people: never compare these. */
int64_t fairshare_ratio_ppm(const struct fairshare *f, size_t node);

/* share(n) in millionths of the cluster, half rounded up. */
int64_t fairshare_share_ppm(const struct fairshare *f, size_t node);

/* Rolled up: O_n, K_n, and the denominator max(A_n, share x GPUs x 1 h), in units, the last rounded down. */
int64_t fairshare_charged(const struct fairshare *f, size_t node);
int64_t fairshare_entry(const struct fairshare *f, size_t node);
int64_t fairshare_entitled(const struct fairshare *f, size_t node);

/* Position of the node among all nodes, 0 first; nodes that tie have the same, an inner node that of the
 * first leaf below it. Comparing the ranks of two projects is comparing their paths; a rank means nothing
 * from one struct to the next. */
uint32_t fairshare_rank(const struct fairshare *f, size_t node);

/* The sibling right in front of it (the largest smaller ratio; the first such index), or -1 when it is in
 * front or ties for it. */
int fairshare_ahead(const struct fairshare *f, size_t node);

/* Of two nodes with different ranks: where their paths part, the nodes of one level whose ratios decide. False,
 * nothing set: they tie as far as both paths go, and the longer one is behind by what is below. */
bool fairshare_part(const struct fairshare *f, size_t a, size_t b, size_t *at_a, size_t *at_b);

/* A ratio or a share for people: "0.80"; of a small one as many decimals as show two digits of it, at most
 * six: "0.0042". FAIRSHARE_NO_RATIO: "more than all". Returns buf. */
#define FAIRSHARE_TEXT_MAX 32
const char *fairshare_text(int64_t ppm, char buf[FAIRSHARE_TEXT_MAX]);

/* May a job of `p` displace a run of `r`? When, at the children of their lowest common ancestor, ratio(r's
 * side) > ratio(p's side) x (1 + h), h in ppm, 0 .. 1000000. Never when one is the other or above it. Costs
 * the depth of the tree. */
bool fairshare_beats(const struct fairshare *f, size_t p, size_t r, int64_t h_ppm);

#endif
