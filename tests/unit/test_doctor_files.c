/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_doctor_files.c - what doctor reads and runs: plugstack.conf, plugins, rights of files, programs */
#include "doctor/plugin_file.h"
#include "doctor/plugstack.h"
#include "doctor/program.h"
#include "doctor/rights.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/gpubudget-unit-XXXXXX";
static char path[256];

static void folder_make(void)
{
	strcpy(folder, "/tmp/gpubudget-unit-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void folder_remove(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void file_write(const char *name, const void *data, size_t size)
{
	FILE *f = fopen(in_folder(name), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, size, f), size);
	ck_assert_int_eq(fclose(f), 0);
}

static void text_write(const char *name, const char *text)
{
	file_write(name, text, strlen(text));
}

/* --- plugstack.conf --------------------------------------------------------------------------------- */

static const struct {
	const char *file, *text, *plugin, *limit;	/* text NULL: not found */
} stacks[] = {
	{"", NULL, NULL, NULL}, {"# required gpubudget.so\n", NULL, NULL, NULL},
	{"required other.so\nrequired /x/notgpubudget.so\n", NULL, NULL, NULL},
	{"required\n", NULL, NULL, NULL},
	{"optional gpubudget.so\n", "optional gpubudget.so", "gpubudget.so", NULL},
	{"\t required /x/gpubudget.so  max_min_runtime=4h # ours\n",
		"required /x/gpubudget.so  max_min_runtime=4h", "/x/gpubudget.so", "4h"},
	{"required gpubudget.so", "required gpubudget.so", "gpubudget.so", NULL},
	{"include nothing/*.conf\ninclude other\n", "required gpubudget.so", "gpubudget.so", NULL},
	{"include stack\n", NULL, NULL, NULL}, /* itself */
	{"include st*\ninclude st*\ninclude st*\ninclude st*\n", NULL, NULL, NULL}, /* and that 4^8 times */
};

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

START_TEST(our_line_of_plugstack_is_found)
{
	struct plugstack_line line;

	text_write("other", "required gpubudget.so\n");
	text_write("stack", stacks[_i].file);
	ck_assert_int_eq(plugstack_find(in_folder("stack"), &line, NULL), 0);
	ck_assert_msg(same(line.text, stacks[_i].text), "found \"%s\" in \"%s\"", line.text ? line.text : "-",
		stacks[_i].file);
	ck_assert(same(line.plugin, stacks[_i].plugin) && same(line.limit, stacks[_i].limit));
	plugstack_line_free(&line);
}
END_TEST

START_TEST(a_plugstack_that_is_not_there_is_named)
{
	struct plugstack_line line;
	struct fault why = { "" };

	ck_assert_int_eq(plugstack_find(in_folder("none"), &line, &why), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_msg(strstr(why.text, "/none: No such file"), "%s", why.text);
}
END_TEST

/* --- plugins ---------------------------------------------------------------------------------------- */

START_TEST(a_file_that_is_no_plugin_has_no_version)
{
	text_write("text", "plugin_version");
	text_write("empty", "");
	ck_assert_uint_eq(plugin_file_version(in_folder("text")), 0);
	ck_assert_uint_eq(plugin_file_version(in_folder("empty")), 0);
	ck_assert_uint_eq(plugin_file_version(in_folder("none")), 0);
	ck_assert_uint_eq(plugin_file_version(folder), 0);
	ck_assert_uint_eq(plugin_file_version("/proc/self/exe"), 0);
}
END_TEST

/* The loader's own library is a large ELF file; a cut or spoilt copy must be read without harm. */
START_TEST(a_broken_file_does_no_harm)
{
	size_t size = 20000;
	unsigned char *data = malloc(size);
	FILE *f = fopen("/proc/self/exe", "r");
	uint32_t state = 7;

	ck_assert(data && f);
	size = fread(data, 1, size, f);
	fclose(f);
	for (int i = 0; i < 400; i++) {
		for (int j = 0; j < 4; j++) {
			state = state * 1664525u + 1013904223u;
			data[16 + state % 600] = (unsigned char)(state >> 24);
		}
		file_write("broken", data, i % 2 ? size : state % size);
		plugin_file_version(in_folder("broken"));
	}
	free(data);
}
END_TEST

START_TEST(a_plugin_is_looked_for_in_every_folder)
{
	char dirs[600];
	char *found;

	text_write("x.so", "");
	snprintf(dirs, sizeof(dirs), "/nowhere:%s:/tmp", folder);
	found = plugin_file_find(dirs, "x.so");
	ck_assert(found && !strcmp(found, in_folder("x.so")));
	free(found);
	found = plugin_file_find("/nowhere", in_folder("x.so"));
	ck_assert(found && !strcmp(found, path));
	free(found);
	ck_assert_ptr_null(plugin_file_find(dirs, "y.so"));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_ptr_null(plugin_file_find(dirs, "/nowhere/x.so"));
}
END_TEST

/* --- rights ----------------------------------------------------------------------------------------- */

static void barred_is(uid_t uid, bool read, const char *want)
{
	char file[300], *got;

	snprintf(file, sizeof(file), "%s/sub/file", folder);
	got = rights_barred(file, uid, read);
	ck_assert_msg(
		same(got, want), "barred by %s, not by %s", got ? got : "nothing", want ? want : "nothing");
	free(got);
}

START_TEST(the_folder_that_keeps_others_out_is_named)
{
	char sub[300];

	snprintf(sub, sizeof(sub), "%s/sub", folder);
	ck_assert_int_eq(mkdir(sub, 0755), 0);
	text_write("sub/file", "");
	chmod(folder, 0755);
	chmod(in_folder("sub/file"), 0640);
	barred_is(RIGHTS_NOBODY, false, NULL);
	barred_is(RIGHTS_NOBODY, true, in_folder("sub/file"));
	barred_is(0, true, NULL);
	chmod(in_folder("sub/file"), 0644);
	barred_is(RIGHTS_NOBODY, true, NULL);
	chmod(sub, 0750);
	barred_is(RIGHTS_NOBODY, false, sub);
	chmod(folder, 0700);
	barred_is(RIGHTS_NOBODY, true, folder);
	barred_is(getuid(), true, NULL);
}
END_TEST

/* --- programs --------------------------------------------------------------------------------------- */

#define LONG_MS 60000

static int run(const char *script, const char *input, int deadline_ms, char said[PROGRAM_SAID_MAX],
	struct fault *why)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };

	return program_run(argv, input, deadline_ms, said, why);
}

