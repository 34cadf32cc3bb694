/* SPDX-License-Identifier: GPL-2.0-or-later
 * trusted.c - who owns a file is asked of the file that is open (trusted.h) */
#include "gpu_check/trusted.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "locality/sysfs.h"

struct trusted_new {
	int root;
	char path[SYSFS_PATH_MAX], beside[SYSFS_PATH_MAX + 8];
	FILE *file;
};

FILE *trusted_open(int root, const char *path, struct fault *why)
{
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *from = NULL;
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0 || fstat(fd, &st) < 0) {
		fault_set(why, "/%s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & 022)) {
		fault_errno(why, EPERM,
			"/%s decides about the node, so only root may own and write it: chown root, chmod "
			"644",
			path);
	} else if (!(from = fdopen(fd, "r"))) {
		fault_set(why, "/%s: %s", path, strerror(errno));
	}
	if (!from && fd >= 0) {
		int err = errno;

		close(fd);
		errno = err;
	}
	return from;
}

/* The folders on the way; those that are there stay as they are. 0; or the errno of the first that cannot be
 * made. */
static int folders_make(int root, const char *path)
{
	char part[SYSFS_PATH_MAX];
	int err = 0;

	snprintf(part, sizeof(part), "%s", path);
	for (char *slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(root, part, 0755) < 0 && errno != EEXIST && !err)
			err = errno;
		*slash = '/';
	}
	return err;
}

FILE *trusted_begin(int root, const char *path, struct trusted_new **out, struct fault *why)
{
	struct trusted_new *n = calloc(1, sizeof(*n));
	int fd = -1, err;

	*out = NULL;
	if (!n) {
		fault_errno(why, ENOMEM, "no memory");
		return NULL;
	}
	n->root = root;
	snprintf(n->path, sizeof(n->path), "%s", path);
	snprintf(n->beside, sizeof(n->beside), "%s.new", n->path);
	err = folders_make(root, path);
	unlinkat(root, n->beside, 0); /* of one that was killed */
	fd = openat(root, n->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0 && errno == ENOENT && err)
		errno = err;	/* why there is no folder */
	n->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!n->file) {
		fault_set(why, "/%s: %s", n->beside, strerror(errno));
		if (fd >= 0)
			close(fd);
		free(n);
		return NULL;
	}
	*out = n;
	return n->file;
}

int trusted_commit(struct trusted_new *n, struct fault *why)
{
	bool good = !ferror(n->file) && fflush(n->file) == 0 && fchmod(fileno(n->file), 0644) == 0 &&
		    fsync(fileno(n->file)) == 0;
	int rv = 0;

	if (fclose(n->file) != 0 || !good || renameat(n->root, n->beside, n->root, n->path) < 0) {
		rv = fault_set(why, "/%s: %s", n->path, strerror(errno));
		unlinkat(n->root, n->beside, 0);
	}
	free(n);
	return rv;
}
