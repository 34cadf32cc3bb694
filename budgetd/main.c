/* SPDX-License-Identifier: GPL-2.0-or-later
 * main.c - budgetd: its options, and nothing else. */
#include "config.h"
#include "budgetd/daemon.h"
#include "budgetd/ledger.h"
#include "budgetd/start.h"
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

enum exit_code { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum mode { MODE_RUN, MODE_CHECK, MODE_INIT, MODE_SAMPLE };

struct options {
	const char *conf;
	enum mode mode;
	bool detach;
};

static const char usage_text[] =
	"Usage: budgetd [-c FILE] [-d | -n | --init | --sample]\n"
	"Keep the GPU-hour budgets of a Slurm cluster: answer submissions, follow jobs, charge runs.\n"
	"\n"
	"  -c, --config FILE   read FILE instead of %s\n"
	"  -d, --detach        go to the background; return when it is ready, or say why it is not\n"
	"  -n, --check         read the settings, print them or what is wrong with them, and exit\n"
	"      --init          make a new, empty database where the settings say, and exit\n"
	"      --sample        print a budgetd.conf with every setting and its default, and exit\n"
	"  -h, --help          print this and exit\n"
	"  -V, --version       print the version and exit\n"
	"\n"
	"It logs to stderr. SIGHUP reads the settings again, all or nothing; SIGTERM and SIGINT end it.\n"
	"Exit status: 0 done, 1 failed, 2 wrong usage.\n";

enum { OPT_INIT = 256, OPT_SAMPLE };

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' },  { "detach", no_argument, NULL, 'd' }, { "check", no_argument, NULL, 'n' },
	{ "init", no_argument, NULL, OPT_INIT },     { "sample", no_argument, NULL, OPT_SAMPLE },
	{ "help", no_argument, NULL, 'h' },	     { "version", no_argument, NULL, 'V' }, { NULL, 0, NULL, 0 },
};

/* -1 to go on, else the exit code. */
static int read_options(int argc, char **argv, struct options *o)
{
	int c;

	while ((c = getopt_long(argc, argv, "c:dnhV", long_options, NULL)) != -1) {
		switch (c) {
		case 'c':
			o->conf = optarg;
			break;
		case 'd':
			o->detach = true;
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

static int run(const struct options *o, struct settings *s, struct fault *why)
{
	struct daemon_start start = { .conf = o->conf, .settings = s, .report = -1 };

	if (o->detach && start_detach(&start.report, why) < 0) {
		settings_free(s);
		return -1;
	}
	return daemon_run(&start, why);
}

static int do_mode(const struct options *o, struct fault *why)
{
	struct settings *s;
	int rc = 0;

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
		settings_print(s, stdout);
	settings_free(s);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = { .conf = settings_default_path(), .mode = MODE_RUN };
	struct fault why = {0};
	int rc = read_options(argc, argv, &o);

	if (rc >= 0)
		return rc;
	if (do_mode(&o, &why) < 0) {
		fprintf(stderr, "budgetd: %s\n", why.text);
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}
