/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_rights.c - every role at every call: allowed or refused, and what lists show (rights.cases)
 *
 * The real handlers over a real ledger; only HTTP is missing. The table is held against routes.c, so that a
 * new call without an expectation fails here. */
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_cap.h"
#include "budgetd/ledger_change.h"
#include "budgetd/ledger_drain.h"
#include "budgetd/ledger_request.h"
#include "budgetd/ledger_shadow.h"
#include "budgetd/ledger_slot.h"
#include "budgetd/log.h"
#include "budgetd/people.h"
#include "budgetd/rates.h"
#include "budgetd/routes.h"
#include "tests/unit/books.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum place { ABOVE, OWN, BELOW, SIBLING, PLACES };
static const char *const place_name[PLACES] = { "above", "own", "below", "sibling" };
static const char place_letter[PLACES + 1] = "AOBS";

/* Columns of rights.cases behind call and body; the first one is three people. Their uids have no name on
 * most machines, which is all the same here. */
enum column { ADMINISTRATORS, OWNER_ABOVE, OWNER, MEMBER, MEMBER_OF_SIBLING, USER_OF_JOB, NOBODY, COLUMNS };
enum { UID_SLURM = 70000, UID_CONFIGURED = 1, UID_FIRST = 70001, UID_OF_JOBS = 1000 };

static const struct person {
	const char *name;
	enum column column;
	uid_t uid;
	enum place at;
	enum member_role role;
} people[] = {
	{ "root", ADMINISTRATORS, 0, 0, ROLE_NOBODY },
	{ "SlurmUser", ADMINISTRATORS, UID_SLURM, 0, ROLE_NOBODY },
	{ "an administrator of the settings", ADMINISTRATORS, UID_CONFIGURED, 0, ROLE_NOBODY },
	{ "an owner above", OWNER_ABOVE, UID_FIRST + OWNER_ABOVE, ABOVE, ROLE_OWNER },
	{ "an owner", OWNER, UID_FIRST + OWNER, OWN, ROLE_OWNER },
	{ "a member", MEMBER, UID_FIRST + MEMBER, OWN, ROLE_MEMBER },
	{ "a member of a sibling", MEMBER_OF_SIBLING, UID_FIRST + MEMBER_OF_SIBLING, SIBLING, ROLE_MEMBER },
	{ "the user of the jobs", USER_OF_JOB, UID_OF_JOBS, 0, ROLE_NOBODY },
	{ "nobody", NOBODY, UID_FIRST + NOBODY, 0, ROLE_NOBODY },
};
#define PEOPLE (sizeof(people) / sizeof(people[0]))

static struct case_table rights;
static struct books b;
static struct budgetd d;
static struct settings *settings;
static int64_t project[PLACES], ids[7][PLACES];
static const char *const id_kind[7] = { "@allocation.", "@job.", "@charge.", "@entry.", "@request.", "@run.",
	"@slot." };
enum { ALLOCATION, JOB, CHARGE, ENTRY, REQUEST, RUN, SLOT };

/* --- instead of libmicrohttpd and a log ---------------------------------------------------------- */

/* A "connection" of these tests is the text behind the question mark. */
const char *MHD_lookup_connection_value(struct MHD_Connection *connection, enum MHD_ValueKind kind,
	const char *key)
{
	static char value[64];
	const char *at = (const char *)connection;
	size_t n = strlen(key);

	ck_assert_int_eq(kind, MHD_GET_ARGUMENT_KIND);
	while (at && (strncmp(at, key, n) != 0 || at[n] != '='))
		at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL;
	if (!at)
		return NULL;
	snprintf(value, sizeof(value), "%.*s", (int)strcspn(at + n + 1, "&"), at + n + 1);
	return value;
}

/* What the daemon would say of each change. */
void log_error(const char *fmt, ...) { (void)fmt; }
void log_info(const char *fmt, ...) { (void)fmt; }

/* --- the world ---------------------------------------------------------------------------------- */

struct fill {
	struct submission *s;
	enum place p;
};

static int name_job(struct ledger *l, void *arg, struct fault *why)
{
	struct fill *x = arg;

	x->s->admission.job = ids[JOB][x->p];
	return admission_update(l, &x->s->admission, why);
}

