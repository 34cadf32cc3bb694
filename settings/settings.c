/* SPDX-License-Identifier: GPL-2.0-or-later
 * settings.c - budgetd.conf, from one table
 *
 * libconfuse reads `key = value` and knows the line; what a value means stands in table.c: type, default,
 * range and help of a setting are one row, and the loader, the sample file and the manual read nothing else.
 * Every value is a string to libconfuse, because its own numbers know no units.
 *
 * The file is read into memory first: flex ends the process on a read error, and this also runs inside
 * slurmctld. */
#include "config.h"
#include "settings/settings.h"
#include "settings/enforce.h"
#include <confuse.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "lib/address.h"
#include "lib/duration.h"
#include "lib/gpu_metric.h"
#include "lib/notice.h"
#include "settings/table.h"

/* a hundred times the sample; what is larger is not a settings file */
#define FILE_BYTES_MAX (64 * 1024)
#define SOCKET_PATH_MAX sizeof(((struct sockaddr_un *)NULL)->sun_path)
#define NAME_BYTES_MAX 64		/* of a QOS */
#define TEXT_BYTES_MAX 4096

/* One value as the file has it. libconfuse stores through `text`, its first member, so that a callback,
 * which is only given the option, finds the rest. */
struct slot {
	char *text;		/* NULL = not in the file */
	int line;
	struct load *load;
};

struct load {
	const char *path;
	struct fault *why;
	struct slot slots[SETTINGS];
};

/* --- one value ----------------------------------------------------------------------------------- */

static int64_t *number_at(struct settings *s, const struct setting_row *row)
{
	return (int64_t *)((char *)s + row->offset);
}

static char **string_at(struct settings *s, const struct setting_row *row)
{
	return (char **)((char *)s + row->offset);
}

static int *choice_at(struct settings *s, const struct setting_row *row)
{
	return (int *)((char *)s + row->offset);
}

/* "50ms"; or anything that lib/duration.h reads, in milliseconds. */
static int milliseconds_parse(const char *text, int64_t *out, struct fault *why)
{
	size_t n = strlen(text), digits = strspn(text, "0123456789");
	int64_t seconds;

	if (digits > 0 && digits <= 15 && n == digits + 2 && !strcmp(text + digits, "ms")) {
		*out = strtoll(text, NULL, 10);
		return 0;
	}
	if (duration_parse(text, &seconds, why) < 0)
		return -1;
	*out = seconds > INT64_MAX / 1000 ? INT64_MAX : seconds * 1000;
	return 0;
}

static int count_parse(const char *text, int64_t *out, struct fault *why)
{
	size_t n = strlen(text);

	if (n == 0 || n > 15 || strspn(text, "0123456789") != n)
		return fault_errno(why, EINVAL, "\"%s\" is not a number", text);
	*out = strtoll(text, NULL, 10);
	return 0;
}

static int set_length(struct settings *s, const struct setting_row *row, const char *text, struct fault *why)
{
	static int (*const read[])(const char *text, int64_t *out, struct fault *why) = {
		[MILLISECONDS] = milliseconds_parse, [SECONDS] = duration_parse, [COUNT_OF] = count_parse };
	char range[SETTING_RANGE_MAX];
	struct fault detail = { "" };
	int64_t value;

	if (read[row->type](text, &value, &detail) < 0)
		return fault_errno(why, EINVAL, "%s: %s (%s is allowed)", row->name, detail.text,
			setting_range_text(row, range));
	if (value < row->min || value > row->max)
		return fault_errno(why, EINVAL, "%s = %s is out of range: %s is allowed%s", row->name, text,
			setting_range_text(row, range),
			text[strspn(text, "0123456789")] ||
			row->type == COUNT_OF ? "" : " (a number without a unit is minutes)");
	*number_at(s, row) = value;
	return 0;
}

static int set_choice(struct settings *s, const struct setting_row *row, const char *text, struct fault *why)
{
	char allowed[80] = "";

	for (int i = 0; row->words[i]; i++) {
		if (!strcmp(text, row->words[i])) {
			*choice_at(s, row) = i;
			return 0;
		}
		snprintf(allowed + strlen(allowed), sizeof(allowed) - strlen(allowed), "%s%s",
			i ? (row->words[i + 1] ? ", " : " or ") : "", row->words[i]);
	}
	return fault_errno(why, EINVAL, "%s = \"%s\" is none of %s", row->name, text, allowed);
}

