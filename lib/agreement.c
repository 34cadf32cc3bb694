/* SPDX-License-Identifier: GPL-2.0-or-later
 * agreement.c - do the books, slurmdbd and slurmctld say the same of a run (agreement.h). */
#include "lib/agreement.h"
#include <string.h>

const struct difference_row difference_table[DIFFERENCES] = {
	[DIFFERS_MISSING] = { "missing", "a run that slurmdbd has is not in the books",
		"it began and ended while budgetd did not look and lies before what it looked for when it was back, or the books are older than "
		"it (restored from a backup)",
		"budgetctl check --repair enters it: charged as far as its answer was funded and there is money, else uncovered",
		true },
	[DIFFERS_NOT_FOLLOWED] = { "not-followed", "a job runs with GPUs and the books do not know of it",
		"budgetd does not see slurmctld's table, or cannot put this job in the books and says so in its log",
		"look at budgetctl health and at the log of budgetd; the next pass enters it", false },
	[DIFFERS_UNKNOWN] = { "unknown", "a run of the books is not in slurmdbd",
		"slurmdbd has purged or archived it, or lost it; or a hand wrote into the books (budgetctl verify tells)",
		"if it never ran, give back what it cost: budgetctl refund CHARGE, see budgetctl charge list --job JOB",
		false },
	[DIFFERS_END] = { "end", "the run ended at another time",
		"slurmctld told another end before slurmdbd had one (a node that came back, a clock that was set), or a row was changed by hand",
		"budgetctl check --repair gives back what was charged beyond its end, or adds the time that is missing as uncovered",
		true },
	[DIFFERS_GPUS] = { "gpus", "the run had other GPUs for some of its time",
		"it changed its size and budgetd did not see when, or a row was changed by hand",
		"budgetctl check --repair gives back what was charged for GPUs that it did not have; GPUs beyond those charged are uncovered",
		true },
	[DIFFERS_TWICE] = { "twice", "the same time of the job is in the books twice",
		"two budgetd followed the same cluster, or a hand wrote into the books",
		"budgetctl check --repair gives back the charge of the run that Slurm does not know", true },
	[DIFFERS_OPEN] = { "open", "the run has ended and is open in the books",
		"slurmdbd had its end only now, or budgetd cannot settle it and says so in its log",
		"the next pass settles it; if this stays, look at the log of budgetd", false },
	[DIFFERS_NO_END] = { "no-end", "the run is gone from slurmctld and its end is not known",
		"slurmdbd never got the end: slurmctld died with it, or the record is lost. Nothing is guessed: its hold stays and nothing more is charged",
		"find out when it ended (log of slurmctld or of the node) and say so: budgetctl run end JOB --at TIME --reason TEXT",
		false },
	[DIFFERS_RUNAWAY] = { "runaway", "the run goes on in slurmdbd and slurmctld does not know of it",
		"slurmdbd never got its end: a runaway record",
		"if it is open in the books, first budgetctl run end JOB --at TIME --reason TEXT: sacctmgr knows no better than to end such a run where it began. "
		"Then sacctmgr show runawayjobs, and let it fix them", false },
	[DIFFERS_RUNS_ON] = { "runs-on", "the run has ended in the books and still runs",
		"its end was said by hand or told by slurmctld too early, or a hand wrote into the books",
		"when it has ended: budgetctl check --repair", false },
	[DIFFERS_TIER] = { "tier", "the run was in the QOS of the other tier",
		"its QOS was changed past budgetd while it waited, or a row was changed by hand",
		"budgetctl check --repair gives back what a run of the free QOS was charged; a funded run that was not charged is uncovered",
		true },
	[DIFFERS_PROJECT] = { "project", "the run was in another account than the project that paid",
		"its account was changed past budgetd, or a row was changed by hand",
		"budgetctl check --repair gives the charge back to the project that paid; the run is uncovered for the other",
		true },
	[DIFFERS_NO_HOLD] = { "no-hold", "a funded job has no GPU-hours set aside",
		"budgetd has not got to it yet, or its hold was closed by hand",
		"the next pass sets them aside if there are any; if this stays, look at budgetctl why JOB",
		false },
	[DIFFERS_NO_JOB] = { "no-job", "GPU-hours are set aside for a job that slurmctld does not know",
		"the job ended or was cancelled just now, or slurmctld lost it (it started without its saved state)",
		"the next pass gives them back; if this stays, look at the log of budgetd", false },
};

