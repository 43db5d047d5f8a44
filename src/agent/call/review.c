/* SPDX-License-Identifier: Apache-2.0 */
/* Review of edits before they are made: what the user is shown, the part of the change that is
 * written, and the report of that to the model. */
#include <string.h>

#include "agent/call/call.h"
#include "agent/call/questions.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"

/* ---- one file ---------------------------------------------------------------- */

static json_t *run_dry(struct call *call, const struct tool_question *question)
{
	json_auto_t *dry = json_copy((json_t *)question->arguments);

	json_object_set_new(dry, "dry_run", json_true());
	json_object_set_new(dry, "return_content", json_string("full"));
	return question->tool->run_as ?
	               question->tool->run_as(&call->session, question->tool, dry) :
	               question->tool->run(&call->session, dry);
}

/* Never NULL; json_null() for no text. */
static json_t *planned_content(const json_t *plan)
{
	json_t *content = json_object_get(json_object_get(plan, "planned_state"), "content");

	return content ? json_incref(content) : json_null();
}

/* The text of the file in the state that the edit was planned on; null if the file has changed
 * since, or is not text. */
static json_t *original_content(struct call *call, const json_t *state)
{
	struct provider *provider = call->session.provider;
	struct read_request request = {
		.path = json_string_value(json_object_get(state, "file_path")), .whole = true,
	};
	struct read_result read = { 0 };
	struct err err = ERR_INIT;
	json_t *content = json_null();

	if (request.path && provider_read(provider, &request, &read, &err) &&
	    read.kind != READ_MEDIA) {
		json_auto_t *sum = json_sha256(&read.state.sha256);

		if (json_equal(sum, json_object_get(state, "sha256"))) {
			json_decref(content);
			content = json_text(buf_view(&read.content));
		}
	}
	read_result_release(&read);
	return content;
}

/* The states that the two contents are those of; null: no file. */
static void put_hashes(json_t *details, const json_t *before, const json_t *after)
{
	json_t *old = json_object_get(before, "sha256"), *new = json_object_get(after, "sha256");

	json_object_set_new(details, "originalSha256", old ? json_incref(old) : json_null());
	json_object_set_new(details, "newSha256", new ? json_incref(new) : json_null());
}

/* ---- several files ----------------------------------------------------------- */

/* The changes of a call, each with the file that it is about: those that share a path, or of which
 * one lies beneath another's, are one "file", which is taken or left as a whole unless all they do
 * is give it another text. */
struct review_changes {
	const struct tool_question *question; /* with the changes, as they were planned */
	size_t count;
	size_t *file;            /* owned; of each change the first one of the same file */
	size_t *number;          /* owned; and that file's, from 0 */
};

static json_t *change_asked(const struct review_changes *list, size_t i)
{
	return tool_edit_at(list->question->tool->info, list->question->arguments, i);
}

static const json_t *change_plan(const struct review_changes *list, size_t i)
{
	return tool_edit_at(list->question->tool->info, list->question->plan, i);
}

static const json_t *change_state(const struct review_changes *list, size_t i)
{
	return json_object_get(change_plan(list, i), "latest_file_state");
}

/* Where the file is afterwards. */
static const json_t *change_planned(const struct review_changes *list, size_t i)
{
	return json_object_get(change_plan(list, i), "planned_state");
}

static size_t first_of_file(struct review_changes *list, size_t i)
{
	while (list->file[i] != i)
		i = list->file[i] = list->file[list->file[i]];
	return i;
}

static void join_files(struct review_changes *list, size_t a, const json_t *b)
{
	size_t x = first_of_file(list, a), y;

	if (!b)
		return;
	y = first_of_file(list, (size_t)json_integer_value(b));
	if (x < y)
		list->file[y] = x;
	else
		list->file[x] = y;
}

/* Joins the change with others of the same path, and of the folders above it. */
static void join_by_path(struct review_changes *list, size_t i, const json_t *state, json_t *known)
{
	struct span path = json_span(json_object_get(state, "file_path"));

	for (size_t k = 1; k <= path.len; k++)
		if (k == path.len || path.data[k] == '/')
			join_files(list, i, json_object_getn(known, path.data, k));
}

