/* SPDX-License-Identifier: Apache-2.0 */
/* Variables: of the environment and of .env files, and as parts of strings. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/authority.h"
#include "config/private.h"
#include "config/settings.h"
#include "data/json.h"
#include "data/warnings.h"

/* ---- who sets them ----------------------------------------------------------- */

struct env_variable {
	char *name, *value;
	bool projects; /* of a project's file, and not allowed: not for settings of others */
	bool lacking;  /* likewise a key: the user's own comes first */
	bool behind;   /* of the user's file, behind a project's */
	char *users;   /* the same, where the project's has another value, which is for its own
	                * settings alone; or NULL */
};

struct variables {
	struct env_variable *items; /* of the .env file, each name once */
	size_t count, cap;
	char *file; /* NULL: none */
	bool users; /* it is the user's own */
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

/* Whether the file belongs to the user or root, and not every user may write it; or, under sudo, to
 * the home folder's owner. *ret_owner: whose it is. */
static bool is_own_file(const char *path, const char *home, uid_t *ret_owner)
{
	struct stat file, folder;

	if (stat(path, &file) != 0)
		return false;
	*ret_owner = file.st_uid;
	if (file.st_uid == geteuid() || file.st_uid == 0)
		return !(file.st_mode & S_IWOTH);
	/* sudo leaves $HOME as it is: that home's owner is who began it. */
	return home && stat(home, &folder) == 0 && folder.st_uid == file.st_uid;
}

/* Takes the path of a file in a folder on the way up; it, or NULL: it does not count. */
static char *counting(const struct variables_options *options, const char *folder, char *path)
{
	const bool home = strcmp(folder, home_user(options->home)) == 0;
	struct err ignored = ERR_INIT;
	uid_t owner = 0;

	if (!path)
		return NULL;
	if (!is_own_file(path, home ? folder : NULL, &owner)) {
		_cleanup_free_ char *sentence = mem_printf(
			"%s is not read: it belongs to another user, or others may write it "
			"(owner %u).", path, (unsigned)owner);

		warnings_add(options->warnings, json_cstr(sentence));
	} else if (home || strcmp(folder, home_project(options->home)) == 0 ||
	           options->all_trusted || trust_by_rules(options->home, folder, &ignored) ==
	                                           TRUST_YES) {
		return path;
	} else {
		_cleanup_free_ char *sentence = mem_printf(
			"%s is not read: its folder is not trusted. \"hasp config trust %s\" "
			"changes that.", path, folder);

		warnings_add(options->warnings, json_cstr(sentence));
	}
	free(path);
	return NULL;
}

/* The file of one folder on the way up. */
static char *file_in(const struct variables_options *options, const char *folder)
{
	const char *slash = strcmp(folder, "/") == 0 ? "" : folder;
	bool home = strcmp(folder, home_user(options->home)) == 0;
	char *found = NULL;

	if (!options->trusted && !home)
		return NULL;
	found = counting(options, folder, regular(mem_printf("%s/.gemini/.env", slash)));
	if (!found && (!options->ignore_env_files || home))
		found = counting(options, folder, regular(mem_printf("%s/.env", slash)));
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
	bool behind;  /* it is the user's, behind a project's: what steers hasp counts, and what
	               * settings name */
};

static unsigned taking_line(const struct taking *taking, struct span name)
{
	struct counted *counted = taking->counted;

	if (!counted->at || counted->at > name.data)
		*counted = (struct counted){ taking->text.data, 1 };
	for (; counted->at < name.data; counted->at++)
		counted->line += *counted->at == '\n';
	return counted->line;
}

__attribute__((format(printf, 3, 4)))
static void taking_warn(const struct taking *taking, struct span name, const char *format, ...)
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
	buf_printf(&sentence, "%s, line %u: %s", taking->path, taking_line(taking, name), text);
	warnings_add(taking->options->warnings, json_text(buf_view(&sentence)));
}

