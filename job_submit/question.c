/* SPDX-License-Identifier: GPL-2.0-or-later
 * question.c - which fields of a job description budgetd is told, and under which names
 *
 * fields[] is the whole list: the question, the quick look (is this about GPUs at all?) and the test
 * whether a modification matters are made from it. Slurm writes "not given" as NULL, NO_VAL, INFINITE or
 * 0, by field and by version; none of them is a count. */
#include "job_submit/question.h"
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "lib/gpu_request.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
/* sbatch's; slurmctld sees no SPANK_ in front of it */
#define SPANK_OPTION_PREFIX "_SLURM_SPANK_OPTION_gpubudget_"

enum field_kind { TEXT, COUNT_16, COUNT_32 };

struct field {
	const char *key;		/* in doc/api.md */
	enum field_kind kind;
	bool matters;			/* changing it is a new check */
	size_t offset;			/* in job_desc_msg_t */
	size_t request;			/* in struct gpu_request_input, or NOT_A_REQUEST */
};

#define NOT_A_REQUEST SIZE_MAX
#define JOB(field) offsetof(job_desc_msg_t, field)
#define ASKS(field) offsetof(struct gpu_request_input, field)

/* array_inx is not here: in a modification it is the throttle alone ("5"), which no budget cares about. */
static const struct field fields[] = {
	{ "account", TEXT, true, JOB(account), NOT_A_REQUEST },
	{ "partition", TEXT, true, JOB(partition), NOT_A_REQUEST },
	{ "qos", TEXT, true, JOB(qos), NOT_A_REQUEST },
	{ "tres_per_job", TEXT, true, JOB(tres_per_job), ASKS(tres_per_job) },
	{ "tres_per_node", TEXT, true, JOB(tres_per_node), ASKS(tres_per_node) },
	{ "tres_per_socket", TEXT, true, JOB(tres_per_socket), ASKS(tres_per_socket) },
	{ "tres_per_task", TEXT, true, JOB(tres_per_task), ASKS(tres_per_task) },
	{ "num_tasks", COUNT_32, true, JOB(num_tasks), ASKS(num_tasks) },
	{ "min_nodes", COUNT_32, true, JOB(min_nodes), ASKS(min_nodes) },
	{ "max_nodes", COUNT_32, true, JOB(max_nodes), ASKS(max_nodes) },
	{ "ntasks_per_node", COUNT_16, true, JOB(ntasks_per_node), ASKS(ntasks_per_node) },
	{ "ntasks_per_socket", COUNT_16, true, JOB(ntasks_per_socket), ASKS(ntasks_per_socket) },
	{ "sockets_per_node", COUNT_16, true, JOB(sockets_per_node), ASKS(sockets_per_node) },
	{ "cpus_per_task", COUNT_16, false, JOB(cpus_per_task), ASKS(cpus_per_task) },
	{ "ntasks_per_tres", COUNT_16, true, JOB(ntasks_per_tres), ASKS(ntasks_per_tres) },
	{ "dependency", TEXT, false, JOB(dependency), NOT_A_REQUEST },
	{ "comment", TEXT, false, JOB(comment), NOT_A_REQUEST },
	{ "name", TEXT, false, JOB(name), NOT_A_REQUEST },
};

static const char *text_at(const job_desc_msg_t *d, const struct field *f)
{
	const char *text;

	memcpy(&text, (const char *)d + f->offset, sizeof(text));
	return text && text[0] ? text : NULL;
}

/* The number, or GPU_REQUEST_UNSET. */
static uint32_t count_at(const job_desc_msg_t *d, const struct field *f)
{
	const char *at = (const char *)d + f->offset;
	uint16_t narrow;
	uint32_t wide;

	if (f->kind == COUNT_16) {
		memcpy(&narrow, at, sizeof(narrow));
		return narrow == 0 || narrow == NO_VAL16 || narrow == INFINITE16 ? GPU_REQUEST_UNSET : narrow;
	}
	memcpy(&wide, at, sizeof(wide));
	return wide == 0 || wide == NO_VAL || wide == INFINITE ? GPU_REQUEST_UNSET : wide;
}

static bool field_given(const job_desc_msg_t *d, const struct field *f)
{
	return f->kind == TEXT ? text_at(d, f) != NULL : count_at(d, f) != GPU_REQUEST_UNSET;
}

static bool takes_nodes_whole(const job_desc_msg_t *d)
{
	return d->shared ==
	       JOB_SHARED_NONE; /* =user and =mcs share the node and get only what they ask for */
}

