/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_projects.c - the budget tree: list, add, set, remove. */
#include "budgetd/admit.h"
#include "budgetd/http_money.h"
#include "budgetd/ledger_moves.h"
#include "budgetd/ledger_user_share.h"
#include "budgetd/log.h"
#include "budgetd/people.h"
#include "budgetd/routes.h"
#include "lib/fairshare.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

/* --- one project as JSON ------------------------------------------------------------------------ */

struct lists {
	struct json_object *owners, *members;
};

static int list_member(const char *user, enum member_role role, void *arg)
{
	struct lists *lists = arg;

	json_object_array_add(role == ROLE_OWNER ? lists->owners : lists->members,
		json_object_new_string(user));
	return 0;
}

/* The policy in force: the nearest one above, else the site's. */
static int effective_policy(struct request *rq, struct ledger *l, const struct project *p,
	enum on_exhausted *out, struct fault *why)
{
	struct project up = *p;

	while (up.on_exhausted == ON_EXHAUSTED_INHERIT && up.parent)
		if (project_by_id(l, up.parent, &up, why) != 1)
			return -1;
	*out = up.on_exhausted != ON_EXHAUSTED_INHERIT ? up.on_exhausted : admit_site_policy(rq->b);
	return 0;
}

static int project_json(struct request *rq, struct ledger *l, const struct project *p, int depth,
	struct json_object **out, struct fault *why)
{
	struct json_object *o = json_object_new_object();
	struct lists lists = { json_object_new_array(), json_object_new_array() };
	struct project parent = {0};
	enum on_exhausted effective;
	bool divided = false;
	char path[1024] = "";

	json_object_object_add(o, "name", json_object_new_string(p->name));
	json_object_object_add(o, "owners", lists.owners);
	json_object_object_add(o, "members", lists.members);
	if ((p->parent && project_by_id(l, p->parent, &parent, why) != 1) ||
		project_path_text(l, p->id, path, sizeof(path), why) < 0 ||
		effective_policy(rq, l, p, &effective, why) < 0 ||
		user_shares_effective(l, p, &divided, why) < 0 ||
		member_walk(l, p->id, list_member, &lists, why) < 0) {
		json_object_put(o);
		return -1;
	}
	put_text(o, "parent", p->parent ? parent.name : NULL);
	put_text(o, "path", path);
	put_int(o, "depth", depth);
	put_int(o, "share", p->share);
	put_text(o, "on_exhausted", on_exhausted_name(p->on_exhausted));
	put_text(o, "on_exhausted_effective", on_exhausted_name(effective));
	put_int(o, "credit_units", p->credit);
	put_bool(o, "unmetered", p->unmetered);
	put_text(o, "user_shares", user_shares_name(p->user_shares));
	put_bool(o, "user_shares_effective", divided);
	put_int(o, "created_at", p->created_at);
	*out = o;
	return 0;
}

/* --- list --------------------------------------------------------------------------------------- */

struct listing {
	struct request *rq;
	struct ledger *l;
	struct json_object *rows;
	struct fault *why;
};

static int list_project(const struct project *p, int depth, void *arg)
{
	struct listing *x = arg;
	struct json_object *row;

	if (request_may_see(x->rq, x->l, p->id, NULL) < 0)
		return errno == EACCES ? 0 : -1;
	if (project_json(x->rq, x->l, p, depth, &row, x->why) < 0)
		return -1;
	json_object_array_add(x->rows, row);
	return 0;
}

int projects_get(struct request *rq, struct fault *why)
{
	struct listing x = { .rq = rq, .l = rq->b->reader, .rows = json_object_new_array(), .why = why };
	struct project p;
	int rc = -1;

	if (ledger_begin(x.l, LEDGER_READ, why) < 0)
		return -1;
	if (request_project(rq, x.l, &p, why) == 0)
		rc = project_walk(x.l, p.id, list_project, &x, why);
	ledger_rollback(x.l);
	rq->reply = reply_rows(x.rows, false);
	return rc;
}

/* --- change ------------------------------------------------------------------------------------- */

static int read_policy(struct request *rq, struct project *p, struct fault *why)
{
	const char *text = NULL;
	int rc = body_text(rq, "on_exhausted", &text, why);

	if (rc != 1)
		return rc;
	p->on_exhausted = on_exhausted_of(text);
	if (p->on_exhausted == ON_EXHAUSTED_INHERIT && strcmp(text, "inherit") != 0)
		return fault_errno(why, EINVAL,
			"on_exhausted is free, reject, wait or inherit, not \"%.40s\"", text);
	return 0;
}

