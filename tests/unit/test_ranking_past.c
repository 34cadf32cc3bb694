/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_ranking_past.c - weights, parents and GPUs as they were: what is changed now never changes the past */
#include "budgetd/ledger_capacity.h"
#include "budgetd/ledger_change.h"
#include "budgetd/ranking.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEEK (7 * 24 * HOUR)
#define GPUS 16

static struct books b;
static int64_t lab, far, vision, speech;
static struct ranking *kept;		/* renewed, as the loop's is */
static const struct gpu_count healthy = { .total = GPUS, .ntypes = 1, .types = { { "", GPUS } } };

static int64_t window_s;

/* lab has vision and speech; far stands beside it. All shares are 1. */
static void setup(void)
{
	books_open(&b);
	lab = books_project(&b, "lab", 0);
	far = books_project(&b, "far", 0);
	vision = books_project(&b, "vision", lab);
	speech = books_project(&b, "speech", lab);
	kept = NULL;
	window_s = WEEK;
}

static void teardown(void)
{
	ranking_free(kept);
	books_close(&b);
}

/* --- steps -------------------------------------------------------------------------------------- */

struct edit {
	int64_t project, parent, at;
	int64_t share;			/* as it is to be; -1: as it is */
	const char *name;		/* of a new one */
	bool moves;
};

static int edit(struct ledger *l, void *arg, struct fault *why)
{
	struct edit *x = arg;
	struct change_words words = { .at = x->at, .actor = "ada" };
	struct project was, p;

	if (project_by_id(l, x->project, &p, why) != 1)
		return -1;
	was = p;
	p.share = x->share < 0 ? p.share : x->share;
	p.parent = x->moves ? x->parent : p.parent;
	return project_set(l, &p, why) < 0 ? -1 : change_project(l, &words, &was, &p, why);
}

/* As POST /v1/projects does it. */
static int add(struct ledger *l, void *arg, struct fault *why)
{
	struct edit *x = arg;
	struct change_words words = { .at = x->at, .actor = "ada" };
	struct project p = { .parent = x->parent, .share = x->share };

	snprintf(p.name, sizeof(p.name), "%s", x->name);
	if (project_add(l, &p, x->at, why) < 0 || change_existence(l, &words, p.id, true, why) < 0)
		return -1;
	x->project = p.id;
	return change_project(l, &words, NULL, &p, why);
}

static int removal(struct ledger *l, void *arg, struct fault *why)
{
	struct edit *x = arg;
	struct change_words words = { .at = x->at, .actor = "ada" };

	return project_remove(l, x->project, x->at, why) < 0 ? -1
		: change_existence(l, &words, x->project, false, why);
}

static int64_t done(books_step step, struct edit x)
{
	ck_assert_msg(books_do(&b, LEDGER_MONEY, step, &x) == 0, "%s", b.why.text);
	ledger_invariants(&b);
	return x.project;
}

static void weigh(int64_t project, int64_t share, int64_t at)
{
	done(edit, (struct edit){ .project = project, .share = share, .at = at });
}

static void move(int64_t project, int64_t parent, int64_t at)
{
	done(edit,
		(struct edit){ .project = project, .share = -1, .at = at, .moves = true, .parent = parent });
}

struct gpus {
	int64_t at;
	amount_t units;
};

static int note(struct ledger *l, void *arg, struct fault *why)
{
	struct gpus *x = arg;

	return capacity_add(l, x->at, x->units, why);
}

static void healthy_from(int64_t at, int64_t gpus)
{
	ck_assert_int_eq(books_do(&b, LEDGER_HOLDS, note, &(struct gpus){ at, gpus * AMOUNT_RATE_ONE }), 0);
	ledger_invariants(&b);
}

static void use(int64_t project, int64_t gpus, int64_t start, int64_t hours)
{
	static int64_t job = 100;
	struct submission s = { .project = project, .gpus = gpus, .min_runtime_s = hours * HOUR,
		.now = start };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, job++, start, &r);
	ck_assert_int_eq(books_end(&b, &r, start + hours * HOUR), 0);
}

/* --- questions ---------------------------------------------------------------------------------- */

struct look {
	int64_t now;
	const struct gpu_count *healthy;
	struct ranking *r;
};

static int make(struct ledger *l, void *arg, struct fault *why)
{
	struct look *x = arg;

	return ranking_new(l, window_s, NULL, x->healthy, x->now, &x->r, why);
}

static int renew(struct ledger *l, void *arg, struct fault *why)
{
	struct look *x = arg;

	return kept ? ranking_renew(kept, l, window_s, NULL, x->healthy, x->now, why) :
		ranking_new(l, window_s, NULL, x->healthy, x->now, &kept, why);
}

