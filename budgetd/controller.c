/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller.c - one pass: look, meet every job, follow every run, publish the order. */
#include "budgetd/controller.h"
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_moves.h"
#include "budgetd/held.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/people.h"
#include "budgetd/ranking.h"
#include "budgetd/tally.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct controller {
	struct budgetd *b;
	struct asked *asked;
	bool facts_told;
	int64_t ask_accounts_at;	/* slurmdbd, for the accounts of users */
	/* the last pass that asked for what had been missed, where there was need; 0 = not since the start */
	int64_t seen_at;
	int64_t away_since;		/* a gap that slurmdbd may still have rows of; 0 = none */
	int64_t ask_again_at;		/* for those: rows that were on their way to it */
	int64_t seen_written_at;	/* when the books last learned that there is no gap */
	size_t lost;			/* runs without an end, as was last told */
	int64_t lost_told_at;
	int64_t names_told_at;		/* names that were left out; 0 = none were in the last pass */
	int64_t compared_at;		/* with slurmdbd's rows */
	int passes;			/* in a row without trouble, up to 2 */
	int64_t next_due;		/* of a run that leaves; 0 = none does */
	struct ranking *ranking;	/* of the last pass */
};

struct controller *controller_new(struct budgetd *b, struct fault *why)
{
	struct controller *c = calloc(1, sizeof(*c));

	if (!c) {
		fault_errno(why, ENOMEM, "out of memory");
		return NULL;
	}
	c->b = b;
	c->asked = asked_new();
	if (!c->asked) {
		fault_errno(why, ENOMEM, "out of memory");
		free(c);
		return NULL;
	}
	return c;
}

void controller_free(struct controller *c)
{
	if (!c)
		return;
	asked_free(c->asked);
	ranking_free(c->ranking);
	free(c);
}

int pass_write(struct pass *p, enum ledger_durability d, write_fn apply, void *arg, struct fault *why)
{
	if (ledger_begin(p->b->ledger, d, why) < 0)
		return -1;
	if (apply(p, arg, why) < 0) {
		ledger_rollback(p->b->ledger);
		return -1;
	}
	return ledger_commit(p->b->ledger, why);
}

bool pass_is_eligible(const struct pass *p, const struct job_view *j)
{
	return job_is_eligible(j, p->jobs->taken_at > p->now ? p->jobs->taken_at : p->now);
}

uint32_t pass_array_or_job_id(const struct job_view *j)
{
	return j->array_job_id ? j->array_job_id : j->job_id;
}

const char *pass_record(const struct job_view *j, char buf[RECORD_MAX])
{
	snprintf(buf, RECORD_MAX, "%u", j->job_id);
	return buf;
}

/* --- looking ------------------------------------------------------------------------------------ */

/* What the daemon cannot do its work without is said once, and again when it changes. */
static void tell_facts(struct controller *c, const struct slurm_facts *f)
{
	if (c->facts_told)
		return;
	c->facts_told = true;
	log_info("cluster %s, Slurm %s", f->cluster, f->version);
	if (!f->slurmdbd)
		log_error("Slurm has no slurmdbd: QOS and AllocTRES of GPUs need it; set AccountingStorageType=accounting_storage/slurmdbd");
	if (!f->gpu_tres)
		log_error("AccountingStorageTRES has no gres/gpu: charges follow the GRES details of running jobs only; "
			  "set AccountingStorageTRES=gres/gpu");
	if (!f->multifactor)
		log_error("PriorityType is not priority/multifactor: the order of jobs has no effect; set PriorityType=priority/multifactor");
}

/* SlurmUser must reach its socket when the daemon runs as root. */
static void give_socket(struct controller *c, uid_t slurm_uid)
{
	people_set_slurm_uid(c->b->people, slurm_uid);
	if (geteuid() == 0 && slurm_uid != 0 && chown(c->b->settings->slurm_socket, slurm_uid, (gid_t)-1) < 0)
		log_warning("%s cannot be given to SlurmUser: %s", c->b->settings->slurm_socket,
			strerror(errno));
}

