/* SPDX-License-Identifier: GPL-2.0-or-later
 * policy.c - settings, client and breaker of one moment, shared by counting
 *
 * Terms are never changed once made, except for the breaker, which is atomic. A changed file makes new terms;
 * who still works with the old ones keeps them until policy_put. The lock guards one pointer and its count
 * for a few instructions; re-reading the file is done by whoever gets `reloading` first, and nobody waits for
 * it.
 *
 * Only a missed deadline opens the breaker. A refused connection or garbage costs microseconds, and asking
 * again is what brings the funded tier back the moment budgetd is. */
#include "job_submit/policy.h"
#include "settings/enforce.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "client/breaker.h"
#include "client/client.h"
#include "job_submit/question.h"

/* Why a question had no answer, as budgetd is told with a later one (its metrics). */
enum cause { CAUSE_DEADLINE, CAUSE_BREAKER, CAUSE_OTHER, CAUSES };
static const char *const cause_keys[CAUSES] = { "unanswered_deadline", "unanswered_breaker",
	"unanswered_other" };

struct terms {
	struct settings *settings;
	struct client *client;
	struct breaker breaker;
	struct breaker quiet;		/* open: this trouble is in the log already, only count */
	atomic_uint unanswered;		/* since the last line in the log */
	/* the same by cause, since budgetd last heard of it */
	atomic_uint untold[CAUSES];
	atomic_int users;
};

/* What tells one state of the file from another; all zero = there is none. */
struct file_mark {
	struct timespec changed;
	ino_t inode;
	off_t size;
};

struct policy {
	char *path;
	pthread_mutex_t lock;
	struct terms *now;		/* under lock; counts as one user */
	atomic_flag reloading;
	struct file_mark seen;		/* owned by who holds reloading */
};

/* --- terms ----------------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Takes `settings` over, also on failure. */
static struct terms *terms_new(struct settings *settings)
{
	struct terms *t = calloc(1, sizeof(*t));

	if (t && settings)
		t->client = client_new(settings->slurm_socket, (long)settings->ask_deadline_ms);
	if (!t || !settings || !t->client) {
		free(t);
		settings_free(settings);
		errno = ENOMEM;
		return NULL;
	}
	t->settings = settings;
	t->breaker.open_ms = settings->breaker_ms;
	t->quiet.open_ms = settings->breaker_ms;
	atomic_init(&t->users, 1);
	return t;
}

void policy_put(struct terms *t)
{
	if (!t || atomic_fetch_sub(&t->users, 1) != 1)
		return;
	client_free(t->client);
	settings_free(t->settings);
	free(t);
}

const struct settings *policy_settings(const struct terms *t)
{
	return t->settings;
}

/* --- the file -------------------------------------------------------------------------------------- */

static struct file_mark file_look(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return (struct file_mark){ 0 };
	return (struct file_mark){ .changed = st.st_mtim, .inode = st.st_ino, .size = st.st_size };
}

static bool same_mark(const struct file_mark *a, const struct file_mark *b)
{
	return a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec &&
		a->inode == b->inode && a->size == b->size;
}

static struct terms *terms_load(const char *path)
{
	struct settings *settings;
	struct fault why = { "" };

	if (settings_load(path, &settings, &why) == 0)
		return terms_new(settings);
	if (errno == ENOENT)	/* a plugin alone needs no file */
		slurm_info("gpubudget: there is no %s", path);
	else
		slurm_error("gpubudget: %s", why.text);
	return NULL;
}

/* Of a file that is there and cannot be used nobody knows whether it says shadow mode: until it is mended,
 * what budgetd does not answer is not changed. */
static struct terms *terms_without(const char *path)
{
	struct settings *settings = settings_defaults();
	bool there = access(path, F_OK) == 0 || errno != ENOENT;

	if (there && settings)
		settings->enforce = ENFORCE_WARN;
	slurm_info("gpubudget: %s cannot be used: the defaults apply%s", path,
		there ? ", and jobs that budgetd does not answer for are left as they were asked for" : "");
	return terms_new(settings);
}