static void agree(const struct fairshare *x, const struct fairshare *y, size_t i)
{
	ck_assert_int_eq(fairshare_charged(x, i), fairshare_charged(y, i));
	ck_assert_int_eq(fairshare_entitled(x, i), fairshare_entitled(y, i));
	ck_assert_int_eq(fairshare_ratio_ppm(x, i), fairshare_ratio_ppm(y, i));
	ck_assert_uint_eq(fairshare_rank(x, i), fairshare_rank(y, i));
}

/* What was kept and renewed is what is made anew. */
static struct ranking *rank_by(int64_t now, const struct gpu_count *gpus)
{
	static const char *const names[] = { "lab", "far", "vision", "speech", "new" };
	struct look x = { now, gpus, NULL };

	ck_assert_msg(books_do(&b, LEDGER_READ, make, &x) == 0, "%s", b.why.text);
	ck_assert_msg(books_do(&b, LEDGER_READ, renew, &x) == 0, "%s", b.why.text);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int64_t id = books_ask(&b, "SELECT coalesce(max(id), 0) FROM project WHERE name = '%s'",
			names[i]);

		ck_assert_int_eq(ranking_node(x.r, id), ranking_node(kept, id));
		if (ranking_node(x.r, id) < 0)
			continue;
		agree(ranking_funded(x.r), ranking_funded(kept), (size_t)ranking_node(x.r, id));
		agree(ranking_free_tier(x.r), ranking_free_tier(kept), (size_t)ranking_node(x.r, id));
	}
	return x.r;
}

static int64_t entitled_by(int64_t project, int64_t now, const struct gpu_count *gpus)
{
	struct ranking *r = rank_by(now, gpus);
	int64_t units = fairshare_entitled(ranking_funded(r), (size_t)ranking_node(r, project));

	ranking_free(r);
	return units;
}

/* In GPU-hours, in the week before `now`. */
#define ENTITLED(project, now) ((double)entitled_by(project, now, &healthy) / GPU_H)

static int64_t charged(int64_t project, int64_t now)
{
	struct ranking *r = rank_by(now, &healthy);
	int64_t units = fairshare_charged(ranking_funded(r), (size_t)ranking_node(r, project));

	ranking_free(r);
	return units;
}

/* --- weights ------------------------------------------------------------------------------------ */

/* A week of 16 GPUs is 2,688 GPU-hours: lab and far have 1,344 of it, vision and speech 672. */
START_TEST(a_weight_counts_from_when_it_is_set)
{
	ck_assert_double_eq(ENTITLED(vision, NOON), 672);
	weigh(vision, 3, NOON);
	ck_assert_double_eq(ENTITLED(vision, NOON), 672);
	ck_assert_double_eq(ENTITLED(vision, NOON + 84 * HOUR), 336 + 504);
	ck_assert_double_eq(ENTITLED(speech, NOON + 84 * HOUR), 336 + 168);
	ck_assert_double_eq(ENTITLED(vision, NOON + WEEK), 1008);
	ck_assert_double_eq(ENTITLED(lab, NOON + 84 * HOUR), 1344);
}
END_TEST

/* Whoever raises a weight for a moment gains that moment. */
START_TEST(an_hour_of_another_weight_is_an_hour_of_it)
{
	weigh(far, 3, NOON);
	weigh(far, 1, NOON + HOUR);
	ck_assert_double_eq(ENTITLED(far, NOON + HOUR), 167 * 8 + 12);
	ck_assert_double_eq(ENTITLED(far, NOON + WEEK), 167 * 8 + 12);
	ck_assert_double_eq(ENTITLED(far, NOON + WEEK + HOUR), 168 * 8);
}
END_TEST

START_TEST(an_edit_leaves_the_ratio_of_the_moment_as_it_was)
{
	struct ranking *before, *after;
	size_t node;

	use(vision, 4, NOON, 84);
	use(far, 8, NOON, 10);
	before = rank_by(NOON + WEEK, &healthy);
	weigh(vision, 999, NOON + WEEK);
	weigh(far, 0, NOON + WEEK);
	weigh(far, 7, NOON + WEEK);
	after = rank_by(NOON + WEEK, &healthy);
	node = (size_t)ranking_node(before, vision);
	ck_assert_int_eq(fairshare_ratio_ppm(ranking_funded(before), node),
		fairshare_ratio_ppm(ranking_funded(after), node));
	node = (size_t)ranking_node(before, far);
	ck_assert_int_eq(fairshare_ratio_ppm(ranking_funded(before), node),
		fairshare_ratio_ppm(ranking_funded(after), node));
	ranking_free(before);
	ranking_free(after);
}
END_TEST

