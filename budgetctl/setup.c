/* SPDX-License-Identifier: GPL-2.0-or-later
 * setup.c - setup: the lines of slurm.conf, plugstack.conf and sacctmgr that this cluster still needs
 *
 * They are the lines that mend, of doctor/checks.c. --apply says those of sacctmgr to sacctmgr, program and
 * words without a shell, and asks slurmdbd again until nothing is left; files stay the administrator's. */
#include <stdio.h>
#include <string.h>
#include "budgetctl/diagnosis.h"
#include "budgetctl/say.h"
#include "doctor/program.h"

#define SACCTMGR_MS 60000
#define ROUNDS 4			/* an account can be given QOS only when it is there */
#define WORDS_MAX 32

static const struct {
	enum place place;
	const char *heading;
} parts[] = {
	{ PLACE_SLURM_CONF, "slurm.conf on all hosts, then restart slurmctld" },
	{ PLACE_PLUGSTACK, "plugstack.conf on all nodes and login hosts" },
	{ PLACE_SACCTMGR, "slurmdbd, as root; budgetctl setup --apply does these" },
};

/* UNKNOWN with a line: wrong for want of what an earlier line makes. */
static bool is_wanted(const struct finding *f, bool all)
{
	return *f->mend && (all || f->health != HEALTH_OK);
}

static size_t lines_print(const struct diagnosis *d, enum place place, const char *heading, bool all)
{
	char line[MEND_LINE_MAX], before[MEND_LINE_MAX] = "";
	size_t n = 0;

	for (size_t i = 0; i < d->count; i++) {
		const char *mend = d->findings[i].mend;

		if (d->findings[i].check->place != place || !is_wanted(&d->findings[i], all))
			continue;
		while (mend_next(&d->findings[i], &mend, line)) {
			if (!strcmp(line, before))
				continue;	/* two checks of one line */
			if (!n++)
				printf("# %s\n", heading);
			say_text(stdout, line);
			putchar('\n');
			strcpy(before, line);
		}
	}
	return n;
}

static int lines_print_all(const struct diagnosis *d, bool all)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		n += lines_print(d, parts[i].place, parts[i].heading, all);
	if (!n)
		puts("# nothing is missing in slurm.conf, plugstack.conf and slurmdbd");
	return DONE;
}

/* --- apply ------------------------------------------------------------------------------------------ */

/* `line` is taken apart at its blanks. */
static int sacctmgr(char *line)
{
	char said[PROGRAM_SAID_MAX], *words[WORDS_MAX + 1] = { NULL }, *state = NULL;
	struct fault why = { "" };
	int n = 0, rv;

	puts(line);
	for (char *w = strtok_r(line, " ", &state); w && n < WORDS_MAX; w = strtok_r(NULL, " ", &state))
		words[n++] = w;
	rv = program_run(words, NULL, SACCTMGR_MS, said, &why);
	if (rv == 0)
		return DONE;
	return complain(REFUSED, "%s",
		rv < 0  ? why.text
		: *said ? said
			: "sacctmgr failed and did not say why");
}

/* What is wanted now, in the order of the table. *done counts. */
static int round_apply(const struct diagnosis *d, size_t *done)
{
	char line[MEND_LINE_MAX];

	for (size_t i = 0; i < d->count; i++) {
		const char *mend = d->findings[i].mend;

		if (d->findings[i].check->place != PLACE_SACCTMGR || !is_wanted(&d->findings[i], false))
			continue;
		for (; mend_next(&d->findings[i], &mend, line); ++*done)
			if (sacctmgr(line) != DONE)
				return REFUSED;
	}
	return DONE;
}

static int apply(struct diagnosis *d)
{
	size_t done = 0, before;
	int rv = DONE;

	for (int i = 0; rv == DONE && i < ROUNDS; i++) {
		before = done;
		rv = round_apply(d, &done);
		if (rv != DONE || done == before)
			break;
		rv = diagnosis_renew(d);
	}
	if (rv == DONE && !done)
		puts("# nothing is missing in slurmdbd");
	return rv;
}

/* slurmdbd cannot be seen: then "nothing is missing" would be a lie. */
static int is_possible(const struct facts *f, bool applied)
{
	if (!f->conf)
		return complain(REFUSED, "what is missing cannot be told while slurmctld does not answer: %s",
			f->munge_error ? f->munge_error : f->conf_error);
	if (!f->accounts)
		return complain(applied ? REFUSED : DONE, "what is missing in slurmdbd cannot be told: %s",
			f->accounts_error ? f->accounts_error
					  : "AccountingStorageType is not accounting_storage/slurmdbd");
	return DONE;
}

int cmd_setup(struct session *s)
{
	bool applied = session_option(s, OPT_APPLY), all = session_option(s, OPT_ALL);
	struct diagnosis d;
	int rv = diagnosis_make(s, &d);

	if (rv == DONE)
		rv = is_possible(gathering_facts(d.gathering), applied);
	if (rv == DONE && applied)
		rv = apply(&d);
	if (rv == DONE && !applied)
		rv = lines_print_all(&d, all);
	diagnosis_drop(&d);
	return rv;
}