/* who may use which account: a new user's first jobs wait for a pass to be funded */
#define ACCOUNTS_EVERY_S 300
#define ACCOUNTS_AGAIN_S 60		/* slurmdbd did not answer */

static void look_at_accounts(struct controller *c, int64_t now)
{
	struct account_table *accounts = NULL;
	struct fault why = {0};

	if (now < c->ask_accounts_at)
		return;
	c->ask_accounts_at = now + ACCOUNTS_EVERY_S;
	if (slurm_link_accounts(c->b->slurm, &accounts, &why) == 0) {
		cluster_state_publish_accounts(c->b->cluster, accounts);
		return;
	}
	c->ask_accounts_at = now + ACCOUNTS_AGAIN_S;
	log_warning("the accounts of users are not known, quotes and submissions are answered without them: %s",
		why.text);
}

static int look(struct controller *c, struct pass *p, struct fault *why)
{
	/* first: whatever else is asked of a slurmctld that is away waits, and so would a stop */
	if (slurm_link_ping(p->b->slurm, why) < 0 || slurm_link_facts(p->b->slurm, &p->facts, why) < 0 ||
		slurm_link_cluster(p->b->slurm, &p->cluster, why) < 0 ||
		slurm_link_jobs(p->b->slurm, 0, &p->jobs, why) < 0)
		return -1;
	give_socket(c, p->facts.slurm_uid);
	tell_facts(c, &p->facts);
	if (p->facts.slurmdbd)
		look_at_accounts(c, p->now);
	return 0;
}

/* --- a pass ------------------------------------------------------------------------------------- */

/* Those that wait, or all others. One job that cannot be dealt with must not keep the others waiting: it is
 * logged and met again by the next pass. */
static void meet_jobs(struct pass *p, bool waiting)
{
	for (size_t i = 0; i < p->jobs->count; i++) {
		const struct job_view *j = &p->jobs->jobs[i];
		struct fault why = {0};
		int rc;

		if ((j->stage == STAGE_PENDING) != waiting)
			continue;
		rc = waiting ? pass_meet_pending(p, j, &why) : pass_meet_run(p, j, &why);
		if (j->stage == STAGE_RUNNING)
			pass_mend_running(p, j);
		if (rc >= 0 && p->facts.slurmdbd)
			rc = pass_find_restarted(p, j, &why);
		if (rc < 0)
			log_warning("job %u: %s", j->job_id, why.text);
	}
}

/* Well below the shortest MinJobAge: a job that ended within such a time is still in slurmctld's table. */
#define AWAY_S 60
#define AWAY_MARGIN_S 3600

static int write_all_seen(struct pass *p, void *arg, struct fault *why)
{
	(void)arg;
	return ledger_set_all_seen(p->b->ledger, p->now, why);
}

#define ALL_SEEN_EVERY_S 600		/* well below AWAY_MARGIN_S; a quiet night writes nothing else */

/* On new books nothing before the very first pass concerns us. */
static int first_look(struct pass *p, struct fault *why)
{
	int64_t since = 0;

	if (ledger_all_seen(p->books, &since, why) < 0)
		return -1;
	return since ? 0 : pass_write(p, LEDGER_HOLDS, write_all_seen, NULL, why);
}

static int all_seen(struct controller *c, struct pass *p, struct fault *why)
{
	p->all_seen = true;
	c->seen_at = p->now;
	if (c->away_since || p->now - c->seen_written_at < ALL_SEEN_EVERY_S)
		return 0;
	if (pass_write(p, LEDGER_HOLDS, write_all_seen, NULL, why) < 0)
		return -1;
	c->seen_written_at = p->now;
	return 0;
}

/* slurmctld keeps what slurmdbd could not take, and is some time about sending it */
#define ASK_AGAIN_S 600

