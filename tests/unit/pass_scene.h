/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_scene.h - budgetd's loop over a real ledger and a fake Slurm: how each story of whole passes begins,
 * goes on and ends
 *
 * Errors   fail the test
 * Threads  one */
#ifndef UNIT_PASS_SCENE_H
#define UNIT_PASS_SCENE_H
#include "budgetd/budgetd.h"
#include "budgetd/controller.h"
#include "tests/unit/books.h"

/* New books, an empty Slurm, the default settings, and a loop that has made no pass. To be ended by
 * scene_end. */
void scene_begin(struct books *b, struct budgetd *d, struct settings **settings, struct controller **loop);
void scene_end(struct books *b, struct budgetd *d, struct settings *settings, struct controller *loop);

/* and the books are sound behind it */
void scene_pass(struct books *b, struct controller *loop, int64_t now);

#endif
