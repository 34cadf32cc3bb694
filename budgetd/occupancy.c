/* SPDX-License-Identifier: GPL-2.0-or-later
 * occupancy.c - what projects used in the window (occupancy.h). */
#include "budgetd/occupancy.h"
#include "budgetd/ledger_sql.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct part {
	int64_t charge, start, end;
	amount_t price;			/* units a second */
	amount_t uncounted;		/* of what was paid */
	uint32_t user;			/* index in users */
	bool paid, imported;
};

/* A user in a project; uid -1: all of the project together. */
struct used {
	int64_t project, uid;
	amount_t paid, unpaid;
};

struct occupancy {
	struct part *parts;		/* by the id of the charge */
	size_t count, room;
	struct used *users;		/* in the order in which they turned up */
	/* where each is found: a hash table of twice as many slots or more; index + 1, 0 = empty */
	uint32_t *slots;
	size_t nusers, nslots;		/* nslots is a power of two, or 0 */
	int64_t from, last_charge, last_uncounted;
	int64_t imported_from;
	bool complete;			/* all of the window was read once */
	bool by_user;
};

struct occupancy *occupancy_new(void)
{
	struct occupancy *o = calloc(1, sizeof(*o));

	if (!o)
		errno = ENOMEM;
	return o;
}

void occupancy_free(struct occupancy *o)
{
	if (!o)
		return;
	free(o->parts);
	free(o->users);
	free(o->slots);
	free(o);
}

int64_t occupancy_imported_from(const struct occupancy *o)
{
	return o->imported_from;
}

/* --- who -------------------------------------------------------------------------------------------- */

/* Its slot, or the empty one where it would be. */
static size_t slot_of(const struct occupancy *o, int64_t project, int64_t uid)
{
	uint64_t hash = ((uint64_t)project * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)uid * UINT64_C(0xc2b2ae3d27d4eb4f));
	size_t at = (size_t)(hash ^ hash >> 29) & (o->nslots - 1);

	while (o->slots[at] &&
		(o->users[o->slots[at] - 1].project != project || o->users[o->slots[at] - 1].uid != uid))
		at = (at + 1) & (o->nslots - 1);
	return at;
}

static int grow(struct occupancy *o)
{
	size_t nslots = o->nslots ? 2 * o->nslots : 128;
	struct used *users = reallocarray(o->users, nslots / 2, sizeof(*users));
	uint32_t *slots;

	if (!users)
		return -1;
	o->users = users;
	slots = calloc(nslots, sizeof(*slots));
	if (!slots)
		return -1;
	free(o->slots);
	o->slots = slots;
	o->nslots = nslots;
	for (size_t i = 0; i < o->nusers; i++)
		o->slots[slot_of(o, o->users[i].project, o->users[i].uid)] = (uint32_t)i + 1;
	return 0;
}

static int index_of(struct occupancy *o, int64_t project, int64_t uid, uint32_t *out)
{
	size_t at;

	if (o->nusers == o->nslots / 2 && grow(o) < 0)
		return -1;
	at = slot_of(o, project, uid);
	if (!o->slots[at]) {
		o->users[o->nusers++] = (struct used){ .project = project, .uid = uid };
		o->slots[at] = (uint32_t)o->nusers;
	}
	*out = o->slots[at] - 1;
	return 0;
}

static void forget_users(struct occupancy *o)
{
	o->nusers = 0;
	if (o->nslots)
		memset(o->slots, 0, o->nslots * sizeof(*o->slots));
}

/* --- reading ------------------------------------------------------------------------------------ */

static int add_part(struct occupancy *o, sqlite3_stmt *st)
{
	struct part p = { .charge = sql_col(st, 0), .start = sql_col(st, 2), .end = sql_col(st, 3),
		.price = sql_col(st, 4), .paid = sql_col(st, 5) != 0, .imported = sql_col(st, 6) != 0 };

	if (o->count == o->room) {
		size_t room = o->room ? o->room * 2 : 256;
		struct part *parts = reallocarray(o->parts, room, sizeof(*parts));

		if (!parts)
			return -1;
		o->parts = parts;
		o->room = room;
	}
	if (index_of(o, sql_col(st, 1), o->by_user ? sql_col(st, 7) : -1, &p.user) < 0)
		return -1;
	o->parts[o->count++] = p;
	return 0;
}

