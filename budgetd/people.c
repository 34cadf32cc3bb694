/* SPDX-License-Identifier: GPL-2.0-or-later
 * people.c - uid, name, administrator or not. */
#include "budgetd/people.h"
#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_SIZE 1024			/* direct-mapped by uid */
#define CACHE_SECONDS 600		/* a directory is asked again after that long */
/* and sooner for who has no name: somebody may be just about to add it */
#define UNKNOWN_SECONDS 20
#define ADMINISTRATORS_MAX 64

struct cached {
	uid_t uid;
	int64_t until;			/* 0 = empty */
	char name[64];
};

struct admin_list {
	size_t n;
	uid_t uids[ADMINISTRATORS_MAX];
};

struct people {
	_Atomic uid_t slurm_uid;
	pthread_mutex_t mutex;		/* guards what follows, never held while the directory is asked */
	struct admin_list admins;
	struct cached cache[CACHE_SIZE];
};

static int add_administrator(struct admin_list *list, const char *name, struct fault *why)
{
	char scratch[4096];
	struct passwd pw, *found = NULL;

	if (getpwnam_r(name, &pw, scratch, sizeof(scratch), &found) != 0 || !found)
		return fault_errno(why, EINVAL, "administrators: there is no user %s on this machine", name);
	if (list->n == ADMINISTRATORS_MAX)
		return fault_errno(why, EINVAL, "administrators: more than %d names", ADMINISTRATORS_MAX);
	list->uids[list->n++] = pw.pw_uid;
	return 0;
}

static int read_administrators(const char *names, struct admin_list *list, struct fault *why)
{
	char *copy = strdup(names), *rest = copy, *name;
	int rv = copy ? 0 : fault_errno(why, ENOMEM, "out of memory");

	while (rv == 0 && (name = strtok_r(rest, ", \t", &rest)))
		rv = add_administrator(list, name, why);
	free(copy);
	return rv;
}

int people_check(const char *administrators, struct fault *why)
{
	struct admin_list list = {0};

	return read_administrators(administrators, &list, why);
}

int people_set_administrators(struct people *p, const char *administrators, struct fault *why)
{
	struct admin_list list = {0};

	if (read_administrators(administrators, &list, why) < 0)
		return -1;
	pthread_mutex_lock(&p->mutex);
	p->admins = list;
	pthread_mutex_unlock(&p->mutex);
	return 0;
}

struct people *people_new(const char *administrators, struct fault *why)
{
	struct people *p = calloc(1, sizeof(*p));

	if (!p) {
		fault_errno(why, ENOMEM, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&p->mutex, NULL);
	p->slurm_uid = geteuid();
	if (people_set_administrators(p, administrators, why) < 0) {
		people_free(p);
		return NULL;
	}
	return p;
}

void people_free(struct people *p)
{
	if (!p)
		return;
	pthread_mutex_destroy(&p->mutex);
	free(p);
}

/* 1 and the name, 0 (no such user, as the directory said a moment ago), -1 (not known here). */
static int cache_read(struct people *p, uid_t uid, int64_t now, char buf[PERSON_NAME_MAX])
{
	struct cached *c = &p->cache[uid % CACHE_SIZE];
	int rc = -1;

	pthread_mutex_lock(&p->mutex);
	if (c->until > now && c->uid == uid)
		rc = c->name[0] != '\0';
	if (rc == 1)
		snprintf(buf, PERSON_NAME_MAX, "%s", c->name);
	pthread_mutex_unlock(&p->mutex);
	return rc;
}

/* `name` "" = there is no such user. */
static void cache_write(struct people *p, uid_t uid, int64_t until, const char *name)
{
	struct cached *c = &p->cache[uid % CACHE_SIZE];

	if (strlen(name) >= sizeof(c->name))
		return;
	pthread_mutex_lock(&p->mutex);
	c->uid = uid;
	c->until = until;
	snprintf(c->name, sizeof(c->name), "%s", name);
	pthread_mutex_unlock(&p->mutex);
}

/* As cache_read, from the directory. Some directories say "not found" as an error. */
static int directory_read(struct people *p, uid_t uid, int64_t now, char buf[PERSON_NAME_MAX])
{
	char scratch[4096];
	struct passwd pw, *found = NULL;
	int rc = getpwuid_r(uid, &pw, scratch, sizeof(scratch), &found);

	if (found) {
		snprintf(buf, PERSON_NAME_MAX, "%s", found->pw_name);
		cache_write(p, uid, now + CACHE_SECONDS, buf);
		return 1;
	}
	if (rc != 0 && rc != ENOENT && rc != ESRCH)
		return -1;		/* nothing is known, so nothing is kept */
	cache_write(p, uid, now + UNKNOWN_SECONDS, "");
	return 0;
}

static int look_up(struct people *p, uid_t uid, int64_t now, char buf[PERSON_NAME_MAX])
{
	int rc = cache_read(p, uid, now, buf);

	if (rc < 0)
		rc = directory_read(p, uid, now, buf);
	if (rc != 1)
		snprintf(buf, PERSON_NAME_MAX, "uid %ju", (uintmax_t)uid);
	return rc;
}

const char *people_name(struct people *p, uid_t uid, int64_t now, char buf[PERSON_NAME_MAX])
{
	look_up(p, uid, now, buf);
	return buf;
}

int people_uid(const char *name, int64_t *uid, struct fault *why)
{
	char scratch[4096];
	struct passwd pw, *found = NULL;
	int rc = getpwnam_r(name, &pw, scratch, sizeof(scratch), &found);

	if (found) {
		*uid = pw.pw_uid;
		return 0;
	}
	if (rc == 0 || rc == ENOENT || rc == ESRCH)
		return fault_errno(why, ENOENT, "there is no user %.80s on the host of budgetd", name);
	return fault_errno(why, EAGAIN, "the host of budgetd cannot look up user %.80s just now; try again",
		name);
}

int people_known(struct people *p, uid_t uid, int64_t now, char buf[PERSON_NAME_MAX], struct fault *why)
{
	int rc = look_up(p, uid, now, buf);

	if (rc == 0)
		fault_errno(why, EACCES,
			"uid %ju has no name on the host of budgetd: its users must be those of the login "
			"nodes",
			(uintmax_t)uid);
	if (rc < 0)
		fault_errno(why, EAGAIN, "the host of budgetd cannot look up uid %ju just now; try again",
			(uintmax_t)uid);
	return rc;
}

bool people_is_slurm(const struct people *p, uid_t uid)
{
	return uid == 0 || uid == p->slurm_uid;
}

void people_set_slurm_uid(struct people *p, uid_t uid)
{
	p->slurm_uid = uid;
}

bool people_is_administrator(struct people *p, uid_t uid)
{
	bool found = people_is_slurm(p, uid);

	pthread_mutex_lock(&p->mutex);
	for (size_t i = 0; i < p->admins.n && !found; i++)
		found = p->admins.uids[i] == uid;
	pthread_mutex_unlock(&p->mutex);
	return found;
}
