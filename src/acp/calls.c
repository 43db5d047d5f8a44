/* SPDX-License-Identifier: Apache-2.0 */
/* Tool calls as the client shows them: what kind, of which files, what they would change. */
#include <stdlib.h>
#include <string.h>

#include "acp/private.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/json.h"
#include "data/tools.h"
#include "diff/unified.h"

enum {
	WHOLE_BYTES = 256 << 10, /* longer texts are shown as the hunks of their diff */
	HUNKS_MAX = 200,         /* of one call */
	OUTPUT_BYTES = 32 << 10, /* a longer result is not sent as rawOutput */
};

/* ---- names, kinds, places ----------------------------------------------------------- */

static char *acp_absolute(const struct acp_session *session, const char *path)
{
	return *path == '/' ? mem_strdup(path) :
	                      path_join(session_folder(session->session), path);
}

/* The protocol's words. */
static const char *acp_kind_of(const struct tool_info *info)
{
	static const char *const kinds[] = {
		[TOOL_KIND_OTHER] = "other",     [TOOL_KIND_READ] = "read",
		[TOOL_KIND_EDIT] = "edit",       [TOOL_KIND_DELETE] = "delete",
		[TOOL_KIND_MOVE] = "move",       [TOOL_KIND_SEARCH] = "search",
		[TOOL_KIND_EXECUTE] = "execute", [TOOL_KIND_THINK] = "think",
		[TOOL_KIND_FETCH] = "fetch",     [TOOL_KIND_COMMUNICATE] = "other",
		[TOOL_KIND_PLAN] = "switch_mode", [TOOL_KIND_AGENT] = "think",
	};

	return info ? kinds[info->kind] : "other";
}

static void acp_add_place(const struct acp_session *session, json_t *places, const json_t *path,
                          const json_t *line)
{
	_cleanup_free_ char *absolute =
		json_string_length(path) ? acp_absolute(session, json_string_value(path)) : NULL;
	json_t *place = absolute ? json_pack("{s:o}", "path", json_text(span_str(absolute))) : NULL;

	if (place && json_integer_value(line) > 0)
		json_object_set(place, "line", (json_t *)line);
	if (place)
		json_array_append_new(places, place);
}

/* The files that arguments name, so that the editor can follow; a new reference. */
static json_t *acp_places(const struct acp_session *session, const struct tool_info *info,
                          const json_t *arguments)
{
	struct tool_place place = { 0 };
	json_t *places = json_array();

	while (tool_place_next(info, arguments, &place))
		acp_add_place(session, places, place.path, place.holder == arguments ?
		              json_object_get(arguments, "start_line") : NULL);
	return places;
}

/* "Read src/main.c"; the caller frees. */
static char *acp_call_title(const struct tool_info *info, const json_t *message)
{
	const char *title = acp_text(message, "title"), *about = acp_text(message, "description");

	if (!info || !info->verb)
		return mem_printf("%s: %s", title ? title : "", about ? about : "");
	return mem_printf("%s%s%s", info->verb, info->verb_alone ? "" : " ",
	                  info->verb_alone || !about ? "" : about);
}

/* ---- content ------------------------------------------------------------------------ */

static json_t *acp_text_content(struct span text)
{
	return json_pack("{s:s, s:{s:s, s:o}}", "type", "content", "content", "type", "text",
	                 "text", json_text(text));
}

json_t *acp_call_text(struct span text)
{
	return json_pack("[o]", acp_text_content(text));
}

/* `old` or `new` NULL or null: there is no such file. */
static json_t *acp_diff_content(const char *path, json_t *old, json_t *new)
{
	json_t *content = json_pack("{s:s, s:o, s:o}", "type", "diff", "path",
	                            json_text(span_str(path)), "newText",
	                            json_is_string(new) ? json_incref(new) : json_string(""));

	json_object_set(content, "oldText", json_is_string(old) ? old : json_null());
	return content;
}

/* ---- commands ----------------------------------------------------------------------- */

/* A client that says so (_meta.terminal_output) shows a command's output as that of a terminal,
 * which it has not started: the command is in hasp's sandbox.  The terminal's id is the call's. */
static bool acp_has_terminal(const struct acp_session *session, const struct tool_info *info)
{
	return info && info->runs && session->acp->client.shows_output;
}

static json_t *acp_terminal_content(const json_t *call)
{
	return json_pack("{s:s, s:O}", "type", "terminal", "terminalId", call);
}