static void note_path(const json_t *state, size_t i, json_t *known)
{
	const char *path = json_string_value(json_object_get(state, "file_path"));

	if (path && !json_object_get(known, path))
		json_object_set_new(known, path, json_size(i));
}

static void change_list_init(struct review_changes *list, const struct tool_question *question)
{
	const struct tool_info *info = question->tool->info;
	json_auto_t *known = json_object();
	size_t files = 0;

	*list = (struct review_changes){ .question = question };
	list->count = tool_edit_count(info, question->arguments);
	if (tool_edit_count(info, question->plan) != list->count)
		list->count = 0;
	list->file = mem_alloc(list->count + 1, sizeof(*list->file));
	list->number = mem_alloc(list->count + 1, sizeof(*list->number));
	for (size_t i = 0; i < list->count; i++) {
		list->file[i] = i;
		note_path(change_state(list, i), i, known);
		note_path(change_planned(list, i), i, known);
	}
	for (size_t i = 0; i < list->count; i++) {
		join_by_path(list, i, change_state(list, i), known);
		join_by_path(list, i, change_planned(list, i), known);
	}
	for (size_t i = 0; i < list->count; i++) {
		list->file[i] = first_of_file(list, i);
		list->number[i] = list->file[i] == i ? files++ : list->number[list->file[i]];
	}
}

static void change_list_release(struct review_changes *list)
{
	free(list->file);
	free(list->number);
}

/* What becomes of a file. */
enum file_fate { FATE_EDIT, FATE_CREATE, FATE_DELETE, FATE_RENAME, FATE_SEVERAL };

static const char *const fates[] = {
	[FATE_EDIT] = "edit", [FATE_CREATE] = "create", [FATE_DELETE] = "delete",
	[FATE_RENAME] = "rename", [FATE_SEVERAL] = "several",
};

static bool has_kind(const struct review_changes *list, size_t i, const char *kind)
{
	return span_eq(json_span(json_object_get(change_asked(list, i), "kind")), span_str(kind));
}

static enum file_fate file_fate(const struct review_changes *list, size_t first)
{
	const json_t *path = json_object_get(change_state(list, first), "file_path");
	size_t count = 0, moves = 0, deletes = 0, elsewhere = 0;

	for (size_t i = first; i < list->count; i++) {
		if (list->file[i] != first)
			continue;
		count++;
		moves += has_kind(list, i, "move");
		deletes += has_kind(list, i, "delete");
		elsewhere += !json_equal(path, json_object_get(change_state(list, i), "file_path"));
	}
	if (moves)
		return count == 1 || (moves == 1 && !deletes && count == 2) ? FATE_RENAME :
		                                                              FATE_SEVERAL;
	if (elsewhere || (deletes && count > 1))
		return FATE_SEVERAL;
	if (deletes)
		return FATE_DELETE;
	return json_is_string(json_object_get(change_state(list, first), "sha256")) ? FATE_EDIT :
	                                                                              FATE_CREATE;
}

/* `full`: the same plans made again with contents; NULL if the files have changed since. */
static json_t *file_details(struct call *call, const struct review_changes *list, size_t first,
                            const json_t *full)
{
	_cleanup_buf_ struct buf diff = BUF_INIT(LIMIT_RESULT_BYTES);
	const enum file_fate fate = file_fate(list, first);
	const json_t *state = change_state(list, first);
	json_t *file = json_object();
	size_t last = first;

	for (size_t i = first; i < list->count; i++)
		if (list->file[i] == first) {
			last = i;
			buf_span(&diff, json_span(json_object_get(change_plan(list, i), "diff")));
		}
	json_object_set(file, "filePath", json_object_get(state, "file_path"));
	json_object_set_new(file, "kind", json_string(fates[fate]));
	if (fate == FATE_RENAME)
		json_object_set(file, "newPath",
		                json_object_get(change_planned(list, last), "file_path"));
	json_object_set_new(file, "fileDiff", json_text(buf_view(&diff)));
	json_object_set_new(file, "originalContent",
	                    fate == FATE_EDIT ? original_content(call, state) : json_null());
	json_object_set_new(file, "newContent",
	                    fate == FATE_EDIT || fate == FATE_CREATE ?
	                            planned_content(tool_edit_at(list->question->tool->info, full,
	                                                         last)) : json_null());
	put_hashes(file, state, change_planned(list, last));
	return file;
}

