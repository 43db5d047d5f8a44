/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the workspace that a command of hasp's own names: part of what the user trusted.
 *
 * A hook, a status line and a login's command run outside of the sandbox.  Where such a command
 * names a file that commands of the workspace may write ("$GEMINI_PROJECT_DIR/tools/guard.sh"), to
 * trust the command's text alone is to trust whatever is put there later.  So the user's own
 *
 *     ~/.gemini/hasp-trusted-files.json
 *     { "/the/project": { "/the/project/tools/guard.sh":
 *             { "sha256": "...", "leads": where links lead, "text": what was trusted,
 *               "since": when, in nanoseconds }, ... } }
 *
 * has each of them as it was when "hasp hooks trust" wrote it down, and a command that names one
 * which is not as recorded does not run.  A name without a file needs no record: nothing runs by
 * it.
 *
 * The file is compared by its path and then runs by its path: a script finds what lies next to it
 * by its own name ($0, import, require), which a copy elsewhere would take from it.  What keeps it
 * as it is in between: what the sandbox starts after the file was trusted cannot change it
 * (agent/setup/kept.c), and while something runs that was started before, or before the file was
 * last changed by others, the command is refused (held_is_quiet).  That is looked up first and
 * compared then: what is started in between knows the record.
 *
 * Which words of a command may be files: sandbox/plan/git_values.h.  What the files run in turn,
 * and what lies in a folder that is named, is not held (docs/hooks.md says so).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/path.h"
#include "base/sha256.h"
#include "data/json.h"
#include "hooks/hook.h"
#include "sandbox/guard/guard.h"
#include "sandbox/plan/git_values.h"
#include "sandbox/plan/location.h"

enum { HELD_DEPTH = 8 };

/* ---- what a command names ---------------------------------------------------- */

struct held_file {
	char *name;  /* owned; absolute, as the command has it */
	char *leads; /* owned; canonical: where links lead */
	json_t *links; /* owned; links on its way that lie inside; or NULL */
	bool inside; /* that is inside of the roots, and so its content counts */
	bool there;
};

struct held {
	const struct hooks *hooks;
	char **environment;      /* of the command */
	struct held_file *files; /* owned */
	size_t count, cap, words;
	json_t *loose;           /* sentences' parts: what is named and cannot be held; or NULL */
	json_t *links;           /* owned; of the word in hand: links on its way that lie inside */
	bool too_many;
};

/* A variable stands in a command as this and its number among those of its environment: its value
 * may have blanks. */
#define PLACEHOLDER "/.hasp-variable-"

/* The project, the folder where commands run, and what else commands may write; canonical. */
void held_set_roots(struct hooks *hooks, const struct hooks_options *options)
{
	const char *const own[] = { options->project, options->cwd };
	size_t more = 0, count = 0;

	while (options->roots && options->roots[more])
		more++;
	hooks->roots = mem_alloc(2 * (more + ARRAY_LEN(own)) + 1, sizeof(*hooks->roots));
	for (size_t i = 0; i < more + ARRAY_LEN(own); i++) {
		const char *path = i < more ? options->roots[i] : own[i - more];
		char *real = path ? realpath(path, NULL) : NULL;

		if (path && path[0] == '/')
			hooks->roots[count++] = path_join("/", path);
		if (real)
			hooks->roots[count++] = real;
	}
}

static bool inside_roots(const struct hooks *hooks, const char *path)
{
	for (char **root = hooks->roots; root && *root; root++)
		if (path_is_under(path, *root))
			return true;
	return false;
}

static bool names_root(const struct hooks *hooks, const char *path)
{
	for (char **root = hooks->roots; root && *root; root++)
		if (strcmp(path, *root) == 0)
			return true;
	return false;
}

static const char *variable_value(char *const *environment, struct span name, size_t *ret_number)
{
	/* What the shell sets itself. */
	if (span_eq(name, SPAN("PWD")) || span_eq(name, SPAN("OLDPWD")))
		return NULL;
	for (size_t i = 0; environment[i]; i++)
		if (strncmp(environment[i], name.data, name.len) == 0 &&
		    environment[i][name.len] == '=') {
			*ret_number = i;
			return environment[i] + name.len + 1;
		}
	return NULL;
}

