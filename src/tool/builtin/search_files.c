/* SPDX-License-Identifier: Apache-2.0 */
/* search_files: which lines of which files hold a text, or match a regular expression. */
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/schema.h"
#include "search/rules/glob.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/builtin/private.h"
#include "tool/tool.h"

/* What search_files answers. Private to its files. */

/* The forms of `output`. */
enum search_form {
	FORM_LINES,    /* "12:text", as grep prints */
	FORM_DETAILED, /* an object a line, with where the match is */
	FORM_FILES,
	FORM_COUNTS,
};

/* ---- what to do next --------------------------------------------------------- */

/* What a model should do next after a search: only said where it is not plain. */

enum { MESSAGE_MAX = 4096 };

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* Whether the text is probably meant as a regular expression. */
static bool looks_like_regex(struct span pattern)
{
	static const char *const signs[] = { ".*", ".+", "|", "\\b", "\\d", "\\s", "\\w", "\\(",
		                             "\\.", "[^", "[a-", "[A-", "[0-", "(?" };

	if (span_starts(pattern, SPAN("^")) || span_ends(pattern, SPAN("$")))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (memmem(pattern.data, pattern.len, signs[i], strlen(signs[i])))
			return true;
	return false;
}

static void put_nothing_found(struct buf *out, const struct search_request *asked,
                              const struct search_result *found)
{
	buf_printf(out, "No match in %zu file%s.", found->searched, plural(found->searched));
	if (asked->match.literal && looks_like_regex(asked->match.pattern))
		buf_str(out, " The pattern was taken as literal text; with regex=true it is a "
		             "regular expression.");
	if (!found->searched)
		buf_str(out, " No file was searched: look at path, include, file_types and "
		             "no_ignore.");
}

/* The limit to raise for more: the first that was reached. */
static const char *search_limit_reached(const struct search_request *asked,
                                        const struct search_result *found, size_t shown)
{
	if (shown >= asked->max_matches)
		return "max_results";
	for (size_t i = 0; asked->max_per_file && i < found->count; i++)
		if (found->files[i].more)
			return "max_per_file";
	return "max_total_bytes";
}

static void put_more_found(struct buf *out, const struct search_request *asked,
                           enum search_form form,
                           const struct search_result *found)
{
	const bool lines = form == FORM_LINES || form == FORM_DETAILED;
	const size_t shown = lines ? found->matches : found->count;

	buf_printf(out, "Shown: the first %zu %s%s", shown, lines ? "match" : "file",
	           lines && shown != 1 ? "es" : lines ? "" : plural(shown));
	if (lines)
		buf_printf(out, " (%zu file%s)", found->count, plural(found->count));
	buf_printf(out, "; there are more. For the rest: a narrower path or include, a more exact "
	                "pattern, %sor a higher %s.",
	           lines ? "output=counts for an overview, " : "",
	           search_limit_reached(asked, found, shown));
}

static bool any_is_cut(const struct search_result *found)
{
	for (size_t i = 0; i < found->count; i++)
		for (size_t j = 0; j < found->files[i].line_count; j++)
			if (found->files[i].lines[j].cut)
				return true;
	return false;
}

static void put_trouble(struct buf *out, const struct search_result *found)
{
	if (found->timed_out)
		buf_str(out, " The search took too long and ended before all files were searched; "
		             "narrow path or include.");
	if (found->too_hard_path)
		buf_printf(out, " The pattern takes too many steps in %s, which was left; write "
		                "it without nested repetition.",
		           found->too_hard_path);
	if (found->unreadable)
		buf_printf(out, " %zu file%s or folder%s could not be read.", found->unreadable,
		           plural(found->unreadable), plural(found->unreadable));
}

/* What a reader should know about the result besides it: what is missing and how to get it.
 * NULL when there is nothing to say. */
