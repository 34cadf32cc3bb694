/* SPDX-License-Identifier: GPL-2.0-or-later
 * submit_part.c - one component of a submission: the values of its options
 *
 * A value is refused where sbatch refuses it (tried with 22.05.8), and where its manual page demands what
 * sbatch does not check: "--gpus-per-node=N" would ask for one GPU of a type called N. */
#include "config.h"
#include "lib/submit_part.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "lib/duration.h"
#include "lib/gres_list.h"
#include "lib/number.h"

#define NUMBER_MOST (INT32_MAX - 1)	/* sbatch keeps them as int */

static int no_memory(struct fault *why)
{
	return fault_errno(why, ENOMEM, "out of memory");
}

void submit_part_init(struct submit_part *p)
{
	*p = (struct submit_part){
		.min_nodes = GPU_REQUEST_UNSET, .max_nodes = GPU_REQUEST_UNSET,
			.time_limit_s = TIME_LIMIT_UNSET,
	};
	for (size_t i = 0; i < sizeof(p->number) / sizeof(p->number[0]); i++)
		p->number[i] = GPU_REQUEST_UNSET;
	job_options_init(&p->options);
}

void submit_part_clear(struct submit_part *p)
{
	int saved = errno;

	for (int i = 0; i < SUBMIT_TEXTS; i++)
		free(p->text[i]);
	free(p->per_node);
	free(p->per_task);
	submit_part_init(p);
	errno = saved;
}

/* --- values ----------------------------------------------------------------------------------------- */

typedef int setter(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why);

static int take_text(struct submit_part *p, const struct submit_option *o, char *copy, struct fault *why)
{
	if (!copy)
		return no_memory(why);
	free(p->text[o->field]);
	p->text[o->field] = copy;
	return 0;
}

static int set_text(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	return take_text(p, o, strdup(value), why);
}

static int set_array(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	int64_t tasks;

	if (gpu_request_array_tasks(value, &tasks, NULL, why) < 0)
		return -1;
	return set_text(p, o, value, why);
}

static int set_number(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	int64_t n;

	if (number_parse(value, NUMBER_MOST, &n) < 0 || n == 0)
		return fault_errno(why, EINVAL, "--%s=%.80s: not a whole number from 1 to %d", o->name, value,
			NUMBER_MOST);
	p->number[o->field - SUBMIT_TEXTS] = (uint32_t)n;
	return 0;
}

/* `prefix` in front of every item of a list; commas in brackets do not split. malloc()ed, NULL and ENOMEM. */
static char *prefix_items(const char *prefix, const char *list)
{
	size_t items = 1, len = strlen(prefix);
	bool bracket = false;
	char *copy, *w;

	for (const char *p = list; *p; p++)
		items += *p == ',';
	copy = malloc(strlen(list) + items * len + 1);
	if (!copy)
		return NULL;
	w = stpcpy(copy, prefix);
	for (const char *p = list; *p; p++) {
		*w++ = *p;
		bracket = *p == '(' || (bracket && *p != ')');
		if (*p == ',' && !bracket)
			w = stpcpy(w, prefix);
	}
	*w = '\0';
	return copy;
}

/* Read it through once, so that the text names the option in which the mistake is. */
static int check_list(const struct submit_option *o, const char *list, bool counted, struct fault *why)
{
	struct fault reason = { "" };
	const char *cursor = NULL;
	struct gres_item item;
	int rc;

	while ((rc = gres_list_next(list, &cursor, &item, &reason)) > 0)
		if (counted && !item.counted) {
			rc = gres_list_fault(list, item.value ? item.value : item.name, EINVAL, &reason,
				"no number of GPUs");
			break;
		}
	return rc < 0 ? fault_set(why, "--%s: %s", o->name, reason.text) : 0;
}

static int set_list(
	struct submit_part *p, const struct submit_option *o, char *list, bool counted, struct fault *why)
{
	if (!list)
		return no_memory(why);
	if (check_list(o, list, counted, why) < 0) {
		free(list);
		return -1;
	}
	return take_text(p, o, list, why);
}

