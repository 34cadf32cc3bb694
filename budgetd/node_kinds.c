/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_kinds.c - nodes that are alike for every job (node_kinds.h).
 *
 * Thousands wait and ask for a few dozen different things: what was found for one of them is kept. */
#include "budgetd/node_kinds.h"
#include "lib/features.h"
#include "lib/tres.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct kind {
	const struct node_view *like;	/* the first node of it */
	struct gpu_count gpus;
	int64_t largest;
};

/* What a job asks for. */
struct wish {
	const char *partition, *features;
	int64_t memory_mb;
	struct gpu_count types;
	struct node_kinds_for found;
};

struct node_kinds {
	const struct cluster_view *view;
	size_t words;			/* of a node's bits of partitions */
	struct kind *kinds;
	size_t nkinds;
	uint32_t *of_node;
	struct wish *wishes;
	size_t nwishes, wishes_room;
	bool **sets;			/* no two alike */
	size_t nsets;
	uint64_t *partitions;		/* scratch: a job's */
};

static bool same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* --- kinds of nodes ----------------------------------------------------------------------------- */

static bool alike(const struct node_kinds *k, const struct node_view *a, const struct node_view *b)
{
	return a->memory_mb == b->memory_mb && a->reserved == b->reserved &&
		(!k->words || !memcmp(a->partitions, b->partitions, k->words * sizeof(*a->partitions))) &&
		same(a->gres, b->gres) && same(a->features, b->features);
}

static void add_node(struct node_kinds *k, size_t node)
{
	const struct node_view *n = &k->view->nodes[node];
	size_t i = 0;

	while (i < k->nkinds && !alike(k, k->kinds[i].like, n))
		i++;
	if (i == k->nkinds) {
		k->kinds[k->nkinds++].like = n;
		if (tres_read(n->gres, &k->kinds[i].gpus, NULL) < 0)
			memset(&k->kinds[i].gpus, 0, sizeof(k->kinds[i].gpus));
	}
	if (n->gpus > k->kinds[i].largest)
		k->kinds[i].largest = n->gpus;
	k->of_node[node] = (uint32_t)i;
}

struct node_kinds *node_kinds_new(const struct cluster_view *c)
{
	struct node_kinds *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->view = c;
	k->words = PARTITION_WORDS(c->partition_count);
	k->kinds = calloc(c->node_count + 1, sizeof(*k->kinds));
	k->of_node = calloc(c->node_count + 1, sizeof(*k->of_node));
	k->partitions = calloc(k->words + 1, sizeof(*k->partitions));
	if (!k->kinds || !k->of_node || !k->partitions) {
		node_kinds_free(k);
		errno = ENOMEM;
		return NULL;
	}
	for (size_t i = 0; i < c->node_count; i++)
		add_node(k, i);
	return k;
}

void node_kinds_free(struct node_kinds *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->nsets; i++)
		free(k->sets[i]);
	free(k->sets);
	free(k->wishes);
	free(k->kinds);
	free(k->of_node);
	free(k->partitions);
	free(k);
}

uint32_t node_kinds_of(const struct node_kinds *k, size_t node)
{
	return k->of_node[node];
}

/* --- which will do ------------------------------------------------------------------------------ */

/* "a,b": the bits of those partitions that are up. */
static void read_partitions(struct node_kinds *k, const char *list)
{
	const struct cluster_view *c = k->view;

	memset(k->partitions, 0, k->words * sizeof(*k->partitions));
	for (const char *at = list; at && *at; at += strspn(at, ",")) {
		size_t length = strcspn(at, ",");

		for (size_t i = 0; i < c->partition_count; i++)
			if (c->partitions[i].up && strncmp(c->partitions[i].name, at, length) == 0 &&
				!c->partitions[i].name[length])
				k->partitions[i / 64] |= UINT64_C(1) << i % 64;
		at += length;
	}
}

static bool shares_partition(const struct node_kinds *k, const struct node_view *n)
{
	for (size_t i = 0; i < k->words; i++)
		if (n->partitions[i] & k->partitions[i])
			return true;
	return false;
}

static bool has_types(const struct gpu_count *has, const struct gpu_count *wanted)
{
	for (int i = 0; i < wanted->ntypes; i++) {
		int k = 0;

		while (k < has->ntypes && strcmp(has->types[k].type, wanted->types[i].type))
			k++;
		if (wanted->types[i].type[0] && k == has->ntypes)
			return false;
	}
	return true;
}

static bool will_do(const struct node_kinds *k, const struct kind *x, const struct wish *w)
{
	return !x->like->reserved && shares_partition(k, x->like) && x->like->memory_mb >= w->memory_mb &&
		has_types(&x->gpus, &w->types) &&
		features_met(w->features, x->like->features) == FEATURES_YES;
}

/* Takes `set`: kept, or freed when there is such a one. NULL and ENOMEM. */
static const bool *keep_set(struct node_kinds *k, bool *set)
{
	bool **grown;

	for (size_t i = 0; i < k->nsets; i++)
		if (!memcmp(k->sets[i], set, k->nkinds)) {
			free(set);
			return k->sets[i];
		}
	grown = reallocarray(k->sets, k->nsets + 1, sizeof(*grown));
	if (!grown) {
		free(set);
		return NULL;
	}
	k->sets = grown;
	return k->sets[k->nsets++] = set;
}

static int find(struct node_kinds *k, struct wish *w)
{
	bool *set = calloc(k->nkinds + 1, sizeof(*set));

	if (!set)
		return -1;
	read_partitions(k, w->partition);
	for (size_t i = 0; i < k->nkinds; i++) {
		set[i] = will_do(k, &k->kinds[i], w);
		if (set[i] && k->kinds[i].largest > w->found.largest)
			w->found.largest = k->kinds[i].largest;
	}
	w->found.set = keep_set(k, set);
	return w->found.set ? 0 : -1;
}

static bool same_types(const struct gpu_count *a, const struct gpu_count *b)
{
	if (a->ntypes != b->ntypes)
		return false;
	for (int i = 0; i < a->ntypes; i++)
		if (strcmp(a->types[i].type, b->types[i].type))
			return false;
	return true;
}

static const struct wish *found_before(const struct node_kinds *k, const struct wish *w)
{
	for (size_t i = 0; i < k->nwishes; i++) {
		const struct wish *x = &k->wishes[i];

		if (x->memory_mb == w->memory_mb && same(x->partition, w->partition) &&
			same(x->features, w->features) && same_types(&x->types, &w->types))
			return x;
	}
	return NULL;
}

static int remember(struct node_kinds *k, const struct wish *w)
{
	if (k->nwishes == k->wishes_room) {
		size_t room = k->wishes_room ? 2 * k->wishes_room : 16;
		struct wish *grown = reallocarray(k->wishes, room, sizeof(*grown));

		if (!grown)
			return -1;
		k->wishes = grown;
		k->wishes_room = room;
	}
	k->wishes[k->nwishes++] = *w;
	return 0;
}

int node_kinds_for(struct node_kinds *k, const struct job_view *j, const struct gpu_count *types,
	struct node_kinds_for *out)
{
	struct wish w = { .partition = j->partition, .features = j->features, .memory_mb = j->memory_mb,
		.types = *types };
	const struct wish *before = found_before(k, &w);

	if (j->reservation)		/* whose nodes those are is not known here */
		return 0;
	if (before)
		w = *before;
	else if (find(k, &w) < 0 || remember(k, &w) < 0) {
		errno = ENOMEM;
		return -1;
	}
	*out = w.found;
	return w.found.largest > 0;
}
