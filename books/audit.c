/* SPDX-License-Identifier: GPL-2.0-or-later
 * audit.c - the checks (audit.h) */
#include "books/audit.h"
#include "books/chain.h"
#include "books/schema.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* --- functions ---------------------------------------------------------------------------------- */

static int cannot(sqlite3 *db, struct fault *wrong)
{
	return fault_errno(wrong, EBADMSG, "it could not be checked: %s", sqlite3_errmsg(db));
}

/* The first row of `st` is what is wrong. */
static int first_row(sqlite3 *db, sqlite3_stmt *st, struct fault *wrong)
{
	int rc = sqlite3_step(st);

	if (rc == SQLITE_DONE)
		return 0;
	if (rc != SQLITE_ROW)
		return cannot(db, wrong);
	fault_set(wrong, "%s", sqlite3_column_text(st, 0) ? (const char *)sqlite3_column_text(st, 0)
		: "a number is missing");
	return 1;
}

static int first_row_of(sqlite3 *db, const char *sql, struct fault *wrong)
{
	sqlite3_stmt *st = NULL;
	int rv = sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK ? first_row(db, st, wrong)
		: cannot(db, wrong);

	sqlite3_finalize(st);
	return rv;
}

/* All that budgetd relies on (tables with their CHECKs, triggers that refuse) is there, as a new database
 * would have it. */
static int look_schema(sqlite3 *db, struct fault *wrong)
{
	return schema_compare(db, &schema_steps, wrong);
}

/* --- the table ---------------------------------------------------------------------------------- */

#define SUMS_DIFFER(column, of_journal) \
	"SELECT printf('allocation %d: its running sum of " column " is %d units, the journal says %d', allocation, " column ", is_)" \
	" FROM (SELECT s.allocation, s." column ", coalesce(j.total, 0) AS is_ FROM allocation_sum s LEFT JOIN (SELECT allocation," \
	" sum(units) AS total FROM (SELECT allocation, " of_journal ") GROUP BY allocation) j USING (allocation))" \
	" WHERE " column " <> is_ ORDER BY allocation LIMIT 1"

