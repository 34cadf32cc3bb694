/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_ranking.c - who got how much of their share, once for each pass; and the note of how many GPUs
 * there were. */
#include "budgetd/ledger_capacity.h"
#include "budgetd/pass.h"
#include "budgetd/ranking.h"
#include "budgetd/ranking_users.h"
#include <errno.h>
#include <stdlib.h>

/* Of what waits in the free tier, or was met by this very pass, its snapshot does not know whose it is. */
static int expect(struct pass *p, struct ranking *r, struct fault *why)
{
	struct project_user *users = calloc(p->nwaiting + 1, sizeof(*users));
	int rc;

	if (!users)
		return fault_errno(why, ENOMEM, "out of memory");
	for (size_t i = 0; i < p->nwaiting; i++)
		users[i] = (struct project_user){ p->waiting[i].admission.project,
			p->waiting[i].admission.uid };
	rc = ranking_expect(r, users, p->nwaiting, why);
	free(users);
	return rc;
}

/* What was read of the books stays with the controller: a pass reads on from there. */
const struct ranking *pass_ranking(struct pass *p, struct fault *why)
{
	const struct settings *s = p->b->settings;
	struct ranking *r = *p->kept;

	if (p->ranking)
		return p->ranking;
	*p->kept = NULL;
	if ((!r && ranking_empty(&r, why) < 0) || expect(p, r, why) < 0 ||
		ranking_renew(r, p->books, s->window_s, p->b->rates, &p->cluster->healthy, p->now, why) < 0) {
		ranking_free(r);
		return NULL;
	}
	p->ranking = *p->kept = r;
	return r;
}

static int write_capacity(struct pass *p, void *arg, struct fault *why)
{
	return capacity_add(p->b->ledger, p->now, *(const amount_t *)arg, why);
}

int pass_note_capacity(struct pass *p, struct fault *why)
{
	amount_t now, last;
	int rc;

	if (ranking_capacity(p->b->rates, &p->cluster->healthy, p->now, &now, why) < 0)
		return -1;
	rc = capacity_last(p->books, &last, why);
	if (rc < 0 || (rc == 1 && last == now))
		return rc < 0 ? -1 : 0;
	return pass_write(p, LEDGER_HOLDS, write_capacity, &now, why);
}
