/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/hooked.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/path.h"
#include "data/json.h"
#include "data/tools.h"

enum { PROBLEMS_MAX = 4096, NAMES_MAX = 4096 };

/* ---- names --------------------------------------------------------------------- */

static void put_name(struct buf *names, const char *name)
{
	if (name)
		buf_printf(names, " %s", name);
}

static void put_spellings(struct buf *names, const struct tool_info *row)
{
	put_name(names, row->name);
	put_name(names, row->claude);
	for (const char *const *alias = row->aliases; *alias; alias++)
		put_name(names, *alias);
}

/* Whether a matcher that names `other` means this tool: both write files, do the same, or run what
 * they are given. */
static bool is_of_kind(const struct tool_info *row, const struct tool_info *other)
{
	if (row == other || (row->edit && other->edit))
		return true;
	if (row->acts == TOOL_ACTS_TYPED)
		return other->runs;
	return (row->like && !strcmp(row->like, other->name)) ||
	       (other->like && !strcmp(other->like, row->name));
}

/* "search_files grep_search | Grep grep ...", as hooks_any has it; the caller frees. */
static char *names_for_matchers(const struct tool *tool)
{
	_cleanup_buf_ struct buf names = BUF_INIT(NAMES_MAX);
	const struct tool_info *row = tool->info;

	buf_str(&names, tool->name);
	if (tool->server && !strpbrk(tool->server, " |") && !strpbrk(tool->server_tool, " |"))
		buf_printf(&names, " mcp__%s__%s", tool->server, tool->server_tool);
	if (!row)
		return buf_steal(&names);
	put_name(&names, row->gemini);
	buf_str(&names, " |");
	for (size_t i = 0; i < tool_info_count(); i++)
		if (is_of_kind(row, &tool_infos[i]))
			put_spellings(&names, &tool_infos[i]);
	if (row->edit)
		put_name(&names, "NotebookEdit");
	return buf_steal(&names);
}

/* ---- cases --------------------------------------------------------------------- */

enum { LIST_NONE = -1 };

/* The input of hooks in one run. */
struct hook_case {
	const char *name; /* tool_name; borrowed */
	json_t *shown;    /* tool_input; owned */
	json_t *absolute; /* the file that it is about, absolute; owned; NULL: of none */
	int element;      /* of the list that it is about, from 0; LIST_NONE: all arguments */
};

struct hook_cases {
	const struct hooked_call *call;
	const struct tool *tool;
	const json_t *arguments;
	size_t elements;      /* of the list whose elements are cases; 0: none are */
	const json_t *plan;   /* of a dry run that succeeded; or NULL */
	struct hook_case *at; /* owned */
	size_t count, cap;
};

static void cases_release(struct hook_cases *cases)
{
	for (size_t i = 0; i < cases->count; i++) {
		json_decref(cases->at[i].shown);
		json_decref(cases->at[i].absolute);
	}
	free(cases->at);
}

/* `shown` and `absolute` are taken over. */
static void add_case(struct hook_cases *cases, const char *name, json_t *shown, json_t *absolute,
                     int element)
{
	cases->at = mem_grow(cases->at, &cases->cap, cases->count + 1, sizeof(*cases->at));
	cases->at[cases->count++] = (struct hook_case){ name, shown, absolute, element };
}

/* Where the path leads now, as results have it; a new reference. NULL: nowhere. */
static json_t *resolved_path(const struct hook_cases *cases, const json_t *path)
{
	struct provider *provider = cases->call->session->provider;
	_cleanup_free_ char *name = name_from_shown(json_string_value(path));
	const struct read_request request = { .path = name, .resolve = true };
	struct read_result result = { 0 };
	struct err ignored = ERR_INIT;
	json_t *found = NULL;

	if (provider_read(provider, &request, &result, &ignored))
		found = json_name(result.state.path);
	read_result_release(&result);
	return found;
}

/* The workspace's folder as results have it; a new reference. */
static json_t *shown_root(const struct hook_cases *cases)
{
	struct provider *provider = cases->call->session->provider;
	const char *root = provider->ops->root(provider, 0);

	return json_name(root ? root : "/");
}

