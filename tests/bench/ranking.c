/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking.c - what ranking costs: PROJECTS projects of USERS users, over books of its own
 *
 *   ranking PROJECTS USERS RUNNING TURNS
 *
 * Every user has a run that ended inside the window, every (USERS / RUNNING)th one that goes on. In turns,
 * medians in microseconds of processor time:
 *   read      all rows that a ranking is made of, once, by plain SELECTs
 *   full      a ranking, from nothing
 *   changed   the ranking of the turn before, renewed after one of a hundred users had a run charged, and one
 *             ended and begun
 *   owed      what all of them were owed, hour by hour: for `budgetctl tree`, not for a pass
 *   divided   full, with all projects divided among their users
 *   divided_changed  changed, likewise
 *   tree      lib/fairshare alone with a node for each user, too
 * and `memory`, the bytes that a ranking keeps; `divided_memory` with all projects divided. */
#include "budgetd/ledger.h"
#include "budgetd/log.h"
#include "budgetd/ranking.h"
#include <malloc.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WINDOW_S (7 * 24 * 3600)
#define TURNS_MAX 101

static const char fill_sql[] =
	"PRAGMA synchronous = OFF; BEGIN;"
	"CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n;"
	"INSERT INTO project (id, name, parent, share, created_at) SELECT i, 'p' || i, iif(i <= 100, NULL, 1 + i %% 100), 1 + i %% 7, 1 FROM n WHERE i <= %d;"
	"INSERT INTO capacity (at, units) VALUES (1, 5000000);"
	"INSERT INTO admission (id, token, at, uid, project, tier, min_runtime, team_rank, gpus, tasks, per_task, insists, request)"
	" SELECT i, i, 1, i, 101 + i %% (%d - 100), 'funded', 3600, 0, 1, 1, 3600000, 0, '{\"time_limit_min\":240}' FROM n;"
	"INSERT INTO run (id, cluster, job, submit, start, label, admission, project, uid, partition, tier, min_runtime, gpus, tres, price, covered_until, ended,"
	" state) SELECT i, 'c', i, unixepoch() - i - 10800, unixepoch() - i - 10800, i, i, 101 + i %% (%d - 100), i, 'gpu', 'funded', 3600, 1, 'gres/gpu=1', 1000,"
	" unixepoch() - i, unixepoch() - i - i * 7919 %% 7200, 'COMPLETED' FROM n;"
	"INSERT INTO charge (run, seq, kind, project, at, part_start, part_end, gpus, price, units)"
	" SELECT id, 0, 'funded', project, ended, start, ended, 1, 1000, 1000 * (ended - start) FROM run;"
	"INSERT INTO hold (admission, project, run, tasks, units, opened_at, closed_at, closed_why)"
	" SELECT admission, project, id, 1, 3600000, start - 3600, ended, 'settled' FROM run ORDER BY start;"
	"INSERT INTO run (cluster, job, submit, start, label, admission, project, uid, partition, tier, min_runtime, gpus, tres, price, covered_until)"
	" SELECT 'c', %d + id, unixepoch() - 60, unixepoch() - 60, id, id, project, uid, 'gpu', 'funded', 3600, 1, 'gres/gpu=1', 1000,"
	" unixepoch() + 3540 FROM admission WHERE id %% %d = 0;"
	"COMMIT; PRAGMA wal_checkpoint(TRUNCATE); ANALYZE";

/* One of a hundred users: the run that went on ends and is charged, another begins. */
static const char change_sql[] =
	"BEGIN; CREATE TEMP TABLE some AS SELECT id FROM run WHERE ended IS NULL ORDER BY id LIMIT %d;"
	"INSERT INTO charge (run, seq, kind, project, at, part_start, part_end, gpus, price, units)"
	" SELECT r.id, 0, 'funded', r.project, unixepoch() + 1, r.start, unixepoch() + 1, 1, 1000, 1000 * (unixepoch() + 1 - r.start)"
	" FROM some s JOIN run r ON r.id = s.id;"
	"INSERT INTO run (cluster, job, submit, start, label, admission, project, uid, partition, tier, min_runtime, gpus, tres, price, covered_until)"
	" SELECT 'c', r.job, r.submit + 1, unixepoch() + 1, r.label, r.admission, r.project, r.uid, 'gpu', 'funded', 3600, 1, 'gres/gpu=1', 1000,"
	" unixepoch() + 3601 FROM some s JOIN run r ON r.id = s.id;"
	"UPDATE run SET ended = unixepoch() + 1, state = 'COMPLETED' WHERE id IN (SELECT id FROM some); DROP TABLE some; COMMIT";

