/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_settings.c - budgetd.conf: what it may say, and what is told to whoever got it wrong */
#include "settings/settings.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct case_table bad;
static char file[64];

static void file_make(void)
{
	int fd;

	strcpy(file, "/tmp/settings.XXXXXX");
	fd = mkstemp(file);
	ck_assert(fd >= 0);
	close(fd);
}

static void file_remove(void)
{
	unlink(file);
}

/* "\n" in `content` becomes a newline. */
static void file_write(const char *content)
{
	FILE *to = fopen(file, "w");

	ck_assert(to != NULL);
	for (; *content; content++) {
		if (content[0] == '\\' && content[1] == 'n') {
			putc('\n', to);
			content++;
		} else {
			putc(*content, to);
		}
	}
	ck_assert_int_eq(fclose(to), 0);
}

static struct settings *loaded(const char *content)
{
	struct settings *s = NULL;
	struct fault why = { "" };

	file_write(content);
	ck_assert_msg(settings_load(file, &s, &why) == 0, "%s", why.text);
	return s;
}

static char *printed(const struct settings *s)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	ck_assert(to != NULL);
	if (s)
		settings_print(s, to);
	else
		settings_print_sample(to);
	fclose(to);
	return text;
}

START_TEST(a_bad_file_is_refused_with_file_and_line)
{
	const struct case_row *c = &bad.row[_i];
	struct settings untouched, *s = &untouched;
	struct fault why = { "" };

	file_write(c->col[0]);
	ck_assert_msg(
		settings_load(file, &s, &why) == -1, "cases line %d: \"%s\" was taken", c->line, c->col[0]);
	ck_assert_msg(s == &untouched, "cases line %d: a refusal changed the result", c->line);
	ck_assert_msg(errno == EINVAL, "cases line %d: errno is %s", c->line, strerror(errno));
	ck_assert_msg(!strncmp(why.text, file, strlen(file)), "cases line %d: no file in \"%s\"", c->line,
		why.text);
	ck_assert_msg(strstr(why.text + strlen(file), c->col[1]) != NULL,
		"cases line %d: \"%s\" does not say \"%s\"", c->line, why.text, c->col[1]);
}
END_TEST

START_TEST(values_are_read_with_their_units_and_without_quotes)
{
	struct settings *s =
		loaded("socket = /srv/run/b-1.sock # a comment\\nask_deadline=80ms\\nbreaker = 1.5m\\n"
		       "when_unreachable = reject\\nhold = time_limit\\nmax_min_runtime = 1h30m\\n"
		       "listen = head.example.org:6830\\nserver = https://[fd00::1]:8443/\\n"
		       "window = 2-12\\nadministrators = \"ada, bob\"\\nqos_free = \"low_prio.x-1\"");

	ck_assert_str_eq(s->socket, "/srv/run/b-1.sock");
	ck_assert_int_eq(s->ask_deadline_ms, 80);
	ck_assert_int_eq(s->when_unreachable, UNREACHABLE_REJECT);
	ck_assert_int_eq(s->hold, HOLD_TIME_LIMIT);
	ck_assert_int_eq(s->max_min_runtime_s, 5400);
	ck_assert_str_eq(s->listen, "head.example.org:6830");
	ck_assert_str_eq(s->server, "https://[fd00::1]:8443/");
	ck_assert_int_eq(s->window_s, 60 * 3600);
	ck_assert_str_eq(s->administrators, "ada, bob");
	ck_assert_str_eq(s->qos_free, "low_prio.x-1");
	settings_free(s);
}
END_TEST

START_TEST(an_empty_file_is_the_defaults)
{
	struct settings *s = loaded(""), *d = settings_defaults();
	char *a = printed(s), *b = printed(d);

	ck_assert_str_eq(a, b);
	ck_assert_int_eq(d->ask_deadline_ms, 50);
	ck_assert_int_eq(d->breaker_ms, 10000);
	ck_assert_int_eq(d->when_unreachable, UNREACHABLE_FREE);
	ck_assert_int_eq(d->default_min_runtime_s, 900);
	ck_assert_int_eq(d->max_min_runtime_s, 8 * 3600);
	ck_assert_int_eq(d->unknown_account, UNKNOWN_ACCOUNT_REJECT);
	ck_assert_int_eq(d->window_s, 7 * 86400);
	ck_assert_str_eq(d->qos_funded_still, "funded-still");
	ck_assert_str_eq(d->administrators, "");
	free(a);
	free(b);
	settings_free(s);
	settings_free(d);
}
END_TEST

