/* SPDX-License-Identifier: Apache-2.0 */
/* What a session's edits changed since its start, from its checkpoints, and undone by hunk.
 *
 * A checkpoint's preview is the way back: a difference from what a file has now to what it had.
 * Pages show it turned round; what they choose of it is applied as it stands, to exactly the bytes
 * that it was made for. */
#include <stdlib.h>
#include <string.h>

#include "agent/checkpoint/checkpoint.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "web/private.h"
#include "worker/provider.h"

/* ---- differences ------------------------------------------------------------------ */

/* The next line of a difference, without its end. False: there is none. */
static bool diff_line(struct span *rest, struct span *ret)
{
	if (!line_next(rest, ret))
		return false;
	if (span_ends(*ret, SPAN("\n")))
		*ret = span_head(*ret, ret->len - 1);
	return true;
}

/* "@@ -1,2 +3,4 @@ rest": the two ranges change places. */
static void reverse_header(struct span line, struct buf *out)
{
	const char *plus = memchr(line.data, '+', line.len);
	const char *end = plus ? memmem(plus, line.len - (size_t)(plus - line.data), " @@", 3) :
	                         NULL;
	struct span first, second;

	if (!end || line.len < 4 || line.data[3] != '-') {
		buf_span(out, line);
		return;
	}
	first = span_trim(span_of(line.data + 4, (size_t)(plus - line.data) - 4));
	second = span_of(plus + 1, (size_t)(end - plus) - 1);
	buf_printf(out, "@@ -%.*s +%.*s", (int)second.len, second.data, (int)first.len,
	           first.data);
	buf_span(out, span_skip(line, (size_t)(end - line.data)));
}

/* Lines as the other side has them: what stood with "-" waits until what replaces it is written. */
struct reversal {
	struct buf *out;
	struct buf kept;      /* lines that were taken away, and are added now */
	char last;            /* the sign of the line before, for "\ No newline" */
};

static void reversal_flush(struct reversal *reversal)
{
	buf_span(reversal->out, buf_view(&reversal->kept));
	buf_clear(&reversal->kept);
}

static void reverse_line(struct reversal *reversal, struct span line)
{
	const char sign = line.len ? line.data[0] : ' ';
	struct buf *to = reversal->out;

	if (sign == '\\') /* belongs to the line before it */
		to = reversal->last == '-' ? &reversal->kept : reversal->out;
	else if (sign == '-')
		to = &reversal->kept;
	else if (sign != '+')
		reversal_flush(reversal);
	if (sign == '-' || sign == '+')
		buf_char(to, sign == '-' ? '+' : '-');
	buf_span(to, sign == '-' || sign == '+' ? span_skip(line, 1) : line);
	buf_char(to, '\n');
	if (sign != '\\')
		reversal->last = sign;
}

void web_diff_reverse(struct span diff, struct buf *out)
{
	struct reversal reversal = { .out = out, .kept = BUF_INIT(LIMIT_RESULT_BYTES) };
	bool in_hunks = false;
	struct span line;

	while (diff_line(&diff, &line)) {
		if (span_starts(line, SPAN("@@ "))) {
			reversal_flush(&reversal);
			reverse_header(line, out);
			buf_char(out, '\n');
			in_hunks = true;
		} else if (in_hunks) {
			reverse_line(&reversal, line);
		} else { /* both names are the same */
			buf_span(out, line);
			buf_char(out, '\n');
		}
	}
	reversal_flush(&reversal);
	buf_release(&reversal.kept);
}

static bool hunk_is_chosen(const json_t *hunks, size_t number)
{
	const json_t *value;
	size_t i;

	json_array_foreach((json_t *)hunks, i, value)
		if (json_integer_value(value) == (json_int_t)number)
			return true;
	return !hunks;
}

bool web_diff_choose(struct span diff, const json_t *hunks, struct buf *out)
{
	size_t number = 0, count = 0;
	bool is_chosen = true;
	const json_t *value;
	struct span line;
	size_t i;

	while (diff_line(&diff, &line)) {
		if (span_starts(line, SPAN("@@ "))) {
			is_chosen = hunk_is_chosen(hunks, number++);
			count += is_chosen;
		}
		if (!is_chosen)
			continue;
		buf_span(out, line);
		buf_char(out, '\n');
	}
	json_array_foreach((json_t *)hunks, i, value)
		if (!json_is_integer(value) || json_integer_value(value) < 0 ||
		    (size_t)json_integer_value(value) >= number)
			return false;
	return count > 0;
}

