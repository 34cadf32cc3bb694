/* SPDX-License-Identifier: GPL-2.0-or-later
 * question.c - what a submission asks. */
#include "budgetd/question.h"
#include "budgetd/json_kind.h"
#include "lib/duration.h"
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

enum field_kind { TEXT, COUNT, SIGNED, FLAG };

/* One row a key of doc/api.md. */
static const struct field {
	const char *key;
	enum field_kind kind;
	size_t offset;
} fields[] = {
#define AT(member) offsetof(struct question, member)
	{ "uid", SIGNED, AT(uid) },
	{ "account", TEXT, AT(account) },
	{ "partition", TEXT, AT(partition) },
	{ "qos", TEXT, AT(qos) },
	{ "tres_per_job", TEXT, AT(gpus.tres_per_job) },
	{ "tres_per_node", TEXT, AT(gpus.tres_per_node) },
	{ "tres_per_socket", TEXT, AT(gpus.tres_per_socket) },
	{ "tres_per_task", TEXT, AT(gpus.tres_per_task) },
	{ "num_tasks", COUNT, AT(gpus.num_tasks) },
	{ "min_nodes", COUNT, AT(gpus.min_nodes) },
	{ "max_nodes", COUNT, AT(gpus.max_nodes) },
	{ "ntasks_per_node", COUNT, AT(gpus.ntasks_per_node) },
	{ "ntasks_per_socket", COUNT, AT(gpus.ntasks_per_socket) },
	{ "sockets_per_node", COUNT, AT(gpus.sockets_per_node) },
	{ "cpus_per_task", COUNT, AT(gpus.cpus_per_task) },
	{ "ntasks_per_tres", COUNT, AT(gpus.ntasks_per_tres) },
	{ "exclusive", FLAG, AT(gpus.exclusive) },
	{ "array", TEXT, AT(gpus.array) },
	{ "min_runtime", TEXT, AT(text[OPT_MIN_RUNTIME]) },
	{ "tier", TEXT, AT(text[OPT_TIER]) },
	{ "team_rank", TEXT, AT(text[OPT_TEAM_RANK]) },
	{ "comment", TEXT, AT(comment) },
	{ "time_limit_min", SIGNED, AT(time_limit_s) },
	{ "begin", SIGNED, AT(begin) },
	{ "held", FLAG, AT(held) },
	{ "requeue", FLAG, AT(requeueable) },
	{ "signal", SIGNED, AT(signal) },
	{ "signal_script", FLAG, AT(signal_script) },
#undef AT
};

static const enum json_type type_of[] = {
	[TEXT] = json_type_string, [COUNT] = json_type_int, [SIGNED] = json_type_int,
		[FLAG] = json_type_boolean,
};

static int read_field(const struct field *f, struct json_object *v, struct question *q, struct fault *why)
{
	void *at = (char *)q + f->offset;
	int64_t n;

	if (!json_object_is_type(v, type_of[f->kind]))
		return fault_errno(why, EINVAL, "\"%s\" must be %s, not %s", f->key,
			json_kind(type_of[f->kind]), json_kind(json_object_get_type(v)));
	switch (f->kind) {
	case TEXT:
		*(const char **)at = json_object_get_string(v);
		if (strlen(*(const char **)at) != (size_t)json_object_get_string_len(v))
			return fault_errno(why, EINVAL, "\"%s\" has a NUL character in it", f->key);
		return 0;
	case SIGNED:
		*(int64_t *)at = json_object_get_int64(v);
		return 0;
	case FLAG:
		*(bool *)at = json_object_get_boolean(v);
		return 0;
	case COUNT:
		n = json_object_get_int64(v);
		if (n < 0 || n >= GPU_REQUEST_UNSET)
			return fault_errno(why, EINVAL, "\"%s\" must be from 0 to %u", f->key,
				GPU_REQUEST_UNSET - 1);
		*(uint32_t *)at = (uint32_t)n;
		return 0;
	}
	return -1;
}

