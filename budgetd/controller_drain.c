/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_drain.c - nodes that are to be empty (doc/model.md, 6): drained in Slurm, and their runs told to
 * go when they may be.
 *
 * Level-triggered: what an administrator said stands in the books, what is so in Slurm's table of nodes. A
 * drain that somebody ended with scontrol is over; one that was ended here is taken back in Slurm, as long as
 * it is still ours there. Who was told to leave a node that need not be empty any more may stay. */
#include "budgetd/ledger_drain.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/leaves.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A node that drains, whoever wants it. */
struct draining {
	const struct node_view *node;
	bool critical;
	/* Slurm is told in this pass: nobody leaves yet, and who was told before does not stay */
	bool only_asked;
};

struct drains {
	struct pass *p;
	struct draining *nodes;
	size_t count;
	struct fault *why;
};

static const struct node_view *node_of(const struct pass *p, const char *name)
{
	for (size_t i = 0; i < p->cluster->node_count; i++)
		if (!strcmp(p->cluster->nodes[i].name, name))
			return &p->cluster->nodes[i];
	return NULL;
}

static bool is_ours(const struct node_view *n, const struct drain *d)
{
	char text[DRAIN_TEXT_MAX];

	return n->reason && !strcmp(n->reason, drain_text(d, text));
}

/* --- what was said, and what is so in Slurm ------------------------------------------------------ */

static int write_set(struct pass *p, void *arg, struct fault *why)
{
	const struct drain *d = arg;

	return drain_set(p->b->ledger, d->id, d->set_at, why);
}

static int write_end(struct pass *p, void *arg, struct fault *why)
{
	const struct drain *d = arg;

	return drain_end(p->b->ledger, d->id, "scontrol", p->now, why);
}

/* A node that Slurm does not know any more: the wish stays for when it comes back, and is then told anew.
 * Said once: afterwards set_at is 0. */
static int follow_missing(struct drains *x, struct drain *d)
{
	if (!d->set_at)
		return 0;
	log_warning("node %s, which is to be drained, is not in Slurm any more: it is drained when it comes back, unless that is ended: "
		"budgetctl undrain %s", d->node, d->node);
	d->set_at = 0;
	return pass_write(x->p, LEDGER_HOLDS, write_set, d, x->why);
}

/* Slurm is told until it is so; what is taken back there afterwards is over here. */
static int follow_wish(const struct drain *d, void *arg)
{
	struct drains *x = arg;
	struct pass *p = x->p;
	struct drain copy = *d;
	const struct node_view *n = node_of(p, d->node);
	struct fault problem = { "" };
	char text[DRAIN_TEXT_MAX];

	if (!n)
		return follow_missing(x, &copy);
	if (n->draining && (d->set_at || is_ours(n, d))) {
		x->nodes[x->count++] = (struct draining){ n, d->critical, false };
		copy.set_at = p->now;
		return d->set_at ? 0 : pass_write(p, LEDGER_HOLDS, write_set, &copy, x->why);
	}
	if (!n->draining && d->set_at) {
		log_info("node %s does not drain any more: somebody ended it with scontrol", d->node);
		return pass_write(p, LEDGER_HOLDS, write_end, &copy, x->why);
	}
	x->nodes[x->count++] = (struct draining){ n, d->critical, true };
	if (slurm_link_drain(p->b->slurm, d->node, drain_text(d, text), &problem) < 0)
		log_warning("%s", problem.text);
	else
		log_info("node %s drains: %s", d->node, text);
	return 0;
}

/* Nodes whose drain was ended here, and those that others drain. */
static int follow_node(struct drains *x, const struct node_view *n, struct fault *why)
{
	struct pass *p = x->p;
	struct fault problem = { "" };
	struct drain d;
	int rc = drain_of(p->books, n->name, &d, why);

	if (rc < 0)
		return -1;
	if (rc == 1 && !d.ended_at)
		return 0;		/* met above */
	if (rc == 1 && is_ours(n, &d)) {
		if (slurm_link_undrain(p->b->slurm, n->name, &problem) < 0)
			log_warning("%s", problem.text);
		else
			log_info("node %s can be used again", n->name);
		return 0;
	}
	if (p->b->settings->drain == DRAIN_ALL)
		x->nodes[x->count++] = (struct draining){ n, false, false };
	return 0;
}

static int find_draining(struct drains *x, struct fault *why)
{
	struct pass *p = x->p;
	int rc = drain_walk_open(p->books, follow_wish, x, why);

	for (size_t i = 0; rc == 0 && i < p->cluster->node_count; i++)
		if (p->cluster->nodes[i].draining)
			rc = follow_node(x, &p->cluster->nodes[i], why);
	return rc;
}

/* --- who leaves ---------------------------------------------------------------------------------- */

