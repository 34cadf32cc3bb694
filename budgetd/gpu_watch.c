/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_watch.c - asks Prometheus, on a thread of its own. */
#include "budgetd/gpu_watch.h"
#include "budgetd/budgetd.h"
#include "budgetd/log.h"
#include "budgetd/prometheus.h"
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct gpu_watch {
	const struct budgetd *b;
	struct prometheus *prometheus;
	atomic_bool stop;
	pthread_t thread;
	pthread_mutex_t lock;		/* guards what follows; never held over I/O */
	pthread_cond_t wake;
	struct gpu_table table;
	char trouble[FAULT_TEXT_MAX];	/* of the last time; "" = none */
	const struct settings *settings;	/* that the table is of; NULL = nobody looked yet */
};

/* --- what is asked ----------------------------------------------------------------------------------- */

struct questions {
	const struct settings *s;
	char query[QUERIES][GPU_QUERY_MAX];	/* "" = not asked */
	struct gpu_labels labels;
};

/* Queries of the site's own stand beside each other: what only the preset would ask has other labels. */
static int questions_of(const struct settings *s, struct questions *q, struct fault *why)
{
	const struct gpu_preset *preset = gpu_preset((enum gpu_exporter)s->gpu_exporter);
	const char *const own[QUERIES] = { s->gpu_utilization, s->gpu_memory, s->gpu_processes };

	q->s = s;
	for (int i = 0; i < QUERIES; i++) {
		const char *query = *own[i] || *s->gpu_utilization ? own[i] : preset->query[i];

		if (gpu_query_text(query, s->prometheus_step_s, q->query[i], why) < 0)
			return -1;
	}
	return gpu_labels_parse(*s->gpu_labels ? s->gpu_labels : preset->labels, &q->labels, why);
}

static bool same_question(const struct settings *a, const struct settings *b)
{
	return !strcmp(a->prometheus, b->prometheus) && a->prometheus_step_s == b->prometheus_step_s &&
		a->gpu_exporter == b->gpu_exporter && !strcmp(a->gpu_utilization, b->gpu_utilization) &&
		!strcmp(a->gpu_memory, b->gpu_memory) && !strcmp(a->gpu_processes, b->gpu_processes) &&
		!strcmp(a->gpu_labels, b->gpu_labels);
}

/* As long as the ladder is. */
static int64_t look_back_s(const struct settings *s)
{
	const int64_t steps[] = { s->idle_note_s, s->idle_warning_s, s->idle_last_warning_s,
		s->idle_unprotected_s };
	int64_t longest = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		longest = steps[i] > longest ? steps[i] : longest;
	return longest + 2 * s->prometheus_step_s;
}

/* --- one piece --------------------------------------------------------------------------------------- */

static int ask_piece(struct gpu_watch *w, const struct questions *q, int64_t from, int64_t to,
	struct json_object *series[QUERIES], struct fault *why)
{
	for (int i = 0; i < QUERIES; i++) {
		struct prometheus_range r = { q->s->prometheus, q->s->prometheus_ca, q->query[i], from, to,
			q->s->prometheus_step_s, q->s->prometheus_deadline_ms };

		if (q->query[i][0] && prometheus_range(w->prometheus, &r, &series[i], why) < 0)
			return -1;
	}
	return 0;
}

/* Series that cannot be used are samples that are missing: time goes on. */
static int take_piece(struct gpu_watch *w, const struct questions *q, int64_t from, int64_t to,
	struct json_object *series[QUERIES], struct fault *why)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	rc = gpu_table_add(&w->table, &q->labels, series, from, to, q->s->prometheus_step_s, why);
	if (rc < 0 && errno == EINVAL) {
		w->table.until = to;
		rc = 0;
	}
	gpu_table_forget(&w->table, to - look_back_s(q->s));
	pthread_mutex_unlock(&w->lock);
	return rc;
}

static int follow(struct gpu_watch *w, const struct questions *q, int64_t now, struct fault *why)
{
	int64_t step = q->s->prometheus_step_s;
	/* A step behind: the newest samples are still on their way into Prometheus. Whole steps: a sample has
	 * one time. */
	int64_t end = (now / step - 1) * step, first = end - look_back_s(q->s) / step * step;
	int rc = 0;

	while (rc == 0 && !atomic_load(&w->stop) && w->table.until < end) {
		int64_t from = w->table.until < first ? first : w->table.until + step,
			to = from + (GPU_POINTS_MAX - 1) * step;
		struct json_object *series[QUERIES] = { NULL };
		struct fault trouble = { "" };

		to = to < end ? to : end;
		rc = ask_piece(w, q, from, to, series, &trouble);
		if (rc == 0)
			rc = take_piece(w, q, from, to, series, &trouble);
		for (int i = 0; i < QUERIES; i++)
			json_object_put(series[i]);
		if (rc < 0 || to == end)
			*why = trouble;		/* what was wrong with older pieces is over */
	}
	return rc;
}

