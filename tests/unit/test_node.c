/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_node.c - the rules about a node's evidence, the kernel's log by kinds, and the files that root trusts
 */
#include "gpu_check/kernel_log.h"
#include "gpu_check/node_policy.h"
#include "gpu_check/node_rules.h"
#include "gpu_check/state_file.h"
#include "tests/unit/cases.h"
#include "tests/unit/machine_tree.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct case_table lines, links, errors;

static struct pci_address address(const char *text)
{
	struct pci_address a;

	ck_assert_int_eq(pci_parse(text, &a), 0);
	return a;
}

/* What is found of a kind, as the tables write it. */
static const char *found(const struct findings *f, enum evidence kind)
{
	for (int i = 0; i < f->count; i++)
		if (f->row[i].kind == kind)
			return policy_name[f->row[i].at_most];
	return "no";
}

static void ck_found(const struct case_row *c, const struct findings *f, enum evidence kind, int column)
{
	ck_assert_msg(!strcmp(found(f, kind), c->col[column]), "%s: %s is %s, the table says %s", c->col[0],
		evidence_table[kind].name, found(f, kind), c->col[column]);
}

/* --- links -------------------------------------------------------------------------------------------- */

static struct link_width width(const char *text)
{
	struct link_width w = {0};
	int whole = 0, tenth = 0;
	const char *lanes = strchr(text, ' ');

	if (sscanf(text, "%d.%d", &whole, &tenth) == 2)
		w.tenths_gts = whole * 10 + tenth;
	w.lanes = lanes ? atoi(lanes) : 0;
	return w;
}

START_TEST(link_is_judged_as_the_table_says)
{
	const struct case_row *c = &links.row[_i];
	struct node_state *now = calloc(1, sizeof(*now)), *baseline = calloc(1, sizeof(*baseline));
	struct node_views v = {.now = now, .baseline = baseline, .as_root = true};
	struct findings f = {0};

	ck_assert_ptr_nonnull(now);
	ck_assert_ptr_nonnull(baseline);
	now->link[now->links++] = (struct node_link){.at = address("0000:c1:00.0"),
		.above = address("0000:c0:01.1"),
		.of = address("0000:c1:00.0"),
		.now = width(c->col[2]),
		.possible = width(c->col[3]),
		.idles = !strcmp(c->col[4], "yes"),
		.works = !strcmp(c->col[5], "yes")};
	if (!case_none(c, 1))
		baseline->link[baseline->links++] = (struct node_link){
			.at = address("0000:c1:00.0"), .now = width(c->col[1]), .possible = width(c->col[1])};
	rule_links(&v, &f);
	ck_found(c, &f, EVIDENCE_LINK_WIDTH, 6);
	ck_found(c, &f, EVIDENCE_LINK_SPEED, 7);
	free(now);
	free(baseline);
}
END_TEST

/* --- counters ----------------------------------------------------------------------------------------- */

static void errors_fill(struct node_state *s, const char *text)
{
	struct node_errors *e = &s->error[s->errors];
	long n[AERS];

	if (!strcmp(text, "-"))
		return;
	ck_assert_int_eq(sscanf(text, "%ld %ld %ld", &n[0], &n[1], &n[2]), 3);
	*e = (struct node_errors){
		.at = address("0000:c1:00.0"), .told = {true, true, true}, .count = {n[0], n[1], n[2]}};
	s->errors++;
}

