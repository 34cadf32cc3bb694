/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_check.c - words of the proof before a task, its line for logs, and the page on which tasks share it */
#include "spank/check.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct check_site site_of(const char *const *words)
{
	struct check_site s;

	check_site_init(&s);
	for (; *words; words++)
		ck_assert_int_eq(check_site_argument(&s, *words, NULL), 1);
	return s;
}

START_TEST(words_of_plugstack_are_read_or_named)
{
	static const struct {
		const char *word, *text;
	} bad[] = { { "gpu_check_least=auto2", "gpu_check_least=auto2 is none of off" },
		{ "gpu_check_at=once", "none of auto, hook and program" }, { "gpu_check_policy=soft", "none of optional, required and strict" },
		{ "gpu_check_deadline=0", "is not 1 to 3600 seconds" },
		{ "gpu_check_deadline=2m", "is not 1 to 3600 seconds" },
		{ "gpu_backend=metal", "\"metal\" is none of auto, cuda" },
		{ "gpu_check_helper=x", "no path that begins with /" }, { "check_=/x", "a check is named" },
		{ "check_copy=/x", "and not as a level" }, { "check_To=/x", "small letters" },
		{ "check_torch=torch", "no path" }, { "gpu_check=", "1 to 127 characters" } };
	struct check_site s = site_of((const char *const[]){ "gpu_check=copy", "gpu_backend=hip",
		"gpu_check_least=enum", "gpu_check_policy=strict", "gpu_check_deadline=7",
		"gpu_check_helper=/h", "gpu_root=/r", "check_torch=/t", NULL });

	ck_assert(s.least == LEVEL_ENUM && s.policy == CHECK_STRICT && s.deadline_ms == 7000);
	ck_assert_str_eq(s.check[0].path, "/t");
	ck_assert_int_eq(check_site_argument(&s, "gpu_numa=auto", NULL), 0);
	ck_assert_int_eq(check_site_argument(&s, "gpu_check", NULL), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fault why = { "" };

		ck_assert_int_eq(check_site_argument(&s, bad[i].word, &why), -1);
		ck_assert_msg(strstr(why.text, bad[i].text), "%s: %s", bad[i].word, why.text);
	}
	for (int i = 1; i < SITE_CHECKS_MAX; i++)
		ck_assert_int_eq(check_site_argument(&s, "check_jax=/j", NULL), 1);
	ck_assert_int_eq(check_site_argument(&s, "check_jax=/j", NULL), -1);
}
END_TEST

/* The order of WORDS at a site: "level checks", or the complaint. */
static const char *order_text(const struct check_site *s, const char *words)
{
	static char text[sizeof(struct fault)];
	struct check_order o;
	struct fault why = { "" };

	if (check_order_make(s, words, NULL, &o, &why) < 0) {
		strcpy(text, why.text);
	} else {
		snprintf(text, sizeof(text), "%s", level_name[o.level]);
		for (int i = 0; i < o.checks; i++)
			snprintf(text + strlen(text), 40, " %s", o.check[i].name);
	}
	return text;
}

START_TEST(user_and_site_make_an_order)
{
	static const struct {
		const char *words, *order;
	} plain[] = { { NULL, "kernel" }, { "auto", "kernel" }, { "off", "off" }, { "torch", "kernel torch" },
		{ "enum,jax,torch", "enum jax torch" },
		{ "off,torch", "off torch" },
		{ "deep", "\"deep\" is none of auto, off, enum, copy, kernel, bandwidth, torch, jax" } },
	  other[] = { { NULL, "copy torch" }, { "jax", "copy jax" }, { "kernel", "kernel" },
		  { "off", "level off is less than what this site allows, enum" } };
	struct check_site s = site_of((const char *const[]){ "check_torch=/t", "check_jax=/j", NULL });

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		ck_assert_str_eq(order_text(&s, plain[i].words), plain[i].order);
	ck_assert_int_eq(check_site_argument(&s, "gpu_check=copy,torch", NULL), 1);
	ck_assert_int_eq(check_site_argument(&s, "gpu_check_least=enum", NULL), 1);
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		ck_assert_str_eq(order_text(&s, other[i].words), other[i].order);
	ck_assert_int_eq(check_site_argument(&s, "gpu_check=magic", NULL), 1);	/* told when it is used */
	ck_assert_str_eq(order_text(&s, NULL),
		"\"magic\" is none of auto, off, enum, copy, kernel, bandwidth, torch, jax");
}
END_TEST

