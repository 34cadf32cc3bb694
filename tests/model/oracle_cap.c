/* SPDX-License-Identifier: GPL-2.0-or-later
 * oracle_cap.c - what the books must say of caps: what is left for one user
 *
 * The slow and plain way, see oracle.h. */
#include "tests/model/oracle_internal.h"

/* What is held and charged, less refunds, for the jobs of one user, of the allocations that are live. */
static int64_t used_by(const struct oracle *o, int node, int user, int64_t now)
{
	int64_t sum = 0;

	for (int i = 0; i < o->npieces; i++) {
		const struct o_piece *p = &o->pieces[i];
		const struct o_allocation *a = &o->allocations[p->allocation];
		int of = p->hold != O_NONE ? o->holds[p->hold].user : o->runs[o->parts[p->part].run].user;

		if (a->node == node && o_is_live(a, now) && of == user)
			sum += p->units - p->refunded;
	}
	return sum;
}

int64_t o_available_to(const struct oracle *o, int node, int user, int64_t now, bool *is_cap)
{
	int64_t left = oracle_available(o, node, now), cap = o->nodes[node].cap[user];

	*is_cap = cap != O_NONE && cap - used_by(o, node, user, now) < left;
	return *is_cap ? cap - used_by(o, node, user, now) : left;
}

int64_t o_room(const struct oracle *o, int node, int user, int64_t now)
{
	int64_t room = INT64_MAX;
	bool is_cap;

	for (; node != O_NONE; node = o->nodes[node].parent)
		if (o->nodes[node].metered && o_available_to(o, node, user, now, &is_cap) < room)
			room = o_available_to(o, node, user, now, &is_cap);
	return room;
}

/* Where nothing is live or to come there is nothing to cap. */
int oracle_cap(struct oracle *o, int64_t now, int node, int user, int64_t cap)
{
	bool any = cap == O_NONE;

	for (int i = 0; i < o->nallocations; i++)
		any = any || (o->allocations[i].node == node &&
			(!o->allocations[i].until || o->allocations[i].until > now));
	if (!any)
		return -1;
	o->nodes[node].cap[user] = cap;
	return 0;
}