/* The first byte that must not be there, as an index, or -1. A name goes to Slurm as it is, so its
 * alphabet is Slurm's. */
static int bad_byte(const char *text, bool name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	for (int i = 0; text[i]; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == 0x7f || (name && (!strchr(letters, c) || text[0] == '-')))
			return i;
	}
	return -1;
}

/* What is asked or listened at over the network. */
static int check_place(const struct setting_row *row, const char *text, struct fault *why)
{
	struct fault detail = { "" };
	struct address address;

	if ((row->type == ADDRESS && address_parse(text, &address, &detail) < 0) ||
		(row->type == SERVER && address_check_server(text, &detail) < 0) ||
		(row->type == URL && address_check_url(text, &detail) < 0))
		return fault_errno(why, EINVAL, "%s: %s", row->name, detail.text);
	return 0;
}

static int check_string(const struct setting_row *row, const char *text, struct fault *why)
{
	static const size_t bytes_max[] = { [SOCKET_PATH] = SOCKET_PATH_MAX, [FILE_PATH] = TEXT_BYTES_MAX,
		[OPTIONAL_PATH] = TEXT_BYTES_MAX, [ADDRESS] = TEXT_BYTES_MAX, [SERVER] = TEXT_BYTES_MAX,
		[URL] = TEXT_BYTES_MAX, [NAME] = NAME_BYTES_MAX, [ZONE] = NAME_BYTES_MAX,
		[TEXT] = TEXT_BYTES_MAX };
	bool path = row->type == SOCKET_PATH || row->type == FILE_PATH ||
		(row->type == OPTIONAL_PATH && text[0]);
	int bad = bad_byte(text, row->type == NAME);

	if (bad >= 0)
		return fault_errno(why, EINVAL, "%s: character %d of \"%s\" is not allowed here", row->name,
			bad + 1, text);
	if (strlen(text) >= bytes_max[row->type])
		return fault_errno(why, EINVAL, "%s: %zu bytes are too many, %zu fit", row->name,
			strlen(text), bytes_max[row->type] - 1);
	if (path && text[0] != '/')
		return fault_errno(why, EINVAL,
			"%s = \"%s\" is not a path from the root: it must begin with /", row->name, text);
	if ((row->type == NAME || row->type == ZONE) && !text[0])
		return fault_errno(why, EINVAL, "%s is empty: name a %s", row->name,
			row->type == NAME ? "QOS" : "time zone");
	return text[0] ? check_place(row, text, why) : 0;
}

static int set_string(struct settings *s, const struct setting_row *row, const char *text, struct fault *why)
{
	char *copy;

	if (check_string(row, text, why) < 0)
		return -1;
	copy = strdup(text);
	if (!copy)
		return fault_errno(why, ENOMEM, "%s: out of memory", row->name);
	free(*string_at(s, row));
	*string_at(s, row) = copy;
	return 0;
}

static int set_value(struct settings *s, const struct setting_row *row, const char *text, struct fault *why)
{
	if (row->type == CHOICE)
		return set_choice(s, row, text, why);
	if (setting_is_string(row->type))
		return set_string(s, row, text, why);
	return set_length(s, row, text, why);
}

/* --- the file ------------------------------------------------------------------------------------ */

/* Called by libconfuse at each value: a second one for the same key is a mistake of the person, not a
 * wish. */
static int slot_noted(cfg_t *cfg, cfg_opt_t *opt)
{
	struct slot *slot = (struct slot *)(void *)opt->simple_value.string;

	if (slot->line) {
		fault_errno(slot->load->why, EINVAL, "%s:%d: %s again; it stands in line %d already",
			slot->load->path, cfg->line, opt->name, slot->line);
		return -1;
	}
	slot->line = cfg->line;
	return 0;
}

static void __attribute__((format(printf, 2, 0))) parse_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	struct slot *first = (struct slot *)(void *)cfg->opts[0].simple_value.string;
	char text[256];

	vsnprintf(text, sizeof(text), fmt, ap);
	fault_errno(first->load->why, EINVAL, "%s:%d: %s", first->load->path, cfg->line, text);
}