/* --- the page ----------------------------------------------------------------------------------------- */

enum { TASKS = 12, SETS = 3 };

/* Tasks of SETS sets, as processes: how many of each set owned it, and what they were told. */
static void share(struct proofs *p, int task, int *owners)
{
	const char *const key[SETS] = { "0;0", "0;1", "1;" };
	struct proof_result r = { .outcome = OUTCOME_FAILED, .ends_task = true };
	bool own;
	int slot = proofs_claim(p, key[task % SETS], &own);

	if (slot < 0)
		_exit(1);
	snprintf(r.say, sizeof(r.say), "set %d", task % SETS);
	if (own) {
		__atomic_fetch_add(&owners[task % SETS], 1, __ATOMIC_SEQ_CST);
		usleep(20000);
		proofs_put(p, slot, &r);
	}
	memset(&r, 0, sizeof(r));
	if (proofs_wait(p, slot, 60000, &r) < 0 || r.say[4] != '0' + task % SETS || !r.ends_task)
		_exit(2);
	_exit(0);
}

START_TEST(tasks_with_the_same_gpus_share_one_proof)
{
	struct proofs *p = proofs_new(TASKS, "x", 2);
	int *owners = mmap(NULL, SETS * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[TASKS];

	ck_assert(p && owners != MAP_FAILED);
	for (int t = 0; t < TASKS; t++) {
		pid[t] = fork();
		if (pid[t] == 0)
			share(p, t, owners);
	}
	for (int t = 0, status; t < TASKS; t++)
		ck_assert(waitpid(pid[t], &status, 0) == pid[t] && status == 0);
	for (int s = 0; s < SETS; s++)
		ck_assert_int_eq(owners[s], 1);
	proofs_free(p);
}
END_TEST

START_TEST(owner_that_dies_leaves_a_deadline)
{
	struct proofs *p = proofs_new(1, "", 0);
	struct proof_result r;
	char key[PROOF_KEY_MAX + 1];
	bool own;

	ck_assert_int_eq(proofs_claim(p, "a", &own), 0);
	ck_assert(own);
	ck_assert_int_eq(proofs_claim(p, "a", &own), 0);
	ck_assert(!own);
	ck_assert(proofs_wait(p, 0, 30, &r) == -1 && errno == ETIMEDOUT);
	ck_assert(proofs_claim(p, "b", &own) == -1 && errno == ENOSPC);
	memset(key, 'k', sizeof(key));
	key[PROOF_KEY_MAX] = '\0';
	ck_assert(proofs_claim(p, key, &own) == -1 && errno == ENAMETOOLONG);
	proofs_free(p);
	ck_assert(proofs_new(0, "", 0) == NULL && errno == EINVAL);
}
END_TEST

START_TEST(page_is_found_again_by_its_file_and_no_other_is)
{
	struct proofs *p = proofs_new(2, "order", 6), *again;
	struct proof_result r;
	char path[CHECK_PROGRAM_MAX];
	int none = memfd_create("none", 0);
	bool own;

	ck_assert(p && strcmp(check_program(&(struct check_site){.helper = "/a/b/helper"}, path),
			       "/a/b/gpu-check-task") == 0);
	ck_assert(ftruncate(proofs_fd(p), 16) == -1 && errno == EPERM);
	again = proofs_open(dup(proofs_fd(p)), 6);
	ck_assert_ptr_nonnull(again);
	ck_assert_str_eq(proofs_extra(again), "order");
	ck_assert_int_eq(proofs_claim(p, "a", &own), 0);
	ck_assert(proofs_claim(again, "a", &own) == 0 && !own);
	ck_assert(!proofs_put_already(p, 0, &r));
	r = (struct proof_result){ .outcome = (enum outcome)99, .json = "{\n\033" };
	proofs_put(again, 0, &r);
	proofs_free(again);
	ck_assert(proofs_put_already(p, 0, &r) && !proofs_put_already(p, 1, &r));
	ck_assert_str_eq(r.json, "{??");
	ck_assert_int_eq(r.outcome, OUTCOME_FAILED);
	ck_assert(proofs_open(dup(proofs_fd(p)), 5) == NULL && errno == EINVAL);
	ck_assert(proofs_open(dup(none), 6) == NULL && errno == EINVAL);
	ck_assert(ftruncate(none, 65536) == 0 && proofs_open(none, 6) == NULL && errno == EINVAL);
	proofs_free(p);
}
END_TEST

/* Does a task with this environment prove for itself? */
static bool proves(struct proofs *p, char *const *environment)
{
	struct proof_result r;
	bool own = false;

	check_task(p, 0, environment, &r, &own);
	return own;
}

/* With ConstrainDevices each of these tasks has CUDA_VISIBLE_DEVICES=0, and it is another GPU in each. */
START_TEST(same_variables_and_other_devices_are_another_set)
{
	char root[] = "/tmp/gpb-check-XXXXXX", word[64], first[64], second[64];
	char *const environment[] = { (char *)"SLURM_STEP_GPUS=0", (char *)"CUDA_VISIBLE_DEVICES=0", NULL };
	struct check_order o;
	struct check_site s;
	struct proofs *p;

	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(word, sizeof(word), "gpu_root=%s", root);
	snprintf(first, sizeof(first), "%s/dev", root);
	ck_assert_int_eq(mkdir(first, 0755), 0);
	snprintf(first, sizeof(first), "%s/dev/nvidia0", root);
	snprintf(second, sizeof(second), "%s/dev/nvidia1", root);
	ck_assert_int_eq(mknod(first, S_IFREG | 0600, 0), 0);
	s = site_of((const char *const[]){ word, "gpu_backend=cuda", "gpu_check_helper=/none/helper", NULL });
	memset(&o, 0, sizeof(o));
	ck_assert_int_eq(check_order_make(&s, NULL, NULL, &o, NULL), 0);
	p = proofs_new(3, &o, sizeof(o));
	ck_assert(proves(p, environment) && !proves(p, environment));
	ck_assert_int_eq(rename(first, second), 0);
	ck_assert_msg(proves(p, environment), "the second GPU was taken for the first, and not proven");
	ck_assert(!proves(p, environment));
	proofs_free(p);
	unlink(second);
	*strrchr(second, '/') = '\0';
	rmdir(second);
	rmdir(root);
}
END_TEST

/* What becomes of a task whose GPUs could not be looked at, and of one whose check fails. */
START_TEST(site_says_which_tasks_must_not_start)
{
	static const struct {
		const char *policy, *words, *helper;
		int rv;
	} rows[] = { { "gpu_check_policy=optional", "kernel", "gpu_check_helper=/none/helper", 0 },
		{ "gpu_check_policy=required", "kernel", "gpu_check_helper=/none/helper", 0 },
		{ "gpu_check_policy=strict", "kernel", "gpu_check_helper=/none/helper", -1 },
		{ "gpu_check_policy=optional", "off,no", "check_no=/bin/false", 0 },
		{ "gpu_check_policy=required", "off,no", "check_no=/bin/false", -1 },
		{ "gpu_check_policy=strict", "off,no", "check_no=/bin/false", -1 } };
	char *const environment[] = { (char *)"SLURM_STEP_GPUS=0", NULL };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct check_site s = site_of(
			(const char *const[]){ rows[i].policy, rows[i].helper, "gpu_backend=cuda", NULL });
		struct check_order o;
		struct proof_result r;
		struct proofs *p;
		bool own;

		memset(&o, 0, sizeof(o));
		ck_assert_int_eq(check_order_make(&s, rows[i].words, NULL, &o, NULL), 0);
		p = proofs_new(1, &o, sizeof(o));
		ck_assert_msg(check_task(p, 0, environment, &r, &own) == rows[i].rv, "%s, %s: %s",
			rows[i].policy, rows[i].helper, r.say);
		ck_assert_msg(r.say[0], "%s, %s: nothing is told", rows[i].policy, rows[i].helper);
		proofs_free(p);
	}
}
END_TEST