const struct audit_check audit_checks[] = {
	/* without a number: later versions of SQLite than Debian 12's take one there for the name of a table */
	{ "file", "SQLite finds the file whole",
		"SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok' LIMIT 1", NULL },
	{ "schema", "tables, indices and the triggers that refuse changes are those of a new database", NULL,
		look_schema },
	{ "references", "every reference leads somewhere",
		"SELECT printf('%s, row %d: it refers to a row of %s that is missing', \"table\", rowid, parent) FROM pragma_foreign_key_check LIMIT 1",
		NULL },
	{ "chain.links", "every row that is final is as it was written", NULL, chain_check_links },
	{ "chain.head", "the chain ends where it ended when it was last written", NULL, chain_check_head },
	{ "chain.rows", "every row that is final is in the chain", NULL, chain_check_rows },
	{ "import.rows", "imported runs and their parts are as they were written, and belong to their import",
		"SELECT text FROM (SELECT printf('import %d: its runs %d to %d, or their parts, are not what was written', i.id, i.first_run,"
		" i.last_run) AS text FROM import i WHERE i.hash IS NOT import_hash(i.first_run, i.last_run, i.first_charge, i.last_charge)"
		" ORDER BY i.id LIMIT 1)"
		" UNION ALL SELECT * FROM (SELECT printf('run %d: it says that import %d wrote it, which wrote %d to %d', r.id, i.id, i.first_run,"
		" i.last_run) FROM run r JOIN import i ON i.id = r.import WHERE r.id NOT BETWEEN i.first_run AND i.last_run LIMIT 1)"
		" UNION ALL SELECT * FROM (SELECT printf('charge %d: it is imported, run %d is not', c.id, r.id) FROM charge c JOIN run r"
		" ON r.id = c.run LEFT JOIN import i ON i.id = r.import WHERE c.kind = 'imported'"
		" AND (i.id IS NULL OR c.id NOT BETWEEN i.first_charge AND i.last_charge) LIMIT 1) LIMIT 1",
		NULL },
	{ "journal.balance", "a balance is the balance before it and the entry",
		"SELECT printf('journal %d: the balance of allocation %d is %d units, the entries up to it sum to %d', id, allocation, balance, sum)"
		" FROM (SELECT id, allocation, balance, sum(units) OVER (PARTITION BY allocation ORDER BY id) AS sum FROM journal)"
		" WHERE balance <> sum ORDER BY id LIMIT 1", NULL },
	{ "journal.project", "an entry names the project that owns its allocation",
		"SELECT printf('journal %d: it names project %d, allocation %d belongs to project %d', j.id, j.project, a.id, a.project)"
		" FROM journal j JOIN allocation a ON a.id = j.allocation WHERE j.project <> a.project ORDER BY j.id LIMIT 1",
		NULL },
	{ "sums.missing", "every allocation has its running sums",
		"SELECT printf('allocation %d: it has no running sums', id) FROM allocation"
		" WHERE id NOT IN (SELECT allocation FROM allocation_sum) ORDER BY id LIMIT 1", NULL },
	{ "sums.amount", "the amount of an allocation is its journal without the charges",
		SUMS_DIFFER("amount", "units FROM journal WHERE kind <> 'charge'"), NULL },
	{ "sums.charged", "what was charged to an allocation is the charges of its journal",
		SUMS_DIFFER("charged", "-units AS units FROM journal WHERE kind = 'charge'"), NULL },
	{ "sums.held", "what an allocation holds is the sum of the draws on it",
		"SELECT printf('allocation %d: its running sum of held is %d units, the draws on it sum to %d', allocation, held, is_)"
		" FROM (SELECT s.allocation, s.held, coalesce(d.total, 0) AS is_ FROM allocation_sum s LEFT JOIN (SELECT allocation,"
		" sum(units) AS total FROM hold_draw GROUP BY allocation) d USING (allocation)) WHERE held <> is_ ORDER BY allocation LIMIT 1",
		NULL },
	{ "sums.users",
		"what a user has of an allocation is what was charged, less refunds, and what is held for that user's jobs",
		"SELECT printf('allocation %d: user %d has %d units charged and %d held, journal and draws say %d and %d', allocation, uid,"
		" charged, held, charged_, held_) FROM (SELECT allocation, uid, sum(charged) AS charged, sum(held) AS held, sum(c) AS charged_,"
		" sum(h) AS held_ FROM (SELECT allocation, uid, charged, held, 0 AS c, 0 AS h FROM user_sum UNION ALL"
		" SELECT j.allocation, r.uid, 0, 0, max(0, -sum(j.units)), 0 FROM journal j JOIN charge c ON c.id = j.charge JOIN run r"
		"  ON r.id = c.run WHERE j.kind IN ('charge', 'refund') GROUP BY j.charge, j.allocation UNION ALL"
		" SELECT d.allocation, a.uid, 0, 0, 0, d.units FROM hold_draw d JOIN hold h ON h.id = d.hold JOIN admission a ON a.id = h.admission)"
		" GROUP BY allocation, uid) WHERE charged <> charged_ OR held <> held_ ORDER BY allocation, uid LIMIT 1",
		NULL },
	{ "change.last", "settings and terms are what they were last changed to",
		"SELECT printf('change %d: %s%s%s is %s, it was last changed to %s', id, what, iif(user IS NULL, '', ' of '), coalesce(user, ''),"
		" coalesce(is_, 'none'), coalesce(became, 'none')) FROM (SELECT c.*, CAST(CASE c.what"
		" WHEN 'project' THEN iif(p.removed_at IS NULL, 'there', NULL) WHEN 'share' THEN p.share WHEN 'credit_units' THEN p.credit WHEN 'unmetered' THEN iif(p.unmetered, 'yes', NULL)"
		" WHEN 'user_shares' THEN CASE p.user_shares WHEN 1 THEN 'yes' WHEN 0 THEN 'no' END"
		" WHEN 'user_share' THEN (SELECT x.share FROM user_share x WHERE x.project = p.id AND x.user = c.user)"
		" WHEN 'on_exhausted' THEN p.on_exhausted WHEN 'parent' THEN (SELECT u.name FROM project u WHERE u.id = p.parent)"
		" WHEN 'role' THEN (SELECT m.role FROM member m WHERE m.project = p.id AND m.user = c.user)"
		" WHEN 'cap_units' THEN (SELECT k.units FROM cap k WHERE k.project = p.id AND k.user = c.user)"
		" WHEN 'starts' THEN a.starts WHEN 'ends' THEN a.ends WHEN 'carry_over_percent' THEN a.carry_over"
		" WHEN 'vests' THEN iif(a.vests, 'yes', 'no') WHEN 'burst_units' THEN a.burst WHEN 'comment' THEN a.comment"
		" ELSE iif(c.what NOT LIKE 'slot %', c.became, (SELECT printf('%s %02d:%02d for%s%s up to %d %%',"
		" substr('montuewedthufrisatsun', s.starts / 86400 * 3 + 1, 3), s.starts % 86400 / 3600, s.starts % 3600 / 60,"
		" iif(s.length < 3600, '', printf(' %d h', s.length / 3600)), iif(s.length % 3600 = 0, '', printf(' %d min', s.length % 3600 / 60)),"
		" s.percent) FROM slot s WHERE s.id = CAST(substr(c.what, 6) AS INTEGER) AND s.removed_at IS NULL)) END"
		" AS TEXT) AS is_ FROM change c JOIN project p ON p.id = c.project LEFT JOIN allocation a ON a.id = c.allocation"
		" WHERE c.id IN (SELECT max(id) FROM change GROUP BY project, allocation, what, user))"
		" WHERE is_ IS NOT became ORDER BY id LIMIT 1", NULL },
	{ "change.missing", "a setting or term that is not a new project's, or allocation's, was set by a change",
		/* Of what was added with its history; the stories of tests add projects without one. */
		"WITH is_(project, allocation, what, user, value) AS ("
		" SELECT id, NULL, 'unmetered', NULL, 'yes' FROM project WHERE unmetered"
		" UNION ALL SELECT id, NULL, 'user_shares', NULL, iif(user_shares, 'yes', 'no') FROM project WHERE user_shares IS NOT NULL"
		" UNION ALL SELECT id, NULL, 'on_exhausted', NULL, on_exhausted FROM project WHERE on_exhausted IS NOT NULL"
		" UNION ALL SELECT p.id, NULL, 'parent', NULL, u.name FROM project p JOIN project u ON u.id = p.parent"
		" UNION ALL SELECT project, NULL, 'role', user, role FROM member"
		" UNION ALL SELECT project, NULL, 'cap_units', user, units FROM cap"
		" UNION ALL SELECT project, NULL, 'user_share', user, share FROM user_share"
		" UNION ALL SELECT project, NULL, 'slot ' || id, NULL, 'there' FROM slot WHERE removed_at IS NULL"
		" UNION ALL SELECT project, id, 'ends', NULL, ends FROM allocation WHERE ends IS NOT NULL)"
		"SELECT printf('%s: %s%s%s is %s, and no change says who set it', iif(allocation IS NULL, 'project ' || p.name,"
		" 'allocation ' || allocation), what, iif(user IS NULL, '', ' of '), coalesce(user, ''), value)"
		" FROM is_ x JOIN project p ON p.id = x.project WHERE EXISTS (SELECT 1 FROM change c WHERE c.project = x.project"
		" AND c.allocation IS x.allocation AND iif(x.allocation IS NULL, c.what = 'project' AND c.became IS NOT NULL, c.what = 'starts'))"
		" AND NOT EXISTS (SELECT 1 FROM change c WHERE c.project = x.project AND c.allocation IS x.allocation AND c.what = x.what"
		" AND c.user IS x.user) ORDER BY p.id, allocation, what, user LIMIT 1", NULL },
	{ "hold.draws", "an open hold draws on its project what it holds; on no project more",
		/* A project that got its first allocation after the job was admitted is drawn on for what was
		 * added from then on; one that is unmetered, or was since then, for what was added before and
		 * after. */
		"WITH first(project, at) AS (SELECT project, min(created_at) FROM allocation GROUP BY project),"
		" drawn(hold, project, units) AS (SELECT d.hold, a.project, sum(d.units) FROM hold_draw d JOIN allocation a ON a.id = d.allocation"
		"  GROUP BY d.hold, a.project),"
		" at_(hold, project) AS (SELECT id, project FROM hold WHERE closed_at IS NULL UNION SELECT hold, project FROM drawn)"
		"SELECT printf('hold %d: it holds %d units and draws %d on %s', h.id, h.units, coalesce(d.units, 0), p.name) FROM at_ x"
		" JOIN hold h ON h.id = x.hold JOIN admission s ON s.id = h.admission JOIN project p ON p.id = x.project"
		" JOIN first f ON f.project = x.project LEFT JOIN drawn d ON d.hold = x.hold AND d.project = x.project"
		" WHERE h.closed_at IS NULL AND coalesce(d.units, 0) <> h.units AND (d.units > h.units OR (f.at < s.at AND p.unmetered = 0"
		" AND NOT EXISTS (SELECT 1 FROM change c WHERE c.project = x.project AND c.what = 'unmetered' AND c.at >= s.at)))"
		" ORDER BY h.id LIMIT 1", NULL },
	{ "hold.closed", "a closed hold draws on nothing",
		"SELECT printf('hold %d: it is closed and draws %d units on allocation %d', h.id, d.units, d.allocation) FROM hold_draw d"
		" JOIN hold h ON h.id = d.hold WHERE h.closed_at IS NOT NULL ORDER BY h.id LIMIT 1", NULL },
	{ "hold.run", "a hold of a run is for that run's one task, and the only one; an ended run has none",
		"SELECT printf('hold %d: %s', h.id, CASE WHEN r.ended IS NOT NULL THEN printf('run %d has ended', r.id)"
		" WHEN h.tasks <> 1 THEN printf('run %d is one task, not %d', r.id, h.tasks)"
		" WHEN r.admission <> h.admission THEN printf('run %d is of admission %d, not %d', r.id, r.admission, h.admission)"
		" ELSE printf('hold %d is for run %d, too', o.id, r.id) END) FROM hold h JOIN run r ON r.id = h.run"
		" LEFT JOIN hold o ON o.run = h.run AND o.closed_at IS NULL AND o.id < h.id WHERE h.closed_at IS NULL"
		" AND (r.ended IS NOT NULL OR h.tasks <> 1 OR r.admission <> h.admission OR o.id IS NOT NULL) ORDER BY h.id LIMIT 1",
		NULL },
	{ "hold.pool",
		"the tasks of a job that wait have one hold, of the project that they were admitted to",
		"SELECT printf('hold %d: %s', h.id, CASE WHEN h.project <> a.project THEN printf('it is of project %d, admission %d of project %d',"
		" h.project, a.id, a.project) WHEN h.tasks > a.tasks THEN printf('it is for %d tasks, admission %d has %d', h.tasks, a.id, a.tasks)"
		" ELSE printf('hold %d is for admission %d, too', o.id, a.id) END) FROM hold h JOIN admission a ON a.id = h.admission"
		" LEFT JOIN hold o ON o.admission = h.admission AND o.closed_at IS NULL AND o.run IS NULL AND o.id < h.id"
		" WHERE h.closed_at IS NULL AND h.run IS NULL AND (h.project <> a.project OR h.tasks > a.tasks OR o.id IS NOT NULL)"
		" ORDER BY h.id LIMIT 1", NULL },
	{ "project.overdrawn", "charges and holds stay within deposits and credit",
		"SELECT printf('project %s: %d units are charged and held, its allocations have %d and its credit is %d', name, used, amount, credit)"
		" FROM (SELECT p.name, p.credit, p.id, sum(s.amount) AS amount, sum(s.charged + s.held) AS used FROM allocation a"
		" JOIN allocation_sum s ON s.allocation = a.id JOIN project p ON p.id = a.project GROUP BY p.id)"
		" WHERE used > amount + credit ORDER BY id LIMIT 1", NULL },
	{ "charge.paid", "the project pays a charge, whole, and those above it no more than that",
		/* A project that had no allocation when the job was admitted pays for what was added to its
		 * hold since (a task of an array has its share of a hold that is older than its own), one
		 * that was unmetered for a while for what was added when it was not. */
		"SELECT printf('charge %d: it is %d units, project %d paid %d', id, units, payer, paid) FROM (SELECT c.id, c.units,"
		" j.project AS payer, -sum(j.units) AS paid, j.project = c.project AND (EXISTS (SELECT 1 FROM hold h JOIN admission s"
		" ON s.id = h.admission JOIN allocation a ON a.project = c.project AND a.created_at < s.at WHERE h.run = c.run)"
		" OR EXISTS (SELECT 1 FROM run r WHERE r.id = c.run AND r.import IS NOT NULL)) AS whole"
		" FROM journal j JOIN charge c ON c.id = j.charge WHERE j.kind = 'charge' GROUP BY c.id, j.project)"
		" WHERE paid > units OR (whole AND paid <> units AND NOT EXISTS"
		" (SELECT 1 FROM change k WHERE k.project = payer AND k.what = 'unmetered')) ORDER BY id LIMIT 1",
			NULL },
	{ "charge.price", "a funded or imported part costs its seconds",
		"SELECT printf('charge %d: %d seconds at %d units a second cost %d', id, part_end - part_start, price, units)"
		" FROM charge WHERE units <> CASE WHEN kind IN ('funded', 'imported') THEN (part_end - part_start) * price ELSE 0 END"
		/* A run has the price of its last size. When that change came with its end no part has it. */
		" UNION ALL SELECT printf('charge %d: it is at %d units a second, run %d at %d', c.id, c.price, r.id, r.price) FROM charge c"
		" JOIN run r ON r.id = c.run WHERE r.ended IS NOT NULL AND c.gpus = r.gpus AND c.price <> r.price"
		" AND NOT EXISTS (SELECT 1 FROM charge WHERE run = r.id AND price = r.price) LIMIT 1", NULL },
	{ "charge.tres", "a part of a run that goes on says what was allocated",
		"SELECT printf('charge %d: run %d goes on, and what was allocated in the part is not told', c.id, r.id)"
		" FROM run r JOIN charge c ON c.run = r.id WHERE r.ended IS NULL AND c.tres IS NULL ORDER BY c.id LIMIT 1",
		NULL },
	{ "charge.uncounted", "no more of a charge is left out of the ratio than it is",
		"SELECT printf('charge %d: it is %d units and %d of them do not count', c.id, c.units, sum(u.units)) FROM uncounted u"
		" JOIN charge c ON c.id = u.charge GROUP BY c.id HAVING sum(u.units) > c.units ORDER BY c.id LIMIT 1",
		NULL },
	{ "run.parts", "the parts of a run begin with it, follow each other without a gap, and end with it",
		"SELECT printf('charge %d: part %d of run %d begins at %d, not at %d', id, seq, run, part_start, due) FROM (SELECT c.id, c.seq,"
		" c.run, c.part_start, coalesce(lag(c.part_end) OVER (PARTITION BY c.run ORDER BY c.seq), r.start) AS due FROM charge c"
		" JOIN run r ON r.id = c.run) WHERE part_start <> due ORDER BY id LIMIT 1", NULL },
	{ "run.months", "no part of a run is of two months",
		"SELECT printf('charge %d: part %d of run %d is of %s and of %s', id, seq, run, of, until) FROM (SELECT id, seq, run,"
		" strftime('%Y-%m', part_start, 'unixepoch') AS of, strftime('%Y-%m', part_end - 1, 'unixepoch') AS until FROM charge"
		" WHERE part_end > part_start) WHERE of <> until ORDER BY id LIMIT 1", NULL },
	{ "run.charged", "a run that ended is charged up to its end",
		/* A correction may have added time to it, none takes some away: that is refunded. */
		"SELECT printf('run %d: it ended at %d and is charged up to %d', id, ended, upto) FROM (SELECT r.id, max(r.ended,"
		" coalesce((SELECT max(ended) FROM correction WHERE run = r.id), 0)) AS ended, coalesce("
		" (SELECT max(part_end) FROM charge WHERE run = r.id), r.start) AS upto FROM run r WHERE r.ended IS NOT NULL)"
		" WHERE ended <> upto ORDER BY id LIMIT 1", NULL },
	{ "period.frozen", "nothing was written into a month after it was closed",
#define WRITTEN_LATER(table, dated, last) \
	"SELECT * FROM (SELECT printf('" table " %d: it is dated %s, in a month that was closed before it was written', id," \
	" strftime('%Y-%m-%dT%H:%M:%SZ', " dated ", 'unixepoch')) AS text FROM " table " x" \
	" WHERE " dated " < (SELECT ends FROM period WHERE " last " < x.id ORDER BY id DESC LIMIT 1) ORDER BY id LIMIT 1)"
		WRITTEN_LATER("journal", "at", "entries") " UNION ALL " WRITTEN_LATER("charge", "coalesce(dated, at)", "charges")
		" LIMIT 1", NULL },
	{ "period.months", "closed months follow each other, each from the first of a month to the next",
		"SELECT printf('period %d: it is from %s to %s', id, date(starts, 'unixepoch'), date(ends, 'unixepoch')) FROM period p"
		" WHERE date(starts, 'unixepoch') <> printf('%04d-%02d-01', id / 12, id % 12 + 1) OR starts % 86400 <> 0"
		" OR date(ends, 'unixepoch') <> printf('%04d-%02d-01', (id + 1) / 12, (id + 1) % 12 + 1) OR ends % 86400 <> 0"
		" OR (id > (SELECT min(id) FROM period) AND NOT EXISTS (SELECT 1 FROM period WHERE id = p.id - 1)) ORDER BY id LIMIT 1",
		NULL },
	{ "event.displaced", "a run that was displaced is an event",
		"SELECT printf('run %d: it ended PREEMPTED and no event says why', r.id) FROM run r WHERE r.state = 'PREEMPTED' AND r.import IS NULL"
		" AND NOT EXISTS (SELECT 1 FROM event e WHERE e.run = r.id AND e.what = 'displaced') ORDER BY r.id LIMIT 1",
		NULL },
	{ "event.minimum",
		"no run is told inside its minimum runtime to give way to a project that is further below its share",
		"SELECT printf('event %d: run %d was told to go after %d s, its minimum runtime is %d s', e.id, r.id, e.at - r.start, r.min_runtime)"
		" FROM event e JOIN run r ON r.id = e.run WHERE e.what = 'told' AND e.reason = 'ROTATED' AND e.at - r.start < r.min_runtime"
		" ORDER BY e.id LIMIT 1", NULL },
};

