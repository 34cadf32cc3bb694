/* SPDX-License-Identifier: GPL-2.0-or-later
 * manual.c - the lists of the manual pages (manual.h) */
#include "budgetctl/manual.h"
#include <ctype.h>
#include <string.h>
#include "budgetctl/command.h"
#include "budgetctl/help.h"
#include "budgetctl/say.h"
#include "doctor/checks.h"
#include "lib/job_options.h"
#include "lib/roff.h"

static const char list_begin[] = ".Bl -tag -width Ds\n", list_end[] = ".El\n";

/* "In short" of a table, as a sentence. */
static void sentence_print(const char *text, FILE *to)
{
	char sentence[512];

	snprintf(sentence, sizeof(sentence), "%c%s.", toupper((unsigned char)text[0]),
		text[0] ? text + 1 : "");
	roff_text(to, sentence);
}

/* --- commands --------------------------------------------------------------------------------------- */

static void command_options_print(const struct command *c, FILE *to)
{
	int last = 0;

	for (int i = OPTIONS_OF_ALL; i < OPTIONS; i++)
		last = command_takes(c, i) ? i : last;
	if (!last)
		return;
	fputs("Its options:\n", to);
	for (int i = OPTIONS_OF_ALL; i <= last; i++) {
		if (!command_takes(c, i))
			continue;
		putc('.', to);
		roff_option(to, 0, option_table[i].name, option_table[i].argument);
		fputs(i < last ? " ,\n" : " .\n", to);
	}
}

static void command_print(const struct command *c, FILE *to)
{
	char text[COMMAND_TEXT_MAX];
	const char *note;

	fputs(".It Cm", to);
	roff_word(to, command_text(c, false, text));
	if (*c->arguments) {
		fputs(" Ar", to);
		roff_word(to, c->arguments);
	}
	putc('\n', to);
	sentence_print(c->help, to);
	command_options_print(c, to);
	for (size_t i = 0; (note = help_note(c, i)); i++) {
		fputs(".Pp\n", to);
		roff_text(to, note);
	}
}

static void commands_print(FILE *to)
{
	fputs(list_begin, to);
	for (size_t i = 0; i < command_count; i++)
		command_print(&command_table[i], to);
	fputs(list_end, to);
}

static void options_print(FILE *to)
{
	fputs(list_begin, to);
	for (int i = 0; i < OPTIONS; i++) {
		fputs(".It", to);
		roff_option(to, option_table[i].letter, option_table[i].name, option_table[i].argument);
		putc('\n', to);
		sentence_print(option_table[i].help, to);
	}
	fputs(list_end, to);
}

static void outcomes_print(FILE *to)
{
	fputs(".Bl -tag -width 3n\n", to);
	for (int i = 0; i < OUTCOMES; i++) {
		fprintf(to, ".It %d\n", i);
		sentence_print(outcome_text[i], to);
	}
	fputs(list_end, to);
}

/* --- what other parts of the product have in tables -------------------------------------------------- */

static void checks_print(FILE *to)
{
	fputs(list_begin, to);
	for (size_t i = 0; i < check_count; i++) {
		const struct check *c = &check_table[i];
		char about[512];

		fputs(".It Sy", to);
		roff_word(to, c->id);
		fprintf(to, " Pq %s , %s\n", health_name[c->if_bad], place_name[c->place]);
		snprintf(about, sizeof(about), "%s;", c->about);
		roff_text(to, about);
		fputs(".Em otherwise :\n", to);
		roff_text(to, c->without);
	}
	fputs(list_end, to);
}

static void job_options_print(FILE *to)
{
	fputs(list_begin, to);
	for (int i = 0; i < JOB_OPTIONS; i++) {
		const struct job_option_row *o = &job_option_table[i];

		fputs(".It", to);
		roff_option(to, 0, o->name, o->argument);
		putc('\n', to);
		roff_text(to, o->help);
		fputs(".Pp\n", to);
		fprintf(to, "In the job's environment it is\n.Ev %s .\n", o->variable);
	}
	fputs(list_end, to);
}

/* ---------------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*print)(FILE *to);
} lists[] = {
	{ "commands", commands_print },
	{ "options", options_print },
	{ "exit-codes", outcomes_print },
	{ "checks", checks_print },
	{ "job-options", job_options_print },
};

int manual_print(const char *list, FILE *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (!strcmp(list, lists[i].name)) {
			lists[i].print(to);
			return DONE;
		}
	return complain(USAGE, "the manual has no list \"%s\"", list);
}
