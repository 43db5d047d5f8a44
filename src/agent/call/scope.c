/* SPDX-License-Identifier: Apache-2.0 */
/* What a call does, as far as "always" is about it, and what a choice of it would allow: the kind
 * of change for all editors alike, the host of a fetch, the prefixes of a command; never more than
 * the question shows. */
#include <string.h>

#include "agent/call/call.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/authority.h"
#include "data/json.h"
#include "policy/policy.h"

/* ---- what a call does -------------------------------------------------------- */

/* The files of instructions that the settings name in place of the usual ones. */
static bool is_named_instructions(const struct call *call, struct span path)
{
	const struct settings *settings = call->agent->options.settings;
	const json_t *names = settings ? settings_get(settings, "context.fileName") : NULL;
	struct span name = path;
	size_t i;
	json_t *item;

	for (i = 0; i < path.len; i++)
		if (path.data[i] == '/')
			name = span_skip(path, i + 1);
	json_array_foreach((json_t *)names, i, item)
		if (span_eq(name, json_span(item)))
			return true;
	return json_is_string(names) && span_eq(name, json_span(names));
}

static bool is_obeyed_file(const struct call *call, const json_t *path)
{
	return json_string_length(path) && (authority_file(json_string_value(path)) ||
	                                    is_named_instructions(call, json_span(path)));
}

/* One change as it is named, and as it was planned (NULL: it was not). */
static void note_change(struct call *call, const json_t *change, const json_t *plan)
{
	const json_t *states[] = { json_object_get(plan, "latest_file_state"),
		                   json_object_get(plan, "planned_state") };
	struct span kind = json_span(json_object_get(change, "kind"));

	call->obeyed = call->obeyed || is_obeyed_file(call, json_object_get(change, "file_path")) ||
	               is_obeyed_file(call, json_object_get(change, "new_path"));
	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		call->obeyed = call->obeyed ||
		               is_obeyed_file(call, json_object_get(states[i], "file_path"));
	if (!plan)
		return;
	if (span_eq(kind, SPAN("delete")))
		call->changes |= POLICY_DELETES;
	else if (span_eq(kind, SPAN("move")))
		call->changes |= POLICY_MOVES;
	else if (json_is_true(json_object_get(plan, "created")))
		call->changes |= POLICY_CREATES;
	else
		call->changes |= POLICY_EDITS;
}

static void note_hosts(struct call *call, const struct tool *tool, const json_t *arguments)
{
	json_auto_t *addresses = tool->addresses(arguments);
	size_t i;
	json_t *address;

	call->hosts = addresses ? json_array() : NULL;
	json_array_foreach(addresses, i, address) {
		json_t *host = json_object_get(address, "host");

		if (!json_lists(call->hosts, json_span(host)))
			json_array_append(call->hosts, host);
	}
}

void call_scope_release(struct call *call)
{
	json_decref(call->hosts);
	call->hosts = NULL;
	call->changes = 0;
	call->obeyed = false;
}

void call_scope_note(struct call *call, const struct tool *tool, const json_t *arguments,
                const json_t *plan)
{
	const size_t edits = tool_edit_count(tool->info, arguments);

	call_scope_release(call);
	if (tool->addresses)
		note_hosts(call, tool, arguments);
	if (!tool->plans)
		return;
	for (size_t i = 0; i < edits; i++)
		note_change(call, tool_edit_at(tool->info, arguments, i),
		            tool_edit_at(tool->info, plan, i));
	/* It is shown, and changes nothing. */
	if (json_is_true(json_object_get(arguments, "dry_run")))
		call->changes = POLICY_EDITS;
}

/* ---- patterns ---------------------------------------------------------------- */

char *call_scope_pattern(const json_t *arguments, const char *member)
{
	_cleanup_buf_ struct buf pattern = BUF_INIT(16 * LIMIT_PATH_BYTES);
	const json_t *value = json_object_get(arguments, member);

	bool whole;

	if (!json_string_length(value))
		return NULL;
	buf_printf(&pattern, "\"%s\":\"", member);
	whole = policy_put_literal(&pattern, json_span(value));
	buf_char(&pattern, '"');
	return whole && !pattern.overflowed ? buf_steal(&pattern) : NULL;
}

/* ---- the choice -------------------------------------------------------------- */

enum {
	TEXT_MAX = 16 << 10,
	LISTED_MAX = 80, /* bytes of a command that is listed as allowed */
};

