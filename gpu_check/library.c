/* SPDX-License-Identifier: GPL-2.0-or-later
 * library.c - dlopen and dlsym (library.h) */
#include "gpu_check/library.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* The file's own name; what was asked for when the loader does not tell. */
static void note_path(struct library *l, const char *name)
{
	struct link_map *map = NULL;

	if (dlinfo(l->handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0])
		name = map->l_name;
	snprintf(l->path, sizeof(l->path), "%s", name);
}

/* The loader has one text for "there is no such file" and others for files that it does not like. */
static bool is_missing(const char *text, const char *name)
{
	return strstr(text, "cannot open shared object file: No such file or directory") &&
		!strncmp(text, name, strlen(name));
}

int library_open(struct library *l, const char *const *names, enum cause *cause, char *text, size_t size)
{
	*cause = CAUSE_NO_LIBRARY;
	for (; *names; names++) {
		const char *why;

		l->handle = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
		if (l->handle) {
			note_path(l, *names);
			return 0;
		}
		why = dlerror();
		if (*cause == CAUSE_NO_LIBRARY)
			snprintf(text, size, "%s", why);
		if (!is_missing(why, *names))
			*cause = CAUSE_BAD_LIBRARY;
	}
	return -1;
}

int library_symbols(const struct library *l, const struct symbol_row *rows, size_t n, void *state,
	const char **missing)
{
	for (size_t i = 0; i < n; i++) {
		void *at = dlsym(l->handle, rows[i].name);

		if (!at && rows[i].older)
			at = dlsym(l->handle, rows[i].older);
		if (!at && !rows[i].optional) {
			*missing = rows[i].name;
			return -1;
		}
		memcpy((char *)state + rows[i].at, &at, sizeof(at));
	}
	return 0;
}