/* The length of "$NAME" or "${NAME}" at `text`, with its name; 0: it is something else. */
static size_t reference_at(const char *text, struct span *ret_name)
{
	const bool braces = text[0] == '$' && text[1] == '{';
	const char *at = text + 1 + braces;
	size_t len = 0;

	while (text[0] == '$' && (ascii_is_alnum(at[len]) || at[len] == '_'))
		len++;
	*ret_name = span_of(at, len);
	return !len || (braces && at[len] != '}') ? 0 : 1 + len + 2 * (size_t)braces;
}

/* The command with placeholders for the variables that it is given. */
static void held_text(const struct held *held, const char *command, struct buf *out)
{
	while (*command) {
		struct span name;
		size_t number, len = reference_at(command, &name);

		if (len && variable_value(held->environment, name, &number)) {
			buf_printf(out, PLACEHOLDER "%zu", number);
			command += len;
		} else {
			buf_char(out, *command++);
		}
	}
}

/* The word with its variable's value; the caller frees.  NULL: that is no path. */
static char *word_path(const struct held *held, struct span word, const char *folder)
{
	const struct span mark = SPAN(PLACEHOLDER);
	_cleanup_free_ char *text = NULL;
	const char *home;
	size_t number, at = 0, count = 0;

	while (held->environment[count])
		count++;
	if (span_starts(word, mark)) {
		text = mem_dup(word.data + mark.len, word.len - mark.len);
		at = strspn(text, "0123456789");
		number = strtoul(text, NULL, 10);
		if (!at || number >= count)
			return NULL;
		char *whole = mem_printf("%s%s", strchr(held->environment[number], '=') + 1,
		                         text + at);

		free(text);
		text = whole;
	} else if (word.data[0] == '~' && variable_value(held->environment, SPAN("HOME"),
	                                                 &number)) {
		home = strchr(held->environment[number], '=') + 1;
		text = mem_printf("%s%.*s", home, (int)word.len - 1, word.data + 1);
	} else {
		text = mem_dup(word.data, word.len);
	}
	if (!*text || strlen(text) >= LIMIT_PATH_BYTES)
		return NULL;
	/* ".." behind a link is not the folder before it. */
	if (!strstr(text, ".."))
		return path_join(folder, text);
	return *text == '/' ? mem_strdup(text) : mem_printf("%s/%s", folder, text);
}

static void note_link(void *data, const char *path)
{
	struct held *held = data;

	if (inside_roots(held->hooks, path))
		json_array_append_new(held->links, json_path_bytes(path));
}

static void note_loose(struct held *held, const char *before, const char *name,
                       const char *behind)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(8 * LIMIT_PATH_BYTES);
	_cleanup_free_ char *text = NULL;

	name_line(&shown, span_str(name));
	text = mem_printf("%s%s%s", before, shown.data ? shown.data : "", behind);
	if (held->loose && !json_lists(held->loose, span_str(text)) &&
	    json_array_size(held->loose) < LIMIT_HELD_FILES)
		json_array_append_new(held->loose, json_text(span_str(text)));
}

static bool held_is_noted(const struct held *held, const char *name)
{
	for (size_t i = 0; i < held->count; i++)
		if (strcmp(held->files[i].name, name) == 0)
			return true;
	return false;
}

/* `name` is taken. */
static void held_note_named(struct held *held, char *name)
{
	_cleanup_location_ struct location place = { 0 };
	json_auto_t *links = held->links = json_array();
	struct held_file *file;
	bool counts;

	location_resolve("/", name, note_link, held, &place);
	held->links = NULL;
	counts = (inside_roots(held->hooks, name) || json_array_size(links) ||
	          (place.path && inside_roots(held->hooks, place.path))) &&
	         !held_is_noted(held, name);
	if (counts && place.kind == LOCATION_FOLDER && !names_root(held->hooks, place.path))
		note_loose(held, "what lies in ", name, "");
	if (!counts || place.kind == LOCATION_FOLDER) {
		free(name);
		return;
	}
	if (held->count == LIMIT_HELD_FILES) {
		held->too_many = true;
		free(name);
		return;
	}
	held->files = mem_grow(held->files, &held->cap, held->count + 1, sizeof(*held->files));
	file = &held->files[held->count++];
	*file = (struct held_file){ .name = name, .there = place.kind != LOCATION_MISSING };
	file->inside = !place.path || inside_roots(held->hooks, place.path);
	file->leads = place.path ? mem_steal(&place.path) : mem_strdup(name);
	file->links = json_incref(links);
}