static void put_joined(struct buf *out, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%s%s", !i ? "" : i + 1 == count ? " and " : ", ", words[i]);
}

static void put_kinds(struct buf *out, unsigned changes)
{
	static const char *const words[] = { "edits of any file", "new files", "deletions of files",
		                             "moves of files" };
	const char *said[ARRAY_LEN(words)];
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (changes & 1u << i)
			said[count++] = words[i];
	put_joined(out, said, count);
}

static void put_strings(struct buf *out, const char *before, const json_t *strings)
{
	const size_t count = json_array_size(strings);
	_cleanup_free_ const char **words = mem_alloc(count + 1, sizeof(*words));

	for (size_t i = 0; i < count; i++)
		words[i] = json_string_value(json_array_get(strings, i));
	buf_str(out, before);
	put_joined(out, words, count);
}

/* write_file itself both makes files and replaces them, so one choice is about both. */
static unsigned changes_of(const struct call *call, const struct tool *tool)
{
	const unsigned both = POLICY_EDITS | POLICY_CREATES;

	return tool->info->edit == TOOL_EDIT_WRITE ? call->changes | both : call->changes;
}

static bool scope_by_name(const struct tool *tool, const json_t *arguments,
                          struct scope_choice *choice, struct buf *text)
{
	const struct tool_info *info = tool->info;

	if (!info || !info->one) {
		buf_printf(text, "every call of %s", tool->name);
		return true;
	}
	choice->pattern = call_scope_pattern(arguments, info->one);
	choice->scope.args_pattern = choice->pattern;
	buf_printf(text, "%s %s", info->one_is,
	           json_string_value(json_object_get(arguments, info->one)));
	return choice->pattern;
}

/* The very line, where a prefix would allow too much: "python3", a pipe into "sh". */
static bool scope_of_line(const struct tool_question *question, struct scope_choice *choice,
                          struct buf *text)
{
	const struct span command =
		json_span(tool_command_line(question->tool->info, question->arguments));
	const struct span shown = utf8_head(command, LISTED_MAX);

	choice->exact = policy_exact_call(question->arguments);
	choice->scope.exact = choice->exact;
	choice->listed = mem_printf("exactly this command: %.*s%s", (int)shown.len, shown.data,
	                            shown.len < command.len ? "\xe2\x80\xa6" : "");
	buf_str(text, "exactly this command");
	return choice->exact;
}

static bool scope_of_own(const struct call *call, const struct tool_question *question,
                         struct scope_choice *choice, struct buf *text)
{
	const struct tool *tool = question->tool;
	struct policy_scope *scope = &choice->scope;

	if (tool->info && tool->info->each_time)
		return false;
	if (tool->info && tool->info->runs) {
		scope->prefixes = call->verdict.prefixes;
		if (!json_array_size(scope->prefixes))
			return scope_of_line(question, choice, text);
		put_strings(text, "commands that begin with ", scope->prefixes);
		return true;
	}
	if (tool->addresses) {
		scope->hosts = call->hosts;
		put_strings(text, "fetches from ", scope->hosts);
		return json_array_size(scope->hosts);
	}
	if (!tool->plans)
		return scope_by_name(tool, question->arguments, choice, text);
	scope->changes = changes_of(call, tool);
	put_kinds(text, scope->changes);
	return scope->changes;
}

bool call_scope_choose(const struct call *call, const struct tool_question *question,
                       struct scope_choice *ret)
{
	const struct tool *tool = question->tool;
	_cleanup_buf_ struct buf text = BUF_INIT(TEXT_MAX);
	bool made = !call->obeyed;

	*ret = (struct scope_choice){ .scope = { .tool = tool->name,
		                                 .identity = tool->server_identity,
		                                 .mode = agent_mode(call->agent) } };
	if (made && tool->server)
		buf_printf(&text, "the tool %s of the server %s", tool->server_tool, tool->server);
	else if (made)
		made = scope_of_own(call, question, ret, &text);
	/* Text too long to read in a choice must not be allowed by it. */
	made = made && !text.overflowed;
	ret->text = made ? buf_steal(&text) : NULL;
	ret->scope.text = ret->listed ? ret->listed : ret->text;
	if (!made)
		call_scope_choice_release(ret);
	return made;
}

void call_scope_choice_release(struct scope_choice *choice)
{
	free(choice->pattern);
	free(choice->text);
	free(choice->exact);
	free(choice->listed);
	*choice = (struct scope_choice){ 0 };
}
