/* SPDX-License-Identifier: GPL-2.0-or-later
 * import_send.c - import sacct: the runs of a file to budgetd, a batch a call
 *
 * While budgetd writes one batch the next one waits for it and a third is read, so that it never waits. It
 * takes each row once: an import that was cut off anywhere is said again, and goes on. The rows of a resized
 * job follow each other in what sacct prints, in any order; they go in one batch, by time. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/import.h"
#include "budgetctl/say.h"

#define BATCH_ROWS 800 /* some 10 us each: a submission waits no longer for budgetd than that */
#define BATCH_MAX  1000 /* of budgetd */
#define CALLS      2 /* on their way at once: as budgetd has written a batch the next one is there */

#define TEXT_MAX     63 /* bytes of a cluster, partition or JobID */
#define STATE_MAX    31
#define OWNER_MAX    1024 /* of an account or QOS */
#define TRES_MAX     511
#define ROW_TEXT_MAX (3 * TEXT_MAX + STATE_MAX + 2 * OWNER_MAX + TRES_MAX + 200)

#define UNITS_A_SECOND 1000 /* one GPU-second at rate 1.000 */

/* What tells that rows are of one run, and their order in it. */
struct key {
	char cluster[TEXT_MAX + 1];
	int64_t job, start, from;
};

/* A call that is on its way, in a thread of its own. */
struct call {
	pthread_t thread;
	bool on;
	struct client *client;
	struct json_object *body, *reply;
	int rv, err, status;
	struct fault why;
};

struct sending {
	struct session *session;
	bool charge;
	struct json_object *users; /* name -> uid */
	char *row[BATCH_MAX];
	struct key key[BATCH_MAX];
	int nrows;
	size_t bytes; /* of the rows, with a newline each */
	struct call call[CALLS];
	int oldest; /* of the calls: the next one to be answered, and then the next one to be made */
};

/* --- calling ---------------------------------------------------------------------------------------- */

static void *call_make(void *arg)
{
	struct call *c = arg;

	c->rv = client_call(c->client, "POST", "/v1/imports", c->body, &c->status, &c->reply, &c->why);
	c->err = errno;
	return NULL;
}

static int failed(struct import *im, int code, const char *text)
{
	progress_end(&im->progress);
	return complain(code, "%s. %"
		PRId64 " runs were imported so far; the same command goes on from there", text, im->runs);
}

static int64_t number_of(struct json_object *o, const char *key)
{
	return json_object_get_int64(json_object_object_get(o, key));
}

static int aside_take(struct import *im, struct json_object *list)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	int rv = DONE;

	for (size_t i = 0; rv == DONE && i < n; i++) {
		struct json_object *row = json_object_array_get_idx(list, i);
		const char *reason = json_object_get_string(json_object_object_get(row, "reason"));

		rv = import_set_aside(im, number_of(row, "line"), reason ? reason : "");
	}
	return rv;
}

/* Adds the numbers of one row of the reply to those of its project. */
static int project_take(struct import *im, struct json_object *row)
{
	const char *name = json_object_get_string(json_object_object_get(row, "project"));
	struct json_object *sum = NULL;

	if (!name || json_object_object_get_ex(im->projects, name, &sum) == 0) {
		sum = name ? json_object_get(row) : NULL;
		return sum && json_object_object_add(im->projects, name, sum) == 0 ? DONE : out_of_memory();
	}
	json_object_object_foreach(row, key, value) {
		struct json_object *have = json_object_object_get(sum, key);

		if (json_object_is_type(value, json_type_int))
			json_object_int_inc(have, json_object_get_int64(value));
	}
	return DONE;
}

static int reply_take(struct import *im, struct json_object *reply)
{
	struct json_object *projects = json_object_object_get(reply, "projects");
	size_t n = json_object_is_type(projects, json_type_array) ? json_object_array_length(projects) : 0;
	int rv = aside_take(im, json_object_object_get(reply, "rows_set_aside"));

	im->runs += number_of(reply, "runs");
	im->known += number_of(reply, "rows_known");
	im->without_gpus += number_of(reply, "rows_without_gpus");
	for (size_t i = 0; rv == DONE && i < n; i++)
		rv = project_take(im, json_object_array_get_idx(projects, i));
	return rv;
}

