/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in tools, one file each, and what their schemas share.
 *
 * Schemas are written as JSON between SCHEMA( and ), which turns its text into a
 * string; pieces are joined as string literals are.
 */
#ifndef HASP_TOOL_BUILTIN_BUILTIN_H
#define HASP_TOOL_BUILTIN_BUILTIN_H

#include "tool/set.h"
#include "tool/tool.h"

extern const struct tool tool_read_file;
extern const struct tool tool_read_many_files;
extern const struct tool tool_safe_patch;
extern const struct tool tool_write_file;
extern const struct tool tool_update_file;
extern const struct tool tool_apply_changes;
extern const struct tool tool_update_data;
extern const struct tool tool_update_notebook;
extern const struct tool tool_list_directory;
extern const struct tool tool_search_files;
extern const struct tool tool_glob;
extern const struct tool tool_query_data;
extern const struct tool tool_run_shell_command;
extern const struct tool tool_run_python;
extern const struct tool tool_list_background_processes;
extern const struct tool tool_read_background_output;
extern const struct tool tool_write_background_input;
extern const struct tool tool_kill_background_process;
extern const struct tool tool_web_fetch;
extern const struct tool tool_google_web_search;
extern const struct tool tool_save_memory;
extern const struct tool tool_write_todos;
extern const struct tool tool_update_topic;
extern const struct tool tool_get_diagnostics;
extern const struct tool tool_ask_user;
extern const struct tool tool_request_permission;
extern const struct tool tool_search_tools;
extern const struct tool tool_call_tool;
extern const struct tool tool_enter_plan_mode;
extern const struct tool tool_exit_plan_mode;

/* The tool and the arguments (a new reference) that a call of call_tool means.  NULL: it is no such
 * call, or names no tool. */
const struct tool *tool_meant(const struct tool_set *set, const struct tool *tool,
                              const json_t *arguments, json_t **ret_arguments);

#define SCHEMA(...) #__VA_ARGS__

/* clang-format off */

/* Arguments that all editors have. */
#define ARGUMENT_FILE_PATH SCHEMA( \
	"file_path": {"type": "string", "minLength": 1, "description": \
		"Absolute, or relative to the workspace folder."})

#define ALIASES_FILE_PATH \
	{ "absolute_path", "file_path", 0 }, { "path", "file_path", 0 }, \
	{ "target_file", "file_path", 0 }, { "filename", "file_path", 0 }, \
	{ "file", "file_path", 0 }
#define ALIASES_FOLDER \
	{ "dir_path", "path", 0 }, { "directory", "path", 0 }, { "target_directory", "path", 0 }, \
	{ "relative_workspace_path", "path", 0 }, { "explanation", NULL, 0 }

#define ARGUMENT_BASE SCHEMA( \
	"base_content_sha256": {"type": "string", "description": \
		"The sha256 of the highest version you have seen."})

#define ARGUMENTS_EDIT SCHEMA( \
	"return_content": {"type": "string", "enum": ["full", "diff", "none"], "description": \
		"What the answer carries. Default full."}, \
	"dry_run": {"type": "boolean", "description": \
		"Compute and check everything, write nothing. Default false."})

/* Undeclared, or bare (apply_changes): the refusal that it overrides names it (edit/content.c). */
#define ARGUMENT_LITERAL SCHEMA( \
	"literal": {"type": "boolean", "description": \
		"Write even what looks like a placeholder, fence, listing or diff. Default false."})

/* A list of names or globs; with its description. */
#define ARGUMENT_STRINGS(text) SCHEMA( \
	{"type": "array", "maxItems": 1000, "items": {"type": "string", "minLength": 1}, \
	 "description": text})

/* Arguments of tools that look through a tree. */
#define ARGUMENT_EXCLUDE \
	"\"exclude\": " ARGUMENT_STRINGS("Globs of files or folders to leave out.")

#define ARGUMENT_CASE SCHEMA( \
	"case_sensitive": {"type": "boolean", "description": \
		"Upper and lower case differ. Default false."})

#define ARGUMENTS_FILTER SCHEMA( \
	"hidden": {"type": "boolean", "description": \
		"Also files and folders whose name begins with a dot. Default true."}, \
	"no_ignore": {"type": "boolean", "description": \
		"Also what ignore files leave out. Default false."}, \
	"respect_git_ignore": {"type": "boolean", "description": "Default true."}, \
	"respect_gemini_ignore": {"type": "boolean", "description": "Default true."}, \
	"file_filtering_options": {"type": "object", "additionalProperties": false, \
		"description": "Ignore files, as Gemini CLI has them.", \
		"properties": {"respect_git_ignore": {"type": "boolean"}, \
		               "respect_gemini_ignore": {"type": "boolean"}}}, \
	"ignore_files": {"type": "array", "maxItems": 16, \
		"items": {"type": "string", "minLength": 1}, "description": \
		"Names of further ignore files to honour, such as .ignore."})

