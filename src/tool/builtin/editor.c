/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools that edit share: arguments, the call in two steps, results, sentences. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/private.h"
#include "tool/answer.h"
#include "tool/history.h"
#include "tool/rebase.h"
#include "tool/spelling.h"

/* ---- sentences --------------------------------------------------------------- */

/* The sentences of the editors. Their first words are part of the contract: models and
 * scripts recognise them. */

/* What the engine's own messages may begin with: then they are complete. */
static const char *const leads[] = {
	"State Mismatch:", "Invalid Diff:", "Internal Error:", "Base Required:", "File not found:",
};

static const struct {
	enum err_code code;
	const char *lead;
	bool patch_only;
} beginnings[] = {
	{ ERR_STATE_MISMATCH, "State Mismatch: File has changed on disk since it was last read.",
	  false },
	{ ERR_NO_MATCH,
	  "Invalid Diff: The provided diff content does not match the file's content. The context "
	  "or lines to be removed may be incorrect.",
	  true },
	{ ERR_INTERNAL,
	  "Internal Error: The corrected patch failed to apply. Please review the diff for subtle "
	  "errors.",
	  true },
};

/* "file_not_found" -> "File Not Found" */
static void error_title(enum err_code code, char *out, size_t size)
{
	bool start = true;
	size_t len = 0;

	for (const char *name = err_name(code); *name && len + 1 < size; name++) {
		char c = *name == '_' ? ' ' : *name;

		out[len++] = start ? (char)toupper((unsigned char)c) : c;
		start = c == ' ';
	}
	out[len] = '\0';
}

/* What base_content_sha256 "seen" is until the session's state is known: of nothing, as which a
 * file to be created counts, and no other that has a byte to lose. Told by its address. */
static const struct sha256 seen_base = { {
	0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9,
	0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52,
	0xb8, 0x55,
} };

/* A refusal for want of the right hash alone. */
static bool is_about_state(const struct change *change, const struct change_result *result)
{
	return result->state_known && result->state.exists && change->base != &seen_base &&
	       (result->err.code == ERR_STATE_MISMATCH || result->err.code == ERR_BASE_REQUIRED);
}

static char *failure_message(const struct change *change, const struct err *err)
{
	char title[40];

	for (size_t i = 0; i < ARRAY_LEN(leads); i++)
		if (span_starts(span_str(err->message), span_str(leads[i])))
			return mem_strdup(err->message);
	for (size_t i = 0; i < ARRAY_LEN(beginnings); i++)
		if (beginnings[i].code == err->code &&
		    (!beginnings[i].patch_only || change->kind == CHANGE_PATCH))
			return mem_printf("%s %s", beginnings[i].lead, err->message);
	error_title(err->code, title, sizeof(title));
	if (span_starts(span_str(err->message), span_str(title)) &&
	    err->message[strlen(title)] == ':')
		return mem_strdup(err->message);
	return mem_printf("%s: %s", title, err->message);
}

/* A model has the hashes elsewhere: that of the state in latest_file_state, the other in its
 * call. NULL: it gets the message that all get. */
static char *brief_failure(const struct change *change, const struct change_result *result)
{
	const enum err_code code = result->err.code;

	if (!is_about_state(change, result))
		return NULL;
	return code == ERR_BASE_REQUIRED ?
	               mem_printf("Base Required: %s exists.", change->path) :
	               mem_printf("%s%s", beginnings[0].lead,
	                          result->already ? " It has this edit already." : "");
}

static const struct {
	const char *done;
	const char *created;
	const char *planned;
} successes[] = {
	[CHANGE_PATCH] = { "Patch applied successfully.",
	                   "Patch applied successfully. The file was created.",
	                   "The patch applies." },
	[CHANGE_WRITE] = { "File written successfully.", "File created successfully.",
	                   "The file can be written." },
	[CHANGE_CREATE] = { "File created successfully.", "File created successfully.",
	                    "The file can be created." },
	[CHANGE_UPDATE] = { "File updated successfully.", "File created successfully.",
	                    "The replacement can be made." },
	[CHANGE_DELETE] = { "File deleted.", "File deleted.", "The file can be deleted." },
	[CHANGE_MOVE] = { "File moved.", "File moved.", "The file can be moved." },
};

