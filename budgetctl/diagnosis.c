/* SPDX-License-Identifier: GPL-2.0-or-later
 * diagnosis.c - gather, check, keep (diagnosis.h) */
#include "config.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "budgetctl/diagnosis.h"
#include "budgetctl/say.h"
#include "settings/settings.h"

static bool is_trusted(const struct facts *f)
{
	return geteuid() == 0 || (f->conf && f->conf->slurm_uid == geteuid());
}

static void findings_drop(struct diagnosis *d)
{
	while (d->count)
		finding_free(&d->findings[--d->count]);
	free(d->findings);
	d->findings = NULL;
}

static int findings_make(struct diagnosis *d)
{
	d->findings = calloc(check_count, sizeof(*d->findings));
	if (!d->findings)
		return out_of_memory();
	for (; d->count < check_count; d->count++)
		if (check_make(&check_table[d->count], gathering_facts(d->gathering),
			    &d->findings[d->count]) < 0)
			return out_of_memory();
	return DONE;
}

int diagnosis_make(struct session *s, struct diagnosis *d)
{
	*d = (struct diagnosis){ 0 };
	if (session_option(s, OPT_SERVER))
		return complain(USAGE, "%s looks at the host it runs on: --server has no place there",
			s->arguments->command->noun);
	*d = (struct diagnosis){ .gathering = gather(settings_default_path(), session_option(s, OPT_SOCKET),
					 PACKAGE_VERSION) };
	if (!d->gathering)
		return out_of_memory();
	if (!is_trusted(gathering_facts(d->gathering)))
		return complain(FORBIDDEN,
			"%s looks at files, sockets and processes that are closed to other users: run it as "
			"root or as "
			"SlurmUser, on the host of slurmctld and budgetd",
			s->arguments->command->noun);
	return findings_make(d);
}

int diagnosis_renew(struct diagnosis *d)
{
	findings_drop(d);
	gathering_renew_accounts(d->gathering);
	return findings_make(d);
}

void diagnosis_drop(struct diagnosis *d)
{
	findings_drop(d);
	gathering_free(d->gathering);
	d->gathering = NULL;
}

bool mend_next(const struct finding *f, const char **mend, char line[MEND_LINE_MAX])
{
	size_t n = strcspn(*mend, "\n");

	if (!**mend)
		return false;
	snprintf(line, MEND_LINE_MAX, "%s%.*s", f->check->place == PLACE_SACCTMGR ? "sacctmgr -i " : "",
		(int)n, *mend);
	*mend += n + ((*mend)[n] == '\n');
	return true;
}
