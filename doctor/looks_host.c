/* SPDX-License-Identifier: GPL-2.0-or-later
 * looks_host.c - settings, daemons, sockets and plugins: what is on this host
 *
 * One fault is one finding: what cannot work because of an earlier row of the table is UNKNOWN here. */
#include <inttypes.h>
#include <string.h>
#include "doctor/looks.h"
#include "settings/enforce.h"

#define CLOCK_SLACK_S 5				/* a slow RPC is no wrong clock */
#define PASS_LATE_LEAST_S   60 /* a pass over a large cluster, one that failed, and one more */
#define PASS_LATE_INTERVALS 10

static const char *slurm_user(const struct facts *f)
{
	return f->conf && f->conf->slurm_user ? f->conf->slurm_user : "root";
}

/* --- settings --------------------------------------------------------------------------------------- */

enum look look_settings(const struct facts *f, FILE *found, FILE *mend)
{
	fputs(f->settings_error ? f->settings_error : f->settings_path, found);
	if (f->settings_error)
		fprintf(mend,
			"budgetd --check -c %s    # after each change; budgetd --sample shows every setting",
			f->settings_path);
	return f->settings_error ? LOOK_BAD : LOOK_FINE;
}

enum look look_settings_readable(const struct facts *f, FILE *found, FILE *mend)
{
	if (!f->conf || f->settings_error)
		return LOOK_UNKNOWN;
	if (!f->settings_barred) {
		fprintf(found, "%s can read %s", slurm_user(f), f->settings_path);
		return LOOK_FINE;
	}
	fprintf(found, "%s cannot read %s because of the rights of %s", slurm_user(f), f->settings_path,
		f->settings_barred);
	fprintf(mend, strcmp(f->settings_barred, f->settings_path) ? "chmod o+x %s" : "chmod o+r %s",
		f->settings_barred);
	return LOOK_BAD;
}

static bool is_partition(const struct facts *f, const char *name, size_t length)
{
	for (size_t i = 0; i < f->partition_count; i++)
		if (strlen(f->partitions[i].name) == length && !memcmp(f->partitions[i].name, name, length))
			return true;
	return false;
}

/* Which mode is in force where is worth a line in any case: a site forgets that it is still in shadow
 * mode. */
enum look look_enforce(const struct facts *f, FILE *found, FILE *mend)
{
	const char *cursor = f->settings->enforce_partitions, *name;
	enum enforcement word;
	size_t length, unknown = 0, kept = 0;

	if (!f->conf || f->settings_error)
		return LOOK_UNKNOWN;
	fprintf(found, "enforce = %s", settings_enforcement_name((enum enforcement)f->settings->enforce));
	fputs("enforce_partitions = \"", mend);
	while (cursor && settings_enforce_next(&cursor, &name, &length, &word)) {
		bool there = is_partition(f, name, length);

		fprintf(found, ", %.*s=%s%s", (int)length, name, settings_enforcement_name(word),
			there ? "" : " (no such partition)");
		if (there)
			fprintf(mend, "%s%.*s=%s", kept++ ? " " : "", (int)length, name,
				settings_enforcement_name(word));
		unknown += !there;
	}
	fputs("\"", mend);
	return unknown ? LOOK_BAD : LOOK_FINE;
}

/* --- Slurm's daemons -------------------------------------------------------------------------------- */

enum look look_munge(const struct facts *f, FILE *found, FILE *mend)
{
	fputs(f->munge_error ? f->munge_error : "a credential was made and read", found);
	if (f->munge_error)
		fputs("systemctl restart munge", mend);
	return f->munge_error ? LOOK_BAD : LOOK_FINE;
}

enum look look_slurmctld(const struct facts *f, FILE *found, FILE *mend)
{
	if (f->munge_error)
		return LOOK_UNKNOWN;
	if (f->conf) {
		fprintf(found, "cluster %s, Slurm %s", f->conf->cluster, f->conf->version);
		return LOOK_FINE;
	}
	fputs(f->conf_error ? f->conf_error : "it was not asked", found);
	fputs("systemctl restart slurmctld", mend);
	return LOOK_BAD;
}