/* Told once; a node that becomes critical meanwhile brings it forward. */
static int tell(struct pass *p, const struct run *r, const struct draining *on, struct fault *why)
{
	enum event_reason reason = on->critical ? REASON_HEALTH : REASON_NODE_DRAIN;
	bool now = on->critical || r->tier != TIER_FUNDED;
	struct leaving x;
	char detail[256];
	int rc = leaving_of(p->books, r->id, &x, why);

	if (rc < 0 || (rc == 1 && (!now || x.due <= p->now)))
		return rc < 0 ? -1 : 0;
	snprintf(detail, sizeof(detail), "Node %s is %s: %.120s. The job goes on elsewhere.", on->node->name,
		on->critical ? "taken out of use now" : "drained",
		on->node->reason ? on->node->reason : "no reason was given");
	return pass_tell_to_go(p, r->id, reason, detail, now, why) < 0 ? -1 : 0;
}

static bool may_run(const struct job_view *j)
{
	return j->stage == STAGE_RUNNING || j->stage == STAGE_SUSPENDED;
}

/* Its run, and from when on it may be told. 1; 0 = the books have no run of it that goes on; -1. */
static int find_run(struct pass *p, const struct job_view *j, const struct draining *on, struct run *r,
	int64_t *at, struct fault *why)
{
	int rc = run_find(p->books, p->facts.cluster, j->job_id, j->submit, j->start, r, why);
	struct drain_run d;

	if (rc != 1 || r->ended)
		return rc < 0 ? -1 : 0;
	d = drain_run_of(j, r);
	*at = drain_tells_at(&d, on->critical);
	return 1;
}

/* The components of a het job go together, wherever they run: when each of them may. `tells` = false: only
 * *latest is found. */
static int look_at_het(struct pass *p, uint32_t het_job, const struct draining *on, bool tells,
	int64_t *latest, struct fault *why)
{
	for (size_t i = 0; i < p->jobs->count; i++) {
		const struct job_view *j = &p->jobs->jobs[i];
		struct run r;
		int64_t at;
		int rc = j->het_job_id == het_job && may_run(j) ? find_run(p, j, on, &r, &at, why) : 0;

		if (rc < 0 || (rc == 1 && tells && tell(p, &r, on, why) < 0))
			return -1;
		if (rc == 1 && at > *latest)
			*latest = at;
	}
	return 0;
}

static int look_at(struct pass *p, const struct job_view *j, const struct draining *on, struct fault *why)
{
	struct run r;
	int64_t at = 0;
	int rc;

	if (!may_run(j) || !job_concerns_us(j) || pass_mode(p, j) != ENFORCE_ON ||
		!slurm_link_has_node(j->nodes, on->node->name))
		return 0;
	if (!j->het_job_id) {
		rc = find_run(p, j, on, &r, &at, why);
		return rc == 1 && at <= p->now ? tell(p, &r, on, why) : rc < 0 ? -1 : 0;
	}
	if (look_at_het(p, j->het_job_id, on, false, &at, why) < 0)
		return -1;
	return at <= p->now ? look_at_het(p, j->het_job_id, on, true, &at, why) : 0;
}

/* --- who need not leave any more ------------------------------------------------------------------ */

static bool on_one_of(const struct drains *x, const struct job_view *j)
{
	for (size_t n = 0; n < x->count; n++)
		if (slurm_link_has_node(j->nodes, x->nodes[n].node->name))
			return true;
	return false;
}

/* On a node that is to be empty, or a component of a het job of which another one is. */
static bool has_to_leave(const struct drains *x, const struct job_view *j)
{
	const struct job_table *t = x->p->jobs;
	bool has = on_one_of(x, j);

	for (size_t i = 0; !has && j->het_job_id && i < t->count; i++)
		has = t->jobs[i].het_job_id == j->het_job_id && may_run(&t->jobs[i]) &&
			on_one_of(x, &t->jobs[i]);
	return has;
}

static void mark_those_who_may_stay(struct drains *x)
{
	for (size_t i = 0; i < x->p->nleaving; i++) {
		struct leaving_run *l = &x->p->leaving[i];
		bool of_a_node = l->x.reason == REASON_NODE_DRAIN || l->x.reason == REASON_HEALTH;

		l->may_stay = of_a_node && l->job && may_run(l->job) && !has_to_leave(x, l->job);
	}
}

int pass_follow_drains(struct pass *p, struct fault *why)
{
	struct drains x = { .p = p, .why = why,
		.nodes = calloc(p->cluster->node_count + 1, sizeof(*x.nodes)) };
	int rc = x.nodes ? find_draining(&x, why) : fault_errno(why, ENOMEM, "out of memory");

	for (size_t n = 0; rc == 0 && n < x.count; n++)
		for (size_t i = 0; rc == 0 && !x.nodes[n].only_asked && i < p->jobs->count; i++)
			rc = look_at(p, &p->jobs->jobs[i], &x.nodes[n], why);
	if (rc == 0)
		mark_those_who_may_stay(&x);
	free(x.nodes);
	return rc;
}