static json_t *search_message(const struct search_request *asked, enum search_form form,
                              const struct search_result *found)
{
	_cleanup_buf_ struct buf out = BUF_INIT(MESSAGE_MAX);

	if (!found->count)
		put_nothing_found(&out, asked, found);
	else if (found->more)
		put_more_found(&out, asked, form, found);
	if (any_is_cut(found))
		buf_printf(&out, "%sLines of more than %zu bytes are cut around the match "
		                 "(max_line_bytes).",
		           out.len ? " " : "", asked->max_line_bytes);
	put_trouble(&out, found);
	if (!out.len)
		return NULL;
	return json_text(span_trim(buf_view(&out)));
}

/* ---- results ----------------------------------------------------------------- */

/* The result of search_files as data. */

/* "12:text" for a match, "13-text" for context, as grep prints them. */
static json_t *plain_line(const struct search_line *line, struct buf *scratch)
{
	buf_clear(scratch);
	buf_printf(scratch, "%zu%c", line->number, line->match ? ':' : '-');
	buf_span(scratch, line->text);
	return json_text(buf_view(scratch));
}

static size_t characters(struct span text)
{
	size_t count = 0;

	for (size_t i = 0; i < text.len; i++)
		count += ((unsigned char)text.data[i] & 0xc0) != 0x80;
	return count;
}

static json_t *detailed_line(const struct search_line *line)
{
	json_t *object = json_object();

	json_object_set_new(object, "line", json_size(line->number));
	json_object_set_new(object, "text", json_text(line->text));
	if (line->match) {
		size_t start = characters(span_head(line->text, line->match_start));
		struct span match = span_of(line->text.data + line->match_start,
		                            line->match_end - line->match_start);

		json_object_set_new(object, "start", json_size(start));
		json_object_set_new(object, "end", json_size(start + characters(match)));
	}
	if (line->cut)
		json_object_set_new(object, "cut", json_true());
	return object;
}

/* The lines; with context, "--" stands where lines are left out. */
static json_t *lines_json(const struct file_match *file, enum search_form form, bool groups)
{
	_cleanup_buf_ struct buf scratch = BUF_INIT(LIMIT_RESULT_BYTES);
	json_t *lines = json_array();

	for (size_t i = 0; i < file->line_count; i++) {
		const struct search_line *line = &file->lines[i];

		if (form == FORM_DETAILED) {
			json_array_append_new(lines, detailed_line(line));
			continue;
		}
		if (groups && i > 0 && line->number > file->lines[i - 1].number + 1)
			json_array_append_new(lines, json_string("--"));
		json_array_append_new(lines, plain_line(line, &scratch));
	}
	return lines;
}

/* The name alone where nothing else was asked for. */
static json_t *found_file_json(struct session *session, const struct search_request *asked,
                               enum search_form form, const char *prefix,
                               const struct file_match *file)
{
	_cleanup_free_ char *path = mem_printf("%s%s", prefix, file->path);
	json_t *object;

	if (form == FORM_FILES && !asked->hashes)
		return json_name(path);
	object = json_object();
	json_object_set_new(object, "file_path", json_name(path));
	if (form != FORM_FILES)
		json_object_set_new(object, "matches", json_size(file->matches));
	if (form == FORM_LINES || form == FORM_DETAILED)
		json_object_set_new(object, "lines",
		                    lines_json(file, form, asked->before || asked->after));
	if (file->more)
		json_object_set_new(object, "more", json_true());
	if (file->hashed)
		filter_put_state(session, object, &file->sha256, file->size);
	return object;
}

/* The folder that the paths of the files are relative to. The caller frees. */
static char *found_folder(const struct search_result *found)
{
	const char *slash = strrchr(found->folder, '/');

	if (!found->one_file || !slash)
		return mem_strdup(found->folder);
	return slash == found->folder ? mem_strdup("/")
	                              : mem_dup(found->folder, (size_t)(slash - found->folder));
}

static bool has_file(const struct search_result *found, const char *path)
{
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->files[i].path, path) == 0)
			return true;
	return false;
}