START_TEST(errors_are_judged_as_the_table_says)
{
	const struct case_row *c = &errors.row[_i];
	struct node_state *s = calloc(3, sizeof(*s));
	struct node_views v = {.now = &s[0],
		.baseline = case_none(c, 1) ? NULL : &s[1],
		.mark = case_none(c, 2) ? NULL : &s[2],
		.as_root = true};
	struct findings f = {0};
	bool ours = !strcmp(c->col[3], "yes");

	ck_assert_ptr_nonnull(s);
	errors_fill(&s[0], c->col[5]);
	errors_fill(&s[1], c->col[1]);
	errors_fill(&s[2], c->col[2]);
	strcpy(s[0].boot, "this-boot");
	strcpy(s[2].boot, ours ? "this-boot" : "another");
	s[2].at_us = ours ? 1000000000 : 5;
	s[0].at_us = (ours ? s[2].at_us : 0) + case_number(c, 4) * 1000000;
	rule_errors(&v, 60, &f);
	ck_found(c, &f, EVIDENCE_AER_CORRECTED, 6);
	ck_found(c, &f, EVIDENCE_AER_NONFATAL, 7);
	ck_found(c, &f, EVIDENCE_AER_FATAL, 8);
	free(s);
}
END_TEST

/* --- the kernel's log --------------------------------------------------------------------------------- */

static struct node_state *node_with_a_gpu(void)
{
	struct node_state *s = calloc(1, sizeof(*s));

	ck_assert_ptr_nonnull(s);
	s->gpu[s->gpus++] = (struct node_card){ .at = address("0000:c1:00.0"), .vendor = PCI_NVIDIA,
		.device = 0x2330 };
	s->error[s->errors++] = (struct node_errors){.at = address("0000:c0:01.1")};
	return s;
}

START_TEST(line_is_the_evidence_that_the_table_says)
{
	const struct case_row *c = &lines.row[_i];
	struct node_state *s = node_with_a_gpu();
	char at[PCI_TEXT_MAX];
	struct log_hit hit;
	bool is = log_classify(NULL, s, c->col[0], &hit);

	ck_assert_msg(
		is == !case_none(c, 1), "%s: %s", c->col[0], is ? evidence_table[hit.kind].name : "nothing");
	if (is) {
		ck_assert_str_eq(evidence_table[hit.kind].name, c->col[1]);
		ck_assert_msg(hit.bus_id == !case_none(c, 2), "%s: bus id", c->col[0]);
		if (hit.bus_id)
			ck_assert_str_eq(pci_text(&hit.at, at), c->col[2]);
		ck_assert_int_eq(hit.xid, case_none(c, 3) ? -1 : (int)case_number(c, 3));
	}
	free(s);
}
END_TEST

