/* SPDX-License-Identifier: GPL-2.0-or-later
 * tres.c - what was given: the GPUs in Slurm's AllocTRES and gres_detail strings
 *
 * Both keys of a typed device, gres/gpu=4 and gres/gpu:h100=4, stand in the same string in either order, so
 * the typed ones and the total are collected apart and compared at the end. */
#include "lib/tres.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include "lib/gres_list.h"
#include "lib/number.h"

/* What one string says of one kind. */
struct tally {
	bool total_told;
	int64_t total;		/* the untyped keys */
	int64_t typed;		/* the typed ones */
};

struct reading {
	const char *list;
	struct gpu_count types;			/* typed GPUs only */
	struct tally tally[GRES_KINDS];
};

static int count_item(struct reading *r, enum gres_kind kind, const char *type, int64_t count, const char *at,
	struct fault *why)
{
	struct tally *t = &r->tally[kind];
	int64_t *sum = type[0] ? &t->typed : &t->total;

	if (kind == GRES_OTHER)
		return 0;
	if (!type[0])
		t->total_told = true;
	if (__builtin_add_overflow(*sum, count, sum))
		return gres_list_fault(r->list, at, EOVERFLOW, why, "a count too large");
	if (kind == GRES_GPU && type[0] && gpu_count_add(&r->types, type, count) < 0)
		return gres_list_fault(r->list, at, errno == E2BIG ? EINVAL : errno, why,
			"more types than can be told apart");
	return 0;
}

/* The total of one kind; typed keys that exceed the untyped one contradict it. */
static int settle(const struct reading *r, enum gres_kind kind, int64_t *total, struct fault *why)
{
	const struct tally *t = &r->tally[kind];

	if (t->total_told && t->total < t->typed)
		return fault_errno(why, EINVAL,
			"\"%.300s\": %" PRId64 " by type but %" PRId64 " in all, which cannot both be true",
			r->list, t->typed, t->total);
	*total = t->total_told ? t->total : t->typed;
	return 0;
}

static int finish(const struct reading *r, struct gpu_count *out, struct fault *why)
{
	struct gpu_count c = r->types;
	int64_t gpus = 0;

	if (settle(r, GRES_GPU, &gpus, why) < 0 || settle(r, GRES_SHARD, &c.shards, why) < 0 ||
		settle(r, GRES_MPS, &c.mps, why) < 0)
		return -1;
	if (gpu_count_add(&c, "", gpus - c.total) < 0)
		return fault_errno(why, EINVAL, "\"%.300s\": more types than can be told apart", r->list);
	*out = c;
	return 0;
}

int tres_read(const char *tres, struct gpu_count *out, struct fault *why)
{
	struct reading r = { .list = tres ? tres : "" };
	const char *cursor = NULL;
	struct gres_item item;
	int rc;

	while ((rc = gres_list_next(r.list, &cursor, &item, why)) > 0) {
		if (item.id)
			return gres_list_fault(
				r.list, item.name, EINVAL, why, "a number where a name belongs");
		if (!item.counted)
			return gres_list_fault(
				r.list, item.name + item.name_len, EINVAL, why, "a count is missing");
		if (count_item(&r, item.kind, item.type, item.count, item.name, why) < 0)
			return -1;
	}
	return rc < 0 ? -1 : finish(&r, out, why);
}

static const char *id_name(const struct tres_id *ids, size_t n, int64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i].id == id)
			return ids[i].name;
	return NULL;
}

/* "1001" "8": the name behind the id is itself an item of a list, without a count. */
static int count_id(struct reading *r, const struct gres_item *item, const struct tres_id *ids, size_t n,
	struct fault *why)
{
	const char *p = item->name, *cursor = NULL, *name;
	struct gres_item named;
	int64_t id, count;

	if (!item->id || !item->value)
		return gres_list_fault(
			r->list, item->name, EINVAL, why, "not the number of a resource and its count");
	if (number_read(&p, &id) < 0)
		return gres_list_fault(r->list, item->name, errno, why, "a number too large");
	p = item->value;
	if (number_read(&p, &count) < 0 || p != item->value + item->value_len)
		return gres_list_fault(r->list, p, EINVAL, why, "not a count");
	name = id_name(ids, n, id);
	if (!name)
		return gres_list_fault(
			r->list, item->name, EINVAL, why, "a resource that slurmdbd does not name");
	if (gres_list_next(name, &cursor, &named, why) != 1)
		return fault_errno(why, EINVAL, "\"%.80s\" is not the name of a resource", name);
	return count_item(r, named.kind, named.type, count, item->name, why);
}

int tres_read_ids(
	const char *tres, const struct tres_id *ids, size_t n, struct gpu_count *out, struct fault *why)
{
	struct reading r = { .list = tres ? tres : "" };
	const char *cursor = NULL;
	struct gres_item item;
	int rc;

	while ((rc = gres_list_next(r.list, &cursor, &item, why)) > 0)
		if (count_id(&r, &item, ids, n, why) < 0)
			return -1;
	return rc < 0 ? -1 : finish(&r, out, why);
}