/* --- the line of JSON --------------------------------------------------------------------------------- */

static const char *member(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	return json_object_object_get_ex(o, key, &value) ? json_object_get_string(value) : "(none)";
}

START_TEST(line_for_logs_is_json_whatever_is_in_it)
{
	struct check_order o = { .level = LEVEL_KERNEL, .step = "12.0" };
	struct proof p = { .outcome = OUTCOME_FAILED, .us = 420000, .backends = 2 };
	char buf[PROOF_JSON_MAX];
	struct json_object *j;

	p.of = calloc(2, sizeof(*p.of));
	strcpy(p.of[0].name, "hip");
	strcpy(p.of[1].name, "cuda");
	report_init(&p.of[1].report);
	p.of[1].verdict = (struct verdict){ .outcome = OUTCOME_FAILED, .cause = CAUSE_CRASH };
	strcpy(p.of[1].verdict.evidence, "it said \"\\x\"\n\033[31m");
	ck_assert(check_json_is_of(check_json(&o, 3, &p, buf), o.step));
	j = json_tokener_parse(buf);
	ck_assert_str_eq(member(j, "evidence"), "it said \"\\x\"??[31m");
	ck_assert_str_eq(member(j, "gpu_check"), "fail");
	ck_assert_str_eq(member(j, "of"), "cuda");
	ck_assert_str_eq(member(j, "cause"), "crash");
	ck_assert_str_eq(member(j, "hip"), "ok");
	ck_assert_str_eq(member(j, "task"), "3");
	ck_assert_str_eq(member(j, "seconds"), "0.420");
	json_object_put(j);
	memset(p.of[1].verdict.evidence, '"', sizeof(p.of[1].verdict.evidence) - 1);
	memset(p.of[1].report.library, '\\', sizeof(p.of[1].report.library) - 1);
	ck_assert(check_json_is_of(check_json(&o, 3, &p, buf), o.step));
	j = json_tokener_parse(buf);
	ck_assert_str_eq(member(j, "of"), "cuda");
	json_object_put(j);
	free(p.of);
	p = (struct proof){ .outcome = OUTCOME_UNCHECKED, .why_nothing = "the level is off" };
	ck_assert(check_json_is_of(check_json(&o, 0, &p, buf), o.step));
	j = json_tokener_parse(buf);
	ck_assert_str_eq(member(j, "evidence"), "the level is off");
	json_object_put(j);
}
END_TEST

