/* SPDX-License-Identifier: Apache-2.0 */
/* The tool read_many_files. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "sandbox/plan/names.h"
#include "search/rules/glob.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/private.h"
#include "tool/answer.h"
#include "tool/history.h"
#include "tool/tool.h"

/* What folders and globs leave out of read_many_files unless asked for: other people's
 * code, build products and archives, which are no text to read.  Globs as in walk.h. (Files that
 * hold secrets: names_hold_secret, sandbox/plan/names.h.) */

static const char *const default_excludes[] = {
	"node_modules", ".git", ".svn", ".hg", "bower_components", ".vscode", ".idea", "dist",
	"build", "coverage", "__pycache__",
	"*.pyc", "*.pyo", "*.o", "*.a", "*.so", "*.so.*", "*.dylib", "*.dll", "*.exe", "*.bin",
	"*.class", "*.jar", "*.war", "*.wasm",
	"*.zip", "*.tar", "*.gz", "*.bz2", "*.xz", "*.zst", "*.rar", "*.7z", "*.tgz",
	"*.doc", "*.docx", "*.xls", "*.xlsx", "*.ppt", "*.pptx", "*.odt", "*.ods", "*.odp",
	".DS_Store",
};

/* read_many_files: files, folders and globs, as one list of versioned files.
 *
 * Each item is first taken as the name of a file (a name may hold [ or *), then as
 * a folder, then as a glob.  A file that cannot be read is an entry with an
 * error; what the total budget has no room for is named in one last entry.
 */

enum {
	TOTAL_BYTES_DEFAULT = 1 << 20,
	ENTRY_OVERHEAD = 320,  /* what an entry costs besides its content and its name */
	ROOM_MIN = 1024,       /* with less room left no further file is started */
	LEFT_OUT_NAMES = 200,  /* names in the last entry; the rest is counted */
	LEFT_OUT_BYTES = 4096, /* of these, in an answer with a budget */
};

static const char read_many_files_description[] =
	"Reads many files: each of paths is a file, a folder (all beneath it) or a glob such as "
	"src/**/*.c. Returns an array: of each file its content, a version number unique in this "
	"session and its SHA-256, which safe_patch, write_file and apply_changes need.\n\n"
	"Folders and globs leave out ignored files, build products and binaries. "
	"next_start_line: the file continues there; left_out: read these with another call.";

/* clang-format off */
#define ARGUMENT_GLOBS ARGUMENT_STRINGS("Files, folders or globs.")

static const char read_many_files_arguments_schema[] = SCHEMA(
{
	"type": "object", "additionalProperties": false,
	"properties": {
		"paths": ) ARGUMENT_GLOBS SCHEMA(,
		"include": ) ARGUMENT_GLOBS SCHEMA(,
		) ARGUMENT_EXCLUDE SCHEMA(,
		"use_default_excludes": {"type": "boolean", "description":
			"Leave out build products and binary files too. Default true."},
		"recursive": {"type": "boolean", "description":
			"Look into folders beneath. Default true."},
		"respect_git_ignore": {"type": "boolean", "description": "Default true."},
		"respect_gemini_ignore": {"type": "boolean", "description": "Default true."},
		"file_filtering_options": {"type": "object", "additionalProperties": false,
			"description": "Ignore files, as Gemini CLI has them.",
			"properties": {"respect_git_ignore": {"type": "boolean"},
			               "respect_gemini_ignore": {"type": "boolean"}}},
		"max_total_bytes": {"type": "integer", "minimum": 1024, "maximum": 1073741824,
			"description": "Most bytes of content in all. Default 1048576."}
	}
} );

