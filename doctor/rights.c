/* SPDX-License-Identifier: GPL-2.0-or-later
 * rights.c - permission bits along a path (rights.h) */
#include "doctor/rights.h"
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUPS_MAX 1024
#define PASSWD_MAX 16384

static bool in_group(uid_t uid, gid_t gid)
{
	char buf[PASSWD_MAX];
	struct passwd entry, *user = NULL;
	gid_t groups[GROUPS_MAX];
	int count = GROUPS_MAX;

	if (uid == RIGHTS_NOBODY || getpwuid_r(uid, &entry, buf, sizeof(buf), &user) || !user)
		return false;
	if (getgrouplist(user->pw_name, user->pw_gid, groups, &count) < 0)
		count = GROUPS_MAX;	/* the first of them are filled in */
	for (int i = 0; i < count; i++)
		if (groups[i] == gid)
			return true;
	return false;
}

/* `bit` as for others: 4 to read, 1 to pass. Who owns it is not asked as a member of its group. */
static bool may(const struct stat *st, uid_t uid, mode_t bit)
{
	if (uid != RIGHTS_NOBODY && st->st_uid == uid)
		return st->st_mode & bit << 6;
	if (in_group(uid, st->st_gid))
		return st->st_mode & bit << 3;
	return st->st_mode & bit;
}

char *rights_barred(const char *path, uid_t uid, bool read)
{
	struct stat st;
	char *way;

	if (uid == 0)
		return NULL;
	way = strdup(path);
	for (char *slash = way ? strchr(way, '/') : NULL; slash; slash = strchr(slash + 1, '/')) {
		char behind = slash[1];

		slash[1] = '\0';	/* "/run/" is the folder, "/" the root */
		if (stat(way, &st) < 0 || !may(&st, uid, 1)) {
			if (slash > way)
				*slash = '\0';
			return way;
		}
		slash[1] = behind;
	}
	if (way && read && stat(way, &st) == 0 && !may(&st, uid, 4))
		return way;
	free(way);
	return NULL;
}