/* What root logs under a step's name has to be about that step: the page can be written by its tasks. */
START_TEST(line_of_another_step_is_not_taken_for_this_ones)
{
	static const char *const good[] = { "{\"gpu_check\":\"ok\",\"step\":\"7.0\",\"task\":0}",
		"{\"gpu_check\":\"fail\",\"step\":\"7.0\",\"task\":12,\"seconds\":0.250,\"evidence\":\"a \\\"b\\\\\"}" };
	static const char *const bad[] = { "", "{", "ok", "{\"gpu_check\":\"ok\",\"step\":\"8.0\",\"task\":0}",
		"{\"gpu_check\":\"well\",\"step\":\"7.0\",\"task\":0}",
		"{\"gpu_check\":\"ok\",\"step\":\"7.0\",\"task\":0} {}",
		"{\"gpu_check\":\"ok\",\"step\":\"7.0\",\"task\":}",
		"{\"gpu_check\":\"ok\",\"step\":\"7.0\",\"task\":0,\"step\":\"8.0\"}",
		"{\"gpu_check\":\"ok\",\"step\":\"7.0\",\"task\":0,\"st\\ep\":\"8.0\"}",
		"{\"gpu_check\":\"ok\",\"step\":\"7.0\",\"task\":0,\"of\":\"cuda}",
		"{\"gpu_check\":\"ok\",\"step\":\"7.0\",\"task\":0,\"of\":\"\\",
		"{\"gpu_check\":\"ok\",\"step\":\"7.0\",\"task\":0,\"of\":true}",
		"{\"gpu_check\":\"ok\",\"step\":\"7.0\",\"task\":0,\"of\"}" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(check_json_is_of(good[i], "7.0"), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!check_json_is_of(bad[i], "7.0"), "%s", bad[i]);
}
END_TEST

Suite *check_suite(void)
{
	Suite *s = suite_create("check");
	TCase *t = tcase_create("words");

	tcase_add_test(t, words_of_plugstack_are_read_or_named);
	tcase_add_test(t, user_and_site_make_an_order);
	suite_add_tcase(s, t);
	t = tcase_create("page");
	tcase_add_test(t, tasks_with_the_same_gpus_share_one_proof);
	tcase_add_test(t, owner_that_dies_leaves_a_deadline);
	tcase_add_test(t, same_variables_and_other_devices_are_another_set);
	tcase_add_test(t, site_says_which_tasks_must_not_start);
	tcase_add_test(t, page_is_found_again_by_its_file_and_no_other_is);
	suite_add_tcase(s, t);
	t = tcase_create("log");
	tcase_add_test(t, line_for_logs_is_json_whatever_is_in_it);
	tcase_add_test(t, line_of_another_step_is_not_taken_for_this_ones);
	suite_add_tcase(s, t);
	return s;
}
