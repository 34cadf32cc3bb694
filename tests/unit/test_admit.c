#include "tests/unit/suites.h"

Suite *admit_suite(void)
{
	return suite_create("admit");
}