/* What ran since then, at once and once more when the last rows have come; only that closes the gap. */
static int fill_gap(struct controller *c, struct pass *p, int64_t since, struct fault *why)
{
	bool again = c->away_since && p->now >= c->ask_again_at && p->now - c->seen_at <= AWAY_S;

	if (!c->away_since)
		c->away_since = since;
	if (pass_find_missed(p, c->away_since - AWAY_MARGIN_S, why) < 0)
		return -1;
	if (again)
		c->away_since = 0;
	else
		c->ask_again_at = p->now + ASK_AGAIN_S;
	return all_seen(c, p, why);
}

/* After the start, and after trouble that lasted: what ran meanwhile. Not in the first pass, which only then
 * ties answers to jobs. */
static int look_back(struct controller *c, struct pass *p, struct fault *why)
{
	int64_t since = c->seen_at;

	p->all_seen = !p->facts.slurmdbd;	/* nobody will tell */
	if (c->passes++ == 0)
		return first_look(p, why);
	if (!p->facts.slurmdbd)
		return 0;
	if (c->passes > 2)
		c->passes = 2;
	if (since && p->now - since <= AWAY_S && !(c->away_since && p->now >= c->ask_again_at))
		return all_seen(c, p, why);
	if (!since && ledger_all_seen(p->books, &since, why) < 0)
		return -1;
	return fill_gap(c, p, since, why);
}

#define COMPARE_EVERY_S 3600
#define COMPARE_WINDOW_S (2 * COMPARE_EVERY_S)	/* a comparison that failed is made up for by the next one */
/* slurmdbd's row of a run that ended that long ago says what it will say */
#define FINAL_AFTER_S 60

/* Once an hour, not before all runs were looked for; what slurmdbd does not answer now is asked the next
 * time. */
static void compare(struct controller *c, struct pass *p)
{
	struct fault why = {0};
	size_t differences;

	if (c->passes < 2 || !p->facts.slurmdbd || p->slurmdbd_away ||
		p->now - c->compared_at < COMPARE_EVERY_S)
		return;
	c->compared_at = p->now;
	if (pass_compare(p, p->now - COMPARE_WINDOW_S, p->now - FINAL_AFTER_S, &differences, &why) < 0) {
		log_warning("the runs of the last hours cannot be compared with slurmdbd's: %s", why.text);
		return;
	}
	cluster_state_set_differences(c->b->cluster, differences);
	if (differences)
		log_warning("%zu runs that ended in the last hours are not the same in slurmdbd: see budgetctl check",
			differences);
}

static int expire(struct pass *p, void *arg, struct fault *why)
{
	int n = money_expire(p->b->ledger, p->now, why);

	(void)arg;
	if (n > 0)
		log_info("%d allocations have ended: what was left of them has expired", n);
	return n < 0 ? -1 : 0;
}

/* What has ended is lost before anything is decided on; most passes find nothing and write nothing. */
static int expire_what_has_ended(struct pass *p, struct fault *why)
{
	int due = money_expiry_due(p->books, p->now, why);

	return due <= 0 ? due : pass_write(p, LEDGER_MONEY, expire, NULL, why);
}

#define TELL_LOST_EVERY_S 3600

/* Somebody has to act: said at once, when there are more or fewer, and every hour. */
static void tell_lost(struct controller *c, const struct pass *p)
{
	cluster_state_set_lost(c->b->cluster, p->lost);
	if (p->lost && (p->lost != c->lost || p->now - c->lost_told_at >= TELL_LOST_EVERY_S)) {
		log_warning("runs without an end: %zu (job %s). They are gone from slurmctld and slurmdbd does not tell when they ended: what they "
			"hold stays held and nothing more is charged. Find out when each ended and say so: budgetctl run end JOB --at TIME "
			"--reason TEXT", p->lost, p->lost_jobs);
		c->lost_told_at = p->now;
	}
	c->lost = p->lost;
}

