/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools that edit share: arguments, the states that edits go by, the call in two steps.
 * What they answer: editor_answer.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/private.h"
#include "tool/answer.h"
#include "tool/history.h"
#include "tool/spelling.h"

static enum return_content asked_return_content(const struct session *session,
                                                const json_t *arguments)
{
	struct span asked = argument_span(arguments, "return_content");

	if (span_eq(asked, SPAN("full")))
		return RETURN_FULL;
	if (span_eq(asked, SPAN("diff")))
		return RETURN_DIFF;
	if (span_eq(asked, SPAN("none")))
		return RETURN_NONE;
	return session->return_content;
}

/* What a refusal carries: a plan's "diff" says nothing of it. */
static enum return_content refused_content(const struct session *session, const json_t *arguments)
{
	const enum return_content asked = asked_return_content(session, arguments);

	return asked == RETURN_DIFF ? session->return_content == RETURN_NEW ? RETURN_NEW :
	                                                                      RETURN_DIFF :
	                              asked;
}

void editor_explain(struct session *session, const json_t *arguments, json_t *failure)
{
	struct span name = argument_span(arguments, "file_path");
	const char *path = name.len && strlen(name.data) == name.len ? name.data : NULL;
	struct read_request request = { .path = path, .whole = true };
	struct read_result read = { 0 };
	struct err err = ERR_INIT;
	bool ok = path && provider_read(session->provider, &request, &read, &err);
	bool missing = err.code == ERR_FILE_NOT_FOUND;
	struct text_form form = { .line_endings = ok ? read.line_endings : NULL };
	const bool wanted = session->return_content != RETURN_NONE;
	const struct answer_about about = {
		.path = path,
		.state = read.state.exists || missing ? &read.state : NULL,
		.form = &form,
		.content = ok && wanted ? &read.content : NULL,
		.mode = refused_content(session, arguments),
	};

	if (ok)
		snprintf(form.encoding, sizeof(form.encoding), "%s", read.encoding);
	json_object_set_new(failure, "latest_file_state", answer_state(session, &about));
	read_result_release(&read);
}

/* ---- calls ------------------------------------------------------------------- */

void editor_init(struct editor_call *editor, struct session *session, const json_t *arguments)
{
	*editor = (struct editor_call){
		.session = session,
		.content = asked_return_content(session, arguments),
		.refused_content = refused_content(session, arguments),
		.alone = true,
		.offers = true,
	};
	editor->options.dry_run = argument_bool(arguments, "dry_run", false);
	editor->options.want_content = editor->content != RETURN_NONE;
	if (editor->content != RETURN_FULL) /* it is neither shown nor kept */
		editor->options.max_content_bytes = LIMIT_KEPT_CONTENT;
	editor->shows_diff = session->shows_diffs || editor->content == RETURN_DIFF ||
	                     (editor->options.dry_run && editor->content != RETURN_NONE);
	/* It also says what of the file is seen. */
	editor->options.want_diff = editor->shows_diff || !editor->options.dry_run;
	editor->options.no_make_folders = !argument_bool(arguments, "create_dirs", true);
}

/* By kind of change: what apply_changes calls it, and which argument is its text. */
static const struct {
	const char *name, *text;
} change_kinds[] = {
	[CHANGE_PATCH] = { "patch", "unified_diff" },
	[CHANGE_UPDATE] = { "update", "new_content" },
	[CHANGE_WRITE] = { "write", "content" },
	[CHANGE_CREATE] = { "create", "content" },
	[CHANGE_DELETE] = { "delete", NULL },
	[CHANGE_MOVE] = { "move", NULL },
	[CHANGE_DATA] = { "data", "data" },
};

enum change_kind editor_kind(const json_t *arguments)
{
	struct span name = argument_span(arguments, "kind");

	for (size_t i = 0; i < ARRAY_LEN(change_kinds); i++)
		if (span_eq(name, span_str(change_kinds[i].name)))
			return (enum change_kind)i;
	return CHANGE_PATCH;
}