START_TEST(records_are_read_as_the_kernel_and_as_dmesg_write_them)
{
	static const struct {
		const char *line, *text;
		int64_t at_us;
	} cases[] = {
		{"6,1234,5678901,-;text; and more\n", "text; and more", 5678901},
		{"3,1,0,c,caller=T1;x", "x", 0},
		{"[    5.678901] text\n", "text", 5678901},
		{"[    5.678901][ T1234] text", "text", 5678901},
		{"[    5.678901] [    C17] text", "text", 5678901},
		{"[    5.678901] [drm] text", "[drm] text", 5678901},
		{"<6>[12345.000001] text", "text", 12345000001},
		{"12,1235,5678902,-;what a program wrote", NULL, 0},
		{"<30>[    5.678901] what a daemon wrote", NULL, 0},
		{" SUBSYSTEM=pci\n", NULL, 0},
		{"text", NULL, 0},
		{"", NULL, 0},
		{"6,1,2", NULL, 0},
		{"[ no time ] text", NULL, 0},
		{"[ 9223372036855.000001] text", NULL, 0},
		{"[ 99999999999999999999.000001] text", NULL, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[128];
		int64_t at_us = -1;
		const char *text;

		strcpy(line, cases[i].line);
		text = log_record(line, &at_us);
		ck_assert_msg(!text == !cases[i].text, "%s", cases[i].line);
		if (!text)
			continue;
		ck_assert_str_eq(text, cases[i].text);
		ck_assert_int_eq(at_us, cases[i].at_us);
	}
}
END_TEST

START_TEST(lines_of_one_kind_about_one_device_are_one_finding)
{
	struct node_state *s = node_with_a_gpu();
	struct log_groups *g = calloc(1, sizeof(*g));
	struct findings f = {0};

	ck_assert_ptr_nonnull(g);
	g->node = s;
	for (int i = 0; i < 1000; i++)
		log_groups_take("NVRM: Xid (PCI:0000:c1:00): 63, \a\033[31m row remapping event", i, g);
	log_groups_take("NVRM: Xid (PCI:0000:c1:00): 94, contained", 5, g);
	log_groups_tell(g, &f);
	ck_assert_int_eq(f.count, 1); /* both are errors that the driver reported */
	ck_assert_ptr_nonnull(strstr(f.row[0].text, "several times"));
	ck_assert_ptr_nonnull(strstr(f.row[0].text, "): 94"));
	ck_assert_ptr_null(strchr(f.row[0].text, '\033'));
	free(g);
	free(s);
}
END_TEST

/* --- findings ----------------------------------------------------------------------------------------- */

START_TEST(only_root_drains_and_what_is_off_is_not_told)
{
	struct findings f = {0};
	struct node_policy *p = calloc(1, sizeof(*p));
	char reason[FINDING_REASON_MAX], line[FINDING_LINE_MAX];

	ck_assert_ptr_nonnull(p);
	node_policy_preset(p);
	p->of[EVIDENCE_IMAGE] = POLICY_OFF;
	findings_add(&f, EVIDENCE_IMAGE, POLICY_DRAIN, "kernel", "is another");
	findings_add(&f, EVIDENCE_LINK_SPEED, POLICY_DRAIN, "0000:c1:00.0", "is slow");
	findings_add(&f, EVIDENCE_LINK_WIDTH, POLICY_DRAIN, "0000:c1:00.0", "is narrow");
	findings_add(&f, EVIDENCE_GPU_LOST, POLICY_WARN, "0000:c2:00.0", "perhaps");
	ck_assert_int_eq(findings_judge(&f, p->of, false), POLICY_FAIL);
	ck_assert_str_eq(findings_reason(&f, reason), "");
	ck_assert_int_eq(findings_judge(&f, p->of, true), POLICY_DRAIN);
	ck_assert_int_eq(f.count, 3);
	ck_assert_str_eq(
		findings_reason(&f, reason), "gpubudget: gpu-check: link-width 0000:c1:00.0: is narrow");
	ck_assert_ptr_nonnull(
		strstr(finding_line(&f.row[0], line), "DRAIN link-width 0000:c1:00.0: is narrow. Cause: "));
	ck_assert_int_eq(f.row[2].policy, POLICY_WARN);
	free(p);
}
END_TEST

/* --- files -------------------------------------------------------------------------------------------- */

struct tree {
	char dir[MACHINE_DIR_MAX];
	int root;
};

static void tree_begin(struct tree *t)
{
	t->root = open(machine_temporary(NULL, MACHINE_DEVICES, t->dir), O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(t->root, 0);
}

static void tree_end(struct tree *t)
{
	close(t->root);
	machine_remove(t->dir);
}

START_TEST(state_comes_back_from_its_file)
{
	struct node_state *s = node_with_a_gpu(), *back = calloc(1, sizeof(*back));
	struct fault why = {""};
	struct tree t;

	tree_begin(&t);
	s->link[s->links++] =
		(struct node_link){.at = address("0000:c1:00.0"), .now = {25, 16}, .possible = {320, 16}};
	s->error[0].count[AER_FATAL] = 7;
	state_add_fact(s, "kernel", "6.1.0 with\nwords");
	strcpy(s->boot, "this-boot");
	s->at_us = 42;
	ck_assert_int_eq(state_read(t.root, "a/b/state", back, &why), 0);
	ck_assert_int_eq(state_write(t.root, "a/b/state", "title", s, false, &why), 0);
	ck_assert_int_eq(state_write(t.root, "a/b/state", "title", s, false, &why), 0);
	ck_assert_msg(state_read(t.root, "a/b/state", back, &why) == 1, "%s", why.text);
	ck_assert_int_eq(back->link[0].now.tenths_gts, 320); /* idle tells nothing of the speed */
	ck_assert_int_eq(back->link[0].now.lanes, 16);
	ck_assert_int_eq(back->error[0].count[AER_FATAL], 7);
	ck_assert_int_eq(back->gpu[0].device, 0x2330);
	ck_assert_str_eq(state_fact(back, "kernel"), "6.1.0 with words");
	ck_assert_str_eq(back->boot, "this-boot");
	ck_assert_int_eq(back->at_us, 42);
	ck_assert_int_eq(state_write(t.root, "a/b/state", "title", s, true, &why), 0);
	ck_assert_int_eq(state_read(t.root, "a/b/state", back, &why), 1);
	ck_assert_int_eq(back->link[0].now.tenths_gts, 25);
	tree_end(&t);
	free(s);
	free(back);
}
END_TEST

START_TEST(file_that_is_no_baseline_is_refused)
{
	static const char *const bad[] = {"gpu-check-state 2", "gpu-check-state 1\nlink 0000:c1:00.0 32.0",
		"gpu-check-state 1\nlink 0000:c1:00.0 32.0 16 16", "gpu-check-state 1\nlink here 32.0 16",
		"gpu-check-state 1\nerrors 0000:c1:00.0 1 2", "gpu-check-state 1\ngpu 0000:c1:00.0 10de",
		"gpu-check-state 1\ngpu 0000:c1:00.0 10de:-330",
		"gpu-check-state 1\nlink 0000:c1:00.0 32.15 16", "gpu-check-state 1\nlink 0000:c1:00.0 32 64",
		"gpu-check-state 1\nversion kernel", "gpu-check-state 1\nsomething else",
		"gpu-check-state 1\nboot x y"};
	struct node_state *s = calloc(1, sizeof(*s));
	struct tree t;

	ck_assert_ptr_nonnull(s);
	tree_begin(&t);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fault why = {""};

		machine_put(t.dir, bad[i], "state");
		ck_assert_msg(state_read(t.root, "state", s, &why) == -1 && errno == EINVAL, "%s", bad[i]);
		ck_assert_msg(strstr(why.text, "state:") != NULL, "%s", why.text);
	}
	tree_end(&t);
	free(s);
}
END_TEST

START_TEST(file_that_others_can_write_is_not_trusted)
{
	struct node_policy *p = calloc(1, sizeof(*p));
	struct fault why = {""};
	char path[MACHINE_DIR_MAX + 16];
	struct tree t;

	ck_assert_ptr_nonnull(p);
	tree_begin(&t);
	machine_put(t.dir, "link-width off", "policy");
	snprintf(path, sizeof(path), "%s/policy", t.dir);
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert_int_eq(node_policy_read(t.root, "policy", p, &why), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(p->of[EVIDENCE_LINK_WIDTH], POLICY_DRAIN);
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_int_eq(node_policy_read(t.root, "policy", p, NULL), 0);
	ck_assert_int_eq(p->of[EVIDENCE_LINK_WIDTH], POLICY_OFF);
	tree_end(&t);
	free(p);
}
END_TEST

START_TEST(site_says_which_lines_are_what)
{
	struct node_policy *p = calloc(1, sizeof(*p));
	struct node_state *s = node_with_a_gpu();
	struct fault why = {""};
	struct log_hit hit;
	struct tree t;

	ck_assert_ptr_nonnull(p);
	tree_begin(&t);
	machine_put(t.dir,
		"# ours\n\nxid gpu-memory 63 92\nxid nothing 79\nlog gpu-error *mydriver* broke *\n"
		"corrected-per-hour 5",
		"policy");
	ck_assert_msg(node_policy_read(t.root, "policy", p, &why) == 0, "%s", why.text);
	ck_assert_int_eq(p->corrected_per_hour, 5);
	ck_assert(log_classify(&p->log, s, "NVRM: Xid (PCI:0000:c1:00): 92, x", &hit));
	ck_assert_int_eq(hit.kind, EVIDENCE_GPU_MEMORY);
	ck_assert(!log_classify(&p->log, s, "NVRM: Xid (PCI:0000:c1:00): 79, x", &hit));
	ck_assert(log_classify(&p->log, s, "mydriver 0000:c1:00.0 broke down", &hit));
	ck_assert_int_eq(hit.kind, EVIDENCE_GPU_ERROR);
	tree_end(&t);
	free(p);
	free(s);
}
END_TEST

/* Of 129 Xids in three lines the last is one too many; a pattern of 160 characters is one character too long. */
START_TEST(more_than_there_is_room_for_is_told_as_that)
{
	struct node_policy *p = calloc(1, sizeof(*p));
	char text[2048] = "", pattern[256];
	struct fault why = {""};
	struct tree t;

	ck_assert_ptr_nonnull(p);
	tree_begin(&t);
	for (int i = 0; i <= LOG_ROWS_MAX; i++)
		sprintf(text + strlen(text), "%s%d", i % 43 ? " " : i ? "\nxid gpu-reset " : "xid gpu-reset ", i);
	machine_put(t.dir, text, "policy");
	ck_assert_int_eq(node_policy_read(t.root, "policy", p, &why), -1);
	ck_assert_msg(strstr(why.text, "/policy:3: this file may name 128 Xids and patterns") == why.text, "%s", why.text);
	why.text[0] = '\0';
	snprintf(pattern, sizeof(pattern), "log gpu-error %0160d", 0);
	machine_put(t.dir, pattern, "policy");
	ck_assert_int_eq(node_policy_read(t.root, "policy", p, &why), -1);
	ck_assert_str_eq(why.text, "/policy:1: a pattern has at most 159 characters");
	pattern[strlen(pattern) - 1] = '\0';
	machine_put(t.dir, pattern, "policy");
	ck_assert_msg(node_policy_read(t.root, "policy", p, &why) == 0, "%s", why.text);
	tree_end(&t);
	free(p);
}
END_TEST

START_TEST(bad_line_of_the_site_is_named)
{
	static const char *const bad[] = {"link-width", "link-width no", "link-width drain drain",
		"links drain", "xid gpu-reset", "xid nobody 79", "xid gpu-reset many", "log gpu-error",
		"log what *x*", "corrected-per-hour", "corrected-per-hour few"};
	struct node_policy *p = calloc(1, sizeof(*p));
	struct tree t;

	ck_assert_ptr_nonnull(p);
	tree_begin(&t);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fault why = {""};

		machine_put(t.dir, bad[i], "policy");
		ck_assert_msg(
			node_policy_read(t.root, "policy", p, &why) == -1 && errno == EINVAL, "%s", bad[i]);
		ck_assert_msg(strstr(why.text, "/policy:1: a line is") == why.text, "%s", why.text);
	}
	tree_end(&t);
	free(p);
}
END_TEST

Suite *node_suite(void)
{
	TCase *t = tcase_create("node");
	Suite *s = suite_create("node");

	lines = cases_load("kernel_log.cases", 4);
	links = cases_load("node_links.cases", 8);
	errors = cases_load("node_errors.cases", 9);
	cases_check_number(&lines, 3);
	cases_check_number(&errors, 4);
	tcase_add_loop_test(t, line_is_the_evidence_that_the_table_says, 0, lines.rows);
	tcase_add_loop_test(t, link_is_judged_as_the_table_says, 0, links.rows);
	tcase_add_loop_test(t, errors_are_judged_as_the_table_says, 0, errors.rows);
	tcase_add_test(t, records_are_read_as_the_kernel_and_as_dmesg_write_them);
	tcase_add_test(t, lines_of_one_kind_about_one_device_are_one_finding);
	tcase_add_test(t, only_root_drains_and_what_is_off_is_not_told);
	tcase_add_test(t, state_comes_back_from_its_file);
	tcase_add_test(t, file_that_is_no_baseline_is_refused);
	tcase_add_test(t, file_that_others_can_write_is_not_trusted);
	tcase_add_test(t, site_says_which_lines_are_what);
	tcase_add_test(t, bad_line_of_the_site_is_named);
	tcase_add_test(t, more_than_there_is_room_for_is_told_as_that);
	suite_add_tcase(s, t);
	return s;
}
