/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_command.c - gpu-check node: is the node itself at fault; learn how it should be, acknowledge what is
 * known
 *
 * Nothing of a task is looked at, and no variable: only root's own reads decide that a node is drained. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "gpu_check/commands.h"
#include "gpu_check/gpu_health.h"
#include "gpu_check/kernel_log.h"
#include "gpu_check/node_policy.h"
#include "gpu_check/node_read.h"
#include "gpu_check/node_view.h"
#include "gpu_check/nvml.h"
#include "gpu_check/state_file.h"

/* All that is large: a node of 64 GPUs has room in it. */
struct work {
	struct node_policy policy;
	struct node_state now, baseline, mark;
	struct log_groups log;
	struct findings findings;
	struct node_views views;
};

static const char *below(const char *path)
{
	return path + strspn(path, "/");
}

/* --- learning ----------------------------------------------------------------------------------------- */

static int keep(int root, const char *path, const char *what, struct work *w, bool under_load)
{
	struct fault why = {""};
	char title[160], when[32];
	time_t now = time(NULL);
	struct tm tm;

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	snprintf(title, sizeof(title), "%s, by gpu-check, %s", what, when);
	if (state_write(root, below(path), title, &w->now, under_load, &why) < 0)
		return complain(EXIT_FAILED, "%s", why.text);
	return EXIT_DONE;
}

static int acknowledge(int root, const struct options *o, struct work *w)
{
	int rv = keep(root, o->mark, "from here on errors count", w, false);

	if (rv == EXIT_DONE)
		printf("gpu-check: errors count from now on, those before are known: %s\n", o->mark);
	return rv;
}

/* What is learned and looks wrong is said: whoever learns a node that is broken makes that its rule. */
static int learn(int root, const struct options *o, struct work *w)
{
	int rv;

	rule_links(&w->views, &w->findings);
	for (int i = 0; i < w->findings.count; i++)
		complain(EXIT_DONE, "learned as it is: %s: %s", w->findings.row[i].subject,
			w->findings.row[i].text);
	rv = keep(root, o->baseline, "how this node should be", w, o->under_load);
	if (rv != EXIT_DONE)
		return rv;
	printf("gpu-check: learned %d GPUs, %d links, %d versions: %s\n", w->now.gpus, w->now.links,
		w->now.facts, o->baseline);
	return acknowledge(root, o, w);
}

/* --- looking ------------------------------------------------------------------------------------------ */

static int known_read(int root, const struct options *o, struct work *w)
{
	struct fault why = {""};
	int baseline = state_read(root, below(o->baseline), &w->baseline, &why);
	int mark = baseline < 0 ? -1 : state_read(root, below(o->mark), &w->mark, &why);

	if (baseline < 0 || mark < 0 || node_policy_read(root, below(o->policy), &w->policy, &why) < 0)
		return complain(EXIT_FAILED, "%s", why.text);
	w->views.baseline = baseline ? &w->baseline : NULL;
	w->views.mark = mark ? &w->mark : NULL;
	return EXIT_DONE;
}

static void log_judge(int root, struct work *w)
{
	int64_t since = mark_counts(&w->views) ? w->mark.at_us : 0;

	w->log.table = &w->policy.log;
	w->log.node = &w->now;
	if (kernel_log_read(root, since, log_groups_take, &w->log) == 0)
		log_groups_tell(&w->log, &w->findings);
	else if (w->views.as_root)
		findings_add(&w->findings, EVIDENCE_UNREAD, POLICY_DRAIN, "kernel log", "/dev/kmsg: %s",
			strerror(errno));
	else
		complain(EXIT_DONE, "the kernel's log was not looked at: %s", strerror(errno));
}

static int tell(const struct options *o, const struct work *w, enum policy worst)
{
	struct node_result r = {&w->views, &w->findings, worst};
	char reason[FINDING_REASON_MAX];

	if (o->drain_reason || (o->json && worst != POLICY_OFF))
		node_print_lines(stderr, &r);
	if (o->drain_reason && findings_reason(&w->findings, reason)[0])
		puts(reason);
	else if (o->json && node_print_json(stdout, &r) < 0)
		return complain(EXIT_FAILED, "no memory");
	else if (!o->json && !o->drain_reason)
		node_print_lines(stdout, &r);
	return worst == POLICY_DRAIN ? EXIT_DRAIN : worst == POLICY_FAIL ? EXIT_FAULTY : EXIT_DONE;
}

/* What the drivers themselves tell. NVML is asked for this machine, and in a tree only where it is named. */
static void health_read(int root, const struct options *o, struct work *w)
{
	gpu_health_read(root, &w->now);
	if (o->nvml || (!strcmp(o->root, "/") && faccessat(root, "sys/module/nvidia", F_OK, 0) == 0))
		nvml_read(o->nvml ? o->nvml : NVML_LIBRARY, NVML_DEADLINE_MS, &w->now, &w->findings);
}

static int look(int root, const struct options *o, struct work *w)
{
	int rv = known_read(root, o, w);

	if (rv != EXIT_DONE)
		return rv;
	for (int i = 0; i < w->now.links && o->under_load; i++)
		w->now.link[i].works = true;
	rule_gpus(&w->views, &w->findings);
	rule_links(&w->views, &w->findings);
	rule_errors(&w->views, w->policy.corrected_per_hour, &w->findings);
	rule_image(&w->views, &w->findings);
	rule_health(&w->views, &w->findings);
	log_judge(root, w);
	return tell(o, w, findings_judge(&w->findings, w->policy.of, w->views.as_root));
}

/* --- the command -------------------------------------------------------------------------------------- */

int node_command(const struct options *o)
{
	int root = open(o->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rv;
	struct work *w = calloc(1, sizeof(*w));

	if (root < 0) {
		rv = complain(EXIT_FAILED, "%s: %s", o->root, strerror(errno));
	} else if (!w || node_read(root, &w->now) < 0) {
		rv = complain(EXIT_FAILED, "no memory");
	} else {
		w->views = (struct node_views){.now = &w->now, .as_root = geteuid() == 0};
		health_read(root, o, w);
		if (o->learn)
			rv = learn(root, o, w);
		else
			rv = o->acknowledge ? acknowledge(root, o, w) : look(root, o, w);
	}
	free(w);
	if (root >= 0)
		close(root);
	return rv;
}
