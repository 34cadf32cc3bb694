/* SPDX-License-Identifier: GPL-2.0-or-later
 * arguments.c - a command line checked against the tables (arguments.h)
 *
 * getopt_long() finds options wherever they stand; which of them the command takes is checked afterwards,
 * because `budgetctl -o json journal` must work as `budgetctl journal -o json` does. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "budgetctl/arguments.h"
#include "budgetctl/sbatch_line.h"
#include "budgetctl/say.h"
#include "lib/utf8.h"

#define LONG_BASE 256 /* getopt's value of a long option: beyond every letter */

/* getopt's own description of option_table; "-" makes it return words too, ":" tells a missing argument
 * apart. */
static void getopt_tables(char letters[2 * OPTIONS + 3], struct option long_options[OPTIONS + 1])
{
	char *p = letters;

	*p++ = '-';
	*p++ = ':';
	for (int i = 0; i < OPTIONS; i++) {
		const struct option_row *o = &option_table[i];

		long_options[i] = (struct option){
			o->name, o->argument ? required_argument : no_argument, NULL, LONG_BASE + i};
		if (!o->letter)
			continue;
		*p++ = o->letter;
		if (o->argument)
			*p++ = ':';
	}
	*p = '\0';
	long_options[OPTIONS] = (struct option){0};
}

static int option_of(int value)
{
	if (value >= LONG_BASE)
		return value - LONG_BASE;
	for (int i = 0; i < OPTIONS; i++)
		if (option_table[i].letter == value)
			return i;
	return -1;
}

/* Take the one or two words of the command off the front. */
static void command_take(struct arguments *a, bool *noun_known)
{
	const char *verb = a->nwords > 1 ? a->words[1] : NULL;

	*noun_known = false;
	for (size_t i = 0; i < command_count && a->noun; i++) {
		const struct command *c = &command_table[i];
		int taken = c->verb ? 2 : 1;

		if (strcmp(c->noun, a->noun))
			continue;
		*noun_known = true;
		if (c->verb && (!verb || strcmp(c->verb, verb)))
			continue;
		a->command = c;
		a->words += taken;
		a->nwords -= taken;
		return;
	}
}

/* The options of the command that was typed so far; of all commands when there is none yet. */
static size_t options_meant(const struct command *c, const char *names[OPTIONS])
{
	size_t n = 0;

	for (int i = 0; i < OPTIONS; i++)
		if (!c || command_takes(c, i))
			names[n++] = option_table[i].name;
	return n;
}

/* An option that getopt does not know, or that stands there without its argument, behind these words. */
static int option_wrong(int value, const char *word, char **words, int nwords)
{
	struct arguments a = { .words = words, .nwords = nwords, .noun = nwords ? words[0] : NULL };
	char help[COMMAND_TEXT_MAX + 32] = "See budgetctl --help", text[COMMAND_TEXT_MAX];
	const char *names[OPTIONS];
	char hint[HINT_MAX], name[64];
	bool noun_known;

	command_take(&a, &noun_known);
	if (a.command)
		snprintf(help, sizeof(help), "See budgetctl %s --help", command_text(a.command, false, text));
	if (value == ':')
		return complain(USAGE, "%s needs an argument. %s", word, help);
	if (optopt >= LONG_BASE)
		return complain(USAGE, "--%s takes no argument. %s", option_table[optopt - LONG_BASE].name,
			help);
	if (strncmp(word, "--", 2))
		return complain(USAGE, "there is no option -%c. %s", optopt, help);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	return complain(USAGE, "there is no option --%s, or it is cut too short.%s %s", name,
		nearest_hint(name, "--", names, options_meant(a.command, names), hint), help);
}

/* "--vests --burst 1": getopt takes the next option for the value. A reason can begin with
 * two dashes: so only a whole word that is an option. */
static bool is_option_as_value(const char *value, const char *word)
{
	if (value != word || strncmp(value, "--", 2))
		return false;
	for (int i = 0; i < OPTIONS; i++)
		if (!strcmp(option_table[i].name, value + 2))
			return true;
	return false;
}

static int option_given(struct arguments *a, int option, const char *value)
{
	if (a->ngiven == ARGUMENTS_GIVEN_MAX)
		return complain(USAGE, "more than %d options", ARGUMENTS_GIVEN_MAX);
	a->value[option] = value;
	a->given[a->ngiven].option = (enum command_option)option;
	a->given[a->ngiven++].value = value;
	return DONE;
}

/* Fills value[] and given[]; moves the words to the front of argv and counts them. */
static int options_read(int argc, char **argv, struct arguments *a)
{
	char letters[2 * OPTIONS + 3];
	struct option long_options[OPTIONS + 1];
	int nwords = 0;
	int value;

	getopt_tables(letters, long_options);
	opterr = 0;
	while (optind < argc) {
		char *word = argv[optind];

		/* Who is asked for an amount or a job says better what is wrong with "-5" than "no such
		 * option". */
		if (word[0] == '-' && word[1] >= '0' && word[1] <= '9') {
			argv[nwords++] = word;
			optind++;
			continue;
		}
		value = getopt_long(argc, argv, letters, long_options, NULL);
		if (value == -1)
			break;
		if (value == '?' || value == ':')
			return option_wrong(value, word, argv, nwords);
		if (value == 1)
			argv[nwords++] = optarg;
		else if (optarg && is_option_as_value(optarg, argv[optind - 1]))
			return complain(USAGE, "--%s needs an argument, and %s follows. If that is it: --%s=%s",
				option_table[option_of(value)].name, optarg, option_table[option_of(value)].name, optarg);
		else if (option_given(a, option_of(value), optarg ? optarg : "") != DONE)
			return USAGE;
	}
	for (; optind < argc; optind++) /* behind "--" */
		argv[nwords++] = argv[optind];
	a->words = argv;
	a->nwords = nwords;
	return DONE;
}

