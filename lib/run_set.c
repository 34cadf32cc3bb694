/* SPDX-License-Identifier: GPL-2.0-or-later
 * run_set.c - which runs were seen already (run_set.h)
 *
 * Open addressing, at most three quarters full. The first row of a run stands under (cluster, job, start);
 * further pieces under a hash that has the submit time in it. */
#include "lib/run_set.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct slot {
	uint64_t high;
	uint32_t low; /* never 0: that is an empty slot */
	uint32_t submit, end;
};

struct run_set {
	size_t used, size; /* size is a power of 2 */
	struct slot *slot;
};

struct key {
	uint64_t a, b;
};

/* The finalizer of MurmurHash3: every bit of the input changes half of the output. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

static void key_number(struct key *k, uint64_t n)
{
	k->a = mix(k->a ^ n);
	k->b = mix(k->b + n * UINT64_C(0x9e3779b97f4a7c15) + 1);
}

/* With its end, so that "1" "23" is not "12" "3". */
static void key_text(struct key *k, const char *text)
{
	uint64_t word = 0;
	int n = 0;

	for (; *text; text++) {
		word = word << 8 | (unsigned char)*text;
		if (++n % 8 == 0) {
			key_number(k, word);
			word = 0;
		}
	}
	key_number(k, word << 8 | (uint64_t)(n % 8 + 1));
	key_number(k, (uint64_t)n);
}

static struct slot slot_of(struct key k, int64_t submit, int64_t end)
{
	uint32_t low = (uint32_t)k.b;

	return (struct slot){k.a, low ? low : 1, (uint32_t)submit, (uint32_t)end};
}

/* The slot with this hash, or the empty one where it belongs. */
static struct slot *find(const struct run_set *s, const struct slot *wanted)
{
	size_t i = (size_t)wanted->high & (s->size - 1);

	while (s->slot[i].low && (s->slot[i].low != wanted->low || s->slot[i].high != wanted->high))
		i = (i + 1) & (s->size - 1);
	return &s->slot[i];
}

static int grow(struct run_set *s)
{
	struct run_set old = *s;

	s->size *= 2;
	s->slot = calloc(s->size, sizeof(*s->slot));
	if (!s->slot) {
		*s = old;
		return -1;
	}
	for (size_t i = 0; i < old.size; i++)
		if (old.slot[i].low)
			*find(s, &old.slot[i]) = old.slot[i];
	free(old.slot);
	return 0;
}

struct run_set *run_set_new(void)
{
	struct run_set *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->size = 1024;
	s->slot = calloc(s->size, sizeof(*s->slot));
	if (s->slot)
		return s;
	free(s);
	return NULL;
}

void run_set_free(struct run_set *s)
{
	if (!s)
		return;
	free(s->slot);
	free(s);
}

enum run_seen run_set_add(
	struct run_set *s, const char *cluster, const char *job, int64_t submit, int64_t start,
	int64_t end)
{
	struct key k = {0, 0};
	struct slot wanted, *at;
	bool piece = false;

	if (s->used + 1 > s->size / 4 * 3 && grow(s) < 0)
		return RUN_FAILED;
	key_text(&k, cluster);
	key_text(&k, job);
	key_number(&k, (uint64_t)start);
	wanted = slot_of(k, submit, end);
	at = find(s, &wanted);
	if (at->low && at->submit != wanted.submit) {
		piece = true;
		key_number(&k, (uint64_t)submit);
		wanted = slot_of(k, submit, end);
		at = find(s, &wanted);
	}
	if (at->low)
		return at->end == wanted.end ? RUN_TWICE : RUN_OTHER_END;
	*at = wanted;
	s->used++;
	return piece ? RUN_PIECE : RUN_NEW;
}
