/* SPDX-License-Identifier: Apache-2.0 */
/* The table of settings, its rows taken apart, and paths of settings in JSON. */
#include "config/schema.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/private.h"
#include "data/json.h"
#include "data/schema.h"

/* ---- paths ------------------------------------------------------------------- */

/* The object in which the path's last name is looked up, and that name; NULL: it is not there. */
static json_t *path_parent(json_t *object, const char **path, bool make)
{
	const char *dot;

	while (json_is_object(object) && (dot = strchr(*path, '.'))) {
		size_t len = (size_t)(dot - *path);
		json_t *next = json_object_getn(object, *path, len);

		if (make && !json_is_object(next)) {
			json_object_setn_new(object, *path, len, json_object());
			next = json_object_getn(object, *path, len);
		}
		object = next;
		*path = dot + 1;
	}
	return json_is_object(object) ? object : NULL;
}

json_t *config_path_get(const json_t *object, const char *path)
{
	json_t *parent = path_parent((json_t *)object, &path, /* make= */ false);

	return parent ? json_object_get(parent, path) : NULL;
}

void config_path_set(json_t *object, const char *path, json_t *value)
{
	json_t *parent = path_parent(object, &path, /* make= */ true);

	json_object_set_new(parent, path, value);
}

void config_path_delete(json_t *object, const char *path)
{
	json_t *parent = path_parent(object, &path, /* make= */ false);

	if (parent)
		json_object_del(parent, path);
}

/* ---- rows -------------------------------------------------------------------- */

enum { ROWS_MAX = 512 };

/* The parsed rows: parsed once, by the first caller that needs them, and constant afterwards. */
static struct {
	pthread_once_t once;
	size_t count;
	struct setting rows[ROWS_MAX];
} table = { .once = PTHREAD_ONCE_INIT };

/* Takes a field off the front. */
static const char *field(const char **at)
{
	const char *text = *at;

	*at += strlen(text) + 1;
	return text;
}

static enum setting_type type_of_letter(char letter)
{
	static const char letters[SETTING_TYPE_COUNT] = {
		[SETTING_BOOLEAN] = 'b', [SETTING_INTEGER] = 'i', [SETTING_NUMBER] = 'n',
		[SETTING_STRING] = 's',  [SETTING_CHOICE] = 'c',  [SETTING_STRINGS] = 'S',
		[SETTING_ARRAY] = 'a',   [SETTING_OBJECT] = 'o',  [SETTING_STRING_OR_STRINGS] = 'e',
		[SETTING_SWITCH] = 'w',
	};

	return (enum setting_type)((const char *)memchr(letters, letter,
	                                                sizeof(letters)) - letters);
}

static void set_flag(struct setting *row, char flag)
{
	static const struct {
		char flag;
		enum setting_merge merge;
		enum authority project;
		bool restricts;
	} flags[] = {
		{ 'c', MERGE_CONCAT, 0, false },
		{ 'u', MERGE_UNION, 0, false },
		{ 's', MERGE_SHALLOW, 0, false },
		{ 'i', MERGE_INTERSECT, 0, false },
		{ 'n', 0, AUTHORITY_NEVER, false },
		{ 't', 0, AUTHORITY_ONLY_TRUE, true },
		{ 'f', 0, AUTHORITY_ONLY_FALSE, true },
		{ 'a', 0, AUTHORITY_ASK, false },
		{ 'p', 0, AUTHORITY_PLAIN, false },
		{ 'm', 0, AUTHORITY_TEXT_NAMES, false },
		{ 'd', 0, AUTHORITY_INSIDE, false },
		{ 'k', 0, AUTHORITY_CONTENT, false },
		{ 'r', 0, AUTHORITY_REMOTE, false },
		{ '!', 0, 0, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		if (flags[i].flag != flag)
			continue;
		row->merge |= flags[i].merge;
		row->project |= flags[i].project;
		row->restricts |= flags[i].restricts;
	}
	row->calls |= flag == 'C';
}

static void take_apart(void)
{
	const struct setting_group groups[] = { schema_core, schema_ui, schema_experimental,
		                                schema_hasp };

	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		const char *at = groups[i].rows;

		while (at < groups[i].rows + groups[i].len && table.count < ROWS_MAX) {
			struct setting *row = &table.rows[table.count++];
			const char *flags;

			row->path = field(&at);
			row->type = type_of_letter(*field(&at));
			row->fallback = field(&at);
			row->choices = field(&at);
			row->help = field(&at);
			if (!*row->fallback)
				row->fallback = NULL;
			if (!*row->choices)
				row->choices = NULL;
			for (flags = field(&at); *flags; flags++)
				set_flag(row, *flags);
		}
	}
}

size_t schema_count(void)
{
	pthread_once(&table.once, take_apart);
	return table.count;
}

const struct setting *schema_at(size_t i)
{
	return &table.rows[i];
}

bool schema_is_below(const char *path, const char *above)
{
	size_t len = strlen(above);

	return strncmp(path, above, len) == 0 && path[len] == '.';
}

const struct setting *schema_exact(const char *path)
{
	for (size_t i = 0; i < schema_count(); i++)
		if (strcmp(schema_at(i)->path, path) == 0)
			return schema_at(i);
	return NULL;
}

/* "hooks.*" and "hooks.Anything". */
static bool is_wildcard_of(const struct setting *row, const char *path)
{
	size_t len = strlen(row->path);

	return len > 2 && row->path[len - 1] == '*' && strncmp(path, row->path, len - 1) == 0 &&
	       path[len - 1] && !strchr(path + len - 1, '.');
}

