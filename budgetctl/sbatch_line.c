/* SPDX-License-Identifier: GPL-2.0-or-later
 * sbatch_line.c - options of ours among the words of sbatch (sbatch_line.h) */
#include "budgetctl/sbatch_line.h"
#include <stdio.h>
#include <string.h>
#include "budgetctl/cell.h"
#include "budgetctl/say.h"
#include "lib/submit_options_table.h"

#define SLIP_MAX 2 /* letters; --container-image of a plugin is no slip for --container-id */

struct line {
	const struct command *command;
	int n, next;
	char **words;
	bool in_script; /* behind the script: its arguments, whatever they look like */
	struct arguments *out;
};

static bool is_format(const char *value)
{
	for (int i = 0; i < FORMATS; i++)
		if (!strcmp(value, format_name[i]))
			return true;
	return false;
}

/* The row of "--name" or "--name=value" that is ours; *value is NULL without "=". OPTIONS when it is not. */
static int ours_long(const struct line *l, const char *word, const char **value)
{
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) - 2 : strlen(word + 2);

	*value = equals ? equals + 1 : NULL;
	for (int i = 0; i < OPTIONS; i++)
		if (command_takes(l->command, i) && strlen(option_table[i].name) == length &&
			!strncmp(option_table[i].name, word + 2, length))
			return i;
	return OPTIONS;
}

/* -h, and -o before the name of a format. */
static int ours_short(const char *word, const char **value)
{
	*value = word[2] ? word + 2 : NULL;
	if (!strcmp(word, "-h"))
		return OPT_HELP;
	return word[1] == 'o' ? OPT_OUTPUT : OPTIONS;
}

/* 1 taken, 0 not ours, -1. */
static int take_ours(struct line *l)
{
	const char *word = l->words[l->next], *value;
	int o = word[0] != '-' || !word[1] ? OPTIONS
		: word[1] == '-'           ? ours_long(l, word, &value)
					   : ours_short(word, &value);
	int used = 1;

	if (o == OPTIONS)
		return 0;
	if (option_table[o].argument && !value) {
		if (l->next + 1 == l->n)
			return complain(USAGE, "%s needs an argument. See budgetctl quote --help", word), -1;
		value = l->words[l->next + 1];
		used = 2;
	}
	if (o == OPT_OUTPUT && !is_format(value))
		return 0; /* sbatch's --output: a file */
	l->out->value[o] = value ? value : "";
	l->next += used;
	return 1;
}

const char *sbatch_nearest(const char *name, char buf[NEAREST_TEXT_MAX])
{
	const struct submit_option *o;
	struct nearest n;

	nearest_begin(&n, name);
	for (size_t i = 0; (o = submit_option_at(i)); i++)
		nearest_offer(&n, o->name);
	for (int i = 0; i < OPTIONS; i++)
		nearest_offer(&n, i == OPT_OFFLINE || i == OPT_SOCKET ? option_table[i].name : NULL);
	if (n.distance > SLIP_MAX)
		n.count = 0;
	return nearest_text(&n, "--", buf);
}

/* sbatch would refuse it, and so a wrong quote would be given: "--gpuss=4" is no option of some plugin. */
static int check_spelling(const char *word)
{
	char name[NEAREST_WORD_MAX + 1], text[NEAREST_TEXT_MAX];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	if (*sbatch_nearest(name, text))
		return complain(USAGE,
			"sbatch has no option --%s. Did you mean %s? See budgetctl quote --help", name, text),
		       -1;
	complain(DONE, "--%s is not known here and not looked at: is it another plugin's?", name);
	return 0;
}

/* How many words an option of sbatch is: 2 when its value is the next one. -1 after a complaint. */
static int words_of_sbatch(const char *word)
{
	const char *two[2];
	const struct submit_option *o;

	if (word[0] != '-' || !word[1])
		return 1;
	if (word[1] == '-') {
		size_t length = strcspn(word + 2, "=");

		o = submit_option_long(word + 2, length, two);
		if (!o && !two[0])
			return check_spelling(word) < 0 ? -1 : 1;
		return o && o->argument == ARGUMENT_NEEDED && !word[2 + length] ? 2 : 1;
	}
	for (const char *p = word + 1; *p; p++) {
		o = submit_option_short(*p);
		if (o && o->argument != ARGUMENT_NONE)
			return o->argument == ARGUMENT_NEEDED && !p[1] ? 2 : 1;
	}
	return 1;
}

int sbatch_line_split(const struct command *c, int n, char **words, struct arguments *out)
{
	struct line l = {.command = c, .n = n, .words = words, .out = out};
	int left = 0;

	while (l.next < n && strcmp(words[l.next], "--") != 0) {
		const char *word = words[l.next];
		int rc = take_ours(&l), taken;

		if (rc < 0)
			return -1;
		if (rc)
			continue;
		l.in_script = l.in_script || ((word[0] != '-' || !word[1]) && strcmp(word, ":") != 0);
		taken = l.in_script ? 1 : words_of_sbatch(word);
		if (taken < 0)
			return -1;
		while (taken-- > 0 && l.next < n)
			words[left++] = words[l.next++];
	}
	while (l.next < n)
		words[left++] = words[l.next++];
	return left;
}