const size_t audit_check_count = sizeof(audit_checks) / sizeof(audit_checks[0]);

/* --- making them -------------------------------------------------------------------------------- */

int audit_prepare(sqlite3 *db, struct fault *why)
{
	return chain_function(db, why);
}

int audit_make(sqlite3 *db, const struct audit_check *c, struct fault *wrong)
{
	return c->look ? c->look(db, wrong) : first_row_of(db, c->sql, wrong);
}

static int check_schema(sqlite3 *db, const char *path, struct fault *why)
{
	int version = schema_of(db, path, &schema_steps, why);

	if (version >= 0 && (size_t)version != schema_steps.count)
		return fault_errno(why, EPROTO,
			"%s has schema %d and this version checks schema %zu: budgetd brings it forward as it starts",
			path, version, schema_steps.count);
	return version < 0 ? -1 : 0;
}

int audit_open(const char *path, sqlite3 **out, struct fault *why)
{
	sqlite3 *db = NULL;
	int rv = -1;

	if (access(path, R_OK) < 0)
		return fault_set(why, "%s cannot be read: %s", path, strerror(errno));
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		fault_errno(why, EIO, "%s cannot be opened: %s", path,
			db ? sqlite3_errmsg(db) : "out of memory");
	else if (sqlite3_busy_timeout(db, 5000) == SQLITE_OK && check_schema(db, path, why) == 0 &&
		audit_prepare(db, why) == 0) {
		/* BEGIN reads nothing yet; the first row does. */
		rv = sqlite3_exec(db, "BEGIN; SELECT links FROM chain_head", NULL, NULL, NULL) == SQLITE_OK
			? 0 : cannot(db, why);
	}
	if (rv == 0)
		*out = db;
	else
		audit_close(db);
	return rv;
}

void audit_close(sqlite3 *db)
{
	int saved = errno;

	sqlite3_close(db);
	errno = saved;
}

int audit_copy(const char *path, const char *of, struct fault *why)
{
	struct fault wrong = {0};
	sqlite3 *db;
	int rv = 0;

	if (audit_open(path, &db, why) < 0)
		return -1;
	for (size_t i = 0; rv == 0 && i < audit_check_count; i++)
		if (audit_make(db, &audit_checks[i], &wrong) != 0)
			rv = fault_errno(why, EBADMSG, "%s is not sound (%s): %s", of, audit_checks[i].id,
				wrong.text);
	audit_close(db);
	return rv;
}

int audit_file(const char *path, struct fault *why)
{
	return audit_copy(path, path, why);
}
