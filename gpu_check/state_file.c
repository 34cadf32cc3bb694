/* SPDX-License-Identifier: GPL-2.0-or-later
 * state_file.c - lines of a state (state_file.h) */
#include "gpu_check/state_file.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gpu_check/trusted.h"
#include "lib/number.h"

#define FIRST_LINE "gpu-check-state 1"

enum { WORDS_MAX = 6, LANES_MAX = 32, GTS_MAX = 1000 };

/* --- writing ------------------------------------------------------------------------------------------ */

void state_link_kept(const struct node_link *l, bool under_load, struct link_width *out)
{
	*out = l->now;
	if (!under_load || !out->tenths_gts)
		out->tenths_gts = l->possible.tenths_gts;
}

static void link_write(FILE *to, const struct node_link *l, bool under_load)
{
	char text[PCI_TEXT_MAX], gts[16] = "-", lanes[16] = "-";
	struct link_width w;

	state_link_kept(l, under_load, &w);
	if (w.tenths_gts)
		snprintf(gts, sizeof(gts), "%d.%d", w.tenths_gts / 10, w.tenths_gts % 10);
	if (w.lanes)
		snprintf(lanes, sizeof(lanes), "%d", w.lanes);
	fprintf(to, "link %s %s %s\n", pci_text(&l->at, text), gts, lanes);
}

static void lines_write(FILE *to, const struct node_state *s, bool under_load)
{
	char text[PCI_TEXT_MAX];

	fprintf(to, "boot %s %" PRId64 "\n", s->boot[0] ? s->boot : "-", s->at_us);
	for (int i = 0; i < s->gpus; i++)
		fprintf(to, "gpu %s %04x:%04x\n", pci_text(&s->gpu[i].at, text), s->gpu[i].vendor,
			s->gpu[i].device);
	for (int i = 0; i < s->gpus; i++)
		if (s->gpu[i].health.memory_told)
			fprintf(to, "memory %s %" PRId64 "\n", pci_text(&s->gpu[i].at, text),
				s->gpu[i].health.uncorrected);
	for (int i = 0; i < s->links; i++)
		link_write(to, &s->link[i], under_load);
	for (int i = 0; i < s->errors; i++)
		fprintf(to, "errors %s %" PRId64 " %" PRId64 " %" PRId64 "\n",
			pci_text(&s->error[i].at, text), s->error[i].count[AER_CORRECTED],
			s->error[i].count[AER_NONFATAL], s->error[i].count[AER_FATAL]);
	for (int i = 0; i < s->facts; i++)
		fprintf(to, "version %s %s\n", s->fact[i].name, s->fact[i].value);
}

int state_write(int root, const char *path, const char *title, const struct node_state *s, bool under_load,
	struct fault *why)
{
	struct trusted_new *n;
	FILE *to = trusted_begin(root, path, &n, why);

	if (!to)
		return -1;
	fprintf(to, FIRST_LINE "\n# %s\n", title);
	lines_write(to, s, under_load);
	return trusted_commit(n, why);
}

/* --- reading ------------------------------------------------------------------------------------------ */

/* "32", "32.0" -> 320; "-" -> 0 */
static int gts_take(const char *text, int *out)
{
	const char *p = text;
	int64_t whole, tenth = 0;

	*out = 0;
	if (!strcmp(text, "-"))
		return 0;
	if (number_read(&p, &whole) < 0 || whole > GTS_MAX)
		return -1;
	if (*p == '.' && (p++, number_read(&p, &tenth) < 0 || tenth > 9))
		return -1;
	*out = (int)(whole * 10 + tenth);
	return *p ? -1 : 0;
}

static int lanes_take(const char *text, int *out)
{
	int64_t lanes = 0;

	if (strcmp(text, "-") && number_parse(text, LANES_MAX, &lanes) < 0)
		return -1;
	*out = (int)lanes;
	return 0;
}

static int boot_take(struct node_state *s, char **word)
{
	snprintf(s->boot, sizeof(s->boot), "%s", strcmp(word[0], "-") ? word[0] : "");
	return number_parse(word[1], INT64_MAX, &s->at_us);
}

