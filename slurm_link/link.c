/* SPDX-License-Identifier: GPL-2.0-or-later
 * link.c - the link itself: start, what slurmctld is configured to do, and updates
 *
 * Each update is one RPC. slurmctld refuses updates of a job whose record is on its way to the database
 * (right after a submission, up to 24.05); that passes by itself within milliseconds, so it is tried again
 * here and nowhere else. */
#include "slurm_link/compat.h"
#include "slurm_link/internal.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Slurm's error numbers that somebody acts on; all others are EIO. */
static const struct { int slurm, ours; } error_table[] = {
	{ ESLURM_INVALID_JOB_ID, ENOENT },
	{ ESLURM_ALREADY_DONE, ENOENT },
	{ ESLURM_JOB_FINISHED, ENOENT },
	{ ESLURM_USER_ID_MISSING, EPERM },
	{ ESLURM_ACCESS_DENIED, EPERM },
	{ ESLURM_JOB_NOT_PENDING, EBUSY },
	{ ESLURM_JOB_PENDING, EBUSY },
	{ ESLURM_JOB_NOT_PENDING_NOR_RUNNING, EBUSY },
	{ ESLURM_TRANSITION_STATE_NO_UPDATE, EAGAIN },
	{ ESLURM_BATCH_ONLY, ENOTSUP },
	{ ESLURM_DISABLED, ENOTSUP },
	{ ESLURM_INVALID_QOS, EINVAL },
	{ ESLURM_INVALID_ACCOUNT, EINVAL },
	{ ESLURM_INVALID_PARTITION_NAME, EINVAL },
	{ COMPAT_ERR_DB_INDEX, EAGAIN },
	{ ESLURM_IN_STANDBY_MODE, EAGAIN },
	{ ESLURM_IN_STANDBY_USE_BACKUP, EAGAIN },
	{ SLURM_COMMUNICATIONS_CONNECTION_ERROR, ENOTCONN },
	{ SLURM_COMMUNICATIONS_SEND_ERROR, ENOTCONN },
	{ SLURM_COMMUNICATIONS_RECEIVE_ERROR, ENOTCONN },
	{ SLURM_COMMUNICATIONS_SHUTDOWN_ERROR, ENOTCONN },
	{ SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR, ENOTCONN },
	{ SLURMCTLD_COMMUNICATIONS_SEND_ERROR, ENOTCONN },
	{ SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR, ENOTCONN },
	{ SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR, ENOTCONN },
	{ SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, ENOTCONN },
	{ ESLURM_DB_CONNECTION, ENOTCONN },
	{ ECONNREFUSED, ENOTCONN },
	{ ETIMEDOUT, ENOTCONN },
	{ ENOMEM, ENOMEM },
};

int slurm_link_fail(struct fault *why, const char *what)
{
	int err = errno, ours = EIO;

	for (size_t i = 0; i < sizeof(error_table) / sizeof(error_table[0]); i++)
		if (error_table[i].slurm == err)
			ours = error_table[i].ours;
	return fault_errno(why, ours, "%s: %s", what, err ? slurm_strerror(err) : "Slurm gave no reason");
}

/* slurm_init() ends the process when the file is missing, so look first. Without a name Slurm may be
 * configless: let it try. */
static int conf_is_readable(const char *conf, struct fault *why)
{
	const char *path = conf ? conf : getenv("SLURM_CONF");

	if (path && *path && access(path, R_OK) < 0)
		return fault_errno(why, errno, "%s: %s: slurm.conf is needed to find slurmctld", path,
			strerror(errno));
	return 0;
}

int slurm_link_open(const char *conf, struct slurm_link **out, struct fault *why)
{
	struct slurm_link *l;

	if (conf_is_readable(conf, why) < 0)
		return -1;
	l = calloc(1, sizeof(*l));
	/* libslurm cuts array expressions at 64 characters ("0-3,7,..."); 0 means: never */
	if (!l || setenv("SLURM_BITSTR_LEN", "0", 1) < 0) {
		free(l);
		return fault_errno(why, ENOMEM, "out of memory");
	}
	slurm_init(conf);
	*out = l;
	return 0;
}

void slurm_link_close(struct slurm_link *l)
{
	int saved = errno;

	if (l) {
		dbd_close(l->dbd);
		slurm_fini();
		free(l);
	}
	errno = saved;
}

/* "CPU=1000,GRES/gpu=2000.5": what all of them could add, and one for the fraction. */
static int64_t weights_of_tres(const char *list)
{
	double sum = 0;

	if (!list || !*list)
		return 0;
	for (const char *p = list; p && (p = strchr(p, '=')); p++) {
		double w = strtod(p + 1, NULL);

		sum += w > 0 && w < UINT32_MAX ? w : 0;
	}
	return (int64_t)sum + 1;
}

