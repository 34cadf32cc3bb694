/* SPDX-License-Identifier: GPL-2.0-or-later
 * budgetd.h - the daemon's one context: who owns what, and how one part finds another
 *
 * daemon.c creates the parts in this order and destroys them in reverse. Nothing here is global. */
#ifndef BUDGETD_BUDGETD_H
#define BUDGETD_BUDGETD_H
#include "settings/settings.h"

struct gpu_watch;
struct ledger;
struct notices;
struct slurm_link;
struct cluster_state;
struct people;
struct rates;
struct tally;
struct zone;

struct budgetd {
	const struct settings *_Atomic settings;	/* changed as a whole by a reload; old ones live on */
	struct ledger *ledger;		/* the writer: verdicts, changes, the loop */
	struct ledger *reader;		/* lists for people: a long one never delays a submission */
	/* the loop's reader: what it sees stays the same for as long as a pass */
	struct ledger *snapshot;
	struct slurm_link *slurm;	/* the loop's; the server never talks to Slurm */
	struct cluster_state *cluster;	/* what the last pass saw, for the server */
	struct people *people;		/* uid <-> name, administrators */
	struct zone *zone;		/* the site's: its days and weeks; NULL = UTC */
	struct rates *rates;		/* what a GPU-hour of a type costs */
	struct gpu_watch *gpus;		/* how busy GPUs are; NULL only in tests */
	struct notices *notices;	/* who tells people; NULL only in tests */
	struct tally *tally;		/* what is counted for /metrics; NULL only in tests */
};

#endif
