/* SPDX-License-Identifier: GPL-2.0-or-later
 * table.c - every setting of budgetd.conf: name, type, default, range, words and help in one row
 *
 * A default is written as it would stand in the file and goes through the same reader, so that a default
 * out of range cannot be. */
#include "config.h"
#include "settings/table.h"
#include <inttypes.h>
#include <stdio.h>
#include "settings/settings.h"

#define MINUTE 60
#define HOUR 3600
#define DAY 86400
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Words in the order of their enum in settings.h. */
static const char *const unreachable_words[] = { "free", "accept", "reject", NULL };
static const char *const exhausted_words[] = { "free", "reject", "wait", NULL };
static const char *const unlimited_words[] = { "free", "reject", NULL };
static const char *const unknown_account_words[] = { "reject", "free", NULL };
static const char *const enforce_words[] = { "on", "warn", "off", NULL };
static const char *const drain_words[] = { "all", "ours", NULL };
static const char *const displace_words[] = { "on", "off", NULL };
static const char *const exporter_words[] = { "nvidia", "amd", "intel", NULL };
static const char *const suspended_words[] = { "yes", "no", NULL };
static const char *const hold_words[] = { "min_runtime", "time_limit", NULL };

#define AT(field) offsetof(struct settings, field)

const struct setting_row settings_table[SETTINGS] = {
	{ "socket", SOCKET_PATH, AT(socket), RUNDIR "/budgetd.sock", 0, 0, NULL,
		"The socket where budgetctl asks; any local user may connect." },
	{ "slurm_socket", SOCKET_PATH, AT(slurm_socket), RUNDIR "/slurm.sock", 0, 0, NULL,
		"The socket of the job_submit plugin, for root and SlurmUser only." },
	{ "database", FILE_PATH, AT(database), STATEDIR "/budget.db", 0, 0, NULL,
		"The books: an SQLite file on a local disk, with room beside it for its journal." },
	{ "listen", ADDRESS, AT(listen), "", 0, 0, NULL,
		"Where budgetctl of login nodes asks, by TCP and with a MUNGE credential: HOST:PORT, [IPv6]:PORT, or\n"
		"*:PORT (in quotes) for every address of this host. Empty = nowhere." },
	{ "credential_age", SECONDS, AT(credential_age_s), "1m", 5, 5 * MINUTE, NULL,
		"How old a credential that comes over `listen` may be. The clocks of login nodes must agree with ours better than that." },
	{ "munge_socket", OPTIONAL_PATH, AT(munge_socket), "", 0, 0, NULL,
		"The socket of munged, for `listen` and for `server`. Empty = where libmunge looks." },
	{ "server", SERVER, AT(server), "", 0, 0, NULL,
		"On a host without budgetd: where budgetctl asks, http://HOST:PORT or https://HOST. Empty = at `socket`." },
	{ "server_ca", OPTIONAL_PATH, AT(server_ca), "", 0, 0, NULL,
		"The certificates (PEM) that an https `server` is checked against. Empty = those that the host trusts." },
	{ "ask_deadline", MILLISECONDS, AT(ask_deadline_ms), "50ms", 10, 5000, NULL,
		"How long a submission waits for budgetd. slurmctld keeps its locks for that long." },
	{ "breaker", MILLISECONDS, AT(breaker_ms), "10s", 1000, 600000, NULL,
		"After a missed deadline the plugin does not ask for that long; then one job tries again." },
	{ "when_unreachable", CHOICE, AT(when_unreachable), "free", 0, 0, unreachable_words,
		"What happens to a GPU job that budgetd did not answer for: free = it runs in the free tier until\n"
		"budgetd is back, accept = it is left as it was asked for, reject = it is refused." },
	{ "qos_funded", NAME, AT(qos_funded), "funded", 0, 0, NULL, "The QOS of the funded tier." },
	{ "qos_funded_still", NAME, AT(qos_funded_still), "funded-still", 0, 0, NULL,
		"The QOS of funded jobs that Slurm must not displace by itself (het jobs)." },
	{ "qos_free", NAME, AT(qos_free), "free", 0, 0, NULL, "The QOS of the free tier." },
	{ "enforce", CHOICE, AT(enforce), "on", 0, 0, enforce_words,
		"on = verdicts are carried out, warn = they are made and reported (budgetctl shadow report) and\n"
		"nothing in Slurm is changed, off = nobody is asked." },
	{ "enforce_partitions", TEXT, AT(enforce_partitions), "", 0, 0, NULL,
		"The same for single partitions, in quotes: \"debug=off gpu=warn\"." },
	{ "default_min_runtime", SECONDS, AT(default_min_runtime_s), "15m", 10, 30 * DAY, NULL,
		"The minimum runtime of a job that names none. Keep PreemptExemptTime of the funded QOS equal." },
	{ "max_min_runtime", SECONDS, AT(max_min_runtime_s), "8h", MINUTE, 30 * DAY, NULL,
		"The longest minimum runtime that may be asked for; also max_min_runtime= in plugstack.conf." },
	{ "hold", CHOICE, AT(hold), "min_runtime", 0, 0, hold_words,
		"What is set aside at submission: min_runtime, or time_limit for classic accounting." },
	{ "on_exhausted", CHOICE, AT(on_exhausted), "free", 0, 0, exhausted_words,
		"When the budget does not suffice, unless a project says otherwise: free = the job runs in the\n"
		"free tier and its user is told, reject = it is refused, wait = it is held in the queue and released,\n"
		"in order, as money returns." },
	{ "unlimited_time", CHOICE, AT(unlimited_time), "free", 0, 0, unlimited_words,
		"A job without any time limit: free = accepted into the free tier, reject = refused." },
	{ "unknown_account", CHOICE, AT(unknown_account), "reject", 0, 0, unknown_account_words,
		"A Slurm account that is no project: reject = refused, free = its jobs run in the free tier." },
	{ "charge_suspended", CHOICE, AT(charge_suspended), "yes", 0, 0, suspended_words,
		"GPUs stay allocated to a suspended job: yes = that time is charged like any other, no = it costs nothing and its hold\n"
		"lasts as much longer. It counts as it is set when a run begins; what ran before stays as it is."},
	{ "node_fail_refund", SECONDS, AT(node_fail_refund_s), "4h", 0, 30 * DAY, NULL,
		"When a node fails, its funded runs are given back what they were charged for their last hours: at most that much of each.\n"
		"0 = nothing." },
	{ "displace", CHOICE, AT(displace), "on", 0, 0, displace_words,
		"off = funded runs are left alone until they end, whoever waits; Slurm by itself still displaces free ones." },
	{ "displace_kinds", COUNT_OF, AT(displace_kinds), "20", 1, 1000, NULL,
		"For how many kinds of jobs (the same project and size) that do not fit a pass looks for room, the first in the order." },
	{ "hysteresis", COUNT_OF, AT(hysteresis_percent), "5", 0, 100, NULL,
		"By how many percent the ratio of a project must be higher before its runs give way to another's job." },
	{ "grace", SECONDS, AT(grace_s), "2m", 0, HOUR, NULL,
		"What a funded run that gives way has left from its signal on, for a checkpoint." },
	{ "pass_interval", SECONDS, AT(pass_interval_s), "5s", 1, MINUTE, NULL,
		"How often budgetd looks at Slurm's jobs." },
	{ "unbound_hold", SECONDS, AT(unbound_hold_s), "10s", 5, HOUR, NULL,
		"How long a hold waits for its job to appear; then Slurm has refused the job and the hold goes." },
	{ "window", SECONDS, AT(window_s), "7d", HOUR, 366 * DAY, NULL, "The sliding window of fair share." },
	{ "drain", CHOICE, AT(drain), "all", 0, 0, drain_words,
		"Which draining nodes runs are moved away from when they may be: all = whoever drains them, Slurm itself too,\n"
		"ours = those of budgetctl drain." },
	{ "prometheus", URL, AT(prometheus), "", 0, 0, NULL,
		"The Prometheus that knows how busy GPUs are, http://HOST:PORT; jobs that leave them idle are told so, and lose\n"
		"their protection in the end. Empty = nobody looks." },
	{ "prometheus_step", SECONDS, AT(prometheus_step_s), "1m", 1, 10 * MINUTE, NULL,
		"How far the samples are apart that are looked at; at least twice its scrape interval." },
	{ "prometheus_deadline", MILLISECONDS, AT(prometheus_deadline_ms), "10s", 100, 60000, NULL,
		"How long an answer of Prometheus is waited for. Nothing else waits meanwhile." },
	{ "prometheus_ca", OPTIONAL_PATH, AT(prometheus_ca), "", 0, 0, NULL,
		"The certificates (PEM) that an https `prometheus` is checked against. Empty = those that the host trusts." },
	{ "gpu_exporter", CHOICE, AT(gpu_exporter), "nvidia", 0, 0, exporter_words,
		"Whose metrics Prometheus has: nvidia = dcgm-exporter, amd = device-metrics-exporter, intel = XPU Manager. It stands for the next four." },
	{ "gpu_utilization", TEXT, AT(gpu_utilization), "", 0, 0, NULL,
		"A query of your own, in quotes: a GPU is used where it is not 0. STEP in it is prometheus_step:\n"
		"\"max_over_time(my_gpu_busy[STEP])\". Empty = that of gpu_exporter, or not asked beside an own gpu_utilization." },
	{ "gpu_memory", TEXT, AT(gpu_memory), "", 0, 0, NULL,
		"Likewise, the memory that is used: a GPU whose memory changes is not idle." },
	{ "gpu_processes", TEXT, AT(gpu_processes), "", 0, 0, NULL,
		"Likewise, how many processes use it: a GPU where one comes or goes is not idle. No exporter has it by itself." },
	{ "gpu_labels", TEXT, AT(gpu_labels), "", 0, 0, NULL,
		"Which labels of your queries say whose a GPU is: \"node=LABEL index=LABEL\", the index counted as in gres.conf, or\n"
		"\"job=LABEL\"; and id=LABEL for what is told apart by it." },
	{ "idle_note", SECONDS, AT(idle_note_s), "30m", 0, DAY, NULL,
		"A funded job whose GPUs are all idle for so long is told once. 0s = not." },
	{ "idle_warning", SECONDS, AT(idle_warning_s), "1h", 0, DAY, NULL, "Then it is warned. 0s = not." },
	{ "idle_last_warning", SECONDS, AT(idle_last_warning_s), "105m", 0, DAY, NULL,
		"And again; no protection is lost before this was said, and the time from here to idle_unprotected went by. 0s = not." },
	{ "idle_unprotected", SECONDS, AT(idle_unprotected_s), "2h", 0, DAY, NULL,
		"Then the run is not protected any more: any funded job may displace it. 0s = never." },
	{ "lane_gpus", COUNT_OF, AT(lane.gpus), "2", 0, 64, NULL,
		"The debug lane: jobs of at most that many GPUs, and of the next two lengths, go first, one of each user at a time.\n"
		"0 = there is no lane." },
	{ "lane_min_runtime", SECONDS, AT(lane.min_runtime_s), "15m", 1, HOUR, NULL,
		"The longest minimum runtime of a job in the debug lane." },
	{ "lane_time_limit", SECONDS, AT(lane.time_limit_s), "2h", MINUTE, DAY, NULL,
		"The longest time limit of a job in the debug lane." },
	{ "lane_allowance", SECONDS, AT(lane.allowance_gpu_s), "2h", 0, 30 * DAY, NULL,
		"What the debug lane gives one user in a day, as time of one GPU: 2h is 2 GPUs for an hour. Then their jobs wait as all others do." },
	{ "clear_after", SECONDS, AT(clear_after_s), "12h", 1, 30 * DAY, NULL,
		"A funded job for several nodes that waited that long has its nodes cleared: only runs whose minimum runtime ends before its\n"
		"planned start begin there, and runs of its own project that are past theirs give way to it as well." },
	{ "time_zone", ZONE, AT(time_zone), "UTC", 0, 0, NULL,
		"Whose days the debug lane counts, and whose clock the weekly slots of projects follow: Europe/Berlin. Read at the start only." },
	{ "metrics_listen", ADDRESS, AT(metrics_listen), "", 0, 0, NULL,
		"Where Prometheus reads /metrics, by plain HTTP: 127.0.0.1:6831. Whoever can connect reads the figures of all projects, and on\n"
		"127.0.0.1 that is every user of this host. Empty = nowhere. Read at the start only." },
	{ "metrics_projects", COUNT_OF, AT(metrics_projects), "500", 1, 100000, NULL,
		"How many projects have rows of their own there, those with the largest shares; the others are summed up in one." },
	{ "page_listen", ADDRESS, AT(page_listen), "", 0, 0, NULL,
		"Where browsers, or the proxy before them, ask for the page that shows projects and jobs, by plain HTTP: 127.0.0.1:6832.\n"
		"Empty = nowhere. Read at the start only." },
	{ "page_proxies", TEXT, AT(page_proxies), "", 0, 0, NULL,
		"Whose word for who asks is taken there: the addresses of proxies that let nobody in without a password, in quotes. They also\n"
		"have to know page_secret_file. Empty = nobody's: the page then shows what anybody may see." },
	{ "page_user_header", TEXT, AT(page_user_header), "X-Remote-User", 0, 0, NULL,
		"The header in which they say it: a user name of this host." },
	{ "page_secret_file", OPTIONAL_PATH, AT(page_secret_file), "", 0, 0, NULL,
		"Its first line is what they send in X-Gpubudget-Secret, so that no other user of their host can speak for them. Nobody else may\n"
		"read it. Read at the start only." },
	{ "notice_command", OPTIONAL_PATH, AT(notice_command), "", 0, 0, NULL,
		"The program that is run for each notice, with its text on stdin and the rest in its environment; see budgetd(8). Only root or\n"
		"the user of budgetd can have written it. Empty = none." },
	{ "notice_url_file", OPTIONAL_PATH, AT(notice_url_file), "", 0, 0, NULL,
		"The first line of this file is the URL that each notice is posted to, as JSON: in a file, because such a URL often is a\n"
		"secret. Nobody else may read it. Empty = none; where neither is set there are no notices." },
	{ "notice_ca", OPTIONAL_PATH, AT(notice_ca), "", 0, 0, NULL,
		"The certificates (PEM) that an https URL is checked against. Empty = those that the host trusts." },
	{ "notice_kinds", TEXT, AT(notice_kinds), "budget expiry displaced idle", 0, 0, NULL,
		"What there are notices of, in quotes; the kinds are in budgetd(8)." },
	{ "notice_levels", TEXT, AT(notice_levels), "80 95 100", 0, 0, NULL,
		"Of how much of its GPU-hours, charged and held, in percent, the owners of a project are told, in quotes and rising." },
	{ "notice_rearm", COUNT_OF, AT(notice_rearm_points), "5", 0, 50, NULL,
		"How many percentage points below such a level it has to fall before that is told again. A deposit lets it be told at once." },
	{ "notice_expiry", SECONDS, AT(notice_expiry_s), "14d", 0, 366 * DAY, NULL,
		"How long before the end of an allocation that has GPU-hours left its owners are told. 0s = not." },
	{ "notice_copy", TEXT, AT(notice_copy), "", 0, 0, NULL,
		"Names that are among the recipients of every notice, in quotes, beside those whom it concerns." },
	{ "notice_deadline", MILLISECONDS, AT(notice_deadline_ms), "10s", 100, 5 * 60000, NULL,
		"How long the program may run, or the URL may take to answer. Nothing but notices waits meanwhile." },
	{ "notice_retry", SECONDS, AT(notice_retry_s), "10s", 1, HOUR, NULL,
		"When one that failed is tried again; twice as long after each failure, up to an hour." },
	{ "notice_keep", SECONDS, AT(notice_keep_s), "3d", MINUTE, 30 * DAY, NULL,
		"For how long that goes on. Then budgetctl notice list --failed has it." },
	{ "administrators", TEXT, AT(administrators), "", 0, 0, NULL,
		"Users who may do everything, beside root and SlurmUser; separated by commas or spaces, in quotes." },
};

