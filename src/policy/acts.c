/* SPDX-License-Identifier: Apache-2.0 */
/* What each tool's call does, in Gemini CLI's words. */
#include <string.h>

#include "base/mem.h"
#include "policy/act.h"

static const char *const as_replace[] = { "replace", "edit", "EditTool", NULL };
static const char *const as_write[] = { "write_file", "WriteFileTool", NULL };
static const char *const as_read[] = { "read_file", "ReadFileTool", NULL };
static const char *const as_shell[] = { "run_shell_command", "ShellTool", "shell", "bash", "Bash",
	                                NULL };

/* Takes the reference to `arguments`; the act is good until the next one is added. */
static struct act *acts_add(struct acts *acts, const struct policy_call *call, json_t *arguments)
{
	struct act *act;

	if (acts->count == acts->cap)
		acts->items = mem_grow(acts->items, &acts->cap, acts->count + 1,
		                       sizeof(*acts->items));
	act = &acts->items[acts->count++];
	act_init(call, arguments, act);
	json_decref(arguments);
	return act;
}

/* ---- arguments in other names ----------------------------------------------------------- */

static const struct {
	const char *tool, *name, *gemini;
} renamed[] = {
	{ "update_file", "old_content", "old_string" },
	{ "update_file", "new_content", "new_string" },
	{ "glob", "path", "dir_path" },
	{ "list_directory", "path", "dir_path" },
	{ "search_files", "path", "dir_path" },
	{ "search_files", "include", "include_pattern" },
};

/* With Gemini CLI's names; NULL: there is no difference. */
static json_t *rename_members(const char *tool, const json_t *arguments)
{
	json_t *copy = NULL;

	for (size_t i = 0; i < ARRAY_LEN(renamed); i++) {
		json_t *value = json_object_get(arguments, renamed[i].name);

		if (!value || strcmp(renamed[i].tool, tool) != 0)
			continue;
		if (!copy)
			copy = json_copy((json_t *)arguments);
		json_object_set(copy, renamed[i].gemini, value);
		json_object_del(copy, renamed[i].name);
	}
	return copy;
}

/* The lines of a diff that are there before (side '-') or after ('+') it. */
static json_t *side_of(struct span diff, char side)
{
	_cleanup_buf_ struct buf text = BUF_INIT(diff.len + 1);
	char other = side == '-' ? '+' : '-';

	while (diff.len) {
		const char *end = memchr(diff.data, '\n', diff.len);
		size_t len = end ? (size_t)(end - diff.data) + 1 : diff.len;

		if (diff.data[0] != other && diff.data[0] != '@')
			buf_append(&text, diff.data + (diff.data[0] != '\n'),
			           len - (diff.data[0] != '\n'));
		diff = span_skip(diff, len);
	}
	return json_stringn(text.data ? text.data : "", text.len);
}

/* A diff as a call of replace. */
static json_t *diff_as_replace(const json_t *path, const json_t *diff)
{
	struct span text = span_of(json_string_value(diff), json_string_length(diff));

	return json_pack("{s:O?, s:o?, s:o?}", "file_path", path, "old_string",
	                 side_of(text, '-'), "new_string", side_of(text, '+'));
}

/* ---- tools that are several --------------------------------------------------------------- */

static void add_place(struct acts *acts, const struct policy_call *call, const json_t *path)
{
	if (!path)
		return;
	acts_add(acts, call, json_pack("{s:O}", "file_path", path))->covers = as_replace;
	acts_add(acts, call, json_pack("{s:O}", "file_path", path))->covers = as_write;
}