static void facts_fill(struct slurm_facts *f, const slurm_conf_t *c)
{
	uint32_t exempt = c->preempt_exempt_time;

	memset(f, 0, sizeof(*f));
	snprintf(f->cluster, sizeof(f->cluster), "%s", c->cluster_name ? c->cluster_name : "");
	snprintf(f->version, sizeof(f->version), "%s", c->version ? c->version : "");
	f->slurm_uid = c->slurm_user_id;
	f->priority_weights = (int64_t)c->priority_weight_age + c->priority_weight_assoc +
		c->priority_weight_fs + c->priority_weight_js + c->priority_weight_part +
		c->priority_weight_qos + weights_of_tres(c->priority_weight_tres);
	f->multifactor = c->priority_type && !strcmp(c->priority_type, "priority/multifactor");
	f->min_job_age_s = c->min_job_age;
	f->preempt_exempt_s = exempt == NO_VAL || exempt == INFINITE ? 0 : exempt;
	f->job_requeue = c->job_requeue;
	f->slurmdbd = c->accounting_storage_type && strstr(c->accounting_storage_type, "slurmdbd");
	f->gpu_tres = c->accounting_storage_tres && strstr(c->accounting_storage_tres, "gres/gpu");
}

int slurm_link_facts(struct slurm_link *l, struct slurm_facts *out, struct fault *why)
{
	slurm_conf_t *c = NULL;

	if (slurm_load_ctl_conf(0, &c) != SLURM_SUCCESS)
		return slurm_link_fail(why, "cannot read slurmctld's configuration");
	facts_fill(out, c);
	compat_free_conf(c);
	memcpy(l->cluster, out->cluster, sizeof(l->cluster));
	return 0;
}

#define CONTROLLERS 4 /* the first and its backups; one that is not configured is an error at once */

int slurm_link_ping(struct slurm_link *l, struct fault *why)
{
	int err = 0;

	(void)l;
	for (int i = 0; i < CONTROLLERS; i++) {
		errno = 0;
		if (slurm_ping(i) == SLURM_SUCCESS)
			return 0;
		if (i == 0)
			err = errno;
	}
	return fault_errno(why, ENOTCONN, "no slurmctld answers at the SlurmctldHost of slurm.conf: %s",
		err ? slurm_strerror(err) : "Slurm gave no reason");
}

/* --- updates --------------------------------------------------------------------------------------- */

#define RETRY_PAUSE_MS 25
#define RETRY_TIMES 20			/* half a second in all; slurmdbd answers in milliseconds or is
					 * away */

/* An RPC that names a job and may answer for each task of an array. -1 and errno as Slurm has it. */
typedef int job_call(const char *job, const void *arg, job_array_resp_msg_t **resp);

/* 0 when every task succeeded, else the first error of one. */
static int first_error(const job_array_resp_msg_t *resp)
{
	for (uint32_t i = 0; resp && i < resp->job_array_count; i++)
		if (resp->error_code[i])
			return (int)resp->error_code[i];
	return 0;
}

/* 0, or Slurm's error number. */
static int job_call_once(job_call *call, const char *job, const void *arg)
{
	job_array_resp_msg_t *resp = NULL;
	int err = 0;

	errno = 0;
	if (call(job, arg, &resp) != SLURM_SUCCESS)
		err = errno ? errno : SLURM_ERROR;
	else
		err = first_error(resp);
	if (resp)
		slurm_free_job_array_resp(resp);
	return err;
}

static int call_job_now(job_call *call, const char *job, const void *arg, const char *doing,
	struct fault *why)
{
	const struct timespec pause = { .tv_nsec = RETRY_PAUSE_MS * 1000 * 1000 };
	char what[160];
	int err = job_call_once(call, job, arg);

	for (int i = 0; err == COMPAT_ERR_DB_INDEX && i < RETRY_TIMES; i++) {
		nanosleep(&pause, NULL);
		err = job_call_once(call, job, arg);
	}
	if (!err)
		return 0;
	snprintf(what, sizeof(what), "job %.80s: cannot %s", job, doing);
	errno = err;
	return slurm_link_fail(why, what);
}

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int call_job(struct slurm_link *l, job_call *call, const char *job, const void *arg, const char *doing,
	struct fault *why)
{
	int64_t begun = now_us();
	/* a pass may have hundreds of them, and each would wait for a slurmctld that has just gone away */
	bool unseen = atomic_load(&l->away) && slurm_link_ping(l, why) < 0;
	int rv = unseen ? -1 : call_job_now(call, job, arg, doing, why), saved = errno;

	atomic_store(&l->away, rv < 0 && saved == ENOTCONN);
	atomic_fetch_add(&l->updates_us, now_us() - begun);
	errno = saved;
	return rv;
}

int64_t slurm_link_updates_us(struct slurm_link *l)
{
	return atomic_load(&l->updates_us);
}

/* A bare job id, or 0 for everything else that names jobs. */
static uint32_t plain_job_id(const char *job)
{
	char *end;
	unsigned long id = strtoul(job, &end, 10);

	return *job >= '0' && *job <= '9' && !*end && id < NO_VAL ? (uint32_t)id : 0;
}

/* Two ways to the same RPC: by number it means that one record and nothing else, and by text libslurm loses a
 * few bytes each time (seen in 22.05.8), which the loop would do all day long. */
