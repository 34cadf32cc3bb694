/* SPDX-License-Identifier: GPL-2.0-or-later
 * bench.c - budgetd on the bench (bench.h): its parts, its file, its end. */
#include "tests/model/bench.h"
#include "books/audit.h"
#include "budgetd/cluster_state.h"
#include "budgetd/log.h"
#include "budgetd/people.h"
#include "budgetd/ranking.h"
#include "budgetd/rates.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void must(bool ok, const struct bench *b, const char *doing)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", doing, b->why.text);
	abort();
}

/* --- files -------------------------------------------------------------------------------------- */

/* In memory where the system has such a folder: nothing here tests a disk. */
static const char *tmp_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	if (getenv("MODEL_TMP")) /* who breaks the code on purpose cleans up after it */
		return getenv("MODEL_TMP");
	if (access("/dev/shm", W_OK) == 0)
		return "/dev/shm";
	return tmp && *tmp && strlen(tmp) < 32 ? tmp : "/tmp";
}

static void copy_file(const char *from, const char *to)
{
	static char buffer[1 << 16];
	FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
	size_t n;

	while (out && (n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		if (fwrite(buffer, 1, n, out) != n)
			abort();
	if (out && fclose(out) != 0)
		abort();
	if (in)
		fclose(in);
}

static void name_file(struct bench *b)
{
	snprintf(b->path, sizeof(b->path), "%s/ledger%d.db", b->folder, b->generation);
	free(b->settings->database);
	b->settings->database = strdup(b->path);
	must(b->settings->database != NULL, b, "out of memory");
}

static void remove_files(const struct bench *b)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	char name[128];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", b->path, ends[i]);
		unlink(name);
	}
}

void bench_open(struct bench *b)
{
	char empty[96];

	*b = (struct bench){0};
	snprintf(b->folder, sizeof(b->folder), "%s/model-XXXXXX", tmp_folder());
	must(mkdtemp(b->folder) != NULL, b, b->folder);
	snprintf(empty, sizeof(empty), "%s/empty.db", b->folder);
	must(ledger_create(empty, &b->why) == 0, b, "making a database");
	b->settings = settings_defaults();
	must(b->settings != NULL, b, "settings");
	b->settings->pass_interval_s = 60;
	b->settings->unbound_hold_s = 300;
	b->settings->lane.gpus = 0;		/* the oracle is told the ranks of projects, and knows no other order */
}

void bench_close(struct bench *b)
{
	char empty[96];

	snprintf(empty, sizeof(empty), "%s/empty.db", b->folder);
	unlink(empty);
	rmdir(b->folder);
	settings_free(b->settings);
}

/* --- starting and stopping ---------------------------------------------------------------------- */

static void look_at_file(struct bench *b)
{
	must(sqlite3_open_v2(b->path, &b->look, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
			audit_prepare(b->look, &b->why) == 0,
		b, "a second connection");
	must(sqlite3_prepare_v2(b->look,
		     "SELECT allocation, amount, charged, held FROM allocation_sum ORDER BY allocation", -1,
		     &b->sums, NULL) == SQLITE_OK &&
			sqlite3_prepare_v2(b->look,
				"SELECT coalesce(sum(units), 0) FROM hold WHERE closed_at IS NULL", -1,
				&b->holds, NULL) == SQLITE_OK,
		b, sqlite3_errmsg(b->look));
}

static void start(struct bench *b)
{
	must(ledger_open(b->path, &b->d.ledger, &b->why) == 0, b, "opening the books");
	b->d.settings = b->settings;
	b->d.cluster = cluster_state_new();
	b->d.people = people_new("", &b->why);
	b->d.rates = rates_new();
	must(b->d.cluster && b->d.people && b->d.rates, b, "starting");
	b->loop = controller_new(&b->d, &b->why);
	must(b->loop && ledger_begin(b->d.ledger, LEDGER_READ, &b->why) == 0 &&
			rates_read(b->d.rates, b->d.ledger, &b->why) == 0,
		b, "starting");
	ledger_rollback(b->d.ledger);
	look_at_file(b);
}

static void stop(struct bench *b)
{
	sqlite3_finalize(b->sums);
	sqlite3_finalize(b->holds);
	sqlite3_close(b->look);
	controller_free(b->loop);
	ledger_close(b->d.ledger);
	rates_free(b->d.rates);
	people_free(b->d.people);
	cluster_state_free(b->d.cluster);
}

void bench_begin(struct bench *b, struct slurm_link *world)
{
	char empty[96];

	snprintf(empty, sizeof(empty), "%s/empty.db", b->folder);
	b->d = (struct budgetd){.slurm = world};
	b->generation = 0;
	name_file(b);
	copy_file(empty, b->path);
	start(b);
}

void bench_end(struct bench *b)
{
	stop(b);
	remove_files(b);
}

void bench_restart(struct bench *b)
{
	stop(b);
	start(b);
}

void bench_kill(struct bench *b)
{
	struct bench old = *b;
	char from[128], to[128];

	b->generation++;
	name_file(b);
	copy_file(old.path, b->path);
	snprintf(from, sizeof(from), "%s-wal", old.path);
	snprintf(to, sizeof(to), "%s-wal", b->path);
	copy_file(from, to);
	stop(&old); /* what that one still writes, nobody reads */
	remove_files(&old);
	start(b);
}

/* --- asking ------------------------------------------------------------------------------------- */

struct verdict bench_ask(struct bench *b, int64_t now, const struct question *q)
{
	struct verdict v;

	must(admit(&b->d, q, "{}", 0, now, &v, &b->why) == 0, b, "a verdict");
	return v;
}

void bench_write(struct bench *b)
{
	must(ledger_write(b->d.ledger, &b->why) == 0, b, "writing a verdict");
}

bool bench_change_job(struct bench *b, int64_t now, const struct question *q, int job)
{
	struct admission_row a;
	struct verdict v;

	must(ledger_begin(b->d.ledger, LEDGER_HOLDS, &b->why) == 0 &&
			admission_by_job(b->d.ledger, W_FIRST_JOB + job, &a, &b->why) == 1 &&
			admit_change(&b->d, q, NULL, &a, now, &v, &b->why) == 0,
		b, "a change");
	if (v.accepted) {
		must(ledger_commit(b->d.ledger, &b->why) == 0, b, "writing a change");
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

	must(slurm_link_cluster(b->d.slurm, &c, &b->why) == 0 && ledger_begin(b->d.ledger, LEDGER_READ, &b->why) == 0 &&
			ranking_new(b->d.ledger, b->settings->window_s, b->d.rates, &c->healthy, now, &r, &b->why) == 0,
		b, "ranks");
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

const char *bench_verify(struct bench *b)
{
	for (size_t i = 0; i < audit_check_count; i++) {
		if (strcmp(audit_checks[i].id, "schema") == 0)
			continue; /* of the file and not of a history; it takes as long as all others */
		b->why.text[0] = '\0';
		if (audit_make(b->look, &audit_checks[i], &b->why) == 0)
			continue;
		snprintf(b->unsound, sizeof(b->unsound), "%s: %s", audit_checks[i].id, b->why.text);
		return b->unsound;
	}
	return NULL;
}
