/* SPDX-License-Identifier: GPL-2.0-or-later
 * diagnosis.h - all checks of doctor/ made once, for the commands doctor and setup
 *
 * Threads  one; once per process */
#ifndef BUDGETCTL_DIAGNOSIS_H
#define BUDGETCTL_DIAGNOSIS_H
#include "budgetctl/session.h"
#include "doctor/checks.h"
#include "doctor/gather.h"

struct diagnosis {
	struct gathering *gathering;
	struct finding *findings;	/* one a row of check_table, in its order */
	size_t count;
};

/* Gather and check. DONE, to be dropped in any case; else a complaint was made: FORBIDDEN for who is neither
 * root nor SlurmUser, because half of the facts are closed to others. */
int diagnosis_make(struct session *s, struct diagnosis *d);
int diagnosis_renew(struct diagnosis *d);	/* slurmdbd was changed */
void diagnosis_drop(struct diagnosis *d);

/* The next line of a finding's mend from *mend on, as it is to be typed or pasted: "sacctmgr -i add qos
 * free". False at the end. The buffer holds every line that a check writes. */
#define MEND_LINE_MAX 4096
bool mend_next(const struct finding *f, const char **mend, char line[MEND_LINE_MAX]);

#endif