/* Said when it begins, and every hour. */
static void tell_names(struct controller *c, const struct pass *p)
{
	cluster_state_set_names_left_out(c->b->cluster, p->names_left_out);
	if (!p->names_left_out) {
		c->names_told_at = 0;
		return;
	}
	if (c->names_told_at && p->now - c->names_told_at < TELL_LOST_EVERY_S)
		return;
	log_warning("the jobs that wait have more different lists of nodes (--exclude, --nodelist) than a pass looks at: those of %zu jobs are not, so "
		"runs may be told to go for them on nodes that they cannot use. A feature of the nodes (--constraint) says the same "
		"without that limit", p->names_left_out);
	c->names_told_at = p->now;
}

static int pass_over_books(struct controller *c, struct pass *p, struct fault *why)
{
	struct fault problem = {0};

	if (expire_what_has_ended(p, why) < 0 || pass_note_capacity(p, why) < 0)
		return -1;
	meet_jobs(p, false);
	/* slurmdbd is away: asked again by the next pass, all else goes on */
	if (look_back(c, p, &problem) < 0)
		log_warning("slurmdbd does not say what ran while budgetd was away: %s", problem.text);
	/* What runs before what waits: an extension comes first, and what an end gives back can be used at
	 * once. */
	if (pass_follow_runs(p, why) < 0)
		return -1;
	meet_jobs(p, true);
	if (pass_settle_waiting(p, why) < 0)
		return -1;
	if (!p->slurmdbd_away)
		tell_lost(c, p);
	compare(c, p);
	/* Who leaves before anybody is told to: what is told in this pass is kept with it. */
	if (pass_look_at_idle(p, why) < 0 || pass_know_leaving(p, why) < 0 || pass_follow_drains(p, why) < 0)
		return -1;
	if (pass_follow_shadow(p, why) < 0 || pass_publish_places(p, why) < 0)
		return -1;
	/* Behind the places: they are by what is, room is made by what is promised. */
	if (pass_make_room(p, why) < 0)
		return -1;
	tell_names(c, p);
	return pass_follow_leaving(p, why);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Behind a look that succeeded: all that is decided, and told Slurm. */
static int decide(struct controller *c, struct pass *p, struct pass_times *took, struct fault *why)
{
	int64_t begun = now_ms(), told_us = slurm_link_updates_us(p->b->slurm);
	/* the answers of all jobs in the table are in the snapshot */
	int rc = ledger_write(c->b->ledger, why);

	if (rc == 0)
		rc = ledger_begin(c->b->snapshot, LEDGER_READ, why);
	if (rc == 0) {
		rc = pass_over_books(c, p, why);
		ledger_rollback(c->b->snapshot);
	}
	took->published_ms = (slurm_link_updates_us(p->b->slurm) - told_us) / 1000;
	took->decided_ms = now_ms() - begun - took->published_ms;
	return rc;
}

int64_t controller_next_due(const struct controller *c)
{
	return c->next_due;
}

int controller_pass(struct controller *c, int64_t now, struct fault *why)
{
	struct pass p = { .b = c->b, .books = c->b->snapshot, .asked = c->asked, .kept = &c->ranking,
		.now = now };
	struct pass_times took = { 0 };
	int64_t begun = now_ms();
	int rc = look(c, &p, why);

	/* now, so that the first pass, too, prices jobs by what they may get; it stays ours to read */
	if (rc == 0)
		cluster_state_publish(c->b->cluster, &p.facts, p.cluster, NULL);
	else
		cluster_view_free(p.cluster);
	took.looked_ms = now_ms() - begun;
	if (rc == 0)
		rc = decide(c, &p, &took, why);
	if (p.jobs)
		cluster_state_publish(c->b->cluster, NULL, NULL, p.jobs);
	if (rc < 0)
		c->passes = 0;
	free(p.records);
	free(p.waiting);
	free(p.lane_users);
	c->next_due = pass_next_due(&p);
	pass_slots_free(p.slots);
	free(p.leaving);
	if (ledger_checkpoint(c->b->snapshot, why) < 0)
		rc = -1;
	took.all_ms = now_ms() - begun;
	cluster_state_pass_done(c->b->cluster, now, &took, rc < 0 ? why->text : NULL);
	tally_passed(c->b->tally, rc == 0, took.all_ms * 1000);
	return rc;
}
