/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_doctor.c - an installation that is well, and one thing after the other that is not, from a table */
#include "doctor/looks.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <stdlib.h>
#include <string.h>

static struct case_table cases;

enum { WRONG, CHECKS, HEALTH, TEXT, MEND, COLUMNS };

/* Everything that facts point to. */
struct world {
	struct settings settings;
	struct site_conf conf;
	struct site_qos qos[4];
	struct site_association rows[4];
	struct site_accounts accounts;
	struct fact_job jobs[2];
	struct partition_view partitions[2];
	struct fact_project projects[2];
	struct facts facts;
};

static const struct settings well_settings = {.socket = "/run/s",
	.slurm_socket = "/run/p",
	.prometheus = "http://mon:9090",
	.qos_free = "free",
	.qos_funded = "funded",
	.qos_funded_still = "funded-still",
	.default_min_runtime_s = 900,
	.max_min_runtime_s = 8 * 3600,
	.enforce_partitions = "gpu=warn",
	.pass_interval_s = 5};

static const struct site_conf well_conf = {.taken_at = 1000000,
	.cluster = "c",
	.version = "22.05.8",
	.slurm_uid = 64,
	.slurm_user = "slurm",
	.conf_path = "/etc/slurm/slurm.conf",
	.plugin_dir = "/usr/lib/slurm:/opt/slurm",
	.job_submit_plugins = "lua,gpubudget",
	.plugstack = "/etc/slurm/plugstack.conf",
	.preempt_type = "preempt/qos",
	.preempt_mode = "requeue",
	.priority_type = "priority/multifactor",
	.select_type = "select/cons_tres",
	.scheduler_parameters = "bf_continue,bf_min_age_reserve=2592000",
	.auth_type = "auth/munge",
	.auth_info = "cred_expire=30",
	.accounting_type = "accounting_storage/slurmdbd",
	.accounting_tres = "cpu,mem,gres/gpu,gres/gpu:h100",
	.accounting_enforce = "associations,limits,qos",
	.job_requeue = true,
	.min_job_age_s = 300};

static const struct site_qos well_qos[4] = {
	{.name = "normal", .preempt_mode = "cluster", .exempt_s = SITE_UNSET},
	{.name = "free", .preempt_mode = "requeue", .exempt_s = SITE_UNSET},
	{.name = "funded-still", .priority = 1000, .preempt_mode = "requeue", .exempt_s = SITE_UNSET},
	{.name = "funded",
		.priority = 1000,
		.preempt_mode = "requeue,within",
		.preempt = "free",
		.exempt_s = 900},
};

#define TIERS_QOS "normal,free,funded,funded-still"
static const struct site_association well_rows[4] = {
	{ .account = "root", .qos = TIERS_QOS, .default_qos = "free" },
	{ .account = "ai", .parent = "root", .qos = TIERS_QOS, .default_qos = "free" },
	{ .account = "vision", .parent = "ai", .qos = TIERS_QOS, .default_qos = "free" },
	{ .account = "vision", .user = "ada", .qos = TIERS_QOS, .default_qos = "free" },
};

static const struct facts well_facts = { .now = 1000000, .version = "1.0",
	.settings_path = "/etc/slurm-gpubudget/budgetd.conf",
	.submit = { "/usr/lib/slurm/job_submit_gpubudget.so", 0x160508 },
	.spank = { "/usr/lib/slurm/gpubudget.so", 0x160508 }, .plugstack_line = "required gpubudget.so",
	.plugstack_limit_s = 8 * 3600, .budgetd_asked = true, .budgetd_version = "1.0", .budgetd_slurm = "ok",
	.prometheus = "ok", .gpus_used = 16, .gpus_unseen = 2,
	.last_pass_at = 999998, .socket_path = "/run/s", .people = { true, 0666, 0, 41, NULL },
	.slurm = { true, 0600, 64, 41, NULL }, .projects_known = true };