/* Moves the files that `into` does not have yet. */
static void move_files(struct search_result *into, struct search_result *found,
                       const char *prefix, bool nested)
{
	struct file_match *files = mem_alloc(into->count + found->count, sizeof(*files));
	size_t kept = 0, before = into->count;

	if (before)
		memcpy(files, into->files, before * sizeof(*files));
	for (size_t i = 0; i < found->count; i++) {
		struct file_match *file = &found->files[i];
		_cleanup_free_ char *path = mem_printf("%s%s", prefix, file->path);

		if (nested && has_file(into, path)) {
			found->files[kept++] = *file; /* stays, and is released there */
			continue;
		}
		for (size_t k = 0; k < file->line_count; k++)
			into->matches += file->lines[k].match;
		free(file->path);
		file->path = mem_steal(&path);
		files[before++] = *file;
	}
	found->count = kept;
	free(into->files);
	into->files = files;
	into->count = before;
}

/* Adds what was found in another root: its files get the paths that other tools take, those that
 * are there already (of a root in a root) are dropped. `room`: false if only whether there is more
 * counts. `found` is used up. */
static void search_result_add(struct session *session, struct search_result *into,
                              struct search_result *found, bool room)
{
	_cleanup_free_ char *prefix = filter_prefix(session->provider, found->folder);

	into->more |= found->more || (!room && found->count);
	into->searched += found->searched;
	into->unreadable += found->unreadable;
	into->timed_out |= found->timed_out;
	into->denied += found->denied;
	if (!into->denied_why)
		into->denied_why = mem_steal(&found->denied_why);
	if (!into->too_hard_path && found->too_hard_path)
		into->too_hard_path = mem_printf("%s%s", prefix, found->too_hard_path);
	if (room)
		move_files(into, found, prefix, prefix[0] != '/');
	search_result_release(found);
}

/* The result object. `asked` is the request that was answered. */
static json_t *search_result_json(struct session *session, const struct search_request *asked,
                                  enum search_form form, const struct search_result *found)
{
	_cleanup_free_ char *folder = found_folder(found);
	_cleanup_free_ char *prefix = filter_prefix(session->provider, folder);
	json_t *result = json_object(), *files = json_array();
	json_t *message = search_message(asked, form, found);

	for (size_t i = 0; i < found->count; i++)
		json_array_append_new(files, found_file_json(session, asked, form, prefix,
		                                             &found->files[i]));
	json_object_set_new(result, "path", json_name(found->folder));
	json_object_set_new(result, "files", files);
	if (form == FORM_LINES || form == FORM_DETAILED)
		json_object_set_new(result, "matches", json_size(found->matches));
	json_object_set_new(result, "searched", json_size(found->searched));
	json_object_set_new(result, "more", json_boolean(found->more));
	if (found->timed_out)
		json_object_set_new(result, "timed_out", json_true());
	if (found->too_hard_path)
		json_object_set_new(result, "too_hard", json_name(found->too_hard_path));
	if (found->unreadable)
		json_object_set_new(result, "unreadable", json_size(found->unreadable));
	if (message)
		json_object_set_new(result, "message", message);
	filter_put_denied(result, found->denied, found->denied_why);
	return result;
}

/* ---- the tool ---------------------------------------------------------------- */

enum {
	RESULTS_DEFAULT = 200,
	LINE_BYTES_DEFAULT = 400,
	TOTAL_BYTES_DEFAULT = 256 << 10,
};