static void note_word(void *data, enum git_word kind, struct span word)
{
	struct held *held = data;
	const struct hooks *hooks = held->hooks;
	const char *const folders[] = { hooks->cwd, hooks->project };

	if (kind == GIT_WORD_UNKNOWN) {
		_cleanup_free_ char *text = mem_dup(word.data, word.len);

		note_loose(held, "what \"", text, "\" stands for");
		return;
	}
	if (++held->words > LIMIT_HELD_WORDS)
		held->too_many = true;
	for (size_t i = 0; i < ARRAY_LEN(folders) && !held->too_many; i++) {
		char *name = folders[i] && (!i || !folders[0] ||
		                            strcmp(folders[0], folders[1]) != 0) ?
		                     word_path(held, word, folders[i]) : NULL;

		if (name)
			held_note_named(held, name);
	}
}

static void held_release(struct held *held)
{
	for (size_t i = 0; i < held->count; i++) {
		free(held->files[i].name);
		free(held->files[i].leads);
		json_decref(held->files[i].links);
	}
	free(held->files);
	for (size_t i = 0; held->environment && held->environment[i]; i++)
		free(held->environment[i]);
	free(held->environment);
}

/* The files inside the roots that the hook's command and its env name. */
static void held_find(const struct hooks *hooks, const struct hook *hook, json_t *loose,
                      struct held *ret)
{
	const char *texts[] = { hook->command };
	size_t own = 0;

	*ret = (struct held){ .hooks = hooks, .loose = loose,
		              .environment = hook_environment(hooks, hook) };
	while (hook->env && hook->env[own])
		own++;
	for (size_t i = 0; i < 1 + own; i++) {
		const char *text = i ? strchr(hook->env[i - 1], '=') + 1 : texts[0];
		_cleanup_buf_ struct buf command = BUF_INIT(LIMIT_HELD_COMMAND_BYTES);

		held_text(ret, text, &command);
		ret->too_many |= command.overflowed;
		git_value_command_words(buf_view(&command), note_word, ret);
	}
}

/* ---- as they are, and as they were trusted ------------------------------------ */

static char *held_record_path(const struct hooks *hooks)
{
	_cleanup_free_ char *folder = path_folder(hooks->trust_file);

	return mem_printf("%s/hasp-trusted-files.json", folder);
}

/* Of all projects; {} when there is none.  NULL: *err. */
static json_t *record_read(const struct hooks *hooks, struct err *err)
{
	_cleanup_free_ char *path = held_record_path(hooks);
	_cleanup_file_text_ struct file_text text = { 0 };
	json_t *all = NULL;

	if (!file_read(path, LIMIT_HELD_RECORD_BYTES, &text, err))
		return NULL;
	if (!text.data)
		return json_object();
	if (json_parse_depth(file_text_span(&text), HELD_DEPTH, &all, err) && json_is_object(all))
		return all;
	json_decref(all);
	err_set(err, ERR_INVALID_ARGUMENT, "%s cannot be read as the record of trusted files.",
	        path);
	return NULL;
}

static const char *root_of(const struct hooks *hooks, const char *path)
{
	for (char **root = hooks->roots; root && *root; root++)
		if (path_is_under(path, *root))
			return *root;
	return "/";
}

/* The row that the file has now, a new reference; JSON null: there is none. NULL: it cannot be
 * read. */
static json_t *held_row(const struct hooks *hooks, const struct held_file *file, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct sha256 sum;
	json_t *row;

	if (!file->there)
		return json_null();
	row = json_object();
	if (strcmp(file->name, file->leads) != 0)
		json_object_set_new(row, "leads", json_name(file->leads));
	if (!file->inside)
		return row;
	if (!door_read(root_of(hooks, file->leads), file->leads, LIMIT_HELD_BYTES, &text, err)) {
		json_decref(row);
		return NULL;
	}
	if (!text.data) {
		json_decref(row);
		return json_null();
	}
	sum = sha256_of(file_text_span(&text));
	json_object_set_new(row, "sha256", json_sha256(&sum));
	if (text.len <= LIMIT_HELD_TEXT_BYTES && !memchr(text.data, 0, text.len))
		json_object_set_new(row, "text", json_text(file_text_span(&text)));
	return row;
}