/* Parts of results. */
#define RESULT_ROOTS SCHEMA( \
	"roots": {"type": "array", "items": {"type": "string"}, "description": \
		"The workspace folders, if it was several."})

#define RESULT_VERSION SCHEMA( \
	"version": {"type": "integer", "description": "Higher is later in this session."}, \
	"sha256": {"type": "string", "description": "Of all bytes on disk."})

#define RESULT_DENIAL SCHEMA( \
	{"type": "object", "additionalProperties": false, \
		"required": ["kind", "what", "reason", "level", "message"], "properties": { \
		"kind": {"type": "string"}, \
		"what": {"type": "string", "description": "Path, address, or call."}, \
		"rule": {"type": "string", "description": "The path of the rule that decided."}, \
		"keys": {"type": "string", "description": "Settings that it would change."}, \
		"reason": {"type": "string"}, \
		"level": {"type": "string"}, \
		"program": {"type": "string"}, \
		"count": {"type": "integer"}, \
		"message": {"type": "string"}, \
		"how_to_allow": {"type": "string"}}})

#define RESULT_LINES SCHEMA( \
	{"type": "object", "required": ["start_line", "content"], \
		"additionalProperties": false, "properties": { \
		"start_line": {"type": "integer"}, "content": {"type": "string"}}})

#define RESULT_ERROR SCHEMA( \
	"error": {"type": "object", "required": ["code"], "additionalProperties": false, \
		"properties": { \
		"code": {"type": "string"}, \
		"message": {"type": "string"}, \
		"advice": {"type": "string", "description": "What to do next."}, \
		"hunk": {"type": "integer", "description": "The hunk at fault, from 1."}, \
		"hunk_count": {"type": "integer"}, \
		"stated_line": {"type": "integer", "description": "The line its header names."}, \
		"diff_line": {"type": "integer", "description": "The line of the diff."}, \
		"expected": {"type": "string", "description": \
			"The diff's first line that differs."}, \
		"found": {"type": "string", "description": "What the file has there."}, \
		"found_line": {"type": "integer"}, \
		"lines": ) RESULT_LINES SCHEMA(, \
		"difference": {"type": "string", "description": \
			"What alone they differ in: trailing_space, escapes, ..."}, \
		"candidates": {"type": "array", "items": {"type": "object", \
			"required": ["line", "lines_equal"], "additionalProperties": false, \
			"properties": {"line": {"type": "integer"}, \
			               "lines_equal": {"type": "integer"}}}}, \
		"candidates_total": {"type": "integer"}, \
		"failed_hunks": {"type": "array", "description": "All that fail.", "items": { \
			"type": "object", "required": ["hunk", "code"], \
			"additionalProperties": false, "properties": { \
			"hunk": {"type": "integer"}, "code": {"type": "string"}, \
			"stated_line": {"type": "integer"}, "diff_line": {"type": "integer"}, \
			"expected": {"type": "string"}, "found": {"type": "string"}, \
			"found_line": {"type": "integer"}, \
			"lines": ) RESULT_LINES SCHEMA(, \
			"difference": {"type": "string"}, \
			"nearest_line": {"type": "integer"}}}}, \
		"failed_hunks_total": {"type": "integer"}, \
		"matches": {"type": "integer", "description": "Places with the old text."}, \
		"match_lines": {"type": "array", "items": {"type": "integer"}}, \
		"change": {"type": "integer", "description": "The change at fault, from 1."}, \
		"denial": ) RESULT_DENIAL SCHEMA(}})

#define RESULT_FORM SCHEMA( \
	"encoding": {"type": "string"}, \
	"line_endings": {"type": "string", "enum": ["lf", "crlf", "mixed", "none"]})

#define RESULT_STATE SCHEMA( \
	{"type": "object", "required": ["file_path", "version", "sha256"], \
		"additionalProperties": false, "properties": { \
		"file_path": {"type": ["string", "null"]}, \
		"version": {"type": "integer", "description": "Higher is later in this session."}, \
		"sha256": {"type": ["string", "null"], "description": \
			"Of the bytes on disk; null when there is no file or it cannot be read."}, \
		"content": {"type": ["string", "null"], "description": \
			"The text; null when there is none, it is not text, or not asked for."}, \
		"content_omitted": {"type": "string", "description": \
			"In place of content: why, and where it is."}, \
		"changed": {"type": "string", "description": \
			"What is new to you, as a diff; long lines are cut."}, \
		"excerpt": ) RESULT_LINES SCHEMA(, \
		"exists": {"type": "boolean", \
			"description": "Present and false: no such file."}, ) \
		RESULT_FORM SCHEMA(}})