static int gpu_take(struct node_state *s, char **word)
{
	struct node_card *g = &s->gpu[s->gpus];
	char end;

	if (s->gpus == NODE_GPUS_MAX || pci_parse(word[0], &g->at) < 0 ||
		word[1][strspn(word[1], "0123456789abcdef:")] || sscanf(word[1], "%4x:%4x%c", &g->vendor, &g->device, &end) != 2)
		return -1;
	s->gpus++;
	return 0;
}

static int memory_take(struct node_state *s, char **word)
{
	struct pci_address at;

	if (pci_parse(word[0], &at) < 0)
		return -1;
	for (int i = 0; i < s->gpus; i++)
		if (!pci_compare(&s->gpu[i].at, &at)) {
			s->gpu[i].health.memory_told = true;
			return number_parse(word[1], INT64_MAX, &s->gpu[i].health.uncorrected);
		}
	return -1;	/* a GPU stands before its memory */
}

static int link_take(struct node_state *s, char **word)
{
	struct node_link *l = &s->link[s->links];

	if (s->links == NODE_HOPS_MAX || pci_parse(word[0], &l->at) < 0 ||
		gts_take(word[1], &l->now.tenths_gts) < 0 || lanes_take(word[2], &l->now.lanes) < 0)
		return -1;
	l->possible = l->now;
	s->links++;
	return 0;
}

static int errors_take(struct node_state *s, char **word)
{
	struct node_errors *e = &s->error[s->errors];

	if (s->errors == NODE_HOPS_MAX || pci_parse(word[0], &e->at) < 0)
		return -1;
	for (int a = 0; a < AERS; a++) {
		e->told[a] = true;
		if (number_parse(word[1 + a], INT64_MAX, &e->count[a]) < 0)
			return -1;
	}
	s->errors++;
	return 0;
}

static int version_take(struct node_state *s, char **word)
{
	state_add_fact(s, word[0], word[1]);
	return 0;
}

static const struct {
	const char *name;
	int words;
	bool rest; /* the last word is the rest of the line */
	int (*take)(struct node_state *s, char **word);
} kinds[] = {
	{"boot", 2, false, boot_take},
	{"gpu", 2, false, gpu_take},
	{"memory", 2, false, memory_take},
	{"link", 3, false, link_take},
	{"errors", 4, false, errors_take},
	{"version", 2, true, version_take},
};

static int line_take(struct node_state *s, char *text)
{
	char *save = NULL, *word[WORDS_MAX] = {NULL}, *name = strtok_r(text, " ", &save);

	if (!name || name[0] == '#')
		return 0;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		if (strcmp(kinds[k].name, name))
			continue;
		for (int w = 0; w < kinds[k].words; w++)
			if (!(word[w] = strtok_r(
				      NULL, kinds[k].rest && w == kinds[k].words - 1 ? "" : " ", &save)))
				return -1;
		return strtok_r(NULL, " ", &save) ? -1 : kinds[k].take(s, word);
	}
	return -1;
}

/* The first line tells what it is: another file that is there by mistake is refused whole. */
static int lines_read(FILE *from, const char *path, struct node_state *out, struct fault *why)
{
	char *text = NULL;
	size_t room = 0;
	int number = 0, rv = 0;

	while (rv == 0 && getline(&text, &room, from) >= 0) {
		text[strcspn(text, "\n")] = '\0';
		if (++number == 1)
			rv = strcmp(text, FIRST_LINE) ? -1 : 0;
		else
			rv = line_take(out, text);
	}
	free(text);
	if (rv < 0 || number == 0)
		return fault_errno(why, EINVAL,
			"/%s:%d: this is no line of a baseline as `gpu-check --learn` writes it", path,
			number);
	return ferror(from) ? fault_set(why, "/%s: %s", path, strerror(errno)) : 0;
}

int state_read(int root, const char *path, struct node_state *out, struct fault *why)
{
	FILE *from = trusted_open(root, path, why);
	int rv;

	memset(out, 0, sizeof(*out));
	if (!from)
		return errno == ENOENT ? 0 : -1;
	rv = lines_read(from, path, out, why);
	fclose(from);
	return rv < 0 ? -1 : 1;
}