static int ask_and_note(struct ledger *l, void *arg, struct fault *why)
{
	struct fill *x = arg;
	struct budget_request r = { .at = NOON, .project = project[x->p], .units = GPU_H, .actor = "ada",
		.reason = "more" };
	struct shadow s = { .at = NOON, .job = ids[JOB][x->p], .kind = "refused", .uid = UID_OF_JOBS,
		.gpus = 1, .text = "refused" };

	snprintf(s.account, sizeof(s.account), "%s", place_name[x->p]);
	if (budget_request_add(l, &r, why) < 0 || shadow_note(l, &s, why) < 0)
		return -1;
	ids[REQUEST][x->p] = r.id;
	return 0;
}

/* And a slot. */
static int cap_somebody(struct ledger *l, void *arg, struct fault *why)
{
	struct fill *x = arg;
	struct cap c = { .project = project[x->p], .uid = UID_OF_JOBS, .user = "ada", .units = 50 * GPU_H };
	struct slot_row slot = { .project = c.project, .length_s = HOUR, .boosted_percent = 50 };
	struct change_words w = { .at = NOON, .actor = "ada" }, of_slot = w;

	if (slot_add(l, &of_slot, &slot, NOON, why) < 0)
		return -1;
	ids[SLOT][x->p] = slot.id;
	return cap_set(l, &c, NOON, why) < 0 || change_add(l, &w, &(struct change){ .project = c.project,
		.what = "cap_units", .user = "ada", .became = "180000000" }, why) < 0 ? -1 : 0;
}

static int appoint(struct ledger *l, void *arg, struct fault *why)
{
	char name[PERSON_NAME_MAX];

	(void)arg;
	for (size_t i = 0; i < PEOPLE; i++)
		if (people[i].role != ROLE_NOBODY &&
			member_set(l, project[people[i].at], people_name(d.people, people[i].uid, NOON, name),
				people[i].role, why) < 0)
			return -1;
	return 0;
}

/* A run that was charged, a job that waits with its hold, a request, a note of shadow mode, a cap and its
 * change, in each project. */
static void fill(enum place p)
{
	struct submission ran = { .project = project[p], .gpus = 1, .min_runtime_s = HOUR }, waits = ran;
	struct fill x = { &waits, p };
	struct run run;

	ids[JOB][p] = 100 + p;
	ck_assert_int_eq(books_submit(&b, &ran), 0);
	books_start(&b, &ran, 200 + p, NOON, &run);
	ck_assert_int_eq(books_end(&b, &run, NOON + 1800), 0);
	ck_assert_int_eq(books_submit(&b, &waits), 0);
	ck_assert_msg(books_do(&b, LEDGER_HOLDS, name_job, &x) == 0 &&
		books_do(&b, LEDGER_MONEY, ask_and_note, &x) == 0 &&
		books_do(&b, LEDGER_MONEY, cap_somebody, &x) == 0, "%s", b.why.text);
	ids[RUN][p] = run.id;
	ids[CHARGE][p] = books_ask(&b, "SELECT id FROM charge WHERE project = %lld", (long long)project[p]);
	/* One that can be taken back whole. */
	ck_assert_int_eq(books_deposit(&b, ids[ALLOCATION][p], GPU_H, place_name[p]), 0);
	ids[ENTRY][p] = books_ask(&b, "SELECT max(id) FROM journal WHERE kind = 'deposit'");
}

/* Two nodes, one of which an administrator wants empty. */
static int drain_a_node(struct ledger *l, void *arg, struct fault *why)
{
	struct drain x = { .at = NOON, .node = "g1", .actor = "root", .reason = "fan" };
	struct cluster_view *view = calloc(1, sizeof(*view));
	struct node_view *nodes = calloc(2, sizeof(*nodes));

	(void)arg;
	ck_assert(view && nodes);
	nodes[0].name = "g1";
	nodes[1].name = "g2";
	*view = (struct cluster_view){ .nodes = nodes, .node_count = 2 };
	cluster_state_publish(d.cluster, NULL, view, NULL);
	return drain_add(l, &x, why) < 0 ? -1 : 0;
}

