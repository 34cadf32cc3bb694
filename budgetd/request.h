/* SPDX-License-Identifier: GPL-2.0-or-later
 * request.h - one HTTP request as its handler sees it: who asks, for what, and where the answer goes
 *
 * A handler returns 0 with rq->reply or rq->stream set (and rq->status when it is not 200), or -1 with errno and a text;
 * only server.c turns errno into a status: EINVAL, EOVERFLOW and E2BIG 400, EKEYREJECTED 401, EPERM and EACCES 403,
 * ENOENT 404, EOPNOTSUPP 405, EEXIST 409, EMSGSIZE 413, EAGAIN 503; anything else is a 500.
 *
 * Threads  a request belongs to the server thread that reads it */
#ifndef BUDGETD_REQUEST_H
#define BUDGETD_REQUEST_H
#include <json-c/json.h>
#include <stdbool.h>
#include <sys/types.h>
#include "budgetd/budgetd.h"
#include "lib/amount.h"
#include "lib/fault.h"

struct ledger;
struct project;
struct route;
struct MHD_Connection;

/* The right that a call needs, as its row in routes.c has it. Administrators have all but the last. "People"
 * of a project are its owners and members and those of a project above it. */
enum who {
	/* whoever is known: nothing of a project is told, or what is told is judged row by row */
	WHO_ANYONE,
	/* lists what the caller may see; ?project= must be of that: request_project */
	WHO_LIST,
	/* people of ?project=, which administrators alone may leave out: request_project */
	WHO_PROJECT,
	WHO_MEMBER,		/* people of the project that the body names: request_may_see */
	/* owners of the project, or of one above, as the write needs it: request_may_own */
	WHO_OWNER,
	WHO_JOB,		/* the user of the job, people (to change it: owners) of its project */
	WHO_ADMINISTRATOR,
	WHO_SLURM,		/* root or SlurmUser, on the plugin's socket only */
};

/* An answer that is sent while it is read: text/csv. The server frees it. */
struct reply_stream {
	/* At most `max` bytes, at least one; 0 = that was all, -1 = it cannot go on (logged). */
	ssize_t (*more)(struct reply_stream *s, char *to, size_t max);
	void (*free)(struct reply_stream *s);
};

struct request {
	struct budgetd *b;
	struct MHD_Connection *connection;
	uid_t uid;			/* of the caller, from the kernel or from munged */
	bool administrator;
	enum who who;			/* of the route */
	const struct route *route;
	int64_t now;
	const char *name;		/* the {name} of the path, or "" */
	struct json_object *body;	/* an object, or NULL */
	/* the same write was said before, with the same request id (said.h) */
	bool said;
	struct json_object *reply;	/* the handler's answer, given away to the server */
	struct reply_stream *stream;	/* or this one */
	unsigned status;		/* 200 unless the handler says otherwise */
};

typedef int (*handler_fn)(struct request *rq, struct fault *why);

/* The value after ?key= or NULL. */
const char *request_query(struct request *rq, const char *key);
/* A number after ?key=, `otherwise` when absent; -1 and EINVAL when it is not one or out of range. */
int request_query_int(struct request *rq, const char *key, int64_t otherwise, int64_t max, int64_t *out,
	struct fault *why);

/* Members of the body. Absent: 0 and *out untouched. Present: 1. Wrong type or out of range: -1, EINVAL and a
 * text that names the key. Text is borrowed from the body. */
int body_text(struct request *rq, const char *key, const char **out, struct fault *why);
int body_int(struct request *rq, const char *key, int64_t min, int64_t max, int64_t *out, struct fault *why);
int body_flag(struct request *rq, const char *key, bool *out, struct fault *why);
/* Like body_text; absent is an error. */
int body_need_text(struct request *rq, const char *key, const char **out, struct fault *why);

/* Members of a reply; out of memory ends in a 500, not a crash (json-c ignores NULL). */
void put_int(struct json_object *o, const char *key, int64_t v);
void put_int_or_null(struct json_object *o, const char *key, int64_t v, bool null);
void put_text(struct json_object *o, const char *key, const char *s);	/* NULL gives null */
void put_bool(struct json_object *o, const char *key, bool v);

/* {"rows": rows, "more": more} */
struct json_object *reply_rows(struct json_object *rows, bool more);

/* The caller's right on a project: administrator, owner or member of it or of one above. -1 and EACCES when
 * it has none. Wants an open transaction on `l`. */
int request_may_see(struct request *rq, struct ledger *l, int64_t project, struct fault *why);

/* The project of ?project=, which the caller may see (of WHO_PROJECT a removed one too, owners above it);
 * *out is empty (id 0) when none was named: then a list shows what the caller may see row by row (WHO_LIST),
 * or all, to administrators (WHO_PROJECT). -1: ENOENT, EACCES. Wants an open transaction on `l`. */
int request_project(struct request *rq, struct ledger *l, struct project *out, struct fault *why);

/* The caller's right to move what is at and below `project`: administrator, or owner of it or of one above. 0
 * = administrators alone.
 * -1 and EACCES. Wants an open transaction on `l`. */
int request_may_own(struct request *rq, struct ledger *l, int64_t project, struct fault *why);

#endif
