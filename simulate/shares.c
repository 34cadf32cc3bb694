/* SPDX-License-Identifier: GPL-2.0-or-later
 * shares.c - weights as people write them, as a tree for lib/fairshare. */
#include "simulate/shares.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int add(struct shares *s, const char *name, int parent, double weight, struct fault *why)
{
	if (trace_name(&s->names, name, false) >= 0)
		return fault_errno(why, EEXIST, "the weight of %s is given twice", name);
	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 64;
		double *weights = reallocarray(s->weights, room, sizeof(*weights));
		int *parents;

		if (!weights)
			return fault_errno(why, ENOMEM, "out of memory");
		s->weights = weights;
		parents = reallocarray(s->parents, room, sizeof(*parents));
		if (!parents)
			return fault_errno(why, ENOMEM, "out of memory");
		s->parents = parents;
		s->room = room;
	}
	if (trace_name(&s->names, name, true) < 0)
		return fault_errno(why, ENOMEM, "out of memory");
	s->weights[s->count] = weight;
	s->parents[s->count++] = parent;
	return 0;
}

static int weight_of(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (text[strcspn(text, "xX")])		/* strtod() takes 0x10 for 16 */
		return -1;
	return end == text || *end || !isfinite(*out) || *out < 0 ? -1 : 0;
}

int shares_add_text(struct shares *s, const char *text, struct fault *why)
{
	const char *equals = strrchr(text, '=');
	char *name;
	double weight;
	int rv;

	if (!equals || equals == text || weight_of(equals + 1, &weight) < 0)
		return fault_errno(why, EINVAL, "\"%s\" is not PROJECT=WEIGHT, as in vision=0.35", text);
	name = strndup(text, (size_t)(equals - text));
	if (!name)
		return fault_errno(why, ENOMEM, "out of memory");
	rv = add(s, name, FAIRSHARE_NO_PARENT, weight, why);
	free(name);
	return rv;
}

/* The columns that are wanted; a header may have more, as that of `budgetctl project list -o csv`. */
enum tree_column { TREE_NAME, TREE_PARENT, TREE_SHARE, TREE_COLUMNS };

static bool names_column(enum tree_column c, const char *word)
{
	static const char *const names[TREE_COLUMNS][2] = {[TREE_NAME] = {"project", "name"},
		[TREE_PARENT] = {"parent"},
		[TREE_SHARE] = {"share", "weight"}};

	for (int i = 0; i < 2; i++)
		if (names[c][i] && !strcasecmp(word, names[c][i]))
			return true;
	return false;
}

static int header_read(char *line, int at[TREE_COLUMNS], struct fault *why)
{
	char *word;

	at[TREE_NAME] = at[TREE_PARENT] = at[TREE_SHARE] = -1;
	for (int i = 0; (word = strsep(&line, ",")) != NULL; i++)
		for (int c = 0; c < TREE_COLUMNS; c++)
			if (names_column((enum tree_column)c, word))
				at[c] = i;
	if (at[TREE_NAME] < 0 || at[TREE_SHARE] < 0)
		return fault_errno(why, EINVAL, "a tree begins with its columns: project,parent,share");
	return 0;
}

static int line_add(struct shares *s, char *line, const int at[TREE_COLUMNS], int number, struct fault *why)
{
	const char *text[TREE_COLUMNS] = {"", "", ""};
	int parent = FAIRSHARE_NO_PARENT;
	double weight;
	char *word;

	for (int i = 0; (word = strsep(&line, ",")) != NULL; i++)
		for (int c = 0; c < TREE_COLUMNS; c++)
			if (at[c] == i)
				text[c] = word;
	if (!*text[TREE_NAME] || weight_of(text[TREE_SHARE], &weight) < 0)
		return fault_errno(why, EINVAL, "line %d of the tree has no project, or no share", number);
	if (*text[TREE_PARENT] && strcmp(text[TREE_PARENT], "-") != 0) {
		parent = trace_name(&s->names, text[TREE_PARENT], false);
		if (parent < 0)
			return fault_errno(why, EINVAL, "line %d of the tree: %s does not stand before %s",
				number, text[TREE_PARENT], text[TREE_NAME]);
	}
	return add(s, text[TREE_NAME], parent, weight, why);
}

int shares_read(struct shares *s, FILE *from, struct fault *why)
{
	int rv = 0, at[TREE_COLUMNS];
	bool header = false;
	char *line = NULL;
	size_t size = 0;

	for (int number = 1; rv == 0 && getline(&line, &size, from) > 0; number++) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		rv = header ? line_add(s, line, at, number, why) : header_read(line, at, why);
		header = true;
	}
	free(line);
	return rv;
}

/* The power of ten that makes whole numbers of all weights and keeps them below the largest one allowed. */
static double scale_of(const struct shares *s)
{
	double largest = 0, scale = 1;
	bool whole = false;

	for (size_t i = 0; i < s->count; i++)
		largest = fmax(largest, s->weights[i]);
	while (largest * scale > FAIRSHARE_SHARE_MAX)
		scale /= 10;
	while (!whole && largest > 0 && largest * scale * 10 <= FAIRSHARE_SHARE_MAX) {
		whole = true;
		for (size_t i = 0; i < s->count; i++)
			whole = whole && fabs(s->weights[i] * scale - round(s->weights[i] * scale)) < 1e-6;
		scale *= whole ? 1 : 10;
	}
	return scale;
}

static int make_nodes(struct shares *s, struct fault *why)
{
	double scale = scale_of(s);

	s->nodes = calloc(s->count + 1, sizeof(*s->nodes));
	if (!s->nodes)
		return fault_errno(why, ENOMEM, "out of memory");
	for (size_t i = 0; i < s->count; i++) {
		int64_t share = (int64_t)llround(s->weights[i] * scale);

		/* a weight above 0 stays above 0 */
		s->nodes[i] = (struct fairshare_node){.parent = s->parents[i],
			.share = share || s->weights[i] == 0 ? share : 1,
			.entitled = FAIRSHARE_BY_SHARE};
	}
	return 0;
}

int shares_finish(struct shares *s, const struct trace *t, struct fault *why)
{
	bool given = s->count > 0;

	s->leaf = calloc(t->projects.count + 1, sizeof(*s->leaf));
	if (!s->leaf)
		return fault_errno(why, ENOMEM, "out of memory");
	for (size_t i = 0; i < t->projects.count; i++) {
		const char *name = t->projects.name[i];

		if (!given && add(s, name, FAIRSHARE_NO_PARENT, 1, why) < 0)
			return -1;
		s->leaf[i] = trace_name(&s->names, name, false);
		if (s->leaf[i] < 0)
			return fault_errno(why, EINVAL,
				"project %s of the trace has no weight: add --share %s=WEIGHT (0: free tier "
				"only), "
				"or a line to the tree",
				name, name);
	}
	return make_nodes(s, why);
}

void shares_free(struct shares *s)
{
	for (size_t i = 0; i < s->names.count; i++)
		free(s->names.name[i]);
	free(s->names.name);
	free(s->names.hash);
	free(s->weights);
	free(s->parents);
	free(s->nodes);
	free(s->leaf);
	*s = (struct shares){0};
}
