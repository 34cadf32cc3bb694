/* SPDX-License-Identifier: GPL-2.0-or-later
 * gang_scene.h - whole passes over a real ledger and a fake Slurm in which a gang waits for nodes: the one
 * scene of the stories about nodes that are kept
 *
 * Errors   fail the test
 * Threads  one */
#ifndef UNIT_GANG_SCENE_H
#define UNIT_GANG_SCENE_H
#include "budgetd/admit.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/pass_scene.h"

#define WAITED (13 * HOUR)		/* more than clear_after */
#define PLANNED (NOON - 10 + 2 * HOUR)	/* of the gang of gang_waits: the second run's minimum ends */

struct gang_scene {
	struct books b;
	struct budgetd d;
	struct settings *settings;
	struct controller *loop;
	bool het, user_held;		/* so are those that are submitted next */
	struct fake_job *gang, *later, *sooner;
};

/* Three nodes of 8 GPUs, and the projects vision, speech and audio, each of the same share. */
void gang_begin(struct gang_scene *x);
void gang_end(struct gang_scene *x);
void gang_pass(struct gang_scene *x, int64_t now);

/* What a submission is answered; `minimum` "free": in the free tier. */
struct verdict gang_ask(struct gang_scene *x, const char *account, int gpus, const char *minimum, int64_t at);
/* and the job in the queue, held where the plugin does that; sorted by id by the caller */
struct fake_job *gang_submit(struct gang_scene *x, uint32_t id, const char *account, int gpus,
	const char *minimum, int64_t at);

/* Each node has a run of vision (1, 2, 3) inside its minimum, of 1 h, 2 h and 4 h, and four GPUs that are
 * idle; vision has used most. The gang of audio (4) needs two whole nodes; of those behind it `later` (5)
 * would last 3 h and `sooner` (6) 30 min. Two passes have been made, the last at NOON + 2: the gang has n0
 * and n1 kept for it. */
void gang_waits(struct gang_scene *x);
/* it is cancelled */
void gang_gone(struct gang_scene *x);

#define excludes(f, nodes) ck_assert_str_eq((f)->view.excluded ? (f)->view.excluded : "", nodes)

#endif
