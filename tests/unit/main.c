/* SPDX-License-Identifier: GPL-2.0-or-later
 * main.c - the unit tests: runs every suite of suites.h; `unit NAME...` runs those only. */
#include "tests/unit/suites.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	Suite *(*make)(void);
} suites[] = {
#define SUITE_ROW(name) { #name, name##_suite },
	SUITES(SUITE_ROW)
};

#define COUNT (sizeof(suites) / sizeof(suites[0]))

static int wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return 1;
	return argc < 2;
}

static int check_names(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t s = 0;

		while (s < COUNT && strcmp(argv[i], suites[s].name) != 0)
			s++;
		if (s == COUNT)
			return fprintf(stderr, "unit: there is no suite %s\n", argv[i]), -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	SRunner *r = srunner_create(NULL);
	int failed;

	/* Check's 4 s are for machines that do nothing else */
	if (check_names(argc, argv) < 0 || setenv("CK_DEFAULT_TIMEOUT", "300", 0) < 0)
		return EXIT_FAILURE;
	for (size_t i = 0; i < COUNT; i++)
		if (wanted(suites[i].name, argc, argv))
			srunner_add_suite(r, suites[i].make());
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
