/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_slot.h - weekly slots of projects: when each goes first, up to how much of the cluster
 *
 * A slot is never changed: it is added, and removed. Who did is in the history of changes (ledger_change.h).
 *
 * All functions want an open transaction (ledger.h). Times of the week are local: seconds from Monday 00:00
 * by the site's clock (`time_zone`). */
#ifndef BUDGETD_LEDGER_SLOT_H
#define BUDGETD_LEDGER_SLOT_H
#include "budgetd/ledger_change.h"

struct slot_row {
	int64_t id, project;
	int64_t starts_s, length_s;	/* whole minutes; lib/slot.h */
	int64_t boosted_percent;	/* of the healthy GPUs, 1 .. 100 */
	int64_t created_at, removed_at;	/* 0 = there */
	char project_name[PROJECT_NAME_MAX];	/* read only */
};

#define SLOT_PERCENT_PPM 10000

/* s->id is set. EEXIST: another slot of the project is open then, the text names it. */
int slot_add(struct ledger *l, struct change_words *w, struct slot_row *s, int64_t now, struct fault *why);
/* A second call changes nothing. */
int slot_remove(struct ledger *l, struct change_words *w, struct slot_row *s, int64_t now, struct fault *why);
/* 1, 0 with a text (ENOENT), -1; removed ones too. */
int slot_by_id(struct ledger *l, int64_t id, struct slot_row *out, struct fault *why);
/* The slot that was made as the write with this request id; 1, 0, -1. */
int slot_by_request(struct ledger *l, const char *request_id, struct slot_row *out, struct fault *why);

typedef int (*slot_fn)(const struct slot_row *s, void *arg);
/* Those that are there, of live projects; project 0 = all, else with what is below it. By project and time of
 * the week. */
int slot_walk(struct ledger *l, int64_t project, slot_fn each, void *arg, struct fault *why);

typedef void (*slot_running_fn)(int64_t project, int64_t gpus, void *arg);
/* GPUs of the funded runs of each project itself that go on in the cluster; a run whose end nobody knows has
 * none. */
int slot_walk_running(struct ledger *l, const char *cluster, slot_running_fn each, void *arg,
	struct fault *why);

/* "mon 09:00 for 4 h up to 50 %": as the history has it, and the check of the books compares. Returns buf. */
#define SLOT_TEXT_MAX 64
const char *slot_text(const struct slot_row *s, char buf[static SLOT_TEXT_MAX]);

#endif