/* ---- what changed ----------------------------------------------------------------- */

struct changes {
	struct web_task task;     /* the first member */
	json_t *files;            /* of the preview; NULL: nothing, or *err */
	bool is_kept;             /* there are checkpoints */
	/* Of undoing. */
	char *path, *sha256;
	json_t *hunks;
	json_t *answer;
	struct err err;
};

/* The id of the session's first checkpoint; the caller frees. NULL: it has none. */
static char *changes_first_checkpoint(struct checkpoints *checkpoints, const char *session,
                              struct err *err)
{
	json_auto_t *list = checkpoints_list(checkpoints, err);
	const json_t *row;
	size_t i;

	json_array_foreach(list, i, row)
		if (span_eq(json_span(json_object_get(row, "session")), span_str(session)))
			return mem_strdup(json_string_value(json_object_get(row, "id")));
	return NULL;
}

/* The preview of going back to the start, on the session's thread. False: *err. */
static bool preview_start(struct changes *changes, struct host *host)
{
	const struct host_facts facts = host_facts(host);
	_cleanup_free_ char *first = NULL;
	json_auto_t *preview = NULL;

	changes->is_kept = facts.checkpoints != NULL;
	if (!facts.checkpoints)
		return true;
	first = changes_first_checkpoint(facts.checkpoints, facts.session_id, &changes->err);
	if (!first)
		return changes->err.code == ERR_NONE;
	if (!checkpoints_preview(facts.checkpoints, first, &preview, &changes->err))
		return false;
	changes->files = json_incref(json_object_get(preview, "files"));
	return true;
}

/* As web_task.run. */
static void changes_run(struct web_task *task, struct front_session *session)
{
	struct changes *changes = (struct changes *)task;

	if (session_host(session))
		preview_start(changes, session_host(session));
	else
		err_set(&changes->err, ERR_BUSY, "The session is not open.");
}

static const char *action_of(const char *back)
{
	return !strcmp(back, "removed") ? "created" :
	       !strcmp(back, "created") ? "deleted" :
	       !strcmp(back, "left") || !strcmp(back, "failed") ? "conflict" : "changed";
}

static void copy_member(json_t *to, const char *name, const json_t *from, const char *other)
{
	json_t *value = json_object_get(from, other);

	if (value)
		json_object_set(to, name, value);
}

/* A file of the preview as pages get it; NULL: nothing has changed. */
static json_t *file_json(const json_t *file)
{
	const char *back = json_string_value(json_object_get(file, "action"));
	_cleanup_buf_ struct buf diff = BUF_INIT(LIMIT_RESULT_BYTES);
	json_t *row;

	if (!back || !strcmp(back, "unchanged"))
		return NULL;
	row = json_pack("{s:O, s:s}", "path", json_object_get(file, "path"), "action",
	                action_of(back));
	copy_member(row, "added", file, "removed");
	copy_member(row, "removed", file, "added");
	copy_member(row, "reason", file, "reason");
	if (strcmp(action_of(back), "conflict") != 0)
		copy_member(row, "before_sha256", file, "sha256");
	copy_member(row, "after_sha256", file, "replaced_sha256");
	if (json_object_get(file, "diff")) {
		web_diff_reverse(json_span(json_object_get(file, "diff")), &diff);
		json_object_set_new(row, "diff", json_text(buf_view(&diff)));
	}
	return row;
}

static json_t *changes_to_json(const struct changes *changes)
{
	json_t *list = json_array(), *file;
	size_t i;

	json_array_foreach(changes->files, i, file) {
		json_t *row = file_json(file);

		if (row)
			json_array_append_new(list, row);
	}
	return json_pack("{s:b, s:o}", "kept", changes->is_kept, "files", list);
}

static void changes_free(struct changes *changes)
{
	json_decref(changes->files);
	json_decref(changes->hunks);
	json_decref(changes->answer);
	free(changes->path);
	free(changes->sha256);
	free(changes);
}

