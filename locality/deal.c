/* SPDX-License-Identifier: GPL-2.0-or-later
 * deal.c - CPUs to tasks (deal.h)
 *
 * Pieces are the threads of one core that one task has. Pieces of the same size that cost every task the same
 * are a class (mostly a NUMA node). How many pieces of each class a task has best is deal_cycles.c; here they
 * are counted before, and handed out after it. */
#include "locality/deal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "locality/deal_cycles.h"

/* --- evenly ------------------------------------------------------------------------------------------- */

static int cpus_of(const struct cores *c)
{
	int n = 0;

	for (int i = 0; i < c->count; i++)
		n += c->core[i].threads;
	return n;
}

/* The first tasks get one more when it does not come out even. */
static int share(int all, int tasks, int task)
{
	return all / tasks + (task < all % tasks);
}

static int whole_cores(const struct cores *c, int tasks, int at_least, struct cpu_set out[])
{
	int next = 0, fewest = CPUS_MAX;

	for (int t = 0; t < tasks; t++) {
		int n = 0;

		cpu_set_clear(&out[t]);
		for (int left = share(c->count, tasks, t); left > 0; left--, next++)
			for (int i = 0; i < c->core[next].threads; i++, n++)
				cpu_set_add(&out[t], c->core[next].cpu[i]);
		fewest = n < fewest ? n : fewest;
	}
	return fewest >= at_least && fewest > 0 ? 0 : -1;
}

/* Core by core: at most one core is cut at each border between two tasks. */
static void single_cpus(const struct cores *c, int tasks, struct cpu_set out[])
{
	int all = cpus_of(c), t = 0, left = share(all, tasks, 0);

	memset(out, 0, (size_t)tasks * sizeof(*out));
	for (int i = 0; i < c->count; i++)
		for (int j = 0; j < c->core[i].threads; j++) {
			while (left == 0)
				left = share(all, tasks, ++t);
			cpu_set_add(&out[t], c->core[i].cpu[j]);
			left--;
		}
}

int deal_evenly(const struct cores *cores, int tasks, int at_least, struct cpu_set out[])
{
	if (tasks <= 0 || at_least < 0 || cpus_of(cores) / tasks < (at_least ? at_least : 1)) {
		errno = ERANGE;
		return -1;
	}
	if (whole_cores(cores, tasks, at_least, out) < 0)
		single_cpus(cores, tasks, out);
	return 0;
}

/* --- nearest ------------------------------------------------------------------------------------------ */

struct piece {
	int task;
	int threads;
	int cpu[CORE_THREADS_MAX];
	int class;
};

struct pieces {
	int count;
	struct piece *piece;		/* in the order of the cores */
	int kinds;
	const struct nearness **kind;	/* those that differ, NULL among them */
	int *kind_of;			/* by task */
	int classes;
	int *size;			/* of the pieces of a class */
	/* of a piece: cost[kind * room + class], where room is that for as many classes as CPUs */
	int64_t *cost;
	bool *local;			/* the same: all of its threads are next to the GPUs */
};

static void pieces_free(struct pieces *p)
{
	free(p->piece);
	free(p->kind);
	free(p->kind_of);
	free(p->size);
	free(p->cost);
	free(p->local);
}

static int64_t piece_cost(const struct nearness *near, const struct core *core, const struct piece *p)
{
	int64_t sum = 0;

	for (int i = 0; near && i < p->threads; i++)
		sum += nearness_cost(near, core, p->cpu[i]);
	return sum;
}

static bool piece_local(const struct nearness *near, const struct piece *p)
{
	int n = 0;

	for (int i = 0; near && i < p->threads; i++)
		n += cpu_set_has(&near->local, p->cpu[i]);
	return n == p->threads;
}

/* The threads of this core, by the tasks that have them. */
static void core_cut(const struct core *core, const struct deal_task *tasks, int count, struct pieces *p)
{
	bool taken[CORE_THREADS_MAX] = { false };

	for (int i = 0; i < core->threads; i++) {
		struct piece *piece = &p->piece[p->count];
		int t = 0;

		while (t < count && !cpu_set_has(&tasks[t].cpus, core->cpu[i]))
			t++;
		if (taken[i] || t == count)
			continue;
		*piece = (struct piece){ .task = t };
		for (int j = i; j < core->threads; j++)
			if (cpu_set_has(&tasks[t].cpus, core->cpu[j])) {
				piece->cpu[piece->threads++] = core->cpu[j];
				taken[j] = true;
			}
		p->count++;
	}
}

static void kinds_find(const struct deal_task *tasks, int count, struct pieces *p)
{
	for (int t = 0; t < count; t++) {
		int k = 0;

		while (k < p->kinds && p->kind[k] != tasks[t].near)
			k++;
		if (k == p->kinds)
			p->kind[p->kinds++] = tasks[t].near;
		p->kind_of[t] = k;
	}
}

/* The class of pieces like this one; a new one when there is none. */
static void class_find(const struct core *core, int room, struct pieces *p, struct piece *piece)
{
	int c = 0, k;

	for (k = 0; k < p->kinds; k++) {
		p->cost[k * room + p->classes] = piece_cost(p->kind[k], core, piece);
		p->local[k * room + p->classes] = piece_local(p->kind[k], piece);
	}
	for (; c < p->classes; c++) {
		if (p->size[c] != piece->threads)
			continue;
		for (k = 0; k < p->kinds && p->cost[k * room + c] == p->cost[k * room + p->classes] &&
			p->local[k * room + c] == p->local[k * room + p->classes]; k++)
			;
		if (k == p->kinds)
			break;
	}
	if (c == p->classes)
		p->size[p->classes++] = piece->threads;
	piece->class = c;
}