static bool asks_for_gpus(const job_desc_msg_t *d)
{
	struct gpu_request_input in;

	gpu_request_input_init(&in);
	for (size_t i = 0; i < COUNT(fields); i++) {
		char *to = (char *)&in;

		if (fields[i].request == NOT_A_REQUEST)
			continue;
		to += fields[i].request;
		if (fields[i].kind == TEXT)
			memcpy(to, &(const char *){ text_at(d, &fields[i]) }, sizeof(const char *));
		else
			memcpy(to, &(uint32_t){ count_at(d, &fields[i]) }, sizeof(uint32_t));
	}
	in.exclusive = takes_nodes_whole(d);
	return gpu_request_concerns(&in);
}

bool question_concerns(const job_desc_msg_t *job_desc)
{
	return asks_for_gpus(job_desc);
}

/* One of our words in a --comment: "gpu-min-runtime=2h". */
static bool comment_has_option(const char *comment)
{
	for (int i = 0; comment && i < JOB_OPTIONS; i++) {
		const char *name = job_option_table[i].name;

		for (const char *at = strstr(comment, name); at; at = strstr(at + 1, name))
			if (at[strlen(name)] == '=')
				return true;
	}
	return false;
}

static bool is_our_qos(const char *qos, const struct settings *s)
{
	return qos && (!strcasecmp(qos, s->qos_funded) || !strcasecmp(qos, s->qos_funded_still) ||
		!strcasecmp(qos, s->qos_free));
}

static bool changes_what_matters(const job_desc_msg_t *d)
{
	for (size_t i = 0; i < COUNT(fields); i++)
		if (fields[i].matters && field_given(d, &fields[i]))
			return true;
	return d->time_limit != NO_VAL || d->shared != NO_VAL16 || d->priority == INFINITE ||
	       comment_has_option(d->comment);
}

bool question_modify_concerns(
	const job_desc_msg_t *job_desc, const char *token, const struct settings *settings)
{
	if (!changes_what_matters(job_desc))
		return false;
	return token || asks_for_gpus(job_desc) || is_our_qos(job_desc->qos, settings);
}

bool question_holds(const job_desc_msg_t *job_desc)
{
	return job_desc->priority == 0;
}

/* "" takes all of them out. */
bool question_excludes(const job_desc_msg_t *job_desc)
{
	return job_desc->exc_nodes != NULL;
}

bool question_moves_by_hand(const job_desc_msg_t *d)
{
	return (d->nice != NO_VAL && d->nice != NICE_OFFSET) ||
	       (d->priority != NO_VAL && d->priority != INFINITE && d->priority != 0);
}

/* --- options of SPANK ------------------------------------------------------------------------------ */

/* "..._gpu_min_runtime=2h" carries "gpu-min-runtime": what is no letter or digit becomes '_' on the way. */
static const char *option_value(const char *entry, const char *name)
{
	if (strncmp(entry, SPANK_OPTION_PREFIX, strlen(SPANK_OPTION_PREFIX)))
		return NULL;
	for (entry += strlen(SPANK_OPTION_PREFIX); *name; entry++, name++)
		if (*entry != (isalnum((unsigned char)*name) ? *name : '_'))
			return NULL;
	return *entry == '=' ? entry + 1 : NULL;
}

const char *question_option(const job_desc_msg_t *job_desc, enum job_option which)
{
	for (uint32_t i = 0; job_desc->spank_job_env && i < job_desc->spank_job_env_size; i++) {
		const char *entry = job_desc->spank_job_env[i];
		const char *value = entry ? option_value(entry, job_option_table[which].name) : NULL;

		if (value)
			return value;
	}
	return NULL;
}

/* --- JSON ------------------------------------------------------------------------------------------ */

/* Takes `value` over. Once something failed, nothing more is added and the whole is dropped. */
static void add(struct json_object *q, bool *ok, const char *key, struct json_object *value)
{
	if (!*ok || !value || json_object_object_add(q, key, value) < 0) {
		json_object_put(value);
		*ok = false;
	}
}

static void add_text(struct json_object *q, bool *ok, const char *key, const char *text)
{
	if (text)
		add(q, ok, key, json_object_new_string(text));
}

static void add_count(struct json_object *q, bool *ok, const char *key, int64_t n)
{
	add(q, ok, key, json_object_new_int64(n));
}

static void add_flag(struct json_object *q, bool *ok, const char *key, bool flag)
{
	add(q, ok, key, json_object_new_boolean(flag));
}