static void terms_replace(struct policy *p, struct terms *t)
{
	struct terms *old;

	pthread_mutex_lock(&p->lock);
	old = p->now;
	for (int i = 0; i < CAUSES; i++)
		atomic_init(&t->untold[i], atomic_exchange(&old->untold[i], 0));
	p->now = t;
	pthread_mutex_unlock(&p->lock);
	policy_put(old);
}

/* The mark is taken before the file is read: a change in between is seen next time. */
static void policy_refresh(struct policy *p)
{
	struct file_mark mark;
	struct terms *t;

	if (atomic_flag_test_and_set(&p->reloading))
		return;
	mark = file_look(p->path);
	if (!same_mark(&mark, &p->seen)) {
		p->seen = mark;
		t = terms_load(p->path);
		if (t) {
			terms_replace(p, t);
			slurm_info("gpubudget: %s was read again", p->path);
		} else {
			slurm_error("gpubudget: %s: the settings in force stay", p->path);
		}
	}
	atomic_flag_clear(&p->reloading);
}

struct policy *policy_new(const char *path)
{
	struct policy *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	atomic_flag_clear(&p->reloading);
	p->path = strdup(path);
	if (!p->path || pthread_mutex_init(&p->lock, NULL))
		goto fail;
	p->seen = file_look(path);
	p->now = terms_load(path);
	if (!p->now)
		p->now = terms_without(path);
	if (p->now)
		return p;
	pthread_mutex_destroy(&p->lock);
fail:
	free(p->path);
	free(p);
	errno = ENOMEM;
	return NULL;
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	policy_put(p->now);
	pthread_mutex_destroy(&p->lock);
	free(p->path);
	free(p);
}

struct terms *policy_take(struct policy *p)
{
	struct terms *t;

	policy_refresh(p);
	pthread_mutex_lock(&p->lock);
	t = p->now;
	atomic_fetch_add(&t->users, 1);
	pthread_mutex_unlock(&p->lock);
	return t;
}

/* --- asking ---------------------------------------------------------------------------------------- */

/* The default partition is not known here: where one is named to be otherwise, budgetd has to be asked. */
bool policy_is_off(const struct terms *t, const char *partition)
{
	bool known = (partition && *partition) || !*t->settings->enforce_partitions;

	return known && settings_enforcement(t->settings, partition) == ENFORCE_OFF;
}

static void trouble_log(struct terms *t, const struct fault *why)
{
	unsigned int others;

	atomic_fetch_add(&t->unanswered, 1);
	if (!breaker_allows(&t->quiet, now_ms()))
		return;
	breaker_report(&t->quiet, false, now_ms());
	others = atomic_exchange(&t->unanswered, 0) - 1;
	slurm_error("gpubudget: %s; when_unreachable applies (%u more since the last such line)", why->text,
		others);
}

/* The answer as a verdict, or a text. `reply` is consumed. */
static int answer_read(int status, struct json_object *reply, struct verdict *v, struct fault *why)
{
	if (status == 200 && verdict_read(reply, v, why) == 0)
		return 0;
	if (status == 400)	/* our defect, not the user's, and not the daemon's health */
		fault_errno(why, EPROTO,
			"budgetd could not read the plugin's question, please report this: %s",
			client_error(status, reply));
	else if (status != 200)
		fault_errno(why, EPROTO, "budgetd answered HTTP %d: %s", status, client_error(status, reply));
	json_object_put(reply);
	return -1;
}

/* What was not told yet goes with the question; it is told again when that has no answer either. */
static void untold_take(struct terms *t, struct json_object *question, unsigned int taken[CAUSES])
{
	for (int i = 0; i < CAUSES; i++) {
		taken[i] = atomic_exchange(&t->untold[i], 0);
		if (taken[i])
			json_object_object_add(question, cause_keys[i], json_object_new_int64(taken[i]));
	}
}

static void untold_keep(struct terms *t, const unsigned int taken[CAUSES], enum cause now)
{
	for (int i = 0; i < CAUSES; i++)
		atomic_fetch_add(&t->untold[i], taken[i] + (i == (int)now));
}