/* Tells which hunks had to be corrected, so that the model knows that its numbers or
 * spaces were off. */
static void describe_hunks(struct buf *out, const struct change_result *result)
{
	size_t named = 0;

	for (size_t i = 0; i < result->hunk_count && named < 5; i++) {
		const struct patch_hunk_report *hunk = &result->hunks[i];
		bool moved = hunk->stated_line && hunk->stated_line != hunk->line && hunk->lines;

		if (!moved && hunk->match == PATCH_MATCH_EXACT)
			continue;
		named++;
		buf_printf(out, " Hunk %zu was applied at line %zu", hunk->hunk, hunk->line);
		if (moved)
			buf_printf(out, " (its header says %zu)", hunk->stated_line);
		if (hunk->match != PATCH_MATCH_EXACT)
			buf_printf(out, ", matched %s", hunk->match == PATCH_MATCH_LOOKALIKE ?
			                                        "by look-alike characters" :
			                                        "ignoring white space");
		buf_char(out, '.');
	}
}

/* In place of a mismatch's own advice, where there is no file. */
#define MISSING_ADVICE \
	"Check the path; list_directory shows what is there. To create the file, leave " \
	"base_content_sha256 out."

/* Likewise, where the file has the edit. */
#define MADE_ADVICE \
	"Do not make this edit again: the file has it. Base the next edit on latest_file_state."

/* The sentence for a person or model; owned by the caller. `brief`: without what the call asked
 * for. */
static char *editor_message(const struct change *change, const struct change_result *result,
                            bool dry_run, bool brief)
{
	struct buf out = BUF_INIT(8192);

	if (!result->done) {
		char *said = brief ? brief_failure(change, result) : NULL;

		return said ? said : failure_message(change, &result->err);
	}
	if (result->already)
		buf_str(&out, "No change was needed: the file has this edit already. Nothing was "
		              "written.");
	else if (dry_run)
		buf_printf(&out, "%s This was a dry run: nothing was written.",
		           successes[change->kind].planned);
	else
		buf_str(&out, result->created ? successes[change->kind].created :
		                                successes[change->kind].done);
	if (change->kind == CHANGE_UPDATE && result->replaced && !(brief && result->replaced == 1))
		buf_printf(&out, " %zu place%s replaced.", result->replaced,
		           result->replaced == 1 ? " was" : "s were");
	describe_hunks(&out, result);
	/* What a diff says beside its hunks must not be lost, nor where the edit is. */
	if ((change->kind == CHANGE_PATCH || result->already) && result->note[0])
		buf_printf(&out, " %s", result->note);
	return buf_steal(&out);
}

/* ---- results ----------------------------------------------------------------- */

/* From a change's result to JSON. */

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
	answer_put_form(object, &result->form, /* brief= */ false);
	return object;
}

/* Hunks that a result lists; of more there is only their number. */
enum { HUNKS_SHOWN = 64 };