/* As web_task.done. */
static void changes_done(struct web_task *task, bool has_run)
{
	struct changes *changes = (struct changes *)task;

	if (!has_run)
		err_set(&changes->err, ERR_BUSY, "The session is being closed.");
	if (task->request && changes->err.code != ERR_NONE)
		web_refuse(task->request, &changes->err);
	else if (task->request)
		web_answer(task->request, 200, changes->answer ? json_incref(changes->answer) :
		                                                 changes_to_json(changes));
	changes_free(changes);
}

static struct changes *changes_new(void (*run)(struct web_task *task,
                                               struct front_session *session))
{
	struct changes *changes = mem_alloc(1, sizeof(*changes));

	*changes = (struct changes){ .task = { .run = run, .done = changes_done },
		                     .err = ERR_INIT };
	return changes;
}

void web_do_changes(struct web_exchange *exchange)
{
	web_task_give(exchange, &changes_new(changes_run)->task);
}

/* ---- undone ----------------------------------------------------------------------- */

/* The file of the preview; NULL: *err. */
static const json_t *changes_find_file(struct changes *changes)
{
	const json_t *file;
	size_t i;

	json_array_foreach(changes->files, i, file)
		if (span_eq(json_span(json_object_get(file, "path")), span_str(changes->path)))
			return file;
	err_set(&changes->err, ERR_STATE_MISMATCH, "This session has no edit of %.200s to undo.",
	        changes->path);
	return NULL;
}

/* Makes one change of the file as it was shown. */
static void undo_make(struct changes *changes, struct provider *provider,
                      const struct change *change)
{
	struct edit_options options = { 0 };
	struct change_result result = { 0 };

	if (provider_edit(provider, change, 1, &options, &result, &changes->err)) {
		changes->answer = json_pack("{s:s}", "path", changes->path);
		if (change->kind != CHANGE_DELETE)
			json_object_set_new(changes->answer, "sha256",
			                    json_sha256(&result.state.sha256));
	}
	change_result_release(&result);
}

static void undo_file(struct changes *changes, struct provider *provider, const json_t *file)
{
	const char *back = json_string_value(json_object_get(file, "action"));
	const struct span diff = json_span(json_object_get(file, "diff"));
	_cleanup_buf_ struct buf chosen = BUF_INIT(LIMIT_RESULT_BYTES);
	struct change change = { .kind = CHANGE_PATCH, .path = changes->path, .literal = true };
	struct sha256 base;

	if (!sha256_parse(span_str(changes->sha256), &base)) {
		err_set(&changes->err, ERR_INVALID_ARGUMENT, "\"after_sha256\" is no hash.");
		return;
	}
	change.base = &base;
	if (!strcmp(back, "removed") && !changes->hunks) {
		change.kind = CHANGE_DELETE;
		undo_make(changes, provider, &change);
	} else if (!diff.len) {
		err_set(&changes->err, ERR_TOO_LARGE, "%.200s has no difference that is shown: "
		        "/restore undoes it as a whole.", changes->path);
	} else if (!web_diff_choose(diff, changes->hunks, &chosen)) {
		err_set(&changes->err, ERR_INVALID_ARGUMENT,
		        "\"hunks\" does not name hunks of the difference.");
	} else {
		change.text = buf_view(&chosen);
		undo_make(changes, provider, &change);
	}
}

/* As web_task.run. */
static void undo_run(struct web_task *task, struct front_session *session)
{
	struct changes *changes = (struct changes *)task;
	const json_t *file;

	if (!session_host(session)) {
		err_set(&changes->err, ERR_BUSY, "The session is not open.");
		return;
	}
	if (!preview_start(changes, session_host(session)))
		return;
	file = changes_find_file(changes);
	if (file)
		undo_file(changes, session_provider(session), file);
}

void web_do_undo(struct web_exchange *exchange)
{
	const char *path = web_text_of(exchange, "path");
	const char *sha256 = path ? web_text_of(exchange, "after_sha256") : NULL;
	json_t *hunks = json_object_get(exchange->body, "hunks");
	struct changes *changes;

	if (!sha256)
		return;
	if (hunks && !json_is_array(hunks)) {
		web_refuse_with(exchange->http, 400, "invalid_argument",
		                "\"hunks\" is a list of numbers.");
		return;
	}
	changes = changes_new(undo_run);
	changes->path = mem_strdup(path);
	changes->sha256 = mem_strdup(sha256);
	changes->hunks = json_incref(hunks);
	web_task_give(exchange, &changes->task);
}
