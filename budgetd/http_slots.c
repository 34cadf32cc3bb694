/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_slots.c - weekly slots of projects: list, add, remove. */
#include "budgetd/http_money.h"
#include "budgetd/ledger_slot.h"
#include "lib/number.h"
#include "lib/slot.h"
#include "lib/zone.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>

#define MINUTE 60
#define WHOLE_MINUTES(s) ((s) % MINUTE == 0)

static struct json_object *slot_json(const struct request *rq, const struct slot_row *s)
{
	struct slot rule = { .starts_s = s->starts_s, .length_s = s->length_s };
	struct json_object *o = json_object_new_object();
	char text[SLOT_TEXT_MAX];

	put_int(o, "id", s->id);
	put_text(o, "project", s->project_name);
	put_int(o, "starts_s", s->starts_s);
	put_int(o, "length_s", s->length_s);
	put_int(o, "boosted_percent", s->boosted_percent);
	put_text(o, "when", slot_text(s, text));
	put_text(o, "time_zone", rq->b->settings->time_zone);
	put_bool(o, "open",
		!s->removed_at && slot_is_open(&rule, rq->now + zone_offset(rq->b->zone, rq->now)));
	put_int(o, "created_at", s->created_at);
	put_int_or_null(o, "removed_at", s->removed_at, s->removed_at == 0);
	return o;
}

/* --- list --------------------------------------------------------------------------------------- */

struct listing {
	struct request *rq;
	struct json_object *rows;
};

static int list_slot(const struct slot_row *s, void *arg)
{
	struct listing *x = arg;

	if (request_may_see(x->rq, x->rq->b->reader, s->project, NULL) < 0)
		return errno == EACCES ? 0 : -1;
	json_object_array_add(x->rows, slot_json(x->rq, s));
	return 0;
}

int slots_get(struct request *rq, struct fault *why)
{
	struct listing x = { rq, json_object_new_array() };
	struct ledger *l = rq->b->reader;
	struct project p;
	int rc = -1;

	rq->reply = reply_rows(x.rows, false);
	if (ledger_begin(l, LEDGER_READ, why) < 0)
		return -1;
	if (request_project(rq, l, &p, why) == 0)
		rc = slot_walk(l, p.id, list_slot, &x, why);
	ledger_rollback(l);
	return rc;
}

/* --- add and remove ----------------------------------------------------------------------------- */

static int need_int(struct request *rq, const char *key, int64_t min, int64_t max, int64_t *out,
	struct fault *why)
{
	int rc = body_int(rq, key, min, max, out, why);

	return rc == 0 ? fault_errno(why, EINVAL, "\"%s\" is missing", key) : rc < 0 ? -1 : 0;
}

static int read_slot(struct request *rq, struct slot_row *s, struct fault *why)
{
	if (need_int(rq, "starts_s", 0, SLOT_WEEK_S - MINUTE, &s->starts_s, why) < 0 ||
		need_int(rq, "length_s", MINUTE, SLOT_WEEK_S, &s->length_s, why) < 0 ||
		need_int(rq, "boosted_percent", 1, 100, &s->boosted_percent, why) < 0)
		return -1;
	if (!WHOLE_MINUTES(s->starts_s) || !WHOLE_MINUTES(s->length_s))
		return fault_errno(why, EINVAL, "a slot begins and lasts in whole minutes");
	return 0;
}

/* Where nobody has a share all jobs are free, and no slot puts one of those first. */
static int note_effect(struct request *rq, const struct project *p, struct fault *why)
{
	const char *shareless = NULL;
	struct path path;
	char text[512];

	if (path_load(rq->b->ledger, p->id, rq->now, &path, why) < 0)
		return -1;
	for (int i = 0; i < path.depth && !shareless; i++)
		if (path.nodes[i].budget.no_share)
			shareless = path.nodes[i].budget.name;
	if (!shareless)
		return 0;
	snprintf(text, sizeof(text),
		"%s has share 0, and jobs below it are for the free tier, which no slot puts first: the slot has no effect until "
		"it has a share (budgetctl share set %s WEIGHT)", shareless, shareless);
	put_text(rq->reply, "note", text);
	return 0;
}

/* It takes the turn from everybody else: whoever shares out what is above the project decides. */
static int add_slot(struct request *rq, struct fault *why)
{
	struct ledger *l = rq->b->ledger;
	const char *name = NULL;
	struct slot_row s = {0};
	struct change_words w;
	struct project p;

	if (money_words(rq, &w, why) < 0 || body_need_text(rq, "project", &name, why) < 0 ||
		read_slot(rq, &s, why) < 0 || project_find(l, name, &p, why) != 1 ||
		request_may_own(rq, l, p.parent, why) < 0)
		return -1;
	s.project = p.id;
	snprintf(s.project_name, sizeof(s.project_name), "%s", p.name);
	if (rq->said ? slot_by_request(l, w.request_id, &s, why) < 0 : slot_add(l, &w, &s, rq->now, why) < 0)
		return -1;
	rq->reply = slot_json(rq, &s);
	return note_effect(rq, &p, why);
}

int slot_post(struct request *rq, struct fault *why)
{
	return money_write(rq, add_slot, why);
}

static int remove_slot(struct request *rq, struct fault *why)
{
	struct ledger *l = rq->b->ledger;
	bool removed = false;
	struct slot_row s;
	struct change_words w;
	struct project p;
	int64_t id;

	if (number_parse(rq->name, INT64_MAX, &id) < 0 || id == 0)
		return fault_errno(why, EINVAL, "\"%.40s\" is not the id of a slot; see budgetctl slot list",
			rq->name);
	if (money_words(rq, &w, why) < 0 || body_flag(rq, "removed", &removed, why) < 0 ||
		slot_by_id(l, id, &s, why) != 1 || project_by_id(l, s.project, &p, why) != 1 ||
		request_may_own(rq, l, p.parent, why) < 0)
		return -1;
	if (!removed)
		return fault_errno(why, EINVAL,
			"a slot can only be removed: say \"removed\": true, and add another one");
	if (!rq->said && slot_remove(l, &w, &s, rq->now, why) < 0)
		return -1;
	rq->reply = slot_json(rq, &s);
	return 0;
}

int slot_patch(struct request *rq, struct fault *why)
{
	if (money_write(rq, remove_slot, why) < 0)
		return -1;
	rq->status = MHD_HTTP_OK;
	return 0;
}