START_TEST(what_is_printed_reads_back_as_the_same)
{
	/* the file has: "a \"b\" $HOME \${HOME} # ' \\" */
	struct settings *s = loaded("administrators = \"a \\\"b\\\" $HOME \\${HOME} # ' \\\\\" # "
				    "x\\nask_deadline = 1234ms"),
			*again;
	char *first = printed(s), *second;
	struct fault why = { "" };
	FILE *to = fopen(file, "w");

	ck_assert_str_eq(s->administrators, "a \"b\" $HOME ${HOME} # ' \\");
	fputs(first, to);
	fclose(to);
	ck_assert_msg(settings_load(file, &again, &why) == 0, "%s", why.text);
	second = printed(again);
	ck_assert_str_eq(first, second);
	free(first);
	free(second);
	settings_free(s);
	settings_free(again);
}
END_TEST

START_TEST(the_sample_is_the_defaults_even_with_every_line_in_force)
{
	char *sample = printed(NULL), *defaults, *text;
	struct settings *s = loaded(sample), *d = settings_defaults();
	FILE *to = fopen(file, "w");
	struct fault why = { "" };

	settings_free(s);
	for (char *line = strtok(sample, "\n"); line; line = strtok(NULL, "\n"))
		fprintf(to, "%s\n", line[0] == '#' && line[1] != ' ' ? line + 1 : line);
	fclose(to);
	ck_assert_msg(settings_load(file, &s, &why) == 0, "%s", why.text);
	text = printed(s);
	defaults = printed(d);
	ck_assert_str_eq(text, defaults);
	free(sample);
	free(defaults);
	free(text);
	settings_free(s);
	settings_free(d);
}
END_TEST

START_TEST(what_is_no_settings_file_is_refused)
{
	struct settings *s;
	struct fault missing = { "" }, folder = { "" }, binary = { "" };
	FILE *to;

	ck_assert_int_eq(settings_load("/nonexistent/budgetd.conf", &s, &missing), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(settings_load("/", &s, &folder), -1);
	ck_assert_int_eq(errno, EISDIR);
	to = fopen(file, "w");
	fwrite("hold = \0x", 1, 9, to);
	fclose(to);
	ck_assert_int_eq(settings_load(file, &s, &binary), -1);
	ck_assert_int_eq(errno, EINVAL);
	to = fopen(file, "w");
	for (int i = 0; i < 70000; i++)
		putc('#', to);
	fclose(to);
	ck_assert_int_eq(settings_load(file, &s, NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(the_path_can_be_named_in_the_environment)
{
	setenv("GPUBUDGET_CONF", "/x/y.conf", 1);
	ck_assert_str_eq(settings_default_path(), "/x/y.conf");
	setenv("GPUBUDGET_CONF", "", 1);
	ck_assert(strstr(settings_default_path(), "/budgetd.conf") != NULL);
}
END_TEST

Suite *settings_suite(void)
{
	Suite *s = suite_create("settings");
	TCase *t = tcase_create("file");

	bad = cases_load("settings_bad.cases", 2);
	tcase_add_checked_fixture(t, file_make, file_remove);
	tcase_add_loop_test(t, a_bad_file_is_refused_with_file_and_line, 0, bad.rows);
	tcase_add_test(t, values_are_read_with_their_units_and_without_quotes);
	tcase_add_test(t, an_empty_file_is_the_defaults);
	tcase_add_test(t, what_is_printed_reads_back_as_the_same);
	tcase_add_test(t, the_sample_is_the_defaults_even_with_every_line_in_force);
	tcase_add_test(t, what_is_no_settings_file_is_refused);
	tcase_add_test(t, the_path_can_be_named_in_the_environment);
	suite_add_tcase(s, t);
	return s;
}
