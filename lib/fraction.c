/* SPDX-License-Identifier: GPL-2.0-or-later
 * fraction.c - exact comparison by integer parts, products that stay within 48 bits. */
#include "lib/fraction.h"
#include <stdbool.h>

#define SHARE_BITS 48

struct fraction fraction_infinite(void)
{
	return (struct fraction){ 1, 0 };
}

static int sign(bool greater, bool less)
{
	return (int)greater - (int)less;
}

int fraction_compare(struct fraction a, struct fraction b)
{
	int direction = 1;

	for (;;) {
		fraction_int qa, qb;

		if (!a.den || !b.den)
			return direction * sign(!a.den && b.den, a.den && !b.den);
		qa = a.num / a.den;
		qb = b.num / b.den;
		if (qa != qb)
			return direction * sign(qa > qb, qa < qb);
		/* the rest is below 1: compare the inverted remainders the other way round */
		a = (struct fraction){ a.den, a.num % a.den };
		b = (struct fraction){ b.den, b.num % b.den };
		direction = -direction;
	}
}

int64_t fraction_scaled(struct fraction a, int64_t scale)
{
	fraction_int whole, rest;

	/* keep rest x scale x 2 within 128 bits; what is shifted out is far below half a step */
	while (a.den >> 106) {
		a.num >>= 1;
		a.den >>= 1;
	}
	whole = a.num / a.den;
	rest = a.num % a.den;
	if (whole >= (fraction_int)(INT64_MAX / scale))
		return INT64_MAX;
	rest = (rest * (fraction_int)scale * 2 + a.den) / (a.den * 2);
	return (int64_t)(whole * (fraction_int)scale + rest);
}

static fraction_int gcd(fraction_int a, fraction_int b)
{
	while (b) {
		fraction_int r = a % b;

		a = b;
		b = r;
	}
	return a;
}

struct share share_whole(void)
{
	return (struct share){ 1, 1 };
}

struct share share_below(struct share up, int64_t weight, int64_t siblings)
{
	fraction_int p = (fraction_int)up.p * (fraction_int)weight;
	fraction_int q = (fraction_int)up.q * (fraction_int)siblings;
	fraction_int d;

	if (!p)
		return (struct share){ 0, 1 };
	d = gcd(p, q);
	p /= d;
	q /= d;
	while (q >> SHARE_BITS) {
		p = (p >> 1) + (p & 1);		/* up: a weight above 0 stays above 0 */
		q >>= 1;
	}
	return (struct share){ (uint64_t)p, (uint64_t)q };
}

struct fraction share_of(struct share s, int64_t amount)
{
	return (struct fraction){ (fraction_int)s.p * (fraction_int)amount, s.q };
}
