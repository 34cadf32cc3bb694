/* SPDX-License-Identifier: GPL-2.0-or-later
 * race.c - submissions that race for one job's worth of budget, put to budgetd itself
 *
 *     race ROUNDS RACERS SOCKET SLURM-SOCKET
 *
 * Each round makes a project with GPU-hours for exactly one job; then as many threads, each with a connection
 * of its own, put the same question when all of them are ready. A line a round that went wrong, and at last
 * "rounds N good N". */
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/bench/ask.h"

#define RACERS_MAX 512
#define DEADLINE_MS 20000

struct race {
	struct client *people;
	struct json_object *question;
	pthread_barrier_t ready;
	int racers;
};

struct racer {
	struct race *race;
	struct client *client;		/* kept over the rounds, as slurmctld keeps its connections */
	pthread_t thread;
	struct json_object *question;	/* json-c objects are not shared between threads */
	int result;			/* of ask() */
	struct fault why;
};

static int call(struct race *r, const char *path, struct json_object *body, struct fault *why)
{
	struct json_object *reply = NULL;
	int status = 0, rc = client_call(r->people, "POST", path, body, &status, &reply, why);

	if (rc == 0 && status >= 300)
		rc = fault_errno(why, EPROTO, "%s: HTTP %d: %s", path, status, client_error(status, reply));
	json_object_put(reply);
	json_object_put(body);
	return rc;
}

static int make_project(struct race *r, const char *name, struct fault *why)
{
	struct json_object *project = json_object_new_object(), *allocation = json_object_new_object();

	json_object_object_add(project, "name", json_object_new_string(name));
	json_object_object_add(allocation, "project", json_object_new_string(name));
	json_object_object_add(allocation, "amount_units", json_object_new_int64(ASK_UNITS));
	json_object_object_add(allocation, "reason", json_object_new_string("one job's worth"));
	if (call(r, "/v1/projects", project, why) < 0) {
		json_object_put(allocation);
		return -1;
	}
	return call(r, "/v1/allocations", allocation, why);
}

static void *run_racer(void *arg)
{
	struct racer *x = arg;

	pthread_barrier_wait(&x->race->ready);
	x->result = ask(x->client, x->question, &x->why);
	return NULL;
}

/* The number that was funded, or -1. */
static int one_round(struct race *r, struct racer *racers, const char *name, struct fault *why)
{
	int funded = 0, n;

	if (make_project(r, name, why) < 0)
		return -1;
	for (n = 0; n < r->racers; n++) {
		racers[n].why = (struct fault){ "" };
		racers[n].question = ask_question(name);
		if (!racers[n].question || pthread_create(&racers[n].thread, NULL, run_racer, &racers[n])) {
			fputs("race: no thread\n", stderr);
			exit(1);	/* the others wait for it at the barrier */
		}
	}
	for (n = 0; n < r->racers; n++) {
		pthread_join(racers[n].thread, NULL);
		json_object_put(racers[n].question);
		if (racers[n].result < 0)
			fault_set(why, "%s", racers[n].why.text);
		funded += racers[n].result > 0;
	}
	return why->text[0] ? -1 : funded;
}

static int rounds(struct race *r, struct racer *racers, long n)
{
	long good = 0;
	char name[64];

	for (long i = 0; i < n; i++) {
		struct fault why = { "" };
		int funded;

		snprintf(name, sizeof(name), "race-%ld", i);
		funded = one_round(r, racers, name, &why);
		if (funded < 0)
			fprintf(stderr, "race: round %ld: %s\n", i, why.text);
		else if (funded != 1)
			fprintf(stderr, "race: round %ld: %d were funded\n", i, funded);
		good += funded == 1;
	}
	printf("rounds %ld good %ld\n", n, good);
	return good == n ? 0 : -1;
}

int main(int argc, char **argv)
{
	static struct racer racers[RACERS_MAX];
	struct race r = { 0 };
	int rv;

	if (argc != 5 || atol(argv[1]) < 1 || (r.racers = atoi(argv[2])) < 1 || r.racers > RACERS_MAX) {
		fprintf(stderr, "usage: race ROUNDS RACERS SOCKET SLURM-SOCKET (at most %d racers)\n",
			RACERS_MAX);
		return 2;
	}
	curl_global_init(CURL_GLOBAL_NOTHING);
	r.people = client_new(argv[3], DEADLINE_MS);
	pthread_barrier_init(&r.ready, NULL, (unsigned)r.racers);
	for (int i = 0; i < r.racers; i++) {
		racers[i].race = &r;
		racers[i].client = client_new(argv[4], DEADLINE_MS);
		if (!r.people || !racers[i].client) {
			fputs("race: out of memory\n", stderr);
			return 1;
		}
	}
	rv = rounds(&r, racers, atol(argv[1]));
	for (int i = 0; i < r.racers; i++)
		client_free(racers[i].client);
	client_free(r.people);
	pthread_barrier_destroy(&r.ready);
	curl_global_cleanup();
	return rv < 0;
}
