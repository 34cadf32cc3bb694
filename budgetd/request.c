/* SPDX-License-Identifier: GPL-2.0-or-later
 * request.c - reading a request, writing an answer. */
#include "budgetd/request.h"
#include "budgetd/json_kind.h"
#include "budgetd/ledger_project.h"
#include "budgetd/people.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

const char *request_query(struct request *rq, const char *key)
{
	return MHD_lookup_connection_value(rq->connection, MHD_GET_ARGUMENT_KIND, key);
}

int request_query_int(struct request *rq, const char *key, int64_t otherwise, int64_t max, int64_t *out,
	struct fault *why)
{
	const char *text = request_query(rq, key);
	char *end;
	long long v;

	if (!text) {
		*out = otherwise;
		return 0;
	}
	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno || end == text || *end || v < 0 || v > max)
		return fault_errno(why, EINVAL, "%s must be a number from 0 to %jd, not \"%.40s\"", key,
			(intmax_t)max, text);
	*out = v;
	return 0;
}

static int body_member(struct request *rq, const char *key, enum json_type type, struct json_object **out,
	struct fault *why)
{
	if (!rq->body || !json_object_object_get_ex(rq->body, key, out))
		return 0;
	if (!json_object_is_type(*out, type))
		return fault_errno(why, EINVAL, "\"%s\" must be %s, not %s", key, json_kind(type),
			json_kind(json_object_get_type(*out)));
	return 1;
}

int body_text(struct request *rq, const char *key, const char **out, struct fault *why)
{
	struct json_object *m;
	int rc = body_member(rq, key, json_type_string, &m, why);

	if (rc != 1)
		return rc;
	if (strlen(json_object_get_string(m)) != (size_t)json_object_get_string_len(m))
		return fault_errno(why, EINVAL, "\"%s\" has a NUL character in it", key);
	*out = json_object_get_string(m);
	return 1;
}

int body_need_text(struct request *rq, const char *key, const char **out, struct fault *why)
{
	int rc = body_text(rq, key, out, why);

	return rc == 0 ? fault_errno(why, EINVAL, "\"%s\" is missing", key) : rc;
}

int body_int(struct request *rq, const char *key, int64_t min, int64_t max, int64_t *out, struct fault *why)
{
	struct json_object *m;
	int rc = body_member(rq, key, json_type_int, &m, why);
	int64_t v;

	if (rc != 1)
		return rc;
	v = json_object_get_int64(m);
	if (v < min || v > max)
		return fault_errno(why, EINVAL, "\"%s\" must be from %jd to %jd", key, (intmax_t)min,
			(intmax_t)max);
	*out = v;
	return 1;
}

int body_flag(struct request *rq, const char *key, bool *out, struct fault *why)
{
	struct json_object *m;
	int rc = body_member(rq, key, json_type_boolean, &m, why);

	if (rc == 1)
		*out = json_object_get_boolean(m);
	return rc;
}

void put_int(struct json_object *o, const char *key, int64_t v)
{
	json_object_object_add(o, key, json_object_new_int64(v));
}

void put_int_or_null(struct json_object *o, const char *key, int64_t v, bool null)
{
	json_object_object_add(o, key, null ? NULL : json_object_new_int64(v));
}

void put_text(struct json_object *o, const char *key, const char *s)
{
	json_object_object_add(o, key, s ? json_object_new_string(s) : NULL);
}

void put_bool(struct json_object *o, const char *key, bool v)
{
	json_object_object_add(o, key, json_object_new_boolean(v));
}

struct json_object *reply_rows(struct json_object *rows, bool more)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "rows", rows);
	if (more)
		put_bool(o, "more", true);
	return o;
}

int request_may_see(struct request *rq, struct ledger *l, int64_t project, struct fault *why)
{
	enum member_role role = ROLE_NOBODY;
	char name[PERSON_NAME_MAX];
	struct project p = { .name = "this project" };

	if (rq->administrator)
		return 0;
	people_name(rq->b->people, rq->uid, rq->now, name);
	if (member_role(l, project, name, &role, why) < 0)
		return -1;
	if (role != ROLE_NOBODY)
		return 0;
	if (project_by_id(l, project, &p, why) < 0)
		return -1;
	return fault_errno(why, EACCES,
		"%s is not a member of %s nor of a project above it; its owner can add you", name, p.name);
}

/* What happened is listed for a project that was removed as well, to who stands above it; a newer one of that
 * name goes first. */
static int find_listed(struct request *rq, struct ledger *l, const char *name, struct project *out,
	struct fault *why)
{
	int rc = rq->who == WHO_PROJECT ? project_find(l, name, out, NULL) : 1;

	if (rc == 0 && project_find_removed(l, name, out, why) == 1)
		return request_may_own(rq, l, out->parent, why);
	return project_find(l, name, out, why) != 1 || request_may_see(rq, l, out->id, why) < 0 ? -1 : 0;
}

int request_project(struct request *rq, struct ledger *l, struct project *out, struct fault *why)
{
	const char *name = request_query(rq, "project");

	*out = (struct project){0};
	if (name)
		return find_listed(rq, l, name, out, why);
	if (rq->who != WHO_LIST && !rq->administrator)
		return fault_errno(why, EACCES,
			"name a project of yours: only an administrator sees all of them at once");
	return 0;
}

int request_may_own(struct request *rq, struct ledger *l, int64_t project, struct fault *why)
{
	enum member_role role = ROLE_NOBODY;
	char name[PERSON_NAME_MAX];

	if (rq->administrator)
		return 0;
	people_name(rq->b->people, rq->uid, rq->now, name);
	if (project && member_role(l, project, name, &role, why) < 0)
		return -1;
	if (role != ROLE_OWNER)
		return fault_errno(why, EACCES,
			"this is for an administrator, or for an owner of a project above; %s is neither",
			name);
	return 0;
}