/* 0: the batch is in the books, and counted; -1: c->why or c->reply tells; or an exit code. */
static int call_end(struct import *im, struct call *c)
{
	pthread_join(c->thread, NULL);
	c->on = false;
	return c->rv < 0 || c->status >= 300 ? -1 : reply_take(im, c->reply);
}

static void call_free(struct call *c)
{
	json_object_put(c->body);
	json_object_put(c->reply);
	c->body = c->reply = NULL;
}

/* Those behind one that failed are waited for, too, so that what is said is what is in the books. */
static int call_failed(struct import *im, const struct call *c)
{
	for (int i = 0; i < CALLS; i++)
		if (im->sending->call[i].on)
			call_end(im, &im->sending->call[i]);
	if (c->rv < 0)
		return failed(im, c->err == ENOMEM ? REFUSED : UNREACHABLE, c->why.text);
	return failed(im, c->status == 403 ? FORBIDDEN : REFUSED, client_error(c->status, c->reply));
}

/* The answer to the batch that is longest on its way. Its place is free then. */
static int call_wait(struct import *im)
{
	struct sending *b = im->sending;
	struct call *c = &b->call[b->oldest];
	int rv = DONE;

	b->oldest = (b->oldest + 1) % CALLS;
	if (c->on)
		rv = call_end(im, c);
	if (rv < 0)
		rv = call_failed(im, c);
	call_free(c);
	return rv;
}

static void rows_free(struct sending *b)
{
	for (int i = 0; i < b->nrows; i++)
		free(b->row[i]);
	b->nrows = 0;
	b->bytes = 0;
}

/* The rows of the batch, a line each. NULL is out of memory. */
static struct json_object *rows_join(const struct sending *b)
{
	char *text = malloc(b->bytes + 1), *end = text;
	struct json_object *joined;

	for (int i = 0; text && i < b->nrows; i++) {
		end = stpcpy(end, b->row[i]);
		*end++ = '\n';
	}
	joined = text ? json_object_new_string_len(text, (int)(end - text)) : NULL;
	free(text);
	return joined;
}

/* The rows of the batch become the body. `more`: other batches follow. NULL is out of memory. */
static struct json_object *body_make(struct sending *b, bool more)
{
	struct json_object *body = json_object_new_object(), *rows = rows_join(b);

	rows_free(b);
	if (body && rows && json_object_object_add(body, "charge", json_object_new_boolean(b->charge)) == 0 &&
		json_object_object_add(body, "more", json_object_new_boolean(more)) == 0 &&
		json_object_object_add(body, "rows", rows) == 0)
		return body;
	json_object_put(rows);
	json_object_put(body);
	return NULL;
}

static int batch_send(struct import *im, bool more)
{
	struct sending *b = im->sending;
	struct call *c = &b->call[b->oldest];
	struct json_object *body = body_make(b, more);
	int rv = body ? call_wait(im) : out_of_memory();

	if (rv != DONE) {
		json_object_put(body);
		return rv;
	}
	*c = (struct call){.client = b->session->client, .body = body};
	c->on = pthread_create(&c->thread, NULL, call_make, c) == 0;
	return c->on ? DONE : failed(im, REFUSED, "no thread can be made");
}

/* --- rows ------------------------------------------------------------------------------------------- */

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 18;
}

/* Asked once for each name: a directory takes its time. A user whom nobody knows any more is (uid_t)-1: the
 * run counts for its project all the same. -1 is out of memory. */
static int64_t uid_of(struct sending *b, const struct sacct_run *r)
{
	struct json_object *known = NULL;
	struct passwd *p;
	int64_t uid;

	if (is_number(r->uid) || is_number(r->user)) {
		uid = atoll(is_number(r->uid) ? r->uid : r->user);
		return uid < UINT32_MAX ? uid : UINT32_MAX;
	}
	if (json_object_object_get_ex(b->users, r->user, &known))
		return json_object_get_int64(known);
	p = getpwnam(r->user);
	uid = p ? (int64_t)p->pw_uid : UINT32_MAX;
	return import_put_number(b->users, r->user, uid) == 0 ? uid : -1;
}

/* The values that doc/api.md lists, in its order; sacct_run_read() took no text with a tab. NULL is out of
 * memory. */
