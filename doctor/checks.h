/* SPDX-License-Identifier: GPL-2.0-or-later
 * checks.h - every check of an installation: one row each, read by doctor, setup, tests and the manual
 *
 * A check looks at facts and says what it found and which line mends it; it asks nobody and changes nothing.
 * The line is told for a healthy installation too, so that setup can print all lines of this cluster.
 *
 * Threads  pure functions: any thread */
#ifndef DOCTOR_CHECKS_H
#define DOCTOR_CHECKS_H
#include <stdio.h>
#include "doctor/facts.h"

enum health { HEALTH_OK, HEALTH_UNKNOWN, HEALTH_WARNING, HEALTH_ERROR, HEALTHS };
extern const char *const health_name[HEALTHS];	/* "ok", "not asked", "warning", "error" */

/* Where the line that mends goes. */
enum place { PLACE_SLURM_CONF, PLACE_PLUGSTACK, PLACE_SACCTMGR, PLACE_BUDGETD_CONF, PLACE_SHELL, PLACES };
extern const char *const place_name[PLACES];	/* "slurm.conf", "plugstack.conf", "sacctmgr"... */

enum look { LOOK_FINE, LOOK_BAD, LOOK_UNKNOWN };

struct check {
	const char *id;			/* "preempt-type" */
	enum health if_bad;		/* HEALTH_WARNING or HEALTH_ERROR */
	enum place place;
	const char *about;		/* what it looks at, for the manual */
	const char *without;		/* what happens when it is not so; stands behind what was found */
	/* `found`: the value, as a phrase. `mend`: whole lines; of PLACE_SACCTMGR the words after
	 * "sacctmgr -i", one command a line, no word with a blank in it. UNKNOWN: nothing is written. */
	enum look (*look)(const struct facts *f, FILE *found, FILE *mend);
};

extern const struct check check_table[];
extern const size_t check_count;

struct finding {
	const struct check *check;
	enum health health;
	char *text;			/* a sentence; "" when UNKNOWN */
	char *mend;			/* lines without the last newline; "" = none */
};

/* 0 and *out filled, to be freed with finding_free; or -1 and ENOMEM, *out untouched. */
int check_make(const struct check *c, const struct facts *f, struct finding *out);
void finding_free(struct finding *f);	/* keeps errno */

#endif