/* [type:]number, a list of them. */
static int set_gpus(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	return set_list(p, o, prefix_items("gres/gpu:", value), true, why);
}

static int set_gres(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	if (strcasecmp(value, "none") != 0)
		return set_list(p, o, prefix_items("gres/", value), false, why);
	free(p->text[o->field]);
	p->text[o->field] = NULL;
	return 0;
}

static int set_tres(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	return set_list(p, o, strdup(value), true, why);
}

/* "4", "2k": thousands are 1024 here. */
static int read_nodes(const char **s, int64_t *n)
{
	int64_t unit = 1;

	if (number_read(s, n) < 0)
		return -1;
	if (**s == 'k' || **s == 'K')
		unit = 1024;
	else if (**s == 'm' || **s == 'M')
		unit = 1024 * 1024;
	*s += unit > 1;
	if (__builtin_mul_overflow(*n, unit, n) || *n > NUMBER_MOST)
		return -1;
	return 0;
}

/* "2", "2-4", and from 23.02 on a list of sizes that will do, "1,2,4-8": the least and the most of it. */
static int set_nodes(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	int64_t least = NUMBER_MOST, most = 0;
	const char *s = value;

	for (;; s++) {
		int64_t a, b;

		if (read_nodes(&s, &a) < 0)
			goto fail;
		b = a;
		if (*s == '-') {
			s++;
			if (read_nodes(&s, &b) < 0 || b < a)
				goto fail;
		}
		least = a < least ? a : least;
		most = b > most ? b : most;
		if (*s != ',')
			break;
	}
	if (*s)
		goto fail;
	p->min_nodes = (uint32_t)least;
	p->max_nodes = (uint32_t)most;
	return 0;
fail:
	return fault_errno(why, EINVAL,
		"--%s=%.80s: not a number of nodes or a range such as 2-4, at character %td", o->name, value,
		s - value + 1);
}

/* Only the clock of sbatch, no "2h"; 0 and -1 mean no limit; seconds are rounded up to the minute, as sbatch
 * does. */
static int set_time(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	bool clock = value[strspn(value, "0123456789:-")] == '\0';
	struct fault reason = { "" };
	int64_t seconds;

	if (!strcmp(value, "-1"))
		value = "UNLIMITED";
	else if (!clock && strcasecmp(value, "UNLIMITED") != 0 && strcasecmp(value, "INFINITE") != 0)
		return fault_errno(why, EINVAL,
			"--%s=%.80s: sbatch takes minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS or "
			"UNLIMITED",
			o->name, value);
	if (duration_parse(value, &seconds, &reason) < 0)
		return fault_set(why, "--%s: %s", o->name, reason.text);
	if (seconds == 0)
		seconds = DURATION_UNLIMITED;
	else if (seconds != DURATION_UNLIMITED)
		seconds = (seconds + 59) / 60 * 60;
	p->time_limit_s = seconds;
	return 0;
}

/* With a word (user, mcs, topo) the nodes are not shared with others, but not given whole. */
static int set_exclusive(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	static const char *const words[] = { "user", "mcs", "topo" };

	for (size_t i = 0; value && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(value, words[i])) {
			p->exclusive = false;
			return 0;
		}
	if (value && strcasecmp(value, "exclusive") != 0)
		return fault_errno(
			why, EINVAL, "--%s=%.80s: only user, mcs or topo may stand there", o->name, value);
	p->exclusive = true;
	return 0;
}

/* -B sockets[:cores[:threads]]; "*" leaves the sockets open. */
static int set_node_info(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	const char *s = value;
	int64_t n;

	if (*value == '*')
		return 0;
	if (number_read(&s, &n) < 0 || n == 0 || n > NUMBER_MOST || (*s && *s != ':'))
		return fault_errno(why, EINVAL, "--%s=%.80s: not a number of sockets", o->name, value);
	p->number[FIELD_SOCKETS_PER_NODE - SUBMIT_TEXTS] = (uint32_t)n;
	return 0;
}

