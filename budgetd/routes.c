/* SPDX-License-Identifier: GPL-2.0-or-later
 * routes.c - the one list of calls. */
#include "budgetd/routes.h"
#include <errno.h>
#include <string.h>

#define KIB 1024

static const struct route routes[] = {
	/* method   path                     who may            body at most  handler          */
	{ "POST",   "/v1/verdicts",          WHO_SLURM,         64 * KIB,     verdict_post     },
	{ "GET",    "/v1/projects",          WHO_ANYONE,        0,            projects_get     },
	{ "POST",   "/v1/projects",          WHO_ADMINISTRATOR, 64 * KIB,     project_post     },
	{ "PATCH",  "/v1/projects/{name}",   WHO_ADMINISTRATOR, 64 * KIB,     project_patch    },
	{ "DELETE", "/v1/projects/{name}",   WHO_ADMINISTRATOR, 0,            project_delete   },
	{ "GET",    "/v1/allocations",       WHO_ANYONE,        0,            allocations_get  },
	{ "POST",   "/v1/allocations",       WHO_ADMINISTRATOR, 4 * KIB,      allocation_post  },
	{ "POST",   "/v1/deposits",          WHO_ADMINISTRATOR, 4 * KIB,      deposit_post     },
	{ "GET",    "/v1/balances",          WHO_ANYONE,        0,            balances_get     },
	{ "GET",    "/v1/journal",           WHO_ANYONE,        0,            journal_get      },
	{ "GET",    "/v1/holds",             WHO_ANYONE,        0,            holds_get        },
	{ "GET",    "/v1/charges",           WHO_ANYONE,        0,            charges_get      },
	{ "GET",    "/v1/jobs/{name}",       WHO_ANYONE,        0,            job_get          },
	{ "GET",    "/v1/health",            WHO_ANYONE,        0,            health_get       },
};

static const char *path_matches(const char *pattern, const char *path)
{
	size_t fixed = strcspn(pattern, "{");

	if (!pattern[fixed])
		return strcmp(pattern, path) == 0 ? "" : NULL;
	if (strncmp(pattern, path, fixed) != 0 || !path[fixed] || strchr(path + fixed, '/'))
		return NULL;
	return path + fixed;
}

const struct route *route_find(const char *method, const char *path, const char **name)
{
	errno = ENOENT;
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
		const char *segment = path_matches(routes[i].path, path);

		if (!segment)
			continue;
		if (strcmp(routes[i].method, method) == 0) {
			*name = segment;
			return &routes[i];
		}
		errno = EOPNOTSUPP;
	}
	return NULL;
}