/* The last of several lines for one name is the one that would count. */
static void withhold(const struct taking *taking, struct span name, json_t *value)
{
	json_t *one = json_pack("{s:o, s:O, s:o, s:i}", "name", json_text(name), "value", value,
	                        "file", json_cstr(taking->path), "line",
	                        (int)taking_line(taking, name)), *other;
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

	return authority_allows(taking->options->allowed, name, text);
}

/* A variable that hasp obeys, of a trusted project's file. */
static bool project_may_give(const struct taking *taking, const struct authority_row *row,
                             struct span name, const char *key, const char *value)
{
	json_auto_t *text = json_text(span_str(value));
	json_t *part, *rest;

	if (authority_permits(row->project, home_project(taking->options->home), text, &part,
	                      &rest) == PERMITTED_ALL)
		return true;
	if (!authority_can_be_allowed(row->project)) {
		if (!row->others)
			taking_warn(taking, name, "A project cannot set \"%.128s\"; it is ignored.",
			            key);
		return false;
	}
	if (is_allowed(taking, key, value))
		return true;
	withhold(taking, name, text);
	taking_warn(taking, name, "The project's \"%.128s\" is ignored until you run: "
	            "hasp config allow %.128s", key, key);
	return false;
}

/* ret->projects and ->lacking are set. */
static bool taking_accepts(const struct taking *taking, struct span name, const char *key,
                           const char *value, struct env_variable *ret)
{
	const struct authority_row *row = authority_variable(name);
	bool *says = row ? &ret->lacking : &ret->projects;

	if (!taking->project)
		return !taking->behind || !row ||
		       (!row->others && row->project != AUTHORITY_TRUSTED);
	if (!taking->gemini && json_lists(taking->options->excluded, name))
		return false;
	if (row && row->project != AUTHORITY_LACKING)
		return project_may_give(taking, row, name, key, value);
	*says = !is_allowed(taking, key, value);
	if (*says) {
		json_auto_t *text = json_text(span_str(value));

		withhold(taking, name, text);
	}
	return true;
}

static struct env_variable *variables_find(const struct variables *variables, const char *name)
{
	for (size_t i = 0; i < variables->count; i++)
		if (strcmp(variables->items[i].name, name) == 0)
			return &variables->items[i];
	return NULL;
}

static void take_variable(void *data, struct span name, const char *value)
{
	const struct taking *taking = data;
	struct variables *variables = taking->variables;
	_cleanup_free_ char *key = mem_dup(name.data, name.len);
	struct env_variable *item, said = { 0 };

	if (getenv(key) || !taking_accepts(taking, name, key, value, &said))
		return;
	item = variables_find(variables, key);
	if (item && taking->behind && !item->behind && !item->lacking) {
		if (item->projects) {
			free(item->users);
			item->users = mem_strdup(value);
		}
		return;
	}
	if (!item && variables->count == LIMIT_ENV_FILE_VARIABLES)
		return;
	if (!item) {
		if (variables->count == variables->cap)
			variables->items = mem_grow(variables->items, &variables->cap,
			                            variables->count + 1, sizeof(*item));
		item = &variables->items[variables->count++];
		*item = (struct env_variable){ .name = mem_steal(&key) };
	}
	free(item->value);
	item->projects = said.projects;
	item->lacking = said.lacking;
	item->behind = taking->behind;
	item->value = mem_strdup(value);
}

/* A project's is anybody's: it is in the folder where it was found, whatever link stands there. */
static bool read_env_text(const struct taking *taking, struct file_text *ret, struct err *err)
{
	_cleanup_free_ char *folder = path_folder(taking->path);
	_cleanup_free_ char *above = taking->gemini ? path_folder(folder) : NULL;

	if (!taking->project)
		return file_read(taking->path, LIMIT_ENV_FILE_BYTES, ret, err);
	return door_read(above ? above : folder, taking->path, LIMIT_ENV_FILE_BYTES, ret, err);
}