/* A run for one absolute path. In tool_input it is relative if the model's was: a guard knows what
 * the program that it was written for hands on. */
static void add_path_case(struct hook_cases *cases, const char *name, const json_t *shown,
                          const json_t *path, struct span absolute, int element)
{
	json_auto_t *root = shown_root(cases);
	json_t *input = json_copy((json_t *)shown);
	struct span spelled = absolute;

	if (json_string_value(path)[0] != '/' && span_starts(absolute, json_span(root)) &&
	    absolute.len > json_string_length(root) &&
	    absolute.data[json_string_length(root)] == '/')
		spelled = span_skip(absolute, json_string_length(root) + 1);
	json_object_set_new(input, "file_path", json_text(spelled));
	add_case(cases, name, input, json_text(absolute), element);
}

/* A run for the file that a path leads to, and one for the path as it was named if that is another:
 * a guard may know either. */
static void add_path_cases(struct hook_cases *cases, const char *name, const json_t *shown,
                           const json_t *path, const json_t *state, int element)
{
	json_auto_t *root = shown_root(cases);
	_cleanup_free_ char *absolute = path_join(json_string_value(root),
	                                          json_string_value(path));
	json_t *known = json_object_get(state, "file_path");
	json_auto_t *found = known ? json_incref(known) : resolved_path(cases, path);

	if (json_is_string(found) && !span_eq(json_span(found), span_str(absolute)))
		add_path_case(cases, name, shown, path, json_span(found), element);
	add_path_case(cases, name, shown, path, span_str(absolute), element);
}

/* The lines of a diff that start with `mark`, without it, for hooks that check the contents of
 * old_string and new_string. */
static json_t *marked_lines(struct span diff, char mark)
{
	_cleanup_buf_ struct buf lines = BUF_INIT(LIMIT_RESULT_BYTES);
	bool hunks = false;

	while (diff.len) {
		const char *end = memchr(diff.data, '\n', diff.len);
		const size_t len = end ? (size_t)(end - diff.data) + 1 : diff.len;

		hunks = hunks || (len >= 2 && !memcmp(diff.data, "@@", 2));
		if (hunks && diff.data[0] == mark)
			buf_span(&lines, span_of(diff.data + 1, len - 1));
		diff = span_skip(diff, len);
	}
	return json_text(buf_view(&lines));
}

/* The arguments of a change under all names that hooks may look for. */
static json_t *shown_change(const struct tool *tool, const json_t *change, const json_t *plan)
{
	json_t *shown = tool_info_both(tool->info, change);
	const json_t *diff = json_object_get(plan, "diff");

	if (tool->info && tool->info->edit == TOOL_EDIT_PATCH) {
		if (!json_is_string(diff))
			diff = json_object_get(change, "unified_diff");
		json_object_set_new(shown, "old_string", marked_lines(json_span(diff), '-'));
		json_object_set_new(shown, "new_string", marked_lines(json_span(diff), '+'));
	}
	return shown;
}

/* One of apply_changes, as the tool that would do it alone; a move is about two files. */
static void add_change_cases(struct hook_cases *cases, int element)
{
	const struct tool_info *info = cases->tool->info;
	const json_t *change = tool_edit_at(info, cases->arguments, (size_t)element);
	const struct tool_info *alone =
		tool_info_of_change(json_span(json_object_get(change, "kind")));
	const json_t *plan = tool_edit_at(info, cases->plan, (size_t)element);
	const json_t *state = json_object_get(plan, "latest_file_state");
	const json_t *to = json_object_get(change, "new_path");
	const struct tool *tool = alone ? tool_find(alone->name) : cases->tool;
	json_auto_t *shown = shown_change(tool, change, plan);

	if (to) { /* its latest state is that of the new name */
		add_path_cases(cases, tool->name, shown, json_object_get(change, "file_path"),
		               json_is_string(json_object_get(plan, "moved_from")) ?
		                       NULL : state, element);
		add_path_cases(cases, tool->name, shown, to, state, element);
		return;
	}
	add_path_cases(cases, tool->name, shown, json_object_get(change, "file_path"), state,
	               element);
}

