/* SPDX-License-Identifier: GPL-2.0-or-later
 * gather.h - find out the facts that checks judge
 *
 * Asks slurmctld, slurmdbd, munged and budgetd, and reads files, sockets and /proc of this host. What does
 * not answer is a fact as well: only a lack of memory is an error. Nothing is changed. libslurm is tried in a
 * child first, because it ends a process whose slurm.conf it does not like; what it writes to stderr is not
 * shown.
 *
 * Wait     a few seconds when a daemon hangs
 * Threads  one; once per process (link.h) */
#ifndef DOCTOR_GATHER_H
#define DOCTOR_GATHER_H
#include "doctor/facts.h"

struct gathering;

/* `socket` NULL: the one in the settings. `version` is of this program. NULL and ENOMEM. */
struct gathering *gather(const char *settings_path, const char *socket, const char *version);
void gathering_free(struct gathering *g);	/* NULL is fine; errno is kept */

/* They live as long as the gathering, and change when it is renewed. */
const struct facts *gathering_facts(const struct gathering *g);

/* Ask slurmdbd again, after something was changed there. */
void gathering_renew_accounts(struct gathering *g);

#endif
