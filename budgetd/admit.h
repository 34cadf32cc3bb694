/* SPDX-License-Identifier: GPL-2.0-or-later
 * admit.h - the verdict, and the hold that makes it true, in one transaction
 *
 * The same function answers a submission (through the plugin) and a job that the loop met without an answer
 * of ours. The rule is lib/admission; this file brings question, tree and books together.
 *
 * Threads  any; each call is one transaction of the writer */
#ifndef BUDGETD_ADMIT_H
#define BUDGETD_ADMIT_H
#include "budgetd/budgetd.h"
#include "budgetd/ledger_hold.h"
#include "budgetd/question.h"
#include "lib/admission.h"

#define VERDICT_TEXT_MAX (ADMISSION_TEXT_MAX + 256)

struct verdict {
	bool accepted;
	enum job_tier tier;		/* UNSET when accepted: the job asks for no GPU and is left alone */
	const char *qos;		/* of the settings; NULL = leave */
	/* nodes are cleared for a gang: to be held until the loop has told Slurm that it may not start
	 * there */
	bool kept_off;
	/* tasks of it wait for money: to be held, and the loop releases those that are paid for */
	bool waits;
	char account[PROJECT_NAME_MAX];	/* "" = leave */
	char token[TOKEN_MAX];		/* "" = none */
	char text[VERDICT_TEXT_MAX];	/* "" = nothing to say */
};

/* Everything that is priced before the books are looked at. */
struct priced {
	struct job_options options;
	struct gpu_request request;
	int64_t time_limit_s;
	bool valid;			/* false: the question makes no sense and has no price */
	/* of one array task, units a second, by the dearest types it may get */
	amount_t price;
	struct admission_rules rules;
};

/* 0; or -1 with a text for the user: an option or a request that makes no sense. */
int admit_price(struct budgetd *b, const struct question *q, int64_t now, struct priced *out,
	struct fault *why);

/* The same when Slurm has counted the GPUs of a task itself. */
int admit_price_count(struct budgetd *b, const struct question *q, const struct gpu_count *asked, int64_t now,
	struct priced *p, struct fault *why);

/* The verdict on a submission. `job` is 0 when Slurm has not given an id yet. `request` is the question's
 * text, kept for later modifications. Always fills *out, except for -1: the books failed, nothing was
 * written, and the caller cannot answer. The hold is decided and not written yet: the caller answers, then
 * calls ledger_write. */
int admit(struct budgetd *b, const struct question *q, const char *request, int64_t job, int64_t now,
	struct verdict *out, struct fault *why);

/* Units that are spoken for, by project on their way up. */
#define SET_ASIDE_MAX 256
struct set_aside {
	size_t count;
	struct set_aside_at {
		int64_t project;
		amount_t units;
	} at[SET_ASIDE_MAX];
};

/* The verdict that a submission of `q` would get now, without a token, by the decision of admit(); nothing is
 * written. Wants a transaction on `l`, a reader's will do. The components of a het job are quoted one after
 * the other over one `aside` (all 0 at first), so that each sees what the others would hold. priced->valid is
 * false when the question cannot be priced. */
int admit_quote(struct budgetd *b, struct ledger *l, const struct question *q, struct set_aside *aside,
	int64_t now, struct priced *priced, struct verdict *out, struct fault *why);

/* May a known admission become what `q` says? Wants a LEDGER_HOLDS transaction with `a` read in it. A funded
 * job whose new hold does not fit is refused, and nothing is written. What is accepted and costs more has the
 * difference from then on: `a` becomes what is written, with changing_at = now. The loop follows when Slurm
 * has made the change, and gives back what Slurm did not make. `limit_of` is what of the job gets another
 * time limit, as it was named ("12", "12_3"); NULL = nothing does. It matters to what runs, where the whole
 * time limit is set aside. */
int admit_change(struct budgetd *b, const struct question *q, const char *limit_of, struct admission_row *a,
	int64_t now, struct verdict *out, struct fault *why);

/* What the owner of a pending job declares anew, checked as if what it holds now were given back; admission
 * and hold are written. */
struct declaration {
	const struct question *question;	/* the job as it is, with what is declared from now on */
	/* minimum runtime or tier: else only the team rank, which costs nothing */
	bool priced;
	struct gpu_count gpus;		/* of one task, by Slurm's own count; none = by what is asked */
	int64_t tasks;			/* that wait and are eligible; 0 = nothing is set aside yet */
};

/* Wants a LEDGER_HOLDS transaction with `a` read in it; `a` becomes what is written. Refused: *out says why
 * with the numbers, nothing is written. -1: the books failed. */
int admit_declaration(struct budgetd *b, const struct declaration *d, struct admission_row *a, int64_t now,
	struct verdict *out, struct fault *why);

/* What becomes of a job that does not fit where no project says so. */
enum on_exhausted admit_site_policy(const struct budgetd *b);

/* The job for which nodes are cleared, when what begins now with that minimum runtime must not begin on them;
 * else 0. */
uint32_t admit_must_be_kept_off(const struct budgetd *b, enum job_tier tier, int64_t min_runtime_s, int64_t now);
/* "nodes are cleared for job 4, planned to start in 1 h 59 min", as each answer for its sake begins: of the guard
 * as it stands. Returns buf. */
#define ADMIT_GUARD_TEXT_MAX 128
const char *admit_guard_text(const struct budgetd *b, int64_t now, char buf[ADMIT_GUARD_TEXT_MAX]);

/* The QOS of a tier. Het jobs are never displaced by Slurm itself: funded-still. */
const char *admit_qos(const struct budgetd *b, enum job_tier tier, bool het);

#endif
