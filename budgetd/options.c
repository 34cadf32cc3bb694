/* SPDX-License-Identifier: GPL-2.0-or-later
 * options.c - the command line of budgetd (options.h) */
#include "config.h"
#include "budgetd/options.h"
#include <getopt.h>
#include <stddef.h>
#include "lib/roff.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { OPT_INIT = 256, OPT_SAMPLE, OPT_MANUAL };

static const struct row {
	int code;			/* what getopt returns: the letter, or above every letter */
	const char *name, *argument;	/* NULL = takes none */
	const char *help;		/* NULL = for the build, not told of */
} rows[] = {
	{ 'c', "config", "FILE", "read FILE instead of " CONFDIR "/budgetd.conf" },
	{ 'd', "detach", NULL, "go to the background; return when it is ready, or say why it is not" },
	{ 'n', "check", NULL, "read the settings, print them or what is wrong with them, and exit" },
	{ OPT_INIT, "init", NULL, "make a new, empty database where the settings say, and exit" },
	{ OPT_SAMPLE, "sample", NULL, "print a budgetd.conf with every setting and its default, and exit" },
	{ 'h', "help", NULL, "print this and exit" },
	{ 'V', "version", NULL, "print the version and exit" },
	{ OPT_MANUAL, "manual", "LIST", NULL },
};

static char letter_of(const struct row *r)
{
	return r->code < OPT_INIT ? (char)r->code : 0;
}

static void help_print(FILE *to)
{
	fputs("Usage: budgetd [-c FILE] [-d | -n | --init | --sample]\n"
	      "Keep the GPU-hour budgets of a Slurm cluster: answer submissions, follow jobs, charge runs.\n\n",
	      to);
	for (size_t i = 0; i < COUNT(rows) && rows[i].help; i++) {
		const struct row *r = &rows[i];
		char words[40];

		snprintf(words, sizeof(words), "--%s%s%s", r->name, r->argument ? " " : "",
			r->argument ? r->argument : "");
		fprintf(to, letter_of(r) ? "  -%c, " : "      ", letter_of(r));
		fprintf(to, "%-15s %s\n", words, r->help);
	}
	fputs("\nGPUBUDGET_CONF in the environment names another file than the built-in one.\n"
	      "It logs to stderr. SIGHUP reads the settings again, all or nothing; SIGTERM and SIGINT end it.\n"
	      "Exit status: 0 done, 1 failed, 2 wrong usage.\n", to);
}

void options_print_manual(FILE *to)
{
	fputs(".Bl -tag -width Ds\n", to);
	for (size_t i = 0; i < COUNT(rows) && rows[i].help; i++) {
		fputs(".It", to);
		roff_option(to, letter_of(&rows[i]), rows[i].name, rows[i].argument);
		putc('\n', to);
		roff_text(to, rows[i].help);
	}
	fputs(".El\n", to);
}

static void getopt_tables(char letters[2 * COUNT(rows) + 1], struct option long_options[COUNT(rows) + 1])
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		long_options[i] = (struct option){ rows[i].name,
			rows[i].argument ? required_argument : no_argument, NULL, rows[i].code };
		if (letter_of(&rows[i]))
			*letters++ = letter_of(&rows[i]);
		if (letter_of(&rows[i]) && rows[i].argument)
			*letters++ = ':';
	}
	*letters = '\0';
	long_options[COUNT(rows)] = (struct option){ 0 };
}

/* -1 to go on. */
static int option_take(int code, struct options *out)
{
	static const enum mode modes[] = { [OPT_INIT - OPT_INIT] = MODE_INIT,
		[OPT_SAMPLE - OPT_INIT] = MODE_SAMPLE,
		[OPT_MANUAL - OPT_INIT] = MODE_MANUAL };

	switch (code) {
	case 'c':
		out->conf = optarg;
		return -1;
	case 'd':
		out->detach = true;
		return -1;
	case 'n':
		out->mode = MODE_CHECK;
		return -1;
	case OPT_INIT:
	case OPT_SAMPLE:
	case OPT_MANUAL:
		out->mode = modes[code - OPT_INIT];
		out->list = optarg;
		return -1;
	case 'h':
		help_print(stdout);
		return EXIT_DONE;
	case 'V':
		puts("budgetd " PACKAGE_VERSION);
		return EXIT_DONE;
	default:
		fputs("Try 'budgetd --help'.\n", stderr);
		return EXIT_USAGE;
	}
}

int options_read(int argc, char **argv, struct options *out)
{
	char letters[2 * COUNT(rows) + 1];
	struct option long_options[COUNT(rows) + 1];
	int c, rc;

	getopt_tables(letters, long_options);
	while ((c = getopt_long(argc, argv, letters, long_options, NULL)) != -1)
		if ((rc = option_take(c, out)) >= 0)
			return rc;
	if (optind < argc) {
		fprintf(stderr, "budgetd: it takes no \"%s\". Try 'budgetd --help'.\n", argv[optind]);
		return EXIT_USAGE;
	}
	return -1;
}