static const char read_many_files_result_schema[] = SCHEMA(
{"oneOf": [
	{"type": "array", "items": {"oneOf": [ ) RESULT_FILE SCHEMA(,
		{"type": "object", "required": ["success", "file_path", "error"],
		 "additionalProperties": false, "properties": { "success": {"const": false},
		 "file_path": {"type": ["string", "null"]},
		 "version": {"type": "integer"}, "sha256": {"type": "string"},
		 "size": {"type": "integer"},
		 "left_out": {"type": "array", "items": {"type": "string"}},
		 "left_out_count": {"type": "integer"}, ) RESULT_ERROR SCHEMA(}}]}}, )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const struct tool_alias read_many_files_parameter_aliases[] = {
	{ "useDefaultExcludes", "use_default_excludes", 0 },
	{ "file_paths", "paths", 0 },
	{ NULL, NULL, 0 },
};

struct many {
	struct session *session;
	struct walk_request walk; /* the filters; path and include vary */
	json_t *files;            /* the result */
	json_t *seen;             /* canonical path: true */
	json_t *left_out;         /* names */
	size_t left_out_count, left_out_bytes;
	bool all_defaults;        /* use_default_excludes */
	size_t secrets;           /* files of folders and globs that hold secrets by their name */
	size_t excluded;          /* files and folders that folders' walks leave out */
	size_t denied;            /* files of folders and globs that rules keep from this call */
	char *denied_why;         /* owned; the reason of the first */
	size_t room, media_room;  /* bytes left of the budget, for texts and for media */
	size_t done, total;       /* files that were looked at, and that are known of */
};

static void many_step(struct many *many)
{
	session_progress(many->session, ++many->done, many->total);
}

static void take_room(struct many *many, size_t bytes)
{
	many->room -= bytes < many->room ? bytes : many->room;
}

static void many_add_error(struct many *many, const char *path, const struct err *err,
                           const struct read_request *request, const struct read_result *read)
{
	json_t *entry = json_object();
	json_t *error = tool_error(err);

	json_object_set_new(entry, "success", json_false());
	json_object_set_new(entry, "file_path", json_name(path));
	if (read && read->state.exists)
		read_files_add_state(many->session, request, read, entry);
	json_object_set_new(error, "message", json_cstr(err->message));
	json_object_set_new(entry, "error", error);
	json_array_append_new(many->files, entry);
	take_room(many, ENTRY_OVERHEAD + strlen(err->message) + (path ? strlen(path) : 0));
}

static void many_leave_out(struct many *many, const char *path)
{
	many->left_out_bytes += strlen(path) + 3;
	if (many->left_out_count++ < LEFT_OUT_NAMES &&
	    (!many->session->answer_tokens || many->left_out_bytes < LEFT_OUT_BYTES))
		json_array_append_new(many->left_out, json_name(path));
}

/* Takes it down; true if it had been taken down before. */
static bool seen_before(struct many *many, const char *path)
{
	json_auto_t *key = json_name(path); /* a name of any bytes becomes a valid key */

	if (json_object_get(many->seen, json_string_value(key)))
		return true;
	json_object_set_new(many->seen, json_string_value(key), json_true());
	return false;
}

static void many_add_file(struct many *many, const struct read_request *request,
                          const struct read_result *read)
{
	const bool media = read->kind == READ_MEDIA;
	const size_t bytes = media ? read->content.len / 3 * 4 + 4 :
	                             answer_text_weight(buf_view(&read->content));
	size_t *room = media ? &many->media_room : &many->room;

	if (media && bytes > *room) {
		many_leave_out(many, read->state.path);
		return;
	}
	*room -= bytes < *room ? bytes : *room;
	take_room(many, ENTRY_OVERHEAD + strlen(read->state.path));
	json_array_append_new(many->files, read_files_result(many->session, request, read));
}

/* Reads one file into the result. False, with *err set and nothing added, when the caller has
 * to take the path for something else: it is a folder, or there is no such file. */
static bool many_read_file(struct many *many, const char *path, bool media, bool named,
                           struct err *err)
{
	struct provider *provider = session_reader(many->session, path);
	struct read_request request = {
		.path = path,
		.max_lines = many->session->read_max_lines,
		.max_line_chars = many->session->read_max_line_chars,
		.max_bytes = many->room,
		.media = media,
	};
	struct read_result read = { 0 };
	bool other = false;

	if (named) {
		filter_heed(&request, &many->walk.rules); /* a walk has heeded them itself */
		derived_ask(many->session, NULL, &request);
	}
	if (many->room < ROOM_MIN) {
		many_leave_out(many, path);
		return true;
	}
	if (!provider_read(provider, &request, &read, err) ||
	    !read_files_within(provider, &request, many->room, &read, err)) {
		other = err->code == ERR_NOT_A_FILE || err->code == ERR_FILE_NOT_FOUND;
		if (!other)
			many_add_error(many, path, err, &request, &read);
	} else if (!seen_before(many, read.state.path)) {
		many_add_file(many, &request, &read);
	}
	read_result_release(&read);
	return !other;
}

/* Whether a glob names the type of this file ("*.png"): then it is meant as media. */
static bool names_type(const char *pattern, const char *path)
{
	const char *dot = strrchr(path, '.');

	return pattern && dot && !strchr(dot, '/') && strstr(pattern, dot);
}

/* Whether the end of the glob is the file's own name: it is asked for. */
static bool names_exactly(const char *pattern, const char *path)
{
	const char *slash = pattern ? strrchr(pattern, '/') : NULL;

	return slash && !glob_has_magic(span_str(slash + 1)) &&
	       !strcmp(slash + 1, strrchr(path, '/') + 1);
}

static void read_entry(struct many *many, const char *folder, const struct walk_entry *entry,
                       const char *pattern)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", strcmp(folder, "/") ? folder : "",
	                                       entry->path);
	struct err err = ERR_INIT;
	json_auto_t *key = json_name(path);

	if (entry->kind != ENTRY_FILE ||
	    json_object_get(many->seen, json_string_value(key)))
		return;
	if (many->all_defaults && names_hold_secret(entry->path) && !names_exactly(pattern, path)) {
		many->secrets++;
		return;
	}
	if (!many_read_file(many, path, names_type(pattern, entry->path), false, &err))
		many_add_error(many, path, &err, NULL, NULL);
}

