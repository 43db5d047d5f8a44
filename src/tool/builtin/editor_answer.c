/* SPDX-License-Identifier: Apache-2.0 */
/* What an edit answers: its sentences, its result as JSON. */
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

/* A refusal for want of the right hash alone. */
static bool is_about_state(const struct change *change, const struct change_result *result)
{
	return result->state_known && result->state.exists && change->base != &editor_base_kept &&
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

/* The call names a hash that no answer gave, and the conversation has seen the state on disk. */
static bool is_wrong_hash(const struct editor_call *editor, const struct change *change,
                          const struct change_result *result)
{
	struct sha256 met;

	return change->base && result->state.path &&
	       seen_met(editor->session, result->state.path, &met) &&
	       sha256_eq(&met, &result->state.sha256) &&
	       !history_has_shown(editor->session, change->base);
}

/* A model has the hashes elsewhere: that of the state in latest_file_state, the other in its
 * call. NULL: it gets the message that all get. */
static char *brief_failure(const struct editor_call *editor, const struct change *change,
                           const struct change_result *result)
{
	const char *already = result->already ? " It has this edit already." : "";

	if (!is_about_state(change, result))
		return NULL;
	if (result->err.code == ERR_BASE_REQUIRED)
		return result->failure.found_line ?
		               mem_strdup(result->err.message) :
		               mem_printf("Base Required: %s exists.", change->path);
	if (is_wrong_hash(editor, change, result))
		return mem_printf("State Mismatch: The sha256 is wrong.%s", already);
	return mem_printf("%s%s", beginnings[0].lead, already);
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
	[CHANGE_DATA] = { "Values changed.", "Values changed.", "The values can be changed." },
};

/* Lists the hunks that were corrected, so that the model knows that its line numbers or white
 * space were off. */
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
static char *editor_message(const struct editor_call *editor, const struct change *change,
                            const struct change_result *result, bool brief)
{
	struct buf out = BUF_INIT(8192);

	if (!result->done) {
		char *said = brief ? brief_failure(editor, change, result) : NULL;

		return said ? said : failure_message(change, &result->err);
	}
	if (result->already)
		buf_str(&out, "No change was needed: the file has this edit already. Nothing was "
		              "written.");
	else if (editor->options.dry_run)
		buf_printf(&out, "%s This was a dry run: nothing was written.",
		           successes[change->kind].planned);
	else
		buf_str(&out, result->created ? successes[change->kind].created :
		                                successes[change->kind].done);
	if (change->kind == CHANGE_UPDATE && result->replaced && !(brief && result->replaced == 1))
		buf_printf(&out, " %zu place%s replaced.", result->replaced,
		           result->replaced == 1 ? " was" : "s were");
	describe_hunks(&out, result);
	/* The text around a diff's hunks must not be lost, nor the position of the edit. */
	if ((change->kind == CHANGE_PATCH || result->already) && result->note[0])
		buf_printf(&out, " %s", result->note);
	return buf_steal(&out);
}

/* ---- results ----------------------------------------------------------------- */

/* From a change's result to JSON. */

/* What a dry run would write. It has no version: nothing was read or written as it. */
static json_t *planned_json(const struct editor_call *editor, const struct change_result *result)
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
	"Read those lines first, or all in parts; then send the call again."

/* The same where the model must repeat the call with a different hash. */
#define STATE_ADVICE "Pass its sha256."

/* After latest_state, which may have shown what was not seen. */
static json_t *error_json(const struct editor_call *editor, const struct change *change,
                          const struct change_result *result, bool brief)
{
	json_t *error = tool_error(&result->err);
	struct sha256 seen;

	if (brief && is_about_state(change, result))
		json_object_set_new(error, "advice", json_cstr(STATE_ADVICE));
	if (result->err.code == ERR_STATE_MISMATCH && result->state_known && !result->state.exists)
		json_object_set_new(error, "advice", json_cstr(MISSING_ADVICE));
	if (result->err.code == ERR_BASE_REQUIRED && change->base == &editor_base_kept)
		json_object_set_new(error, "advice", json_cstr(
			change->kind != CHANGE_WRITE ||
			editor_base_seen(editor, change, result->state.path, &seen) ?
				UNSEEN_ADVICE : UNSHOWN_ADVICE));
	if (change->kind == CHANGE_PATCH || change->kind == CHANGE_UPDATE)
		put_patch_failure(error, &result->failure);
	if (change->kind == CHANGE_UPDATE && result->err.code == ERR_WRONG_MATCH_COUNT)
		put_matches(error, result);
	return error;
}

/* What the file has got: nothing, if it is what it was. */
static size_t bytes_written(const struct change_result *result)
{
	const struct file_state *before = &result->before, *state = &result->state;

	return before->exists && sha256_eq(&before->sha256, &state->sha256) ? 0 : state->size;
}

static void put_success(json_t *object, const struct editor_call *editor,
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
	/* For programs: a model that did not ask has no use for it. */
	if (editor->content != RETURN_NEW && !editor->options.dry_run && result->state.exists)
		json_object_set_new(object, "bytes_written", json_size(bytes_written(result)));
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

/* The result that has the text of the state: that of another change of the file, if the call has
 * several. */
static const struct change_result *content_result(const struct editor_call *editor,
                                                  const struct change_result *result)
{
	const size_t in = result->content_in;

	return in && in <= editor->result_count ? &editor->results[in - 1] : result;
}

/* What is on disk after the call; a dry run that went well left it as it was. */
static json_t *latest_state(const struct editor_call *editor, const struct change *change,
                            const struct change_result *result)
{
	const bool planned = editor->options.dry_run;
	const struct file_state *state = result->done && planned ? &result->before :
	                                                           &result->state;
	const struct change_result *with = content_result(editor, result);
	const struct answer_about about = {
		.path = change->path,
		.before = result->done ? &result->before : NULL,
		.state = result->state_known ? state : NULL,
		.form = result->done && planned ? &result->before_form : &result->form,
		.content = with->content_is_text ? &with->content : NULL,
		.content_is_long = with->content_is_long,
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
static bool is_new_state(const struct editor_call *editor, const struct change_result *result)
{
	return result->done && !editor->options.dry_run && result->state_known &&
	       result->state.path && !sha256_eq(&result->before.sha256, &result->state.sha256);
}

static void remember_edit(const struct editor_call *editor, const struct change *change,
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
static void say_made_before(const struct editor_call *editor, const struct change *change,
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
static void say_elsewhere(const struct editor_call *editor, const struct change *change,
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
static bool try_now(const struct editor_call *editor, const struct change *change,
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
	if (provider_edit(provider, &now, 1, &options, ret, &err)) {
		line = ret->hunk_count ? ret->hunks[0].line : ret->match_lines[0];
		if (!ret->already && line)
			buf_printf(message, " The edit fits at line %zu.%s", line,
			           editor->offers ? "" : " Send it again if it is still right.");
		return false;
	}
	if (err.code != ERR_NO_MATCH && err.code != ERR_AMBIGUOUS_DIFF &&
	    err.code != ERR_WRONG_MATCH_COUNT && err.code != ERR_INVALID_DIFF)
		return false;
	buf_printf(message, " The edit does not fit the file as it is now either: %s", err.message);
	return true;
}

json_t *editor_answer(const struct editor_call *editor, const struct change *change,
                    const struct change_result *result)
{
	json_t *object = json_object(), *rebased = NULL;
	const bool brief = (result->done ? editor->content : editor->refused_content) == RETURN_NEW;
	_cleanup_free_ char *said = editor_message(editor, change, result, brief);
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