struct change editor_change(const struct session *session, const json_t *arguments,
                            enum change_kind kind, struct change_hashes *hashes)
{
	struct change change = {
		.kind = kind,
		.path = argument_str(arguments, "file_path"),
		.new_path = argument_str(arguments, "new_path"),
		.base = editor_base_named(arguments, &hashes->base),
		.old_text = argument_span(arguments, "old_content"),
		.text = argument_span(arguments, change_kinds[kind].text),
		.expected_count = argument_size(arguments, "expected_matches", 1),
		.any_count = argument_bool(arguments, "allow_multiple", false),
		.exact_line_endings = argument_bool(arguments, "exact_line_endings", false),
		.literal = argument_bool(arguments, "literal", false),
		.encoding = argument_str(arguments, "encoding"),
	};

	if (history_made_before(session, &change, &hashes->made))
		change.made = &hashes->made;
	return change;
}

/* Says so in the result of the second run. */
static void note_seen(const struct change *change, struct change_result *result)
{
	if (change->kind == CHANGE_WRITE && result->done && !result->note[0])
		snprintf(result->note, sizeof(result->note),
		         "Base: the state you last read or wrote.");
}

/* Edits of text by the state of a file of which the conversation has only what was made of it. */
static bool bases_are_text(const struct editor_call *editor, const struct change *changes,
                           size_t count, struct change_result *results, struct err *err)
{
	struct edit_options trial = editor->options;
	struct err ignored = ERR_INIT;

	trial.dry_run = true;
	for (size_t i = 0; i < count; i++) {
		const struct change *change = &changes[i];

		if (!change->base || change->kind == CHANGE_DELETE || change->kind == CHANGE_MOVE ||
		    !seen_derived(editor->session, change->base))
			continue;
		/* For the state of each file. */
		provider_edit(editor->session->provider, changes, count, &trial, results, &ignored);
		err_set(err, ERR_NOT_TEXT,
		        "%s was read as derived text, which cannot be the base of an edit. "
		        "Change a notebook with update_notebook, data with update_data, other "
		        "formats with a program; to edit a text format as text, read its source "
		        "first (part \"source\").", change->path);
		for (size_t k = 0; k < count; k++) {
			const struct file_state planned = results[k].state;

			results[k].err = *err;
			results[k].done = false;
			if (!results[k].before.path)
				continue;
			results[k].state = results[k].before;
			results[k].before = planned;
			buf_release(&results[k].content);
			results[k].content_is_text = false;
		}
		return false;
	}
	return true;
}

static bool edit_once(const struct editor_call *editor, const struct change *changes, size_t count,
                      struct change_result *results, struct err *err)
{
	struct provider *provider = editor->session->provider;

	return bases_are_text(editor, changes, count, results, err) &&
	       provider_edit(provider, changes, count, &editor->options, results, err);
}

static void forget_results(struct change_result *results, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		change_result_release(&results[i]);
		results[i] = (struct change_result){ 0 };
	}
}

bool editor_is_only_change(const struct change_result *results, size_t count, size_t i)
{
	for (size_t j = 0; j < count; j++)
		if (j != i && results[i].state.path && results[j].state.path &&
		    strcmp(results[i].state.path, results[j].state.path) == 0)
			return false;
	return true;
}