static int read_parts(struct occupancy *o, struct ledger *l, sqlite3_stmt *st, struct fault *why)
{
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		if (add_part(o, st) < 0) {
			sqlite3_reset(st);
			return fault_errno(why, ENOMEM, "out of memory for %zu charges", o->count);
		}
	}
	return rc;
}

static int by_charge(const void *a, const void *b)
{
	int64_t x = ((const struct part *)a)->charge, y = ((const struct part *)b)->charge;

	return (x > y) - (x < y);
}

static void turn_round(struct occupancy *o)
{
	for (size_t i = 0, j = o->count; i + 1 < j; i++, j--) {
		struct part p = o->parts[i];

		o->parts[i] = o->parts[j - 1];
		o->parts[j - 1] = p;
	}
}

#define PART_COLUMNS(uid) \
	"c.id, c.project, c.part_start, c.part_end, c.price, c.kind IN ('funded', 'imported'), c.kind = 'imported', " uid
#define NO_UID "NULL"
#define UID_OF_RUN "(SELECT r.uid FROM run r WHERE r.id = c.run)"
#define CLOCK_MARGIN_S 86400		/* a clock that was put back by less than that leaves nothing out */

/* All of the window, from the newest charge back. What is charged lies behind it, so that one that was made
 * before the window began has nothing in it: neither the years before are looked at nor an index over them,
 * whose rows lie everywhere. */
static int read_all(struct occupancy *o, struct ledger *l, struct fault *why)
{
	static const char all_sql[] = "SELECT "
		PART_COLUMNS(NO_UID) ", c.at FROM charge c ORDER BY c.id DESC";
	static const char users_sql[] = "SELECT "
		PART_COLUMNS(UID_OF_RUN) ", c.at FROM charge c ORDER BY c.id DESC";
	sqlite3_stmt *st = sql_bind(l, o->by_user ? users_sql : all_sql, why, "");
	int rc = -1;

	o->count = 0;
	while (st && (rc = sql_step(l, st, why)) == 1) {
		if (sql_col(st, 8) <= o->from - CLOCK_MARGIN_S) {
			sqlite3_reset(st);
			rc = 0;
			break;
		}
		if (sql_col(st, 3) > o->from && sql_col(st, 3) > sql_col(st, 2) && add_part(o, st) < 0) {
			sqlite3_reset(st);
			return fault_errno(why, ENOMEM, "out of memory for %zu charges", o->count);
		}
	}
	turn_round(o);
	return rc;
}

static int read_on(struct occupancy *o, struct ledger *l, struct fault *why)
{
#define NEW_PARTS " FROM charge c WHERE c.id > ?2 AND c.part_end > ?1 AND c.part_end > c.part_start ORDER BY c.id"
	static const char new_sql[] = "SELECT " PART_COLUMNS(NO_UID) NEW_PARTS;
	static const char users_sql[] = "SELECT " PART_COLUMNS(UID_OF_RUN) NEW_PARTS;

	return read_parts(o, l,
		sql_bind(l, o->by_user ? users_sql : new_sql, why, "ii", o->from, o->last_charge), why);
}

static int read_uncounted(struct occupancy *o, struct ledger *l, struct fault *why)
{
	static const char uncounted_sql[] = "SELECT charge, units FROM uncounted WHERE id > ?";
	sqlite3_stmt *st = sql_bind(l, uncounted_sql, why, "i", o->last_uncounted);
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		const struct part key = { .charge = sql_col(st, 0) };
		struct part *p = o->count ? bsearch(&key, o->parts, o->count, sizeof(*o->parts), by_charge)
			: NULL;

		if (p)
			p->uncounted += sql_col(st, 1);
	}
	return rc;
}

