/* SPDX-License-Identifier: GPL-2.0-or-later
 * notice_look.c - what is new in the books, as notices
 *
 * When is a rule of lib/notice.h, what was told is in the queue, and this file has the sentences. The books are
 * read in one transaction of a reader and the queue is written in one of its own. */
#include "budgetd/budgetd.h"
#include "budgetd/ledger_notice.h"
#include "budgetd/notices.h"
#include "budgetd/people.h"
#include "lib/zone.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define EVENTS_MAX 100		/* in one look: the queue is written for milliseconds */
#define TEXT_MAX   2048

struct look {
	const struct budgetd *b;
	const struct settings *s;
	struct ledger *l;
	struct notice_queue *q;
	struct notice_seen seen;
	struct notice_levels levels;
	unsigned kinds, ways;
	int64_t now, events;
	struct fault *why;
};

/* --- what all of them have --------------------------------------------------------------------------- */

/* Names of the settings go to each notice: somebody who keeps watch. */
static void put_to(const struct look *x, const char *names, char *to)
{
	static const char between[] = ", \t";
	size_t used = (size_t)snprintf(to, NOTICE_TO_MAX, "%s", names), n;

	used = used < NOTICE_TO_MAX ? used : NOTICE_TO_MAX - 1;
	for (const char *at = x->s->notice_copy + strspn(x->s->notice_copy, between); *at;
		at += n, at += strspn(at, between)) {
		n = strcspn(at, between);
		if (used + n + 2 < NOTICE_TO_MAX)
			used += (size_t)snprintf(to + used, NOTICE_TO_MAX - used, "%s%.*s", used ? "," : "", (int)n, at);
	}
}

static int queue(struct look *x, struct notice *n, const char *names, char *text)
{
	put_to(x, names, n->to);
	n->at = n->at ? n->at : x->now;
	n->text = text;
	return notice_add(x->q, n, x->ways, x->why);
}

static bool wants(const struct look *x, enum notice_kind kind)
{
	return x->kinds & 1u << kind;
}

/* --- budgets ------------------------------------------------------------------------------------------ */

static int tell_budget(struct look *x, const struct budget_use *u, int64_t threshold)
{
	int64_t percent = notice_percent(u->charged + u->held, u->amount);
	struct notice n = { .kind = NOTICE_BUDGET, .severity = notice_budget_severity(threshold) };
	char owners[NOTICE_TO_MAX], text[TEXT_MAX], charged[AMOUNT_TEXT_MAX], held[AMOUNT_TEXT_MAX],
		amount[AMOUNT_TEXT_MAX];

	if (owners_text(x->l, u->project, owners, sizeof(owners), x->why) < 0)
		return -1;
	snprintf(n.project, sizeof(n.project), "%s", u->name);
	snprintf(n.subject, sizeof(n.subject), "project %s has used %" PRId64 " %% of its GPU-hours", u->name, percent);
	snprintf(text, sizeof(text),
		"Project %s has used %" PRId64 " %% of its GPU-hours: %s are charged and %s are held for jobs, of %s.\n"
		"%s\n"
		"What there is: budgetctl balance %s. Ask for more: budgetctl request %s GPU-HOURS --reason WHY.\n",
		u->name, percent, amount_text(u->charged, charged), amount_text(u->held, held),
		amount_text(u->amount, amount), threshold < 100
			? "When they are used up, new jobs are not funded any more."
			: "New jobs are not funded until there are more.", u->name, u->name);
	return queue(x, &n, owners, text);
}

static int look_at_budget(const struct budget_use *u, void *arg)
{
	struct look *x = arg;
	struct notice_use use = { .used = u->charged + u->held, .amount = u->amount };
	struct notice_budget b, before;
	int64_t threshold;

	if (notice_budget_get(x->q, u->project, &b, x->why) < 0)
		return -1;
	if (use.amount > b.amount && b.amount && refunded_since(x->l, u->project, x->seen.entry, &use.refunded, x->why) < 0)
		return -1;
	before = b;
	threshold = notice_budget_next(&x->levels, &b, &use);
	if (threshold && tell_budget(x, u, threshold) < 0)
		return -1;
	return b.told == before.told && b.amount == before.amount ? 0 : notice_budget_set(x->q, u->project, &b, x->why);
}

/* --- allocations that end ----------------------------------------------------------------------------- */

static int look_at_end(const struct ending *e, void *arg)
{
	struct look *x = arg;
	struct notice n = { .kind = NOTICE_EXPIRY, .severity = NOTICE_WARNING };
	char owners[NOTICE_TO_MAX], text[TEXT_MAX], left[AMOUNT_TEXT_MAX], at[ZONE_TEXT_MAX];
	int64_t told;

	if (notice_expiry_get(x->q, e->allocation, &told, x->why) < 0)
		return -1;
	if (!notice_expiry_due(e->ends, e->left, told, x->s->notice_expiry_s, x->now))
		return 0;
	if (owners_text(x->l, e->project, owners, sizeof(owners), x->why) < 0)
		return -1;
	amount_text(e->left, left);
	zone_local_text(x->b->zone, e->ends, at);
	snprintf(n.project, sizeof(n.project), "%s", e->name);
	snprintf(n.subject, sizeof(n.subject), "project %s: %s GPU-hours end at %s", e->name, left, at);
	snprintf(text, sizeof(text),
		"Allocation %" PRId64 " of project %s ends at %s and has %s GPU-hours left that are neither charged nor held.\n"
		"What there is: budgetctl balance %s.\n",
		e->allocation, e->name, at, left, e->name);
	return queue(x, &n, owners, text) < 0 ? -1 : notice_expiry_set(x->q, e->allocation, e->ends, x->why);
}