/* The queue as a pass would publish it: a job of each project. */
static void publish_queue(void)
{
	struct turn_table t = { .nturns = PLACES, .nnodes = PLACES, .at = NOON };

	t.turns = calloc(PLACES, sizeof(*t.turns));
	t.nodes = calloc(PLACES, sizeof(*t.nodes));
	ck_assert(t.turns && t.nodes);
	for (enum place p = 0; p < PLACES; p++) {
		t.nodes[p] = (struct turn_node){ .parent = p == ABOVE ? -1 : p == BELOW ? OWN : ABOVE,
			.project = project[p], .uid = -1, .funded_ppm = 1000 * (p + 1) };
		t.turns[p] = (struct job_turn){ .job = (uint32_t)ids[JOB][p], .position = p + 1, .of = PLACES,
			.project = project[p], .uid = UID_OF_JOBS, .gpus = 1, .tasks = 1, .node = p,
			.because = ORDER_BECAUSE_RATIO, .own_at = p, .ahead_at = p ? (int)p - 1 : -1 };
	}
	cluster_state_publish_turns(d.cluster, &t);
}

static void setup(void)
{
	books_open(&b);
	settings = settings_defaults();
	d = (struct budgetd){ .settings = settings, .ledger = b.l, .cluster = cluster_state_new(),
		.rates = rates_new(), .people = people_new("daemon", &b.why) };
	ck_assert(settings && d.cluster && d.rates && d.people);
	free(settings->notice_command);
	free(settings->database);
	settings->database = strdup(b.path);
	settings->notice_command = strdup("/bin/true");	/* where notices are off nobody may ask for them */
	people_set_slurm_uid(d.people, UID_SLURM);
	ck_assert_msg(ledger_open_reader(b.path, &d.reader, &b.why) == 0, "%s", b.why.text);
	for (enum place p = 0; p < PLACES; p++)
		project[p] = books_project(&b, place_name[p],
			p == ABOVE ? 0 : project[p == BELOW ? OWN : ABOVE]);
	ck_assert_msg(books_do(&b, LEDGER_MONEY, appoint, NULL) == 0, "%s", b.why.text);
	for (enum place p = 0; p < PLACES; p++)
		ids[ALLOCATION][p] = books_allot(&b, project[p], 100 * GPU_H, NOON - HOUR, 0);
	for (enum place p = 0; p < PLACES; p++)
		fill(p);
	ck_assert_msg(books_do(&b, LEDGER_MONEY, drain_a_node, NULL) == 0, "%s", b.why.text);
	publish_queue();
}

static void teardown(void)
{
	char notices[sizeof(b.path) + 16];

	snprintf(notices, sizeof(notices), "%s.notices", b.path);
	unlink(notices);
	ledger_close(d.reader);
	people_free(d.people);
	rates_free(d.rates);
	cluster_state_free(d.cluster);
	settings_free(settings);
	books_close(&b);
}

/* --- a call ------------------------------------------------------------------------------------- */

/* "@job.own" becomes the id. */
static void fill_in(const char *text, char out[512])
{
	size_t used = 0;

	for (const char *at = text; *at && used < 480;) {
		size_t k = 0, p = 0, n = 0;

		while (k < 7 && strncmp(at, id_kind[k], strlen(id_kind[k])) != 0)
			k++;
		if (k < 7)
			while (p < PLACES && strncmp(at + strlen(id_kind[k]), place_name[p],
				n = strlen(place_name[p])) != 0)
				p++;
		if (k < 7 && p < PLACES) {
			used += (size_t)snprintf(out + used, 512 - used, "%jd", (intmax_t)ids[k][p]);
			at += strlen(id_kind[k]) + n;
		} else {
			out[used++] = *at++;
		}
	}
	out[used] = '\0';
}

static int call(const struct case_row *row, const struct person *who, bool slurm, struct json_object **reply,
	struct fault *why)
{
	char text[512], body[512], *path, *query;
	struct request rq = { .b = &d, .uid = who->uid, .now = NOON + HOUR };
	const struct route *r;
	int rc = -1;

