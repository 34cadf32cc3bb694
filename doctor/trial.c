/* SPDX-License-Identifier: GPL-2.0-or-later
 * trial.c - libslurm, tried in a child and kept quiet (trial.h) */
#include "doctor/trial.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "doctor/program.h"
#include "slurm_link/site.h"

#define TRIAL_MS 60000				/* more than Slurm's MessageTimeout, at several tries */

int trial_quiet(void)
{
	int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stderr);
	if (saved >= 0 && null >= 0)
		dup2(null, STDERR_FILENO);
	close(null);
	return saved;
}

void trial_quiet_end(int saved)
{
	int err = errno;

	if (saved >= 0) {
		dup2(saved, STDERR_FILENO);
		close(saved);
	}
	errno = err;
}

/* In a child: does libslurm end the process, and does slurmctld answer? */
static int trial(void *arg)
{
	struct slurm_link *link = NULL;
	struct slurm_facts facts;
	struct fault why = { "" };

	(void)arg;
	if (slurm_link_open(NULL, &link, &why) == 0 && slurm_link_ping(link, &why) == 0 &&
		slurm_link_facts(link, &facts, &why) == 0)
		return 0;
	fprintf(stderr, "\n%s\n", why.text);
	return 1;
}

/* The last line is ours, or that of fatal(). */
static const char *last_line(char *said)
{
	char *line;

	for (size_t n = strlen(said); n && said[n - 1] == '\n'; n--)
		said[n - 1] = '\0';
	line = strrchr(said, '\n');
	return line ? line + 1 : said;
}

int trial_slurm(struct fault *why)
{
	char said[PROGRAM_SAID_MAX];
	int rv = program_try(trial, NULL, TRIAL_MS, said, why);

	return rv == 0 ? 0 : fault_set(why, "%s", last_line(said));
}