static const char description[] =
	"Finds the lines of files that contain a literal text or, with regex, match a regular "
	"expression (Perl syntax). Case is ignored unless case_sensitive is true. Ignored and "
	"binary files are left out.\n\n"
	"Returns files with lines such as \"12:text\" (a match) and \"13-text\" (context). With "
	"with_hashes, safe_patch can follow without a read. When more is true, narrow path, "
	"include or pattern.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["pattern"], "additionalProperties": false,
	"properties": {
		"pattern": {"type": "string", "minLength": 1, "description":
			"The text to find, or a regular expression with regex."},
		"path": {"type": "string", "minLength": 1, "description":
			"Default: all workspace folders."},
		"regex": {"type": "boolean", "description":
			"The pattern is a regular expression. Default false."},
		) ARGUMENT_CASE SCHEMA(,
		"case": {"type": "string", "enum": ["ignore", "smart", "sensitive"], "description":
			"Instead of case_sensitive; smart: as sensitive if the pattern has an \
upper-case letter."},
		"whole_word": {"type": "boolean", "description": "Default false."},
		"multiline": {"type": "boolean", "description":
			"Matches may span lines. Default false."},
		"include": ) ARGUMENT_STRINGS("Globs, such as *.ts or src/**/*.{c,h}.") SCHEMA(,
		) ARGUMENT_EXCLUDE SCHEMA(,
		"file_types": ) ARGUMENT_STRINGS("Names of languages (py, rust) or extensions \
(.py) to search.") SCHEMA(,
		"output": {"type": "string", "enum": ["lines", "files", "counts", "detailed"],
			"description": "What to list of the matches. Default lines."},
		"context": {"type": "integer", "minimum": 0, "maximum": 1000, "description":
			"Lines around each match. Default 0."},
		"before": {"type": "integer", "minimum": 0, "maximum": 1000, "description":
			"Lines before, instead of context."},
		"after": {"type": "integer", "minimum": 0, "maximum": 1000, "description":
			"Lines after, instead of context."},
		"max_results": {"type": "integer", "minimum": 1, "maximum": 1000000, "description":
			"Default 200."},
		"max_per_file": {"type": "integer", "minimum": 1, "maximum": 1000000,
			"description": "Most matching lines of one file."},
		"max_line_bytes": {"type": "integer", "minimum": 40, "maximum": 1048576,
			"description": "Longer lines are cut around the match. Default 400."},
		"max_total_bytes": {"type": "integer", "minimum": 1024, "maximum": 268435456,
			"description": "Most bytes of lines in all. Default 262144."}, )
		ARGUMENTS_FILTER SCHEMA(,
		"with_hashes": {"type": "boolean", "description":
			"Add each file's version and sha256. Default false."}
	}
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "path", "files", "searched", "more"],
	 "additionalProperties": false, "properties": {"success": {"const": true},
	 "path": {"type": "string", "description": "What was searched."},
	 ) RESULT_ROOTS SCHEMA(,
	 "files": {"type": "array", "items": {"oneOf": [
		{"type": "string"},
		{"type": "object", "required": ["file_path"], "additionalProperties": false,
		 "properties": {
		 "file_path": {"type": "string", "description":
			"Relative to the first workspace folder, or absolute outside of it."},
		 "matches": {"type": "integer", "description": "Matching lines in it."},
		 "lines": {"type": "array", "items": {"oneOf": [
			{"type": "string"},
			{"type": "object", "required": ["line", "text"],
			 "additionalProperties": false, "properties": {
			 "line": {"type": "integer"},
			 "text": {"type": "string"},
			 "start": {"type": "integer", "description":
				"Where the match begins: characters of text, from 0."},
			 "end": {"type": "integer", "description":
				"Where it ends, not included."},
			 "cut": {"type": "boolean", "const": true}}}]}},
		 "more": {"type": "boolean", "const": true},
		 ) RESULT_VERSION SCHEMA(,
		 "size": {"type": "integer"}}}]}},
	 "matches": {"type": "integer", "description": "Matching lines returned."},
	 "searched": {"type": "integer", "description": "Files that were searched."},
	 "more": {"type": "boolean", "description": "There is more than is returned."},
	 "timed_out": {"type": "boolean", "const": true},
	 "too_hard": {"type": "string", "description": "A file that was left for it."},
	 "unreadable": {"type": "integer"}, ) RESULT_DENIED SCHEMA(,
	 "message": {"type": "string"}}}, ) RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const struct tool_alias parameter_aliases[] = {
	ALIASES_FOLDER,
	{ "query", "pattern", 0 },
	{ "include_pattern", "include", 0 },
	{ "glob", "include", 0 },
	{ "file_pattern", "include", 0 },
	{ "exclude_pattern", "exclude", 0 },
	{ "-A", "after", 0 },
	{ "-B", "before", 0 },
	{ "-C", "context", 0 },
	{ "head_limit", "max_results", 0 },
	{ "limit", "max_results", 0 },
	{ "max_matches_per_file", "max_per_file", 0 },
	{ "total_max_matches", "max_results", 0 },
	{ NULL, NULL, 0 },
};

