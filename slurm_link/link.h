/* SPDX-License-Identifier: GPL-2.0-or-later
 * link.h - our one door to slurmctld and slurmdbd (libslurm)
 *
 * Everything that knows a version of Slurm stands behind this header, in this folder. Reads
 * give tables of job_view.h; writes are single updates. Nothing here decides anything.
 *
 * DANGER   libslurm ends the process (fatal(), exit 1) when slurm.conf or a plugin it names is missing or
 *          broken, and on some reloads. slurm_link_open refuses what it can see beforehand; for the rest the
 *          service manager restarts the daemon, which loses nothing.
 * Errors   -1, a text in *why and errno:
 *            ENOENT     no such job, or it has ended
 *            EPERM      not operator, administrator or SlurmUser
 *            EBUSY      not in a state that allows this
 *            ENOTSUP    cannot be requeued (not batch, --no-requeue)
 *            EINVAL     Slurm does not know the value
 *            EAGAIN     the job is being written to the database, or slurmctld in standby: try again later
 *            ENOTCONN   slurmctld or slurmdbd not reachable
 *            ENOMEM, EIO (anything else; the text has Slurm's words)
 *          Out arguments are untouched on failure.
 * Threads  loads and updates: any thread, each call has its own connection. What is read from slurmdbd
 *          (slurm_link_runs*, slurm_link_accounts): one thread at a time per link.
 * Wait     a call waits for slurmctld up to its MessageTimeout (10 s by default); never call from a thread
 *          that answers the plugin. Updates behind one that did not reach it fail at once
 *          until it answers. */
#ifndef SLURM_LINK_LINK_H
#define SLURM_LINK_LINK_H
#include "slurm_link/job_view.h"
#include "lib/fault.h"

struct slurm_link;

/* Read slurm.conf (`conf` NULL: $SLURM_CONF, else Slurm's own place) and start libslurm; no RPC yet. Call it
 * once per process and before threads are started: libslurm has process-wide state, and SLURM_BITSTR_LEN is
 * set in the environment so that long array expressions are not cut. 0 and *out set; or -1: ENOENT or EACCES
 * (the file that was named cannot be read), ENOMEM. */
int slurm_link_open(const char *conf, struct slurm_link **out, struct fault *why);
void slurm_link_close(struct slurm_link *l);	/* NULL is fine; errno is kept */

/* Does a slurmctld answer, the first one or a backup? Asked once, where every other call asks a slurmctld
 * that is away again each second until MessageTimeout is over: too long for a person, and for a daemon that
 * is to stop. 0; or -1 and ENOTCONN, with Slurm's words of the first one. */
int slurm_link_ping(struct slurm_link *l, struct fault *why);

/* What the running slurmctld is configured to do. */
#define SLURM_CLUSTER_MAX 64
struct slurm_facts {
	char cluster[SLURM_CLUSTER_MAX];
	char version[32];		/* of slurmctld: "22.05.8" */
	uid_t slurm_uid;
	int64_t priority_weights;	/* sum of all PriorityWeight*: what the site's own factors can add to
					 * a priority */
	bool multifactor;		/* PriorityType=priority/multifactor; without it SiteFactor does
					 * nothing */
	int64_t min_job_age_s;		/* an ended job stays in the table this long: poll much faster */
	int64_t preempt_exempt_s;	/* global PreemptExemptTime, 0 when there is none */
	bool job_requeue;		/* JobRequeue */
	bool slurmdbd;			/* AccountingStorageType=accounting_storage/slurmdbd */
	bool gpu_tres;			/* AccountingStorageTRES has gres/gpu */
};
int slurm_link_facts(struct slurm_link *l, struct slurm_facts *out, struct fault *why);

/* The job table. `since` = 0: always; taken_at of the last table: *out is set to NULL when nothing has
 * changed since then. Cost: about 10 us a job in slurmctld and here; three allocations whatever the number of
 * jobs, besides what libslurm takes and gives back meanwhile. The caller frees with job_table_free. */
int slurm_link_jobs(struct slurm_link *l, int64_t since, struct job_table **out, struct fault *why);