static const char *const read_sql[] = {
	"SELECT id, parent, share, removed_at, name FROM project",
	"SELECT c.id, c.project, c.part_start, c.part_end, c.price, c.kind FROM charge c WHERE c.part_end > unixepoch() - 604800",
	"SELECT r.project, r.tier, r.admission, r.price, r.start, r.min_runtime, r.covered_until FROM run r WHERE r.ended IS NULL",
};

/* In place of budgetd/log.c. */
void log_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "ranking: %s\n", what);
	exit(EXIT_FAILURE);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void tell(const char *name, double *took, int turns)
{
	qsort(took, (size_t)turns, sizeof(*took), by_value);
	printf("%s %.0f\n", name, took[turns / 2]);
}

struct bench {
	char folder[32], path[64];
	sqlite3 *db;			/* who writes */
	struct ledger *reader;
	struct ranking *kept, *divided;
	int projects, users, running;
	struct fault why;
};

static void does(struct bench *b, const char *sql)
{
	must(sqlite3_exec(b->db, sql, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(b->db));
}

static void set_up(struct bench *b)
{
	char sql[4096];

	snprintf(b->folder, sizeof(b->folder), "/tmp/ranking-XXXXXX");
	must(mkdtemp(b->folder) != NULL, "no folder");
	snprintf(b->path, sizeof(b->path), "%s/ledger.db", b->folder);
	must(ledger_create(b->path, &b->why) == 0 && sqlite3_open(b->path, &b->db) == SQLITE_OK, b->why.text);
	snprintf(sql, sizeof(sql), fill_sql, b->users, b->projects, b->projects, b->projects, b->users,
		b->users / b->running);
	does(b, sql);
	must(ledger_open_reader(b->path, &b->reader, &b->why) == 0, b->why.text);
}

static void take_down(struct bench *b)
{
	static const char *const files[] = { "", "-wal", "-shm" };
	char name[80];

	ranking_free(b->kept);
	ranking_free(b->divided);
	ledger_close(b->reader);
	sqlite3_close(b->db);
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", b->path, files[i]);
		unlink(name);
	}
	rmdir(b->folder);
}

/* --- what is measured --------------------------------------------------------------------------- */

static double read_once(struct bench *b)
{
	double begun = now_us();
	int64_t sum = 0;

	for (size_t i = 0; i < sizeof(read_sql) / sizeof(read_sql[0]); i++) {
		sqlite3_stmt *st = NULL;

		must(sqlite3_prepare_v2(b->db, read_sql[i], -1, &st, NULL) == SQLITE_OK,
			sqlite3_errmsg(b->db));
		while (sqlite3_step(st) == SQLITE_ROW)
			for (int c = 0; c < sqlite3_column_count(st); c++)
				sum += sqlite3_column_int64(st, c);
		sqlite3_finalize(st);
	}
	must(sum != 0, "nothing was read");
	return now_us() - begun;
}

static const struct gpu_count gpus = { .total = 5000, .ntypes = 1, .types = { { "", 5000 } } };

static double rank_anew(struct bench *b)
{
	struct ranking *r = NULL;
	double begun = now_us(), took;

	must(ledger_begin(b->reader, LEDGER_READ, &b->why) == 0 &&
		ranking_new(b->reader, WINDOW_S, NULL, &gpus, time(NULL) + 1, &r, &b->why) == 0, b->why.text);
	took = now_us() - begun;
	ledger_rollback(b->reader);
	ranking_free(r);
	return took;
}