static cfg_t *parser_new(struct load *load)
{
	cfg_opt_t options[SETTINGS + 1];
	cfg_t *cfg;

	memset(options, 0, sizeof(options));	/* a zero type ends the list: CFG_END() */
	for (size_t i = 0; i < SETTINGS; i++) {
		load->slots[i].load = load;
		options[i].name = settings_table[i].name;
		options[i].type = CFGT_STR;
		options[i].simple_value.string = &load->slots[i].text;
		options[i].validcb = slot_noted;
	}
	cfg = cfg_init(options, CFGF_NONE);
	if (cfg)
		cfg_set_error_function(cfg, parse_error);
	return cfg;
}

/* Blank out what stands behind a # outside of quotes: libconfuse 3.3 counts the line of a comment three
 * times, and then names a line that has nothing to do with the mistake. */
static void comments_blank(char *content)
{
	char quote = '\0';
	bool comment = false;

	for (char *c = content; *c; c++) {
		if (*c == '\n')
			comment = false;
		else if (comment)
			*c = ' ';
		else if (quote && *c == '\\' && c[1])
			c++;
		else if (quote)
			quote = *c == quote ? '\0' : quote;
		else if (*c == '"' || *c == '\'')
			quote = *c;
		else if ((comment = *c == '#'))
			*c = ' ';
	}
}

static int parse(struct load *load, char *content)
{
	static pthread_mutex_t scanner = PTHREAD_MUTEX_INITIALIZER;	/* libconfuse's is one per process */
	cfg_t *cfg = parser_new(load);
	int rv;

	if (!cfg)
		return fault_errno(load->why, ENOMEM, "%s: out of memory", load->path);
	comments_blank(content);
	pthread_mutex_lock(&scanner);
	rv = cfg_parse_buf(cfg, content);
	pthread_mutex_unlock(&scanner);
	if (rv != CFG_SUCCESS)
		fault_errno(load->why, EINVAL, "%s:%d: this is not `key = value`", load->path, cfg->line);
	cfg_free(cfg);
	return rv == CFG_SUCCESS ? 0 : -1;
}

static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, buf + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

/* The content with a newline and a NUL behind it, to be freed; or NULL. */
static char *file_read(const char *path, struct fault *why)
{
	char *buf = malloc(FILE_BYTES_MAX + 2);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);	/* a FIFO must not hang slurmctld */
	ssize_t n;

	if (!buf || fd < 0) {
		int err = buf ? errno : ENOMEM;

		fault_errno(why, err, "%s: %s%s", path, strerror(err),
			err == ENOENT ? "; `budgetd --sample` prints one with every setting" : "");
		goto fail;
	}
	n = read_all(fd, buf, FILE_BYTES_MAX + 1);
	if (n < 0) {
		fault_errno(why, errno, "%s: %s", path, strerror(errno));
		goto fail;
	}
	if (n > FILE_BYTES_MAX || memchr(buf, '\0', (size_t)n)) {
		fault_errno(why, EINVAL,
			n > FILE_BYTES_MAX
				? "%s: larger than %d bytes: not a settings file"
				: "%s: has a NUL byte within its first %d bytes: not a settings file",
			path, FILE_BYTES_MAX);
		goto fail;
	}
	memcpy(buf + n, "\n", 2);
	close(fd);
	return buf;
fail:
	if (fd >= 0)
		close(fd);
	free(buf);
	return NULL;
}

/* The steps of the ladder that are there stand in their order. */
static int check_idle(const struct settings *s, struct fault *why)
{
	const struct {
		const char *name;
		int64_t after_s;
	} steps[] = { { "idle_note", s->idle_note_s }, { "idle_warning", s->idle_warning_s },
		{ "idle_last_warning", s->idle_last_warning_s },
			{ "idle_unprotected", s->idle_unprotected_s } };
	struct gpu_labels ignored;
	struct fault detail = { "" };
	size_t below = 0;

	for (size_t i = 1; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (steps[i].after_s && steps[i].after_s <= steps[below].after_s)
			return fault_errno(why, EINVAL,
				"%s comes before %s: it must be later, or 0s for never", steps[i].name,
				steps[below].name);
		below = steps[i].after_s ? i : below;
	}
	if (*s->gpu_labels && gpu_labels_parse(s->gpu_labels, &ignored, &detail) < 0)
		return fault_errno(why, EINVAL, "gpu_labels: %s", detail.text);
	return 0;
}

/* Two tiers in one QOS: free runs would be protected, or funded ones displaced. Slurm's names have no
 * case. */
