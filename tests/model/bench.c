/* SPDX-License-Identifier: GPL-2.0-or-later
 * bench.c - budgetd on the bench (bench.h): its parts, its file, its end. */
#include "tests/model/bench_file.h"
#include "books/audit.h"
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_sql.h"
#include "budgetd/log.h"
#include "budgetd/people.h"
#include "budgetd/ranking.h"
#include "budgetd/rates.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *log_file; /* budgetd has one log */

void bench_log_to(FILE *to)
{
	log_file = to;
}

#define LOG(name)                                                                                            \
	void name(const char *fmt, ...)                                                                      \
	{                                                                                                    \
		va_list ap;                                                                                  \
                                                                                                             \
		if (!log_file)                                                                               \
			return;                                                                              \
		va_start(ap, fmt);                                                                           \
		fputs("             budgetd: ", log_file);                                                   \
		vfprintf(log_file, fmt, ap);                                                                 \
		fputc('\n', log_file);                                                                       \
		va_end(ap);                                                                                  \
	}
LOG(log_error)
LOG(log_warning)
LOG(log_info)

/* --- starting and stopping ---------------------------------------------------------------------- */

/* The parts of budgetd, over books that are open. */
static void start(struct bench *b)
{
	b->d.settings = b->settings;
	b->d.cluster = cluster_state_new();
	b->d.people = people_new("", &b->why);
	b->d.rates = rates_new();
	bench_must(b->d.cluster && b->d.people && b->d.rates, b, "starting");
	b->loop = controller_new(&b->d, &b->why);
	bench_must(b->loop && ledger_begin(b->d.ledger, LEDGER_READ, &b->why) == 0 &&
			rates_read(b->d.rates, b->d.ledger, &b->why) == 0,
		b, "starting");
	ledger_rollback(b->d.ledger);
}

static void stop(struct bench *b)
{
	controller_free(b->loop);
	rates_free(b->d.rates);
	people_free(b->d.people);
	cluster_state_free(b->d.cluster);
}

void bench_open(struct bench *b)
{
	*b = (struct bench){0};
	b->settings = settings_defaults();
	bench_must(b->settings != NULL, b, "settings");
	b->settings->pass_interval_s = 60;
	b->settings->unbound_hold_s = 300;
	/* the oracle is told the ranks of projects, and knows no other order */
	b->settings->lane.gpus = 0;
	bench_folder_make(b);
	bench_file_make(b, NULL);
	bench_file_open(b);
}

void bench_close(struct bench *b)
{
	bench_file_close(b);
	bench_file_remove(b, b->path);
	bench_folder_remove(b);
	settings_free(b->settings);
}

void bench_begin(struct bench *b, struct slurm_link *world, bool thorough)
{
	b->d = (struct budgetd){.slurm = world, .ledger = b->d.ledger, .snapshot = b->d.snapshot};
	b->thorough = thorough;
	bench_file_wipe(b);
	start(b);
}

void bench_end(struct bench *b)
{
	stop(b);
}

void bench_restart(struct bench *b)
{
	stop(b);
	if (b->thorough) {
		bench_file_close(b);
		bench_file_open(b);
	}
	start(b);
}

/* What a kill leaves of a decision that is not written: nothing. Here by ROLLBACK, and the COMMIT that is due
 * finds an empty transaction: one that fails would make the ledger careful, which a new budgetd is not. */
static void forget_decision(struct bench *b)
{
	static const char rollback_sql[] = "ROLLBACK", begin_sql[] = "BEGIN";

	if (!b->unwritten)
		return;
	bench_must(sql_do(b->d.ledger, rollback_sql, &b->why, "") == 0 &&
			sql_do(b->d.ledger, begin_sql, &b->why, "") == 0 && ledger_write(b->d.ledger, &b->why) == 0,
		b, "forgetting a decision");
	b->unwritten = false;
}

/* The file and its WAL as they lie there are where the next budgetd begins. */
static void go_on_in_copy(struct bench *b)
{
	struct bench old = *b;

	bench_file_make(b, old.path);
	stop(&old); /* what that one still writes, nobody reads */
	bench_file_close(&old);
	bench_file_remove(b, old.path);
	b->unwritten = false;
	bench_file_open(b);
	start(b);
}

void bench_kill(struct bench *b)
{
	if (b->thorough) {
		go_on_in_copy(b);
		return;
	}
	forget_decision(b);
	bench_restart(b);
}

/* --- asking ------------------------------------------------------------------------------------- */

struct verdict bench_ask(struct bench *b, int64_t now, const struct question *q)
{
	struct verdict v;

	bench_must(admit(&b->d, q, "{}", 0, now, &v, &b->why) == 0, b, "a verdict");
	b->unwritten = true;
	return v;
}

void bench_write(struct bench *b)
{
	bench_must(ledger_write(b->d.ledger, &b->why) == 0, b, "writing a verdict");
	b->unwritten = false;
}

bool bench_change_job(struct bench *b, int64_t now, const struct question *q, int job)
{
	struct admission_row a;
	struct verdict v;

	bench_must(ledger_begin(b->d.ledger, LEDGER_HOLDS, &b->why) == 0 &&
			admission_by_job(b->d.ledger, W_FIRST_JOB + job, &a, &b->why) == 1 &&
			admit_change(&b->d, q, NULL, &a, now, &v, &b->why) == 0,
		b, "a change");
	if (v.accepted) {
		bench_must(ledger_commit(b->d.ledger, &b->why) == 0, b, "writing a change");
		return true;
	}
	ledger_rollback(b->d.ledger);
	fault_set(&b->why, "%s", v.text);
	return false;
}

void bench_ranks(struct bench *b, int64_t now, int nprojects, int64_t out[O_NODES])
{
	struct cluster_view *c = NULL;
	struct ranking *r = NULL;

	bench_must(slurm_link_cluster(b->d.slurm, &c, &b->why) == 0 &&
		ledger_begin(b->d.ledger, LEDGER_READ, &b->why) == 0 && ranking_new(b->d.ledger,
		b->settings->window_s, b->d.rates, &c->healthy, now, &r, &b->why) == 0, b, "ranks");
	ledger_rollback(b->d.ledger);
	cluster_view_free(c);
	for (int i = 0; i < nprojects; i++)
		out[i] = ranking_rank(r, b->projects[i], RANKING_NO_USER);
	ranking_free(r);
}

int bench_pass(struct bench *b, int64_t now)
{
	b->d.slurm->now = now;
	return controller_pass(b->loop, now, &b->why);
}

/* As audit_make does; the statements stay. */
static int check(struct bench *b, size_t i)
{
	int rc;

	if (!b->audits[i])
		return audit_make(b->look, &audit_checks[i], &b->why);
	rc = sqlite3_step(b->audits[i]);
	if (rc != SQLITE_DONE)
		fault_set(&b->why, "%s", rc == SQLITE_ROW ? (const char *)sqlite3_column_text(b->audits[i], 0)
			: sqlite3_errmsg(b->look));
	sqlite3_reset(b->audits[i]);
	return rc == SQLITE_DONE ? 0 : 1;
}

const char *bench_verify(struct bench *b)
{
	for (size_t i = 0; i < audit_check_count; i++) {
		if (strcmp(audit_checks[i].id, "schema") == 0)
			continue; /* of the file and not of a history; it takes as long as all others */
		b->why.text[0] = '\0';
		if (check(b, i) == 0)
			continue;
		snprintf(b->unsound, sizeof(b->unsound), "%s: %s", audit_checks[i].id, b->why.text);
		return b->unsound;
	}
	return NULL;
}
