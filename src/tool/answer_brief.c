/* SPDX-License-Identifier: Apache-2.0 */
/* Omits from answers what the model already knows: what its call says, and properties that most
 * files share (answer.h). */
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "tool/answer.h"

/* ---- edits --------------------------------------------------------------------------- */

/* A success in the mode RETURN_NEW: what the call says itself, or the message. */
static const char *const said_by_message[] = { "replaced", "hunks_total", "created" };
/* Left out where one line became another: so hasp stats counts them (session/figures.c). */
static const char *const line_counts[] = { "lines_added", "lines_removed" };
/* One of several changes that were all made: what holds for all. */
static const char *const said_of_all[] = { "success", "kind" };

static void drop_members(json_t *answer, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_object_del(answer, names[i]);
}

/* Whether a hunk went where its header says, and fitted as it is. */
static bool is_as_sent(const json_t *hunk)
{
	const json_t *stated = json_object_get(hunk, "stated_line");

	return span_eq(json_span(json_object_get(hunk, "matched")), SPAN("exact")) &&
	       (!json_integer_value(stated) ||
	        json_equal((json_t *)stated, json_object_get(hunk, "line")));
}

/* Where it went, and what is otherwise than it says. */
static json_t *brief_hunk(const json_t *hunk)
{
	const json_t *stated = json_object_get(hunk, "stated_line");
	const json_t *matched = json_object_get(hunk, "matched");
	json_t *brief = json_object();

	json_object_set(brief, "hunk", json_object_get(hunk, "hunk"));
	json_object_set(brief, "line", json_object_get(hunk, "line"));
	if (json_integer_value(stated) && !json_equal(stated, json_object_get(hunk, "line")))
		json_object_set(brief, "stated_line", (json_t *)stated);
	if (!span_eq(json_span(matched), SPAN("exact")))
		json_object_set(brief, "matched", (json_t *)matched);
	return brief;
}

static void drop_said(json_t *answer)
{
	json_t *others = json_array(), *hunk;
	size_t i;

	json_array_foreach(json_object_get(answer, "hunks"), i, hunk)
		if (!is_as_sent(hunk))
			json_array_append_new(others, brief_hunk(hunk));
	if (json_is_true(json_object_get(answer, "success")) &&
	    !json_object_get(answer, "dry_run")) {
		drop_members(answer, said_by_message, ARRAY_LEN(said_by_message));
		json_object_del(answer, "hunks");
		if (json_integer_value(json_object_get(answer, "lines_added")) == 1 &&
		    json_integer_value(json_object_get(answer, "lines_removed")) == 1 &&
		    json_object_get(json_object_get(answer, "latest_file_state"),
		                    "content_omitted"))
			drop_members(answer, line_counts, ARRAY_LEN(line_counts));
		if (json_array_size(others))
			json_object_set(answer, "hunks", others);
	}
	json_decref(others);
}

/* A message that says no more than that it was made. */
static bool is_plain(struct span message)
{
	return span_ends(message, SPAN(" successfully."));
}

static void drop_said_of_all(json_t *change)
{
	drop_members(change, said_of_all, ARRAY_LEN(said_of_all));
	if (is_plain(json_span(json_object_get(change, "message"))))
		json_object_del(change, "message");
}

/* A refusal that says in its message what its advice says. */
static void drop_advice(json_t *answer)
{
	json_t *error = json_copy(json_object_get(answer, "error"));

	json_object_del(error, "advice");
	json_object_set_new(answer, "error", error);
}

static bool is_rolled_back(const json_t *change)
{
	const json_t *error = json_object_get(change, "error");

	return span_eq(json_span(json_object_get(error, "code")), SPAN("rolled_back"));
}

/* What stands in `whole` after `said`, which has a title there is none of in `whole`. */
static void put_added(struct buf *out, struct span whole, struct span said)
{
	const char *title = said.len ? memmem(said.data, said.len, ": ", 2) : NULL;
	const char *at;

	if (title)
		said = span_skip(said, (size_t)(title - said.data) + 2);
	at = said.len ? memmem(whole.data, whole.len, said.data, said.len) : NULL;

	if (at)
		buf_span(out, span_skip(whole, (size_t)(at - whole.data) + said.len));
}

