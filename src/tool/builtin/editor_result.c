/* SPDX-License-Identifier: Apache-2.0 */
/* From a change's result to JSON. */
#include <stdio.h>

#include "base/mem.h"
#include "data/json.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/editor.h"
#include "tool/rebase.h"

static void put_form(json_t *object, const struct text_form *form)
{
	if (form->encoding[0])
		json_object_set_new(object, "encoding", json_cstr(form->encoding));
	if (form->line_endings)
		json_object_set_new(object, "line_endings", json_cstr(form->line_endings));
}

/* The object that keeps a model in step: every exit of an editor has one. `content` is
 * NULL when it is not wanted or not text. */
static json_t *state_json(struct session *session, const char *path,
                          const struct file_state *state, const struct buf *content,
                          const struct text_form *form)
{
	json_t *object = json_object();
	bool exists = state && state->exists;
	const char *shown = state && state->path ? state->path : path;

	json_object_set_new(object, "file_path", json_name(shown));
	json_object_set_new(object, "version", json_size(session_next_version(session)));
	json_object_set_new(object, "sha256", exists ? json_sha256(&state->sha256) : json_null());
	json_object_set_new(object, "content",
	                    exists && content ? json_text(buf_view(content)) : json_null());
	if (state && !state->exists)
		json_object_set_new(object, "exists", json_false());
	if (exists)
		put_form(object, form);
	if (exists && content)
		rebase_keep(session, &state->sha256, json_object_get(object, "content"));
	return object;
}

/* What a dry run would write. It has no version: nothing was read or written as it. */
static json_t *planned_json(const struct editor *editor, const struct change_result *result)
{
	const struct file_state *state = &result->state;
	bool full = editor->content == RETURN_FULL && result->content_is_text && state->exists;
	json_t *object = json_object();

	json_object_set_new(object, "file_path", json_name(state->path));
	json_object_set_new(object, "sha256",
	                    state->exists ? json_sha256(&state->sha256) : json_null());
	json_object_set_new(object, "content",
	                    full ? json_text(buf_view(&result->content)) : json_null());
	put_form(object, &result->form);
	return object;
}

static json_t *hunk_json(const struct patch_hunk_report *hunk)
{
	json_t *object = json_object();

	json_object_set_new(object, "hunk", json_size(hunk->hunk));
	json_object_set_new(object, "line", json_size(hunk->line));
	json_object_set_new(object, "stated_line",
	                    hunk->stated_line ? json_size(hunk->stated_line) : json_null());
	json_object_set_new(object, "matched", json_cstr(patch_match_name(hunk->match)));
	json_object_set_new(object, "settled_by", json_cstr(patch_settled_name(hunk->settled)));
	json_object_set_new(object, "added", json_size(hunk->added));
	json_object_set_new(object, "removed", json_size(hunk->removed));
	return object;
}

static void put_size(json_t *object, const char *name, size_t value)
{
	if (value)
		json_object_set_new(object, name, json_size(value));
}

static void put_failure(json_t *error, const struct patch_failure *failure)
{
	json_t *candidates;

	put_size(error, "hunk", failure->hunk);
	put_size(error, "hunk_count", failure->hunk_count);
	put_size(error, "stated_line", failure->stated_line);
	put_size(error, "diff_line", failure->diff_line);
	if (failure->expected)
		json_object_set_new(error, "expected", json_cstr(failure->expected));
	if (failure->found)
		json_object_set_new(error, "found", json_cstr(failure->found));
	put_size(error, "found_line", failure->found_line);
	if (!failure->candidate_count)
		return;
	candidates = json_array();
	for (size_t i = 0; i < failure->candidate_count; i++) {
		json_t *place = json_object();

		json_object_set_new(place, "line", json_size(failure->candidates[i].line));
		json_object_set_new(place, "lines_equal",
		                    json_size(failure->candidates[i].lines_equal));
		json_array_append_new(candidates, place);
	}
	json_object_set_new(error, "candidates", candidates);
	json_object_set_new(error, "candidates_total", json_size(failure->candidates_total));
}

static void put_matches(json_t *error, const struct change_result *result)
{
	json_t *lines = json_array();

	json_object_set_new(error, "matches", json_size(result->replaced));
	for (size_t i = 0; i < ARRAY_LEN(result->match_lines) && result->match_lines[i]; i++)
		json_array_append_new(lines, json_size(result->match_lines[i]));
	json_object_set_new(error, "match_lines", lines);
}