/* The files in the order of their first changes. */
static json_t *all_files(struct call *call, const struct tool_question *question)
{
	json_auto_t *full = run_dry(call, question);
	json_t *files = json_array();
	struct review_changes list;

	change_list_init(&list, question);
	for (size_t i = 0; i < list.count; i++)
		if (list.file[i] == i)
			json_array_append_new(files, file_details(
				call, &list, i, tool_result_failed(full) ? NULL : full));
	change_list_release(&list);
	return files;
}

/* ---- what is shown ----------------------------------------------------------- */

static bool has_several(const struct tool_question *question)
{
	const struct tool_info *info = question->tool->info;

	return info && info->edit == TOOL_EDIT_MANY;
}

static void all_diffs(const struct tool_question *question, struct buf *out)
{
	const struct tool_info *info = question->tool->info;
	const size_t count = tool_edit_count(info, question->plan);

	for (size_t i = 0; i < count; i++)
		buf_span(out, json_span(json_object_get(tool_edit_at(info, question->plan, i),
		                                        "diff")));
}

bool review_may_modify(const struct tool_question *question)
{
	return (question->tool->plans && question->plan && question->modified_tool) ||
	       (question->preview && question->tool->preview_argument);
}

json_t *review_details(struct call *call, const struct tool_question *question)
{
	_cleanup_buf_ struct buf diff = BUF_INIT(LIMIT_RESULT_BYTES);
	const bool several = has_several(question);
	/* The real path, with links resolved: the user approves the file that will be written. */
	const json_t *first = tool_edit_at(question->tool->info, question->plan, 0);
	const json_t *state = json_object_get(first, "latest_file_state");
	const char *path = json_string_value(json_object_get(state, "file_path"));
	const char *name = path ? strrchr(path, '/') : NULL;
	json_auto_t *plan = several ? NULL : run_dry(call, question);
	json_t *details = json_object();

	all_diffs(question, &diff);
	json_object_set_new(details, "type", json_string("edit"));
	json_object_set_new(details, "title",
	                    json_string(several ? "Confirm Changes" : "Confirm Edit"));
	json_object_set_new(details, "filePath", json_cstr(path ? path : ""));
	json_object_set_new(details, "fileName", json_cstr(name ? name + 1 : path ? path : ""));
	json_object_set_new(details, "fileDiff", json_text(buf_view(&diff)));
	json_object_set_new(details, "originalContent",
	                    several ? json_null() : original_content(call, state));
	json_object_set_new(details, "newContent", several ? json_null() : planned_content(plan));
	if (several)
		json_object_set_new(details, "files", all_files(call, question));
	else
		put_hashes(details, state, json_object_get(first, "planned_state"));
	return details;
}

/* ---- what is written --------------------------------------------------------- */

/* The content written differs from what the model sent, so the answer includes a diff. */
static void ask_for_diff(const struct call *call, const struct tool_question *question,
                      json_t *arguments)
{
	if (call->session.return_content != RETURN_FULL ||
	    json_object_get(question->arguments, "return_content"))
		json_object_set_new(arguments, "return_content", json_string("diff"));
}

/* Content that the user edited replaces the whole file, if the question was about that file. A
 * review of hunks is exact: lines that were not taken keep their line endings. */