static void add_changes(struct hook_cases *cases)
{
	cases->elements = tool_edit_count(cases->tool->info, cases->arguments);
	for (size_t i = 0; i < cases->elements; i++)
		add_change_cases(cases, (int)i);
}

/* Each path of several that are read; one may be a pattern. */
static void add_paths_read(struct hook_cases *cases)
{
	struct tool_place place = { 0 };

	while (tool_place_next(cases->tool->info, cases->arguments, &place)) {
		json_auto_t *alone = json_copy((json_t *)cases->arguments);
		json_auto_t *shown = NULL;

		json_object_set_new(alone, cases->tool->info->paths[place.row].list,
		                    json_pack("[O]", place.path));
		shown = tool_info_both(cases->tool->info, alone);
		add_path_cases(cases, cases->call->name, shown, place.path, NULL,
		               (int)cases->elements++);
	}
}

/* What is written to a command that runs is one, as far as a guard can tell. */
static void add_background_input(struct hook_cases *cases)
{
	json_t *shown = json_copy((json_t *)cases->arguments);
	const json_t *input = tool_typed_input(cases->tool->info, cases->arguments);

	json_object_set_new(shown, "command", json_is_string(input) ? json_incref((json_t *)input) :
	                                                              json_string(""));
	add_case(cases, tool_name(TOOL_RUN_SHELL_COMMAND), shown, NULL, LIST_NONE);
}

static void cases_make(struct hook_cases *cases)
{
	static void (*const parts[])(struct hook_cases *cases) = {
		[TOOL_ACTS_CALL] = NULL,     [TOOL_ACTS_CHANGES] = add_changes,
		[TOOL_ACTS_FILES] = add_paths_read, [TOOL_ACTS_PATTERNS] = NULL,
		[TOOL_ACTS_TYPED] = add_background_input,
	};
	const struct tool *tool = cases->tool;
	const json_t *path = tool_first_path(tool->info, cases->arguments);
	json_auto_t *shown = NULL;

	if (tool->info && parts[tool->info->acts])
		parts[tool->info->acts](cases);
	if (cases->count)
		return;
	shown = shown_change(tool, cases->arguments, cases->plan);
	if (path && (tool->info->files == TOOL_FILES_READ || tool->info->files == TOOL_FILES_WRITE))
		add_path_cases(cases, cases->call->name, shown, path,
		               json_object_get(cases->plan, "latest_file_state"), LIST_NONE);
	else
		add_case(cases, cases->call->name, json_incref(shown), NULL, LIST_NONE);
}

static json_t *case_input(const struct hook_cases *cases, const struct hook_case *one)
{
	const struct hooked_call *call = cases->call;
	const char *original = call->original;
	json_t *input = json_pack("{s:s, s:O}", "tool_name", one->name, "tool_input", one->shown);

	if (!original && strcmp(one->name, call->name) != 0)
		original = call->name;
	if (one->absolute)
		json_object_set(input, "absolute_path", one->absolute);
	if (original)
		json_object_set_new(input, "original_request_name", json_string(original));
	if (call->id)
		json_object_set_new(input, "claude",
		                    json_pack("{s:o}", "tool_use_id", json_cstr(call->id)));
	if (cases->tool->server)
		json_object_set_new(input, "mcp_context",
		                    json_pack("{s:o, s:o}", "server_name",
		                              json_cstr(cases->tool->server), "tool_name",
		                              json_cstr(cases->tool->server_tool)));
	return input;
}

/* ---- before -------------------------------------------------------------------- */

/* "diff", and the hashes of the file before and after; null where there is none. */
static void show_planned_edit(const json_t *plan, json_t *input)
{
	static const struct {
		const char *member, *state;
	} hashes[] = {
		{ "sha256_before", "latest_file_state" }, { "sha256_after", "planned_state" },
	};

	if (!json_is_string(json_object_get(plan, "diff")))
		return;
	json_object_set(input, "diff", json_object_get(plan, "diff"));
	for (size_t i = 0; i < ARRAY_LEN(hashes); i++) {
		json_t *hash = json_object_get(json_object_get(plan, hashes[i].state), "sha256");

		json_object_set_new(input, hashes[i].member,
		                    json_is_string(hash) ? json_incref(hash) : json_null());
	}
}

