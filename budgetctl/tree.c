/* SPDX-License-Identifier: GPL-2.0-or-later
 * tree.c - tree: who is entitled to what, had what and is owed what */
#include "budgetctl/session.h"

static const struct column columns[] = {
	{ "name", "Project", KIND_TEXT, NULL, false },
	{ "project", NULL, KIND_TEXT, NULL, false },
	{ "user", NULL, KIND_TEXT, NULL, false },
	{ "path", NULL, KIND_TEXT, NULL, false },
	{ "depth", NULL, KIND_COUNT, NULL, false },
	{ "share", "Weight", KIND_COUNT, NULL, false },
	{ "share_ppm", "Share", KIND_RATIO, NULL, false },
	{ "entitled_units", "Entitled", KIND_AMOUNT, NULL, false },
	{ "occupied_units", "Occupied", KIND_AMOUNT, NULL, false },
	{ "entry_units", NULL, KIND_AMOUNT, NULL, false },
	{ "ratio_ppm", "Ratio", KIND_RATIO, "none, share 0", false },
	{ "owed_units", "Owed", KIND_AMOUNT, NULL, false },
	{ "delivered_units", "Delivered", KIND_AMOUNT, NULL, false },
	{ "free_units", "Free", KIND_AMOUNT, NULL, false },
};

static const struct list tree = {
	.path = "/v1/tree",
	.columns = columns,
	.count = ARRAY_SIZE(columns),
	.tree = true,
	.what = "projects that you may see",
};

int cmd_tree(struct session *s)
{
	return session_list(s, &tree, NULL, NULL);
}