	fill_in(row->col[0], text);
	fill_in(row->col[1], body);
	path = strchr(text, ' ');
	ck_assert_ptr_nonnull(path);
	*path++ = '\0';
	query = strchr(path, '?');
	if (query)
		*query++ = '\0';
	r = route_find(text, path, &rq.name);
	ck_assert_msg(r != NULL, "line %d: there is no %s %s", row->line, text, path);
	rq.who = r->who;
	rq.route = r;
	rq.administrator = people_is_administrator(d.people, who->uid);
	rq.connection = (struct MHD_Connection *)query;
	rq.body = strcmp(body, "-") ? json_tokener_parse(body) : NULL;
	ck_assert_msg((rq.body != NULL) == (r->body_max > 0), "line %d: body", row->line);
	if (route_allows(r, rq.administrator, slurm, why) == 0)
		rc = r->handle(&rq, why);
	if (rq.stream)
		rq.stream->free(rq.stream);
	*reply = rq.reply;
	json_object_put(rq.body);
	return rc;
}

/* --- what came of it ---------------------------------------------------------------------------- */

/* The letters of the projects that the rows name, in the order of places. */
static void rows_text(struct json_object *rows, char out[PLACES + 2])
{
	static const char *const keys[] = { "project", "account", "name" };
	bool seen[PLACES] = {0};
	size_t used = 0;

	for (size_t i = 0; i < json_object_array_length(rows); i++)
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			struct json_object *o = NULL;

			if (json_object_object_get_ex(json_object_array_get_idx(rows, i), keys[k], &o))
				for (enum place p = 0; p < PLACES; p++)
					seen[p] = seen[p] ||
						strcmp(json_object_get_string(o), place_name[p]) == 0;
		}
	for (enum place p = 0; p < PLACES; p++)
		if (seen[p])
			out[used++] = place_letter[p];
	snprintf(out + used, PLACES + 2 - used, "%s", used ? "" : ".");
}

/* What needs a job in the queue, a run without an end, an empty project or a new name is allowed, and then
 * refused by the books. */
static bool refused_by_the_books(const struct case_row *row, int err)
{
	static const char *const calls[] = { "PATCH /v1/jobs/", "DELETE /v1/projects/", "POST /v1/projects",
		"PATCH /v1/runs/", "POST /v1/shares" };
	bool one = false;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		one = one || strncmp(row->col[0], calls[i], strlen(calls[i])) == 0;
	return one && err == EEXIST;
}

static void outcome_text(const struct case_row *row, int rc, int err, struct json_object *reply,
	char out[PLACES + 2])
{
	struct json_object *rows = NULL;

	if (rc < 0 && err == EACCES)
		snprintf(out, PLACES + 2, "no");
	else if (rc < 0)
		snprintf(out, PLACES + 2, "%s", refused_by_the_books(row, err) ? "yes" : "fails");
	else if (strncmp(row->col[0], "GET", 3) == 0 && json_object_object_get_ex(reply, "rows", &rows))
		rows_text(rows, out);
	else
		snprintf(out, PLACES + 2, "yes");
}

/* What differs from the table is written out. */
static int differs(const struct case_row *row, const struct person *who)
{
	const char *wanted = row->col[2 + who->column];
	struct json_object *reply = NULL;
	struct fault why = {0};
	char got[PLACES + 2];
	int rc, err;

	errno = 0;
	rc = call(row, who, false, &reply, &why);
	err = errno;
	outcome_text(row, rc, err, reply, got);
	json_object_put(reply);
	if (strcmp(got, wanted) == 0 && (rc == 0 || why.text[0]))
		return 0;
	fprintf(stderr, "rights.cases:%d: %s %s by %s: %s, the table says %s (%s)\n", row->line, row->col[0],
		row->col[1], who->name, got, wanted, why.text);
	return 1;
}

/* In one world: the calls of the table leave it as it is for those that follow. */
START_TEST(every_role_is_allowed_and_shown_what_the_table_says)
{
	int wrong = 0;

	for (int i = 0; i < rights.rows; i++)
		for (size_t k = 0; k < PEOPLE; k++)
			wrong += differs(&rights.row[i], &people[k]);
	ck_assert_msg(wrong == 0, "%d of %zu calls are not as rights.cases says, see above", wrong,
		(size_t)rights.rows * PEOPLE);
	ledger_invariants(&b);
}
END_TEST