static char *row_make(int64_t line, int64_t job, int64_t uid, const struct sacct_run *r)
{
	int state = (int)strcspn(r->state, " +");
	char text[ROW_TEXT_MAX];
	int n = snprintf(text, sizeof(text),
		"%" PRId64 "\t%s\t%" PRId64 "\t%s\t%s\t%" PRId64 "\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%"
		PRId64 "\t%.*s\t%s\t%" PRId64, line, r->cluster, job, r->label, r->account, uid, r->partition,
		r->qos, r->submit, r->start, r->end, state, r->state, r->tres, r->suspended);

	return n < 0 || n >= (int)sizeof(text) || uid < 0 ? NULL : strdup(text);
}

static bool is_same_run(const struct key *a, const struct key *b)
{
	return a->job == b->job && a->start == b->start && !strcmp(a->cluster, b->cluster);
}

/* Behind the rows of other runs, by time among those of its own. */
static void row_put(struct sending *b, char *row, const struct key *key)
{
	int i = b->nrows++;

	for (; i > 0 && is_same_run(&b->key[i - 1], key) && b->key[i - 1].from > key->from; i--) {
		b->key[i] = b->key[i - 1];
		b->row[i] = b->row[i - 1];
	}
	b->key[i] = *key;
	b->row[i] = row;
	b->bytes += strlen(row) + 1;
}

/* What no row of the books can be made of: "" = nothing. */
static const char *unfit(const struct sacct_run *r)
{
	if (!is_number(r->job) || atoll(r->job) > UINT32_MAX)
		return "its raw job id is not told: print JobIDRaw, too";
	if (strlen(r->cluster) > TEXT_MAX || strlen(r->partition) > TEXT_MAX || strlen(r->label) > TEXT_MAX)
		return "the name of its cluster or partition, or its JobID, has more than 63 bytes";
	if (strlen(r->account) > OWNER_MAX || strlen(r->qos) > OWNER_MAX ||
		strcspn(r->state, " +") > STATE_MAX)
		return "the name of its account, QOS or state is too long";
	return strlen(r->tres) > TRES_MAX ? "AllocTRES has more than 511 bytes" : "";
}

/* Does the run of the row before go on? A job can be resized to nothing that costs: without that row nobody
 * knows that what it had before is over. */
static bool goes_on(const struct sending *b, const struct key *key)
{
	return b->nrows > 0 && is_same_run(&b->key[b->nrows - 1], key);
}

int import_send(struct import *im, int64_t line, const struct sacct_run *r)
{
	struct sending *b = im->sending;
	struct key key = {.job = atoll(r->job), .start = r->start, .from = r->from};
	char *row;
	int rv = DONE;

	snprintf(key.cluster, sizeof(key.cluster), "%s", r->cluster);
	if (r->gpus.total + r->gpus.shards + r->gpus.mps == 0 && !goes_on(b, &key)) {
		im->without_gpus++;
		return DONE;
	}
	if (*unfit(r))
		return import_set_aside(im, line, unfit(r));
	if (b->nrows == BATCH_MAX || (b->nrows >= BATCH_ROWS && !goes_on(b, &key)))
		rv = batch_send(im, true);
	if (rv != DONE)
		return rv;
	row = row_make(line, key.job, uid_of(b, r), r);
	if (!row)
		return out_of_memory();
	row_put(b, row, &key);
	return DONE;
}

static int all_wait(struct import *im)
{
	int rv = DONE;

	for (int i = 0; rv == DONE && i < CALLS; i++)
		rv = call_wait(im);
	return rv;
}

/* Any row that was sent has one behind it: with the last batch, which is the last to be written, all are on
 * the disk. */
int import_send_rest(struct import *im)
{
	int rv = all_wait(im);

	if (rv == DONE && im->sending->nrows)
		rv = batch_send(im, false);
	return rv == DONE ? all_wait(im) : rv;
}

/* --- begin and end ---------------------------------------------------------------------------------- */

/* The first call opens the line to budgetd, and tells at once when there is none. */
int import_send_begin(struct import *im, struct session *s, bool charge)
{
	struct json_object *health = NULL;
	int rv = session_call(s, "GET", "/v1/health", NULL, &health);

	json_object_put(health);
	if (rv != DONE)
		return rv;
	im->projects = json_object_new_object();
	im->sending = calloc(1, sizeof(*im->sending));
	if (!im->sending || !im->projects)
		return out_of_memory();
	im->sending->session = s;
	im->sending->charge = charge;
	im->sending->users = json_object_new_object();
	return im->sending->users ? DONE : out_of_memory();
}