enum look look_slurmdbd(const struct facts *f, FILE *found, FILE *mend)
{
	if (!f->conf || !f->conf->accounting_type || !strstr(f->conf->accounting_type, "slurmdbd"))
		return LOOK_UNKNOWN;
	if (f->accounts) {
		fprintf(found, "%zu QOS, %zu associations", f->accounts->qos_count, f->accounts->count);
		return LOOK_FINE;
	}
	fputs(f->accounts_error ? f->accounts_error : "it was not asked", found);
	fputs("systemctl restart slurmdbd", mend);
	return LOOK_BAD;
}

enum look look_clock(const struct facts *f, FILE *found, FILE *mend)
{
	int64_t ahead;

	if (!f->conf)
		return LOOK_UNKNOWN;
	ahead = f->now - f->conf->taken_at;
	if (ahead >= -CLOCK_SLACK_S && ahead <= CLOCK_SLACK_S) {
		fputs("this host and slurmctld agree", found);
		return LOOK_FINE;
	}
	fprintf(found, "the clock of this host is %" PRId64 " s %s that of slurmctld",
		ahead > 0 ? ahead : -ahead, ahead > 0 ? "ahead of" : "behind");
	fputs("chronyc makestep", mend);
	return LOOK_BAD;
}

/* --- budgetd ---------------------------------------------------------------------------------------- */

enum look look_budgetd(const struct facts *f, FILE *found, FILE *mend)
{
	if (!f->budgetd_asked)
		return LOOK_UNKNOWN;
	if (!f->budgetd_error)
		fprintf(found, "budgetd %s at %s", f->budgetd_version, f->socket_path);
	else
		fputs(f->budgetd_error, found);
	if (f->budgetd_error)
		fputs("systemctl restart budgetd", mend);
	return f->budgetd_error ? LOOK_BAD : LOOK_FINE;
}

static bool budgetd_is_there(const struct facts *f)
{
	return f->budgetd_asked && !f->budgetd_error;
}

enum look look_budgetd_version(const struct facts *f, FILE *found, FILE *mend)
{
	if (!budgetd_is_there(f))
		return LOOK_UNKNOWN;
	fprintf(found, "budgetd is %s, budgetctl %s", f->budgetd_version, f->version);
	fputs("systemctl restart budgetd", mend);
	return strcmp(f->budgetd_version, f->version) ? LOOK_BAD : LOOK_FINE;
}

static bool slurm_is_well(const struct facts *f)
{
	return budgetd_is_there(f) && !strcmp(f->budgetd_slurm, "ok");
}

/* "not asked yet" is what a budgetd says that has just been started. */
enum look look_budgetd_slurm(const struct facts *f, FILE *found, FILE *mend)
{
	if (!budgetd_is_there(f) || !f->conf ||
		(!f->last_pass_at && !strcmp(f->budgetd_slurm, "not asked yet")))
		return LOOK_UNKNOWN;
	fprintf(found, "budgetd says of Slurm: %s", f->budgetd_slurm);
	fputs("journalctl -u budgetd -n 50", mend);
	return slurm_is_well(f) ? LOOK_FINE : LOOK_BAD;
}

enum look look_budgetd_pass(const struct facts *f, FILE *found, FILE *mend)
{
	int64_t late = PASS_LATE_INTERVALS * f->settings->pass_interval_s, age = f->now - f->last_pass_at;

	if (!slurm_is_well(f) || !f->last_pass_at)
		return LOOK_UNKNOWN;
	late = late < PASS_LATE_LEAST_S ? PASS_LATE_LEAST_S : late;
	fprintf(found, "the last pass was %" PRId64 " s ago, one is due every %" PRId64 " s", age,
		f->settings->pass_interval_s);
	fputs("systemctl restart budgetd", mend);
	return age > late ? LOOK_BAD : LOOK_FINE;
}

/* A Prometheus of which no series belongs to a GPU in use is no help: labels and Slurm's names differ. */
enum look look_prometheus(const struct facts *f, FILE *found, FILE *mend)
{
	const char *url = f->settings->prometheus;
	bool blind = f->gpus_used && f->gpus_unseen == f->gpus_used;

