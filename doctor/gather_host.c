/* SPDX-License-Identifier: GPL-2.0-or-later
 * gather_host.c - munged, plugins and sockets of this host (gather.h) */
#include "doctor/gathering.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "doctor/plugin_file.h"
#include "doctor/program.h"
#include "lib/duration.h"

#define MUNGE_MS 10000
#define CONF_PRESET "/etc/slurm/slurm.conf"
#define WORD_MAX 512
#define SUBMIT_PLUGIN "job_submit_gpubudget.so"
#define SPANK_PLUGIN "gpubudget.so"
#define SPANK_LIMIT_PRESET_S (8 * 3600)	/* of spank/options.h */

/* --- munge ------------------------------------------------------------------------------------------ */

/* The value of "Key=value" in this host's slurm.conf, "" when it is not there. slurmctld cannot be asked
 * before munge works. */
static void conf_value(const char *key, char buf[WORD_MAX])
{
	const char *path = getenv("SLURM_CONF");
	FILE *file = fopen(path && *path ? path : CONF_PRESET, "re");
	size_t n = strlen(key), size = 0;
	char *line = NULL;

	buf[0] = '\0';
	while (file && getline(&line, &size, file) >= 0) {
		const char *at = line + strspn(line, " \t");

		if (!strncasecmp(at, key, n) && at[n] == '=')
			snprintf(buf, WORD_MAX, "%.*s", (int)strcspn(at + n + 1, " \t\r\n#"), at + n + 1);
	}
	free(line);
	if (file)
		fclose(file);
}

/* munged's socket out of "socket=/run/munge/munge.socket.2,cred_expire=30". NULL: its own place. */
static const char *munge_socket(char info[WORD_MAX])
{
	char *at = strstr(info, "socket=");

	if (!at)
		return NULL;
	at += strlen("socket=");
	at[strcspn(at, ",")] = '\0';
	return at;
}

static int munge_step(const char *what, char *const argv[], const char *input, char said[PROGRAM_SAID_MAX],
	struct fault *why)
{
	int rv = program_run(argv, input, MUNGE_MS, said, why);

	said[strcspn(said, "\n")] = '\0';
	if (rv > 0)
		fault_set(why, "%s: %s", what, said);
	return rv ? -1 : 0;
}

int gather_munge(struct gathering *g)
{
	char type[WORD_MAX], info[WORD_MAX], credential[PROGRAM_SAID_MAX], said[PROGRAM_SAID_MAX],
		option[WORD_MAX];
	char *encode[] = { "munge", "-n", NULL, NULL }, *decode[] = { "unmunge", "-n", NULL, NULL };
	const char *socket;

	conf_value("AuthType", type);
	if (*type && strcasecmp(type, "auth/munge"))
		return 0;
	conf_value("AuthInfo", info);
	socket = munge_socket(info);
	snprintf(option, sizeof(option), "--socket=%.500s", socket ? socket : "");
	if (socket)
		encode[2] = decode[2] = option;
	if (munge_step("no credential can be made", encode, NULL, credential, &g->munge_why) < 0 ||
		munge_step("the credential that was made cannot be read", decode, credential, said,
			&g->munge_why) < 0)
		g->facts.munge_error = g->munge_why.text;
	return 0;
}

/* --- plugins ---------------------------------------------------------------------------------------- */

static int plugin_find(const struct gathering *g, const char *name, char **path, struct fact_plugin *out)
{
	*path = plugin_file_find(g->conf->plugin_dir, name);
	if (!*path)
		return errno == ENOMEM ? -1 : 0;
	*out = (struct fact_plugin){ .path = *path, .version = plugin_file_version(*path) };
	return 0;
}

/* Newer versions of Slurm do not name the file when it is where they expect it: beside slurm.conf. */
static char *plugstack_path(const struct site_conf *c)
{
	const char *slash = c->conf_path ? strrchr(c->conf_path, '/') : NULL;
	char *path = NULL;

	if (c->plugstack)
		return strdup(c->plugstack);
	return asprintf(&path, "%.*splugstack.conf", slash ? (int)(slash - c->conf_path + 1) : 0,
		slash ? c->conf_path : "") < 0 ? NULL : path;
}

static int gather_plugstack(struct gathering *g)
{
	char *path = plugstack_path(g->conf);

	if (!path)
		return -1;
	if (plugstack_find(path, &g->plugstack, &g->plugstack_why) < 0)
		g->facts.plugstack_error = g->plugstack_why.text;
	free(path);
	g->facts.plugstack_line = g->plugstack.text;
	g->facts.plugstack_limit_s = SPANK_LIMIT_PRESET_S;
	if (g->plugstack.limit)
		duration_parse(g->plugstack.limit, &g->facts.plugstack_limit_s, NULL);
	return 0;
}

int gather_plugins(struct gathering *g)
{
	const char *spank;

	if (!g->conf)
		return 0;
	if (gather_plugstack(g) < 0)
		return -1;
	spank = g->plugstack.plugin ? g->plugstack.plugin : SPANK_PLUGIN;
	if (plugin_find(g, SUBMIT_PLUGIN, &g->submit, &g->facts.submit) < 0)
		return -1;
	return plugin_find(g, spank, &g->spank, &g->facts.spank);
}

/* --- sockets ---------------------------------------------------------------------------------------- */

/* Who listens; 0 = nobody. */
static pid_t listener_of(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer = { .pid = 0 };
	socklen_t size = sizeof(peer);
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return 0;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return 0;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		peer.pid = 0;
	close(fd);
	return peer.pid;
}

static void socket_look(const char *path, struct fact_socket *out)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	out->there = true;
	out->mode = st.st_mode & 07777;
	out->owner = st.st_uid;
	out->listener = listener_of(path);
}

static bool is_budgetd(const char *pid)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return !strcmp(name, "budgetd\n");
}

static bool has_open(const char *pid, const char *file)
{
	char path[PATH_MAX], target[PATH_MAX];
	bool found = false;
	struct dirent *e;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	fds = opendir(path);
	while (fds && !found && (e = readdir(fds))) {
		ssize_t n = readlinkat(dirfd(fds), e->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		found = !strcmp(target, file);
	}
	if (fds)
		closedir(fds);
	return found;
}

/* Another budgetd than those that listen. */
static pid_t second_of(const struct gathering *g)
{
	char file[PATH_MAX];
	struct dirent *e;
	pid_t found = 0;
	DIR *proc;

	if (!realpath(g->settings->database, file))
		return 0;
	proc = opendir("/proc");
	while (proc && !found && (e = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)atoi(e->d_name) : 0;

		if (pid && pid != g->facts.people.listener && pid != g->facts.slurm.listener &&
			is_budgetd(e->d_name) && has_open(e->d_name, file))
			found = pid;
	}
	if (proc)
		closedir(proc);
	return found;
}

int gather_sockets(struct gathering *g)
{
	socket_look(g->settings->socket, &g->facts.people);
	socket_look(g->settings->slurm_socket, &g->facts.slurm);
	g->facts.second = second_of(g);
	return 0;
}