static int set_hold(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	(void)o, (void)value, (void)why;
	p->held = true;
	return 0;
}

/* Two options, the later one wins. */
static int set_requeue(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	(void)value, (void)why;
	p->no_requeue = !strcmp(o->name, "no-requeue");
	return 0;
}

/* "USR1", "SIGUSR1", "10", up to the "@". 0 for what is none. */
static int read_signal(const char *s)
{
	size_t n = strcspn(s, "@");
	int64_t number;

	if (number_read(&s, &number) == 0)
		return (*s && *s != '@') || number < 1 || number > SIGRTMAX ? 0 : (int)number;
	if (n > 3 && !strncasecmp(s, "SIG", 3)) {
		s += 3;
		n -= 3;
	}
	for (int i = 1; i < SIGRTMIN; i++) {
		const char *name = sigabbrev_np(i);

		if (name && strlen(name) == n && !strncasecmp(s, name, n))
			return i;
	}
	return 0;
}

/* [{R|B}:]SIGNAL[@SECONDS] */
static int set_signal(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	size_t letters = strspn(value, "RrBb");
	bool prefix = letters > 0 && value[letters] == ':';
	int number = read_signal(prefix ? value + letters + 1 : value);

	if (!number)
		return fault_errno(why, EINVAL, "--%s=%.80s: not [B:]SIGNAL[@SECONDS], such as B:USR1@120", o->name,
			value);
	p->signal = number;
	p->signal_script = prefix && strcspn(value, "Bb") < letters;
	return 0;
}

static int set_job_option(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	return job_options_set(&p->options, (enum job_option)(o->field - FIELD_MIN_RUNTIME), value, why);
}

static int set_nothing(
	struct submit_part *p, const struct submit_option *o, const char *value, struct fault *why)
{
	(void)p, (void)o, (void)value, (void)why;
	return 0;
}

_Static_assert((int)FIELD_TEAM_RANK - (int)FIELD_MIN_RUNTIME == (int)OPT_TEAM_RANK,
	"fields stand in the order of job_option_table");

static setter *const setters[SUBMIT_FIELDS] = {
	[FIELD_ACCOUNT] = set_text,
	[FIELD_PARTITION] = set_text,
	[FIELD_QOS] = set_text,
	[FIELD_COMMENT] = set_text,
	[FIELD_DEPENDENCY] = set_text,
	[FIELD_ARRAY] = set_array,
	[FIELD_GPUS] = set_gpus,
	[FIELD_GPUS_PER_NODE] = set_gpus,
	[FIELD_GPUS_PER_SOCKET] = set_gpus,
	[FIELD_GPUS_PER_TASK] = set_gpus,
	[FIELD_GRES] = set_gres,
	[FIELD_TRES_PER_TASK] = set_tres,
	[FIELD_NTASKS] = set_number,
	[FIELD_NTASKS_PER_NODE] = set_number,
	[FIELD_NTASKS_PER_SOCKET] = set_number,
	[FIELD_SOCKETS_PER_NODE] = set_number,
	[FIELD_CPUS_PER_TASK] = set_number,
	[FIELD_NTASKS_PER_TRES] = set_number,
	[FIELD_NODES] = set_nodes,
	[FIELD_TIME] = set_time,
	[FIELD_EXCLUSIVE] = set_exclusive,
	[FIELD_HOLD] = set_hold,
	[FIELD_REQUEUE] = set_requeue,
	[FIELD_SIGNAL] = set_signal,
	[FIELD_EXTRA_NODE_INFO] = set_node_info,
	[FIELD_MIN_RUNTIME] = set_job_option,
	[FIELD_TIER] = set_job_option,
	[FIELD_TEAM_RANK] = set_job_option,
	[FIELD_NONE] = set_nothing,
};

