/* SPDX-License-Identifier: GPL-2.0-or-later
 * options.c - the command line of gpu-check (options.h) */
#include "config.h"
#include "gpu_check/options.h"
#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include "gpu_check/commands.h"
#include "lib/nearest.h"
#include "lib/number.h"
#include "lib/roff.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define PLACES "gpu-places.conf"

enum { TASKS_MAX = 4096 };
enum { OPT_ROOT = 256, OPT_PLACES, OPT_CPUS, OPT_TASKS, OPT_GPUS, OPT_STRICT, OPT_MANUAL };

static const struct command commands[] = {
	{ "locality", "where the GPUs are: NUMA node, CPUs beside them, PCIe link, nearest network card; and which CPUs tasks would get",
		locality_command },
};

static const struct row {
	int code;			/* what getopt returns: the letter, or above every letter */
	const char *name, *argument;	/* NULL = takes none */
	const char *help;		/* NULL = for the build, not told of */
} rows[] = {
	{ 'o', "output", "FORMAT", "table or json" },
	{ OPT_ROOT, "root", "DIR", "read DIR/sys instead of /sys: a tree that was copied from another machine" },
	{ OPT_PLACES, "places", "FILE", "where GPUs are that firmware is wrong about, below the root; " CONFDIR "/" PLACES },
	{ OPT_GPUS, "gpus", "BUS_ID,...", "of these GPUs only, as if a job had them" },
	{ OPT_CPUS, "cpus", "LIST", "with --tasks: deal these CPUs, such as 0-15,64-79, as if a job had them" },
	{ OPT_TASKS, "tasks", "N", "with --cpus: to so many tasks" },
	{ OPT_STRICT, "strict", NULL, "exit with 3 when a task gets no CPU next to its GPUs" },
	{ 'h', "help", NULL, "print this and exit" },
	{ 'V', "version", NULL, "print the version and exit" },
	{ OPT_MANUAL, "manual", "LIST", NULL },
};

static const char *const exit_code_text[EXIT_CODES] = {
	[EXIT_DONE] = "done",
	[EXIT_FAILED] = "failed: something cannot be read, or there are fewer CPUs than tasks",
	[EXIT_USAGE] = "wrong usage",
	[EXIT_FAR] = "with --strict: a task has no CPU next to its GPUs",
};

int complain(enum exit_code code, const char *format, ...)
{
	va_list ap;

	fputs("gpu-check: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return code;
}

static char letter_of(const struct row *r)
{
	return r->code < OPT_ROOT ? (char)r->code : 0;
}

static void help_print(FILE *to)
{
	fputs("Usage: gpu-check COMMAND [OPTION]...\n"
	      "Look at the GPUs of this machine, or of one whose /sys was copied.\n\nCommands\n", to);
	for (size_t i = 0; i < COUNT(commands); i++)
		fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].help);
	fputs("\nOptions\n", to);
	for (size_t i = 0; i < COUNT(rows) && rows[i].help; i++) {
		const struct row *r = &rows[i];
		char words[40];

		snprintf(words, sizeof(words), "--%s%s%s", r->name, r->argument ? " " : "", r->argument ? r->argument : "");
		fprintf(to, letter_of(r) ? "  -%c, " : "      ", letter_of(r));
		fprintf(to, "%-18s %s\n", words, r->help);
	}
	fputs("\nExit codes\n", to);
	for (size_t i = 0; i < EXIT_CODES; i++)
		fprintf(to, "  %zu  %s\n", i, exit_code_text[i]);
}

/* --- for gpu-check(1) --------------------------------------------------------------------------------- */

static void commands_manual(FILE *to)
{
	for (size_t i = 0; i < COUNT(commands); i++) {
		fprintf(to, ".It Ic %s\n", commands[i].name);
		roff_text(to, commands[i].help);
	}
}

static void options_manual(FILE *to)
{
	for (size_t i = 0; i < COUNT(rows) && rows[i].help; i++) {
		fputs(".It", to);
		roff_option(to, letter_of(&rows[i]), rows[i].name, rows[i].argument);
		putc('\n', to);
		roff_text(to, rows[i].help);
	}
}

static void exit_codes_manual(FILE *to)
{
	for (size_t i = 0; i < EXIT_CODES; i++) {
		fprintf(to, ".It %zu\n", i);
		roff_text(to, exit_code_text[i]);
	}
}