static bool use_content(struct call *call, const struct tool_question *question,
                        const json_t *details, const json_t *answer, struct err *err)
{
	json_t *content = json_object_get(answer, "newContent");
	const json_t *base = json_object_get(question->arguments, "base_content_sha256");
	json_t *arguments;

	if (!json_is_string(content))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The answer modify_with_editor came without newContent; nothing was "
		               "written.");
	if (json_equal(content, json_object_get(details, "newContent")))
		return true;
	call->modified = true;
	arguments = json_object();
	json_object_set(arguments, "file_path",
	                tool_first_path(question->tool->info, question->arguments));
	json_object_set(arguments, "content", content);
	if (json_string_length(base))
		json_object_set(arguments, "base_content_sha256", (json_t *)base);
	json_object_set_new(arguments, "literal", json_true());
	if (call->review)
		json_object_set_new(arguments, "exact_line_endings", json_true());
	ask_for_diff(call, question, arguments);
	*question->modified = arguments;
	*question->modified_tool = tool_name(TOOL_WRITE_FILE);
	return true;
}

/* If the user edited the text shown, the edited version runs. */
static bool use_preview(struct call *call, const struct tool_question *question,
                        const json_t *answer, struct err *err)
{
	json_t *content = json_object_get(answer, "newContent");

	if (!json_is_string(content))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The answer modify_with_editor came without newContent; nothing was "
		               "done.");
	if (span_eq(json_span(content), span_str(question->preview)))
		return true;
	call->modified = true;
	*question->modified = json_copy((json_t *)question->arguments);
	json_object_set(*question->modified, question->tool->preview_argument, content);
	return true;
}

static json_t *refuse_answer(struct err *err, const char *sentence)
{
	err_set(err, ERR_INVALID_ARGUMENT, "%s", sentence);
	return NULL;
}

/* The answer's row for each file of the question, null where it has none; a new reference. NULL
 * with *err: a row is about something else, or gives a content to what is taken as a whole. */
static json_t *answered_files(const json_t *details, const json_t *answer, struct err *err)
{
	const json_t *given = json_object_get(answer, "files");
	json_auto_t *by_path = json_object();
	json_auto_t *rows = json_array();
	size_t i, answered = 0;
	json_t *file, *row, *content;

	json_array_foreach(given, i, row)
		if (json_is_string(json_object_get(row, "filePath")))
			json_object_set(by_path,
			                json_string_value(json_object_get(row, "filePath")), row);
	json_array_foreach(json_object_get(details, "files"), i, file) {
		row = json_object_get(by_path,
		                      json_string_value(json_object_get(file, "filePath")));
		content = json_object_get(row, "newContent");
		answered += row != NULL;
		if (row && !json_is_boolean(json_object_get(row, "taken")))
			return refuse_answer(err, "The answer does not say of each file "
			                               "whether it is taken; nothing was written.");
		if (content && (!json_is_string(content) ||
		                !json_is_string(json_object_get(file, "originalContent")) ||
		                !json_is_string(json_object_get(file, "newContent"))))
			return refuse_answer(err, "The answer has newContent for a file that "
			                               "is taken or left as a whole; nothing was "
			                               "written.");
		json_array_append_new(rows, row ? json_incref(row) : json_null());
	}
	if (!json_is_array(given) || answered != json_array_size(given))
		return refuse_answer(err, "The answer's files are not those of the question; "
		                               "nothing was written.");
	return json_incref(rows);
}

static bool row_is_taken(const json_t *row)
{
	return json_is_true(json_object_get(row, "taken"));
}

/* Another content than the planned one; NULL: none. */
static json_t *other_content(const json_t *file, const json_t *row)
{
	json_t *content = json_object_get(row, "newContent");

	return json_equal(content, json_object_get(file, "newContent")) ? NULL : content;
}

/* The whole content instead of all changes of a file, from the state that the first was planned
 * on. */
static json_t *write_change(const json_t *change, const json_t *state, json_t *content)
{
	json_t *write = json_object();

	json_object_set_new(write, "kind", json_string("write"));
	json_object_set(write, "file_path", json_object_get(change, "file_path"));
	json_object_set(write, "content", content);
	json_object_set(write, "base_content_sha256", json_object_get(state, "sha256"));
	json_object_set_new(write, "exact_line_endings", json_true());
	json_object_set_new(write, "literal", json_true());
	return write;
}