bool editor_apply(struct editor_call *editor, struct change *changes, struct change_hashes *hashes,
                  size_t count, struct change_result *results, struct err *err)
{
	_cleanup_free_ bool *taken = mem_alloc(count, sizeof(*taken));
	_cleanup_free_ bool *kept = mem_alloc(count, sizeof(*kept));
	bool again = false, only, ok;

	for (size_t i = 0; i < count; i++) {
		kept[i] = changes[i].base == &editor_base_kept;
		editor_base_guess(editor, &changes[i], &hashes[i].base);
	}
	ok = edit_once(editor, changes, count, results, err);
	for (size_t i = 0; i < count && !ok; i++) {
		only = editor_is_only_change(results, count, i);
		taken[i] = editor_base_find(editor, &changes[i], only, &results[i],
		                            &hashes[i].base);
		again = again || taken[i];
	}
	if (again) {
		forget_results(results, count);
		*err = (struct err)ERR_INIT;
		ok = edit_once(editor, changes, count, results, err);
	}
	for (size_t i = 0; i < count; i++) {
		only = editor_is_only_change(results, count, i);
		if (taken[i] && !kept[i])
			note_seen(&changes[i], &results[i]);
		else if (!ok && again) /* says why it is refused */
			editor_base_find(editor, &changes[i], only, &results[i], &hashes[i].base);
		if (kept[i])
			editor_base_meet(editor, &results[i]);
		editor->offers = editor->offers && !kept[i];
	}
	return ok;
}

static json_t *run_change(struct editor_call *editor, struct change *change,
                          struct change_hashes *hashes)
{
	struct change_result result = { 0 };
	struct err err = ERR_INIT;
	json_t *json;

	if (!editor_apply(editor, change, hashes, 1, &result, &err) && result.err.code == ERR_NONE)
		result.err = err;
	json = editor_answer(editor, change, &result);
	change_result_release(&result);
	return json;
}

json_t *editor_call(struct session *session, const json_t *arguments, enum change_kind kind)
{
	struct editor_call editor;
	struct change_hashes hashes;
	struct change change = editor_change(session, arguments, kind, &hashes);

	editor_init(&editor, session, arguments);
	return run_change(&editor, &change, &hashes);
}

/* ---- lines put in by number ------------------------------------------------- */

enum { INSERT_CONTEXT = 3, INSERT_LINE_CHARS = 1 << 20 };

static void put_diff_lines(struct buf *diff, char sign, struct span text, size_t first,
                           size_t count)
{
	struct span line;

	for (size_t i = 0; i < first + count && line_next(&text, &line); i++) {
		if (i < first)
			continue;
		buf_char(diff, sign);
		buf_span(diff, line_body(line));
		buf_char(diff, '\n');
	}
}

/* The lines of `read` with `text` after line `at`. */
static json_t *insert_diff(const struct read_result *read, size_t at, struct span text)
{
	_cleanup_buf_ struct buf diff = BUF_INIT(2 * (size_t)LIMIT_MODEL_REQUEST_BYTES);
	const size_t first = read->first_line, before = first && at >= first ? at + 1 - first : 0;
	const size_t after = read->last_line > at && first ? read->last_line - at : 0;
	const size_t added = lines_count(text), from = first ? first : 0;

	buf_printf(&diff, "@@ -%zu,%zu +%zu,%zu @@\n", from, before + after, from ? from : 1,
	           before + after + added);
	put_diff_lines(&diff, ' ', buf_view(&read->content), 0, before);
	put_diff_lines(&diff, '+', text, 0, added);
	put_diff_lines(&diff, ' ', buf_view(&read->content), before, after);
	return json_text(buf_view(&diff));
}

static json_t *insert_read(struct session *session, const char *path, size_t at, struct span text,
                           struct err *err)
{
	const struct read_request request = {
		.path = path,
		.start_line = at > INSERT_CONTEXT ? at - INSERT_CONTEXT + 1 : 1,
		.end_line = at + INSERT_CONTEXT,
		.max_line_chars = INSERT_LINE_CHARS,
	};
	struct read_result read;
	json_t *diff = NULL;
	const bool ok = provider_read(session->provider, &request, &read, err);

	if ((!ok && err->code == ERR_INVALID_ARGUMENT) || (ok && at > read.total_lines))
		err_set(err, ERR_INVALID_ARGUMENT, "insert_line: %s has fewer lines than %zu", path,
		        at);
	else if (!ok)
		;
	else if (read.cut_lines)
		err_set(err, ERR_INVALID_ARGUMENT,
		        "insert_line: line %zu is too long to be context", read.cut_line);
	else
		diff = insert_diff(&read, at, text);
	read_result_release(&read);
	return diff;
}