json_t *acp_call_output(const struct acp_session *session, const json_t *message)
{
	if (!session->acp->client.shows_output)
		return NULL;
	return json_pack("{s:O, s:{s:{s:O, s:O}}}", "toolCallId",
	                 json_object_get(message, "callId"), "_meta", "terminal_output",
	                 "terminal_id", json_object_get(message, "callId"), "data",
	                 json_object_get(message, "text"));
}

static void acp_begin_terminal(const struct acp_session *session, const json_t *id, json_t *call)
{
	json_object_set_new(call, "content", json_pack("[o]", acp_terminal_content(id)));
	json_object_set_new(call, "_meta", json_pack(
		"{s:{s:O, s:s}}", "terminal_info", "terminal_id", id, "cwd",
		session_folder(session->session)));
}

static void acp_end_terminal(const json_t *id, const json_t *result, json_t *call)
{
	const json_t *code = json_object_get(result, "exit_code");

	json_array_insert_new(json_object_get(call, "content"), 0, acp_terminal_content(id));
	json_object_set_new(call, "_meta", json_pack(
		"{s:{s:O, s:o, s:n}}", "terminal_exit", "terminal_id", id, "exit_code",
		json_is_integer(code) ? json_incref((json_t *)code) : json_null(), "signal"));
}

/* ---- hunks -------------------------------------------------------------------------- */

/* One of a unified diff, as text before and after. */
struct acp_hunk {
	struct buf old, new;
	size_t line; /* in the file after it */
};

static void acp_hunk_line(struct buf *to, const struct unified_line *line)
{
	buf_span(to, line->text);
	if (!line->note.len) /* no newline at the end */
		buf_char(to, '\n');
}

static void acp_hunk_block(struct acp_hunk *hunk, const struct unified_block *block)
{
	for (size_t i = 0; block->kind != UNIFIED_NOTE && i < block->count; i++) {
		if (block->lines[i].sign != '+')
			acp_hunk_line(&hunk->old, &block->lines[i]);
		if (block->lines[i].sign != '-')
			acp_hunk_line(&hunk->new, &block->lines[i]);
	}
	if (block->kind == UNIFIED_NOTE) { /* of the last line of both */
		hunk->old.len -= hunk->old.len > 0;
		hunk->new.len -= hunk->new.len > 0;
	}
}

static void acp_hunk_end(const struct acp_session *session, json_t *to, const json_t *path,
                         struct acp_hunk *hunk, json_t *places)
{
	_cleanup_free_ char *absolute = acp_absolute(session, json_string_value(path));
	json_auto_t *line = json_integer((json_int_t)hunk->line);

	if (!hunk->old.len && !hunk->new.len)
		return;
	json_array_append_new(to, json_pack(
		"{s:s, s:o, s:o, s:o}", "type", "diff", "path", json_text(span_str(absolute)),
		"oldText", json_text(buf_view(&hunk->old)), "newText",
		json_text(buf_view(&hunk->new))));
	acp_add_place(session, places, path, line);
	buf_clear(&hunk->old);
	buf_clear(&hunk->new);
}

/* Adds the hunks of a diff of one file, as content and as places. */
static void acp_add_hunks(const struct acp_session *session, json_t *to, const json_t *path,
                          struct span diff, json_t *places)
{
	struct acp_hunk hunk = { .old = BUF_INIT(LIMIT_RESULT_BYTES),
		                 .new = BUF_INIT(LIMIT_RESULT_BYTES) };
	_cleanup_unified_ struct unified unified;
	struct unified_block block;

	unified_init(&unified, diff, /* words= */ false);
	while (json_is_string(path) && json_array_size(to) < HUNKS_MAX &&
	       unified_next(&unified, &block)) {
		if (block.kind == UNIFIED_HUNK) {
			acp_hunk_end(session, to, path, &hunk, places);
			hunk.line = block.header.new_at;
		} else if (block.kind != UNIFIED_HEADING) {
			acp_hunk_block(&hunk, &block);
		}
	}
	if (json_is_string(path))
		acp_hunk_end(session, to, path, &hunk, places);
	buf_release(&hunk.old);
	buf_release(&hunk.new);
}

/* ---- questions ---------------------------------------------------------------------- */

/* A change that is asked about: {filePath, originalContent, newContent, fileDiff, newPath?};
 * `is_modifiable`: the answer may have another content. */