/* Partitions and nodes, as they are now. The caller frees with cluster_view_free. */
int slurm_link_cluster(struct slurm_link *l, struct cluster_view **out, struct fault *why);

/* One update, one RPC. `job` is a job id as in job_view ("12": that one record, so the pending record of an
 * array and not its running tasks, one component of a het job and not the others), or names tasks ("12_3",
 * "12_[1-4]") or a component ("12+1"). Slurm is not atomic here: it stops at the first field that fails and
 * earlier ones stay changed (site_factor is applied last). A job that is being written to the database is
 * tried again for up to half a second, then EAGAIN. */
enum hold_change { HOLD_KEEP, HOLD_AS_ADMIN, HOLD_RELEASE };
struct job_update {
	const char *qos;		/* NULL = keep; pending jobs only, else EBUSY */
	const char *account;		/* NULL = keep; pending jobs only */
	const char *admin_comment;	/* NULL = keep, "" = remove; needs SlurmUser, root or an
					 * Administrator */
	/* NULL = keep, "" = none; pending jobs only, else EBUSY. Slurm gives back the very text. Where no
	 * node is left that could ever do, the job becomes HELD_BY_OTHER until that changes */
	const char *excluded;
	bool set_site_factor;
	int32_t site_factor;		/* signed; at once, pending and running */
	enum hold_change hold;		/* AS_ADMIN: its user cannot release it. On a running record it would
					 * displace it: never do that */
};
int slurm_link_update(struct slurm_link *l, const char *job, const struct job_update *u, struct fault *why);

/* The same, one field each. */
int slurm_link_set_qos(struct slurm_link *l, const char *job, const char *qos, struct fault *why);
int slurm_link_set_site_factor(struct slurm_link *l, const char *job, int32_t site_factor, struct fault *why);

/* Displace: back to the queue, or cancel. requeue: a running or just ended batch job, never held; ENOTSUP
 * when it cannot be. */
int slurm_link_requeue(struct slurm_link *l, const char *job, struct fault *why);
int slurm_link_cancel(struct slurm_link *l, const char *job, struct fault *why);

/* Signal `signal` to a running job: its batch script alone, or all processes that the script started and not
 * the script itself. Jobs without a script (srun, salloc): their steps. Returns when slurmctld has passed it
 * on, not when it has arrived. */
int slurm_link_signal(struct slurm_link *l, const char *job, int signal, bool script_only, struct fault *why);

/* Drain a node, with the reason that people see in sinfo; or take the drain back, whatever the reason is.
 * ENOENT: there is no such node. */
int slurm_link_drain(struct slurm_link *l, const char *node, const char *reason, struct fault *why);
int slurm_link_undrain(struct slurm_link *l, const char *node, struct fault *why);

/* Is the node among "n[1-4,7]"? Asks nobody; NULL has none. */
bool slurm_link_has_node(const char *nodes, const char *node);

/* How long all updates, requeues and cancellations have taken so far, in microseconds: a pass tells by it how
 * much of its time was Slurm's. */
int64_t slurm_link_updates_us(struct slurm_link *l);

/* A line on the output of a running srun or salloc, or of a batch job's file. One job id, not an array. */
int slurm_link_notify(struct slurm_link *l, uint32_t job_id, const char *text, struct fault *why);

/* Rows of slurmdbd, connected on the first call and again after an error. The daemon needs to be SlurmUser,
 * root or an operator there. _of: every row of one job (requeues and resizes are rows of their own) submitted
 * or running since `since`; for the id of an array the rows of all its tasks.
 * _between: of all jobs of this cluster that were eligible, running or ended in [from, to]. The caller frees
 * with run_table_free. */
int slurm_link_runs_of(struct slurm_link *l, uint32_t job_id, int64_t since, struct run_table **out,
	struct fault *why);
int slurm_link_runs_between(struct slurm_link *l, int64_t from, int64_t to, struct run_table **out,
	struct fault *why);

/* Which users may use which accounts of this cluster, from slurmdbd. The caller frees with
 * account_table_free. */
int slurm_link_accounts(struct slurm_link *l, struct account_table **out, struct fault *why);

#endif