#define RESULT_EDIT SCHEMA( \
	"success": {"type": "boolean"}, \
	"message": {"type": "string"}, \
	"latest_file_state": ) RESULT_STATE SCHEMA(, \
	"dry_run": {"type": "boolean", "const": true}, \
	"planned_state": {"type": "object", "required": ["file_path", "sha256", "content"], \
		"additionalProperties": false, "properties": { \
		"file_path": {"type": "string"}, "sha256": {"type": ["string", "null"]}, \
		"content": {"type": ["string", "null"]}, ) RESULT_FORM SCHEMA(}}, \
	"created": {"type": "boolean", "const": true}, \
	"already_applied": {"type": "boolean", "const": true, "description": \
		"The file has this edit already; nothing was written."}, \
	"lines_added": {"type": "integer"}, \
	"lines_removed": {"type": "integer"}, \
	"bytes_written": {"type": "integer"}, \
	"replaced": {"type": "integer"}, \
	"hunks": {"type": "array", "description": "Where each hunk went.", "items": { \
		"type": "object", "additionalProperties": false, "required": ["hunk", "line"], \
		"properties": {"hunk": {"type": "integer"}, "line": {"type": "integer"}, \
		"stated_line": {"type": ["integer", "null"]}, "matched": {"type": "string"}, \
		"settled_by": {"type": "string"}, "added": {"type": "integer"}, \
		"removed": {"type": "integer"}}}}, \
	"hunks_total": {"type": "integer", "description": "If more than the list has."}, \
	"diff": {"type": "string"}, \
	"rebased": {"type": "object", "required": ["id", "diff"], "additionalProperties": false, \
		"description": \
			"The same edit of the file as it is now; pass id as rebase to make it.", \
		"properties": {"id": {"type": "string"}, "diff": {"type": "string"}}}, \
	"note": {"type": "string"}, ) RESULT_ERROR

#define RESULT_SCHEMA_EDITOR SCHEMA( \
	{"type": "object", "required": ["success", "message", "latest_file_state"], \
	 "additionalProperties": false, "properties": { ) RESULT_EDIT SCHEMA(}})

/* Of an editor's arguments, not validated yet: insert_line and insert_text (spelling.h) become a
 * diff with the lines around that place.  A new reference, to `arguments` without them; errors are
 * appended to `problems`. */
json_t *editor_expand_insert(struct session *session, json_t *arguments, struct buf *problems);
/* The same without a look at the file, for rules: a diff of the added lines alone. A new
 * reference. */
json_t *editor_insert_as_patch(const json_t *arguments);

/* A failure of a tool that does not edit. */
#define RESULT_FAILURE SCHEMA( \
	{"type": "object", "required": ["success", "message", "error"], \
	 "additionalProperties": false, "properties": { \
	 "success": {"const": false}, \
	 "message": {"type": "string"}, \
	 "file_path": {"type": "string"}, \
	 "version": {"type": "integer"}, \
	 "sha256": {"type": "string"}, \
	 "size": {"type": "integer"}, \
	 "path": {"type": "string"}, ) RESULT_ERROR SCHEMA(}})

/* A file as a model gets it. */
#define RESULT_FILE_PROPERTIES SCHEMA( \
	"success": {"const": true}, \
	"file_path": {"type": "string"}, \
	"version": {"type": "integer", "description": "Higher is later in this session."}, \
	"sha256": {"type": "string", "description": "Of all bytes on disk, always."}, \
	"content": {"type": "string"}, \
	"total_lines": {"type": "integer"}, \
	"start_line": {"type": "integer"}, \
	"end_line": {"type": "integer"}, \
	"truncated": {"type": "boolean"}, \
	"next_start_line": {"type": "integer", "description": "Where to go on reading."}, \
	"cut_line": {"type": "integer", "description": "The first line that was cut."}, \
	"start_column": {"type": "integer", "description": "Where start_line begins."}, \
	"cut_column": {"type": "integer", "description": "Where it goes on (start_column)."}, \
	) RESULT_FORM SCHEMA(, \
	"final_newline": {"type": "boolean"}, \
	"size": {"type": "integer", "description": "Bytes on disk."}, \
	"mime_type": {"type": "string"}, \
	"data": {"type": "string", "description": "Media: the bytes in base64."}, \
	"derived": {"type": "object", "description": "No plain text: what content was made of."}, \
	"outline": {"type": "array", "items": {"type": "string"}, "description": \
		"Parts, each before its name."}, \
	"next_part": {"type": "string", "description": "The part that goes on."}, \
	"pictures": {"type": "array", "items": {"type": "object"}, "description": \
		"mime_type and data of each, in base64."}, \
	"message": {"type": "string"})

#define RESULT_FILE SCHEMA( \
	{"type": "object", "required": ["success", "file_path", "version", "sha256", "content"], \
	 "additionalProperties": false, "properties": { ) RESULT_FILE_PROPERTIES SCHEMA(}})

/* clang-format on */

#endif