static int read_rows(struct occupancy *o, struct ledger *l, struct fault *why)
{
	static const char charges_sql[] = "SELECT coalesce(max(id), 0) FROM charge",
		uncounted_sql[] = "SELECT coalesce(max(id), 0) FROM uncounted";
	int64_t charge, uncounted;

	if (sql_int(l, &charge, charges_sql, why, "") != 1 ||
		sql_int(l, &uncounted, uncounted_sql, why, "") != 1)
		return -1;
	if (!o->complete)
		o->last_charge = o->last_uncounted = 0;
	if ((o->complete ? charge > o->last_charge && read_on(o, l, why) < 0 : read_all(o, l, why) < 0) ||
		read_uncounted(o, l, why) < 0)
		return -1;
	o->last_charge = charge;
	o->last_uncounted = uncounted;
	return 0;
}

/* --- sums --------------------------------------------------------------------------------------- */

static void add_up(struct occupancy *o, const struct part *p)
{
	amount_t units = p->price * (p->end - (p->start > o->from ? p->start : o->from));
	struct used *used = &o->users[p->user];

	if (p->paid)
		used->paid += units > p->uncounted ? units - p->uncounted : 0;
	else
		used->unpaid += units;
	if (p->imported && p->start < o->imported_from)
		o->imported_from = p->start;
}

/* What has left the window is forgotten. */
static void sum(struct occupancy *o)
{
	size_t kept = 0;

	o->imported_from = INT64_MAX;
	for (size_t i = 0; i < o->nusers; i++)
		o->users[i].paid = o->users[i].unpaid = 0;
	for (size_t i = 0; i < o->count; i++) {
		if (o->parts[i].end <= o->from)
			continue;
		add_up(o, &o->parts[i]);
		if (kept != i)
			o->parts[kept] = o->parts[i];
		kept++;
	}
	o->count = kept;
}

int occupancy_read(struct occupancy *o, struct ledger *l, int64_t from, bool by_user, struct fault *why)
{
	o->complete = o->complete && from >= o->from && by_user == o->by_user;
	o->from = from;
	o->by_user = by_user;
	if (!o->complete)
		forget_users(o);
	if (read_rows(o, l, why) < 0) {
		o->complete = false;
		return -1;
	}
	o->complete = true;
	sum(o);
	return 0;
}

void occupancy_walk(const struct occupancy *o, occupancy_fn each, void *arg)
{
	for (size_t i = 0; i < o->nusers; i++)
		each(o->users[i].project, o->users[i].uid, o->users[i].paid, o->users[i].unpaid, arg);
}

void occupancy_walk_parts(const struct occupancy *o, occupancy_part_fn each, void *arg)
{
	for (size_t i = 0; i < o->count; i++) {
		const struct part *p = &o->parts[i];
		struct occupancy_part out = { .project = o->users[p->user].project, .uid = o->users[p->user].uid,
			.from = p->start > o->from ? p->start : o->from, .to = p->end, .price = p->price };

		out.counted = p->price * (out.to - out.from) - p->uncounted;
		if (p->paid && out.counted > 0)
			each(&out, arg);
	}
}

/* --- what runs ---------------------------------------------------------------------------------- */

int occupancy_walk_open(struct ledger *l, open_use_fn each, void *arg, struct fault *why)
{
	static const char open_sql[] =
		"SELECT r.project, r.tier = 'funded' AND r.admission IS NOT NULL, r.price, r.start, r.min_runtime, r.covered_until,"
		/* suspended seconds that have no part yet are none that it used */
		" coalesce((SELECT max(part_end) FROM charge WHERE run = r.id), r.start) + iif(r.suspended IS NULL, 0, max(0, r.suspended -"
		" (SELECT coalesce(sum(part_end - part_start), 0) FROM charge WHERE run = r.id AND kind = 'suspended'))), r.uid"
		" FROM run r INDEXED BY run_open WHERE r.ended IS NULL";
	sqlite3_stmt *st = sql_bind(l, open_sql, why, "");
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		struct open_use u = { .project = sql_col(st, 0), .paid = sql_col(st, 1) != 0,
			.price = sql_col(st, 2), .start = sql_col(st, 3), .min_runtime_s = sql_col(st, 4),
			.covered_until = sql_col(st, 5), .charged_to = sql_col(st, 6),
			.uid = sql_col(st, 7) };

		each(&u, arg);
	}
	return rc;
}