static void acp_add_change(const struct acp_session *session, json_t *to, const json_t *change,
                           bool is_modifiable, json_t *places)
{
	const json_t *path = json_object_get(change, "filePath");
	const json_t *moved = json_object_get(change, "newPath");
	json_t *old = json_object_get(change, "originalContent");
	json_t *new = json_object_get(change, "newContent");
	_cleanup_free_ char *absolute =
		json_is_string(path) ? acp_absolute(session, json_string_value(path)) : NULL;
	_cleanup_free_ char *text = NULL;
	json_t *shown;

	if (!absolute)
		return;
	if (json_is_string(moved)) {
		text = mem_printf("Move %s to %s", json_string_value(path),
		                  json_string_value(moved));
		json_array_append_new(to, acp_text_content(span_str(text)));
	}
	if ((!json_is_string(old) && !json_is_string(new)) ||
	    json_string_length(old) + json_string_length(new) > WHOLE_BYTES) {
		acp_add_hunks(session, to, path, json_span(json_object_get(change, "fileDiff")),
		              places);
		return;
	}
	shown = acp_diff_content(absolute, old, new);
	if (is_modifiable && json_is_string(old) && json_is_string(new))
		json_object_set_new(shown, "_meta", json_pack("{s:{s:b}}", "hasp", "modifiable",
		                                              1));
	json_array_append_new(to, shown);
	acp_add_place(session, places, path, NULL);
}

/* What a question shows besides files: the texts that its type has. */
static void acp_add_details(json_t *to, const json_t *details)
{
	static const char *const members[] = { "command", "prompt", "changed", "otherArguments" };
	const char *server = acp_text(details, "serverName"), *tool;
	json_t *problem;
	size_t i;

	tool = acp_text(details, "toolDisplayName");
	if (server && tool) {
		_cleanup_free_ char *text =
			mem_printf("Tool %s of the MCP server %s", tool, server);

		json_array_append_new(to, acp_text_content(span_str(text)));
	}
	for (i = 0; i < ARRAY_LEN(members); i++) {
		const struct span text = json_span(json_object_get(details, members[i]));

		if (text.len)
			json_array_append_new(to, acp_text_content(text));
	}
	json_array_foreach(json_object_get(details, "problems"), i, problem)
		if (json_is_string(problem))
			json_array_append_new(to, acp_text_content(json_span(problem)));
	json_array_foreach(json_object_get(details, "allowed"), i, problem) {
		_cleanup_free_ char *text = mem_printf(
			"Allow: %s %s", acp_text(problem, "kind") ?: "",
			acp_text(problem, "what") ?: "");

		json_array_append_new(to, acp_text_content(span_str(text)));
	}
}

json_t *acp_call_asked(const struct acp_session *session, const json_t *message)
{
	const char *name = acp_text(message, "toolName");
	const struct tool_info *info = tool_info_find(name);
	const json_t *details = json_object_get(message, "details"), *change;
	const json_t *files = json_object_get(details, "files");
	json_t *content = json_array();
	json_t *places = json_array();
	const struct span reason = json_span(json_object_get(message, "reason"));
	const bool is_modifiable = json_lists(json_object_get(message, "outcomes"),
	                                      SPAN("modify_with_editor"));
	size_t i;

	if (reason.len)
		json_array_append_new(content, acp_text_content(reason));
	acp_add_details(content, details);
	if (!files && json_object_get(details, "filePath"))
		acp_add_change(session, content, details, is_modifiable, places);
	json_array_foreach((json_t *)files, i, change)
		acp_add_change(session, content, change, is_modifiable, places);
	if (acp_has_terminal(session, info))
		json_array_append_new(content, acp_terminal_content(
			json_object_get(message, "callId")));
	return json_pack("{s:O, s:O, s:s, s:s, s:o, s:o, s:O}", "toolCallId",
	                 json_object_get(message, "callId"), "title",
	                 json_object_get(details, "title"), "kind", acp_kind_of(info), "status",
	                 "pending", "content", content, "locations", places, "rawInput",
	                 json_object_get(message, "arguments"));
}

/* ---- calls -------------------------------------------------------------------------- */