/* Deleting and moving is what neither of Gemini CLI's editors does: both must allow it. */
static void add_change(struct acts *acts, const struct policy_call *call, const json_t *change)
{
	const json_t *path = json_object_get(change, "file_path");
	const json_t *content = json_object_get(change, "content");
	const json_t *diff = json_object_get(change, "unified_diff");
	const json_t *before = json_object_get(change, "old_content");
	const json_t *after = json_object_get(change, "new_content");

	if (diff)
		acts_add(acts, call, diff_as_replace(path, diff))->covers = as_replace;
	if (before || after)
		acts_add(acts, call, json_pack("{s:O?, s:O?, s:O?}", "file_path", path, "old_string",
		                               before, "new_string", after))->covers = as_replace;
	if (content)
		acts_add(acts, call, json_pack("{s:O?, s:O}", "file_path", path, "content",
		                               content))->covers = as_write;
	if (!diff && !before && !after && !content) {
		add_place(acts, call, path);
		add_place(acts, call, json_object_get(change, "new_path"));
	}
}

static void apply_changes(struct acts *acts, const struct policy_call *call)
{
	const json_t *changes = json_object_get(call->arguments, "changes");
	json_auto_t *none = json_string("");

	for (size_t i = 0; i < json_array_size(changes); i++)
		add_change(acts, call, json_array_get(changes, i));
	if (acts->count == 0)
		add_place(acts, call, none);
}

/* What a folder or a glob among them stands for is judged file by file, when it is opened
 * (policy_decide_spelled). */
static void read_many_files(struct acts *acts, const struct policy_call *call)
{
	static const char *const members[] = { "paths", "include" };

	for (size_t m = 0; m < ARRAY_LEN(members); m++) {
		const json_t *paths = json_object_get(call->arguments, members[m]);

		for (size_t i = 0; i < json_array_size(paths); i++) {
			json_t *path = json_array_get(paths, i);

			if (json_is_string(path))
				acts_add(acts, call, json_pack("{s:O}", "file_path",
				                               path))->strict = as_read;
		}
	}
	if (acts->count == 0)
		acts_add(acts, call, NULL)->strict = as_read;
}

static void glob(struct acts *acts, const struct policy_call *call)
{
	const json_t *patterns = json_object_get(call->arguments, "patterns");

	for (size_t i = 0; i < json_array_size(patterns); i++) {
		json_t *arguments = rename_members("glob", call->arguments);

		if (!arguments)
			arguments = json_copy((json_t *)call->arguments);
		json_object_set(arguments, "pattern", json_array_get(patterns, i));
		json_object_del(arguments, "patterns");
		acts_add(acts, call, arguments);
	}
	if (acts->count == 0)
		acts_add(acts, call, NULL);
}

static void safe_patch(struct acts *acts, const struct policy_call *call)
{
	const json_t *diff = json_object_get(call->arguments, "unified_diff");
	const json_t *path = json_object_get(call->arguments, "file_path");

	acts_add(acts, call, diff_as_replace(path, diff))->covers = as_replace;
}

/* Input of a command is more commands, if it is a shell that reads it. */
static void write_background_input(struct acts *acts, const struct policy_call *call)
{
	json_t *input = json_object_get(call->arguments, "input");

	acts_add(acts, call, json_pack("{s:O?}", "command", input))->strict = as_shell;
}

void acts_make(const struct policy_call *call, struct acts *ret)
{
	static const struct {
		const char *tool;
		void (*make)(struct acts *acts, const struct policy_call *call);
	} several[] = {
		{ "safe_patch", safe_patch },
		{ "apply_changes", apply_changes },
		{ "read_many_files", read_many_files },
		{ "glob", glob },
		{ "write_background_input", write_background_input },
	};

	*ret = (struct acts){ 0 };
	for (size_t i = 0; i < ARRAY_LEN(several) && !call->server; i++)
		if (strcmp(several[i].tool, call->tool) == 0)
			several[i].make(ret, call);
	if (ret->count == 0)
		acts_add(ret, call, call->server ? NULL
		                                 : rename_members(call->tool, call->arguments));
	for (size_t i = 0; i < ret->count; i++)
		ret->items[i].part = ret->count > 1;
}

void acts_release(struct acts *acts)
{
	for (size_t i = 0; i < acts->count; i++)
		act_release(&acts->items[i]);
	free(acts->items);
}