json_t *editor_insert_as_patch(const json_t *arguments)
{
	const struct span text = argument_span(arguments, "insert_text");
	_cleanup_buf_ struct buf diff = BUF_INIT(2 * (size_t)LIMIT_MODEL_REQUEST_BYTES);
	json_t *patch = json_copy((json_t *)arguments);

	put_diff_lines(&diff, '+', text, 0, lines_count(text));
	json_object_del(patch, "insert_line");
	json_object_del(patch, "insert_text");
	json_object_set_new(patch, "unified_diff", json_text(buf_view(&diff)));
	return patch;
}

json_t *editor_expand_insert(struct session *session, json_t *arguments, struct buf *problems)
{
	const char *path = argument_str(arguments, "file_path");
	const json_t *at = json_object_get(arguments, "insert_line");
	const char *digits = json_is_string(at) ? json_string_value(at) : "";
	const json_int_t line = *digits ? strtoll(digits, NULL, 10) : json_integer_value(at);
	struct err err = ERR_INIT;
	json_t *expanded, *diff;

	if (!at || !path)
		return json_incref(arguments);
	expanded = json_copy(arguments);
	json_object_del(expanded, "insert_line");
	json_object_del(expanded, "insert_text");
	if ((!json_is_integer(at) && (!*digits || digits[strspn(digits, "0123456789")])) ||
	    line < 0 || line > INT32_MAX) {
		buf_str(problems, "insert_line: expected the number of a line, or 0");
		return expanded;
	}
	diff = insert_read(session, path, (size_t)line, argument_span(arguments, "insert_text"),
	                   &err);
	if (diff)
		json_object_set_new(expanded, "unified_diff", diff);
	else
		buf_printf(problems, "%s%s", problems->len ? "; " : "", err.message);
	return expanded;
}

/* ---- in two steps ----------------------------------------------------------- */

struct started_edit {
	struct editor_call editor;
	struct change change;
	struct change_hashes hashes;
	struct change_result result;
	struct provider_request edit; /* of these */
};

void *editor_begin(struct session *session, const json_t *arguments, enum change_kind kind)
{
	const struct provider_ops *ops = session->provider->ops;
	struct started_edit *started;

	if (!ops->begin)
		return NULL;
	started = mem_alloc(1, sizeof(*started));
	started->change = editor_change(session, arguments, kind, &started->hashes);
	editor_init(&started->editor, session, arguments);
	started->edit = (struct provider_request){
		.changes = &started->change, .count = 1, .options = &started->editor.options,
		.results = &started->result,
		.ready = session->hooks.ready, .data = session->hooks.data,
	};
	if (started->change.base != &editor_base_kept &&
	    !(started->change.base && seen_derived(session, started->change.base)) &&
	    ops->begin(session->provider, &started->edit))
		return started;
	free(started);
	return NULL;
}

json_t *editor_end(struct session *session, const json_t *arguments, void *data)
{
	struct started_edit *started = data;
	struct change_result *result = &started->result;
	struct provider *provider = session->provider;
	struct err err = ERR_INIT;
	json_t *json = NULL;

	started->editor.session = session;
	if (!provider->ops->end(provider, &started->edit, &err) && result->err.code == ERR_NONE)
		result->err = err;
	if (session->hooks.not_at_once && editor_base_may_serve(&started->editor, result)) {
		*session->hooks.not_at_once = true;
		json = tool_failure(&result->err);
	} else if (!editor_base_find(&started->editor, &started->change, /* only= */ true, result,
	                             &started->hashes.base)) {
		json = editor_answer(&started->editor, &started->change, result);
	} else {
		forget_results(result, 1);
		if (!edit_once(&started->editor, &started->change, 1, result, &err) &&
		    result->err.code == ERR_NONE)
			result->err = err;
		note_seen(&started->change, result);
		json = editor_answer(&started->editor, &started->change, result);
	}
	(void)arguments;
	change_result_release(result);
	free(started);
	return json;
}
