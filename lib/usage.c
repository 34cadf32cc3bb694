/* SPDX-License-Identifier: GPL-2.0-or-later
 * usage.c - GPU-seconds by month, account, user and type of GPU (usage.h) */
#include "lib/usage.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct usage {
	const struct zone *zone;
	struct usage_row *row; /* each row's texts are one block, which begins at `account` */
	size_t n, room;
	uint32_t *slot; /* index + 1 of a row; 0 = empty */
	size_t slots;   /* a power of 2, at least twice n */
	int month;      /* of the last part: runs come in the order of time */
	int64_t month_from, month_end;
};

struct usage *usage_new(const struct zone *z)
{
	struct usage *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->zone = z;
	u->slots = 256;
	u->slot = calloc(u->slots, sizeof(*u->slot));
	if (u->slot)
		return u;
	free(u);
	return NULL;
}

void usage_free(struct usage *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->n; i++)
		free((char *)u->row[i].account);
	free(u->row);
	free(u->slot);
	free(u);
}

/* --- rows ------------------------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (h ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t hash(const struct usage_row *r)
{
	uint64_t h = hash_text(UINT64_C(0xcbf29ce484222325) ^ (uint64_t)r->month, r->account);

	h = hash_text(hash_text(h, r->user), r->gpu_type);
	return h ^ h >> 32;
}

static int compare(const void *left, const void *right)
{
	const struct usage_row *a = left, *b = right;
	int rv = (a->month > b->month) - (a->month < b->month);

	if (!rv)
		rv = strcmp(a->account, b->account);
	if (!rv)
		rv = strcmp(a->user, b->user);
	return rv ? rv : strcmp(a->gpu_type, b->gpu_type);
}

static uint32_t *find(const struct usage *u, const struct usage_row *r)
{
	size_t i = (size_t)hash(r) & (u->slots - 1);

	while (u->slot[i] && compare(&u->row[u->slot[i] - 1], r) != 0)
		i = (i + 1) & (u->slots - 1);
	return &u->slot[i];
}

static void slots_fill(struct usage *u)
{
	memset(u->slot, 0, u->slots * sizeof(*u->slot));
	for (size_t i = 0; i < u->n; i++)
		*find(u, &u->row[i]) = (uint32_t)(i + 1);
}

/* Room for one more. */
static int grow(struct usage *u)
{
	if (u->n == u->room) {
		size_t room = u->room ? 2 * u->room : 64;
		struct usage_row *grown = realloc(u->row, room * sizeof(*grown));

		if (!grown)
			return -1;
		u->row = grown;
		u->room = room;
	}
	if (2 * (u->n + 1) > u->slots) {
		uint32_t *slot = calloc(2 * u->slots, sizeof(*slot));

		if (!slot)
			return -1;
		free(u->slot);
		u->slot = slot;
		u->slots *= 2;
		slots_fill(u);
	}
	return 0;
}

/* Copies the texts of `r` into one block. */
static int texts_keep(struct usage_row *r)
{
	size_t a = strlen(r->account) + 1, b = strlen(r->user) + 1, c = strlen(r->gpu_type) + 1;
	char *block = malloc(a + b + c);

	if (!block)
		return -1;
	memcpy(block, r->account, a);
	memcpy(block + a, r->user, b);
	memcpy(block + a + b, r->gpu_type, c);
	r->account = block;
	r->user = block + a;
	r->gpu_type = block + a + b;
	return 0;
}

static int row_add(struct usage *u, const struct usage_row *r)
{
	uint32_t *slot = find(u, r);
	struct usage_row kept = *r;

	if (*slot) {
		struct usage_row *there = &u->row[*slot - 1];

		if (!__builtin_add_overflow(there->gpu_seconds, r->gpu_seconds, &there->gpu_seconds))
			return 0;
		there->gpu_seconds -= r->gpu_seconds;
		errno = EOVERFLOW;
		return -1;
	}
	if (grow(u) < 0 || texts_keep(&kept) < 0)
		return -1;
	u->row[u->n++] = kept;
	*find(u, &kept) = (uint32_t)u->n;
	return 0;
}

/* --- runs ------------------------------------------------------------------------------------------- */

static int part_add(
	struct usage *u, const char *account, const char *user, const struct gpu_count *gpus, int64_t seconds)
{
	for (int i = 0; i < gpus->ntypes; i++) {
		const char *type = gpus->types[i].type;
		struct usage_row r = {u->month, account, user, *type ? type : USAGE_UNTYPED,
			gpus->types[i].count * seconds};

		if (row_add(u, &r) < 0)
			return -1;
	}
	return 0;
}

static void month_find(struct usage *u, int64_t at)
{
	if (at >= u->month_from && at < u->month_end)
		return;
	u->month = zone_month(u->zone, at, &u->month_end);
	u->month_from = at;
}

int usage_add(struct usage *u, const char *account, const char *user, const struct gpu_count *gpus,
	int64_t from, int64_t end)
{
	int64_t whole;

	if (gpus->total == 0)
		return 0;
	if (__builtin_mul_overflow(gpus->total, end - from, &whole)) {
		errno = EOVERFLOW;
		return -1;
	}
	while (from < end) {
		int64_t until;

		month_find(u, from);
		until = u->month_end < end ? u->month_end : end;
		if (part_add(u, account, user, gpus, until - from) < 0)
			return -1;
		from = until;
	}
	return 0;
}

const struct usage_row *usage_rows(struct usage *u, size_t *n)
{
	if (u->n)
		qsort(u->row, u->n, sizeof(*u->row), compare);
	slots_fill(u);
	*n = u->n;
	return u->row;
}