/* A row for the path, with any query. */
static bool is_expected(const struct route *r)
{
	for (int i = 0; i < rights.rows; i++) {
		char call_text[256];
		const char *name;
		char *path;

		snprintf(call_text, sizeof(call_text), "%.*s", (int)strcspn(rights.row[i].col[0], "?"),
			rights.row[i].col[0]);
		path = strchr(call_text, ' ');
		*path++ = '\0';
		if (route_find(call_text, path, &name) == r)
			return true;
	}
	return false;
}

START_TEST(every_call_has_its_expectations)
{
	size_t n = 0;

	for (const struct route *r; (r = route_at(n)); n++)
		ck_assert_msg(is_expected(r),
			"%s %s is not in rights.cases: write there who may call it, on which project",
			r->method, r->path);
	ck_assert_uint_gt(n, 20);
}
END_TEST

/* At its own socket, where slurmctld asks; elsewhere the table says no. */
START_TEST(verdicts_are_given_to_root_and_slurmuser_at_the_plugins_socket)
{
	const struct case_row row = { .n = 2,
		.col = { "POST /v1/verdicts", "{\"kind\":\"submit\",\"uid\":0,\"account\":\"own\"}" } };

	for (size_t i = 0; i < PEOPLE; i++) {
		bool slurm = people_is_slurm(d.people, people[i].uid);
		struct json_object *reply = NULL;

		ck_assert_int_eq(call(&row, &people[i], slurm, &reply, NULL), slurm ? 0 : -1);
		json_object_put(reply);
	}
}
END_TEST

/* --- owners, members and their lists ------------------------------------------------------------ */

static const struct {
	const char *body, *owners,
		/* after it, from "ada" the owner and "bob" the member; NULL = refused, and as before */
		*members;
} lists[] = {
	{ "{\"remove_owners\":[\"ada\"],\"add_members\":[\"ada\"],\"force\":true}", "", "ada bob" },
	{ "{\"add_members\":[\"ada\"],\"remove_owners\":[\"ada\"],\"force\":true}", "", "ada bob" },
	{ "{\"add_members\":[\"ada\"],\"force\":true}", "ada", "bob" },
	{ "{\"remove_members\":[\"ada\"]}", NULL, NULL },
	{ "{\"remove_owners\":[\"ada\"],\"remove_members\":[\"ada\"]}", "", "bob" },
	{ "{\"remove_owners\":[\"bob\"]}", "ada", "bob" },
	{ "{\"remove_members\":[\"bob\"]}", "ada", "" },
	{ "{\"add_owners\":[\"bob\"],\"force\":true}", "ada bob", "" },
	{ "{\"add_owners\":[\"root\"]}", "ada root", "bob" },
	{ "{\"add_owners\":[\"no-such-user-here\"]}", NULL, NULL },
	{ "{\"add_members\":[\"no-such-user-here\"]}", NULL, NULL },
	{ "{\"add_members\":[\"root\",\"no-such-user-here\"]}", NULL, NULL },
	{ "{\"add_members\":[\"no-such-user-here\"],\"force\":true}", "ada", "bob no-such-user-here" },
	{ "{\"add_members\":[\"\"],\"force\":true}", NULL, NULL },
	{ "{\"add_members\":\"root\"}", NULL, NULL },
	{ "{\"add_members\":[7],\"force\":true}", NULL, NULL },
	{ "{\"add_members\":[\"root\"],\"force\":1}", NULL, NULL },
};

static int ada_and_bob(struct ledger *l, void *arg, struct fault *why)
{
	(void)arg;
	return member_set(l, project[BELOW], "ada", ROLE_OWNER, why) < 0 ||
		member_set(l, project[BELOW], "bob", ROLE_MEMBER, why) < 0 ? -1 : 0;
}

static void names_text(struct json_object *o, const char *key, char out[128])
{
	struct json_object *names = NULL;

	out[0] = '\0';
	ck_assert(json_object_object_get_ex(o, key, &names));
	for (size_t i = 0; i < json_object_array_length(names); i++)
		snprintf(out + strlen(out), 128 - strlen(out), "%s%s", i ? " " : "",
			json_object_get_string(json_object_array_get_idx(names, i)));
}

