/* SPDX-License-Identifier: GPL-2.0-or-later
 * drain.c - who leaves a node that is to be empty, and when. */
#include "lib/drain.h"
#include "lib/duration.h"

void drain_goes_with(struct drain_run *d, const struct drain_run *other)
{
	d->ours = d->ours && other->ours;
	d->funded = d->funded || other->funded;
	if (other->protected_until > d->protected_until)
		d->protected_until = other->protected_until;
}

int64_t drain_tells_at(const struct drain_run *r, bool critical)
{
	if (!r->ours)
		return DURATION_UNLIMITED;
	return critical || !r->funded ? 0 : r->protected_until;
}

int64_t drain_gone_at(const struct drain_run *r, bool critical, int64_t grace_s, int64_t now)
{
	int64_t told = drain_tells_at(r, critical), gone;

	if (told == DURATION_UNLIMITED)
		return r->ends;
	gone = (told > now ? told : now) + (critical || !r->funded ? 0 : grace_s);
	return gone < r->ends ? gone : r->ends;
}