/* Everything beneath a folder, or what matches `pattern` there (NULL: all). */
static bool read_folder(struct many *many, const char *folder, const char *pattern,
                        size_t *ret_count, struct err *err)
{
	struct provider *provider = many->session->provider;
	struct walk_request request = many->walk;
	struct walk_result walk = { 0 };

	request.path = folder;
	request.include = &pattern;
	request.include_count = pattern ? 1 : 0;
	if (!provider->ops->walk(provider, &request, &walk, err))
		return false;
	/* Its files take the place of the item in the count. */
	many->total += walk.count ? walk.count - 1 : 0;
	for (size_t i = 0; i < walk.count && !session_cancelled(many->session); i++) {
		read_entry(many, walk.folder, &walk.entries[i], pattern);
		many_step(many);
	}
	many->denied += walk.denied;
	many->excluded += pattern ? 0 : walk.ignored;
	if (!many->denied_why)
		many->denied_why = mem_steal(&walk.denied_why);
	if (walk.more)
		many_leave_out(many, "(more files than can be listed)");
	*ret_count = walk.count + walk.denied;
	walk_result_release(&walk);
	return true;
}

/* An absolute glob is taken beneath the root it names, or, if it names none as they are known here,
 * beneath the folder that it names. The caller frees. */
static char *glob_root(struct provider *provider, const char *pattern, const char **ret_rest)
{
	const char *root;
	char *folder;

	for (size_t i = 0; (root = provider->ops->root(provider, i)); i++) {
		size_t len = strlen(root);

		len -= len && root[len - 1] == '/'; /* "/" itself */
		if (strncmp(pattern, root, len) == 0 && pattern[len] == '/') {
			*ret_rest = pattern + len + 1;
			return mem_strdup(root);
		}
	}
	folder = filter_glob_folder(pattern);
	if (folder[0] == '/') {
		*ret_rest = pattern + strlen(folder) + 1;
		return folder;
	}
	free(folder);
	while (strncmp(pattern, "./", 2) == 0)
		pattern += 2;
	*ret_rest = pattern;
	return mem_strdup(".");
}

/* A relative glob is looked for in every root. */
static bool read_glob(struct many *many, const char *item, size_t *ret_count, struct err *err)
{
	struct provider *provider = many->session->provider;
	const char *rest, *root;
	_cleanup_free_ char *folder = glob_root(provider, item, &rest);
	_cleanup_free_ char *anchored = mem_printf("/%s", rest);
	size_t more = 0;

	if (rest[0] == '/')
		return err_set(err, ERR_OUTSIDE_WORKSPACE,
		               "The glob \"%s\" begins outside the workspace.", item);
	if (strncmp(rest, "../", 3) == 0 || strstr(rest, "/../"))
		return err_set(err, ERR_OUTSIDE_WORKSPACE,
		               "The glob \"%s\" has \"..\" in it; globs look only beneath the "
		               "workspace roots.", item);
	if (!read_folder(many, folder, anchored, ret_count, err))
		return false;
	for (size_t i = 1; folder[0] != '/' && (root = provider->ops->root(provider, i)); i++) {
		if (!read_folder(many, root, anchored, &more, err))
			return false;
		*ret_count += more;
	}
	return true;
}

