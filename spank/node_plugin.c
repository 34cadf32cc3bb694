/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_plugin.c - gpubudget_node.so: before a job with GPUs starts on a node root looks whether the node is
 * at fault
 *
 *   required PATH/gpubudget_node.so [node_check=drain|warn|off] [node_check_program=PATH]
 *            [node_check_deadline=SECONDS]
 *
 * A plugin of its own, since Slurm starts one more slurmstepd for each job on each node as soon as any plugin
 * has this hook. It starts gpu-check-node, as a Prolog would: that drains the node itself, with the reason,
 * so that Slurm's own "Prolog error" does not stand there, and only root's own reads are a reason. A look
 * that did not come to an end is told to slurmd's log, and the job starts. */
#include "config.h"
#include <errno.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gpu_check/deadline.h"
#include "lib/number.h"

extern const char plugin_name[], plugin_type[];
extern const unsigned int plugin_version, spank_plugin_version;
SPANK_PLUGIN(gpubudget_node, 1)

int slurm_spank_job_prolog(spank_t sp, int argc, char *argv[]);

enum { DEADLINE_S = 60, DEADLINE_MAX_S = 3600, AT_FAULT = 1, VARIABLE_MAX = 4200, VARIABLES = 7 };
enum node_check { NODE_OFF, NODE_WARN, NODE_DRAIN, NODE_CHECKS };

static const char *const node_check_name[NODE_CHECKS] = { "off", "warn", "drain" };

struct order {
	enum node_check check;
	const char *program;
	int64_t deadline_s;
};

/* --- words of plugstack.conf -------------------------------------------------------------------------- */

static bool check_take(const char *text, enum node_check *out)
{
	for (int i = 0; i < NODE_CHECKS; i++)
		if (!strcmp(text, node_check_name[i])) {
			*out = i;
			return true;
		}
	return false;
}

/* false: it is no word of ours. */
static bool word_take(const char *word, struct order *o)
{
	static const char check[] = "node_check=", program[] = "node_check_program=",
			  deadline[] = "node_check_deadline=";

	if (!strncmp(word, check, sizeof(check) - 1))
		return check_take(word + sizeof(check) - 1, &o->check);
	if (!strncmp(word, program, sizeof(program) - 1)) {
		o->program = word + sizeof(program) - 1;
		return o->program[0] == '/';
	}
	return !strncmp(word, deadline, sizeof(deadline) - 1) &&
		number_parse(word + sizeof(deadline) - 1, DEADLINE_MAX_S, &o->deadline_s) == 0 &&
		o->deadline_s > 0;
}

/* A word that is wrong costs the check, not the node. */
static struct order order_read(int argc, char *argv[])
{
	struct order o = { NODE_DRAIN, GPU_CHECK_NODE, DEADLINE_S };

	for (int i = 0; i < argc; i++)
		if (!word_take(argv[i], &o)) {
			slurm_error("gpubudget_node: nothing is checked: plugstack.conf: \"%.100s\" is none of "
				    "node_check=drain|warn|off, node_check_program=/PATH, "
				    "node_check_deadline=1..%d",
				argv[i], DEADLINE_MAX_S);
			o.check = NODE_OFF;
			break;
		}
	return o;
}

/* --- the look ----------------------------------------------------------------------------------------- */

/* Slurm's own variables of the job, which no user can write. */
static bool job_has_gpus(void)
{
	static const char *const names[] = { "SLURM_JOB_GPUS", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
		"ZE_AFFINITY_MASK", "GPU_DEVICE_ORDINAL" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && value[0] && strcmp(value, "NoDevFiles"))
			return true;
	}
	return false;
}

/* What the program gets: nothing of what users can put there (SPANK_...). */
static void environment_make(const struct order *o, char text[VARIABLES][VARIABLE_MAX],
	char *out[VARIABLES + 1])
{
	static const char *const kept[] = { "PATH", "SLURM_CONF", "SLURMD_NODENAME", "TZ" };
	int n = 0;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		const char *value = getenv(kept[i]);

		if (value && snprintf(text[n], VARIABLE_MAX, "%s=%s", kept[i], value) < VARIABLE_MAX)
			n++;
	}
	strcpy(text[n++], "SLURM_SCRIPT_CONTEXT=prolog_slurmd");
	strcpy(text[n++], "GPU_CHECK=" BINDIR "/gpu-check");
	snprintf(text[n++], VARIABLE_MAX, "GPU_CHECK_NODE_POLICY=%s", node_check_name[o->check]);
	for (int i = 0; i < n; i++)
		out[i] = text[i];
	out[n] = NULL;
}

/* true: the node is at fault, and drained. */
static bool is_drained(const struct order *o, const struct helper_result *r)
{
	if (r->end == HELPER_ENDED && r->exit_status == 0)
		return false;
	if (r->end == HELPER_ENDED && r->exit_status == AT_FAULT && o->check == NODE_DRAIN)
		return true;
	if (r->end == HELPER_ENDED)
		slurm_error("gpubudget_node: %s ended with status %d%s%s; the job starts", o->program,
			r->exit_status, r->said[0] ? ": " : "", r->said);
	else
		slurm_error("gpubudget_node: %s did not come to an end in %jd s; the job starts", o->program,
			(intmax_t)o->deadline_s);
	return false;
}

int slurm_spank_job_prolog(spank_t sp, int argc, char *argv[])
{
	struct order o = order_read(argc, argv);
	char text[VARIABLES][VARIABLE_MAX], *environment[VARIABLES + 1];
	struct helper h = { .path = o.program, .plain = true, .deadline_ms = o.deadline_s * 1000,
		.environment = environment };
	struct helper_result result;
	struct fault why = { "" };
	struct report report;

	(void)sp;
	if (o.check == NODE_OFF || !job_has_gpus())
		return 0;
	environment_make(&o, text, environment);
	if (helper_run(&h, &report, &result, &why) < 0) {
		slurm_error("gpubudget_node: %s; the job starts", why.text);
		return 0;
	}
	if (!is_drained(&o, &result))
		return 0;
	slurm_error("gpubudget_node: this node is at fault and drained, the job does not start on it");
	return -1;
}
