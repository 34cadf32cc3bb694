/* SPDX-License-Identifier: GPL-2.0-or-later
 * completion.c - what a shell may complete (completion.h) */
#include "budgetctl/completion.h"
#include "budgetctl/cell.h"
#include "budgetctl/command.h"
#include "lib/submit_options_table.h"

static void option_print(const struct option_row *o, bool letter, FILE *to)
{
	const char *mark = o->argument ? "=" : "";

	if (o->letter && letter)
		fprintf(to, "-%c%s ", o->letter, mark);
	fprintf(to, "--%s%s ", o->name, mark);
}

static void sbatch_options_print(FILE *to)
{
	const struct submit_option *o;

	for (size_t i = 0; (o = submit_option_at(i)); i++)
		fprintf(to, "--%s%s ", o->name, o->argument == ARGUMENT_NEEDED ? "=" : "");
}

static void command_print(const struct command *c, FILE *to)
{
	char text[COMMAND_TEXT_MAX];

	fprintf(to, "%s\t%s\t", command_text(c, false, text), *c->arguments ? c->arguments : "-");
	if (c->max_args == SBATCH_LINE)
		sbatch_options_print(to);
	for (int i = 0; i < OPTIONS; i++)
		if (command_takes(c, i))
			option_print(&option_table[i], c->max_args != SBATCH_LINE, to);
	putc('\n', to);
}

static void choices_print(enum command_option o, const char *const *words, size_t count, FILE *to)
{
	fprintf(to, "=--%s\t", option_table[o].name);
	for (size_t i = 0; i < count; i++)
		fprintf(to, "%s ", words[i]);
	putc('\n', to);
}

void completion_print(FILE *to)
{
	static const char *const policies[] = {"free", "reject", "wait", "inherit"}, *const tiers[] = {
										     "funded", "free"};

	for (size_t i = 0; i < command_count; i++)
		command_print(&command_table[i], to);
	choices_print(OPT_OUTPUT, format_name, FORMATS, to);
	choices_print(OPT_AMOUNTS, amount_unit_name, AMOUNT_UNITS, to);
	choices_print(OPT_ON_EXHAUSTED, policies, ARRAY_SIZE(policies), to);
	choices_print(OPT_DECLARE_TIER, tiers, ARRAY_SIZE(tiers), to);
}