/* What everybody was owed by NOON + WEEK, and vision hour by hour. */
struct past {
	amount_t *owed;
	struct ranking_step *steps;
	size_t nodes, nsteps;
};

static int look_back(struct ledger *l, void *arg, struct fault *why)
{
	struct past *x = arg;
	struct ranking *r;

	if (ranking_new(l, WEEK, NULL, &healthy, NOON + WEEK, &r, why) < 0)
		return -1;
	x->nodes = ranking_count(r);
	if (ranking_owed(r, l, false, &x->owed, why) < 0)
		return -1;
	if (ranking_steps(r, l, false, (size_t)ranking_node(r, vision), &x->steps, &x->nsteps, why) < 0)
		return -1;
	ranking_free(r);
	return 0;
}

/* Said of the same second before and after: to the unit, not nearly. */
START_TEST(an_edit_leaves_what_was_owed_as_it_was)
{
	struct past before, after;

	use(vision, 4, NOON, 84);
	use(far, 8, NOON, 10);
	ck_assert_msg(books_do(&b, LEDGER_READ, look_back, &before) == 0, "%s", b.why.text);
	weigh(vision, 999, NOON + WEEK);
	weigh(far, 0, NOON + WEEK);
	ck_assert_msg(books_do(&b, LEDGER_READ, look_back, &after) == 0, "%s", b.why.text);
	ck_assert(before.nodes == after.nodes && before.nsteps == after.nsteps && before.nsteps > 24);
	ck_assert_int_gt(before.steps[before.nsteps - 1].owed, 0);
	ck_assert_mem_eq(before.owed, after.owed, before.nodes * sizeof(*before.owed));
	ck_assert_mem_eq(before.steps, after.steps, before.nsteps * sizeof(*before.steps));
	free(before.owed);
	free(before.steps);
	free(after.owed);
	free(after.steps);
}
END_TEST

START_TEST(a_new_project_has_no_claim_on_the_past)
{
	int64_t new = done(add, (struct edit){ .name = "new", .share = 2, .at = NOON });

	ck_assert_double_eq(ENTITLED(new, NOON + 84 * HOUR), 672);
	ck_assert_double_eq(ENTITLED(far, NOON + 84 * HOUR), 672 + 336);
}
END_TEST

START_TEST(what_was_imported_makes_its_projects_as_old_as_it_is)
{
	int64_t new = done(add, (struct edit){ .name = "new", .share = 2, .at = NOON });
	struct import_run r = { .cluster = "c", .label = "1", .partition = "gpu", .state = "COMPLETED",
		.job = 1, .start = NOON - 84 * HOUR, .project = new, .uid = 1000, .tier = TIER_FUNDED,
		.npieces = 1, .pieces = { { .submit = NOON - 84 * HOUR, .from = NOON - 84 * HOUR,
		.end = NOON - 83 * HOUR, .gpus = 1, .price = AMOUNT_RATE_ONE, .tres = "gres/gpu=1" } } };

	books_import(&b, &r, false);
	ck_assert_double_eq(ENTITLED(new, NOON), 672);
	ck_assert_double_eq(ENTITLED(far, NOON), 672 + 336);
}
END_TEST

START_TEST(a_project_that_moves_takes_its_past_along)
{
	move(speech, far, NOON);
	ck_assert_double_eq(ENTITLED(speech, NOON + 84 * HOUR), 336 + 672);
	ck_assert_double_eq(ENTITLED(vision, NOON + 84 * HOUR), 336 + 672);
	ck_assert_double_eq(ENTITLED(lab, NOON + 84 * HOUR), 1344);
	move(speech, 0, NOON + 84 * HOUR);
	ck_assert_double_eq(ENTITLED(speech, NOON + WEEK), 672 + 448);
	ck_assert_double_eq(ENTITLED(far, NOON + WEEK), 672 + 448);
}
END_TEST

START_TEST(what_a_removed_project_used_stays_with_those_above_it)
{
	use(speech, 4, NOON, 10);
	done(removal, (struct edit){ .project = speech, .at = NOON + 84 * HOUR });
	ck_assert_int_eq(charged(lab, NOON + 84 * HOUR), 40 * GPU_H);
	ck_assert_double_eq(ENTITLED(vision, NOON + WEEK), 336 + 672);
	ck_assert_int_eq(charged(lab, NOON + WEEK + 10 * HOUR), 0);
}
END_TEST

/* The window is a setting. */
START_TEST(a_longer_window_has_the_projects_that_were_removed_in_it)
{
	use(speech, 4, NOON, 10);
	done(removal, (struct edit){ .project = speech, .at = NOON + 24 * HOUR });
	window_s = 12 * HOUR;
	ck_assert_int_eq(charged(lab, NOON + 48 * HOUR), 0);
	window_s = WEEK;
	ck_assert_int_eq(charged(lab, NOON + 49 * HOUR), 40 * GPU_H);
}
END_TEST