static int read_user_shares(struct request *rq, struct project *p, struct fault *why)
{
	const char *text = NULL;
	int rc = body_text(rq, "user_shares", &text, why);

	for (int u = USER_SHARES_NO; rc == 1 && u <= USER_SHARES_YES; u++)
		if (!strcmp(text, user_shares_name((enum user_shares)u))) {
			p->user_shares = (enum user_shares)u;
			return 0;
		}
	if (rc != 1)
		return rc;
	if (strcmp(text, "inherit"))
		return fault_errno(why, EINVAL, "user_shares is yes, no or inherit, not \"%.40s\"", text);
	p->user_shares = USER_SHARES_INHERIT;
	return 0;
}

static int read_parent(struct request *rq, struct project *p, struct fault *why)
{
	const char *name = NULL;
	struct project parent;
	int rc = body_text(rq, "parent", &name, why);

	if (rc != 1)
		return rc;
	if (!*name) {
		p->parent = 0;
		return 0;
	}
	if (project_find(rq->b->ledger, name, &parent, why) != 1)
		return -1;
	p->parent = parent.id;
	return 0;
}

static int read_fields(struct request *rq, struct project *p, struct fault *why)
{
	return read_parent(rq, p, why) < 0 || read_policy(rq, p, why) < 0 ||
		read_user_shares(rq, p, why) < 0 || body_int(rq, "share", 0, FAIRSHARE_WEIGHT_MAX, &p->share, why) < 0 ||
		body_int(rq, "credit_units", 0, AMOUNT_MAX, &p->credit, why) < 0 ||
		body_flag(rq, "unmetered", &p->unmetered, why) < 0 ? -1 : 0;
}

/* --- its people --------------------------------------------------------------------------------- */

/* The lists of a body in the order they are followed: who is removed as one thing and added as another in the
 * same call is the other in the end, and who is in both lists is an owner. */
static const struct people_list {
	const char *key;
	enum member_role role;
	bool remove;
} people_lists[] = {
	{ "remove_owners", ROLE_OWNER, true },
	{ "remove_members", ROLE_MEMBER, true },
	{ "members", ROLE_MEMBER, false },
	{ "add_members", ROLE_MEMBER, false },
	{ "owners", ROLE_OWNER, false },
	{ "add_owners", ROLE_OWNER, false },
};

/* A project that is being written. */
struct writing {
	struct request *rq;
	struct project p;
	struct change_words words;
};

typedef int (*person_fn)(struct writing *x, const struct people_list *list, const char *user,
	struct fault *why);

static int each_person_of(struct writing *x, const struct people_list *list, person_fn each,
	struct fault *why)
{
	struct json_object *names, *user;

	if (!json_object_object_get_ex(x->rq->body, list->key, &names))
		return 0;
	if (!json_object_is_type(names, json_type_array))
		return fault_errno(why, EINVAL, "\"%s\" must be a list of user names", list->key);
	for (size_t i = 0; i < json_object_array_length(names); i++) {
		user = json_object_array_get_idx(names, i);
		if (!json_object_is_type(user, json_type_string))
			return fault_errno(why, EINVAL, "\"%s\" must be a list of user names", list->key);
		if (each(x, list, json_object_get_string(user), why) < 0)
			return -1;
	}
	return 0;
}

static int each_person(struct writing *x, person_fn each, struct fault *why)
{
	for (size_t i = 0; i < sizeof(people_lists) / sizeof(*people_lists); i++)
		if (each_person_of(x, &people_lists[i], each, why) < 0)
			return -1;
	return 0;
}

static int check_person(struct writing *x, const struct people_list *list, const char *user,
	struct fault *why)
{
	struct fault detail = {0};
	int64_t uid;

	(void)x;
	if (list->remove || people_uid(user, &uid, &detail) == 0)
		return 0;
	return errno == ENOENT
		? fault_errno(why, EINVAL, "%s; if the name is right, say so with --force", detail.text) :
				 fault_set(why, "%s", detail.text);
}

/* A mistyped name would have rights that nobody uses, and the meant one none. The directory is asked outside
 * of any transaction. */
