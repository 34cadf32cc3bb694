/* SPDX-License-Identifier: GPL-2.0-or-later
 * plan.c - when CPUs are dealt anew (plan.h) */
#include "locality/plan.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool names(const char *type, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = type; (p = strstr(p, word)); p += n)
		if ((p == type || p[-1] == ',') && (!p[n] || p[n] == ',' || p[n] == ':'))
			return true;
	return false;
}

enum binding binding_of(const char *type)
{
	static const char *const users[] = {"none", "map_cpu", "rank", "rank_ldom", "map_ldom", "mask_ldom"},
				 *const units[] = {"cores", "threads", "sockets", "ldoms"};

	if (!type)
		return BINDING_NONE;
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		if (names(type, users[i]))
			return BINDING_USER;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (names(type, units[i]))
			return BINDING_UNITS;
	return names(type, "mask_cpu") ? BINDING_MASK : BINDING_NONE;
}

static bool all_alike(const struct deal_task *tasks, int count)
{
	for (int t = 1; t < count; t++)
		if (!cpu_set_equal(&tasks[0].cpus, &tasks[t].cpus))
			return false;
	return true;
}

static bool any_known(const struct deal_task *tasks, int count)
{
	for (int t = 0; t < count; t++)
		if (tasks[t].near && tasks[t].near->known)
			return true;
	return false;
}

/* 1: done; 0: it does not fit; -1 and ENOMEM. */
static int share_out(const struct cores *cores, struct deal_task *tasks, int count, int cpus_each)
{
	struct cpu_set *set = calloc((size_t)count, sizeof(*set));
	int rv = -1;

	if (!set)
		return -1;
	if (deal_evenly(cores, count, cpus_each, set) == 0) {
		for (int t = 0; t < count; t++)
			tasks[t].cpus = set[t];
		rv = deal_nearest(cores, tasks, count) < 0 ? -1 : 1;
	} else if (errno == ERANGE) {
		rv = 0;
	}
	free(set);
	return rv;
}

int plan_make(const struct cores *cores, struct deal_task *tasks, int count, enum binding binding,
	int cpus_each, enum plan *done)
{
	int rv;

	*done = PLAN_KEPT;
	if (binding == BINDING_USER || count < 2 || !any_known(tasks, count))
		return 0;
	if (all_alike(tasks, count)) {
		rv = binding == BINDING_UNITS ? 0 : share_out(cores, tasks, count, cpus_each);
		*done = rv > 0 ? PLAN_SHARED_OUT : PLAN_KEPT;
		return rv < 0 ? -1 : 0;
	}
	if (deal_nearest(cores, tasks, count) == 0)
		*done = PLAN_SWAPPED;
	else if (errno != EEXIST)	/* two that share some CPUs: nobody knows what was meant */
		return -1;
	return 0;
}