json_t *acp_call_begin(const struct acp_session *session, const json_t *message)
{
	const struct tool_info *info = tool_info_find(acp_text(message, "toolName"));
	const json_t *arguments = json_object_get(message, "arguments");
	const json_t *id = json_object_get(message, "callId");
	_cleanup_free_ char *title = acp_call_title(info, message);
	json_t *call = json_pack("{s:O, s:o, s:s, s:s, s:o, s:O}", "toolCallId", id, "title",
	                         json_text(span_str(title)), "kind", acp_kind_of(info), "status",
	                         "in_progress", "locations", acp_places(session, info, arguments),
	                         "rawInput", arguments);

	if (acp_has_terminal(session, info))
		acp_begin_terminal(session, id, call);
	return call;
}

/* The edits that a result names: its diff, or those of its changes. */
static void acp_add_edits(const struct acp_session *session, json_t *to, const json_t *result,
                          json_t *places)
{
	const json_t *state = json_object_get(result, "latest_file_state"), *change;
	const json_t *path = json_object_get(state, "file_path") ?:
	                     json_object_get(result, "file_path");
	size_t i;

	acp_add_hunks(session, to, path, json_span(json_object_get(result, "diff")), places);
	json_array_foreach(json_object_get(result, "changes"), i, change) {
		state = json_object_get(change, "latest_file_state");
		path = json_object_get(state, "file_path") ?:
		       json_object_get(change, "file_path");
		acp_add_hunks(session, to, path, json_span(json_object_get(change, "diff")),
		              places);
	}
}

json_t *acp_call_end(const struct acp_session *session, const json_t *message)
{
	const bool done = span_eq(json_span(json_object_get(message, "status")), SPAN("success"));
	const struct span display = json_span(json_object_get(message, "display"));
	const json_t *result = json_object_get(message, "result");
	const struct tool_info *info = tool_info_find(acp_text(message, "toolName"));
	_cleanup_buf_ struct buf raw = BUF_INIT(OUTPUT_BYTES);
	json_t *content = json_array(), *places = json_array();
	json_t *call = json_pack("{s:O, s:s, s:o}", "toolCallId",
	                         json_object_get(message, "callId"), "status",
	                         done ? "completed" : "failed", "content", content);

	if (done && info && info->edit != TOOL_EDIT_NONE)
		acp_add_edits(session, content, result, places);
	if (!json_array_size(content) && display.len &&
	    !(done && acp_has_terminal(session, info)))
		json_array_append_new(content, acp_text_content(display));
	if (acp_has_terminal(session, info))
		acp_end_terminal(json_object_get(message, "callId"), result, call);
	if (json_array_size(places))
		json_object_set(call, "locations", places);
	if (json_print(&raw, result, 0))
		json_object_set(call, "rawOutput", (json_t *)result);
	json_decref(places);
	return call;
}

json_t *acp_call_recorded(const struct acp_session *session, const json_t *recorded)
{
	const char *name = acp_text(recorded, "name"), *status = acp_text(recorded, "status");
	const struct tool_info *info = name ? tool_info_find(name) : NULL;
	const json_t *arguments = json_object_get(recorded, "args");
	const json_t *display = json_object_get(recorded, "resultDisplay");
	const json_t *about = json_object_get(recorded, "description");
	const bool done = status && !strcmp(status, "success");
	json_auto_t *shown = json_pack("{s:O, s:s}", "id", json_object_get(recorded, "id"), "title",
	                               acp_text(recorded, "displayName") ?: name ? name : "");
	_cleanup_free_ char *title = NULL;
	json_t *content = json_array(), *places;

	if (!shown || !json_is_string(json_object_get(recorded, "id"))) {
		json_decref(content);
		return NULL;
	}
	if (json_is_string(about))
		json_object_set(shown, "description", (json_t *)about);
	title = acp_call_title(info, shown);
	places = acp_places(session, info, arguments);
	if (json_is_object(display) && done)
		acp_add_hunks(session, content, json_object_get(display, "filePath") ?:
		              json_object_get(display, "fileName"),
		              json_span(json_object_get(display, "fileDiff")), places);
	else if (json_string_length(display))
		json_array_append_new(content, acp_text_content(json_span(display)));
	return json_pack("{s:O, s:o, s:s, s:s, s:o, s:o, s:o}", "toolCallId",
	                 json_object_get(recorded, "id"), "title", json_text(span_str(title)),
	                 "kind", acp_kind_of(info), "status", done ? "completed" : "failed",
	                 "content", content, "locations", places, "rawInput",
	                 arguments ? json_incref((json_t *)arguments) : json_object());
}