static int manual_print(const char *list)
{
	static const struct {
		const char *name;
		void (*print)(FILE *to);
	} lists[] = { { "commands", commands_manual }, { "options", options_manual }, { "exit-codes", exit_codes_manual } };

	for (size_t i = 0; i < COUNT(lists); i++)
		if (!strcmp(lists[i].name, list)) {
			puts(".Bl -tag -width Ds");
			lists[i].print(stdout);
			puts(".El");
			return EXIT_DONE;
		}
	return complain(EXIT_USAGE, "the manual has no list \"%s\"", list);
}

/* --- reading ------------------------------------------------------------------------------------------ */

static void getopt_tables(char letters[2 * COUNT(rows) + 1], struct option long_options[COUNT(rows) + 1])
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		long_options[i] = (struct option){ rows[i].name, rows[i].argument ? required_argument : no_argument, NULL, rows[i].code };
		if (letter_of(&rows[i]))
			*letters++ = letter_of(&rows[i]);
		if (letter_of(&rows[i]) && rows[i].argument)
			*letters++ = ':';
	}
	*letters = '\0';
	long_options[COUNT(rows)] = (struct option){ 0 };
}

static int format_take(struct options *out)
{
	if (strcmp(optarg, "json") && strcmp(optarg, "table"))
		return complain(EXIT_USAGE, "-o takes table or json, not \"%s\"", optarg);
	out->json = !strcmp(optarg, "json");
	return -1;
}

static int tasks_take(struct options *out)
{
	int64_t tasks;

	if (number_parse(optarg, TASKS_MAX, &tasks) < 0 || tasks == 0)
		return complain(EXIT_USAGE, "--tasks takes a number from 1 to %d, not \"%s\"", TASKS_MAX, optarg);
	out->tasks = (int)tasks;
	return -1;
}

/* -1 to go on. */
static int option_take(int code, struct options *out)
{
	switch (code) {
	case 'o':
		return format_take(out);
	case OPT_TASKS:
		return tasks_take(out);
	case OPT_ROOT:
		out->root = optarg;
		return -1;
	case OPT_PLACES:
		out->places = optarg;
		return -1;
	case OPT_CPUS:
		out->cpus = optarg;
		return -1;
	case OPT_GPUS:
		out->gpus = optarg;
		return -1;
	case OPT_STRICT:
		out->strict = true;
		return -1;
	case OPT_MANUAL:
		return manual_print(optarg);
	case 'h':
		help_print(stdout);
		return EXIT_DONE;
	case 'V':
		puts("gpu-check (" PACKAGE_NAME ") " PACKAGE_VERSION);
		return EXIT_DONE;
	default:
		fputs("Try 'gpu-check --help'.\n", stderr);
		return EXIT_USAGE;
	}
}

static int command_take(int argc, char **argv, struct options *out)
{
	if (argc == 0)
		return complain(EXIT_USAGE, "which command? Try 'gpu-check --help'.");
	if (argc > 1)
		return complain(EXIT_USAGE, "%s takes no \"%s\"", argv[0], argv[1]);
	for (size_t i = 0; i < COUNT(commands); i++)
		if (!strcmp(argv[0], commands[i].name))
			out->command = &commands[i];
	if (!out->command)
		return complain(EXIT_USAGE, "there is no command \"%s\". Try 'gpu-check --help'.", argv[0]);
	if (!out->cpus != !out->tasks)
		return complain(EXIT_USAGE, "--cpus and --tasks go together: which CPUs are to be dealt, and to how many tasks");
	if (out->strict && !out->tasks)
		return complain(EXIT_USAGE, "--strict judges tasks: it needs --cpus and --tasks");
	return -1;
}

int options_read(int argc, char **argv, struct options *out)
{
	char letters[2 * COUNT(rows) + 1];
	struct option long_options[COUNT(rows) + 1];
	int c, rc;

	*out = (struct options){ .root = "/" };
	getopt_tables(letters, long_options);
	while ((c = getopt_long(argc, argv, letters, long_options, NULL)) != -1)
		if ((rc = option_take(c, out)) >= 0)
			return rc;
	if (!out->places)
		out->places = CONFDIR "/" PLACES;
	return command_take(argc - optind, argv + optind, out);
}