/* --- GPUs --------------------------------------------------------------------------------------- */

START_TEST(nodes_that_are_down_shrink_everybody_alike)
{
	healthy_from(NOON - WEEK, 16);
	healthy_from(NOON, 4);
	healthy_from(NOON + 42 * HOUR, 0);
	healthy_from(NOON + 84 * HOUR, 16);
	/* half a week of 16, a quarter of 4, a quarter of none */
	ck_assert_double_eq(ENTITLED(vision, NOON + 84 * HOUR), 336 + 42);
	ck_assert_double_eq(ENTITLED(speech, NOON + 84 * HOUR), 336 + 42);
	ck_assert_double_eq(ENTITLED(far, NOON + 84 * HOUR), 672 + 84);
	ck_assert_double_eq(ENTITLED(far, NOON + WEEK), 84 + 672);
}
END_TEST

/* Nobody looks while budgetd is away: what it saw last lasts until it looks again, and is not asked for what
 * Slurm has now. */
START_TEST(what_was_seen_last_lasts_until_somebody_looks)
{
	static const struct gpu_count less = { .total = 4, .ntypes = 1, .types = { { "", 4 } } };

	healthy_from(NOON, 16);
	ck_assert_double_eq((double)entitled_by(vision, NOON + WEEK, &less) / GPU_H, 672);
	healthy_from(NOON + WEEK, 4);
	ck_assert_double_eq((double)entitled_by(vision, NOON + WEEK + 84 * HOUR, &less) / GPU_H, 336 + 84);
	ck_assert_double_eq((double)entitled_by(vision, NOON + WEEK + 84 * HOUR, NULL) / GPU_H, 336 + 84);
}
END_TEST

START_TEST(what_was_seen_first_was_so_before)
{
	healthy_from(NOON, 8);
	ck_assert_double_eq((double)entitled_by(vision, NOON, NULL) / GPU_H, 336);
}
END_TEST

/* --- both --------------------------------------------------------------------------------------- */

static int64_t any_of(unsigned *seed, int64_t n)
{
	return rand_r(seed) % n;
}

/* When it is over. */
static int64_t anything(unsigned *seed, int64_t now)
{
	const int64_t leaves[] = { vision, speech, far };
	int64_t hours = 0;

	switch (any_of(seed, 5)) {
	case 0:
		weigh(leaves[any_of(seed, 3)], any_of(seed, 4), now);
		break;
	case 1:
		healthy_from(now, any_of(seed, 17));
		break;
	case 2:
		move(speech, any_of(seed, 2) ? lab : far, now);
		break;
	default:
		hours = 1 + any_of(seed, 40);
		use(leaves[any_of(seed, 3)], 1 + any_of(seed, 4), now, hours);
	}
	return now + hours * HOUR;
}

/* rank_by compares them. */
START_TEST(what_is_kept_is_what_is_read_anew)
{
	unsigned seed = (unsigned)_i;
	int64_t now = NOON;

	for (int step = 0; step < 25; step++) {
		now = anything(&seed, now) + any_of(&seed, 20) * HOUR + any_of(&seed, 3) * 1000;
		ranking_free(rank_by(now, &healthy));
	}
}
END_TEST

Suite *ranking_past_suite(void)
{
	Suite *s = suite_create("ranking_past");
	TCase *t = tcase_create("past");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_weight_counts_from_when_it_is_set);
	tcase_add_test(t, an_hour_of_another_weight_is_an_hour_of_it);
	tcase_add_test(t, an_edit_leaves_the_ratio_of_the_moment_as_it_was);
	tcase_add_test(t, an_edit_leaves_what_was_owed_as_it_was);
	tcase_add_test(t, a_new_project_has_no_claim_on_the_past);
	tcase_add_test(t, what_was_imported_makes_its_projects_as_old_as_it_is);
	tcase_add_test(t, a_project_that_moves_takes_its_past_along);
	tcase_add_test(t, what_a_removed_project_used_stays_with_those_above_it);
	tcase_add_test(t, a_longer_window_has_the_projects_that_were_removed_in_it);
	tcase_add_test(t, nodes_that_are_down_shrink_everybody_alike);
	tcase_add_test(t, what_was_seen_last_lasts_until_somebody_looks);
	tcase_add_test(t, what_was_seen_first_was_so_before);
	tcase_add_loop_test(t, what_is_kept_is_what_is_read_anew, 0, 8);
	suite_add_tcase(s, t);
	return s;
}
