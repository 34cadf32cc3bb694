/* SPDX-License-Identifier: GPL-2.0-or-later
 * account.c - ask slurmctld's own association cache, which slurmdbd keeps up to date.
 *
 * It costs a hash look-up under Slurm's association lock and no round trip. Where the symbols are missing
 * (a test, a Slurm that dropped them) the account stays empty. */
#include "job_submit/account.h"
#include <string.h>

void account_resolve(job_desc_msg_t *job_desc)
{
	slurmdb_user_rec_t user;

	if (job_desc->account && job_desc->account[0])
		return;
	if (!assoc_mgr_fill_in_user || !&acct_db_conn || !&accounting_enforce)
		return;
	memset(&user, 0, sizeof(user));
	user.uid = job_desc->user_id;
	if (assoc_mgr_fill_in_user(acct_db_conn, &user, accounting_enforce, NULL, false) == SLURM_ERROR ||
	    !user.default_acct || !user.default_acct[0])
		return;
	slurm_xfree((void **)&job_desc->account);
	job_desc->account = slurm_xstrdup(user.default_acct);	/* default_acct is borrowed from the cache */
}
