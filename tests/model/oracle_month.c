/* SPDX-License-Identifier: GPL-2.0-or-later
 * oracle_month.c - what the books must say of months: which can be closed, and what allocations had and moved
 * in them, by the dates of what was booked
 *
 * The slow and plain way, see oracle.h. */
#include "tests/model/oracle_internal.h"

/* In their order, when they are over, nothing of theirs is open and nothing can have been missed. */
int oracle_close(struct oracle *o, int64_t now, int64_t ends, int64_t seen, bool force)
{
	bool open = seen < ends;

	if (now < ends || (o->closed && o_month_edge(ends - 1, false) != o->closed))
		return -1;
	for (int i = 0; i < o->nruns; i++)
		open = open || (!o->runs[i].ended && o->runs[i].start < ends && o->runs[i].part_from < ends);
	if (open && !force)
		return -1;
	o->closed = ends;
	return 0;
}

int64_t oracle_moved(const struct oracle *o, int allocation, char kind, int sign, int64_t from, int64_t to)
{
	int64_t sum = 0;

	for (int i = 0; i < o->nentries; i++) {
		const struct o_entry *e = &o->entries[i];

		if (e->allocation == allocation && e->kind == kind && e->at >= from && e->at < to &&
			(sign == 0 || (e->units > 0) == (sign > 0)))
			sum += e->units;
	}
	return sum;
}

int64_t oracle_charged(const struct oracle *o, int allocation, int64_t from, int64_t to)
{
	int64_t sum = 0;

	for (int i = 0; i < o->npieces; i++) {
		const struct o_piece *p = &o->pieces[i];

		if (p->allocation == allocation && p->part != O_NONE && o->parts[p->part].at >= from &&
			o->parts[p->part].at < to)
			sum += p->units;
	}
	return sum;
}

int64_t oracle_balance_at(const struct oracle *o, int allocation, int64_t at)
{
	int64_t sum = -oracle_charged(o, allocation, 0, at);

	for (int i = 0; i < o->nentries; i++)
		if (o->entries[i].allocation == allocation && o->entries[i].at < at)
			sum += o->entries[i].units;
	return sum;
}