bool setting_is_string(enum setting_type type)
{
	return type != MILLISECONDS && type != SECONDS && type != COUNT_OF && type != CHOICE;
}

const char *setting_length_text(int64_t value, enum setting_type type, char buf[SETTING_LENGTH_MAX])
{
	static const struct {
		int64_t s;
		char unit;
	} units[] = { { DAY, 'd' }, { HOUR, 'h' }, { MINUTE, 'm' }, { 1, 's' } };
	int64_t s = type == MILLISECONDS ? value / 1000 : value;
	size_t i = 0;

	if (type == COUNT_OF) {
		snprintf(buf, SETTING_LENGTH_MAX, "%" PRId64, value);
		return buf;
	}
	if (type == MILLISECONDS && value % 1000) {
		snprintf(buf, SETTING_LENGTH_MAX, "%" PRId64 "ms", value);
		return buf;
	}
	while (i < COUNT(units) - 1 && (s == 0 || s % units[i].s))
		i++;
	snprintf(buf, SETTING_LENGTH_MAX, "%" PRId64 "%c", s / units[i].s, units[i].unit);
	return buf;
}

const char *setting_range_text(const struct setting_row *row, char buf[SETTING_RANGE_MAX])
{
	char min[SETTING_LENGTH_MAX], max[SETTING_LENGTH_MAX];

	snprintf(buf, SETTING_RANGE_MAX, "%s to %s", setting_length_text(row->min, row->type, min),
		setting_length_text(row->max, row->type, max));
	return buf;
}