int submit_part_set(
	struct submit_part *p, const struct submit_option *option, const char *value, struct fault *why)
{
	return setters[option->field](p, option, value, why);
}

/* --- the component ---------------------------------------------------------------------------------- */

/* "a,b" of two that may be NULL, in *out, which is freed first. */
static int join(char **out, const char *a, const char *b, struct fault *why)
{
	free(*out);
	*out = NULL;
	if (!a && !b)
		return 0;
	if (asprintf(out, "%s%s%s", a ? a : "", a && b ? "," : "", b ? b : "") < 0) {
		*out = NULL;
		return no_memory(why);
	}
	return 0;
}

static uint32_t number(const struct submit_part *p, enum submit_field field)
{
	return p->number[field - SUBMIT_TEXTS];
}

/* Fewer tasks than nodes: sbatch says "can't run 2 processes on 4 nodes, setting nnodes to 2". */
static void build_gpus(struct submit_part *p)
{
	struct gpu_request_input *in = &p->component.gpus;

	gpu_request_input_init(in);
	in->tres_per_job = p->text[FIELD_GPUS];
	in->tres_per_node = p->per_node;
	in->tres_per_socket = p->text[FIELD_GPUS_PER_SOCKET];
	in->tres_per_task = p->per_task;
	in->num_tasks = number(p, FIELD_NTASKS);
	in->ntasks_per_node = number(p, FIELD_NTASKS_PER_NODE);
	in->ntasks_per_socket = number(p, FIELD_NTASKS_PER_SOCKET);
	in->sockets_per_node = number(p, FIELD_SOCKETS_PER_NODE);
	in->cpus_per_task = number(p, FIELD_CPUS_PER_TASK);
	in->ntasks_per_tres = number(p, FIELD_NTASKS_PER_TRES);
	in->min_nodes = p->min_nodes;
	in->max_nodes = p->max_nodes;
	if (in->num_tasks != GPU_REQUEST_UNSET && in->min_nodes != GPU_REQUEST_UNSET &&
		in->num_tasks < in->min_nodes)
		in->min_nodes = in->max_nodes = in->num_tasks;
	in->exclusive = p->exclusive;
	in->array = p->text[FIELD_ARRAY];
}

static void inherit(struct submit_component *c, const struct submit_component *before)
{
	if (!c->account)
		c->account = before->account;
	if (!c->qos)
		c->qos = before->qos;
	if (!c->comment)
		c->comment = before->comment;
	if (c->time_limit_s == TIME_LIMIT_UNSET)
		c->time_limit_s = before->time_limit_s;
	if (c->options.min_runtime_s == MIN_RUNTIME_UNSET)
		c->options.min_runtime_s = before->options.min_runtime_s;
	if (c->options.tier == TIER_UNSET)
		c->options.tier = before->options.tier;
	if (!c->options.team_rank)
		c->options.team_rank = before->options.team_rank;
}

int submit_part_build(struct submit_part *p, const struct submit_part *before, struct fault *why)
{
	if (join(&p->per_node, p->text[FIELD_GPUS_PER_NODE], p->text[FIELD_GRES], why) < 0 ||
		join(&p->per_task, p->text[FIELD_GPUS_PER_TASK], p->text[FIELD_TRES_PER_TASK], why) < 0)
		return -1;
	p->component = (struct submit_component){
		.options = p->options,
		.time_limit_s = p->time_limit_s,
		.account = p->text[FIELD_ACCOUNT],
		.partition = p->text[FIELD_PARTITION],
		.qos = p->text[FIELD_QOS],
		.comment = p->text[FIELD_COMMENT],
		.dependency = p->text[FIELD_DEPENDENCY],
		.held = p->held,
		.no_requeue = p->no_requeue,
		.signal = p->signal,
		.signal_script = p->signal_script,
	};
	build_gpus(p);
	if (before)
		inherit(&p->component, &before->component);
	return 0;
}
