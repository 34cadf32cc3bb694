/* SPDX-License-Identifier: GPL-2.0-or-later
 * gang_scene.c - a gang that waits for nodes (gang_scene.h). */
#include "tests/unit/gang_scene.h"
#include "lib/token.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

void gang_begin(struct gang_scene *x)
{
	static const char *const projects[] = { "vision", "speech", "audio" };

	*x = (struct gang_scene){0};
	scene_begin(&x->b, &x->d, &x->settings, &x->loop);
	fake_slurm_nodes(3, 8);
	for (size_t i = 0; i < 3; i++)
		books_allot(&x->b, books_project(&x->b, projects[i], 0), 1000 * GPU_H, 0, 0);
}

void gang_end(struct gang_scene *x)
{
	scene_end(&x->b, &x->d, x->settings, x->loop);
}

void gang_pass(struct gang_scene *x, int64_t now)
{
	scene_pass(&x->b, x->loop, now);
}

struct verdict gang_ask(struct gang_scene *x, const char *account, int gpus, const char *minimum, int64_t at)
{
	bool free = !strcmp(minimum, "free");
	char text[32];
	struct question q = { .uid = 1000, .account = account, .time_limit_s = 24 * HOUR, .requeueable = true,
		.het = x->het, .held = x->user_held,
		.text = { [OPT_MIN_RUNTIME] = free ? NULL : minimum, [OPT_TIER] = free ? minimum : NULL } };
	struct verdict v;

	snprintf(text, sizeof(text), "gres:gpu:%d", gpus);
	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = text;
	ck_assert_msg(admit(&x->d, &q, "{\"uid\":1000}", 0, at, &v, &x->b.why) == 0 &&
		ledger_write(x->b.l, &x->b.why) == 0 && v.accepted, "%s %s", x->b.why.text, v.text);
	return v;
}

struct fake_job *gang_submit(struct gang_scene *x, uint32_t id, const char *account, int gpus,
	const char *minimum, int64_t at)
{
	struct verdict v = gang_ask(x, account, gpus, minimum, at);
	struct fake_job *f = fake_slurm_pending(id, account, gpus, v.qos, v.token);

	f->view.time_limit_s = 24 * HOUR;
	if (v.kept_off) {
		strcat(f->admin_comment, " " WAITS_WORD);
		f->view.held = HELD_BY_ADMIN;
		f->view.priority = 0;
	}
	if (x->user_held) {
		f->view.held = HELD_BY_USER;
		f->view.priority = 0;
	}
	return f;
}

void gang_waits(struct gang_scene *x)
{
	static const char *const minimum[] = { "1h", "2h", "4h" };

	for (uint32_t i = 0; i < 3; i++) {
		struct fake_job *f = gang_submit(x, i + 1, "vision", 4, minimum[i], NOON - 10);

		fake_slurm_start(f, NOON - 10);
		fake_slurm_on(f, i, 4);
	}
	x->gang = gang_submit(x, 4, "audio", 16, "1h", NOON - WAITED);
	x->gang->view.node_count = 2;
	x->later = gang_submit(x, 5, "vision", 4, "3h", NOON);
	x->sooner = gang_submit(x, 6, "vision", 4, "30m", NOON);
	gang_pass(x, NOON + 1);	/* it meets the runs, */
	gang_pass(x, NOON + 2);	/* and finds them in the books */
}

void gang_gone(struct gang_scene *x)
{
	x->gang->view.stage = STAGE_ENDED;
	x->gang->view.base_state = "CANCELLED";
}
