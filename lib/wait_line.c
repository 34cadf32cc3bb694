/* SPDX-License-Identifier: GPL-2.0-or-later
 * wait_line.c - in order, and not overtaken (doc/model.md, 4). */
#include "lib/wait_line.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

void wait_line_clear(struct wait_line *l)
{
	free(l->heads);
	*l = (struct wait_line){0};
}

/* The index of the nearest project on the path where somebody waits in front, and who; -1 = nowhere. */
static int who_is_in_front(const struct wait_line *l, const int64_t *projects, int depth, int64_t user,
	struct wait_head *front)
{
	for (int i = 0; i < depth; i++)
		for (size_t k = 0; k < l->count; k++)
			if (l->heads[k].project == projects[i] &&
				(l->heads[k].user == WAIT_ANYBODY || l->heads[k].user == user)) {
				*front = l->heads[k];
				return i;
			}
	return -1;
}

static int stand_in_front(struct wait_line *l, const struct wait_head *head, struct fault *why)
{
	if (l->count == l->room) {
		size_t room = l->room ? l->room * 2 : 16;
		struct wait_head *heads = reallocarray(l->heads, room, sizeof(*heads));

		if (!heads)
			return fault_errno(why, ENOMEM, "out of memory");
		l->heads = heads;
		l->room = room;
	}
	l->heads[l->count++] = *head;
	return 0;
}

/* A cap below what is used, or an allocation that has expired, takes nothing back. */
static int64_t tasks_kept(const struct wait_job *j)
{
	int64_t n = j->per_task > 0 ? j->has / j->per_task : 0;

	return n < j->tasks ? n : j->tasks;
}

int wait_line_ask(struct wait_line *l, const struct wait_job *j, const struct budget_node *path,
	const int64_t *projects, int depth, struct wait_answer *out, struct fault *why)
{
	int64_t fits = budget_tasks(path, depth, j->per_task, j->tasks), keeps = tasks_kept(j);
	struct wait_head front;
	int at = j->stands ? who_is_in_front(l, projects, depth, j->user, &front) : -1;

	assert(j->tasks >= 0 && j->paid >= 0);
	fits = fits < keeps ? keeps : fits;
	*out = (struct wait_answer){ .tasks = fits, .refused_at = -1, .user = WAIT_ANYBODY };
	if (at >= 0 && j->tasks > j->paid) {
		out->tasks = fits < j->paid ? fits : j->paid;
		out->refused_at = at;
		out->behind = front.job;
		out->user = front.user;
		return 0;
	}
	if (fits == j->tasks)
		return 0;
	out->refused_at = budget_tightest(path, depth);
	out->user = budget_cap_binds(&path[out->refused_at]) ? j->user : WAIT_ANYBODY;
	front = (struct wait_head){ .project = projects[out->refused_at], .user = out->user, .job = j->job };
	return j->stands ? stand_in_front(l, &front, why) : 0;
}
