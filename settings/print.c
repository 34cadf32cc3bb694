/* SPDX-License-Identifier: GPL-2.0-or-later
 * print.c - budgetd.conf from the table: the commented sample, and the values in force
 *
 * What is printed here reads back as the same settings: a test does that. */
#include "settings/settings.h"
#include <string.h>
#include "lib/roff.h"
#include "settings/table.h"

static void print_quoted(FILE *to, const char *text)
{
	putc('"', to);
	for (; *text; text++) {
		if (strchr("\"\\$", *text))	/* $ too: libconfuse would put a variable there */
			putc('\\', to);
		putc(*text, to);
	}
	putc('"', to);
}

static void print_value(const struct settings *s, const struct setting_row *row, FILE *to)
{
	const char *at = (const char *)s + row->offset;
	char length[SETTING_LENGTH_MAX];

	fprintf(to, "%s = ", row->name);
	if (setting_is_string(row->type))
		print_quoted(to, *(char *const *)(const void *)at);
	else if (row->type == CHOICE)
		fputs(row->words[*(const int *)(const void *)at], to);
	else
		fputs(setting_length_text(*(const int64_t *)(const void *)at, row->type, length), to);
	putc('\n', to);
}

void settings_print(const struct settings *s, FILE *to)
{
	for (size_t i = 0; i < SETTINGS; i++)
		print_value(s, &settings_table[i], to);
}

static bool has_range(const struct setting_row *row)
{
	return row->type == MILLISECONDS || row->type == SECONDS || row->type == COUNT_OF;
}

static void print_help(const struct setting_row *row, FILE *to)
{
	char range[SETTING_RANGE_MAX];

	fputs("# ", to);
	for (const char *c = row->help; *c; c++)
		fputs(*c == '\n' ? "\n# " : (const char[]){ *c, '\0' }, to);
	putc('\n', to);
	if (has_range(row))
		fprintf(to, "# %s\n", setting_range_text(row, range));
	for (int i = 0; row->words && row->words[i]; i++)
		fprintf(to, "%s%s%s", i ? " | " : "# ", row->words[i], row->words[i + 1] ? "" : "\n");
}

void settings_print_sample(FILE *to)
{
	struct settings *s = settings_defaults();

	if (!s)
		return;
	fputs("# budgetd.conf - read by budgetd and by the job_submit plugin inside slurmctld\n"
		"#\n"
		"# key = value. Every line below shows a default. Lengths of time: 50ms (where it makes "
		"sense), 30s, 15m, 8h, 7d.\n"
		"# Values with spaces, commas or = stand in double quotes. An unknown key is an error: "
		"`budgetd -n` checks the file.\n", to);
	for (size_t i = 0; i < SETTINGS; i++) {
		putc('\n', to);
		print_help(&settings_table[i], to);
		putc('#', to);
		print_value(s, &settings_table[i], to);
	}
	settings_free(s);
}

/* --- the manual ------------------------------------------------------------------------------------- */

static const char *const argument_of[] = {
	[SOCKET_PATH] = "PATH", [FILE_PATH] = "PATH", [OPTIONAL_PATH] = "PATH", [ADDRESS] = "HOST:PORT",
		[SERVER] = "URL", [URL] = "URL",
	[NAME] = "NAME", [TEXT] = "TEXT", [ZONE] = "ZONE", [COUNT_OF] = "N",
	[MILLISECONDS] = "LENGTH", [SECONDS] = "LENGTH", [CHOICE] = "WORD",
};

static void manual_values(const struct setting_row *row, FILE *to)
{
	char range[SETTING_RANGE_MAX];

	if (has_range(row))
		fprintf(to, "From %s.\n", setting_range_text(row, range));
	for (int i = 0; row->words && row->words[i]; i++)
		fprintf(to, "%s.Cm %s%s\n", i == 0 ? "One of\n" : row->words[i + 1] ? "" : "or\n",
			row->words[i], !row->words[i + 1] ? " ." : row->words[i + 2] ? " ," : "");
	fputs("Default:\n.Cm", to);
	roff_word(to, *row->preset ? row->preset : "\"\"");
	fputs("\n", to);
}

void settings_print_manual(FILE *to)
{
	fputs(".Bl -tag -width Ds\n", to);
	for (size_t i = 0; i < SETTINGS; i++) {
		const struct setting_row *row = &settings_table[i];

		fprintf(to, ".It Ic %s Li = Ar %s\n", row->name, argument_of[row->type]);
		roff_text(to, row->help);
		manual_values(row, to);
	}
	fputs(".El\n", to);
}