void agreement_add_piece(struct agreement_side *s, int64_t from, int64_t to, int64_t gpus, amount_t price)
{
	s->gpus = gpus;
	if (to <= from)
		return;
	s->gpu_seconds += (gpus > 0 ? gpus : 1) * (to - from);
	s->worth += price * (to - from);
}

static unsigned bit(bool differs, enum difference d)
{
	return differs ? 1u << d : 0;
}

/* The books have no such run. */
static unsigned of_absent(const struct agreement_run *r)
{
	if (r->slurmctld.presence == GOES_ON)
		return bit(true, DIFFERS_NOT_FOLLOWED);
	if (r->slurmdbd.presence == GOES_ON)
		return bit(r->slurmctld.presence == ABSENT, DIFFERS_RUNAWAY);
	return bit(r->slurmdbd.presence == ENDED && r->slurmdbd.worth > 0, DIFFERS_MISSING);
}

/* Both sides have it: whose, and in which tier? */
static unsigned of_terms(const struct agreement_side *books, const struct agreement_side *slurm)
{
	unsigned set = 0;

	if (slurm->presence == ABSENT)
		return 0;
	set |= bit(slurm->tier != SIDE_TIER_OTHER && books->tier != SIDE_TIER_OTHER &&
		slurm->tier != books->tier, DIFFERS_TIER);
	return set | bit(slurm->project && books->project && strcmp(slurm->project, books->project) != 0,
		DIFFERS_PROJECT);
}

static unsigned of_open(const struct agreement_run *r)
{
	unsigned set = bit(r->needs_hold && !r->has_hold, DIFFERS_NO_HOLD);

	if (r->slurmctld.presence == GOES_ON)
		return set | bit(r->slurmctld.gpus != r->books.gpus, DIFFERS_GPUS);
	if (r->slurmdbd.presence == ENDED)
		return bit(true, DIFFERS_OPEN);
	if (r->slurmctld.presence == ENDED)
		return bit(true, DIFFERS_OPEN);
	return bit(true, r->slurmdbd.presence == GOES_ON ? DIFFERS_RUNAWAY : DIFFERS_NO_END);
}

static unsigned of_ended(const struct agreement_run *r)
{
	const struct agreement_side *d = &r->slurmdbd, *b = &r->books;

	if (r->slurmctld.presence == GOES_ON)
		return bit(true, DIFFERS_RUNS_ON);
	if (d->presence == GOES_ON)
		return bit(r->slurmctld.presence == ABSENT, DIFFERS_RUNAWAY);
	if (d->presence == ABSENT)
		return bit(r->slurmctld.presence == ABSENT && b->gpu_seconds > 0 && !r->by_hand,
			DIFFERS_UNKNOWN);
	if (r->by_hand && d->end <= r->start)
		return 0;
	return d->end != b->end ? bit(true, DIFFERS_END)
		: bit(d->gpu_seconds != b->gpu_seconds, DIFFERS_GPUS);
}

unsigned agreement_of(const struct agreement_run *r)
{
	const struct agreement_side *slurm = r->slurmdbd.presence != ABSENT ? &r->slurmdbd : &r->slurmctld;

	if (r->books.presence == ABSENT)
		return of_absent(r);
	if (r->twice)
		return bit(true, DIFFERS_TWICE);
	return of_terms(&r->books, slurm) | (r->books.presence == GOES_ON ? of_open(r) : of_ended(r));
}

amount_t agreement_off(const struct agreement_run *r, enum difference d)
{
	switch (d) {
	case DIFFERS_MISSING:
		return r->slurmdbd.worth;
	case DIFFERS_END:
		return r->slurmdbd.worth - r->books.worth;
	case DIFFERS_GPUS:
		return r->books.presence == ENDED ? r->slurmdbd.worth - r->books.worth : 0;
	case DIFFERS_TWICE:
	case DIFFERS_UNKNOWN:
		return -r->books.worth;
	case DIFFERS_TIER:
		return r->books.tier == SIDE_TIER_FUNDED ? -r->charged : r->slurmdbd.worth;
	case DIFFERS_PROJECT:
		return -r->charged;
	default:
		return 0;	/* what is not over yet */
	}
}

amount_t agreement_should_cost(const struct agreement_piece *pieces, size_t n, int64_t from, int64_t to)
{
	amount_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t begin = pieces[i].from > from ? pieces[i].from : from,
			end = pieces[i].to < to ? pieces[i].to : to;

		if (end > begin)
			sum += pieces[i].price * (end - begin);
	}
	return sum;
}