static const struct tool_switch switches[] = {
	{ "names_only", "output", "\"files\"", NULL },
	{ "fixed_strings", "regex", "false", "true" },
	{ NULL, NULL, NULL, NULL },
};

/* Gemini CLI's tools take regular expressions. */
static const struct tool_name_default name_defaults[] = {
	{ "grep_search", "regex", "true" },
	{ "search_file_content", "regex", "true" },
	{ NULL, NULL, NULL },
};

static enum search_form form_of(const json_t *arguments)
{
	static const char *const forms[] = {
		[FORM_LINES] = "lines",
		[FORM_DETAILED] = "detailed",
		[FORM_FILES] = "files",
		[FORM_COUNTS] = "counts",
	};
	const char *name = argument_str(arguments, "output");

	for (size_t i = 0; name && i < ARRAY_LEN(forms); i++)
		if (strcmp(forms[i], name) == 0)
			return (enum search_form)i;
	return FORM_LINES;
}

static enum search_output search_output_of(enum search_form form)
{
	if (form == FORM_FILES)
		return SEARCH_NAMES;
	return form == FORM_COUNTS ? SEARCH_COUNTS : SEARCH_LINES;
}

static bool case_of(const json_t *arguments, enum case_mode *ret, struct err *err)
{
	const char *name = argument_str(arguments, "case");
	bool sensitive = argument_bool(arguments, "case_sensitive", false);

	if (!name) {
		*ret = sensitive ? CASE_SENSITIVE : CASE_IGNORE;
		return true;
	}
	*ret = CASE_IGNORE;
	if (strcmp(name, "smart") == 0)
		*ret = CASE_SMART;
	else if (strcmp(name, "sensitive") == 0)
		*ret = CASE_SENSITIVE;
	if (sensitive && *ret != CASE_SENSITIVE)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Invalid Arguments: case_sensitive: case says \"%s\"; give one of "
		               "the two.",
		               name);
	return true;
}

/* The name that an unknown one most likely stands for. */
static const char *nearest_type(const char *unknown)
{
	_cleanup_free_ const char **names = NULL;
	size_t count = 0, cap = 0;

	for (size_t i = 0; i < types_count(); i++) {
		const struct file_type *type = types_at(i);

		names = mem_grow(names, &cap, count + 2, sizeof(*names));
		names[count++] = type->name;
		for (const char *const *other = type->names; *other; other++) {
			names = mem_grow(names, &cap, count + 1, sizeof(*names));
			names[count++] = *other;
		}
	}
	return schema_nearest_name(unknown, names, count);
}

/* Extensions stand for themselves; of names only known ones mean something. */
static bool types_known(const char *const *types, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		const char *near;

		if (types[i][0] == '.' || types[i][0] == '*' || types_find(types[i]))
			continue;
		near = nearest_type(types[i]);
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Invalid Arguments: file_types: there is no type \"%.80s\"%s%s%s "
		               "An extension begins with its dot (.xyz); for anything else use "
		               "include.",
		               types[i], near ? "; did you mean \"" : "", near ? near : "",
		               near ? "\"?" : ".");
	}
	return true;
}

static bool read_search_arguments(const json_t *arguments, struct search_request *ret,
                                  struct err *err)
{
	const size_t context = argument_size(arguments, "context", 0);

	ret->match.pattern = argument_span(arguments, "pattern");
	ret->match.literal = !argument_bool(arguments, "regex", false);
	ret->match.whole_word = argument_bool(arguments, "whole_word", false);
	ret->match.multiline = argument_bool(arguments, "multiline", false);
	ret->before = argument_size(arguments, "before", context);
	ret->after = argument_size(arguments, "after", context);
	ret->max_matches = argument_size(arguments, "max_results", RESULTS_DEFAULT);
	ret->max_per_file = argument_size(arguments, "max_per_file", 0);
	ret->max_line_bytes = argument_size(arguments, "max_line_bytes", LINE_BYTES_DEFAULT);
	ret->max_bytes = argument_size(arguments, "max_total_bytes", TOTAL_BYTES_DEFAULT);
	ret->hashes = argument_bool(arguments, "with_hashes", false);
	return case_of(arguments, &ret->match.cases, err) &&
	       types_known(ret->types, ret->type_count, err);
}