/* The object that a case is about, with what a hook changed of what it was shown. */
static json_t *changed_object(const struct tool *tool, const json_t *object, const json_t *shown,
                              const json_t *said)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(PROBLEMS_MAX);
	json_auto_t *changes = json_object(), *ours = NULL;
	json_t *all = json_copy((json_t *)object), *value;
	const char *name;

	json_object_foreach((json_t *)said, name, value)
		if (!json_equal(value, json_object_get(shown, name)))
			json_object_set(changes, name, value);
	if (tool->info && tool->info->acts == TOOL_ACTS_TYPED &&
	    json_object_get(changes, "command")) {
		json_object_set(changes, "input", json_object_get(changes, "command"));
		json_object_del(changes, "command");
	}
	ours = alias_resolve(tool, tool->name, changes, NULL, &problems);
	json_object_update(all, ours);
	return all;
}

/* Lays a rewrite over the arguments. False: it is of one path of several that are read, where
 * nothing says what is meant. */
static bool rewrite_arguments(const struct hook_cases *cases, const struct hook_case *one,
                              const json_t *said, json_t **arguments)
{
	const struct tool *tool = cases->tool, *alone = tool_find(one->name);
	json_auto_t *list = json_array();
	json_t *all;

	if (one->element == LIST_NONE) {
		all = changed_object(tool, *arguments, one->shown, said);
	} else if (tool->info->edit == TOOL_EDIT_MANY) {
		for (size_t i = 0; i < cases->elements; i++)
			json_array_append(list, tool_edit_at(tool->info, *arguments, i));
		json_array_set_new(list, (size_t)one->element,
		                   changed_object(alone ? alone : tool,
		                                  json_array_get(list, (size_t)one->element),
		                                  one->shown, said));
		all = tool_edits_replaced(*arguments, list);
	} else {
		return json_equal(said, one->shown);
	}
	json_decref(*arguments);
	*arguments = all;
	return true;
}

static bool ends_call(const struct hook_outcome *said)
{
	return said->denied || said->stop || said->error || said->alternative;
}

static void refuse_rewrite(struct hook_outcome *said)
{
	said->denied = true;
	free(said->reason);
	said->reason = mem_strdup("A hook changed the arguments of a call that reads several "
	                          "paths. Read the files one by one.");
}

/* Runs hooks for each case until one ends the call; true if any ran. */
static bool run_cases_before(const struct hook_cases *cases, const char *names, json_t **arguments,
                       struct hook_outcome *ret)
{
	bool any = false;

	*ret = (struct hook_outcome){ 0 };
	for (size_t i = 0; i < cases->count && !ends_call(ret); i++) {
		const struct hook_case *one = &cases->at[i];
		json_auto_t *input = case_input(cases, one);
		struct hook_outcome said;

		show_planned_edit(one->element == LIST_NONE ? cases->plan :
		                  tool_edit_at(cases->tool->info, cases->plan,
		                               (size_t)one->element), input);
		if (!cases->call->fire(cases->call->data, HOOK_BEFORE_TOOL, names, input, &said))
			continue;
		any = true;
		if (said.tool_input && !ends_call(&said) &&
		    !rewrite_arguments(cases, one, said.tool_input, arguments))
			refuse_rewrite(&said);
		hook_outcome_merge(ret, &said);
	}
	return any;
}

bool hooked_before(const struct hooked_call *call, const struct tool *tool, json_t **arguments,
                   struct hook_outcome *ret)
{
	_cleanup_free_ char *names = names_for_matchers(tool);
	json_auto_t *before = json_incref(*arguments); /* held: its address is compared */
	struct hook_cases cases = { .call = call, .tool = tool, .arguments = before };
	struct session aside = *call->session;
	json_auto_t *plan = NULL;
	json_t *bound;
	bool ran;

