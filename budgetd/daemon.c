/* SPDX-License-Identifier: GPL-2.0-or-later
 * daemon.c - the life of the daemon.
 *
 * Signals are read, not caught: they are blocked before any thread exists. A reload is all or nothing: the
 * whole new file is read and checked, then one pointer is changed. Threads may be in the middle of using the
 * old settings, so those live until the end. */
#include "budgetd/daemon.h"
#include "budgetd/budgetd.h"
#include "budgetd/cluster_state.h"
#include "budgetd/controller.h"
#include "budgetd/gpu_watch.h"
#include "budgetd/ledger.h"
#include "budgetd/log.h"
#include "budgetd/metrics.h"
#include "budgetd/notices.h"
#include "budgetd/page.h"
#include "budgetd/people.h"
#include "budgetd/rates.h"
#include "budgetd/server.h"
#include "budgetd/start.h"
#include "budgetd/tally.h"
#include "lib/zone.h"
#include "slurm_link/link.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct daemon {
	struct budgetd b;
	const char *conf;
	struct settings **read;		/* every settings since the start, the last ones are in force */
	size_t nread;
	struct controller *controller;
	struct server *server;
	struct metrics_door *metrics;
	struct page_door *page;
	int signals, timer;
};

/* --- start and stop ----------------------------------------------------------------------------- */

static int keep_settings(struct daemon *d, struct settings *s, struct fault *why)
{
	struct settings **room = reallocarray(d->read, d->nread + 1, sizeof(*room));

	if (!room)
		return fault_errno(why, ENOMEM, "out of memory");
	d->read = room;
	d->read[d->nread++] = s;
	d->b.settings = s;
	return 0;
}

static void daemon_stop(struct daemon *d)
{
	server_stop(d->server);
	metrics_stop(d->metrics);
	page_stop(d->page);
	notices_stop(d->b.notices);
	gpu_watch_stop(d->b.gpus);
	controller_free(d->controller);
	slurm_link_close(d->b.slurm);
	ledger_close(d->b.snapshot);
	ledger_close(d->b.reader);
	ledger_close(d->b.ledger);
	cluster_state_free(d->b.cluster);
	people_free(d->b.people);
	rates_free(d->b.rates);
	free(d->b.tally);
	zone_free(d->b.zone);
	for (size_t i = 0; i < d->nread; i++)
		settings_free(d->read[i]);
	free(d->read);
	if (d->signals >= 0)
		close(d->signals);
	if (d->timer >= 0)
		close(d->timer);
}

static int watch_signals(struct daemon *d, struct fault *why)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	d->signals = signalfd(-1, &set, SFD_CLOEXEC);
	d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	return d->signals < 0 || d->timer < 0 ? fault_set(why, "signals: %s", strerror(errno)) : 0;
}

static int read_rates(struct daemon *d, struct fault *why)
{
	int rc;

	if (ledger_begin(d->b.reader, LEDGER_READ, why) < 0)
		return -1;
	rc = rates_read(d->b.rates, d->b.reader, why);
	ledger_rollback(d->b.reader);
	return rc;
}

static int daemon_begin(struct daemon *d, struct fault *why)
{
	struct fault detail = { "" };

	if (watch_signals(d, why) < 0)
		return -1;
	d->b.zone = zone_new(d->b.settings->time_zone, &detail);	/* before there are threads */
	if (!d->b.zone)
		return fault_errno(why, errno, "time_zone: %s", detail.text);
	d->b.people = people_new(d->b.settings->administrators, why);
	d->b.cluster = cluster_state_new();
	d->b.rates = rates_new();
	d->b.tally = tally_new();
	if (!d->b.people || !d->b.cluster || !d->b.rates || !d->b.tally ||
		ledger_open(d->b.settings->database, &d->b.ledger, why) < 0 ||
		ledger_open_reader(d->b.settings->database, &d->b.reader, why) < 0 ||
		ledger_open_reader(d->b.settings->database, &d->b.snapshot, why) < 0 ||
		read_rates(d, why) < 0 || slurm_link_open(NULL, &d->b.slurm, why) < 0 ||
		gpu_watch_start(&d->b, &d->b.gpus, why) < 0 || notices_start(&d->b, &d->b.notices, why) < 0)
		return -1;
	d->controller = controller_new(&d->b, why);
	if (!d->controller || controller_know_guard(&d->b, d->b.reader, why) < 0 ||
		metrics_start(&d->b, &d->metrics, why) < 0 || page_start(&d->b, &d->page, why) < 0)
		return -1;
	return server_start(&d->b, &d->server, why);
}

/* --- the settings again ------------------------------------------------------------------------- */

