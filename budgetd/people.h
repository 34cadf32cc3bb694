/* SPDX-License-Identifier: GPL-2.0-or-later
 * people.h - who is calling: uid, name, administrator or not
 *
 * Administrators are root, SlurmUser (the user that budgetd runs as, when it is not root) and those named in
 * the settings.
 *
 * Threads  all functions from any thread. people_name may ask the site's directory: never call it while a
 *          submission waits. */
#ifndef BUDGETD_PEOPLE_H
#define BUDGETD_PEOPLE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "lib/fault.h"

#define PERSON_NAME_MAX 256

struct people;

/* `administrators`: user names separated by commas or blanks; unknown names are refused (EINVAL). */
struct people *people_new(const char *administrators, struct fault *why);
/* Would people_new take this list? 0, or -1, EINVAL and a text that names the user who does not exist. */
int people_check(const char *administrators, struct fault *why);
/* Replace the list; on failure it stays as it was. */
int people_set_administrators(struct people *p, const char *administrators, struct fault *why);
void people_free(struct people *p);		/* NULL is fine */

/* The user's name, or "uid 1234" when the directory has none. Returns buf. A name is kept for ten minutes,
 * and that there is none for twenty seconds. */
const char *people_name(struct people *p, uid_t uid, int64_t now, char buf[PERSON_NAME_MAX]);

/* The same for who comes from another host: 1; 0 and EACCES when the directory of this host has no such user;
 * -1 and EAGAIN when it cannot be asked. */
int people_known(struct people *p, uid_t uid, int64_t now, char buf[PERSON_NAME_MAX], struct fault *why);

/* The uid of a name: 0; -1, ENOENT and a text when this host has no such user, EAGAIN when its directory
 * cannot be asked. Never with a transaction open. */
int people_uid(const char *name, int64_t *uid, struct fault *why);

bool people_is_administrator(struct people *p, uid_t uid);
void people_set_slurm_uid(struct people *p, uid_t uid);	/* once Slurm told it */
bool people_is_slurm(const struct people *p, uid_t uid);	/* root or SlurmUser: may ask for verdicts */

#endif
