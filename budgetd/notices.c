/* SPDX-License-Identifier: GPL-2.0-or-later
 * notices.c - the thread that tells people (notices.h)
 *
 * A way that fails is left alone for a while that grows with each failure in a row, and what it has to tell is
 * tried in the order of how often it was tried: one notice that its receiver never takes keeps no other from
 * being told. */
#include "budgetd/notices.h"
#include "budgetd/budgetd.h"
#include "budgetd/ledger.h"
#include "budgetd/log.h"
#include "budgetd/notice_tell.h"
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "lib/roff.h"

#define WAITING_MAX 1000	/* notices by one way or the other: then it is looked no further */
#define AT_ONCE     20		/* told by one way before the books are looked at again */
#define FORGET_S    3600

struct way {
	int64_t failures;		/* in a row */
	int64_t paused_until;
	char trouble[FAULT_TEXT_MAX];	/* "" = the last one was told */
};

struct notices {
	const struct budgetd *b;
	struct ledger *reader;
	struct notice_queue *queue;	/* NULL = not open yet */
	struct notice_webhook *webhook;
	struct way ways[NOTICE_WAYS];	/* the thread's own */
	int64_t forgot_at;
	char told[FAULT_TEXT_MAX];	/* of trouble, in the log */
	atomic_bool stop;
	pthread_t thread;
	pthread_mutex_t lock;		/* guards what follows; never held over I/O */
	pthread_cond_t wake;
	bool woken;
	struct notices_state state;
};

/* --- the settings ------------------------------------------------------------------------------------ */

unsigned notices_ways(const struct settings *s)
{
	return (*s->notice_command ? 1u << NOTICE_BY_COMMAND : 0) | (*s->notice_url_file ? 1u << NOTICE_BY_WEBHOOK : 0);
}

void notices_print_manual(FILE *to)
{
	char text[256];

	fputs(".Bl -tag -width Ds\n", to);
	for (int k = 0; k < NOTICE_KINDS; k++) {
		snprintf(text, sizeof(text), "%s. To %s.", notice_kinds[k].meaning, notice_kinds[k].whom);
		fprintf(to, ".It Cm %s\n", notice_kinds[k].name);
		roff_text(to, text);
	}
	fputs(".El\n", to);
}

int notices_check(const struct settings *s, struct fault *why)
{
	char place[NOTICE_PLACE_MAX], *url;

	if (*s->notice_command && notice_command_check(s->notice_command, why) < 0)
		return -1;
	if (!*s->notice_url_file)
		return 0;
	if (notice_url_read(s->notice_url_file, &url, place, why) < 0)
		return -1;
	free(url);
	return 0;
}

/* --- telling ----------------------------------------------------------------------------------------- */

static int tell(struct notices *x, const struct settings *s, enum notice_way w, const struct notice *n,
	struct fault *why)
{
	struct notice_patience p = { .deadline_ms = s->notice_deadline_ms, .stop = &x->stop };

	if (w == NOTICE_BY_WEBHOOK)
		return notice_webhook_post(x->webhook, s->notice_url_file, s->notice_ca, n, &p, why);
	/* it can have become somebody else's since the start */
	return notice_command_check(s->notice_command, why) < 0 ? -1
		: notice_command_run(s->notice_command, n, &p, why);
}

static int note_failure(struct notices *x, const struct settings *s, enum notice_way w, const struct notice *n,
	int64_t attempts, const struct fault *detail, struct fault *why)
{
	int64_t now = time(NULL);
	struct way *way = &x->ways[w];

	way->failures++;
	way->paused_until = now + notice_pause_s(way->failures, s->notice_retry_s);
	snprintf(way->trouble, sizeof(way->trouble), "%s", detail->text);
	log_warning("notice %s could not be told by the %s, the next try is in %" PRId64 " s: %s", n->key,
		notice_way_name(w), way->paused_until - now, detail->text);
	return notice_missed(x->queue, n->id, w, now + notice_pause_s(attempts + 1, s->notice_retry_s), detail->text, why);
}

/* 1 = one was told or tried, 0 = nothing is due, -1 = the queue cannot be used. */
static int tell_next(struct notices *x, const struct settings *s, enum notice_way w, struct fault *why)
{
	struct notice n = { .text = NULL };
	struct fault detail = { "" };
	int64_t attempts;
	int rc = notice_due(x->queue, w, time(NULL), &n, &attempts, why);

	if (rc != 1)
		return rc;
	if (tell(x, s, w, &n, &detail) == 0) {
		x->ways[w] = (struct way){ 0 };
		rc = notice_told(x->queue, n.id, w, time(NULL), why);
	} else if (errno == ECANCELED) {
		rc = 0;			/* nobody's fault: it is told after the next start */
	} else {
		rc = note_failure(x, s, w, &n, attempts, &detail, why);
	}
	notice_clear(&n);
	return rc < 0 ? -1 : 1;
}

