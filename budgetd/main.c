/* SPDX-License-Identifier: GPL-2.0-or-later
 * main.c - budgetd: options, the parts in their order, passes until told to stop. */
#include "config.h"
#include "budgetd/budgetd.h"
#include "budgetd/cluster_state.h"
#include "budgetd/controller.h"
#include "budgetd/ledger.h"
#include "budgetd/log.h"
#include "budgetd/people.h"
#include "budgetd/server.h"
#include "slurm_link/link.h"
#include <errno.h>
#include <getopt.h>
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

enum exit_code { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum mode { MODE_RUN, MODE_CHECK, MODE_INIT, MODE_SAMPLE };

struct options {
	const char *conf;
	enum mode mode;
};

static const char usage_text[] =
	"Usage: budgetd [-c FILE] [-n | --init | --sample]\n"
	"Keep the GPU-hour budgets of a Slurm cluster: answer submissions, follow jobs, charge runs.\n"
	"\n"
	"  -c, --config FILE   read FILE instead of %s\n"
	"  -n, --check         read the settings, say what is wrong with them, and exit\n"
	"      --init          make a new, empty database where the settings say, and exit\n"
	"      --sample        print a budgetd.conf with every setting and its default, and exit\n"
	"  -h, --help          print this and exit\n"
	"  -V, --version       print the version and exit\n"
	"\n"
	"It stays in the foreground and logs to stderr. Exit status: 0 done, 1 failed, 2 wrong usage.\n";

enum { OPT_INIT = 256, OPT_SAMPLE };

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' }, { "check", no_argument, NULL, 'n' },   { "init", no_argument, NULL, OPT_INIT },
	{ "sample", no_argument, NULL, OPT_SAMPLE }, { "help", no_argument, NULL, 'h' },   { "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* -1 to go on, else the exit code. */
static int read_options(int argc, char **argv, struct options *o)
{
	int c;

	while ((c = getopt_long(argc, argv, "c:nhV", long_options, NULL)) != -1) {
		switch (c) {
		case 'c':
			o->conf = optarg;
			break;
		case 'n':
			o->mode = MODE_CHECK;
			break;
		case OPT_INIT:
			o->mode = MODE_INIT;
			break;
		case OPT_SAMPLE:
			o->mode = MODE_SAMPLE;
			break;
		case 'h':
			printf(usage_text, settings_default_path());
			return EXIT_DONE;
		case 'V':
			puts("budgetd " PACKAGE_VERSION);
			return EXIT_DONE;
		default:
			fputs("Try 'budgetd --help'.\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "budgetd: it takes no \"%s\". Try 'budgetd --help'.\n", argv[optind]);
		return EXIT_USAGE;
	}
	return -1;
}

/* --- the parts ---------------------------------------------------------------------------------- */

struct daemon {
	struct budgetd b;
	struct controller *controller;
	struct server *server;
	int signals, timer;
};

static void daemon_stop(struct daemon *d)
{
	server_stop(d->server);
	controller_free(d->controller);
	slurm_link_close(d->b.slurm);
	ledger_close(d->b.reader);
	ledger_close(d->b.ledger);
	cluster_state_free(d->b.cluster);
	people_free(d->b.people);
	if (d->signals >= 0)
		close(d->signals);
	if (d->timer >= 0)
		close(d->timer);
}

/* SIGTERM and SIGINT are read, not caught: blocked before any thread exists, so that every thread has them blocked. */
static int watch_signals(struct daemon *d, struct fault *why)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	d->signals = signalfd(-1, &set, SFD_CLOEXEC);
	d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	return d->signals < 0 || d->timer < 0 ? fault_set(why, "signals: %s", strerror(errno)) : 0;
}

static int daemon_start(struct daemon *d, struct fault *why)
{
	if (watch_signals(d, why) < 0)
		return -1;
	d->b.people = people_new(d->b.settings->administrators, why);
	d->b.cluster = cluster_state_new();
	if (!d->b.people || !d->b.cluster || ledger_open(d->b.settings->database, &d->b.ledger, why) < 0 ||
		ledger_open_reader(d->b.settings->database, &d->b.reader, why) < 0 || slurm_link_open(NULL, &d->b.slurm, why) < 0)
		return -1;
	d->controller = controller_new(&d->b, why);
	return d->controller ? server_start(&d->b, &d->server, why) : -1;
}

static void set_timer(struct daemon *d)
{
	struct itimerspec every = { .it_interval.tv_sec = d->b.settings->pass_interval_s, .it_value.tv_nsec = 1 };

	timerfd_settime(d->timer, 0, &every, NULL);
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
		log_error("a pass failed and is tried again every %jd s: %s", (intmax_t)d->b.settings->pass_interval_s, why.text);
		snprintf(trouble, FAULT_TEXT_MAX, "%s", why.text);
	}
}

static void serve(struct daemon *d)
{
	struct pollfd fds[] = { { .fd = d->signals, .events = POLLIN }, { .fd = d->timer, .events = POLLIN } };
	char trouble[FAULT_TEXT_MAX] = "";
	uint64_t ticks;

	set_timer(d);
	log_info("ready: %s", d->b.settings->socket);
	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		if (fds[0].revents)
			return;
		if (fds[1].revents && read(d->timer, &ticks, sizeof(ticks)) == sizeof(ticks))
			pass_once(d, trouble);
	}
}

static int run(const struct settings *s, struct fault *why)
{
	struct daemon d = { .b.settings = s, .signals = -1, .timer = -1 };
	int rc = daemon_start(&d, why);

	if (rc == 0) {
		serve(&d);
		log_info("stopping");
	}
	daemon_stop(&d);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = { .conf = settings_default_path(), .mode = MODE_RUN };
	struct settings *s = NULL;
	struct fault why = {0};
	int rc = read_options(argc, argv, &o);

	if (rc >= 0)
		return rc;
	if (o.mode == MODE_SAMPLE) {
		settings_print_sample(stdout);
		return EXIT_DONE;
	}
	rc = settings_load(o.conf, &s, &why);
	if (rc == 0 && o.mode == MODE_CHECK)
		settings_print(s, stdout);
	else if (rc == 0 && o.mode == MODE_INIT)
		rc = ledger_create(s->database, &why);
	else if (rc == 0)
		rc = run(s, &why);
	settings_free(s);
	if (rc < 0)
		fprintf(stderr, "budgetd: %s\n", why.text);
	return rc < 0 ? EXIT_FAILED : EXIT_DONE;
}