/* NULL: they are the same. */
static const char *held_change(const json_t *before, const json_t *now)
{
	static const char *const members[] = { "sha256", "leads" };

	if (!json_is_object(before))
		return json_is_object(now) ? "new" : NULL;
	if (!json_is_object(now))
		return "missing";
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const json_t *old = json_object_get(before, members[i]);
		const json_t *new = json_object_get(now, members[i]);

		if (old || new ? !json_equal(old, new) : false)
			return "changed";
	}
	return NULL;
}

static void shown_name(const struct hooks *hooks, const char *name, struct buf *out)
{
	const size_t len = hooks->project ? strlen(hooks->project) : 0;
	const bool under = len && path_is_under(name, hooks->project) && name[len] == '/';

	name_line(out, span_str(under ? name + len + 1 : name));
}

const char *hooks_held_sentence(const char *state)
{
	static const struct {
		const char *state, *sentence;
	} rows[] = {
		{ "new", "is not trusted yet" },
		{ "missing", "was trusted and is missing" },
		{ "unreadable", "cannot be read" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].state, state) == 0)
			return rows[i].sentence;
	return "has changed since it was trusted";
}

static bool held_refuse(const struct hooks *hooks, const char *name, const char *change,
                        struct err *err)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(8 * LIMIT_PATH_BYTES);
	shown_name(hooks, name, &shown);
	return err_set(err, ERR_DENIED_BY_POLICY,
	               "%.200s, which it runs or reads, %s. \"hasp hooks list\" shows the "
	               "difference, \"hasp hooks trust\" trusts it.", shown.data,
	               hooks_held_sentence(change));
}

/* ---- whether they stay so ------------------------------------------------------ */

static int64_t held_nanoseconds(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* What runs, and the files that it must not be able to change. */
struct held_quiet {
	const struct held *held;
	int64_t *since;    /* owned; of each file: what was started by then may change it; 0: none
	                    * may */
	const char *found; /* one that something may change; or NULL */
	struct buf label;  /* by what */
};

static void later_of(int64_t *since, const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && held_nanoseconds(st.st_ctim) > *since)
		*since = held_nanoseconds(st.st_ctim);
}

/* When it was trusted, or changed by others since then: the mounts of what runs are for the file
 * that was there.  Links are not mounted over, but known by their names. */
static int64_t held_since(const struct held_file *file, const json_t *mine, const char *record)
{
	_cleanup_buf_ struct buf key = BUF_INIT(8 * LIMIT_PATH_BYTES);
	const json_t *trusted;
	int64_t since;

	name_line(&key, span_str(file->name));
	trusted = json_object_get(mine, key.data);
	if (!file->there && !trusted)
		return 0;
	since = json_integer_value(json_object_get(trusted, "since"));
	if (!since) /* of a hasp that did not note it */
		later_of(&since, record);
	if (file->inside)
		later_of(&since, file->leads);
	return since;
}

static bool may_write_held(const struct guard_running *running, const struct held_file *file)
{
	json_t *link;
	size_t i;

	if (file->inside && guard_running_writes(running, file->leads))
		return true;
	json_array_foreach(file->links, i, link)
		if (guard_running_writes(running, json_string_value(link)))
			return true;
	return false;
}

static void note_running(void *data, const struct guard_running *running)
{
	struct held_quiet *quiet = data;

	for (size_t i = 0; i < quiet->held->count && !quiet->found; i++)
		if (held_nanoseconds(running->started) <= quiet->since[i] &&
		    may_write_held(running, &quiet->held->files[i])) {
			quiet->found = quiet->held->files[i].name;
			buf_str(&quiet->label, running->label);
		}
}

/* Nothing runs that could change one of the files. */
static bool held_is_quiet(const struct held *held, const json_t *mine, struct err *err)
{
	_cleanup_free_ char *record = held_record_path(held->hooks);
	struct held_quiet quiet = { .held = held, .label = BUF_INIT(LIMIT_PATH_BYTES),
		                    .since = mem_alloc(held->count + 1, sizeof(*quiet.since)) };
	bool ok;

	for (size_t i = 0; i < held->count; i++)
		quiet.since[i] = held_since(&held->files[i], mine, record);
	ok = guard_each_command(held->hooks->guards, note_running, &quiet, err);
	if (ok && quiet.found) {
		_cleanup_buf_ struct buf shown = BUF_INIT(8 * LIMIT_PATH_BYTES);

		shown_name(held->hooks, quiet.found, &shown);
		ok = err_set(err, ERR_DENIED_BY_POLICY,
		             "%.200s, which it runs or reads, can still be changed by a command "
		             "that was started before the file was trusted or last changed: "
		             "\"%.200s\". Stop that command, then try again.",
		             shown.data, quiet.label.data ? quiet.label.data : "");
	}
	free(quiet.since);
	buf_release(&quiet.label);
	return ok;
}