/* A refused list: what failed, and why, is said by the change. */
static void brief_refusal(json_t *answer, const json_t *changes)
{
	const json_t *error = json_object_get(answer, "error"), *fault, *change;
	const json_int_t at = json_integer_value(json_object_get(error, "change"));
	_cleanup_buf_ struct buf message = BUF_INIT(LIMIT_RESULT_BYTES);
	bool offers = false;
	size_t others = 0, i;

	fault = at > 0 ? json_array_get(changes, (size_t)at - 1) : NULL;
	if (!json_object_get(fault, "message"))
		return;
	json_array_foreach((json_t *)changes, i, change) {
		others += change != fault && json_object_get(change, "error") &&
		          !is_rolled_back(change);
		offers = offers || json_object_get(change, "rebased");
	}
	buf_printf(&message, "Nothing was changed. Change %zu of %zu failed.", (size_t)at,
	           json_array_size(changes));
	put_added(&message, json_span(json_object_get(answer, "message")),
	          json_span(json_object_get(fault, "message")));
	if (others)
		buf_printf(&message, " %zu more fail%s: see their errors in changes.", others,
		           others == 1 ? "s" : "");
	json_object_set_new(answer, "message", json_text(buf_view(&message)));
	if (!offers) /* which come with an advice for the whole list */
		drop_advice(answer);
}

static json_t *brief_change(json_t *change, bool all_made)
{
	json_t *brief = json_copy(change);

	drop_said(brief);
	if (all_made && !json_object_get(brief, "dry_run"))
		drop_said_of_all(brief);
	if (json_object_get(brief, "rebased") || is_rolled_back(brief))
		drop_advice(brief);
	return brief;
}

static json_t *brief_edit(json_t *result)
{
	json_t *changes = json_object_get(result, "changes"), *change, *brief, *list;
	const bool all_made = json_is_true(json_object_get(result, "success"));
	size_t i;

	brief = brief_change(result, /* all_made= */ false);
	if (!json_is_array(changes))
		return brief;
	list = json_array();
	json_array_foreach(changes, i, change)
		json_array_append_new(list, brief_change(change, all_made));
	json_object_set_new(brief, "changes", list);
	if (!all_made)
		brief_refusal(brief, changes);
	return brief;
}

/* It was asked for, and its counts go with it. */
static bool has_diff(const json_t *result)
{
	const json_t *change;
	size_t i;

	json_array_foreach(json_object_get(result, "changes"), i, change)
		if (json_object_get(change, "diff"))
			return true;
	return json_object_get(result, "diff") != NULL;
}

/* ---- reads --------------------------------------------------------------------------- */

static void drop_text(json_t *file, const char *name, const char *usual, const char *other)
{
	const char *value = json_string_value(json_object_get(file, name));

	if (value && (!strcasecmp(value, usual) || !strcmp(value, other)))
		json_object_del(file, name);
}

/* A new reference: of a file that was read as text without what is as with most; else itself. */
static json_t *brief_file(json_t *file)
{
	json_t *brief;

	if (!json_object_get(file, "sha256") || !json_is_string(json_object_get(file, "content")) ||
	    json_object_get(file, "mime_type"))
		return json_incref(file);
	brief = json_copy(file);
	drop_text(brief, "encoding", "UTF-8", "UTF-8");
	drop_text(brief, "line_endings", "lf", "none");
	if (json_is_true(json_object_get(brief, "final_newline")))
		json_object_del(brief, "final_newline");
	if (json_is_false(json_object_get(brief, "truncated"))) {
		json_object_del(brief, "truncated");
		json_object_del(brief, "size");
	}
	return brief;
}

static json_t *brief_files(json_t *list)
{
	json_t *brief = json_array(), *file;
	size_t i;

	json_array_foreach(list, i, file)
		json_array_append_new(brief, brief_file(file));
	return brief;
}

/* ---- all ------------------------------------------------------------------------------ */

json_t *answer_brief(const struct session *session, const struct tool *tool,
                     const json_t *arguments, json_t *result)
{
	json_t *list = json_object_get(result, "output"), *copy;

	if (tool && tool->plans && session->return_content == RETURN_NEW &&
	    !json_object_get(arguments, "return_content") && !has_diff(result))
		return brief_edit(result);
	if (!tool || tool->server || tool_kind_of(tool) != TOOL_KIND_READ)
		return json_incref(result);
	if (json_is_array(result))
		return brief_files(result);
	if (!json_is_array(list))
		return brief_file(result);
	copy = json_copy(result); /* of read_many_files, as the agent has it */
	json_object_set_new(copy, "output", brief_files(list));
	return copy;
}
