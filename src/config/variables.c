/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/allow.h"
#include "config/env_file.h"
#include "config/settings_private.h"
#include "config/variables_private.h"
#include "data/json.h"
#include "data/warnings.h"

struct variable {
	char *name, *value;
	bool projects; /* not for settings of others */
	bool behind;   /* of the user's file, behind a project's */
};

struct variables {
	struct variable *items; /* of the .env file, each name once */
	size_t count, cap;
	char *file; /* NULL: there is none */
};

/* --- Which file ---------------------------------------------------------------------------- */

/* Folders are called .env too. */
static char *regular(char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		return path;
	free(path);
	return NULL;
}

/* The file of one folder on the way up. */
static char *file_in(const struct variables_options *options, const char *folder)
{
	const char *slash = strcmp(folder, "/") == 0 ? "" : folder;
	bool home = strcmp(folder, home_user(options->home)) == 0;
	char *found = NULL;

	if (options->trusted || home)
		found = regular(mem_printf("%s/.gemini/.env", slash));
	if (!found && (!options->ignore_env_files || home))
		found = regular(mem_printf("%s/.env", slash));
	return found;
}

static char *find_file(const struct variables_options *options, bool *ret_project)
{
	_cleanup_free_ char *folder = mem_strdup(home_project(options->home));

	for (;;) {
		char *found = file_in(options, folder);
		char *slash = strrchr(folder, '/');

		*ret_project = strcmp(folder, home_user(options->home)) != 0;
		if (found)
			return found;
		if (!slash || !slash[1])
			break;
		slash[slash == folder] = '\0';
	}
	*ret_project = false;
	return file_in(options, home_user(options->home));
}

/* --- What is taken of it ------------------------------------------------------------------- */

/* How far the lines of the text are counted: names come in its order. */
struct counted {
	const char *at; /* NULL: at the beginning */
	unsigned line;
};

struct taking {
	struct variables *variables;
	const struct variables_options *options;
	const char *path;
	struct span text;
	struct counted *counted;
	bool project; /* the file is not the user's own */
	bool gemini;  /* it is one of .gemini */
	bool behind;  /* it is the user's, behind a project's: only what steers hasp counts */
};

static bool is_excluded(const struct taking *taking, struct span name)
{
	const json_t *item;
	size_t i;

	if (taking->gemini)
		return false;
	json_array_foreach(taking->options->excluded, i, item)
		if (span_eq(json_span(item), name))
			return true;
	return false;
}

static unsigned line_of(const struct taking *taking, struct span name)
{
	struct counted *counted = taking->counted;

	if (!counted->at || counted->at > name.data)
		*counted = (struct counted){ taking->text.data, 1 };
	for (; counted->at < name.data; counted->at++)
		counted->line += *counted->at == '\n';
	return counted->line;
}

__attribute__((format(printf, 3, 4))) static void warn(const struct taking *taking,
                                                       struct span name, const char *format, ...)
{
	_cleanup_buf_ struct buf sentence = BUF_INIT(LIMIT_WIRE_SENTENCE);
	char text[512];
	va_list args;

	if (warnings_full(taking->options->warnings)) {
		warnings_add(taking->options->warnings, json_string(""));
		return;
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	buf_printf(&sentence, "%s, line %u: %s", taking->path, line_of(taking, name), text);
	warnings_add(taking->options->warnings, json_text(buf_view(&sentence)));
}

/* The last of several lines for one name is the one that would count. */
static void withhold(const struct taking *taking, struct span name, json_t *value)
{
	json_t *one = json_pack("{s:o, s:O, s:o, s:i}", "name", json_text(name), "value", value,
	                        "file", json_cstr(taking->path), "line", (int)line_of(taking, name)), *other;
	size_t i;

	if (!taking->options->withheld || json_array_size(taking->options->withheld) >=
	                                          LIMIT_ENV_FILE_VARIABLES) {
		json_decref(one);
		return;
	}
	json_array_foreach(taking->options->withheld, i, other)
		if (json_equal(json_object_get(other, "name"), json_object_get(one, "name"))) {
			json_array_set_new(taking->options->withheld, i, one);
			return;
		}
	json_array_append_new(taking->options->withheld, one);
}

static bool is_allowed(const struct taking *taking, const char *name, const char *value)
{
	json_auto_t *text = json_text(span_str(value));

	return allow_has(taking->options->allowed, name, text);
}

/* A variable that hasp obeys, of a trusted project's file. */
static bool project_may(const struct taking *taking, const struct authority_row *row,
                        struct span name, const char *key, const char *value)
{
	json_auto_t *text = json_text(span_str(value));
	json_t *part, *rest;