static int check_people(struct request *rq, struct fault *why)
{
	bool force = false;

	return body_flag(rq, "force", &force, why) < 0 ? -1 : force ? 0
		: each_person(&(struct writing){ .rq = rq }, check_person, why);
}

/* An owner is a member too: a list of members neither demotes nor removes one. */
static int set_person(struct writing *x, const struct people_list *list, const char *user, struct fault *why)
{
	struct ledger *l = x->rq->b->ledger;
	enum member_role here, then = list->remove ? ROLE_NOBODY : list->role;

	if (member_role_here(l, x->p.id, user, &here, why) < 0)
		return -1;
	if (list->remove && here == ROLE_OWNER && list->role == ROLE_MEMBER)
		return fault_errno(why, EEXIST, "%s is an owner of %s: --remove-owners takes that away", user,
			x->p.name);
	if (list->remove ? here != list->role : here >= list->role)
		return 0;
	return member_set(l, x->p.id, user, then, why) < 0 ? -1
		: change_role(l, &x->words, x->p.id, user, here, then, why);
}

/* --- who may change what ------------------------------------------------------------------------ */

/* What owners may set. `above`: of a project below theirs, not of their own. All else is for
 * administrators. */
static const struct {
	const char *key;
	bool above;
} owners_keys[] = {
	{ "share", true }, { "user_shares", false }, { "add_members", false }, { "remove_members", false },
		{ "force", false }, { "request_id", false },
	{ "reason", false }, { "dry_run", false },
};

static int check_key(struct request *rq, struct ledger *l, const struct project *p, const char *key,
	struct fault *why)
{
	for (size_t i = 0; i < sizeof(owners_keys) / sizeof(*owners_keys); i++)
		if (strcmp(owners_keys[i].key, key) == 0)
			return owners_keys[i].above ? request_may_own(rq, l, p->parent, why) : 0;
	return fault_errno(why, EACCES,
		"only an administrator may set \"%s\"; owners set the share of what is below them, members, and user_shares",
		key);
}

static int check_rights(struct request *rq, struct ledger *l, const struct project *p, struct fault *why)
{
	if (rq->administrator)
		return 0;
	if (request_may_own(rq, l, p->id, why) < 0)
		return -1;
	json_object_object_foreach(rq->body, key, value) {
		(void)value;
		if (check_key(rq, l, p, key, why) < 0)
			return -1;
	}
	return 0;
}

/* Before the transaction of the change: who has no right has no names looked up either. */
static int check_rights_first(struct request *rq, struct fault *why)
{
	struct project p;
	int rc;

	if (ledger_begin(rq->b->reader, LEDGER_READ, why) < 0)
		return -1;
	rc = project_find(rq->b->reader, rq->name, &p, why) != 1 ? -1
		: check_rights(rq, rq->b->reader, &p, why);
	ledger_rollback(rq->b->reader);
	return rc;
}

/* --- add, set, remove --------------------------------------------------------------------------- */

static int begin_writing(struct request *rq, struct writing *x, struct fault *why)
{
	*x = (struct writing){ .rq = rq, .p.share = 1 };
	return money_words(rq, &x->words, why);
}

/* Credit is on top of allocations: a project that is not metered has no limit that it could add to. */
static int note_credit(struct writing *x, struct fault *why)
{
	struct path path;
	char text[256];

	if (x->p.credit == 0 || !json_object_object_get_ex(x->rq->body, "credit_units", NULL))
		return 0;
	if (path_load(x->rq->b->ledger, x->p.id, x->rq->now, &path, why) < 0)
		return -1;
	if (path.nodes[0].budget.metered)
		return 0;
	if (path.nodes[0].unmetered)
		snprintf(text, sizeof(text),
			"%s is set unmetered, so its credit has no effect; budgetctl project set %s --unmetered no",
			x->p.name, x->p.name);
	else
		snprintf(text, sizeof(text),
			"%s has no allocation, so its credit has no effect; budgetctl allocation add %s 0 has it metered",
			x->p.name, x->p.name);
	put_text(x->rq->reply, "note", text);
	return 0;
}

