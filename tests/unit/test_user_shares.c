/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_user_shares.c - a leaf that is divided among its users: who goes first in it, by what each had for
 * their weight */
#include "budgetd/ledger_user_share.h"
#include "budgetd/ranking.h"
#include "budgetd/ranking_users.h"
#include "lib/fairshare.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <string.h>

#define WEEK (7 * 24 * HOUR)
#define GPUS 16
enum { ADA = 1001, BOB = 1002, CID = 1003 };

static struct books b;
static int64_t lab, vision, speech;
static struct ranking *kept;

/* lab has vision and speech; only vision has users of its own in these stories. */
static void setup(void)
{
	books_open(&b);
	lab = books_project(&b, "lab", 0);
	vision = books_project(&b, "vision", lab);
	speech = books_project(&b, "speech", lab);
	kept = NULL;
}

static void teardown(void)
{
	ranking_free(kept);
	books_close(&b);
}

/* --- steps -------------------------------------------------------------------------------------- */

struct dividing {
	int64_t project;
	enum user_shares how;
};

static int divide_step(struct ledger *l, void *arg, struct fault *why)
{
	const struct dividing *x = arg;
	struct change_words w = { .at = NOON, .actor = "root" };
	struct project was, p;

	if (project_by_id(l, x->project, &was, why) != 1)
		return -1;
	p = was;
	p.user_shares = x->how;
	return project_set(l, &p, why) < 0 ? -1 : change_project(l, &w, &was, &p, why);
}

static void divide(int64_t project, enum user_shares how)
{
	ck_assert_msg(books_do(&b, LEDGER_MONEY, divide_step, &(struct dividing){ project, how }) == 0, "%s",
		b.why.text);
	ledger_invariants(&b);
}

struct weighing {
	struct user_share s;
	int64_t at;
};

static int weigh_step(struct ledger *l, void *arg, struct fault *why)
{
	const struct weighing *x = arg;
	struct change_words w = { .at = x->at, .actor = "root" };

	return user_share_set(l, &w, &x->s, why);
}

static int weigh(int64_t project, int64_t uid, const char *user, int64_t share, int64_t at)
{
	struct weighing x = { .s = { .project = project, .uid = uid, .share = share }, .at = at };
	int rc;

	snprintf(x.s.user, sizeof(x.s.user), "%s", user);
	rc = books_do(&b, LEDGER_MONEY, weigh_step, &x);
	ledger_invariants(&b);
	return rc;
}

static void use(int64_t project, int64_t uid, int64_t gpus, int64_t start, int64_t hours)
{
	static int64_t job = 100;
	struct submission s = { .project = project, .gpus = gpus, .min_runtime_s = hours * HOUR, .now = start,
		.uid = uid };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, job++, start, &r);
	ck_assert_int_eq(books_end(&b, &r, start + hours * HOUR), 0);
}

/* --- questions ---------------------------------------------------------------------------------- */

static const struct gpu_count healthy = { .total = GPUS, .ntypes = 1, .types = { { "", GPUS } } };

struct look {
	int64_t now;
	const struct project_user *waits;
	size_t nwaits;
	struct ranking *r;
};

static int make(struct ledger *l, void *arg, struct fault *why)
{
	struct look *x = arg;

	return ranking_empty(&x->r, why) < 0 || ranking_expect(x->r, x->waits, x->nwaits, why) < 0 ||
			       ranking_renew(x->r, l, WEEK, NULL, &healthy, x->now, why) < 0 ? -1 : 0;
}

static int renew(struct ledger *l, void *arg, struct fault *why)
{
	struct look *x = arg;

	if (!kept && ranking_empty(&kept, why) < 0)
		return -1;
	return ranking_expect(kept, x->waits, x->nwaits, why) < 0 ? -1
		: ranking_renew(kept, l, WEEK, NULL, &healthy, x->now, why);
}

/* What was kept and renewed says the same as what is made anew, which is in `kept` afterwards. */
static void rank_with(int64_t now, const struct project_user *waits, size_t n)
{
	static const int64_t uids[] = { ADA, BOB, CID };
	struct look x = { now, waits, n, NULL };

	ck_assert_msg(books_do(&b, LEDGER_READ, make, &x) == 0, "%s", b.why.text);
	ck_assert_msg(books_do(&b, LEDGER_READ, renew, &x) == 0, "%s", b.why.text);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(ranking_node_of(x.r, vision, uids[i]),
			ranking_node_of(kept, vision, uids[i]));
		ck_assert_uint_eq(ranking_rank(x.r, vision, uids[i]), ranking_rank(kept, vision, uids[i]));
	}
	ranking_free(x.r);
}

static void rank(int64_t now)
{
	rank_with(now, NULL, 0);
}

static bool has_node(int64_t project, int64_t uid)
{
	return ranking_user_of(kept, project, uid) != 0;
}

static bool before(int64_t uid, int64_t other)
{
	return ranking_rank(kept, vision, uid) < ranking_rank(kept, vision, other);
}

static int64_t figure(int64_t (*of)(const struct fairshare *, size_t), int64_t uid)
{
	return of(ranking_funded(kept), (size_t)ranking_node_of(kept, vision, uid));
}