static json_t *hunk_json(const struct patch_hunk_report *hunk)
{
	json_t *object = json_object();

	json_object_set_new(object, "hunk", json_size(hunk->hunk));
	json_object_set_new(object, "line", json_size(hunk->line));
	/* Line 0 is a number, too: that of a hunk that adds before the first line. */
	json_object_set_new(object, "stated_line",
	                    hunk->stated_line || hunk->settled == PATCH_SETTLED_NUMBER ?
	                            json_size(hunk->stated_line) : json_null());
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

/* What the file has where several lines of a hunk differ. */
static void put_differing(json_t *object, const char *lines, size_t from)
{
	if (lines)
		json_object_set_new(object, "lines",
		                    json_pack("{s:I, s:o}", "start_line", (json_int_t)from,
		                              "content", json_text(span_str(lines))));
}

/* The first line of a hunk that differs. */
static void put_first_difference(json_t *object, size_t stated_line, size_t diff_line,
                           const char *expected, const char *found, size_t found_line)
{
	enum patch_difference kind;

	put_size(object, "stated_line", stated_line);
	put_size(object, "diff_line", diff_line);
	if (expected)
		json_object_set_new(object, "expected", json_cstr(expected));
	if (found)
		json_object_set_new(object, "found", json_cstr(found));
	put_size(object, "found_line", found_line);
	kind = expected && found ? patch_difference(span_str(found), span_str(expected)) :
	                           PATCH_DIFFERS_OTHERWISE;
	if (kind != PATCH_DIFFERS_OTHERWISE)
		json_object_set_new(object, "difference",
		                    json_cstr(patch_difference_name(kind)));
}

/* All hunks that failed, where there are several. */
static void put_failed_hunks(json_t *error, const struct patch_failure *failure)
{
	json_t *list;

	if (failure->failed_total < 2)
		return;
	list = json_array();
	for (size_t i = 0; i < failure->failed_count; i++) {
		const struct patch_failed_hunk *failed = &failure->failed[i];
		json_t *object = json_object();

		json_object_set_new(object, "hunk", json_size(failed->hunk));
		json_object_set_new(object, "code", json_cstr(err_name(failed->code)));
		put_first_difference(object, failed->stated_line, failed->diff_line,
		                     failed->expected, failed->found, failed->found_line);
		put_differing(object, failed->lines, failed->lines_from);
		put_size(object, "nearest_line", failed->near_line);
		json_array_append_new(list, object);
	}
	json_object_set_new(error, "failed_hunks", list);
	json_object_set_new(error, "failed_hunks_total", json_size(failure->failed_total));
}

static void put_patch_failure(json_t *error, const struct patch_failure *failure)
{
	json_t *candidates;

	put_size(error, "hunk", failure->hunk);
	put_size(error, "hunk_count", failure->hunk_count);
	put_first_difference(error, failure->stated_line, failure->diff_line, failure->expected,
	                     failure->found, failure->found_line);
	if (failure->failed_total < 2)
		put_differing(error, failure->lines, failure->lines_from);
	put_failed_hunks(error, failure);
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

#define UNSEEN_ADVICE \
	"Look at latest_file_state: if the call is right for that, send it again as it is."

/* Likewise, of a whole new content, where latest_file_state does not show all of the old one. */
#define UNSHOWN_ADVICE \
	"Read the whole file first, in parts if it is long; then send the call again."

/* A whole new content may take the place of one that the conversation has whole alone: nothing else
 * in the call says that it knows what is lost. */
static bool seen_base_for(const struct editor *editor, const struct change *change,
                          const char *path, struct sha256 *ret)
{
	struct seen_state state;

	if (change->kind != CHANGE_WRITE)
		return seen_met(editor->session, path, ret);
	if (!seen_get(editor->session, path, &state) || !state.whole)
		return false;
	*ret = state.sha256;
	return true;
}

/* Likewise, where a model has to send the same call with another hash, or another one. */
#define STATE_ADVICE "Pass its sha256."

/* After latest_state, which may have shown what was not seen. */
static json_t *error_json(const struct editor *editor, const struct change *change,
                          const struct change_result *result, bool brief)
{
	json_t *error = tool_error(&result->err);
	struct sha256 seen;

	if (brief && is_about_state(change, result))
		json_object_set_new(error, "advice", json_cstr(STATE_ADVICE));
	if (result->err.code == ERR_STATE_MISMATCH && result->state_known && !result->state.exists)
		json_object_set_new(error, "advice", json_cstr(MISSING_ADVICE));
	if (result->err.code == ERR_BASE_REQUIRED && change->base == &seen_base)
		json_object_set_new(error, "advice", json_cstr(
			change->kind != CHANGE_WRITE ||
			seen_base_for(editor, change, result->state.path, &seen) ?
				UNSEEN_ADVICE : UNSHOWN_ADVICE));
	if (change->kind == CHANGE_PATCH || change->kind == CHANGE_UPDATE)
		put_patch_failure(error, &result->failure);
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
		for (size_t i = 0; i < result->hunk_count && i < HUNKS_SHOWN; i++)
			json_array_append_new(hunks, hunk_json(&result->hunks[i]));
		json_object_set_new(object, "hunks", hunks);
		if (result->hunk_count > HUNKS_SHOWN)
			json_object_set_new(object, "hunks_total", json_size(result->hunk_count));
	}
	if (editor->shows_diff)
		json_object_set_new(object, "diff", json_text(buf_view(&result->diff)));
}

/* Whether something was made that the call does not say in these words: a hunk that was placed by
 * white space, a text with other indentation, ... */
static bool is_other_than_sent(const struct change_result *result)
{
	for (size_t i = 0; i < result->hunk_count; i++)
		if (result->hunks[i].match != PATCH_MATCH_EXACT)
			return true;
	return result->reread && !result->already;
}

/* The line that a refusal is about. */
static size_t line_at_fault(const struct change_result *result)
{
	const struct patch_failure *failure = &result->failure;

	return failure->found_line      ? failure->found_line :
	       result->match_lines[0]   ? result->match_lines[0] :
	       failure->candidate_count ? failure->candidates[0].line : 0;
}

/* The text of the state: that of another change of the file, if the call has several. */
static const struct buf *content_of(const struct editor *editor,
                                    const struct change_result *result)
{
	const size_t in = result->content_in;

	if (in && in <= editor->result_count)
		result = &editor->results[in - 1];
	return result->content_is_text ? &result->content : NULL;
}

/* What is on disk after the call; a dry run that went well left it as it was. */
static json_t *latest_state(const struct editor *editor, const struct change *change,
                            const struct change_result *result)
{
	const bool planned = editor->options.dry_run;
	const struct file_state *state = result->done && planned ? &result->before :
	                                                           &result->state;
	const struct answer_about about = {
		.path = change->path,
		.before = result->done ? &result->before : NULL,
		.state = result->state_known ? state : NULL,
		.form = result->done && planned ? &result->before_form : &result->form,
		.content = content_of(editor, result),
		.content_in = result->content_in,
		.mode = result->done ? editor->content : editor->refused_content,
		.done = result->done,
		.planned = planned,
		/* A diff is asked for where a hook has rewritten the call, too (call.c). */
		.sent_whole = result->created || (editor->content != RETURN_DIFF &&
		                                  (change->kind == CHANGE_WRITE ||
		                                   change->kind == CHANGE_CREATE)),
		.other_than_sent = is_other_than_sent(result),
		.diff = buf_view(&result->diff),
		.line = line_at_fault(result),
	};

	json_t *object = answer_state(editor->session, &about);

	if (about.state && state->exists)
		history_showed(editor->session, state->path, &state->sha256);
	return object;
}

/* Whether the change was made, and the file is another than before it. */
static bool is_new_state(const struct editor *editor, const struct change_result *result)
{
	return result->done && !editor->options.dry_run && result->state_known &&
	       result->state.path && !sha256_eq(&result->before.sha256, &result->state.sha256);
}

static void remember_edit(const struct editor *editor, const struct change *change,
                          const struct change_result *result, const json_t *state)
{
	const json_t *version = json_object_get(state, "version");

	if (is_new_state(editor, result))
		history_edited(editor->session, &(struct history_edit){
			.path = result->state.path,
			.before = result->before.sha256,
			.after = result->state.sha256,
			.version = (uint64_t)json_integer_value(version),
			.change = change,
		});
}

/* What the session's own answers say of an edit that the file has already (`made`), or that was
 * refused. */
static void say_made_before(const struct editor *editor, const struct change *change,
                            const struct change_result *result, bool made, struct buf *message)
{
	uint64_t version = !made && (result->done || !change->made) ? 0 :
	                   history_made_before(editor->session, change, NULL);

	if (version && made)
		buf_printf(message, " The same call made it before, with version %llu of the file "
		                    "as its answer.", (unsigned long long)version);
	else if (version)
		buf_printf(message, " The same call was made already, with version %llu of the "
		                    "file as its answer; the file has changed since.",
		           (unsigned long long)version);
}

/* What the file has nothing like may be another file's text. */
static void say_elsewhere(const struct editor *editor, const struct change *change,
                          const struct change_result *result, struct buf *message)
{
	const struct patch_failure *failure = &result->failure;
	bool update = change->kind == CHANGE_UPDATE && !result->replaced &&
	              result->err.code == ERR_WRONG_MATCH_COUNT;

	if (result->done || failure->candidate_count || !result->state.path)
		return;
	if (update)
		rebase_say_elsewhere(editor->session, result->state.path, change->old_text,
		                     message);
	else if (result->err.code == ERR_NO_MATCH && failure->expected)
		rebase_say_elsewhere(editor->session, result->state.path,
		                     span_str(failure->expected), message);
}

/* Where an edit of another state fits the file as it is now, or why it does not: what changed must
 * not hide it.  True: *ret, which the caller releases, has the failure. */
static bool try_now(const struct editor *editor, const struct change *change,
                    const struct change_result *result, struct buf *message,
                    struct change_result *ret)
{
	const struct edit_options options = { .dry_run = true };
	struct provider *provider = editor->session->provider;
	struct change now = *change;
	struct err err = ERR_INIT;
	size_t line;

	if (result->done || result->err.code != ERR_STATE_MISMATCH || !change->base ||
	    !result->state_known || !result->state.exists ||
	    (change->kind != CHANGE_PATCH && change->kind != CHANGE_UPDATE))
		return false;
	now.base = &result->state.sha256;
	now.expect = NULL;
	if (provider->ops->edit(provider, &now, 1, &options, ret, &err)) {
		line = ret->hunk_count ? ret->hunks[0].line : ret->match_lines[0];
		if (!ret->already && line)
			buf_printf(message, " In the file as it is now the edit fits at line %zu: "
			                    "if that is still right, send it again%s.", line,
			           editor->offers ? " with the sha256 of latest_file_state" : "");
		return false;
	}
	if (err.code != ERR_NO_MATCH && err.code != ERR_AMBIGUOUS_DIFF &&
	    err.code != ERR_WRONG_MATCH_COUNT && err.code != ERR_INVALID_DIFF)
		return false;
	buf_printf(message, " The edit does not fit the file as it is now either: %s", err.message);
	return true;
}

json_t *editor_result(const struct editor *editor, const struct change *change,
                    const struct change_result *result)
{
	json_t *object = json_object(), *rebased = NULL;
	const bool brief = (result->done ? editor->content : editor->refused_content) == RETURN_NEW;
	_cleanup_free_ char *said = editor_message(change, result, editor->options.dry_run, brief);
	_cleanup_buf_ struct buf message = BUF_INIT(16384);
	struct change_result now = { 0 }, shown = *result; /* with the failure of `now` */
	bool made = result->already;
	json_t *state;

	buf_str(&message, said);
	if (editor->alone && editor->offers)
		rebased = rebase_offer(editor->session, change, result, &message, &made);
	if (editor->alone && !rebased && !made && try_now(editor, change, result, &message, &now))
		shown.failure = now.failure;
	say_made_before(editor, change, result, made, &message);
	say_elsewhere(editor, change, result, &message);
	if (!result->done && result->state_known && !result->state.exists &&
	    (result->err.code == ERR_STATE_MISMATCH || result->err.code == ERR_FILE_NOT_FOUND))
		filter_suggest_file(editor->session, change->path, &message);
	json_object_set_new(object, "success", json_boolean(result->done));
	json_object_set_new(object, "message", json_text(buf_view(&message)));
	state = latest_state(editor, change, &shown);
	json_object_set_new(object, "latest_file_state", state);
	remember_edit(editor, change, result, state);
	if (made)
		json_object_set_new(object, "already_applied", json_true());
	if (result->done)
		put_success(object, editor, result);
	else
		json_object_set_new(object, "error",
		                    error_json(editor, change, &shown, brief));
	if (!result->done && (rebased || made))
		json_object_set_new(json_object_get(object, "error"), "advice",
		                    json_cstr(rebased ? REBASE_ADVICE : MADE_ADVICE));
	if (rebased)
		json_object_set_new(object, "rebased", rebased);
	if (result->note[0])
		json_object_set_new(object, "note", json_cstr(result->note));
	change_result_release(&now);
	return object;
}

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
	bool ok = path && session->provider->ops->read(session->provider, &request, &read, &err);
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

void editor_init(struct editor *editor, struct session *session, const json_t *arguments)
{
	*editor = (struct editor){
		.session = session,
		.content = asked_return_content(session, arguments),
		.refused_content = refused_content(session, arguments),
		.alone = true,
		.offers = true,
	};
	editor->options.dry_run = argument_bool(arguments, "dry_run", false);
	editor->options.want_content = editor->content != RETURN_NONE;
	editor->shows_diff = session->shows_diffs || editor->content == RETURN_DIFF ||
	                     (editor->options.dry_run && editor->content != RETURN_NONE);
	/* It also says what of the file is seen. */
	editor->options.want_diff = editor->shows_diff || !editor->options.dry_run;
	editor->options.no_make_folders = !argument_bool(arguments, "create_dirs", true);
}

/* The hash in base_content_sha256: NULL when absent or empty.  Validation has refused text that
 * is not a hash (tool/call.c). */
static const struct sha256 *editor_base(const json_t *arguments, struct sha256 *storage)
{
	struct span text = argument_span(arguments, "base_content_sha256");

	if (!span_trim(text).len)
		return NULL;
	if (span_eq(span_trim(text), SPAN(BASE_SEEN)))
		return &seen_base;
	if (!sha256_parse(text, storage))
		*storage = (struct sha256){ 0 };
	return storage;
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
		.base = editor_base(arguments, &hashes->base),
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

/* Gives a write that failed with BASE_REQUIRED the base that the session has seen, in *storage, if
 * the file is in that state; false if it cannot. */
static bool take_seen_base(const struct editor *editor, struct change *change,
                      const struct change_result *result, struct sha256 *storage)
{
	if (result->err.code != ERR_BASE_REQUIRED || change->kind != CHANGE_WRITE ||
	    !result->state_known || !result->state.exists || !result->state.path ||
	    !seen_may_write(editor->session, result->state.path, storage) ||
	    !sha256_eq(storage, &result->state.sha256))
		return false;
	change->base = storage;
	return true;
}

/* Says so in the result of the second run. */
static void note_seen(struct change_result *result)
{
	if (result->done && !result->note[0])
		snprintf(result->note, sizeof(result->note),
		         "Base: the state you last read or wrote.");
}

/* ---- bases that the session keeps -------------------------------------------- */

/* A path as states have it, where that is a matter of text alone. */
static const char *plain_path(const struct editor *editor, const char *path)
{
	struct provider *provider = editor->session->provider;
	const char *root = provider->ops->root(provider, 0);
	const size_t len = root ? strlen(root) : 0;

	if (len && path && strncmp(path, root, len) == 0 && path[len] == '/')
		path += len + 1;
	while (path && path[0] == '.' && path[1] == '/')
		path += 2;
	return path;
}

/* The state that the session met by the change's own path, which decides nothing: a wrong one is a
 * mismatch. */
static void guess_base(const struct editor *editor, struct change *change, struct sha256 *storage)
{
	const char *path = plain_path(editor, change->path);

	if (change->base != &seen_base)
		return;
	if (editor->session->one_call)
		change->base = NULL;
	else if (path && seen_base_for(editor, change, path, storage))
		change->base = storage;
}

/* The same by where the path led; false: the conversation has not seen enough of the file. */
static bool find_base(const struct editor *editor, struct change *change,
                      struct change_result *result, struct sha256 *storage)
{
	if (change->base != &seen_base || result->err.code != ERR_STATE_MISMATCH ||
	    !result->state_known || !result->state.exists || !result->state.path)
		return false;
	if (seen_base_for(editor, change, result->state.path, storage)) {
		change->base = storage;
		return true;
	}
	if (seen_met(editor->session, result->state.path, storage))
		err_set(&result->err, ERR_BASE_REQUIRED,
		        "Base Required: The call replaces all of %s, of which this conversation "
		        "has seen only a part.", change->path);
	else
		err_set(&result->err, ERR_BASE_REQUIRED,
		        "Base Required: Nothing of %s was read in this conversation. Its state "
		        "is in latest_file_state.", change->path);
	result->already = false;
	return false;
}

/* What a refusal shows of a file is what the next call is about, which cannot name it. */
static void meet_refused(const struct editor *editor, const struct change_result *result)
{
	if (!result->done && editor->content != RETURN_NONE && result->state_known &&
	    result->state.exists && result->state.path)
		seen_meet(editor->session, result->state.path, &result->state.sha256);
}

static bool edit_once(const struct editor *editor, const struct change *changes, size_t count,
                      struct change_result *results, struct err *err)
{
	struct provider *provider = editor->session->provider;

	return provider->ops->edit(provider, changes, count, &editor->options, results, err);
}

static void forget_results(struct change_result *results, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		change_result_release(&results[i]);
		results[i] = (struct change_result){ 0 };
	}
}

bool editor_apply(struct editor *editor, struct change *changes, struct change_hashes *hashes,
                  size_t count, struct change_result *results, struct err *err)
{
	_cleanup_free_ bool *taken = mem_alloc(count, sizeof(*taken));
	_cleanup_free_ bool *kept = mem_alloc(count, sizeof(*kept));
	bool again = false, ok;

	for (size_t i = 0; i < count; i++) {
		kept[i] = changes[i].base == &seen_base;
		guess_base(editor, &changes[i], &hashes[i].base);
	}
	ok = edit_once(editor, changes, count, results, err);
	for (size_t i = 0; i < count && !ok; i++) {
		taken[i] = take_seen_base(editor, &changes[i], &results[i], &hashes[i].base);
		again = find_base(editor, &changes[i], &results[i], &hashes[i].base) || taken[i] ||
		        again;
	}
	if (again) {
		forget_results(results, count);
		*err = (struct err)ERR_INIT;
		ok = edit_once(editor, changes, count, results, err);
	}
	for (size_t i = 0; i < count; i++) {
		if (taken[i] && again)
			note_seen(&results[i]);
		else if (!ok && kept[i])
			find_base(editor, &changes[i], &results[i], &hashes[i].base);
		if (kept[i])
			meet_refused(editor, &results[i]);
		editor->offers = editor->offers && !kept[i];
	}
	return ok;
}

static json_t *run_change(struct editor *editor, struct change *change,
                          struct change_hashes *hashes)
{
	struct change_result result = { 0 };
	struct err err = ERR_INIT;
	json_t *json;

	if (!editor_apply(editor, change, hashes, 1, &result, &err) && result.err.code == ERR_NONE)
		result.err = err;
	json = editor_result(editor, change, &result);
	change_result_release(&result);
	return json;
}

json_t *editor_call(struct session *session, const json_t *arguments, enum change_kind kind)
{
	struct editor editor;
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

/* The lines of `read` with `text` behind line `at`. */
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
	const bool ok = session->provider->ops->read(session->provider, &request, &read, err);

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

struct editor_begun {
	struct editor editor;
	struct change change;
	struct change_hashes hashes;
	struct change_result result;
	struct edit_begun *edit; /* the provider's */
};

void *editor_begin(struct session *session, const json_t *arguments, enum change_kind kind)
{
	const struct provider_ops *ops = session->provider->ops;
	struct editor_begun *begun;

	if (!ops->edit_begin)
		return NULL;
	begun = mem_alloc(1, sizeof(*begun));
	begun->change = editor_change(session, arguments, kind, &begun->hashes);
	editor_init(&begun->editor, session, arguments);
	if (begun->change.base != &seen_base &&
	    ops->edit_begin(session->provider, &begun->change, &begun->editor.options,
	                    &begun->result, session->hooks.ready, session->hooks.data,
	                    &begun->edit))
		return begun;
	free(begun);
	return NULL;
}

json_t *editor_end(struct session *session, const json_t *arguments, void *data)
{
	struct editor_begun *begun = data;
	struct change_result *result = &begun->result;
	struct provider *provider = session->provider;
	struct err err = ERR_INIT;
	json_t *json = NULL;

	begun->editor.session = session;
	if (!provider->ops->edit_end(provider, begun->edit, &err) && result->err.code == ERR_NONE)
		result->err = err;
	if (!take_seen_base(&begun->editor, &begun->change, result, &begun->hashes.base)) {
		json = editor_result(&begun->editor, &begun->change, result);
	} else if (session->hooks.not_at_once) {
		*session->hooks.not_at_once = true;
		json = tool_failure(&result->err);
	} else {
		forget_results(result, 1);
		if (!edit_once(&begun->editor, &begun->change, 1, result, &err) &&
		    result->err.code == ERR_NONE)
			result->err = err;
		note_seen(result);
		json = editor_result(&begun->editor, &begun->change, result);
	}
	(void)arguments;
	change_result_release(result);
	free(begun);
	return json;
}
