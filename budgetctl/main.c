/* SPDX-License-Identifier: GPL-2.0-or-later
 * main.c - budgetctl: the command for owners of budgets and administrators
 *
 * A client of budgetd (doc/api.md) and nothing more: it decides nothing and knows no file of the daemon but
 * its settings. The commands stand in command.c. */
#include "config.h"
#include <curl/curl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/arguments.h"
#include "budgetctl/completion.h"
#include "budgetctl/help.h"
#include "budgetctl/manual.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "lib/zone.h"

/* The C library takes a zone that it does not know for UTC, and says nothing. */
static void zone_look(void)
{
	const char *tz = getenv("TZ");

	if (!zone_variable_known(tz))
		complain(DONE, "TZ=%.60s is no time zone that this machine knows: times are those of UTC", tz);
}

static int command_run(const struct arguments *a)
{
	struct session s;
	int rv = session_open(&s, a);

	zone_look();
	if (rv != DONE)
		return rv;
	rv = a->command->run(&s);
	session_close(&s);
	return rv;
}

static int budgetctl(int argc, char **argv)
{
	struct arguments a;
	int rv;

	if (argc == 2 && !strcmp(argv[1], "--completion")) {
		completion_print(stdout);
		return DONE;
	}
	if (argc == 3 && !strcmp(argv[1], "--manual"))
		return manual_print(argv[2], stdout);
	rv = arguments_read(argc, argv, &a);
	if (rv != DONE)
		return rv;
	if (a.value[OPT_VERSION])
		puts("budgetctl (" PACKAGE_NAME ") " PACKAGE_VERSION);
	else if (a.value[OPT_HELP])
		help_print(&a, stdout);
	else
		rv = command_run(&a);
	return rv;
}

int main(int argc, char **argv)
{
	int rv;

	setlocale(LC_CTYPE, "");	/* names in any language; numbers stay as they are everywhere */
	signal(SIGPIPE, SIG_IGN);	/* a reader that went away is met by out_finish() */
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return complain(REFUSED, "libcurl does not start");
	rv = out_finish(budgetctl(argc, argv));
	curl_global_cleanup();
	return rv;
}