static json_t *error_json(const struct change *change, const struct change_result *result)
{
	json_t *error = tool_error(&result->err);

	if (change->kind == CHANGE_PATCH || change->kind == CHANGE_UPDATE)
		put_failure(error, &result->failure);
	if (change->kind == CHANGE_UPDATE && result->err.code == ERR_WRONG_MATCH_COUNT)
		put_matches(error, result);
	return error;
}

static void put_success(json_t *object, const struct editor *editor,
                        const struct change_result *result)
{
	json_t *hunks;

	if (editor->options.dry_run) {
		json_object_set_new(object, "dry_run", json_true());
		json_object_set_new(object, "planned_state", planned_json(editor, result));
	}
	if (result->created)
		json_object_set_new(object, "created", json_true());
	json_object_set_new(object, "lines_added", json_size(result->lines_added));
	json_object_set_new(object, "lines_removed", json_size(result->lines_removed));
	put_size(object, "replaced", result->replaced);
	if (result->hunk_count) {
		hunks = json_array();
		for (size_t i = 0; i < result->hunk_count; i++)
			json_array_append_new(hunks, hunk_json(&result->hunks[i]));
		json_object_set_new(object, "hunks", hunks);
	}
	if (editor->options.want_diff)
		json_object_set_new(object, "diff", json_text(buf_view(&result->diff)));
}

/* What is on disk after the call; a dry run that went well left it as it was. */
static json_t *latest_state(const struct editor *editor, const struct change *change,
                            const struct change_result *result)
{
	bool planned = result->done && editor->options.dry_run;
	bool with_content = result->content_is_text && !planned &&
	                    (result->done ? editor->content == RETURN_FULL :
	                                    editor->content != RETURN_NONE);
	const struct file_state *state = planned ? &result->before : &result->state;

	if (result->done && !planned && result->content_is_text && !with_content) {
		json_auto_t *text = json_text(buf_view(&result->content));

		rebase_keep(editor->session, &state->sha256, text);
	}
	return state_json(editor->session, change->path, result->state_known ? state : NULL,
	                  with_content ? &result->content : NULL,
	                  planned ? &result->before_form : &result->form);
}

/* What was written from a known base, or shown whole, is what the session has. */
static void remember_state(const struct editor *editor, const struct change *change,
                           const struct change_result *result)
{
	bool whole = change->kind != CHANGE_UPDATE ||
	             (editor->content == RETURN_FULL && result->content_is_text);

	if (result->done && !editor->options.dry_run && whole && result->state_known &&
	    result->state.exists && result->state.path)
		session_saw(editor->session, result->state.path, &result->state.sha256);
}

json_t *editor_result(const struct editor *editor, const struct change *change,
                    const struct change_result *result)
{
	json_t *object = json_object(), *rebased = NULL;
	_cleanup_free_ char *said = editor_message(change, result, editor->options.dry_run);
	_cleanup_buf_ struct buf message = BUF_INIT(16384);

	buf_str(&message, said);
	if (editor->alone)
		rebased = rebase_offer(editor->session, change, result, &message);
	json_object_set_new(object, "success", json_boolean(result->done));
	json_object_set_new(object, "message", json_text(buf_view(&message)));
	json_object_set_new(object, "latest_file_state", latest_state(editor, change, result));
	remember_state(editor, change, result);
	if (result->done)
		put_success(object, editor, result);
	else
		json_object_set_new(object, "error", error_json(change, result));
	if (rebased)
		json_object_set_new(object, "rebased", rebased);
	if (result->note[0])
		json_object_set_new(object, "note", json_cstr(result->note));
	return object;
}

void editor_explain(struct session *session, const json_t *arguments, json_t *failure)
{
	struct span name = argument_span(arguments, "file_path");
	const char *path = name.len && strlen(name.data) == name.len ? name.data : NULL;
	struct read_request request = { .path = path, .whole = true };
	struct read_result read = { 0 };
	struct err err = ERR_INIT;
	bool ok = path && session->provider->ops->read(session->provider, &request, &read, &err);
	bool missing = err.code == ERR_FILE_NOT_FOUND;
	bool wanted = session->return_content != RETURN_NONE;
	struct text_form form = { .line_endings = ok ? read.line_endings : NULL };
	json_t *state;

	if (ok)
		snprintf(form.encoding, sizeof(form.encoding), "%s", read.encoding);
	state = state_json(session, path, read.state.exists || missing ? &read.state : NULL,
	                   ok && wanted ? &read.content : NULL, &form);
	json_object_set_new(failure, "latest_file_state", state);
	read_result_release(&read);
}