static bool read_env_file(struct taking *taking, const char *path)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err err = ERR_INIT;

	taking->path = path;
	taking->gemini = span_ends(span_str(path), SPAN("/.gemini/.env"));
	if (!read_env_text(taking, &text, &err)) {
		warnings_add(taking->options->warnings, json_cstr(err.message));
		return false;
	}
	taking->text = file_text_span(&text);
	*taking->counted = (struct counted){ 0 };
	if (text.data)
		env_file_parse(taking->text, take_variable, taking);
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
	variables->users = !taking.project;
	if (read_env_file(&taking, path))
		variables->file = mem_steal(&path);
	taking.project = false;
	taking.behind = true;
	if (users)
		read_env_file(&taking, users);
	return variables;
}

void variables_free(struct variables *variables)
{
	if (!variables)
		return;
	for (size_t i = 0; i < variables->count; i++) {
		free(variables->items[i].name);
		free(variables->items[i].value);
		free(variables->items[i].users);
	}
	free(variables->items);
	free(variables->file);
	free(variables);
}

bool variables_is_users(const struct variables *variables, const char *name)
{
	const struct env_variable *item = variables_find(variables, name);

	return item && (item->behind || variables->users);
}

/* --- Keeping ------------------------------------------------------------------------------ */

char *variables_users_file(const struct home *home)
{
	return mem_printf("%s/.env", home_gemini(home));
}

bool variables_is_plain(const char *value)
{
	for (const char *c = value; *c; c++)
		if (*c <= ' ' || *c > '~' || strchr("'\"`\\", *c))
			return false;
	return *value;
}

bool variables_keep(const struct home *home, const char *name, const char *value, struct err *err)
{
	_cleanup_free_ char *path = variables_users_file(home);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_ENV_FILE_BYTES);
	_cleanup_file_text_ struct file_text text = { 0 };
	_cleanup_lock_ char *lock = NULL;

	if (!variables_is_plain(value))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "This is not a key: a key is one word of letters, digits and "
		               "signs.");
	if (!file_make_parent(path, err))
		return false;
	lock = home_lock_file(path, err);
	if (!lock || !file_read(path, LIMIT_ENV_FILE_BYTES, &text, err))
		return false;
	buf_span(&out, file_text_span(&text));
	if (text.len && text.data[text.len - 1] != '\n')
		buf_char(&out, '\n');
	buf_printf(&out, "%s='%s'\n", name, value);
	if (out.overflowed)
		return err_set(err, ERR_TOO_LARGE, "%s would become too large.", path);
	return file_replace(path, buf_view(&out), 0600, err);
}

/* Whether a line of the file sets the variable. */
static bool line_sets(struct span line, const char *name)
{
	line = span_trim(line);
	if (span_starts(line, SPAN("export ")))
		line = span_trim(span_skip(line, strlen("export ")));
	if (!span_starts(line, span_str(name)))
		return false;
	return span_starts(span_trim(span_skip(line, strlen(name))), SPAN("="));
}

/* Whether a quotation mark stays open at the end of the line. */
static bool line_stays_open(struct span line)
{
	const char *equals = memchr(line.data, '=', line.len);
	struct span value = span_trim(span_skip(line, (size_t)(equals + 1 - line.data)));

	return value.len && strchr("'\"`", value.data[0]) &&
	       !memchr(value.data + 1, value.data[0], value.len - 1);
}

bool variables_drop(const struct home *home, const char *name, bool *ret_removed, struct err *err)
{
	_cleanup_free_ char *path = variables_users_file(home);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_ENV_FILE_BYTES);
	_cleanup_file_text_ struct file_text text = { 0 };
	_cleanup_lock_ char *lock = NULL;
	struct span rest;

	*ret_removed = false;
	if (access(path, F_OK) != 0)
		return true;
	lock = home_lock_file(path, err);
	if (!lock || !file_read(path, LIMIT_ENV_FILE_BYTES, &text, err))
		return false;
	for (rest = file_text_span(&text); rest.len;) {
		const char *end = memchr(rest.data, '\n', rest.len);
		const struct span line = span_head(rest, end ? (size_t)(end + 1 - rest.data) :
		                                               rest.len);

		rest = span_skip(rest, line.len);
		if (!line_sets(line, name)) {
			buf_span(&out, line);
			continue;
		}
		if (line_stays_open(line))
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "%s in %s spans several lines: remove it there.",
			               name, path);
		*ret_removed = true;
	}
	return !*ret_removed || file_replace(path, buf_view(&out), 0600, err);
}