/* What cannot be changed under connections and open files. */
static int check_fixed(const struct settings *now, const struct settings *then, struct fault *why)
{
	if (strcmp(now->socket, then->socket) || strcmp(now->slurm_socket, then->slurm_socket) ||
		strcmp(now->database, then->database) || strcmp(now->listen, then->listen) ||
		strcmp(now->metrics_listen, then->metrics_listen) ||
		strcmp(now->page_listen, then->page_listen) ||
		strcmp(now->page_secret_file, then->page_secret_file) ||
		strcmp(now->time_zone, then->time_zone))
		return fault_errno(why, EINVAL,
			"socket, slurm_socket, listen, metrics_listen, page_listen, page_secret_file, database and time_zone change at a restart only");
	return 0;
}

static int reload(struct daemon *d, struct fault *why)
{
	struct settings *s;

	if (settings_load(d->conf, &s, why) < 0)
		return -1;
	if (check_fixed(s, d->b.settings, why) < 0 || notices_check(s, why) < 0 ||
		people_set_administrators(d->b.people, s->administrators, why) < 0 ||
		keep_settings(d, s, why) < 0) {
		settings_free(s);
		return -1;
	}
	return 0;
}

static void set_timer(struct daemon *d)
{
	struct itimerspec every = { .it_interval.tv_sec = d->b.settings->pass_interval_s,
		.it_value.tv_nsec = 1 };

	timerfd_settime(d->timer, 0, &every, NULL);
}

static void reload_and_tell(struct daemon *d)
{
	struct fault why = {0};
	char status[FAULT_TEXT_MAX + 64];

	start_reloading();
	if (reload(d, &why) < 0) {
		log_error("the settings were not changed: %s", why.text);
		snprintf(status, sizeof(status), "running with the settings before: %s", why.text);
	} else {
		log_info("settings read again from %s", d->conf);
		snprintf(status, sizeof(status), "running");
		set_timer(d);
	}
	start_ready(-1, status);
}

/* --- serving ------------------------------------------------------------------------------------ */

/* Who was told to go goes when it is due, not a pass later. */
static void wake_when_due(struct daemon *d)
{
	int64_t due = controller_next_due(d->controller), in = due ? due - time(NULL) : 0;
	struct itimerspec next = { .it_interval.tv_sec = d->b.settings->pass_interval_s,
		.it_value.tv_sec = in > 0 ? in : 1 };

	if (due && next.it_value.tv_sec < d->b.settings->pass_interval_s)
		timerfd_settime(d->timer, 0, &next, NULL);
}

/* The same trouble in every pass is said once, and its end is said too. */
static void pass_once(struct daemon *d, char trouble[FAULT_TEXT_MAX])
{
	struct fault why = {0};

	if (controller_pass(d->controller, time(NULL), &why) == 0) {
		if (trouble[0])
			log_info("passes go on");
		trouble[0] = '\0';
	} else if (strcmp(trouble, why.text) != 0) {
		log_error("a pass failed and is tried again every %jd s: %s",
			(intmax_t)d->b.settings->pass_interval_s, why.text);
		snprintf(trouble, FAULT_TEXT_MAX, "%s", why.text);
	}
	wake_when_due(d);
}

/* false: told to stop. */
static bool on_signal(struct daemon *d)
{
	struct signalfd_siginfo s;

	if (read(d->signals, &s, sizeof(s)) != sizeof(s))
		return true;
	if (s.ssi_signo != SIGHUP)
		return false;
	reload_and_tell(d);
	return true;
}

static void serve(struct daemon *d)
{
	struct pollfd fds[] = { { .fd = d->signals, .events = POLLIN },
		{ .fd = d->timer, .events = POLLIN } };
	char trouble[FAULT_TEXT_MAX] = "";
	uint64_t ticks;

	set_timer(d);
	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		if (fds[0].revents && !on_signal(d))
			return;
		if (fds[1].revents && read(d->timer, &ticks, sizeof(ticks)) == sizeof(ticks))
			pass_once(d, trouble);
		start_alive();
	}
}

int daemon_run(const struct daemon_start *start, struct fault *why)
{
	struct daemon d = { .conf = start->conf, .signals = -1, .timer = -1 };
	int rc = keep_settings(&d, start->settings, why);

	if (rc < 0)
		settings_free(start->settings);
	else
		rc = daemon_begin(&d, why);
	if (rc == 0) {
		log_info("ready: %s%s%s", d.b.settings->socket, *d.b.settings->listen ? " and " : "",
			d.b.settings->listen);
		start_ready(start->report, "running");
		serve(&d);
		start_stopping();
		log_info("stopping");
	} else {
		start_failed(why->text);
	}
	daemon_stop(&d);
	return rc;
}