static int check_tiers(const struct settings *s, struct fault *why)
{
	const struct {
		const char *name, *qos;
	} tiers[] = { { "qos_funded", s->qos_funded }, { "qos_funded_still", s->qos_funded_still },
		{ "qos_free", s->qos_free } };

	for (size_t i = 1; i < sizeof(tiers) / sizeof(tiers[0]); i++)
		for (size_t j = 0; j < i; j++)
			if (!strcasecmp(tiers[i].qos, tiers[j].qos))
				return fault_errno(why, EINVAL, "%s and %s are both %s: they must differ",
					tiers[j].name, tiers[i].name, tiers[i].qos);
	return 0;
}

/* Any user of a proxy's host can connect from its address. */
static int check_page(const struct settings *s, struct fault *why)
{
	if (*s->page_proxies && !*s->page_secret_file)
		return fault_errno(why, EINVAL,
			"page_proxies is set and page_secret_file is not: on the proxy's host every user could be anybody");
	return 0;
}

/* Is there a word that is none? */
static int check_notices(const struct settings *s, struct fault *why)
{
	struct fault detail = { "" };
	struct notice_levels levels;
	unsigned kinds;

	if (notice_kinds_parse(s->notice_kinds, &kinds, &detail) < 0)
		return fault_errno(why, EINVAL, "notice_kinds: %s", detail.text);
	if (notice_levels_parse(s->notice_levels, s->notice_rearm_points, &levels, &detail) < 0)
		return fault_errno(why, EINVAL, "notice_levels: %s", detail.text);
	return 0;
}

/* Move the file's values into s, then what only two values together can be wrong about. */
static int take(struct load *load, struct settings *s)
{
	const struct setting_row *row = settings_table;
	struct fault detail = { "" };

	for (size_t i = 0; i < SETTINGS; i++)
		if (load->slots[i].text && set_value(s, &row[i], load->slots[i].text, &detail) < 0)
			return fault_set(
				load->why, "%s:%d: %s", load->path, load->slots[i].line, detail.text);
	if (s->default_min_runtime_s > s->max_min_runtime_s) {
		char d[DURATION_TEXT_MAX], m[DURATION_TEXT_MAX];

		return fault_errno(load->why, EINVAL,
			"%s: default_min_runtime (%s) is longer than max_min_runtime (%s)", load->path,
			duration_text(s->default_min_runtime_s, d), duration_text(s->max_min_runtime_s, m));
	}
	if (settings_enforce_check(s->enforce_partitions, &detail) < 0 || check_tiers(s, &detail) < 0 ||
		check_idle(s, &detail) < 0 || check_page(s, &detail) < 0 || check_notices(s, &detail) < 0)
		return fault_errno(load->why, EINVAL, "%s: %s", load->path, detail.text);
	if (!strcmp(s->socket, s->slurm_socket))
		return fault_errno(load->why, EINVAL,
			"%s: socket and slurm_socket are both %s: they must differ", load->path, s->socket);
	return 0;
}

int settings_load(const char *path, struct settings **out, struct fault *why)
{
	struct load load = { .path = path, .why = why };
	struct settings *s = NULL;
	char *content = file_read(path, why);
	int rv = -1;

	if (!content || parse(&load, content) < 0)
		goto out;
	s = settings_defaults();
	if (!s) {
		fault_errno(why, ENOMEM, "%s: out of memory", path);
		goto out;
	}
	if (take(&load, s) < 0)
		goto out;
	*out = s;
	s = NULL;
	rv = 0;
out:
	for (size_t i = 0; i < SETTINGS; i++)
		free(load.slots[i].text);
	settings_free(s);	/* keeps errno, as free does */
	free(content);
	return rv;
}

const char *settings_default_path(void)
{
	const char *named = getenv("GPUBUDGET_CONF");

	return named && named[0] ? named : CONFDIR "/budgetd.conf";
}

struct settings *settings_defaults(void)
{
	struct settings *s = calloc(1, sizeof(*s));

	for (size_t i = 0; s && i < SETTINGS; i++)
		if (set_value(s, &settings_table[i], settings_table[i].preset, NULL) < 0) {
			settings_free(s); /* the rows themselves are checked by a unit test: this is memory */
			errno = ENOMEM;
			return NULL;
		}
	return s;
}

void settings_free(struct settings *s)
{
	int saved = errno;

	for (size_t i = 0; s && i < SETTINGS; i++)
		if (setting_is_string(settings_table[i].type))
			free(*string_at(s, &settings_table[i]));
	free(s);
	errno = saved;
}