/* A glob that begins in no root: what is asked about is its folder. Only then may it be the name of
 * a file. As many_read_item. */
static bool many_read_outer_glob(struct many *many, const char *item)
{
	struct err err = ERR_INIT, other = ERR_INIT;
	size_t count = 0;

	if (read_glob(many, item, &count, &err) && !count) {
		if (many_read_file(many, item, true, true, &other))
			return false;
		err_set(&err, ERR_FILE_NOT_FOUND, "No file matches \"%s\".", item);
	}
	if (!count)
		many_add_error(many, item, &err, NULL, NULL);
	return count > 0;
}

/* Returns whether it stood for other files, which have been counted. */
static bool many_read_item(struct many *many, const char *item)
{
	_cleanup_free_ char *outer = filter_outer_folder(many->session->provider, item);
	struct err err = ERR_INIT;
	struct err other = ERR_INIT;
	size_t count = 0;
	bool ok;

	if (outer && glob_has_magic(span_str(item)))
		return many_read_outer_glob(many, item);
	if (many_read_file(many, item, true, true, &err))
		return false;
	if (err.code == ERR_NOT_A_FILE) {
		ok = read_folder(many, item, NULL, &count, &other);
		if (ok && !count)
			err_set(&err, ERR_FILE_NOT_FOUND,
			        "\"%s\" is a folder with no files to read (ignored ones are left "
			        "out).", item);
		else if (!ok && other.code != ERR_NOT_A_DIRECTORY)
			err = other;
	} else {
		if (!glob_has_magic(span_str(item))) {
			many_add_error(many, item, &err, NULL, NULL);
			return false;
		}
		ok = read_glob(many, item, &count, &other);
		if (ok && !count)
			err_set(&err, ERR_FILE_NOT_FOUND, "No file matches \"%s\".", item);
		else if (!ok)
			err = other;
	}
	if (!ok || !count)
		many_add_error(many, item, &err, NULL, NULL);
	return count > 0;
}

static void add_left_out(struct many *many)
{
	struct err err = ERR_INIT;
	json_t *entry;

	if (!many->left_out_count)
		return;
	err_set(&err, ERR_TOO_LARGE,
	        "The answer is full: %zu file%s left out. Read what you need of them with "
	        "read_file, or call read_many_files again with fewer paths or a higher "
	        "max_total_bytes.",
	        many->left_out_count, many->left_out_count == 1 ? " was" : "s were");
	many_add_error(many, NULL, &err, NULL, NULL);
	entry = json_array_get(many->files, json_array_size(many->files) - 1);
	json_object_set(entry, "left_out", many->left_out);
	json_object_set_new(entry, "left_out_count", json_size(many->left_out_count));
}

/* Files hidden by rules share one entry; a file that the call names has a separate one. */
static void add_denied(struct many *many)
{
	struct err err = ERR_INIT;
	json_t *entry;

	if (!many->denied)
		return;
	err_set(&err, ERR_DENIED_BY_POLICY, "%zu file%s left out by policy: %s", many->denied,
	        many->denied == 1 ? " was" : "s were",
	        many->denied_why ? many->denied_why : "a rule denies them.");
	many_add_error(many, NULL, &err, NULL, NULL);
	entry = json_array_get(many->files, json_array_size(many->files) - 1);
	json_object_set_new(entry, "left_out_count", json_size(many->denied));
}

static const char *some_files(size_t count, const char *one, const char *several)
{
	return count == 1 ? one : several;
}