static void add_fields(struct json_object *q, bool *ok, const job_desc_msg_t *d)
{
	static const char *const option_keys[JOB_OPTIONS] = {
		[OPT_MIN_RUNTIME] = "min_runtime", [OPT_TIER] = "tier", [OPT_TEAM_RANK] = "team_rank"};

	for (size_t i = 0; i < COUNT(fields); i++) {
		if (fields[i].kind == TEXT)
			add_text(q, ok, fields[i].key, text_at(d, &fields[i]));
		else if (count_at(d, &fields[i]) != GPU_REQUEST_UNSET)
			add_count(q, ok, fields[i].key, count_at(d, &fields[i]));
	}
	for (int i = 0; i < JOB_OPTIONS; i++)
		add_text(q, ok, option_keys[i], question_option(d, i));
	if (d->time_limit != NO_VAL)
		add_count(q, ok, "time_limit_min", d->time_limit == INFINITE ? -1 : (int64_t)d->time_limit);
	if (d->begin_time)
		add_count(q, ok, "begin", d->begin_time);
	if (takes_nodes_whole(d))
		add_flag(q, ok, "exclusive", true);
}

static struct json_object *question_new(
	bool *ok, const char *kind, const job_desc_msg_t *d, uint32_t submit_uid)
{
	struct json_object *q = json_object_new_object();

	*ok = q != NULL;
	if (!q)
		return NULL;
	add_text(q, ok, "kind", kind);
	add_count(q, ok, "uid", d->user_id);
	add_count(q, ok, "submit_uid", submit_uid);
	add_fields(q, ok, d);
	return q;
}

static struct json_object *question_whole(struct json_object *q, bool ok)
{
	if (q && ok)
		return q;
	json_object_put(q);
	errno = ENOMEM;
	return NULL;
}

/* srun and salloc have no script and cannot be requeued, whatever the flag says; of a het job only the
 * first component has one. */
static void add_requeue(struct json_object *q, bool *ok, const job_desc_msg_t *d)
{
	bool batch = d->script || d->script_buf || (d->het_job_offset != NO_VAL && d->het_job_offset > 0);

	if (!batch)
		add_flag(q, ok, "requeue", false);
	else if (d->requeue != NO_VAL16)
		add_flag(q, ok, "requeue", d->requeue != 0);
}

/* --signal=[B:]USR1@120: by which it wants to be told, too, when it has to give way. */
static void add_signal(struct json_object *q, bool *ok, const job_desc_msg_t *d)
{
	if (!d->warn_signal || d->warn_signal == NO_VAL16)
		return;
	add_count(q, ok, "signal", d->warn_signal);
	add_flag(q, ok, "signal_script", d->warn_flags & KILL_JOB_BATCH);
}

struct json_object *question_submit(const job_desc_msg_t *job_desc, uint32_t submit_uid)
{
	bool ok;
	struct json_object *q = question_new(&ok, "submit", job_desc, submit_uid);

	if (!q)
		return question_whole(q, false);
	if (job_desc->array_inx && job_desc->array_inx[0])
		add_text(q, &ok, "array", job_desc->array_inx);
	if (job_desc->het_job_offset != NO_VAL)
		add_count(q, &ok, "het_offset", job_desc->het_job_offset);
	if (job_desc->priority == 0)
		add_flag(q, &ok, "held", true);
	add_signal(q, &ok, job_desc);
	add_requeue(q, &ok, job_desc);
	return question_whole(q, ok);
}

struct json_object *question_modify(const job_desc_msg_t *job_desc, uint32_t submit_uid, const char *token,
	bool waits)
{
	bool ok;
	struct json_object *q = question_new(&ok, "modify", job_desc, submit_uid);

	if (!q)
		return question_whole(q, false);
	add_text(q, &ok, "job", job_desc->job_id_str);
	add_text(q, &ok, "token", token);
	if (job_desc->shared != NO_VAL16 && !takes_nodes_whole(job_desc))
		add_flag(q, &ok, "exclusive", false);
	if (job_desc->priority == 0)
		add_flag(q, &ok, "held", true);
	if (job_desc->priority == INFINITE)
		add_flag(q, &ok, "release", true);
	if (waits)
		add_flag(q, &ok, "waits", true);
	if (job_desc->requeue != NO_VAL16)
		add_flag(q, &ok, "requeue", job_desc->requeue != 0);
	return question_whole(q, ok);
}

static struct json_object *question_named(const char *kind, const job_desc_msg_t *job_desc,
	uint32_t submit_uid, const char *token)
{
	struct json_object *q = json_object_new_object();
	bool ok = q != NULL;

	if (!q)
		return question_whole(q, false);
	add_text(q, &ok, "kind", kind);
	add_count(q, &ok, "uid", job_desc->user_id);
	add_count(q, &ok, "submit_uid", submit_uid);
	add_text(q, &ok, "job", job_desc->job_id_str);
	add_text(q, &ok, "token", token);
	return question_whole(q, ok);
}

struct json_object *question_hold(const job_desc_msg_t *job_desc, uint32_t submit_uid, const char *token)
{
	return question_named("hold", job_desc, submit_uid, token);
}

struct json_object *question_exclude(const job_desc_msg_t *job_desc, uint32_t submit_uid, const char *token)
{
	return question_named("exclude", job_desc, submit_uid, token);
}
