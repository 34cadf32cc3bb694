/* SPDX-License-Identifier: GPL-2.0-or-later
 * table.h - what a setting is: one row, for the loader, the sample file and the manual
 *
 * Private to this folder; others see settings.h.
 *
 * Threads  const data and pure functions: any thread */
#ifndef SETTINGS_TABLE_H
#define SETTINGS_TABLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* OPTIONAL_PATH, ADDRESS, SERVER and URL may be empty: not used. */
enum setting_type { SOCKET_PATH, FILE_PATH, OPTIONAL_PATH, ADDRESS, SERVER, URL, NAME, TEXT, ZONE,
	MILLISECONDS, SECONDS, COUNT_OF, CHOICE };

struct setting_row {
	const char *name;
	enum setting_type type;
	size_t offset;			/* in struct settings */
	const char *preset;		/* the default, as it would stand in the file */
	int64_t min, max;		/* of a number or a length of time, in the unit of its type */
	const char *const *words;	/* of a CHOICE */
	const char *help;		/* lines of the sample's comment */
};

#define SETTINGS 69

extern const struct setting_row settings_table[SETTINGS];

/* Is the value a char * in struct settings? Else it is an int64_t, or an int when it is a CHOICE. */
bool setting_is_string(enum setting_type type);

/* "10ms to 5s", "1m to 30d" or "0 to 64": what is allowed for a length of time or a number. Returns buf;
 * cannot fail. */
#define SETTING_RANGE_MAX 80
const char *setting_range_text(const struct setting_row *row, char buf[SETTING_RANGE_MAX]);

/* The shortest text that reads back as the same length: "50ms", "90s", "15m", "8h", "7d"; of a COUNT_OF the
 * number. Returns buf; cannot fail. */
#define SETTING_LENGTH_MAX 32
const char *setting_length_text(int64_t value, enum setting_type type, char buf[SETTING_LENGTH_MAX]);

#endif