START_TEST(a_program_gives_its_status_and_what_it_said)
{
	char *none[] = { "gpubudget-no-such-program", NULL };
	char said[PROGRAM_SAID_MAX];

	ck_assert_int_eq(run("cat; echo two >&2; exit 3", "one\n", LONG_MS, said, NULL), 3);
	ck_assert_str_eq(said, "one\ntwo\n");
	ck_assert_int_eq(run("cat", NULL, LONG_MS, said, NULL), 0);
	ck_assert_str_eq(said, "");
	ck_assert_int_eq(run("head -c 100000 /dev/zero | tr '\\0' x", NULL, LONG_MS, said, NULL), 0);
	ck_assert_uint_eq(strlen(said), PROGRAM_SAID_MAX - 1);
	ck_assert_int_eq(program_run(none, NULL, LONG_MS, said, NULL), 127);
}
END_TEST

START_TEST(a_program_that_does_not_end_is_ended)
{
	char said[PROGRAM_SAID_MAX];
	struct fault why = { "" };

	ck_assert_int_eq(run("echo begun; exec sleep 600", NULL, 300, said, &why), -1);
	ck_assert_int_eq(errno, ETIMEDOUT);
	ck_assert_str_eq(why.text, "sh did not end within 300 ms");
	ck_assert_str_eq(said, "begun\n");
	ck_assert_int_eq(run("exec >&- 2>&-; exec sleep 600", NULL, 300, said, NULL), -1);
	ck_assert_int_eq(errno, ETIMEDOUT);
	ck_assert_int_eq(run("kill -TERM $$", NULL, LONG_MS, said, NULL), -1);
	ck_assert_int_eq(errno, EINTR);
}
END_TEST

static int ends(void *arg)
{
	fputs("fatal: ", stderr);
	exit(*(int *)arg);
}

START_TEST(a_call_that_ends_the_process_is_survived)
{
	char said[PROGRAM_SAID_MAX];
	int status = 9;

	ck_assert_int_eq(program_try(ends, &status, LONG_MS, said, NULL), 9);
	ck_assert_str_eq(said, "fatal: ");
}
END_TEST

Suite *doctor_files_suite(void)
{
	Suite *s = suite_create("doctor_files");
	TCase *t = tcase_create("files");

	tcase_add_checked_fixture(t, folder_make, folder_remove);
	tcase_add_loop_test(t, our_line_of_plugstack_is_found, 0, sizeof(stacks) / sizeof(stacks[0]));
	tcase_add_test(t, a_plugstack_that_is_not_there_is_named);
	tcase_add_test(t, a_file_that_is_no_plugin_has_no_version);
	tcase_add_test(t, a_broken_file_does_no_harm);
	tcase_add_test(t, a_plugin_is_looked_for_in_every_folder);
	tcase_add_test(t, the_folder_that_keeps_others_out_is_named);
	tcase_add_test(t, a_program_gives_its_status_and_what_it_said);
	tcase_add_test(t, a_program_that_does_not_end_is_ended);
	tcase_add_test(t, a_call_that_ends_the_process_is_survived);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return s;
}