void import_send_end(struct import *im)
{
	struct sending *b = im->sending;

	json_object_put(im->projects);
	if (!b)
		return;
	for (int i = 0; i < CALLS; i++) {
		if (b->call[i].on)
			pthread_join(b->call[i].thread, NULL);
		call_free(&b->call[i]);
	}
	rows_free(b);
	json_object_put(b->users);
	free(b);
}

/* --- printing --------------------------------------------------------------------------------------- */

static const struct column columns[] = {
	{"project", "Project", KIND_TEXT, NULL, false},
	{"runs", "Runs", KIND_COUNT, NULL, false},
	{"gpu_seconds", NULL, KIND_COUNT, NULL, false},
	{"gpu_seconds_units", "Used", KIND_AMOUNT, NULL, false},
	{"units", "At their rates", KIND_AMOUNT, NULL, false},
	{"unpaid_units", "Not paid", KIND_AMOUNT, NULL, false},
};

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* By name. `units`: for a table; amounts beside the seconds have no place in JSON's row. */
static struct json_object *projects_array(struct import *im, bool units)
{
	struct json_object *array = json_object_new_array();
	size_t n = (size_t)json_object_object_length(im->projects), i = 0;
	const char **names = calloc(n + 1, sizeof(*names));
	bool good = array && names;

	json_object_object_foreach(im->projects, name, project) {
		(void)project;
		if (good)
			names[i++] = name;
	}
	if (good)
		qsort(names, n, sizeof(*names), name_compare);
	for (i = 0; good && i < n; i++) {
		struct json_object *p = json_object_object_get(im->projects, names[i]);

		good = (!units || import_put_number(p, "gpu_seconds_units",
			number_of(p, "gpu_seconds") * UNITS_A_SECOND) == 0) &&
			json_object_array_add(array, json_object_get(p)) == 0;
	}
	free(names);
	if (good)
		return array;
	json_object_put(array);
	return NULL;
}

static int json_print(const struct session *s, struct import *im)
{
	struct json_object *o = json_object_new_object(), *projects = projects_array(im, false);
	int rv = -1;

	if (o && projects && import_put_number(o, "runs", im->runs) == 0 &&
		import_put_number(o, "rows", im->rows) == 0 &&
		import_put_number(o, "rows_known", im->known) == 0 &&
		import_put_number(o, "rows_of_steps", im->steps) == 0 &&
		import_put_number(o, "rows_not_started", im->not_started) == 0 &&
		import_put_number(o, "rows_without_gpus", im->without_gpus) == 0 &&
		json_object_object_add(o, "rows_set_aside", json_object_get(im->aside)) == 0) {
		json_object_object_add(o, "projects", json_object_get(projects));
		rv = table_object(columns, 0, &s->style, o);
	}
	json_object_put(projects);
	json_object_put(o);
	return rv < 0 ? out_of_memory() : DONE;
}

static int table_of_projects(const struct session *s, struct import *im)
{
	bool people = s->style.format == FORMAT_TABLE;
	struct json_object *rows = projects_array(im, true);
	struct table *t = table_new(columns, ARRAY_SIZE(columns) - !im->sending->charge, &s->style, false);
	bool good = rows && t && table_add(t, rows) == 0;

	if (good && (im->runs || !people))
		good = table_print(t) == 0;
	table_free(t);
	json_object_put(rows);
	return good ? DONE : out_of_memory();
}

int import_send_print(const struct session *s, struct import *im)
{
	char begins[80], ends[64];
	int rv;

	if (s->style.format == FORMAT_JSON)
		return json_print(s, im);
	rv = table_of_projects(s, im);
	snprintf(begins, sizeof(begins), "%" PRId64 " run%s imported, %" PRId64 " row%s known already",
		im->runs, im->runs == 1 ? "" : "s", im->known, im->known == 1 ? "" : "s");
	snprintf(ends, sizeof(ends), ", %" PRId64 " without GPUs", im->without_gpus);
	if (rv == DONE)
		import_tell(im, begins, ends);
	return rv;
}