static int tell_all(struct notices *x, const struct settings *s, struct fault *why)
{
	int rc;

	for (enum notice_way w = 0; w < NOTICE_WAYS; w++) {
		if (!(notices_ways(s) & 1u << w))
			continue;
		rc = 1;
		for (int i = 0; rc == 1 && i < AT_ONCE && !atomic_load(&x->stop) && time(NULL) >= x->ways[w].paused_until; i++)
			rc = tell_next(x, s, w, why);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* --- a round ----------------------------------------------------------------------------------------- */

static int give_up(struct notices *x, const struct settings *s, int64_t now, struct fault *why)
{
	int failed = notice_give_up(x->queue, s->notice_keep_s, notices_ways(s), now, why);

	if (failed > 0)
		log_error("%d notices were never told: budgetctl notice list --failed", failed);
	if (failed < 0 || now - x->forgot_at < FORGET_S)
		return failed < 0 ? -1 : 0;
	x->forgot_at = now;
	return notice_forget(x->queue, now, why);
}

static int work(struct notices *x, const struct settings *s, int64_t now, struct notice_counts *counts,
	struct fault *why)
{
	if (!x->queue && notice_queue_open(s->database, &x->queue, why) < 0)
		return -1;
	if (give_up(x, s, now, why) < 0 || notice_count(x->queue, counts, why) < 0)
		return -1;
	if (counts->waiting >= WAITING_MAX)
		fault_set(why, "%" PRId64 " notices wait: nothing new is looked for until some were told", counts->waiting);
	else if (notice_look(x->b, x->reader, x->queue, now, why) < 0)
		return -1;
	return tell_all(x, s, why) < 0 || notice_count(x->queue, counts, why) < 0 ? -1 : 0;
}

/* Trouble is said once in the log, and its end too; that of a way was logged with the notice. */
static void publish(struct notices *x, bool on, const char *trouble, const struct notice_counts *counts)
{
	const char *text = trouble;

	if (*trouble && strcmp(trouble, x->told) != 0)
		log_warning("notices: %s", trouble);
	else if (!*trouble && x->told[0])
		log_info("notices are looked for again");
	snprintf(x->told, sizeof(x->told), "%s", trouble);
	for (int w = 0; w < NOTICE_WAYS && !*text; w++)
		text = x->ways[w].trouble;
	pthread_mutex_lock(&x->lock);
	x->state.counts = *counts;
	snprintf(x->state.text, sizeof(x->state.text), "%s", !on ? "" : *text ? text : "ok");
	pthread_mutex_unlock(&x->lock);
}

/* Seconds until the next round. */
static int64_t round_once(struct notices *x)
{
	const struct settings *s = x->b->settings;
	struct notice_counts counts = { 0 };
	struct fault why = { "" };
	bool on = notices_ways(s) != 0;

	if (on)
		work(x, s, time(NULL), &counts, &why);
	if (!atomic_load(&x->stop))
		publish(x, on, why.text, &counts);
	return counts.waiting && !why.text[0] ? 1 : s->pass_interval_s;
}

static void *run(void *arg)
{
	struct notices *x = arg;
	struct timespec until;

	while (!atomic_load(&x->stop)) {
		int64_t pause_s = round_once(x);

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += pause_s;
		pthread_mutex_lock(&x->lock);
		while (!atomic_load(&x->stop) && !x->woken && pthread_cond_timedwait(&x->wake, &x->lock, &until) == 0)
			;
		x->woken = false;
		pthread_mutex_unlock(&x->lock);
	}
	return NULL;
}

/* --- life -------------------------------------------------------------------------------------------- */

static void notices_free(struct notices *x)
{
	notice_queue_close(x->queue);
	notice_webhook_free(x->webhook);
	ledger_close(x->reader);
	pthread_cond_destroy(&x->wake);
	pthread_mutex_destroy(&x->lock);
	free(x);
	curl_global_cleanup();
}

int notices_start(const struct budgetd *b, struct notices **out, struct fault *why)
{
	const struct settings *s = b->settings;
	struct notices *x = calloc(1, sizeof(*x));
	pthread_condattr_t monotonic;
	int rc;

	if (!x || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(x);
		return fault_errno(why, ENOMEM, "out of memory");
	}
	x->b = b;
	pthread_mutex_init(&x->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&x->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	x->webhook = notice_webhook_new();
	if (!x->webhook || notices_check(s, why) < 0 || ledger_open_reader(s->database, &x->reader, why) < 0) {
		notices_free(x);
		return fault_errno(why, errno ? errno : ENOMEM, "out of memory");
	}
	rc = pthread_create(&x->thread, NULL, run, x);
	if (rc) {
		notices_free(x);
		return fault_errno(why, rc, "no thread to tell notices with: %s", strerror(rc));
	}
	*out = x;
	return 0;
}

void notices_stop(struct notices *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	atomic_store(&x->stop, true);
	pthread_cond_signal(&x->wake);
	pthread_mutex_unlock(&x->lock);
	pthread_join(x->thread, NULL);
	notices_free(x);
}

void notices_wake(struct notices *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	x->woken = true;
	pthread_cond_signal(&x->wake);
	pthread_mutex_unlock(&x->lock);
}

void notices_state(struct notices *x, struct notices_state *out)
{
	*out = (struct notices_state){ .text = "" };
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	*out = x->state;
	pthread_mutex_unlock(&x->lock);
}
