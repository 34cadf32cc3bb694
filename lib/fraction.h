/* SPDX-License-Identifier: GPL-2.0-or-later
 * fraction.h - fractions of integers that are compared exactly; shares as fractions of the whole
 *
 * For fairshare.c: two projects tie or do not tie, on every machine, and nothing is decided by the last bit
 * of a double.
 *
 * Threads  pure functions: any thread */
#ifndef LIB_FRACTION_H
#define LIB_FRACTION_H
#include <stdint.h>

__extension__ typedef unsigned __int128 fraction_int;

struct fraction {
	fraction_int num, den;		/* den 0: infinite, larger than all others and equal to itself */
};

struct fraction fraction_infinite(void);

/* -1, 0 or 1. Never overflows. */
int fraction_compare(struct fraction a, struct fraction b);

/* a x scale, half rounded up, at most INT64_MAX; `a` is not infinite, scale is 1 .. 1000000. */
int64_t fraction_scaled(struct fraction a, int64_t scale);

/* p/q of the whole, reduced, 0 <= p <= q, at most 48 bits each. A product that needs more is rounded to them:
 * it keeps at least 47 significant bits of what is lost least, and never becomes 0 unless a weight is. */
struct share {
	uint64_t p, q;
};

struct share share_whole(void);

/* The share of one of `siblings` (their sum of weights) below `up`; 0 when its weight is. 0 <= weight <=
 * siblings < 2^62. */
struct share share_below(struct share up, int64_t weight, int64_t siblings);

/* s x amount; amount is 0 .. 2^58. */
struct fraction share_of(struct share s, int64_t amount);

#endif