	if (authority_permits(row->project, home_project(taking->options->home), text, &part,
	                      &rest) == PERMITTED_ALL)
		return true;
	if (!authority_can_be_allowed(row->project)) {
		if (!row->others)
			warn(taking, name, "A project cannot set \"%.128s\"; it is ignored.", key);
		return false;
	}
	if (is_allowed(taking, key, value))
		return true;
	withhold(taking, name, text);
	warn(taking, name, "The project's \"%.128s\" is ignored until you run: "
	     "hasp config allow %.128s", key, key);
	return false;
}

/* *ret_projects: its value is not for settings of others. */
static bool takes(const struct taking *taking, struct span name, const char *key,
                  const char *value, bool *ret_projects)
{
	const struct authority_row *row = authority_variable(name);

	*ret_projects = false;
	if (!taking->project)
		return !taking->behind || (row && !row->others && row->project != AUTHORITY_ANY &&
		                           row->project != AUTHORITY_TRUSTED);
	if (!taking->options->trusted)
		return row && row->project == AUTHORITY_ANY;
	if (is_excluded(taking, name))
		return false;
	if (row)
		return project_may(taking, row, name, key, value);
	*ret_projects = !is_allowed(taking, key, value);
	if (*ret_projects) {
		json_auto_t *text = json_text(span_str(value));

		withhold(taking, name, text);
	}
	return true;
}

static void keep_harmless(char *value)
{
	size_t kept = 0;

	for (size_t i = 0; value[i]; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./",
		           value[i]))
			value[kept++] = value[i];
	value[kept] = '\0';
}

static struct variable *find(const struct variables *variables, const char *name)
{
	for (size_t i = 0; i < variables->count; i++)
		if (strcmp(variables->items[i].name, name) == 0)
			return &variables->items[i];
	return NULL;
}

static void take(void *data, struct span name, const char *value)
{
	const struct taking *taking = data;
	struct variables *variables = taking->variables;
	_cleanup_free_ char *key = mem_dup(name.data, name.len);
	struct variable *item;
	bool projects;

	if (getenv(key) || !takes(taking, name, key, value, &projects))
		return;
	item = find(variables, key);
	if (item && taking->behind && !item->behind)
		return;
	if (!item && variables->count == LIMIT_ENV_FILE_VARIABLES)
		return;
	if (!item) {
		if (variables->count == variables->cap)
			variables->items = mem_grow(variables->items, &variables->cap,
			                            variables->count + 1, sizeof(*item));
		item = &variables->items[variables->count++];
		*item = (struct variable){ .name = mem_steal(&key) };
	}
	free(item->value);
	item->projects = projects;
	item->behind = taking->behind;
	item->value = mem_strdup(value);
	if (taking->project && !taking->options->trusted)
		keep_harmless(item->value);
}

/* A project's is anybody's: it is in the folder where it was found, whatever link stands there. */
static bool read_text(const struct taking *taking, struct file_text *ret, struct err *err)
{
	_cleanup_free_ char *folder = path_folder(taking->path);
	_cleanup_free_ char *above = taking->gemini ? path_folder(folder) : NULL;

	if (!taking->project)
		return file_read(taking->path, LIMIT_ENV_FILE_BYTES, ret, err);
	return door_read(above ? above : folder, taking->path, LIMIT_ENV_FILE_BYTES, ret, err);
}

static bool read_file(struct taking *taking, const char *path)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err err = ERR_INIT;

	taking->path = path;
	taking->gemini = span_ends(span_str(path), SPAN("/.gemini/.env"));
	if (!read_text(taking, &text, &err)) {
		warnings_add(taking->options->warnings, json_cstr(err.message));
		return false;
	}
	taking->text = file_text_span(&text);
	*taking->counted = (struct counted){ 0 };
	if (text.data)
		env_file_parse(taking->text, take, taking);
	return true;
}

struct variables *variables_open(const struct variables_options *options)
{
	struct variables *variables = mem_alloc(1, sizeof(*variables));
	struct counted counted = { 0 };
	struct taking taking = { .variables = variables, .options = options, .counted = &counted };
	_cleanup_free_ char *path = find_file(options, &taking.project), *users = NULL;

	if (!path)
		return variables;
	users = taking.project ? file_in(options, home_user(options->home)) : NULL;
	if (read_file(&taking, path))
		variables->file = mem_steal(&path);
	taking.project = false;
	taking.behind = true;
	if (users)
		read_file(&taking, users);
	return variables;
}

void variables_free(struct variables *variables)
{
	if (!variables)
		return;
	for (size_t i = 0; i < variables->count; i++) {
		free(variables->items[i].name);
		free(variables->items[i].value);
	}
	free(variables->items);
	free(variables->file);
	free(variables);
}

/* --- Use ----------------------------------------------------------------------------------- */

const char *variables_get(const struct variables *variables, const char *name)
{
	const char *value = getenv(name);
	const struct variable *item = value ? NULL : find(variables, name);

	return item ? item->value : value;
}

bool variables_is_projects(const struct variables *variables, const char *name)
{
	const struct variable *item = getenv(name) ? NULL : find(variables, name);

	return item && item->projects;
}

const char *variables_file(const struct variables *variables)
{
	return variables->file;
}

char **variables_list(const struct variables *variables)
{
	size_t count = 0;
	char **list;

	while (environ && environ[count])
		count++;
	list = mem_alloc(count + variables->count + 1, sizeof(*list));
	for (size_t i = 0; i < count; i++)
		list[i] = mem_strdup(environ[i]);
	for (size_t i = 0; i < variables->count; i++)
		list[count + i] = mem_printf("%s=%s", variables->items[i].name,
		                             variables->items[i].value);
	return list;
}
