/* SPDX-License-Identifier: GPL-2.0-or-later
 * main.c - budgetd: which of its modes, and nothing else. */
#include "config.h"
#include "budgetd/daemon.h"
#include "budgetd/ledger.h"
#include "budgetd/metrics.h"
#include "budgetd/notices.h"
#include "budgetd/options.h"
#include "budgetd/people.h"
#include "budgetd/start.h"
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include "lib/zone.h"

static int run(const struct options *o, struct settings *s, struct fault *why)
{
	struct daemon_start start = { .conf = o->conf, .settings = s, .report = -1 };

	if (o->detach && start_detach(&start.report, why) < 0) {
		settings_free(s);
		return -1;
	}
	return daemon_run(&start, why);
}

/* What only a start would find beside what the file alone can be wrong about. */
static int check(const struct settings *s, struct fault *why)
{
	struct fault detail = { "" };
	struct zone *zone = zone_new(s->time_zone, &detail);

	if (!zone)
		return fault_errno(why, errno, "time_zone: %s", detail.text);
	zone_free(zone);
	return notices_check(s, why) < 0 ? -1 : people_check(s->administrators, why);
}

/* What needs no settings: lists of the manual pages. */
static int print_manual(const char *list, struct fault *why)
{
	if (!strcmp(list, "settings"))
		settings_print_manual(stdout);
	else if (!strcmp(list, "options"))
		options_print_manual(stdout);
	else if (!strcmp(list, "notices"))
		notices_print_manual(stdout);
	else if (!strcmp(list, "metrics"))
		metrics_print_manual(stdout);
	else
		return fault_set(why, "the manual has no list \"%s\"", list);
	return 0;
}

static int do_mode(const struct options *o, struct fault *why)
{
	struct settings *s;
	int rc = 0;

	if (o->mode == MODE_MANUAL)
		return print_manual(o->list, why);
	if (o->mode == MODE_SAMPLE) {
		settings_print_sample(stdout);
		return 0;
	}
	if (settings_load(o->conf, &s, why) < 0) {
		start_failed(why->text);
		return -1;
	}
	if (o->mode == MODE_RUN)
		return run(o, s, why);
	if (o->mode == MODE_INIT)
		rc = ledger_create(s->database, why);
	else
		rc = check(s, why);
	if (rc == 0 && o->mode == MODE_CHECK)
		settings_print(s, stdout);
	settings_free(s);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = { .conf = settings_default_path(), .mode = MODE_RUN };
	struct fault why = {0};
	int rc = options_read(argc, argv, &o);

	/* nobody reads its statistics, which take a lock for every allocation */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (rc >= 0)
		return rc;
	if (do_mode(&o, &why) < 0) {
		fprintf(stderr, "budgetd: %s\n", why.text);
		return EXIT_FAILED;
	}
	if (fflush(stdout) < 0 || ferror(stdout)) {	/* a sample on a full disk is no sample */
		perror("budgetd: the output could not be written");
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}
