/* SPDX-License-Identifier: GPL-2.0-or-later
 * help.c - help, printed from the tables of command.h (help.h) */
#include <string.h>
#include "budgetctl/help.h"
#include "budgetctl/say.h"
#include "budgetctl/wrap.h"

/* On a narrow terminal the help of a row stands below it. */
static void row_print(int width, const char *what, const char *help, FILE *to)
{
	int columns = wrap_width(to);

	if (columns && columns < WRAP_NARROW) {
		fprintf(to, "  %s\n        ", what);
		say_line(to, 8, help);
	} else {
		fprintf(to, "  %-*s  ", width - 2, what);
		say_line(to, width + 2, help);
	}
}

static size_t commands_of(const char *noun)
{
	size_t n = 0;

	for (size_t i = 0; i < command_count; i++)
		n += !strcmp(noun, command_table[i].noun);
	return n;
}

/* Of one noun, or of all (NULL). */
static void commands_print(const char *noun, FILE *to)
{
	char text[COMMAND_TEXT_MAX];
	int width = 0;

	for (size_t i = 0; i < command_count; i++) {
		int n = (int)strlen(command_text(&command_table[i], true, text));

		width = n > width ? n : width;
	}
	for (size_t i = 0; i < command_count; i++)
		if (!noun || !strcmp(noun, command_table[i].noun))
			row_print(width + 2, command_text(&command_table[i], true, text),
				command_table[i].help, to);
}

static void option_print(const struct option_row *o, bool letters, FILE *to)
{
	char letter[8] = "", text[80];

	if (o->letter && (letters || o->letter == 'o' || o->letter == 'h'))
		snprintf(letter, sizeof(letter), "-%c,", o->letter);
	snprintf(text, sizeof(text), "%-3s --%s%s%s", letter, o->name, o->argument ? " " : "",
		o->argument ? o->argument : "");
	row_print(31, text, o->help, to);
}

/* Among sbatch's words most letters are sbatch's (sbatch_line.h): `letters` false. */
static void options_of_all_print(bool letters, FILE *to)
{
	for (int i = 0; i < OPTIONS_OF_ALL; i++)
		option_print(&option_table[i], letters, to);
}

/* What a row of the table has no room for; `about` is part of the usage of the commands that it belongs to.
 */
static const struct {
	const char *about, *text;
} notes[] = {
	{"GPU-HOURS", "GPU-HOURS is \"8\", \"1.5h\", \"90m\" or \"3600s\"."},
	{"SBATCH-OPTION",
		"The words are those of sbatch: its options, then the script, whose #SBATCH lines are read "
		"(- is standard input); its variables (SBATCH_ACCOUNT, SBATCH_PARTITION, SBATCH_TIMELIMIT...) win over the "
		"script, options on the command line over both. \":\" begins the next component of "
		"a het job. "
		"So -n is --ntasks here and -t is --time; -o is ours when a format follows.\n"
		"A job that would be refused is an answer (\"accepted\": false) and ends with 0. A request "
		"that makes no sense "
		"ends with 1 and says why; with -o json it prints an object whose \"gpus\" is null, with "
		"\"error\"."},
	{"why JOB",
		"JOB is 1234, a task 1234_5, or a component 1234+1. Of an array as a whole its tasks are counted, and "
		"its last 50 runs listed."},
	{"tree",
		"Occupied is what was used and paid for in the window, Owed what a cluster of its own, as large as its share, "
		"would have given its jobs, Delivered what of that it had, Free what it used without paying. The Ratio, by which "
		"it is ordered, counts what is left of the minimum runtimes of its runs as well, over what it is entitled to, "
		"an hour of its share at least."},
	{"report",
		"Without --from it is the last 30 days and today. A run is in it when it has ended, or when a month has; of one that lies over the edge of the range the seconds "
		"inside count. Used is hours of GPUs whatever they cost, Charged has their rates."},
	{"usage", "Without --from it is the last two weeks, today included."},
	{"forecast",
		"What is held counts as spent. The allocation that ends first is spent first; whichever of the project and those "
		"above it runs out first is named. Waiting jobs count with their minimum runtimes."},
	{"doctor",
		"Run it as root or SlurmUser on the host of slurmctld and budgetd; it changes nothing. It "
		"ends "
		"with 0 when all is well, with 5 when there is something to warn of, with 6 when there is an "
		"error."},
	{"setup", "Only what is missing or different is printed, as whole lines to paste; --all prints every "
		  "line. "
		  "--apply changes slurmdbd and no file; a second one finds nothing to do."},
	{"job set", "Its user, an owner of its project and administrators may do this, while it waits. A "
		    "tier or minimum "
		    "runtime that the project cannot pay is refused with the numbers, and the job stays as "
		    "it is."},
};

const char *help_note(const struct command *c, size_t nth)
{
	char text[COMMAND_TEXT_MAX];

	command_text(c, true, text);
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		if (strstr(text, notes[i].about) && nth-- == 0)
			return notes[i].text;
	return NULL;
}

static void command_print(const struct command *c, FILE *to)
{
	bool letters = c->max_args != SBATCH_LINE;
	char text[COMMAND_TEXT_MAX], usage[2 * COMMAND_TEXT_MAX + 256];
	const char *note;

	snprintf(usage, sizeof(usage),
		"Usage: budgetctl %s [OPTION...]\nIn short: %s.\n\nOptions:", command_text(c, true, text),
		c->help);
	say_line(to, 0, usage);
	for (int i = OPTIONS_OF_ALL; i < OPTIONS; i++)
		if (command_takes(c, i))
			option_print(&option_table[i], letters, to);
	options_of_all_print(letters, to);
	for (size_t i = 0; (note = help_note(c, i)); i++) {
		putc('\n', to);
		say_line(to, 0, note);
	}
	if (!c->verb && commands_of(c->noun) > 1) {	/* request: it has commands of its own beside it */
		fputs("\nCommands:\n", to);
		commands_print(c->noun, to);
	}
}

static void outcome_print(int i, FILE *to)
{
	fprintf(to, "  %d  ", i);
	say_line(to, 5, outcome_text[i]);
}

static void program_print(FILE *to)
{
	say_line(to, 0,
		"Usage: budgetctl COMMAND [ARGUMENT...] [OPTION...]\n"
		"Budgets of GPU-hours: projects, their allocations, what is held and what was "
		"charged.\n\nCommands:");
	commands_print(NULL, to);
	fputs("\nOptions of every command:\n", to);
	options_of_all_print(true, to);
	fputs("\nExit codes:\n", to);
	for (int i = 0; i < OUTCOMES; i++)
		outcome_print(i, to);
	say_line(to, 0,
		"\nGPUBUDGET_CONF in the environment names another budgetd.conf, GPUBUDGET_SERVER is as --server.\n"
		"Sentences are wrapped to the width of the terminal (COLUMNS), never in a pipe.\n"
		"Nothing is coloured, so NO_COLOR is always kept; trees are ASCII where the locale is not "
		"UTF-8.\n"
		"budgetctl COMMAND --help tells the options of one command.");
}

void help_print(const struct arguments *a, FILE *to)
{
	if (a->command) {
		command_print(a->command, to);
	} else if (a->noun) {
		char usage[COMMAND_TEXT_MAX + 64];

		snprintf(usage, sizeof(usage),
			"Usage: budgetctl %s COMMAND [ARGUMENT...] [OPTION...]\n\nCommands:", a->noun);
		say_line(to, 0, usage);
		commands_print(a->noun, to);
	} else {
		program_print(to);
	}
}