	if (!budgetd_is_there(f) || (f->prometheus && !strcmp(f->prometheus, "not asked yet")))
		return LOOK_UNKNOWN;
	if (!f->prometheus) {
		fputs("it is not asked: `prometheus` in budgetd.conf is empty", found);
		return LOOK_FINE;
	}
	if (strcmp(f->prometheus, "ok")) {
		fprintf(found, "budgetd says of Prometheus: %s", f->prometheus);
		fprintf(mend, "curl -sS %s/-/ready; journalctl -u budgetd -n 50", url ? url : "");
		return LOOK_BAD;
	}
	fprintf(found, "it tells of %" PRId64 " of %" PRId64 " GPUs that jobs have",
		f->gpus_used - f->gpus_unseen, f->gpus_used);
	if (blind)
		fputs("budgetctl health    # then gpu_labels: node= has to give Slurm's node names, index= the order of gres.conf",
			mend);
	return blind ? LOOK_BAD : LOOK_FINE;
}

enum look look_notices(const struct facts *f, FILE *found, FILE *mend)
{
	if (!budgetd_is_there(f))
		return LOOK_UNKNOWN;
	if (!f->notices) {
		fputs("they are off: notice_command and notice_url_file in budgetd.conf are empty", found);
		return LOOK_FINE;
	}
	if (strcmp(f->notices, "ok"))
		fprintf(found, "budgetd says of notices: %s", f->notices);
	else
		fprintf(found, "%" PRId64 " wait, %" PRId64 " were never told", f->notices_waiting, f->notices_failed);
	fputs("budgetctl notice list; budgetctl notice test", mend);
	return strcmp(f->notices, "ok") ? LOOK_BAD : LOOK_FINE;
}

static pid_t second_budgetd(const struct facts *f)
{
	if (f->people.listener && f->slurm.listener && f->people.listener != f->slurm.listener)
		return f->slurm.listener;
	return f->second;
}

enum look look_budgetd_alone(const struct facts *f, FILE *found, FILE *mend)
{
	pid_t second = second_budgetd(f);

	if (!f->people.listener)
		return LOOK_UNKNOWN;
	if (!second) {
		fprintf(found, "process %d alone", (int)f->people.listener);
		return LOOK_FINE;
	}
	fprintf(found, "process %d answers at %s, and process %d %s", (int)f->people.listener,
		f->settings->socket, (int)second,
		second == f->second ? "has the same books open" : "at slurm_socket");
	fprintf(mend, "kill %d; systemctl restart budgetd", (int)second);
	return LOOK_BAD;
}

static void mend_barred(const char *barred, FILE *found, FILE *mend)
{
	fprintf(found, "the rights of %s keep them out", barred);
	fprintf(mend, "chmod o+x %s", barred);
}

enum look look_socket_people(const struct facts *f, FILE *found, FILE *mend)
{
	const char *path = f->settings->socket;

	if (f->settings_error || !f->people.there)
		return LOOK_UNKNOWN;
	fprintf(found, "%s has the rights %04o", path, (unsigned)f->people.mode);
	if ((f->people.mode & 0666) != 0666) {
		fprintf(mend, "chmod 0666 %s", path);
		return LOOK_BAD;
	}
	if (f->people.barred) {
		fputs(", but ", found);
		mend_barred(f->people.barred, found, mend);
		return LOOK_BAD;
	}
	return LOOK_FINE;
}

/* root may always; so the owner is to be SlurmUser, and nobody else has rights. */
enum look look_socket_slurm(const struct facts *f, FILE *found, FILE *mend)
{
	const char *path = f->settings->slurm_socket;

	if (f->settings_error || !f->conf || !budgetd_is_there(f))
		return LOOK_UNKNOWN;
	if (!f->slurm.there) {
		fprintf(found, "there is no socket %s", path);
		fputs("systemctl restart budgetd", mend);
		return LOOK_BAD;
	}
	fprintf(found, "%s belongs to user %u, has the rights %04o", path, (unsigned)f->slurm.owner,
		(unsigned)f->slurm.mode);
	if (f->slurm.owner != f->conf->slurm_uid || f->slurm.mode != 0600) {
		fprintf(mend, "chown %s %s; chmod 0600 %s", slurm_user(f), path, path);
		return LOOK_BAD;
	}
	if (f->slurm.barred) {
		fputs(", but ", found);
		mend_barred(f->slurm.barred, found, mend);
		return LOOK_BAD;
	}
	return LOOK_FINE;
}

/* --- plugins ---------------------------------------------------------------------------------------- */

#define VERSION_TEXT_MAX 32

static const char *version_text(uint32_t v, char buf[VERSION_TEXT_MAX])
{
	snprintf(buf, VERSION_TEXT_MAX, "%u.%02u.%u", v >> 16 & 255, v >> 8 & 255, v & 255);
	return buf;
}