/* `room`: the most pieces that there can be. */
static int pieces_make(const struct cores *cores, const struct deal_task *tasks, int count, int room,
	struct pieces *p)
{
	*p = (struct pieces){ .piece = calloc((size_t)room, sizeof(*p->piece)),
		.size = calloc((size_t)room, sizeof(*p->size)),
		.kind = calloc((size_t)count, sizeof(*p->kind)),
		.kind_of = calloc((size_t)count, sizeof(*p->kind_of)) };
	if (!p->piece || !p->size || !p->kind || !p->kind_of)
		return -1;
	kinds_find(tasks, count, p);
	p->cost = calloc((size_t)room * (size_t)p->kinds, sizeof(*p->cost));
	p->local = calloc((size_t)room * (size_t)p->kinds, sizeof(*p->local));
	if (!p->cost || !p->local)
		return -1;
	for (int i = 0; i < cores->count; i++) {
		int first = p->count;

		core_cut(&cores->core[i], tasks, count, p);
		for (int j = first; j < p->count; j++)
			class_find(&cores->core[i], room, p, &p->piece[j]);
	}
	return 0;
}

/* Pieces of a class change hands so that each task has as many as `has` says: what a task keeps are its first
 * ones, what it gets are the first that others leave. */
static void class_hand_out(struct pieces *p, int class, int tasks, int *has)
{
	for (int i = 0; i < p->count; i++) {
		struct piece *piece = &p->piece[i];

		if (piece->class != class)
			continue;
		if (has[piece->task * p->classes + class] > 0)
			has[piece->task * p->classes + class]--;
		else
			piece->task = -1;
	}
	for (int i = 0, t = 0; i < p->count; i++) {
		if (p->piece[i].class != class || p->piece[i].task >= 0)
			continue;
		while (t < tasks && has[t * p->classes + class] == 0)
			t++;
		p->piece[i].task = t;
		has[t * p->classes + class]--;
	}
}

static void pieces_give(const struct pieces *p, struct deal_task *tasks, int count)
{
	for (int t = 0; t < count; t++)
		cpu_set_clear(&tasks[t].cpus);
	for (int i = 0; i < p->count; i++)
		for (int j = 0; j < p->piece[i].threads; j++)
			cpu_set_add(&tasks[p->piece[i].task].cpus, p->piece[i].cpu[j]);
}

static bool shared(const struct deal_task *tasks, int count)
{
	struct cpu_set all = { { 0 } };

	for (int t = 0; t < count; t++) {
		if (cpu_set_meets(&all, &tasks[t].cpus))
			return true;
		cpu_set_or(&all, &all, &tasks[t].cpus);
	}
	return false;
}

static int counts_deal(const struct deal_counts *d)
{
	if (deal_cycles(d) < 0)
		return -1;
	deal_level(d);
	return 0;
}

/* Once, for the pieces as they are. */
static int pieces_deal(const struct cores *cores, struct deal_task *tasks, int count)
{
	struct pieces p = { 0 };
	int rv = -1;
	int *has = NULL;

	if (pieces_make(cores, tasks, count, cpus_of(cores), &p) < 0)
		goto out;
	has = calloc((size_t)count * (size_t)(p.classes + 1), sizeof(*has));
	if (!has)
		goto out;
	for (int i = 0; i < p.count; i++)
		has[p.piece[i].task * p.classes + p.piece[i].class]++;
	rv = counts_deal(&(struct deal_counts){ .tasks = count, .classes = p.classes, .kind_of = p.kind_of,
		.size = p.size, .cost = p.cost, .local = p.local, .room = cpus_of(cores), .has = has });
	if (rv < 0)
		goto out;
	for (int c = 0; c < p.classes; c++)
		class_hand_out(&p, c, count, has);
	pieces_give(&p, tasks, count);
out:
	free(has);
	pieces_free(&p);
	return rv;
}

/* Threads of one core that came to one task are a larger piece, which may have a better place: until nothing
 * gets better. */
int deal_nearest(const struct cores *cores, struct deal_task *tasks, int count)
{
	int64_t before, after;

	if (shared(tasks, count)) {
		errno = EEXIST;
		return -1;
	}
	if (count <= 0 || cpus_of(cores) == 0)
		return 0;
	do {
		before = deal_cost(cores, tasks, count);
		if (pieces_deal(cores, tasks, count) < 0) {
			errno = ENOMEM;
			return -1;
		}
		after = deal_cost(cores, tasks, count);
	} while (after < before);
	return 0;
}

int64_t deal_cost(const struct cores *cores, const struct deal_task *tasks, int count)
{
	int64_t sum = 0;

	for (int t = 0; t < count; t++)
		for (int i = 0; tasks[t].near && i < cores->count; i++)
			for (int j = 0; j < cores->core[i].threads; j++)
				if (cpu_set_has(&tasks[t].cpus, cores->core[i].cpu[j]))
					sum += nearness_cost(tasks[t].near, &cores->core[i],
						cores->core[i].cpu[j]);
	return sum;
}