/* A change as the model could have sent it: what creates a file names no state. */
static json_t *unbound_creation(json_t *change)
{
	json_t *copy;

	if (!span_eq(json_span(json_object_get(change, "kind")), SPAN("create")))
		return json_incref(change);
	copy = json_copy(change);
	json_object_del(copy, "base_content_sha256");
	return copy;
}

/* The changes that remain: for each file all, none, or its new content. *differs: not all are as
 * planned. */
static json_t *left_changes(const struct review_changes *list, const json_t *details,
                            const json_t *rows, bool *differs)
{
	const json_t *files = json_object_get(details, "files");
	json_t *left = json_array();

	for (size_t i = 0; i < list->count; i++) {
		json_t *change = change_asked(list, i);
		const json_t *row = json_array_get(rows, list->number[i]);
		json_t *content = other_content(json_array_get(files, list->number[i]), row);

		*differs |= content || !row_is_taken(row);
		if (!row_is_taken(row))
			continue;
		if (!content)
			json_array_append_new(left, unbound_creation(change));
		else if (list->file[i] == i)
			json_array_append_new(left, write_change(change, change_state(list, i),
			                                         content));
	}
	return left;
}

/* The facts about each file that the report needs later. */
static json_t *noted_files(const struct review_changes *list, const json_t *details,
                           const json_t *rows)
{
	static const char *const copied[] = { "hunks", "comment" };
	const json_t *files = json_object_get(details, "files");
	json_t *noted = json_array();

	for (size_t i = 0; i < list->count; i++) {
		const json_t *file = json_array_get(files, list->number[i]);
		const json_t *row = json_array_get(rows, list->number[i]);
		const json_t *path = json_object_get(file, "newPath");
		json_t *note;

		if (list->file[i] != i)
			continue;
		note = json_object();
		json_object_set(note, "file_path", json_object_get(file, "filePath"));
		json_object_set(note, "kind", json_object_get(file, "kind"));
		if (path)
			json_object_set(note, "new_path", (json_t *)path);
		json_object_set_new(note, "taken",
		                    other_content(file, row) ? json_string("edited") :
		                                               json_boolean(row_is_taken(row)));
		for (size_t k = 0; k < ARRAY_LEN(copied); k++)
			if (json_object_get(row, copied[k]))
				json_object_set(note, copied[k], json_object_get(row, copied[k]));
		json_object_set(note, "sha256", json_object_get(change_state(list, i), "sha256"));
		json_array_append_new(noted, note);
	}
	return noted;
}

static bool use_files(struct call *call, const struct tool_question *question,
                      const json_t *details, const json_t *answer, bool *ret_none, struct err *err)
{
	json_auto_t *rows = answered_files(details, answer, err);
	json_auto_t *left = NULL;
	struct review_changes list;
	bool differs = false;

	if (!rows)
		return false;
	change_list_init(&list, question);
	call->review_files = noted_files(&list, details, rows);
	left = left_changes(&list, details, rows, &differs);
	change_list_release(&list);
	*ret_none = !json_array_size(left);
	if (*ret_none || !differs)
		return true;
	call->modified = true;
	*question->modified = tool_edits_replaced(question->arguments, left);
	ask_for_diff(call, question, *question->modified);
	return true;
}

bool review_differs(const json_t *details, const json_t *answer)
{
	const json_t *files = json_object_get(details, "files"), *file;
	const json_t *rows = json_object_get(answer, "files");
	size_t i;

	if (!files)
		return !json_equal(json_object_get(answer, "newContent"),
		                   json_object_get(details, "newContent"));
	if (json_array_size(rows) != json_array_size(files))
		return true;
	json_array_foreach(files, i, file) {
		const json_t *row = json_array_get(rows, i);

		if (!json_equal(json_object_get(row, "filePath"),
		                json_object_get(file, "filePath")) ||
		    !row_is_taken(row) || other_content(file, row))
			return true;
	}
	return false;
}