/* --- Use ----------------------------------------------------------------------------------- */

const char *variables_get(const struct variables *variables, const char *name)
{
	const char *value = getenv(name);
	const struct env_variable *item = value ? NULL : variables_find(variables, name);

	return item ? item->value : value;
}

/* The variable whose value is of a project's .env, and not for settings of others; NULL: it is
 * not. */
static const struct env_variable *projects_variable(const struct variables *variables,
                                                    const char *name)
{
	const struct env_variable *item = getenv(name) ? NULL : variables_find(variables, name);

	return item && item->projects ? item : NULL;
}

const char *variables_own(const struct variables *variables, const char *name)
{
	const struct env_variable *item = getenv(name) ? NULL : variables_find(variables, name);

	if (item && (item->projects || item->lacking))
		return item->users;
	return variables_get(variables, name);
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

/* ---- in strings -------------------------------------------------------------- */

/* Variables in strings:
 *
 *     reference = "$" 1*word | "${" name [ ":-" default ] "}"
 *     word      = letter | digit | "_"
 *     name      = 1*any but "}"           default = *any but "}"
 */

struct reference {
	struct span whole;
	struct span name;
	struct span fallback;
	bool has_fallback;
};

static bool read_word(struct span rest, struct reference *ret)
{
	size_t len = 1;

	while (len < rest.len && (isalnum((unsigned char)rest.data[len]) || rest.data[len] == '_'))
		len++;
	*ret = (struct reference){ .whole = span_head(rest, len),
		                   .name = span_of(rest.data + 1, len - 1) };
	return len > 1;
}

static bool read_braces(struct span rest, struct reference *ret)
{
	const char *close = memchr(rest.data, '}', rest.len);
	const char *mark;
	struct span inside;

	if (!close || close == rest.data + 2)
		return false;
	inside = span_of(rest.data + 2, (size_t)(close - rest.data - 2));
	*ret = (struct reference){ .whole = span_of(rest.data, (size_t)(close + 1 - rest.data)),
		                   .name = inside };
	/* A name has one character at least: the mark is looked for after it. */
	mark = memmem(inside.data + 1, inside.len - 1, ":-", 2);
	if (mark) {
		ret->name = span_of(inside.data, (size_t)(mark - inside.data));
		ret->fallback = span_skip(inside, ret->name.len + 2);
		ret->has_fallback = true;
	}
	return true;
}

/* One value's expansion: `left` is how much longer all strings together may become. */
struct variable_expansion {
	const struct variables *variables;
	size_t left;
	bool own, braces; /* `braces`: "${NAME}" alone, not "$NAME" */
	json_t *warnings;
	const json_t *more; /* {NAME: text} that come first; or NULL */
};

static void warn_of_projects(const struct variable_expansion *expansion, const char *name)
{
	_cleanup_free_ char *sentence = mem_printf(
		"$%.64s is set only by the project's %s, so it is not expanded in other settings "
		"until you run: hasp config allow %.64s",
		name, variables_file(expansion->variables), name);
	json_auto_t *text = json_text(span_str(sentence));
	json_t *known;
	size_t i;

	json_array_foreach(expansion->warnings, i, known)
		if (json_equal(known, text))
			return;
	warnings_add(expansion->warnings, mem_steal(&text));
}

static void put_reference(const struct variable_expansion *expansion,
                          const struct reference *reference, struct buf *out)
{
	_cleanup_free_ char *name = mem_dup(reference->name.data, reference->name.len);
	const char *more = json_string_value(json_object_get(expansion->more, name));
	const char *value = more ? more : variables_get(expansion->variables, name);
	const struct env_variable *projects =
		!more && expansion->own ? projects_variable(expansion->variables, name) : NULL;

	if (projects) {
		value = projects->users;
		if (!value)
			warn_of_projects(expansion, name);
	}
	if (value)
		buf_str(out, value);
	else
		buf_span(out, reference->has_fallback ? reference->fallback : reference->whole);
}

static void expand_text(const struct variable_expansion *expansion, struct span text,
                        struct buf *out)
{
	const char *last_brace = text.len ? memrchr(text.data, '}', text.len) : NULL;

	while (text.len) {
		const char *dollar = memchr(text.data, '$', text.len);
		struct reference reference;

		buf_span(out, dollar ? span_head(text, (size_t)(dollar - text.data)) : text);
		if (!dollar)
			return;
		text = span_skip(text, (size_t)(dollar - text.data));
		if (text.len > 1 && (text.data[1] != '{' ? !expansion->braces &&
		                                             read_word(text, &reference)
		                     : last_brace && text.data < last_brace
			                     ? read_braces(text, &reference)
			                     : false)) {
			put_reference(expansion, &reference, out);
			text = span_skip(text, reference.whole.len);
		} else {
			buf_char(out, '$');
			text = span_skip(text, 1);
		}
	}
}

static json_t *expand_value(struct variable_expansion *expansion, const json_t *value);

static json_t *expand_string(struct variable_expansion *expansion, const json_t *value)
{
	struct span text = json_span(value);
	_cleanup_buf_ struct buf out = BUF_INIT(expansion->left);

	if (!text.len || !memchr(text.data, '$', text.len))
		return json_incref((json_t *)value);
	expand_text(expansion, text, &out);
	if (out.overflowed)
		return json_incref((json_t *)value);
	expansion->left -= out.len;
	return json_text(buf_view(&out));
}

static json_t *expand_array(struct variable_expansion *expansion, const json_t *value)
{
	json_t *result = json_array();
	const json_t *item;
	size_t i;

	json_array_foreach(value, i, item)
		json_array_append_new(result, expand_value(expansion, item));
	return result;
}

/* Recursion is bounded by the depth to which files of settings are read (JSONC_DEPTH_MAX). */
static json_t *expand_value(struct variable_expansion *expansion, const json_t *value)
{
	const char *name;
	json_t *result, *member;

	if (json_is_string(value))
		return expand_string(expansion, value);
	if (json_is_array(value))
		return expand_array(expansion, value);
	if (!json_is_object(value))
		return json_incref((json_t *)value);
	result = json_object();
	json_object_foreach((json_t *)value, name, member)
		json_object_set_new_nocheck(result, name, expand_value(expansion, member));
	return result;
}

json_t *variables_expand_json(const struct variables *variables, const json_t *value, bool own,
                              json_t *warnings)
{
	struct variable_expansion expansion = {
		.variables = variables, .left = LIMIT_EXPANDED_BYTES, .own = own,
		.braces = false, .warnings = warnings,
	};

	return expand_value(&expansion, value);
}

json_t *variables_expand_braces(const struct variables *variables, const json_t *value, bool own,
                                json_t *warnings)
{
	struct variable_expansion expansion = {
		.variables = variables, .left = LIMIT_EXPANDED_BYTES, .own = own,
		.braces = true, .warnings = warnings,
	};

	return expand_value(&expansion, value);
}

json_t *variables_expand_more(const struct variables *variables, const json_t *value,
                              const json_t *more, json_t *warnings)
{
	struct variable_expansion expansion = {
		.variables = variables, .left = LIMIT_EXPANDED_BYTES, .own = true,
		.warnings = warnings, .more = more,
	};

	return expand_value(&expansion, value);
}