/* What is left of the limits after what was found so far; false if nothing is. */
static bool limit_rest(const struct search_request *asked, const struct search_result *so_far,
                       struct search_request *ret)
{
	size_t bytes = 0;
	size_t used = asked->output == SEARCH_LINES ? so_far->matches : so_far->count;

	*ret = *asked;
	for (size_t i = 0; i < so_far->count; i++)
		for (size_t k = 0; k < so_far->files[i].line_count; k++)
			bytes += so_far->files[i].lines[k].text.len;
	ret->max_matches = asked->max_matches > used ? asked->max_matches - used : 1;
	ret->max_bytes = asked->max_bytes > bytes ? asked->max_bytes - bytes : 1;
	return asked->max_matches > used && asked->max_bytes > bytes;
}

/* Searches all the roots one after the other, as if they were one folder. */
static bool search_roots(struct session *session, const struct search_request *asked,
                         const char *const *roots, size_t count, struct search_result *ret,
                         struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		struct search_result found = { 0 };
		struct search_request request;
		bool room = limit_rest(asked, ret, &request);

		request.path = roots[i];
		if (!session->provider->ops->search(session->provider, &request, &found, err)) {
			search_result_release(ret);
			return false;
		}
		if (i == 0)
			*ret = found;
		else
			search_result_add(session, ret, &found, room);
	}
	return true;
}

static json_t *run_search_request(struct session *session, const json_t *arguments,
                                  struct search_request *request, struct err *err)
{
	const enum search_form form = form_of(arguments);
	struct search_result found = { 0 };
	size_t count;
	_cleanup_free_ const char **roots =
		filter_roots(session->provider, argument_str(arguments, "path"), &count);
	json_t *result;

	request->output = search_output_of(form);
	request->cancel = session->hooks.cancel;
	if (!read_search_arguments(arguments, request, err) ||
	    !search_roots(session, request, roots, count, &found, err))
		return NULL;
	result = search_result_json(session, request, form, &found);
	filter_put_roots(result, session->provider, count);
	search_result_release(&found);
	return result;
}

static json_t *run_search_files(struct session *session, const json_t *arguments)
{
	struct search_request request = { 0 };
	_cleanup_free_ const char **include = argument_strings(arguments, "include",
	                                                       &request.include_count);
	_cleanup_free_ const char **exclude = argument_strings(arguments, "exclude",
	                                                       &request.exclude_count);
	_cleanup_free_ const char **types = argument_strings(arguments, "file_types",
	                                                     &request.type_count);
	struct err err = ERR_INIT;
	json_t *result;

	request.include = include;
	request.exclude = exclude;
	request.types = types;
	filter_rules(session, arguments, &request.rules);
	result = run_search_request(session, arguments, &request, &err);
	free((void *)request.rules.ignore_files);
	return result ? result : filter_failure(arguments, &err);
}

static const char *const undeclared[] = {
	"case", "multiline", "before", "after", "file_types", "max_per_file", "max_line_bytes",
	"max_total_bytes", "hidden", "no_ignore", "whole_word", "respect_git_ignore",
	"respect_gemini_ignore", "file_filtering_options", "ignore_files", NULL,
};

const struct tool tool_search_files = {
	.info = &tool_infos[TOOL_SEARCH_FILES],
	.name = "search_files",
	.title = "Search in files",
	.rest = "Use a narrower pattern or path, or ask for fewer matches.",
	.parameter_aliases = parameter_aliases,
	.switches = switches,
	.name_defaults = name_defaults,
	.description = description,
	.of_hashes = "With with_hashes, safe_patch can follow without a read. ",
	.arguments_schema = arguments_schema,
	.undeclared = undeclared,
	.result_schema = result_schema,
	.run = run_search_files,
};