static void world_make(struct world *w)
{
	*w = (struct world){ .settings = well_settings, .conf = well_conf,
		.partitions = { { .name = "gpu", .is_default = true }, { .name = "debug" } },
		.jobs = { { 7, true, "vision", "funded" }, { 8, false, "Vision", "normal" } },
		.projects = { { "ai", NULL, false }, { "vision", "ai", true } }, .facts = well_facts };
	memcpy(w->qos, well_qos, sizeof(w->qos));
	memcpy(w->rows, well_rows, sizeof(w->rows));
	w->accounts = (struct site_accounts){ .qos = w->qos, .qos_count = 4, .rows = w->rows, .count = 4 };
	w->facts.settings = &w->settings;
	w->facts.conf = &w->conf;
	w->facts.accounts = &w->accounts;
	w->facts.jobs = w->jobs;
	w->facts.job_count = 2;
	w->facts.partitions = w->partitions;
	w->facts.partition_count = 2;
	w->facts.projects = w->projects;
	w->facts.project_count = 2;
}

/* --- what a table can set --------------------------------------------------------------------------- */

/* const char * (and any pointer: "-"), int64_t, 32 bits, bool */
enum kind { A_TEXT, A_LONG, AN_INT, A_BOOL };

#define AT(field) offsetof(struct world, field)
#define CONF(field) { #field, A_TEXT, AT(conf.field) }
#define FACT(field) { #field, A_TEXT, AT(facts.field) }
#define QOS(n) \
	{ "qos" #n "_name", A_TEXT, AT(qos[n].name) }, \
	{ "qos" #n "_priority", A_LONG, AT(qos[n].priority) }, \
	{ "qos" #n "_mode", A_TEXT, AT(qos[n].preempt_mode) }, \
	{ "qos" #n "_preempt", A_TEXT, AT(qos[n].preempt) }, \
	{ "qos" #n "_exempt", A_LONG, AT(qos[n].exempt_s) }, \
	{ "qos" #n "_grace", A_LONG, AT(qos[n].grace_s) }
#define ROW(n) \
	{ "row" #n "_account", A_TEXT, AT(rows[n].account) }, \
	{ "row" #n "_qos", A_TEXT, AT(rows[n].qos) }, \
	{ "row" #n "_default", A_TEXT, AT(rows[n].default_qos) }, \
	{ "row" #n "_partition", A_TEXT, AT(rows[n].partition) }
#define JOB(n) { "job" #n "_account", A_TEXT, AT(jobs[n].account) }, { "job" #n "_qos", A_TEXT, AT(jobs[n].qos) }

static const struct {
	const char *name;
	enum kind kind;
	size_t at;
} knobs[] = {
	{ "enforce", AN_INT, AT(settings.enforce) }, { "enforce_partitions", A_TEXT, AT(settings.enforce_partitions) },
	FACT(settings_error), FACT(settings_barred), FACT(munge_error), FACT(conf), FACT(conf_error),
	FACT(accounts), FACT(accounts_error), FACT(plugstack_line), FACT(plugstack_error),
	FACT(budgetd_error), FACT(budgetd_version), FACT(budgetd_slurm), FACT(prometheus), FACT(notices),
	{ "gpus_used", A_LONG, AT(facts.gpus_used) },
	{ "gpus_unseen", A_LONG, AT(facts.gpus_unseen) }, { "now", A_LONG, AT(facts.now) },
	{ "last_pass_at", A_LONG, AT(facts.last_pass_at) },
	{ "plugstack_limit", A_LONG, AT(facts.plugstack_limit_s) },
	{ "second", AN_INT, AT(facts.second) }, { "people_mode", AN_INT, AT(facts.people.mode) },
	{ "people_barred", A_TEXT, AT(facts.people.barred) },
	{ "slurm_mode", AN_INT, AT(facts.slurm.mode) }, { "slurm_owner", AN_INT, AT(facts.slurm.owner) },
	{ "slurm_barred", A_TEXT, AT(facts.slurm.barred) },
	{ "slurm_there", A_BOOL, AT(facts.slurm.there) },
	{ "slurm_listener", AN_INT, AT(facts.slurm.listener) },
	{ "submit_path", A_TEXT, AT(facts.submit.path) },
	{ "submit_version", AN_INT, AT(facts.submit.version) },
	{ "spank_path", A_TEXT, AT(facts.spank.path) },
	{ "spank_version", AN_INT, AT(facts.spank.version) }, CONF(version), CONF(job_submit_plugins),
	CONF(plugstack), CONF(preempt_type), CONF(preempt_mode), CONF(priority_type), CONF(select_type),
	CONF(scheduler_parameters), CONF(auth_info), CONF(accounting_type), CONF(accounting_tres),
	CONF(accounting_enforce), { "job_requeue", A_BOOL, AT(conf.job_requeue) },
	{ "min_job_age", A_LONG, AT(conf.min_job_age_s) }, QOS(0), QOS(1), QOS(2), QOS(3), ROW(0), ROW(1),
	ROW(2), ROW(3), JOB(0), JOB(1), { "project1_name", A_TEXT, AT(projects[1].name) },
};

static void knob_turn(struct world *w, size_t i, const char *value)
{
	char *to = (char *)w + knobs[i].at;
	int32_t number = (int32_t)strtol(value, NULL, 10);

	if (knobs[i].kind == A_TEXT)
		*(const char **)to = strcmp(value, "-") ? value : NULL;
	else if (knobs[i].kind == A_LONG)
		*(int64_t *)to = strtoll(value, NULL, 10);
	else if (knobs[i].kind == AN_INT)
		memcpy(to, &number, sizeof(number));
	else
		*(bool *)to = number;
}

/* `wrong` is taken apart, and kept: the world points into it. */
static void world_break(struct world *w, char *wrong, const struct case_row *row)
{
	for (char *next; wrong; wrong = next) {
		char *equals = strchr(wrong, '=');
		size_t i = 0;

		next = strstr(wrong, "; ");
		if (next) {
			*next = '\0';
			next += 2;
		}
		if (!equals || (next && equals > next))
			cases_die(&cases, row, "\"%s\" is not key=value", wrong);
		*equals = '\0';
		while (i < sizeof(knobs) / sizeof(knobs[0]) && strcmp(knobs[i].name, wrong))
			i++;
		if (i == sizeof(knobs) / sizeof(knobs[0]))
			cases_die(&cases, row, "there is no %s", wrong);
		knob_turn(w, i, equals + 1);
	}
}

/* --- tests ------------------------------------------------------------------------------------------ */

START_TEST(an_installation_that_is_well_passes_every_check)
{
	struct finding f;
	struct world w;

	world_make(&w);
	ck_assert_int_eq(check_make(&check_table[_i], &w.facts, &f), 0);
	ck_assert_msg(f.health == HEALTH_OK, "%s: %s: %s", f.check->id, health_name[f.health], f.text);
	ck_assert_msg(*f.text && !strchr(f.text, '\n'), "%s says what it found, in a line: %s", f.check->id,
		f.text);
	finding_free(&f);
}
END_TEST

static bool is_one_of(const char *words, const char *id)
{
	size_t n = strlen(id);

	for (const char *w = words; w; w = strchr(w, ' ')) {
		w += *w == ' ';
		if (!strncmp(w, id, n) && (!w[n] || w[n] == ' '))
			return true;
	}
	return false;
}

/* "\n" of the table is a newline. */
static void unescape(char *text)
{
	for (char *p; (p = strstr(text, "\\n"));) {
		*p = '\n';
		memmove(p + 1, p + 2, strlen(p + 2) + 1);
	}
}

/* Of several checks the first is compared. */
static void check_first(const struct case_row *row, const struct finding *f)
{
	char *mend = strdup(row->col[MEND]);

	unescape(mend);
	ck_assert_msg(!strcmp(health_name[f->health], row->col[HEALTH]),
		"line %d: %s is %s, the table says %s: %s", row->line, f->check->id, health_name[f->health],
		row->col[HEALTH], f->text);
	ck_assert_msg(strstr(f->text, row->col[TEXT]), "line %d: \"%s\" is not in \"%s\"", row->line,
		row->col[TEXT], f->text);
	ck_assert_msg(!strcmp(f->mend, mend), "line %d: it is mended with \"%s\", the table says \"%s\"",
		row->line, f->mend, mend);
	free(mend);
}

START_TEST(what_is_wrong_is_found_alone_with_the_line_that_mends_it)
{
	const struct case_row *row = &cases.row[_i];
	char *wrong = strdup(row->col[WRONG]);
	size_t n = strcspn(row->col[CHECKS], " ");
	struct world w;
	bool met = false;

	world_make(&w);
	world_break(&w, wrong, row);
	for (size_t i = 0; i < check_count; i++) {
		const char *id = check_table[i].id;
		struct finding f;

		ck_assert_int_eq(check_make(&check_table[i], &w.facts, &f), 0);
		if (strlen(id) == n && !strncmp(id, row->col[CHECKS], n)) {
			check_first(row, &f);
			met = true;
		} else if (!is_one_of(row->col[CHECKS], id)) {
			ck_assert_msg(f.health == HEALTH_OK || f.health == HEALTH_UNKNOWN,
				"line %d: %s is found too: %s", row->line, id, f.text);
		}
		finding_free(&f);
	}
	ck_assert_msg(met, "line %d: there is no check %s", row->line, row->col[CHECKS]);
	free(wrong);
}
END_TEST

START_TEST(the_table_breaks_what_every_check_looks_at)
{
	bool met = false;

	for (int i = 0; i < cases.rows; i++)
		met |= is_one_of(cases.row[i].col[CHECKS], check_table[_i].id);
	ck_assert_msg(met, "%s is in no line of doctor.cases", check_table[_i].id);
}
END_TEST

/* What sacctmgr gets is split at blanks, and each line is one command. */
START_TEST(lines_for_sacctmgr_need_no_quotes)
{
	struct finding f;
	struct world w;

	world_make(&w);
	ck_assert_int_eq(check_make(&check_table[_i], &w.facts, &f), 0);
	if (f.check->place == PLACE_SACCTMGR)
		ck_assert_msg(!strpbrk(f.mend, "'\"\\$`"), "%s: %s", f.check->id, f.mend);
	finding_free(&f);
}
END_TEST

START_TEST(nothing_is_known_of_what_nobody_answers_for)
{
	struct world w;
	size_t bad = 0;

	world_make(&w);
	w.facts.conf = NULL;
	w.facts.accounts = NULL;
	w.facts.projects_known = false;
	w.facts.conf_error = "slurmctld is down";
	w.facts.budgetd_error = "budgetd is down";
	for (size_t i = 0; i < check_count; i++) {
		struct finding f;

		ck_assert_int_eq(check_make(&check_table[i], &w.facts, &f), 0);
		bad += f.health == HEALTH_ERROR || f.health == HEALTH_WARNING;
		finding_free(&f);
	}
	ck_assert_uint_eq(bad, 2);
}
END_TEST

Suite *doctor_suite(void)
{
	Suite *s = suite_create("doctor");
	TCase *t = tcase_create("checks");

	cases = cases_load("doctor.cases", COLUMNS);
	tcase_add_loop_test(t, an_installation_that_is_well_passes_every_check, 0, (int)check_count);
	tcase_add_loop_test(t, what_is_wrong_is_found_alone_with_the_line_that_mends_it, 0, cases.rows);
	tcase_add_loop_test(t, the_table_breaks_what_every_check_looks_at, 0, (int)check_count);
	tcase_add_loop_test(t, lines_for_sacctmgr_need_no_quotes, 0, (int)check_count);
	tcase_add_test(t, nothing_is_known_of_what_nobody_answers_for);
	suite_add_tcase(s, t);
	return s;
}