/* Whether it says of files that they are left. */
static bool takes_nothing(const json_t *answer)
{
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(answer, "files"), i, row)
		if (row_is_taken(row))
			return false;
	return json_array_size(json_object_get(answer, "files"));
}

bool review_take(struct call *call, const struct tool_question *question, const json_t *details,
                 const json_t *answer, bool *ret_none, struct err *err)
{
	json_t *hunks = json_object_get(json_object_get(answer, "review"), "hunks");
	const char *outcome = json_string_value(json_object_get(answer, "outcome"));
	const bool modify = outcome && !strcmp(outcome, "modify_with_editor");

	*ret_none = false;
	if (!question->plan)
		return !modify || use_preview(call, question, answer, err);
	if (!json_object_get(details, "files")) {
		if (json_array_size(hunks))
			call->review = json_incref(hunks);
		return !modify || use_content(call, question, details, answer, err);
	}
	if (modify || (outcome && !strcmp(outcome, "cancel") && takes_nothing(answer)))
		return use_files(call, question, details, answer, ret_none, err);
	return true;
}

/* ---- the report to the model ------------------------------------------------- */

enum { REVIEW_TEXT_MAX = 256 << 10 };

static void put_user_comment(struct buf *out, const json_t *of)
{
	struct span comment = span_trim(json_span(json_object_get(of, "comment")));

	if (comment.len)
		buf_printf(out, "; the user says: %.*s", (int)comment.len, comment.data);
	if (!comment.len || !strchr(".!?", comment.data[comment.len - 1]))
		buf_char(out, '.');
}

static void put_reviewed_hunk(struct buf *out, size_t number, const json_t *hunk)
{
	const json_t *taken = json_object_get(hunk, "taken");
	struct span header = json_span(json_object_get(hunk, "header"));

	buf_printf(out, " Hunk %zu", number);
	if (header.len)
		buf_printf(out, " (%.*s)", (int)header.len, header.data);
	buf_str(out, json_is_true(taken) ? ": taken" :
	             json_is_string(taken) ? ": taken as the user edited it" :
	                                     ": not taken");
	put_user_comment(out, hunk);
}

static size_t count_taken(const json_t *hunks)
{
	size_t i, taken = 0;
	json_t *hunk;

	json_array_foreach((json_t *)hunks, i, hunk)
		taken += !json_is_false(json_object_get(hunk, "taken"));
	return taken;
}

static void put_review(struct buf *out, const json_t *hunks, bool success)
{
	size_t i, taken = count_taken(hunks), count = json_array_size(hunks);
	json_t *hunk;

	buf_printf(out, "The user went through this edit hunk by hunk and took %zu of %zu%s.",
	           taken, count,
	           success || !taken ? "" : ", but the call failed: nothing was written");
	json_array_foreach((json_t *)hunks, i, hunk)
		put_reviewed_hunk(out, i + 1, hunk);
	if (success && taken < count)
		buf_str(out, " latest_file_state is what stands now: go on from it, and do not "
		             "send what was not taken again unless the user asks for it.");
}

static void put_reviewed_file(struct buf *out, const json_t *file)
{
	const json_t *taken = json_object_get(file, "taken");
	const json_t *hunks = json_object_get(file, "hunks");
	struct span path = json_span(json_object_get(file, "file_path"));
	struct span kind = json_span(json_object_get(file, "kind"));
	const bool edit = span_eq(kind, SPAN("edit"));
	size_t i;
	json_t *hunk;

	buf_printf(out, " %.*s", (int)path.len, path.data);
	if (!edit)
		buf_printf(out, " (%.*s)", (int)kind.len, kind.data);
	if (json_array_size(hunks))
		buf_printf(out, ": %zu of %zu hunks taken", count_taken(hunks),
		           json_array_size(hunks));
	else
		buf_str(out, json_is_true(taken) ? ": taken" :
		             json_is_string(taken) ? ": taken as the user edited it" :
		                                     ": not taken");
	put_user_comment(out, file);
	json_array_foreach((json_t *)hunks, i, hunk)
		put_reviewed_hunk(out, i + 1, hunk);
}

