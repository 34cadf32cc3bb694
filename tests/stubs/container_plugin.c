/* SPDX-License-Identifier: GPL-2.0-or-later
 * container_plugin.c - a SPANK plugin that plays one for containers (pyxis): in task_init the task enters user
 * and mount namespaces of its own, in which other folders stand where the host has its own
 *
 *   required container_plugin.so HIDDEN=INSIDE...     INSIDE stands at HIDDEN
 *
 * A stub: it proves in which order plugins are called and what those behind see, nothing about any container. */
#include <fcntl.h>
#include <sched.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

extern const char plugin_name[], plugin_type[];
extern const unsigned int plugin_version, spank_plugin_version;
SPANK_PLUGIN(container_stub, 1)

int slurm_spank_task_init(spank_t sp, int argc, char *argv[]);

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), rv;

	if (fd < 0)
		return -1;
	rv = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
	close(fd);
	return rv;
}

/* As themselves inside, with all rights over the mounts of this namespace. */
static int enter(void)
{
	char uid[64], gid[64];

	snprintf(uid, sizeof(uid), "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
	snprintf(gid, sizeof(gid), "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
	/* it was root's a moment ago: without this its own files in /proc are root's */
	prctl(PR_SET_DUMPABLE, 1);
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || write_text("/proc/self/setgroups", "deny") < 0 ||
			write_text("/proc/self/uid_map", uid) < 0 || write_text("/proc/self/gid_map", gid) < 0
		? -1 : 0;
}

int slurm_spank_task_init(spank_t sp, int argc, char *argv[])
{
	(void)sp;
	if (enter() < 0) {
		slurm_error("container_plugin: %m");
		return -1;
	}
	for (int i = 0; i < argc; i++) {
		char at[512];
		const char *inside = strchr(argv[i], '=');

		if (!inside)
			return -1;
		snprintf(at, sizeof(at), "%.*s", (int)(inside - argv[i]), argv[i]);
		if (mount(inside + 1, at, NULL, MS_BIND | MS_REC, NULL) < 0) {
			slurm_error("container_plugin: %s: %m", argv[i]);
			return -1;
		}
	}
	return 0;
}