/* --- what happened to runs ---------------------------------------------------------------------------- */

static const struct {
	enum notice_kind kind;
	enum notice_severity severity;
	const char *said;
} event_words[EVENT_WHATS] = {
	[EVENT_DISPLACED] = { NOTICE_DISPLACED, NOTICE_INFO, "was displaced" },
	[EVENT_NOTED] = { NOTICE_IDLE, NOTICE_INFO, "does not use its GPUs" },
	[EVENT_WARNED] = { NOTICE_IDLE, NOTICE_WARNING, "still does not use its GPUs" },
	[EVENT_UNPROTECTED] = { NOTICE_IDLE, NOTICE_WARNING, "is not protected any more" },
};

static int look_at_event(const struct run_event *e, void *arg)
{
	struct look *x = arg;
	enum event_what what = e->event.what;
	struct notice n = { .kind = event_words[what].kind, .severity = event_words[what].severity, .at = e->event.at };
	char user[PERSON_NAME_MAX], text[TEXT_MAX], detail[sizeof(e->event.detail)];

	x->seen.event = e->event.id;
	x->seen.event_at = e->event.at;
	x->events++;
	if (!event_words[what].said || !wants(x, n.kind) || notice_is_stale(e->event.at, x->s->notice_keep_s, x->now))
		return 0;
	people_name(x->b->people, (uid_t)e->uid, x->now, user);
	snprintf(n.project, sizeof(n.project), "%s", e->project);
	snprintf(n.job, sizeof(n.job), "%s", e->label);
	snprintf(n.subject, sizeof(n.subject), "job %s %s (%s)", e->label, event_words[what].said,
		event_reason_name(e->event.reason));
	snprintf(text, sizeof(text), "Job %s of %s in project %s %s: %s\nWhat was done about it, and why: budgetctl events %s.\n",
		e->label, user, e->project, event_words[what].said,
		notice_line(e->event.detail, detail, sizeof(detail)), e->label);
	return queue(x, &n, user, text);
}

/* Books that are others than those of the last look were restored: what is younger than that is new. */
static int begin_of_events(struct look *x, const struct newest *newest, bool first)
{
	int rc;

	if (first) {
		x->seen = (struct notice_seen){ newest->event, newest->event_at, newest->entry };
		return 0;
	}
	rc = x->seen.event ? event_is_of(x->l, x->seen.event, x->seen.event_at, x->why) : 1;
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	return event_up_to(x->l, x->seen.event_at, &x->seen.event, x->why);
}

static int look_at_events(struct look *x, const struct newest *newest)
{
	if (run_event_walk(x->l, x->seen.event, EVENTS_MAX, look_at_event, x, x->why) < 0)
		return -1;
	if (x->events < EVENTS_MAX && newest->event) {
		x->seen.event = newest->event;
		x->seen.event_at = newest->event_at;
	}
	return 0;
}

/* --- all of it ---------------------------------------------------------------------------------------- */

static int look(struct look *x)
{
	struct notice_seen before;
	struct newest newest;
	int known = notice_seen_get(x->q, &x->seen, x->why);

	before = x->seen;
	if (known < 0 || newest_read(x->l, &newest, x->why) < 0 || begin_of_events(x, &newest, known == 0) < 0)
		return -1;
	if (wants(x, NOTICE_BUDGET) && budget_use_walk(x->l, x->now, look_at_budget, x, x->why) < 0)
		return -1;
	if (wants(x, NOTICE_EXPIRY) && x->s->notice_expiry_s && ending_walk(x->l, x->now, x->now + x->s->notice_expiry_s,
		look_at_end, x, x->why) < 0)
		return -1;
	if (look_at_events(x, &newest) < 0)
		return -1;
	x->seen.entry = newest.entry;
	return known && !memcmp(&before, &x->seen, sizeof(before)) ? 0 : notice_seen_set(x->q, &x->seen, x->why);
}

static int look_with_books(struct look *x)
{
	int rc;

	if (ledger_begin(x->l, LEDGER_READ, x->why) < 0)
		return -1;
	rc = look(x);
	ledger_rollback(x->l);
	return rc;
}

int notice_look(const struct budgetd *b, struct ledger *reader, struct notice_queue *q, int64_t now,
	struct fault *why)
{
	const struct settings *s = b->settings;
	struct look x = { .b = b, .s = s, .l = reader, .q = q, .now = now, .ways = notices_ways(s), .why = why };

	if (notice_kinds_parse(s->notice_kinds, &x.kinds, why) < 0 ||
		notice_levels_parse(s->notice_levels, s->notice_rearm_points, &x.levels, why) < 0 ||
		notice_queue_begin(q, why) < 0)
		return -1;
	if (look_with_books(&x) == 0)
		return notice_queue_commit(q, why);
	notice_queue_rollback(q);
	return -1;
}
