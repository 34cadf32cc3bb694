/* SPDX-License-Identifier: GPL-2.0-or-later
 * help.c - help, printed from the tables of command.h (help.h) */
#include <string.h>
#include "budgetctl/help.h"

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
			fprintf(to, "  %-*s  %s\n", width, command_text(&command_table[i], true, text),
				command_table[i].help);
}

static void option_print(const struct option_row *o, FILE *to)
{
	char text[64];

	snprintf(text, sizeof(text), "--%s%s%s", o->name, o->argument ? " " : "",
		o->argument ? o->argument : "");
	if (o->letter)
		fprintf(to, "  -%c, %-25s  %s\n", o->letter, text, o->help);
	else
		fprintf(to, "      %-25s  %s\n", text, o->help);
}

static void options_print(unsigned bits, FILE *to)
{
	for (int i = 0; i < OPTIONS; i++)
		if (bits & OPTION_BIT(i))
			option_print(&option_table[i], to);
}

static void command_print(const struct command *c, FILE *to)
{
	char text[COMMAND_TEXT_MAX];

	fprintf(to, "Usage: budgetctl %s [OPTION...]\nIn short: %s.\n\nOptions:\n",
		command_text(c, true, text), c->help);
	options_print(c->options, to);
	options_print(OPTIONS_OF_ALL, to);
	if (strstr(c->arguments, "GPU-HOURS"))
		fputs("\nGPU-HOURS is \"8\", \"1.5h\", \"90m\" or \"3600s\".\n", to);
}

static void program_print(FILE *to)
{
	fputs("Usage: budgetctl COMMAND [ARGUMENT...] [OPTION...]\n"
	      "Budgets of GPU-hours: projects, their allocations, what is held and what was "
	      "charged.\n\nCommands:\n",
		to);
	commands_print(NULL, to);
	fputs("\nOptions of every command:\n", to);
	options_print(OPTIONS_OF_ALL, to);
	fputs("\nExit codes:\n", to);
	for (int i = 0; i < OUTCOMES; i++)
		fprintf(to, "  %d  %s\n", i, outcome_text[i]);
	fputs("\nGPUBUDGET_CONF in the environment names another budgetd.conf. budgetctl COMMAND --help "
	      "tells the options of one.\n",
		to);
}

void help_print(const struct arguments *a, FILE *to)
{
	if (a->command) {
		command_print(a->command, to);
	} else if (a->noun) {
		fprintf(to, "Usage: budgetctl %s COMMAND [ARGUMENT...] [OPTION...]\n\nCommands:\n", a->noun);
		commands_print(a->noun, to);
	} else {
		program_print(to);
	}
}
