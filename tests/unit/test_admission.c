#include "tests/unit/suites.h"

Suite *admission_suite(void)
{
	return suite_create("admission");
}