static void put_reviewed_files(struct buf *out, const json_t *files, bool success)
{
	size_t i, taken = 0, left = 0;
	json_t *file;

	json_array_foreach((json_t *)files, i, file) {
		taken += !json_is_false(json_object_get(file, "taken"));
		left += !json_is_true(json_object_get(file, "taken"));
	}
	buf_printf(out, "The user went through these changes file by file and took %s%s.",
	           taken && !left ? "all" : taken ? "some" : "none",
	           success ? "" : !taken ? ": nothing was written" :
	                                   ", but the call failed: nothing was written");
	json_array_foreach((json_t *)files, i, file)
		put_reviewed_file(out, file);
	if (success && left)
		buf_str(out, " sha256 in files is what stands now: go on from it, and do not send "
		             "what was not taken again unless the user asks for it.");
}

/* The states that the result names are newer than those of the question. */
static void update_states(const struct tool_info *info, json_t *files, const json_t *result)
{
	json_auto_t *sums = json_object();
	size_t i;
	json_t *of, *state;

	for (i = 0; (of = tool_edit_at(info, result, i)); i++) {
		state = json_object_get(of, "latest_file_state");
		if (json_is_string(json_object_get(state, "file_path")) &&
		    json_object_get(state, "sha256"))
			json_object_set(sums,
			                json_string_value(json_object_get(state, "file_path")),
			                json_object_get(state, "sha256"));
	}
	json_array_foreach(files, i, of) {
		const json_t *path = json_object_get(of, "new_path");
		json_t *sum;

		if (!path || !json_is_true(json_object_get(of, "taken")) ||
		    tool_result_failed(result))
			path = json_object_get(of, "file_path");
		sum = json_object_get(sums, json_string_value(path) ?: "");
		if (sum)
			json_object_set(of, "sha256", sum);
	}
}

/* All of their words: an error's sentence has room for less. */
static void report_said(struct call *call)
{
	json_t *error = json_object_get(call->result, "error");

	if (json_array_size(call->comments) && call_error_code(call->result) == ERR_DENIED_BY_USER)
		call_error_instruct(error);
	if (!call->said || call_error_code(call->result) != ERR_DENIED_BY_USER)
		return;
	json_object_set_new(call->result, "message", json_pack(
		"s+++", "Denied By User: ", call->vetoed_by ? call->vetoed_by : "The user",
		" declined this call and says: ", call->said));
	call_error_instruct(error);
}

void agent_confirm_report(struct call *call)
{
	_cleanup_buf_ struct buf text = BUF_INIT(REVIEW_TEXT_MAX);
	bool success = !tool_result_failed(call->result);
	json_t *report;

	if (!json_is_object(call->result))
		return;
	report_said(call);
	if (!call->review && !call->review_files && !(call->modified && success) &&
	    !call->expansion && !json_array_size(call->comments))
		return;
	/* Of a command, it is all there is to say; of an edit, what came before the review. */
	if (call->expansion)
		buf_str(&text, call->expansion);
	if (call->expansion && (call->review_files || call->review || call->modified))
		buf_char(&text, ' ');
	if (call->review_files) {
		update_states(call->tool->info, call->review_files, call->result);
		put_reviewed_files(&text, call->review_files, success);
	} else if (call->review) {
		put_review(&text, call->review, success);
	} else if (call->modified && success) {
		buf_str(&text, "The user changed this edit before it was applied. "
		               "latest_file_state is what stands now: go on from it.");
	}
	report = json_object();
	comments_report(call->comments, report, &text);
	json_object_set_new(report, "message", json_text(buf_view(&text)));
	if (call->review)
		json_object_set(report, "hunks", call->review);
	if (call->review_files)
		json_object_set(report, "files", call->review_files);
	if (call->runs)
		json_object_set_new(report, "runs", json_integer(call->runs + 1));
	json_object_set_new(call->result, "user_review", report);
}