/* --- who has a node ------------------------------------------------------------------------------ */

START_TEST(nobody_is_told_apart_unless_that_is_said)
{
	struct ranking_level level[RANKING_LEVELS_MAX];

	use(vision, ADA, 4, NOON, 2);
	rank(NOON + 3 * HOUR);
	ck_assert(!has_node(vision, ADA) && !before(BOB, ADA) && !before(ADA, BOB));
	ck_assert_int_eq(ranking_levels(kept, vision, ADA, level, RANKING_LEVELS_MAX), 2);
	divide(vision, USER_SHARES_YES);
	rank(NOON + 3 * HOUR);
	ck_assert(has_node(vision, ADA) && !has_node(vision, BOB));
	ck_assert_int_eq(ranking_levels(kept, vision, ADA, level, RANKING_LEVELS_MAX), 3);
	ck_assert_str_eq(level[2].name, "vision");
	ck_assert_int_eq(level[2].uid, ADA);
	divide(vision, USER_SHARES_NO);
	rank(NOON + 3 * HOUR);
	ck_assert(!has_node(vision, ADA));
}
END_TEST

START_TEST(what_is_set_above_holds_below_and_in_leaves_only)
{
	use(vision, ADA, 4, NOON, 2);
	use(speech, BOB, 4, NOON, 2);
	use(lab, ADA, 1, NOON, 1);
	divide(lab, USER_SHARES_YES);
	rank(NOON + 3 * HOUR);
	ck_assert(has_node(vision, ADA) && has_node(speech, BOB) && !has_node(lab, ADA));
	divide(speech, USER_SHARES_NO);
	rank(NOON + 3 * HOUR);
	ck_assert(has_node(vision, ADA) && !has_node(speech, BOB));
	divide(speech, USER_SHARES_INHERIT);
	rank(NOON + 3 * HOUR);
	ck_assert(has_node(speech, BOB));
}
END_TEST

START_TEST(who_runs_or_waits_has_one_too)
{
	struct submission waits = { .project = vision, .gpus = 1, .min_runtime_s = HOUR, .now = NOON,
		.uid = ADA }, runs = waits;
	const struct project_user free_one = { vision, CID };
	struct run r;

	divide(vision, USER_SHARES_YES);
	runs.uid = BOB;
	ck_assert_int_eq(books_submit(&b, &waits), 0);
	ck_assert_int_eq(books_submit(&b, &runs), 0);
	books_start(&b, &runs, 7, NOON, &r);
	rank(NOON + 60);
	ck_assert(has_node(vision, ADA) && has_node(vision, BOB) && !has_node(vision, CID));
	ck_assert(before(ADA, BOB));		/* its run is felt at once */
	rank_with(NOON + 60, &free_one, 1);
	ck_assert(has_node(vision, CID) && before(CID, BOB) && !before(ADA, CID) && !before(CID, ADA));
	ck_assert_int_eq(books_end(&b, &r, NOON + 60), 0);
	rank(NOON + WEEK + HOUR);
	ck_assert(!has_node(vision, BOB));	/* what was used has left the window */
}
END_TEST

/* --- who goes first ------------------------------------------------------------------------------ */

START_TEST(who_had_less_goes_first_and_the_project_stays_where_it_is)
{
	int64_t of_project;

	use(vision, ADA, 4, NOON, 10);
	use(vision, BOB, 1, NOON, 10);
	rank(NOON + 10 * HOUR);
	of_project = fairshare_ratio_ppm(ranking_funded(kept), (size_t)ranking_node(kept, vision));
	divide(vision, USER_SHARES_YES);
	rank(NOON + 10 * HOUR);
	ck_assert(before(BOB, ADA));
	ck_assert_int_eq(figure(fairshare_charged, ADA), 40 * GPU_H);
	ck_assert_int_eq(figure(fairshare_charged, BOB), 10 * GPU_H);
	ck_assert_int_eq(figure(fairshare_entitled, ADA), figure(fairshare_entitled, BOB));
	ck_assert_int_eq(fairshare_ratio_ppm(ranking_funded(kept), (size_t)ranking_node(kept, vision)),
		of_project);
	/* projects first */
	ck_assert_uint_lt(ranking_rank(kept, speech, CID), ranking_rank(kept, vision, BOB));
}
END_TEST

/* ada had four times as much as bob: a weight of 5 beside 1 turns the order, in the window after it is
 * set. */
