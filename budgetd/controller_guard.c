/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_guard.c - the nodes of a gang that has waited long: which are kept for it (doc/model.md, 6)
 *
 * While room is looked for, the first such gang keeps the nodes that it gets, or will get first as minimum
 * runtimes end (pass_guard_choose). It stands in the books, so a restart goes on from there. Who may not
 * start on them meanwhile: controller_kept_off.c. */
#include "budgetd/cluster_state.h"
#include "budgetd/controller.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/room.h"
#include <stdio.h>
#include <string.h>

#define MOVED_S 60			/* a planned start that moves by less is the same */
#define GIVEN_UP_AFTER_S 180		/* a gang that has its nodes: Slurm backfills every 30 s */
#define GIVEN_UP_FOR_S 600

static int write_guard(struct pass *p, void *arg, struct fault *why)
{
	return guard_store(p->b->ledger, arg, why);
}

static void tell(struct budgetd *b, const struct guard *g, uint32_t job)
{
	struct gang_guard known = { .job = job, .at = g->at, .together = g->together };

	snprintf(known.nodes, sizeof(known.nodes), "%.*s", (int)sizeof(known.nodes) - 1, g->nodes);
	cluster_state_set_guard(b->cluster, &known);
}

static void publish(struct pass *p, const struct guard *g)
{
	const struct waiting *w = g->nodes[0] ? pass_find_waiting(p, g->admission) : NULL;

	tell(p->b, g, w ? pass_array_or_job_id(w->job) : 0);
}

int controller_know_guard(struct budgetd *b, struct ledger *l, struct fault *why)
{
	struct admission_row a = {0};
	struct guard g;
	int rc;

	if (ledger_begin(l, LEDGER_READ, why) < 0)
		return -1;
	rc = guard_load(l, &g, why);
	if (rc == 1)
		rc = admission_by_id(l, g.admission, &a, why);
	ledger_rollback(l);
	if (rc == 1)
		tell(b, &g, (uint32_t)a.job);
	return rc < 0 ? -1 : 0;
}

int pass_guard_note(struct pass *p, struct fault *why)
{
	struct guard *old = &p->guard, *now = &p->next_guard;
	bool same = old->admission == now->admission && !strcmp(old->nodes, now->nodes);

	publish(p, now);
	if (same && now->at - old->at < MOVED_S && old->at - now->at < MOVED_S)
		return 0;
	if (!same && now->nodes[0])
		log_info("nodes are cleared for job %u: %s",
			pass_array_or_job_id(pass_find_waiting(p, now->admission)->job), now->nodes);
	return pass_write(p, LEDGER_HOLDS, write_guard, now, why);
}

/* As the last pass left it, when its gang still waits. */
int pass_guard_load(struct pass *p, struct fault *why)
{
	const struct waiting *gang;

	if (guard_load(p->books, &p->guard, why) < 0)
		return -1;
	gang = p->guard.admission ? pass_find_waiting(p, p->guard.admission) : NULL;
	if (!p->guard.admission ||
		(gang && (gang->cleared || p->guard.together) && p->b->settings->displace != DISPLACE_OFF))
		return 0;
	if (p->guard.nodes[0])
		log_info("no nodes are kept any more for the job that %s were cleared for", p->guard.nodes);
	p->guard = (struct guard){0};
	publish(p, &p->guard);
	return pass_write(p, LEDGER_HOLDS, write_guard, &p->guard, why);
}

static bool is_in(const struct placement_choice *c, size_t n, size_t node)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c[i].nparts; k++)
			if (c[i].parts[k].node == node)
				return true;
	return false;
}

void pass_guard_nodes(struct pass *p, const struct waiting *w, const struct placement_choice *c, size_t n,
	int64_t at)
{
	struct guard *g = &p->next_guard;
	size_t used = 0;

	*g = (struct guard){ .admission = w->admission.id, .at = at, .together = w->job->het_job_id };
	for (size_t i = 0; i < p->cluster->node_count && used < sizeof(g->nodes); i++)
		if (is_in(c, n, i))
			used += (size_t)snprintf(g->nodes + used, sizeof(g->nodes) - used, "%s%s",
				used ? "," : "", p->cluster->nodes[i].name);
	if (used >= sizeof(g->nodes))
		*g = (struct guard){0};
}

/* The nodes that it has already, as long as they do as soon as was planned; else those that are empty enough
 * first. */
static int forecast(struct pass *p, struct room *room, const struct placement_rules *rules,
	const struct placement_job *shape, const struct waiting *w, struct placement_choice *c, int64_t *at)
{
	struct placement_job same = *shape;
	int64_t planned = p->guard.at > p->now ? p->guard.at : p->now;

	same.kept_only = true;
	if (p->guard.admission == w->admission.id) {
		int rc;

		for (size_t i = 0; i < p->cluster->node_count; i++)
			if (slurm_link_has_node(p->guard.nodes, p->cluster->nodes[i].name))
				placement_keep(room_placement(room), (uint32_t)i);
		rc = placement_forecast(room_placement(room), rules, &same, p->now, c, at);
		if (rc < 0 || (rc == 1 && *at <= planned + MOVED_S))
			return rc;
	}
	return placement_forecast(room_placement(room), rules, shape, p->now, c, at);
}

int pass_guard_choose(struct pass *p, struct room *room, const struct placement_rules *rules,
	const struct placement_job *shape, const struct waiting *w, struct placement_choice *c,
	int64_t promised)
{
	int64_t at = promised;
	int rc = promised ? 1 : forecast(p, room, rules, shape, w, c, &at);

	if (rc != 1)
		return rc;
	pass_guard_nodes(p, w, c, 1, at);
	if (!promised)
		placement_guard(room_placement(room), c->parts, c->nparts, at);
	return 0;
}

static int write_given_up(struct pass *p, void *arg, struct fault *why)
{
	return guard_give_up(p->b->ledger, *(const int64_t *)arg, p->now, p->now - GIVEN_UP_FOR_S, why);
}

int pass_guard_gives_up(struct pass *p, const struct waiting *w, bool has_nodes, struct fault *why)
{
	int64_t admission = w->admission.id;

	if (p->guard.admission != admission)
		return guard_given_up(p->books, admission, p->now - GIVEN_UP_FOR_S, why);
	if (!has_nodes || p->now - p->guard.at <= GIVEN_UP_AFTER_S)
		return 0;
	log_info("job %u does not start on the nodes that were cleared for it: they are given up",
		pass_array_or_job_id(w->job));
	return pass_write(p, LEDGER_HOLDS, write_given_up, &admission, why) < 0 ? -1 : 1;
}