	if (!call->any(call->data, HOOK_BEFORE_TOOL, names))
		return false;
	aside.unseen = true; /* the plan is for hooks alone */
	plan = tool_plan(&aside, tool, before);
	cases.plan = plan && !tool_result_failed(plan) ? plan : NULL;
	cases_make(&cases);
	ran = run_cases_before(&cases, names, arguments, ret);
	if (ran && cases.plan && *arguments == before) {
		bound = tool_bind(tool, before, cases.plan);
		json_decref(*arguments);
		*arguments = bound;
	}
	cases_release(&cases);
	return ran;
}

/* ---- after --------------------------------------------------------------------- */

/* The part of a result that is about one case. */
static const json_t *result_of(const struct hook_cases *cases, const struct hook_case *one,
                               const json_t *result)
{
	const json_t *parts = json_is_array(result) ? result : json_object_get(result, "changes");
	const json_t *part = one->element == LIST_NONE ||
	                                     json_array_size(parts) !=
	                                     cases->elements ?
	                             NULL : json_array_get(parts, (size_t)one->element);

	return json_is_object(part) ? part : result;
}

/* `response`, which is taken over, and the same as Claude Code's hooks know it. */
static void show_response(const struct hook_cases *cases, const struct hook_case *one,
                          json_t *response, const json_t *result, json_t *input)
{
	const char *text = json_string_value(json_object_get(response, "llmContent"));
	json_t *theirs = json_object_get(input, "claude");

	if (!theirs)
		json_object_set_new(input, "claude", theirs = json_object());
	json_object_set_new(theirs, "tool_response",
	                    hooked_claude_response(cases->tool, one->shown, one->absolute,
	                                           result_of(cases, one, result),
	                                           text ? text : ""));
	json_object_set_new(input, "tool_response", response);
}

bool hooked_after(const struct hooked_call *call, const struct tool *tool, const json_t *arguments,
                  const json_t *result,
                  json_t *(*response)(const struct tool *tool, const json_t *result),
                  struct hook_outcome *ret)
{
	_cleanup_free_ char *names = names_for_matchers(tool);
	struct hook_cases cases = { .call = call, .tool = tool, .arguments = arguments,
		                    .plan = result };
	bool any = false;

	if (!call->any(call->data, HOOK_AFTER_TOOL, names))
		return false;
	cases_make(&cases);
	*ret = (struct hook_outcome){ 0 };
	for (size_t i = 0; i < cases.count; i++) {
		const struct hook_case *one = &cases.at[i];
		json_auto_t *input = case_input(&cases, one);
		struct hook_outcome said;

		show_response(&cases, one, response(tool, result_of(&cases, one, result)), result,
		              input);
		if (!call->fire(call->data, HOOK_AFTER_TOOL, names, input, &said))
			continue;
		any = true;
		hook_outcome_merge(ret, &said);
	}
	cases_release(&cases);
	return any;
}

/* ---- results ------------------------------------------------------------------- */

static json_t *hook_refusal(const char *before, const char *reason)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_DENIED_BY_HOOK, "%s%s", before, reason ? reason : "no reason was given.");
	return tool_failure(&err);
}

static json_t *hook_stop(const struct hook_outcome *said)
{
	json_t *result = hook_refusal("Agent execution stopped by hook: ", said->reason);

	json_object_set_new(json_object_get(result, "error"), "type",
	                    json_string("stop_execution"));
	return result;
}

static json_t *hook_alternative(const struct hook_outcome *said)
{
	return json_pack("{s:b, s:o}", "success", 1, "output",
	                 json_text(span_str(said->alternative)));
}

json_t *hooked_ended(const struct hook_outcome *said)
{
	if (said->stop)
		return hook_stop(said);
	if (said->error || said->denied)
		return hook_refusal("Tool execution blocked: ",
		                    said->error ? said->error : said->reason);
	return said->alternative ? hook_alternative(said) : NULL;
}

json_t *hooked_replaced(const struct hook_outcome *said)
{
	if (said->stop)
		return hook_stop(said);
	if (said->error || said->denied)
		return hook_refusal("The call was made, but a hook withholds its result: ",
		                    said->error ? said->error : said->reason);
	return said->alternative ? hook_alternative(said) : NULL;
}
