/* SPDX-License-Identifier: Apache-2.0 */
/* What is not committed: /diff shows it, /review has the model look at it. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/tools.h"
#include "front/command/private.h"

/* ---- diff ------------------------------------------------------------------------ */

/* Runs a command that only reads, as the model's commands run: in the sandbox. What it printed;
 * a new reference. NULL: the call failed, and *call says why. */
static json_t *printed_by(struct command_call *call, const char *command)
{
	json_auto_t *arguments = json_pack("{s:s}", "command", command);
	json_auto_t *result = host_call(call->context->host, tool_name(TOOL_RUN_SHELL_COMMAND),
	                                arguments);
	const json_t *code = json_object_get(result, "exit_code");
	const struct span output = span_trim(json_span(json_object_get(result, "output")));
	const char *why = json_string_value(json_object_get(result, "message"));

	if (json_is_integer(code) && !json_integer_value(code))
		return json_incref(json_object_get(result, "output"));
	command_fail(call, "%.*s", (int)(output.len ? output.len : why ? strlen(why) : 0),
	             output.len ? output.data : why ? why : "");
	return NULL;
}

/* The file that a part of git's output is about: the new name, or of one that was deleted the
 * old. */
static struct span diff_path(struct span part)
{
	static const struct span marks[] = { { "\n+++ b/", 7 }, { "\n--- a/", 7 } };

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		const char *at = memmem(part.data, part.len, marks[i].data, marks[i].len);
		const char *end;

		if (!at)
			continue;
		at += marks[i].len;
		end = memchr(at, '\n', part.len - (size_t)(at - part.data));
		return span_of(at, end ? (size_t)(end - at) :
		                         part.len - (size_t)(at - part.data));
	}
	return span_head(part, 0);
}

static const char *diff_action(struct span part)
{
	return memmem(part.data, part.len, "\nnew file mode", 14)     ? "new" :
	       memmem(part.data, part.len, "\ndeleted file mode", 18) ? "deleted" : "changed";
}

/* One file: "diff --git a/x b/x", lines about modes, "--- a/x", "+++ b/x", the hunks. */
static json_t *diff_part(struct span part)
{
	const char *hunks = memmem(part.data, part.len, "\n--- ", 5);
	const struct span diff = hunks ? span_skip(part, (size_t)(hunks + 1 - part.data)) :
	                                 span_head(part, 0);
	const char *end = memchr(part.data, '\n', part.len);
	struct span path = diff_path(part);

	if (!path.len)
		path = span_head(part, end ? (size_t)(end - part.data) : part.len);
	return json_pack("{s:o, s:s, s:o}", "path", json_text(path), "action", diff_action(part),
	                 "diff", json_text(diff));
}

static json_t *diff_parts(struct span text)
{
	static const struct span mark = { "diff --git ", 11 };
	json_t *parts = json_array();

	while (span_starts(text, mark)) {
		const char *next = memmem(text.data, text.len, "\ndiff --git ", 12);
		const size_t len = next ? (size_t)(next + 1 - text.data) : text.len;

		json_array_append_new(parts, diff_part(span_head(text, len)));
		text = span_skip(text, len);
	}
	return parts;
}

static void put_untracked(struct command_call *call, struct span names)
{
	while (names.len) {
		const char *end = memchr(names.data, '\n', names.len);
		const size_t len = end ? (size_t)(end - names.data) : names.len;
		_cleanup_free_ char *name = mem_dup(names.data, len);

		if (len)
			command_term(call, "untracked", 10, span_str(name), STYLE(ROLE_TEXT));
		names = span_skip(names, len + (end ? 1 : 0));
	}
}

void command_diff(struct command_call *call)
{
	json_auto_t *changed = printed_by(call, "git --no-pager diff --no-color HEAD");
	json_auto_t *untracked = changed ?
		printed_by(call, "git ls-files --others --exclude-standard") : NULL;
	json_auto_t *parts = NULL;

	if (!untracked)
		return;
	parts = diff_parts(json_span(changed));
	put_untracked(call, json_span(untracked));
	if (!json_array_size(parts) && !call->result->rows.count)
		command_say(call, STYLE(ROLE_TEXT), "Nothing has changed since the last commit.");
	if (json_array_size(parts) && call->context->can & 1u << COMMAND_REFRESH)
		call->result->changes = json_incref(parts);
	else
		command_text(call, STYLE(ROLE_TEXT), json_span(changed));
	call->result->pager = true;
}

/* ---- review ---------------------------------------------------------------------- */

static const char review_prompt[] =
	"Review %s. Look at the changes first (git status, git diff, git show or gh, as needed), "
	"then at the code that they touch and that depends on it.\n\n"
	"Report problems that the author would want to know about: bugs, security holes, lost "
	"error handling, races, broken interfaces, missing tests. For each: file and line, what is "
	"wrong, when it shows, and how to fix it; the worst first. Leave out matters of taste and "
	"what the changes did not introduce. If you find nothing, say so, and say what you looked "
	"at. Do not change any file.";

void command_review(struct command_call *call)
{
	const struct span what = call->arguments.len ? call->arguments :
	                         SPAN("the uncommitted changes of this working tree, with files "
	                              "that are staged or untracked");
	_cleanup_free_ char *text = mem_dup(what.data, what.len);

	command_ask(call, mem_printf(review_prompt, text),
	            mem_printf("/review%s%.*s", call->arguments.len ? " " : "",
	                       (int)call->arguments.len,
	                       call->arguments.len ? call->arguments.data : ""));
}