START_TEST(people_are_what_the_call_makes_them)
{
	const struct case_row set = { .n = 2, .col = { "PATCH /v1/projects/below", lists[_i].body } };
	const struct case_row nothing = { .n = 2, .col = { "PATCH /v1/projects/below", "{}" } };
	struct json_object *reply = NULL;
	char owners[128], members[128];
	struct fault why = {0};

	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, ada_and_bob, NULL), 0);
	ck_assert_msg((call(&set, &people[0], false, &reply, &why) == 0) == (lists[_i].owners != NULL),
		"%s: %s", set.col[1], why.text);
	json_object_put(reply);
	ck_assert_int_eq(call(&nothing, &people[0], false, &reply, &why), 0);
	names_text(reply, "owners", owners);
	names_text(reply, "members", members);
	json_object_put(reply);
	ck_assert_str_eq(owners, lists[_i].owners ? lists[_i].owners : "ada");
	ck_assert_str_eq(members, lists[_i].members ? lists[_i].members : "bob");
}
END_TEST

/* --- what is inherited -------------------------------------------------------------------------- */

static int set_policy(struct ledger *l, void *arg, struct fault *why)
{
	struct project p;

	if (project_by_id(l, project[ABOVE], &p, why) != 1)
		return -1;
	p.on_exhausted = *(enum on_exhausted *)arg;
	return project_set(l, &p, why);
}

/* That of the nearest one above that says one, else the site's: `own` and `below` say none. */
static const struct {
	enum exhausted_policy site;
	enum on_exhausted above;
	const char *effective;
} inherited[] = {
	{ EXHAUSTED_FREE, ON_EXHAUSTED_INHERIT, "free" },
	{ EXHAUSTED_WAIT, ON_EXHAUSTED_INHERIT, "wait" },
	{ EXHAUSTED_FREE, ON_EXHAUSTED_REJECT, "reject" },
	{ EXHAUSTED_REJECT, ON_EXHAUSTED_WAIT, "wait" },
};

START_TEST(the_policy_is_inherited_down_the_tree)
{
	struct case_row list = { .col = { "GET /v1/projects", "-" } };
	struct json_object *reply = NULL, *row, *v;
	enum on_exhausted above = inherited[_i].above;
	size_t seen = 0;

	settings->on_exhausted = inherited[_i].site;
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, set_policy, &above), 0);
	ck_assert_msg(call(&list, &people[0], false, &reply, &b.why) == 0, "%s", b.why.text);
	ck_assert(json_object_object_get_ex(reply, "rows", &v));
	for (size_t i = 0; i < json_object_array_length(v); i++) {
		struct json_object *name, *effective;

		row = json_object_array_get_idx(v, i);
		ck_assert(json_object_object_get_ex(row, "name", &name) &&
			json_object_object_get_ex(row, "on_exhausted_effective", &effective));
		if (strcmp(json_object_get_string(name), place_name[OWN]) &&
			strcmp(json_object_get_string(name), place_name[BELOW]))
			continue;
		ck_assert_str_eq(json_object_get_string(effective), inherited[_i].effective);
		seen++;
	}
	ck_assert_uint_eq(seen, 2);
	json_object_put(reply);
}
END_TEST

Suite *rights_suite(void)
{
	Suite *s = suite_create("rights");
	TCase *t = tcase_create("roles");

	rights = cases_load("rights.cases", 2 + COLUMNS);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, every_role_is_allowed_and_shown_what_the_table_says);
	tcase_add_test(t, every_call_has_its_expectations);
	tcase_add_test(t, verdicts_are_given_to_root_and_slurmuser_at_the_plugins_socket);
	tcase_add_loop_test(t, the_policy_is_inherited_down_the_tree, 0,
		sizeof(inherited) / sizeof(inherited[0]));
	tcase_add_loop_test(t, people_are_what_the_call_makes_them, 0, sizeof(lists) / sizeof(lists[0]));
	suite_add_tcase(s, t);
	return s;
}