int policy_ask(struct terms *t, struct json_object *question, struct verdict *v)
{
	struct json_object *reply = NULL;
	unsigned int taken[CAUSES] = { 0 };
	struct fault why = { "" };
	int status = 0, rv;

	if (!breaker_allows(&t->breaker, now_ms())) {
		fault_set(&why, "budgetd missed the deadline a moment ago and is not asked");
		untold_keep(t, taken, CAUSE_BREAKER);
		trouble_log(t, &why);
		return -1;
	}
	untold_take(t, question, taken);
	rv = client_call(t->client, "POST", "/v1/verdicts", question, &status, &reply, &why);
	breaker_report(&t->breaker, rv == 0 || errno != ETIMEDOUT, now_ms());
	if (rv < 0)
		untold_keep(t, taken, errno == ETIMEDOUT ? CAUSE_DEADLINE : CAUSE_OTHER);
	if (rv == 0)
		rv = answer_read(status, reply, v, &why);
	if (rv < 0)
		trouble_log(t, &why);
	else
		breaker_report(&t->quiet, true, now_ms());	/* the next trouble is news */
	return rv;
}

/* --- not answered ---------------------------------------------------------------------------------- */

static const char text_free[] = "budgetd cannot be asked now, so this job goes to the free tier: it is not "
				"charged, and it may be displaced at any "
				"time.\nIt is checked again while it waits in the queue.";
static const char text_insists[] =
	"budgetd cannot be asked now, and --gpu-tier=funded insists on the funded tier: the job is refused.\n"
	"Try again in a few minutes, or without --gpu-tier=funded to run in the free tier.";
static const char text_reject[] =
	"budgetd cannot be asked now, and this site then refuses jobs that ask for GPUs.\n"
	"Try again in a few minutes; tell your administrators if it lasts.";

static const char text_waits[] =
	"the job waits for its project's budget, and is released when that can pay for it: budgetd "
	"does so when it is back.";

static int refuse(const char *text, char **err_msg)
{
	verdict_tell(text, err_msg);
	return ESLURM_ACCOUNTING_POLICY;
}

int policy_refuse_by_hand(char **err_msg)
{
	return refuse("refused: the order of jobs follows from what their projects got, and neither nice nor priority is set by hand.\n"
		"The order of your own jobs in a project: budgetctl job set JOB --team-rank N.", err_msg);
}

/* Options that make no sense insist on nothing: budgetd will say so when it is back. */
static bool insists(const job_desc_msg_t *job_desc)
{
	struct job_options o;
	const char *tier = question_option(job_desc, OPT_TIER);

	job_options_init(&o);
	if (tier)
		job_options_set(&o, OPT_TIER, tier, NULL);
	job_options_from_comment(&o, job_desc->comment, NULL);
	return o.tier == TIER_FUNDED;
}

int policy_fallback_submit(const struct terms *t, job_desc_msg_t *job_desc, char **err_msg)
{
	if (settings_enforcement(t->settings, job_desc->partition) != ENFORCE_ON)
		return SLURM_SUCCESS;	/* shadow mode changes nothing, least of all by accident */
	switch ((enum unreachable_policy)t->settings->when_unreachable) {
	case UNREACHABLE_ACCEPT:
		return SLURM_SUCCESS;
	case UNREACHABLE_REJECT:
		return refuse(text_reject, err_msg);
	case UNREACHABLE_FREE:
		break;
	}
	if (insists(job_desc))
		return refuse(text_insists, err_msg);
	verdict_set(&job_desc->qos, t->settings->qos_free);
	verdict_clear_nice(job_desc, err_msg);
	verdict_tell(text_free, err_msg);
	return SLURM_SUCCESS;
}

int policy_fallback_modify(const struct terms *t, bool releases_what_waits, char **err_msg)
{
	if (releases_what_waits)
		return refuse(text_waits, err_msg);
	/* the partition of a job that is changed is not known here: the cluster's setting decides */
	if (settings_enforcement(t->settings, NULL) == ENFORCE_ON &&
		t->settings->when_unreachable == UNREACHABLE_REJECT)
		return refuse(text_reject, err_msg);
	return SLURM_SUCCESS;
}