static double rank_changed(struct bench *b, struct ranking *kept)
{
	double begun;
	char sql[4096];

	snprintf(sql, sizeof(sql), change_sql, b->users / 100);
	does(b, sql);
	begun = now_us();
	must(ledger_begin(b->reader, LEDGER_READ, &b->why) == 0 &&
		ranking_renew(kept, b->reader, WINDOW_S, NULL, &gpus, time(NULL) + 1, &b->why) == 0,
		b->why.text);
	begun = now_us() - begun;
	ledger_rollback(b->reader);
	return begun;
}

static double owe(struct bench *b)
{
	amount_t *owed = NULL;
	double begun = now_us();

	must(ledger_begin(b->reader, LEDGER_READ, &b->why) == 0 &&
		ranking_owed(b->kept, b->reader, false, &owed, &b->why) == 0, b->why.text);
	begun = now_us() - begun;
	ledger_rollback(b->reader);
	free(owed);
	return begun;
}

static double rank_users(struct bench *b)
{
	size_t count = (size_t)(b->projects + b->users);
	struct fairshare_node *nodes = calloc(count, sizeof(*nodes));
	const struct fairshare_cluster cluster = { 5000000, (int64_t)5000000 * WINDOW_S };
	struct fairshare *f = NULL;
	unsigned seed = 1;
	double begun;

	must(nodes != NULL, "out of memory");
	for (size_t i = 0; i < count; i++) {
		int parent = i < 100 ? FAIRSHARE_NO_PARENT : i < (size_t)b->projects ? (int)(i % 100)
			: 100 + (int)(i % ((size_t)b->projects - 100));

		nodes[i] = (struct fairshare_node){ .parent = parent, .share = 1 + (int64_t)(i % 7),
			.charged = rand_r(&seed), .entitled = FAIRSHARE_BY_SHARE };
	}
	begun = now_us();
	must(fairshare_new(nodes, count, &cluster, &f, &b->why) == 0, b->why.text);
	begun = now_us() - begun;
	fairshare_free(f);
	free(nodes);
	return begun;
}

static void keep_one(struct bench *b, const char *memory, struct ranking **kept)
{
	size_t before = mallinfo2().uordblks;

	must(ledger_begin(b->reader, LEDGER_READ, &b->why) == 0 &&
		ranking_new(b->reader, WINDOW_S, NULL, &gpus, time(NULL) + 1, kept, &b->why) == 0,
		b->why.text);
	ledger_rollback(b->reader);
	printf("%s %zu\n", memory, mallinfo2().uordblks - before);
}

int main(int argc, char **argv)
{
	struct bench b = {0};
	double took[7][TURNS_MAX];
	int turns;

	must(argc == 5, "usage: ranking PROJECTS USERS RUNNING TURNS");
	b.projects = atoi(argv[1]);
	b.users = atoi(argv[2]);
	b.running = atoi(argv[3]);
	turns = atoi(argv[4]);
	must(b.projects > 100 && b.users > b.projects && b.running > 0 && b.running >= b.users / 100 &&
		turns > 0 && turns <= TURNS_MAX, "numbers that make no sense");
	set_up(&b);
	read_once(&b);
	keep_one(&b, "memory", &b.kept);
	for (int i = 0; i < turns; i++) {
		took[0][i] = read_once(&b);
		took[1][i] = rank_anew(&b);
		took[2][i] = rank_changed(&b, b.kept);
		took[3][i] = owe(&b);
		took[4][i] = rank_users(&b);
	}
	does(&b, "UPDATE project SET user_shares = 1");
	keep_one(&b, "divided_memory", &b.divided);
	for (int i = 0; i < turns; i++) {
		took[5][i] = rank_anew(&b);
		took[6][i] = rank_changed(&b, b.divided);
	}
	tell("read", took[0], turns);
	tell("full", took[1], turns);
	tell("changed", took[2], turns);
	tell("owed", took[3], turns);
	tell("tree", took[4], turns);
	tell("divided", took[5], turns);
	tell("divided_changed", took[6], turns);
	take_down(&b);
	return EXIT_SUCCESS;
}