/* What folders leave out unasked is one entry. */
static void many_add_excluded(struct many *many)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1024);
	struct err err = ERR_INIT;
	json_t *entry;

	if (!many->secrets && !many->excluded)
		return;
	if (many->excluded)
		buf_printf(&text, "%zu %s that ignore files or excludes name", many->excluded,
		           some_files(many->excluded, "file or folder", "files or folders"));
	if (many->secrets)
		buf_printf(&text, "%s%zu %s that may hold secrets (keys, .npmrc, .netrc, ...)",
		           text.len ? ", and " : "", many->secrets,
		           some_files(many->secrets, "file", "files"));
	err_set(&err, ERR_IGNORED, "Left out: %s. Name what you need of them.", text.data);
	many_add_error(many, NULL, &err, NULL, NULL);
	entry = json_array_get(many->files, json_array_size(many->files) - 1);
	json_object_set_new(entry, "left_out_count", json_size(many->excluded + many->secrets));
}

static void read_items(struct many *many, const json_t *arguments, const char *name)
{
	const json_t *items = json_object_get(arguments, name);
	size_t i;
	json_t *item;

	json_array_foreach(items, i, item) {
		if (session_cancelled(many->session))
			return;
		if (!many_read_item(many, json_string_value(item)))
			many_step(many);
	}
}

/* The caller's excludes and the default ones; the array is the caller's to free. */
static const char **all_excludes(const json_t *arguments, size_t *ret_count)
{
	size_t count;
	_cleanup_free_ const char **own = argument_strings(arguments, "exclude", &count);
	bool defaults = argument_bool(arguments, "use_default_excludes", true);
	size_t more = defaults ? ARRAY_LEN(default_excludes) : 0;
	const char **all = mem_alloc(count + more, sizeof(*all));

	for (size_t i = 0; i < count; i++)
		all[i] = own[i];
	for (size_t i = 0; i < more; i++)
		all[count + i] = default_excludes[i];
	*ret_count = count + more;
	return all;
}

static json_t *run_read_many_files(struct session *session, const json_t *arguments)
{
	size_t exclude_count;
	_cleanup_free_ const char **excludes = all_excludes(arguments, &exclude_count);
	struct many many = {
		.session = session,
		.walk = {
			.exclude = excludes,
			.exclude_count = exclude_count,
			.recursive = argument_bool(arguments, "recursive", true),
		},
		.all_defaults = argument_bool(arguments, "use_default_excludes", true),
		.media_room = argument_size(arguments, "max_total_bytes", TOTAL_BYTES_DEFAULT),
	};
	const size_t most = read_files_room(session);
	struct err err = ERR_INIT;

	if (!json_array_size(json_object_get(arguments, "paths")) &&
	    !json_array_size(json_object_get(arguments, "include"))) {
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "Invalid Arguments: paths: needs at least one file, folder or glob.");
		return tool_failure(&err);
	}
	filter_rules(session, arguments, &many.walk.rules);
	many.room = most && most < many.media_room ? most : many.media_room;
	if (most > 4 * LEFT_OUT_BYTES && many.room + LEFT_OUT_BYTES > most)
		many.room = most - LEFT_OUT_BYTES;
	many.files = json_array();
	many.seen = json_object();
	many.left_out = json_array();
	many.total = json_array_size(json_object_get(arguments, "paths")) +
	             json_array_size(json_object_get(arguments, "include"));
	read_items(&many, arguments, "paths");
	read_items(&many, arguments, "include");
	add_left_out(&many);
	many_add_excluded(&many);
	add_denied(&many);
	free(many.denied_why);
	json_decref(many.seen);
	json_decref(many.left_out);
	free((void *)many.walk.rules.ignore_files);
	return many.files;
}

static const char *const read_many_files_undeclared[] = {
	"include", "exclude", "use_default_excludes", "recursive", "respect_git_ignore",
	"respect_gemini_ignore", "file_filtering_options",
	"max_total_bytes", NULL,
};

const struct tool tool_read_many_files = {
	.info = &tool_infos[TOOL_READ_MANY_FILES],
	.name = "read_many_files",
	.title = "Read files",
	.rest = "Read what you need of them with read_file, or with fewer paths.",
	.parameter_aliases = read_many_files_parameter_aliases,
	.description = read_many_files_description,
	.of_hashes = ", which safe_patch, write_file and apply_changes need",
	.arguments_schema = read_many_files_arguments_schema,
	.undeclared = read_many_files_undeclared,
	.result_schema = read_many_files_result_schema,
	.run = run_read_many_files,
};