enum look look_plugin_file(const struct facts *f, FILE *found, FILE *mend)
{
	if (!f->conf)
		return LOOK_UNKNOWN;
	if (f->submit.path) {
		fputs(f->submit.path, found);
		return LOOK_FINE;
	}
	fprintf(found, "there is no job_submit_gpubudget.so in PluginDir=%s", f->conf->plugin_dir);
	fprintf(mend, "make install    # with ./configure --with-slurm-plugindir=%.*s",
		(int)strcspn(f->conf->plugin_dir, ":"), f->conf->plugin_dir);
	return LOOK_BAD;
}

/* `mask` is what Slurm's loader compares. */
static enum look version_look(const struct facts *f, const struct fact_plugin *p, uint32_t mask,
	const char *restart, FILE *found, FILE *mend)
{
	uint32_t want = f->conf ? version_number(f->conf->version) : 0;
	char text[VERSION_TEXT_MAX];

	if (!want || !p->path)
		return LOOK_UNKNOWN;
	if (p->version)
		fprintf(found, "%s is built for Slurm %s, slurmctld is %s", p->path,
			version_text(p->version, text), f->conf->version);
	else
		fprintf(found, "%s is no plugin of Slurm", p->path);
	fprintf(mend, "./configure && make && make install    # with the headers of Slurm %s%s",
		f->conf->version, restart);
	return (p->version & mask) == (want & mask) ? LOOK_FINE : LOOK_BAD;
}

enum look look_plugin_version(const struct facts *f, FILE *found, FILE *mend)
{
	return version_look(f, &f->submit, 0xffffff, "; then restart slurmctld", found, mend);
}

enum look look_spank_version(const struct facts *f, FILE *found, FILE *mend)
{
	return version_look(f, &f->spank, 0xffff00, ", on every node and login host", found, mend);
}

/* "90s", "15m", "8h", "7d": what spank/options.c reads back as the same. */
static void print_length(FILE *to, int64_t s)
{
	static const struct {
		int64_t s;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	size_t i = 0;

	while (i < 3 && s % units[i].s)
		i++;
	fprintf(to, "%" PRId64 "%c", s / units[i].s, units[i].unit);
}

/* optional: what the plugin refuses ends the command all the same, and a plugin of a wrong version then stops
 * nobody's sbatch. */
static void print_plugstack_line(const struct facts *f, FILE *mend)
{
	fprintf(mend, "optional %s max_min_runtime=", f->spank.path ? f->spank.path : "gpubudget.so");
	print_length(mend, f->settings->max_min_runtime_s);
}

enum look look_plugstack(const struct facts *f, FILE *found, FILE *mend)
{
	if (!f->conf)
		return LOOK_UNKNOWN;
	if (f->plugstack_line)
		fprintf(found, "\"%s\"", f->plugstack_line);
	else if (f->plugstack_error)
		fputs(f->plugstack_error, found);
	else
		fprintf(found, "no line of %s names gpubudget.so",
			f->conf->plugstack ? f->conf->plugstack : "plugstack.conf");
	print_plugstack_line(f, mend);
	return f->plugstack_line ? LOOK_FINE : LOOK_BAD;
}

enum look look_spank_file(const struct facts *f, FILE *found, FILE *mend)
{
	if (!f->conf || !f->plugstack_line)
		return LOOK_UNKNOWN;
	if (f->spank.path) {
		fputs(f->spank.path, found);
		return LOOK_FINE;
	}
	fprintf(found, "there is no file for the line \"%s\"", f->plugstack_line);
	fputs("make install    # on every node and login host", mend);
	return LOOK_BAD;
}

enum look look_spank_limit(const struct facts *f, FILE *found, FILE *mend)
{
	if (!f->conf || !f->plugstack_line || f->settings_error)
		return LOOK_UNKNOWN;
	fputs("max_min_runtime is ", found);
	print_length(found, f->plugstack_limit_s);
	fputs(" in plugstack.conf, ", found);
	print_length(found, f->settings->max_min_runtime_s);
	fputs(" in budgetd.conf", found);
	print_plugstack_line(f, mend);
	return f->plugstack_limit_s == f->settings->max_min_runtime_s ? LOOK_FINE : LOOK_BAD;
}