static int update_call(const char *job, const void *arg, job_array_resp_msg_t **resp)
{
	const struct job_update *u = arg;
	uint32_t id = plain_job_id(job);
	job_desc_msg_t m;

	slurm_init_job_desc_msg(&m);
	m.qos = (char *)u->qos;
	m.account = (char *)u->account;
	m.admin_comment = (char *)u->admin_comment;
	m.exc_nodes = (char *)u->excluded;
	if (u->set_site_factor)
		m.site_factor = (uint32_t)(NICE_OFFSET + (int64_t)u->site_factor);
	if (u->hold != HOLD_KEEP) {
		m.priority = u->hold == HOLD_AS_ADMIN ? 0 : INFINITE;
		m.alloc_sid = u->hold == HOLD_AS_ADMIN ? ALLOC_SID_ADMIN_HOLD : 0;
	}
	if (id) {
		compat_desc_job_id(&m) = id;
		return slurm_update_job(&m);
	}
	m.job_id_str = (char *)job;		/* libslurm only reads what it packs */
	return slurm_update_job2(&m, resp);
}

int slurm_link_update(struct slurm_link *l, const char *job, const struct job_update *u, struct fault *why)
{
	return call_job(l, update_call, job, u, "update it", why);
}

int slurm_link_set_qos(struct slurm_link *l, const char *job, const char *qos, struct fault *why)
{
	return call_job(l, update_call, job, &(struct job_update){ .qos = qos }, "change its QOS", why);
}

int slurm_link_set_site_factor(struct slurm_link *l, const char *job, int32_t site_factor, struct fault *why)
{
	const struct job_update u = { .set_site_factor = true, .site_factor = site_factor };

	return call_job(l, update_call, job, &u, "change its place", why);
}

static int requeue_call(const char *job, const void *arg, job_array_resp_msg_t **resp)
{
	uint32_t id = plain_job_id(job);

	(void)arg;
	return id ? slurm_requeue(id, 0) : slurm_requeue2((char *)job, 0, resp);
}

int slurm_link_requeue(struct slurm_link *l, const char *job, struct fault *why)
{
	return call_job(l, requeue_call, job, NULL, "requeue it", why);
}

static int cancel_call(const char *job, const void *arg, job_array_resp_msg_t **resp)
{
	(void)arg;
	(void)resp;
	return slurm_kill_job2(job, SIGKILL, 0, NULL);
}

int slurm_link_cancel(struct slurm_link *l, const char *job, struct fault *why)
{
	return call_job(l, cancel_call, job, NULL, "cancel it", why);
}

struct signalling {
	int signal;
	bool script_only;
};

static int signal_call(const char *job, const void *arg, job_array_resp_msg_t **resp)
{
	const struct signalling *s = arg;

	(void)resp;
	return slurm_kill_job2(job, (uint16_t)s->signal, s->script_only ? KILL_JOB_BATCH : 0, NULL);
}

int slurm_link_signal(struct slurm_link *l, const char *job, int signal, bool script_only, struct fault *why)
{
	return call_job(l, signal_call, job, &(struct signalling){ signal, script_only }, "signal it", why);
}

static int update_node(const char *node, uint32_t state, const char *reason, struct fault *why)
{
	update_node_msg_t m;
	char what[96];

	slurm_init_update_node_msg(&m);
	m.node_names = (char *)node;
	m.node_state = state;
	m.reason = (char *)reason;
	compat_reason_of(&m, getuid());
	errno = 0;
	if (slurm_update_node(&m) == SLURM_SUCCESS)
		return 0;
	snprintf(what, sizeof(what), "node %.63s: cannot %s it", node, reason ? "drain" : "undrain");
	return slurm_link_fail(why, what);
}

int slurm_link_drain(struct slurm_link *l, const char *node, const char *reason, struct fault *why)
{
	(void)l;
	return update_node(node, NODE_STATE_DRAIN, reason, why);
}

int slurm_link_undrain(struct slurm_link *l, const char *node, struct fault *why)
{
	(void)l;
	return update_node(node, NODE_STATE_UNDRAIN, NULL, why);
}

bool slurm_link_has_node(const char *nodes, const char *node)
{
	compat_hostlist_t list;
	bool has;

	/* one node, as nearly all jobs have: asked for each running job and each node that drains */
	if (!nodes || !strpbrk(nodes, "[,"))
		return nodes && strcmp(nodes, node) == 0;
	list = slurm_hostlist_create(nodes);
	has = list && slurm_hostlist_find(list, node) >= 0;
	if (list)
		slurm_hostlist_destroy(list);
	return has;
}

int slurm_link_notify(struct slurm_link *l, uint32_t job_id, const char *text, struct fault *why)
{
	char what[64];

	(void)l;
	errno = 0;
	if (slurm_notify_job(job_id, (char *)text) == SLURM_SUCCESS)
		return 0;
	snprintf(what, sizeof(what), "job %u: cannot tell its user", job_id);
	return slurm_link_fail(why, what);
}