/* No file has another name for commands to change it by. */
static bool held_is_single(const struct held *held, struct err *err)
{
	bool ok = true;

	for (size_t i = 0; ok && i < held->count; i++) {
		const struct held_file *file = &held->files[i];
		_cleanup_free_ char *twin = !file->inside ? NULL :
		                            twin_in_roots(held->hooks, file->leads);
		_cleanup_buf_ struct buf shown = BUF_INIT(8 * LIMIT_PATH_BYTES);
		_cleanup_buf_ struct buf other = BUF_INIT(8 * LIMIT_PATH_BYTES);

		if (!twin)
			continue;
		shown_name(held->hooks, file->name, &shown);
		shown_name(held->hooks, twin + (*twin == *TWIN_UNKNOWN), &other);
		ok = err_set(err, ERR_DENIED_BY_POLICY,
		             "%.200s, which it runs or reads, has another name (a hard link) by "
		             "which commands %s change it: %.300s. Break the link: cp -p it to a "
		             "new name, and mv that over it.", shown.data,
		             *twin == *TWIN_UNKNOWN ? "could perhaps" : "can", other.data);
	}
	return ok;
}

bool held_check(const struct hooks *hooks, const struct hook *hook, struct err *err)
{
	json_auto_t *all = NULL;
	const json_t *mine;
	struct held held;
	bool ok = true;

	held_find(hooks, hook, NULL, &held);
	if (held.too_many)
		ok = err_set(err, ERR_TOO_LARGE, "It names more files than hasp can compare.");
	if (ok && held.count && hooks->trust_file)
		ok = (all = record_read(hooks, err)) != NULL;
	mine = json_object_get(all, hooks->project ? hooks->project : "");
	if (ok && held.count && hooks->trust_file && hooks->guards)
		ok = held_is_quiet(&held, mine, err) && held_is_single(&held, err);
	for (size_t i = 0; ok && i < held.count; i++) {
		json_auto_t *now = held_row(hooks, &held.files[i], err);
		_cleanup_buf_ struct buf name = BUF_INIT(8 * LIMIT_PATH_BYTES);
		const char *change;

		name_line(&name, span_str(held.files[i].name));
		change = now ? held_change(json_object_get(mine, name.data), now) : NULL;
		ok = now && (!change || held_refuse(hooks, held.files[i].name, change, err));
	}
	held_release(&held);
	return ok;
}

/* ---- for people ---------------------------------------------------------------- */

static void add_held_row(const struct hooks *hooks, const struct held_file *file,
                         const json_t *mine, json_t *rows)
{
	_cleanup_buf_ struct buf key = BUF_INIT(8 * LIMIT_PATH_BYTES);
	_cleanup_buf_ struct buf shown = BUF_INIT(8 * LIMIT_PATH_BYTES);
	struct err why = ERR_INIT;
	json_t *now = held_row(hooks, file, &why), *row, *other;
	const json_t *before;
	const char *change;
	size_t i;

	name_line(&key, span_str(file->name));
	before = json_object_get(mine, key.data);
	json_array_foreach(rows, i, other)
		if (span_eq(json_span(json_object_get(other, "key")), buf_view(&key)))
			goto out;
	change = now ? held_change(before, now) : "unreadable";
	if (change || json_is_object(now)) {
		shown_name(hooks, file->name, &shown);
		row = json_pack("{s:o, s:o, s:s}", "key", json_text(buf_view(&key)), "file",
		                json_text(buf_view(&shown)), "state", change ? change : "trusted");
		if (before)
			json_object_set(row, "before", (json_t *)before);
		if (now)
			json_object_set(row, "now", now);
		else
			json_object_set_new(row, "why", json_text(span_str(why.message)));
		json_array_append_new(rows, row);
	}
out:
	json_decref(now);
}