/* The project as it is to be: written, and kept in the history beside what it was (NULL: nothing). */
static int write_project(struct writing *x, const struct project *was, struct fault *why)
{
	struct ledger *l = x->rq->b->ledger;

	if (project_set(l, &x->p, why) < 0 || change_project(l, &x->words, was, &x->p, why) < 0 ||
		each_person(x, set_person, why) < 0)
		return -1;
	return project_json(x->rq, l, &x->p, 0, &x->rq->reply, why) < 0 ? -1 : note_credit(x, why);
}

/* Said twice with the same request id it is done once, and answered with what is there now. */
static int add(struct request *rq, struct fault *why)
{
	struct ledger *l = rq->b->ledger;
	const char *name = NULL;
	struct writing x;

	if (begin_writing(rq, &x, why) < 0 || body_need_text(rq, "name", &name, why) < 0)
		return -1;
	if (rq->said)
		return project_find(l, name, &x.p, why) != 1 ? -1
			: project_json(rq, l, &x.p, 0, &rq->reply, why);
	if (project_name_normal(name, x.p.name, why) < 0 || read_fields(rq, &x.p, why) < 0 ||
		project_add(l, &x.p, rq->now, why) < 0 ||
		change_existence(l, &x.words, x.p.id, true, why) < 0)
		return -1;
	return write_project(&x, NULL, why);		/* set checks the depth */
}

static int set(struct request *rq, struct fault *why)
{
	struct writing x;
	struct project was;

	if (begin_writing(rq, &x, why) < 0 || project_find(rq->b->ledger, rq->name, &x.p, why) != 1 ||
		check_rights(rq, rq->b->ledger, &x.p, why) < 0)
		return -1;
	if (rq->said)
		return project_json(rq, rq->b->ledger, &x.p, 0, &rq->reply, why);
	was = x.p;
	return read_fields(rq, &x.p, why) < 0 ? -1 : write_project(&x, &was, why);
}

/* Hours that nobody could spend any more are given back in the open, and only when that is said. */
static int take_back(struct request *rq, const struct project *p, amount_t unspent, struct fault *why)
{
	char text[AMOUNT_TEXT_MAX];
	struct journal_entry e;
	bool force = false;

	if (body_flag(rq, "force", &force, why) < 0 || money_entry(rq, "withdrawal", false, &e, why) < 0)
		return -1;
	if (!force)
		return fault_errno(why, EEXIST,
			"%s has %s GPU-h unspent: move them first (budgetctl transfer), or withdraw them with the project "
			"(--force)", p->name, amount_text(unspent, text));
	if (!e.reason[0])
		snprintf(e.reason, sizeof(e.reason), "the project is removed");
	return money_withdraw_all(rq->b->ledger, p->id, &e, rq->now, why);
}

static int remove_it(struct request *rq, struct fault *why)
{
	struct ledger *l = rq->b->ledger;
	amount_t unspent = 0;
	struct writing x;

	if (begin_writing(rq, &x, why) < 0)
		return -1;
	if (!rq->said) {
		if (project_find(l, rq->name, &x.p, why) != 1 ||
			money_unspent(l, x.p.id, rq->now, &unspent, why) < 0 ||
			project_remove(l, x.p.id, rq->now, why) < 0 ||
			(unspent && take_back(rq, &x.p, unspent, why) < 0) ||
			change_existence(l, &x.words, x.p.id, false, why) < 0)
			return -1;
	}
	rq->reply = json_object_new_object();
	put_text(rq->reply, "removed", rq->said ? rq->name : x.p.name);
	put_int(rq->reply, "withdrawn_units", unspent);
	return 0;
}

int project_post(struct request *rq, struct fault *why)
{
	return check_people(rq, why) < 0 ? -1 : money_write(rq, add, why);
}

int project_patch(struct request *rq, struct fault *why)
{
	char who[PERSON_NAME_MAX];

	if (check_rights_first(rq, why) < 0 || check_people(rq, why) < 0 || money_write(rq, set, why) < 0)
		return -1;
	if (rq->status == MHD_HTTP_CREATED)
		log_info("project %s was changed by %s", rq->name,
			people_name(rq->b->people, rq->uid, rq->now, who));
	rq->status = MHD_HTTP_OK;
	return 0;
}

/* Without a body: what one has to say stands behind the question mark. */
int project_delete(struct request *rq, struct fault *why)
{
	money_body_of_query(rq);
	if (money_write(rq, remove_it, why) < 0)
		return -1;
	rq->status = MHD_HTTP_OK;
	return 0;
}
