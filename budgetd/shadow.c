/* SPDX-License-Identifier: GPL-2.0-or-later
 * shadow.c - shadow mode at submission. */
#include "budgetd/shadow.h"
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_shadow.h"
#include <stdio.h>
#include <string.h>

enum enforcement shadow_mode(struct budgetd *b, const char *partitions)
{
	struct partition_answer p;

	if (partitions && *partitions)
		return settings_enforcement(b->settings, partitions);
	p = cluster_state_partitions(b->cluster, NULL);
	return settings_enforcement(b->settings, p.name[0] ? p.name : NULL);
}

static int note(struct budgetd *b, const struct question *q, const struct verdict *v, int64_t job,
	int64_t now, struct fault *why)
{
	struct shadow s = { .at = now, .job = job, .uid = q->uid };
	struct gpu_request request = {0};
	struct admission_row a = {0};
	int found = v->token[0] ? admission_by_token(b->ledger, v->token, &a, why) : 0;

	if (found < 0)
		return -1;
	/* A refused request may be one that cannot even be read: then it counts no GPUs, here and when its
	 * job is met. */
	if (gpu_request_read(&q->gpus, NULL, &request, NULL) < 0)
		request.gpus_max = 0;
	s.gpus = request.gpus_max;
	s.admission = a.id;
	snprintf(s.kind, sizeof(s.kind), "%s", v->accepted ? job_tier_name(v->tier) : "refused");
	snprintf(s.account, sizeof(s.account), "%s", q->account ? q->account : "");
	snprintf(s.partition, sizeof(s.partition), "%s", q->partition ? q->partition : "");
	snprintf(s.text, sizeof(s.text), "%s", v->text);
	return shadow_note(b->ledger, &s, why);
}

static void leave_alone(struct verdict *v)
{
	char text[sizeof(v->text)];

	snprintf(text, sizeof(text), "not enforced yet, it would be: %.*s", (int)sizeof(text) - 40, v->text);
	*v = (struct verdict){ .accepted = true };
	memcpy(v->text, text, sizeof(text));
}

int shadow_admit(struct budgetd *b, const struct question *q, const char *request, int64_t job, int64_t now,
	struct verdict *out, struct fault *why)
{
	if (admit(b, q, request, job, now, out, why) < 0)
		return -1;
	if (out->accepted && out->tier == TIER_UNSET)
		return 0;	/* no GPU: none of our business in any mode */
	if (ledger_begin(b->ledger, LEDGER_HOLDS, why) < 0)
		return -1;
	if (note(b, q, out, job, now, why) < 0) {
		ledger_rollback(b->ledger);
		return -1;
	}
	leave_alone(out);
	return ledger_commit(b->ledger, why);
}