/* Minutes as Slurm has them become seconds; -1 is UNLIMITED on the wire. */
static int fix_time_limit(struct question *q, bool given, struct fault *why)
{
	if (!given)
		q->time_limit_s = JOB_TIME_LIMIT_UNSET;
	else if (q->time_limit_s == -1 || q->time_limit_s == 0)	/* --time=0 asks for no limit */
		q->time_limit_s = DURATION_UNLIMITED;
	else if (q->time_limit_s < 0 || q->time_limit_s > UINT32_MAX)
		return fault_errno(why, EINVAL, "\"time_limit_min\" must be -1 or from 0 to %u", UINT32_MAX);
	else
		q->time_limit_s *= 60;
	return 0;
}

int question_from_json(struct json_object *body, struct question *out, struct fault *why)
{
	struct question q = { .uid = -1, .requeueable = true };
	struct json_object *v;

	gpu_request_input_init(&q.gpus);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (json_object_object_get_ex(body, fields[i].key, &v) &&
			read_field(&fields[i], v, &q, why) < 0)
			return -1;
	if (q.uid < 0 || q.uid > UINT32_MAX)
		return fault_errno(why, EINVAL, "\"uid\" is missing or not a user id");
	if (fix_time_limit(&q, json_object_object_get_ex(body, "time_limit_min", NULL), why) < 0)
		return -1;
	q.has_dependency = json_object_object_get_ex(body, "dependency", NULL);
	q.het = json_object_object_get_ex(body, "het_offset", NULL);
	*out = q;
	return 0;
}

int question_signal(const struct question *q, bool *script_only)
{
	bool own = q->signal > 0 && q->signal < SIGRTMIN;

	*script_only = own && q->signal_script;
	return own ? (int)q->signal : SIGTERM;
}

void question_from_job(const struct job_view *j, struct question *out)
{
	*out = (struct question){
		.uid = j->uid,
		.account = j->account,
		.partition = j->partition,
		.qos = j->qos,
		.gpus = j->request,
		.comment = j->comment,
		.admin_comment = j->admin_comment,
		.time_limit_s = j->time_limit_s,
		.begin = j->eligible,
		.has_dependency = j->dependency && *j->dependency,
		.held = j->held != HELD_NOT,
		.het = j->het_job_id != 0,
		.requeueable = j->requeueable,
	};
	if (!j->array_tasks)
		out->gpus.array = NULL;	/* one task of an array, not the record that stands for many */
}

/* NULL for what is not given: then the key is absent. */
static struct json_object *field_json(const struct field *f, const struct question *q)
{
	const void *at = (const char *)q + f->offset;

	switch (f->kind) {
	case TEXT:
		return *(const char *const *)at ? json_object_new_string(*(const char *const *)at) : NULL;
	case SIGNED:
		return json_object_new_int64(*(const int64_t *)at);
	case FLAG:
		return json_object_new_boolean(*(const bool *)at);
	case COUNT:
		return *(const uint32_t *)at != GPU_REQUEST_UNSET
			? json_object_new_int64(*(const uint32_t *)at) : NULL;
	}
	return NULL;
}

struct json_object *question_to_json(const struct question *q)
{
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; o && i < sizeof(fields) / sizeof(*fields); i++) {
		struct json_object *v = field_json(&fields[i], q);

		if (v)
			json_object_object_add(o, fields[i].key, v);
	}
	json_object_object_del(o, "time_limit_min");
	if (q->time_limit_s == DURATION_UNLIMITED)
		json_object_object_add(o, "time_limit_min", json_object_new_int64(-1));
	else if (q->time_limit_s != JOB_TIME_LIMIT_UNSET)
		json_object_object_add(o, "time_limit_min", json_object_new_int64(q->time_limit_s / 60));
	if (q->has_dependency)
		json_object_object_add(o, "dependency", json_object_new_string("yes"));
	if (q->het)
		json_object_object_add(o, "het_offset", json_object_new_int64(0));
	return o;
}

struct json_object *question_overlay(const char *before, struct json_object *body)
{
	struct json_object *merged = json_tokener_parse(before);

	if (!merged || !json_object_is_type(merged, json_type_object)) {
		json_object_put(merged);
		errno = ENOMEM;
		return NULL;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		struct json_object *v;

		/* The owner of the job does not change; a modification carries the uid of who asks for it. */
		if (strcmp(fields[i].key, "uid") != 0 && json_object_object_get_ex(body, fields[i].key, &v))
			json_object_object_add(merged, fields[i].key, json_object_get(v));
	}
	return merged;
}