static int verb_wrong(const char *noun, const char *verb)
{
	const char *verbs[64] = {NULL};
	char hint[HINT_MAX];

	for (size_t i = 0; i < command_count && i < ARRAY_SIZE(verbs); i++)
		verbs[i] = strcmp(command_table[i].noun, noun) ? NULL : command_table[i].verb;
	if (!verb)
		return complain(USAGE, "%s what? See budgetctl %s --help", noun, noun);
	return complain(USAGE, "there is no command \"%s %s\".%s See budgetctl %s --help", noun, verb,
		nearest_hint(verb, "", verbs, ARRAY_SIZE(verbs), hint), noun);
}

static int noun_wrong(const char *noun)
{
	const char *nouns[64] = {NULL};
	char hint[HINT_MAX];

	for (size_t i = 0; i < command_count && i < ARRAY_SIZE(nouns); i++)
		nouns[i] = command_table[i].noun;
	return complain(USAGE, "there is no command \"%s\".%s See budgetctl --help", noun,
		nearest_hint(noun, "", nouns, ARRAY_SIZE(nouns), hint));
}

static int options_check(const struct arguments *a)
{
	char text[COMMAND_TEXT_MAX];

	command_text(a->command, false, text);
	for (int i = 0; i < OPTIONS; i++)
		if (a->value[i] && !command_takes(a->command, i))
			return complain(USAGE, "%s does not take --%s. See budgetctl %s --help", text,
				option_table[i].name, text);
	return DONE;
}

static int words_check(const struct arguments *a)
{
	const struct command *c = a->command;
	char text[COMMAND_TEXT_MAX];

	command_text(c, true, text);
	if (a->nwords < c->min_args)
		return complain(USAGE, "too few arguments. Usage: budgetctl %s", text);
	if (c->max_args >= 0 && a->nwords > c->max_args)
		return complain(USAGE, "\"%s\" is one argument too many. Usage: budgetctl %s",
			a->words[c->max_args], text);
	return DONE;
}

/* Names of files are bytes; all else is a text, and budgetd takes only UTF-8. */
static bool is_path(const char *argument)
{
	return argument && (strstr(argument, "FILE") || strstr(argument, "PATH"));
}

static int texts_check(const struct arguments *a)
{
	const struct command *c = a->command;
	char text[COMMAND_TEXT_MAX];

	for (int i = 0; i < OPTIONS; i++)
		if (a->value[i] && !is_path(option_table[i].argument) && !utf8_is_valid(a->value[i]))
			return complain(USAGE, "--%s: \"%s\" is not UTF-8. Which code does your terminal write (locale)?",
				option_table[i].name, a->value[i]);
	for (int i = 0; c->max_args != SBATCH_LINE && i < a->nwords; i++) {
		if (!*a->words[i])
			return complain(USAGE, "an argument is empty. Usage: budgetctl %s",
				command_text(c, true, text));
		if (!is_path(c->arguments) && !utf8_is_valid(a->words[i]))
			return complain(USAGE, "\"%s\" is not UTF-8. Which code does your terminal write (locale)?",
				a->words[i]);
	}
	return DONE;
}

/* `budgetctl help deposit` is what fingers type: the same as `budgetctl deposit --help`. */
static void help_word(struct arguments *a)
{
	if (!a->nwords || strcmp(a->words[0], "help"))
		return;
	a->value[OPT_HELP] = "";
	a->words++;
	a->nwords--;
}

/* Where the command's noun stands: the first word that is neither an option of ours nor its argument. argc
 * when there is none. */
static int noun_at(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		const char *word = argv[i];
		int o;

		if (word[1] == '-')
			for (o = 0; o < OPTIONS && strcmp(option_table[o].name, word + 2) != 0; o++)
				;
		else
			o = word[2] ? -1 : option_of(word[1]);
		i += o >= 0 && o < OPTIONS && option_table[o].argument;
	}
	return i;
}

/* A command that takes sbatch's words has them taken apart by what sbatch knows; only what stands in front of
 * the command is ours alone. */
static int line_read(int argc, char **argv, struct arguments *a)
{
	int at = noun_at(argc, argv), left = 0, rv;
	const struct command *c = NULL;

	for (size_t i = 0; i < command_count && at < argc; i++)
		if (command_table[i].max_args == SBATCH_LINE && !strcmp(command_table[i].noun, argv[at]))
			c = &command_table[i];
	if (!c)
		return options_read(argc, argv, a);
	rv = options_read(at, argv, a);
	if (rv == DONE)
		left = sbatch_line_split(c, argc - at - 1, argv + at + 1, a);
	a->words = argv + at;
	a->nwords = left + 1;
	return left < 0 ? USAGE : rv;
}

int arguments_read(int argc, char **argv, struct arguments *out)
{
	struct arguments a = {0};
	bool noun_known;
	int rv = line_read(argc, argv, &a);

	if (rv != DONE)
		return rv;
	help_word(&a);
	a.noun = a.nwords ? a.words[0] : NULL;
	command_take(&a, &noun_known);
	*out = a;
	if (a.value[OPT_VERSION] || (a.value[OPT_HELP] && (!a.noun || noun_known)))
		return DONE;
	if (!a.noun)
		return complain(USAGE, "which command? See budgetctl --help");
	if (!a.command)
		return noun_known ? verb_wrong(a.noun, a.nwords > 1 ? a.words[1] : NULL) : noun_wrong(a.noun);
	rv = options_check(&a);
	if (rv == DONE)
		rv = words_check(&a);
	return rv == DONE ? texts_check(&a) : rv;
}