/* --- the thread -------------------------------------------------------------------------------------- */

/* Trouble is said once, and its end too. */
static void tell(struct gpu_watch *w, const char *trouble)
{
	if (*trouble && strcmp(trouble, w->trouble) != 0)
		log_warning("how busy GPUs are is not known: %s", trouble);
	else if (!*trouble && w->trouble[0])
		log_info("Prometheus tells again how busy GPUs are");
	pthread_mutex_lock(&w->lock);
	snprintf(w->trouble, sizeof(w->trouble), "%s", trouble);
	pthread_mutex_unlock(&w->lock);
}

static void look(struct gpu_watch *w, int64_t now)
{
	const struct settings *s = w->b->settings;
	struct questions q;
	struct fault why = { "" };

	if (!w->settings || !same_question(s, w->settings)) {
		pthread_mutex_lock(&w->lock);
		gpu_table_clear(&w->table);
		w->trouble[0] = '\0';
		pthread_mutex_unlock(&w->lock);
	}
	pthread_mutex_lock(&w->lock);
	w->settings = s;
	pthread_mutex_unlock(&w->lock);
	if (!*s->prometheus)
		return;
	if (questions_of(s, &q, &why) == 0)
		follow(w, &q, now, &why);
	if (!atomic_load(&w->stop))
		tell(w, why.text);
}

static void *watch(void *arg)
{
	struct gpu_watch *w = arg;
	struct timespec until;

	while (!atomic_load(&w->stop)) {
		look(w, time(NULL));
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += w->settings->prometheus_step_s;
		pthread_mutex_lock(&w->lock);
		while (!atomic_load(&w->stop) && pthread_cond_timedwait(&w->wake, &w->lock, &until) == 0)
			;
		pthread_mutex_unlock(&w->lock);
	}
	return NULL;
}

/* --- life -------------------------------------------------------------------------------------------- */

static void watch_free(struct gpu_watch *w)
{
	prometheus_free(w->prometheus);
	gpu_table_clear(&w->table);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int gpu_watch_start(const struct budgetd *b, struct gpu_watch **out, struct fault *why)
{
	struct gpu_watch *w = calloc(1, sizeof(*w));
	pthread_condattr_t monotonic;

	if (!w || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(w);
		return fault_errno(why, ENOMEM, "out of memory");
	}
	w->b = b;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	w->prometheus = prometheus_new(&w->stop);
	if (!w->prometheus || (errno = pthread_create(&w->thread, NULL, watch, w))) {
		watch_free(w);
		return fault_errno(why, errno ? errno : ENOMEM, "no thread to watch GPUs with: %s",
			strerror(errno));
	}
	*out = w;
	return 0;
}

void gpu_watch_stop(struct gpu_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	atomic_store(&w->stop, true);
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	watch_free(w);
	curl_global_cleanup();
}

int gpu_watch_view(struct gpu_watch *w, int64_t until, struct gpu_table *out)
{
	int rc = 0;

	pthread_mutex_lock(&w->lock);
	if (w->table.until != until)
		rc = gpu_table_copy(&w->table, out) < 0 ? -1 : 1;
	pthread_mutex_unlock(&w->lock);
	return rc;
}

void gpu_watch_state(struct gpu_watch *w, struct gpu_watch_state *out)
{
	*out = (struct gpu_watch_state){ .text = "" };
	pthread_mutex_lock(&w->lock);
	out->until = w->table.until;
	for (size_t i = 0; i < w->table.count; i++)
		out->gpus += w->table.rows[i].idle.last == w->table.until;
	if (*((const struct settings *)w->b->settings)->prometheus)
		snprintf(out->text, sizeof(out->text), "%s",
			w->trouble[0] ? w->trouble : !out->until ? "not asked yet" : out->gpus ? "ok"
			: "Prometheus knows no GPU: gpu_utilization has no series");
	pthread_mutex_unlock(&w->lock);
}

