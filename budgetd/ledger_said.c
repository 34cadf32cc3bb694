/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_said.c - which write a request id was said for (ledger_said.h). */
#include "budgetd/ledger_said.h"
#include "budgetd/ledger_sql.h"
#include <errno.h>

int said_note(struct ledger *l, const char *request_id, const char *write, int64_t now, struct fault *why)
{
	static const char same_sql[] = "SELECT write = ?2 FROM said WHERE request_id = ?1";
	static const char note_sql[] = "INSERT INTO said (request_id, at, write) VALUES (?, ?, ?)";
	int64_t same = 0;
	int rc = sql_int(l, &same, same_sql, why, "ss", request_id, write);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return sql_do(l, note_sql, why, "sis", request_id, now, write);
	return same ? 1 : fault_errno(why, EEXIST,
		"the request id %s was used for another write: say this one with an id of its own",
		request_id);
}
