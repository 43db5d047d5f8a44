/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/env_file.h"
#include "config/variables_private.h"
#include "data/json.h"

struct variable {
	char *name, *value;
};

struct variables {
	struct variable *items; /* of the .env file, each name once */
	size_t count, cap;
	char *file; /* NULL: there is none */
};

/* What is taken of a file that anybody could have written, and of which only harmless characters.
 * */
static const char *const untrusted_names[] = {
	"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
};

/* They start a program: never from a project. */
static const char *const never_from_project[] = {
	"GEMINI_CLI_IDE_SERVER_STDIO_COMMAND", "GEMINI_CLI_IDE_SERVER_STDIO_ARGS",
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

struct taking {
	struct variables *variables;
	const struct variables_options *options;
	bool project; /* the file is not the user's own */
	bool gemini;  /* it is one of .gemini */
};

static bool among(const char *const *names, size_t count, struct span name)
{
	for (size_t i = 0; i < count; i++)
		if (span_eq(span_str(names[i]), name))
			return true;
	return false;
}

static bool is_excluded(const struct taking *taking, struct span name)
{
	const json_t *item;
	size_t i;

	if (!taking->project)
		return false;
	if (among(never_from_project, ARRAY_LEN(never_from_project), name))
		return true;
	if (!taking->options->trusted)
		return !among(untrusted_names, ARRAY_LEN(untrusted_names), name);
	if (taking->gemini)
		return false;
	json_array_foreach(taking->options->excluded, i, item)
		if (span_eq(json_span(item), name))
			return true;
	return false;
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

	if (is_excluded(taking, name) || getenv(key))
		return;
	item = find(variables, key);
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
	item->value = mem_strdup(value);
	if (taking->project && !taking->options->trusted)
		keep_harmless(item->value);
}

/* A project's is anybody's: it is in the folder where it was found, whatever link stands there. */
static bool read_file(const struct taking *taking, const char *path, struct file_text *ret,
                      struct err *err)
{
	_cleanup_free_ char *folder = path_folder(path);
	_cleanup_free_ char *above = taking->gemini ? path_folder(folder) : NULL;

	if (!taking->project)
		return file_read(path, LIMIT_ENV_FILE_BYTES, ret, err);
	return door_read(above ? above : folder, path, LIMIT_ENV_FILE_BYTES, ret, err);
}

struct variables *variables_open(const struct variables_options *options)
{
	struct variables *variables = mem_alloc(1, sizeof(*variables));
	struct taking taking = { .variables = variables, .options = options };
	_cleanup_free_ char *path = find_file(options, &taking.project);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err err = ERR_INIT;

	if (!path)
		return variables;
	taking.gemini = span_ends(span_str(path), SPAN("/.gemini/.env"));
	if (!read_file(&taking, path, &text, &err)) {
		json_array_append_new(options->warnings, json_cstr(err.message));
		return variables;
	}
	if (text.data)
		env_file_parse(file_text_span(&text), take, &taking);
	variables->file = mem_steal(&path);
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