START_TEST(a_weight_turns_the_order_from_when_it_is_set)
{
	int64_t ratio;

	use(vision, ADA, 4, NOON, 10);
	use(vision, BOB, 1, NOON, 10);
	divide(vision, USER_SHARES_YES);
	rank(NOON + 10 * HOUR);
	ratio = figure(fairshare_ratio_ppm, ADA);
	ck_assert_int_eq(weigh(vision, ADA, "ada", 5, NOON + 10 * HOUR), 0);
	rank(NOON + 10 * HOUR);
	ck_assert(before(BOB, ADA));
	/* half of the 1,344 of vision in a week: the past is what it was */
	ck_assert_int_eq(figure(fairshare_entitled, ADA), 672 * GPU_H);
	ck_assert_int_eq(figure(fairshare_ratio_ppm, ADA), ratio);
	rank(NOON + 10 * HOUR + WEEK - 10 * HOUR);
	ck_assert(before(ADA, BOB));
	ck_assert_int_eq(weigh(vision, ADA, "ada", 1, NOON + WEEK - HOUR), 0);
	rank(NOON + WEEK - HOUR);
	ck_assert(before(ADA, BOB));
	ck_assert_int_eq(books_ask(&b,
		"SELECT count(*) FROM change WHERE what = 'user_share' AND user = 'ada'"), 2);
}
END_TEST

START_TEST(a_weight_of_0_is_last_in_both_tiers)
{
	use(vision, BOB, 4, NOON, 10);
	divide(vision, USER_SHARES_YES);
	ck_assert_int_eq(weigh(vision, ADA, "ada", 0, NOON - WEEK), 0);
	rank_with(NOON + 10 * HOUR, &(struct project_user){ vision, ADA }, 1);
	ck_assert(has_node(vision, ADA) && before(BOB, ADA));
	ck_assert_int_eq(figure(fairshare_ratio_ppm, ADA), FAIRSHARE_NO_RATIO);
	ck_assert_uint_lt(fairshare_rank(ranking_free_tier(kept), (size_t)ranking_node_of(kept, vision, BOB)),
		fairshare_rank(ranking_free_tier(kept), (size_t)ranking_node_of(kept, vision, ADA)));
}
END_TEST

START_TEST(what_is_promised_to_a_user_is_that_users)
{
	const struct project_user both[] = { { vision, ADA }, { vision, BOB } };

	divide(vision, USER_SHARES_YES);
	rank_with(NOON, both, 2);
	ck_assert(!before(ADA, BOB) && !before(BOB, ADA));
	ck_assert_int_eq(ranking_add_entry(kept, vision, ADA, GPU_H, &b.why), 0);
	ck_assert(before(BOB, ADA));
}
END_TEST

static int count_user(size_t node, int64_t uid, int64_t weight, void *arg)
{
	int64_t *sum = arg;

	ck_assert_uint_eq(node, (size_t)ranking_node_of(kept, vision, uid));
	*sum += uid * weight;
	return 0;
}

START_TEST(the_users_of_a_project_are_listed_by_uid)
{
	int64_t sum = 0;

	use(vision, BOB, 4, NOON, 1);
	use(vision, ADA, 4, NOON, 1);
	use(speech, CID, 4, NOON, 1);
	divide(lab, USER_SHARES_YES);
	ck_assert_int_eq(weigh(vision, BOB, "bob", 1000000, NOON), 0);
	rank(NOON + HOUR);
	ck_assert_int_eq(ranking_walk_users(kept, vision, count_user, &sum), 0);
	ck_assert_int_eq(sum, ADA + (int64_t)BOB * 1000000);
	ck_assert_int_eq(ranking_walk_users(kept, lab, count_user, &sum), 0);
	ck_assert_int_eq(ranking_walk_users(kept, 99, count_user, &sum), 0);
	ck_assert_int_eq(sum, ADA + (int64_t)BOB * 1000000);
}
END_TEST

/* --- what can be set ----------------------------------------------------------------------------- */

START_TEST(weights_are_for_users_of_a_leaf)
{
	int64_t uid;

	ck_assert_int_eq(weigh(lab, ADA, "ada", 3, NOON), -1);
	ck_assert_msg(strstr(b.why.text, "projects below it (2)") != NULL, "%s", b.why.text);
	ck_assert_int_eq(weigh(vision, ADA, "ada", FAIRSHARE_WEIGHT_MAX + 1, NOON), -1);
	ck_assert_int_eq(weigh(vision, ADA, "ada", 3, NOON), 0);
	/* the name of the first time stays */
	ck_assert_int_eq(weigh(vision, ADA, "ada.lovelace", 4, NOON), 0);
	uid = books_ask(&b, "SELECT uid FROM user_share WHERE user = 'ada' AND share = 4");
	ck_assert_int_eq(uid, ADA);
}
END_TEST

Suite *user_shares_suite(void)
{
	Suite *s = suite_create("user shares");
	TCase *t = tcase_create("users of a project");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nobody_is_told_apart_unless_that_is_said);
	tcase_add_test(t, what_is_set_above_holds_below_and_in_leaves_only);
	tcase_add_test(t, who_runs_or_waits_has_one_too);
	tcase_add_test(t, who_had_less_goes_first_and_the_project_stays_where_it_is);
	tcase_add_test(t, a_weight_turns_the_order_from_when_it_is_set);
	tcase_add_test(t, a_weight_of_0_is_last_in_both_tiers);
	tcase_add_test(t, what_is_promised_to_a_user_is_that_users);
	tcase_add_test(t, the_users_of_a_project_are_listed_by_uid);
	tcase_add_test(t, weights_are_for_users_of_a_leaf);
	suite_add_tcase(s, t);
	return s;
}