const struct setting *schema_find(const char *path)
{
	const struct setting *found = schema_exact(path);

	for (size_t i = 0; !found && i < schema_count(); i++) {
		const struct setting *row = schema_at(i);

		if (((row->type == SETTING_OBJECT || row->type == SETTING_SWITCH) &&
		     schema_is_below(path, row->path)) ||
		    is_wildcard_of(row, path))
			found = row;
	}
	return found;
}

bool schema_is_group(const char *path)
{
	for (size_t i = 0; i < schema_count(); i++)
		if (schema_is_below(schema_at(i)->path, path))
			return true;
	return false;
}

bool schema_group_restricts(const char *path)
{
	for (size_t i = 0; i < schema_count(); i++)
		if (schema_at(i)->restricts && schema_is_below(schema_at(i)->path, path))
			return true;
	return false;
}

static const char *path_end(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

/* A name that only one group has is that one, in whatever group it was looked for. */
const char *schema_nearest(const char *path)
{
	_cleanup_free_ const char **names = mem_alloc(schema_count(), sizeof(*names));
	const char *only = NULL, *near;
	size_t same = 0;

	for (size_t i = 0; i < schema_count(); i++) {
		names[i] = schema_at(i)->path;
		if (strcasecmp(path_end(names[i]), path_end(path)) != 0)
			continue;
		only = names[i];
		same++;
	}
	if (same == 1)
		return only;
	near = schema_nearest_name(path, names, schema_count());
	return near && schema_names_alike(path, near) ? near : NULL;
}

json_t *schema_defaults(void)
{
	json_t *defaults = json_object();

	for (size_t i = 0; i < schema_count(); i++) {
		const struct setting *row = schema_at(i);
		struct err err = ERR_INIT;
		json_t *value;

		if (row->fallback && !strchr(row->path, '*') &&
		    json_parse(span_str(row->fallback), &value, &err))
			config_path_set(defaults, row->path, value);
	}
	return defaults;
}

/* --- Types --------------------------------------------------------------------------------- */

static bool is_word_break(char c)
{
	return c == '-' || c == '_' || c == ' ';
}

/* Words are the same but for case, hyphens, underscores and blanks. */
static bool is_spelled_like(struct span word, struct span other)
{
	size_t i = 0, j = 0;

	for (;;) {
		while (i < word.len && is_word_break(word.data[i]))
			i++;
		while (j < other.len && is_word_break(other.data[j]))
			j++;
		if (i == word.len || j == other.len)
			return i == word.len && j == other.len && i;
		if (tolower((unsigned char)word.data[i++]) !=
		    tolower((unsigned char)other.data[j++]))
			return false;
	}
}

struct span schema_choice(const struct setting *setting, struct span word)
{
	struct span like = { 0 };

	for (const char *at = setting->choices;;) {
		const size_t len = strcspn(at, "|");

		if (span_eq(span_of(at, len), word))
			return span_of(at, len);
		if (is_spelled_like(span_of(at, len), word))
			like = span_of(at, len);
		if (!at[len])
			return like;
		at += len + 1;
	}
}

static bool are_strings(const json_t *value)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(value))
		return false;
	json_array_foreach(value, i, item)
		if (!json_is_string(item))
			return false;
	return true;
}

bool schema_accepts(const struct setting *setting, const json_t *value)
{
	switch (setting->type) {
		double real;

	case SETTING_BOOLEAN:
		return json_is_boolean(value);
	case SETTING_INTEGER:
		real = json_is_real(value) ? json_real_value(value) : 0.5;
		return json_is_integer(value) ||
		       (real >= -9e15 && real <= 9e15 && real == (double)(int64_t)real);
	case SETTING_NUMBER:
		return json_is_number(value);
	case SETTING_STRING:
		return json_is_string(value);
	case SETTING_CHOICE:
		return json_string_length(value) &&
		       span_eq(schema_choice(setting, json_span(value)), json_span(value));
	case SETTING_STRINGS:
		return are_strings(value);
	case SETTING_STRING_OR_STRINGS:
		return json_is_string(value) || are_strings(value);
	case SETTING_ARRAY:
		return json_is_array(value);
	case SETTING_OBJECT:
		return json_is_object(value);
	case SETTING_SWITCH:
		return json_is_boolean(value) || json_is_string(value) || json_is_object(value);
	default:
		return false;
	}
}

void schema_phrase(const struct setting *setting, struct buf *out)
{
	static const char *const phrases[SETTING_TYPE_COUNT] = {
		[SETTING_BOOLEAN] = "true or false",
		[SETTING_INTEGER] = "an integer",
		[SETTING_NUMBER] = "a number",
		[SETTING_STRING] = "a string",
		[SETTING_STRINGS] = "an array of strings",
		[SETTING_STRING_OR_STRINGS] = "a string or an array of strings",
		[SETTING_ARRAY] = "an array",
		[SETTING_OBJECT] = "an object",
		[SETTING_SWITCH] = "true or false, a string or an object",
	};

	if (setting->type != SETTING_CHOICE) {
		buf_str(out, phrases[setting->type]);
		return;
	}
	buf_str(out, "one of ");
	for (const char *at = setting->choices; *at; at++)
		*at == '|' ? buf_str(out, ", ") : buf_char(out, *at);
}