/* What a file that a command names is reported to. */
struct held_each {
	const struct hooks *hooks;
	const json_t *mine;  /* the project's record */
	json_t *found;
	json_t *loose;       /* as of struct held */
	void (*add)(const struct hooks *hooks, const struct held_file *file, const json_t *mine,
	            json_t *found);
};

static void each_file_of(const struct held_each *each, const struct hook *hook)
{
	struct held held;

	if (!hook->command ||
	    (hook->source == HOOK_SOURCE_PROJECT && !each->hooks->project_trusted))
		return;
	held_find(each->hooks, hook, each->loose, &held);
	for (size_t i = 0; i < held.count; i++)
		each->add(each->hooks, &held.files[i], each->mine, each->found);
	held_release(&held);
}

/* Those of all commands; without a record that can be read none is recorded. */
static void each_held_file(struct held_each each)
{
	const struct hooks *hooks = each.hooks;
	struct err ignored = ERR_INIT;
	json_auto_t *all = hooks->trust_file ? record_read(hooks, &ignored) : NULL;

	each.mine = json_object_get(all, hooks->project ? hooks->project : "");
	for (size_t i = 0; i < hooks->count; i++)
		for (size_t j = 0; j < hooks->groups[i].count; j++)
			each_file_of(&each, &hooks->groups[i].hooks[j]);
	for (size_t i = 0; i < hooks->other_count; i++)
		each_file_of(&each, &hooks->others[i]);
}

json_t *hooks_held(const struct hooks *hooks, json_t *loose)
{
	json_t *rows = json_array();

	each_held_file((struct held_each){ .hooks = hooks, .found = rows, .loose = loose,
	                                   .add = add_held_row });
	return rows;
}

static void add_held_path(const struct hooks *hooks, const struct held_file *file,
                          const json_t *mine, json_t *paths)
{
	const char *const both[] = { file->name, file->leads };
	_cleanup_buf_ struct buf key = BUF_INIT(8 * LIMIT_PATH_BYTES);

	(void)hooks;
	name_line(&key, span_str(file->name));
	if (!file->there || !json_is_object(json_object_get(mine, key.data)))
		return;
	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		json_t *path = json_path_bytes(both[i]);

		if (json_lists(paths, json_span(path)))
			json_decref(path);
		else
			json_array_append_new(paths, path);
	}
}

json_t *hooks_held_paths(const struct hooks *hooks)
{
	json_t *paths = json_array();

	each_held_file((struct held_each){ .hooks = hooks, .found = paths, .add = add_held_path });
	return paths;
}

/* What was trusted as it is now stays trusted since then. */
static void put_trusted(json_t *mine, const char *key, const json_t *now, int64_t time)
{
	const json_t *before = json_object_get(mine, key);
	const int64_t since = json_integer_value(json_object_get(before, "since"));
	json_t *row = json_copy((json_t *)now);

	json_object_set_new(row, "since",
	                    json_integer(since && !held_change(before, now) ? since : time));
	json_object_set_new(mine, key, row);
}

bool held_trust(const struct hooks *hooks, const json_t *rows, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_HELD_RECORD_BYTES);
	_cleanup_free_ char *path = held_record_path(hooks);
	struct timespec time = { 0 };
	/* No command starts with what was trusted before and is taken for one that knows. */
	_cleanup_fd_ int starts = hooks->guards ?
	                          guard_starts_lock(hooks->guards, &time, err) : -1;
	json_auto_t *all = hooks->guards && starts < 0 ? NULL : record_read(hooks, err);
	json_t *mine, *row;
	size_t i;

	if (!all)
		return false;
	mine = json_object_get(all, hooks->project);
	if (!json_is_object(mine)) {
		mine = json_object();
		json_object_set_new(all, hooks->project, mine);
	}
	json_array_foreach((json_t *)rows, i, row) {
		const char *key = json_string_value(json_object_get(row, "key"));
		json_t *now = json_object_get(row, "now");

		if (json_is_object(now))
			put_trusted(mine, key, now, held_nanoseconds(time));
		else if (now)
			json_object_del(mine, key);
	}
	if (!json_print(&text, all, 2) || !buf_char(&text, '\n'))
		return err_set(err, ERR_TOO_LARGE, "%s would be too large.", path);
	return file_replace(path, buf_view(&text), 0600, err);
}
