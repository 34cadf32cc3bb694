/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_scene.c - how each story of whole passes begins, goes on and ends (pass_scene.h). */
#include "tests/unit/pass_scene.h"
#include "budgetd/cluster_state.h"
#include "budgetd/people.h"
#include "tests/unit/fake_slurm.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

void scene_begin(struct books *b, struct budgetd *d, struct settings **settings, struct controller **loop)
{
	struct settings *s = settings_defaults();

	books_open(b);
	fake_slurm_reset();
	ck_assert_ptr_nonnull(s);
	free(s->database);
	s->database = strdup(b->path);
	*d = (struct budgetd){ .settings = s, .ledger = b->l, .cluster = cluster_state_new(),
		.people = people_new(s->administrators, &b->why) };
	ck_assert_msg(ledger_open_reader(b->path, &d->snapshot, &b->why) == 0, "%s", b->why.text);
	*settings = s;
	*loop = controller_new(d, &b->why);
	ck_assert_msg(d->cluster && d->people && *loop, "%s", b->why.text);
}

void scene_end(struct books *b, struct budgetd *d, struct settings *settings, struct controller *loop)
{
	controller_free(loop);
	ledger_close(d->snapshot);
	people_free(d->people);
	cluster_state_free(d->cluster);
	settings_free(settings);
	books_close(b);
}

void scene_pass(struct books *b, struct controller *loop, int64_t now)
{
	ck_assert_msg(controller_pass(loop, now, &b->why) == 0, "%s", b->why.text);
	ledger_invariants(b);
}
