/* SPDX-License-Identifier: GPL-2.0-or-later
 * arguments.h - a command line checked against the tables of command.h
 *
 * Ownership  everything points into argv, which may have been reordered
 * Threads    one */
#ifndef BUDGETCTL_ARGUMENTS_H
#define BUDGETCTL_ARGUMENTS_H
#include "budgetctl/command.h"

#define ARGUMENTS_GIVEN_MAX 1024

struct arguments {
	const struct command *command;	/* NULL: none was named */
	const char *noun;		/* the first word, even when it is no whole command; NULL = none */
	const char *value[OPTIONS];	/* NULL = not given, "" without an argument; the last one wins */
	/* every one in its order: for those that may be given several times */
	struct {
		enum command_option option;
		const char *value;
	} given[ARGUMENTS_GIVEN_MAX];
	int ngiven;
	char **words;			/* after the command */
	int nwords;
};

/* Options may stand anywhere; "--" ends them. DONE; or USAGE, after a complaint that names the nearest
 * option or command. With --help or --version the command and the number of words are not checked. */
int arguments_read(int argc, char **argv, struct arguments *out);

#endif
