/* SPDX-License-Identifier: Apache-2.0 */
/* edit_apply: plan every change, commit, report. */
#include "edit/edit.h"

#include "base/limits.h"
#include "base/mem.h"
#include "edit/private.h"
#include "file/transaction.h"

/* An update without a base means "the file as it is"; when it changed between the read and the
 * commit, the call begins again, so many times. */
enum { BASELESS_ATTEMPTS = 20 };

static void edit_step_release(struct edit_step *step)
{
	document_pieces_release(&step->pieces);
	if (step->has_doc && !step->shares_doc)
		document_release(&step->doc);
	if (step->has_plan)
		patch_plan_release(&step->plan);
	script_release(&step->script);
	buf_release(&step->text_owned);
	buf_release(&step->input);
}

static void edit_call_release(struct edit_call *call)
{
	for (size_t i = 0; i < call->step_count; i++)
		edit_step_release(&call->steps[i]);
	for (size_t i = 0; i < call->file_count; i++) {
		snapshot_release(&call->files[i].disk);
		edit_texts_free(call->files[i].texts);
	}
	free(call->steps);
	free(call->files);
}
#define _cleanup_call_ __attribute__((cleanup(edit_call_release)))

/* Records why a change was not made; the first one is the call's error. */
static void step_failed(struct edit_step *step, const struct err *why, struct err *err)
{
	step->result->err = *why;
	if (err->code == ERR_NONE)
		*err = *why;
}

static void mark_rolled_back(struct edit_call *call)
{
	for (size_t i = 0; i < call->step_count; i++) {
		struct change_result *result = call->steps[i].result;

		result->done = false;
		if (result->err.code == ERR_NONE)
			err_set(&result->err, ERR_ROLLED_BACK,
			        "Not made, because another change of the same call failed.");
	}
}

/* Plans all changes; also those after a failed one, so that one answer names all faults. */
static bool plan_all(struct edit_call *call, struct err *err)
{
	struct err first = ERR_INIT;

	for (size_t i = 0; i < call->step_count; i++) {
		struct edit_step *step = &call->steps[i];
		struct err why = ERR_INIT;

		if (edit_plan_step(call, step, &why))
			edit_result_planned(call, step);
		else
			step_failed(step, &why, &first);
	}
	if (first.code == ERR_NONE)
		return true;
	*err = first;
	return false;
}

/* What the bodies of a call come to for one file. */
enum operation { OPERATION_NONE, OPERATION_WRITE, OPERATION_DELETE, OPERATION_MOVE, OPERATION_BAD };

static enum operation operation_of(const struct edit_file *file)
{
	const struct edit_body *body = &file->body;

	if (!body->exists)
		return file->disk.exists && !file->moved_away ? OPERATION_DELETE : OPERATION_NONE;
	if (body->origin == file)
		return body->made_by ? OPERATION_WRITE : OPERATION_NONE;
	if (file->moved_away)
		return OPERATION_BAD;
	if (!body->origin)
		return OPERATION_WRITE;
	return file->disk.exists || body->origin->body.exists ? OPERATION_BAD : OPERATION_MOVE;
}

static void mark_moves(struct edit_call *call)
{
	for (size_t i = 0; i < call->file_count; i++) {
		struct edit_body *body = &call->files[i].body;

		if (body->exists && body->origin && body->origin != &call->files[i])
			body->origin->moved_away = true;
	}
}

/* Counts the operations; INVALID_ARGUMENT for what they cannot express. */
static bool count_operations(struct edit_call *call, size_t *ret_count, bool *ret_moves,
                             struct err *err)
{
	*ret_count = 0;
	*ret_moves = false;
	mark_moves(call);
	for (size_t i = 0; i < call->file_count; i++) {
		enum operation operation = operation_of(&call->files[i]);

		if (operation == OPERATION_BAD)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "The changes give the name %s first to one file and then to "
			               "another; nothing was written. Make them in two calls.",
			               call->files[i].disk.place.path);
		*ret_count += operation != OPERATION_NONE;
		*ret_moves |= operation == OPERATION_MOVE;
	}
	return true;
}

static bool commit_one(struct edit_call *call, struct err *err)
{
	const struct commit_options *options = &call->options->commit;

	for (size_t i = 0; i < call->file_count; i++) {
		struct edit_file *file = &call->files[i];
		struct edit_body *body = &file->body;
		struct file_state state = { 0 };

		switch (operation_of(file)) {
		case OPERATION_WRITE:
			if (!commit_write(&file->disk, body->pieces, body->count, options, &state,
			                  err))
				return false;
			body->sha256 = state.sha256;
			body->hashed = true;
			file_state_release(&state);
			return true;
		case OPERATION_DELETE:
			return commit_delete(&file->disk, options, err);
		default:
			break;
		}
	}
	return true;
}

static bool stage_file(struct transaction *tx, struct edit_file *file, struct err *err)
{
	struct edit_body *body = &file->body;
	bool changed = body->made_by != NULL;

	switch (operation_of(file)) {
	case OPERATION_WRITE:
		return transaction_write(tx, &file->disk, body->pieces, body->count, err);
	case OPERATION_DELETE:
		return transaction_delete(tx, &file->disk, err);
	case OPERATION_MOVE:
		return transaction_move(tx, &body->origin->disk, &file->disk,
		                        changed ? body->pieces : NULL, changed ? body->count : 0,
		                        err);
	default:
		return true;
	}
}

/* Gives the error to the changes that made the operation; the call fails with it. */
static void report_failed_operation(struct edit_call *call, const struct edit_file *file,
                                    const struct err *err)
{
	const struct edit_file *origin = file->body.exists ? file->body.origin : NULL;

	for (size_t i = 0; i < call->step_count; i++) {
		struct edit_step *step = &call->steps[i];

		if (step->file == file || step->target == file || (origin && step->file == origin))
			step->result->err = *err;
	}
}

static bool commit_many(struct edit_call *call, struct err *err)
{
	struct transaction *tx;
	size_t operations = 0, failed = SIZE_MAX;

	if (!call->options->journal_folder)
		return err_set(err, ERR_IO_ERROR,
		               "Changing several files, or moving one, needs a folder for its "
		               "journal, and this workspace has none (hasp's is below "
		               "GEMINI_CLI_HOME or HOME). Change one file at a time.");
	if (!transaction_begin(call->options->journal_folder, &call->options->commit, &tx, err))
		return false;
	for (size_t i = 0; i < call->file_count; i++) {
		struct edit_file *file = &call->files[i];

		if (operation_of(file) == OPERATION_NONE)
			continue;
		if (!stage_file(tx, file, err)) {
			transaction_abort(tx);
			report_failed_operation(call, file, err);
			return false;
		}
		if (file->body.exists && file->body.made_by) {
			file->body.sha256 = *transaction_sha256(tx, operations);
			file->body.hashed = true;
		}
		file->operation = operations++;
	}
	if (transaction_commit(tx, &failed, err))
		return true;
	for (size_t i = 0; i < call->file_count; i++)
		if (failed != SIZE_MAX && call->files[i].operation == failed)
			report_failed_operation(call, &call->files[i], err);
	return false;
}

/* The commit's own words, after the sentence that the protocol promises. */
static void lead_with_mismatch(struct err *err)
{
	static const char lead[] =
		"State Mismatch: File has changed on disk since it was last read.";
	struct err why = *err;

	if (err->code == ERR_STATE_MISMATCH && !span_starts(span_str(why.message), SPAN("State")))
		err_set(err, ERR_STATE_MISMATCH, "%s %s", lead, why.message);
}

static bool commit_all(struct edit_call *call, struct err *err)
{
	size_t operations;
	bool moves, ok;

	if (!count_operations(call, &operations, &moves, err))
		return false;
	if (call->options->dry_run || operations == 0)
		return true;
	ok = operations == 1 && !moves ? commit_one(call, err) : commit_many(call, err);
	if (!ok) {
		lead_with_mismatch(err);
		for (size_t i = 0; i < call->step_count; i++)
			lead_with_mismatch(&call->steps[i].result->err);
	}
	return ok;
}

/* After a failed commit the snapshot is stale: the answer must have the present content. */
static void read_again(struct edit_call *call)
{
	for (size_t i = 0; i < call->file_count; i++) {
		struct edit_file *file = &call->files[i];
		struct snapshot fresh = SNAPSHOT_INIT;
		struct err ignored = ERR_INIT;

		file->unknown = !snapshot_read(call->ws, file->disk.place.path,
		                               call->options->max_file_bytes, &fresh,
		                               &ignored);
		if (file->unknown)
			continue;
		snapshot_release(&file->disk);
		file->disk = fresh;
	}
}

static void report_success(struct edit_call *call)
{
	for (size_t i = call->step_count; i-- > 0;) {
		struct edit_step *step = &call->steps[i];

		step->result->done = true;
		edit_result_state(call, step, step->target ? step->target : step->file);
	}
}

/* The path of a change whose file could not be read, if it has one at all. */
static void report_unreadable(struct edit_call *call, struct edit_step *step)
{
	_cleanup_place_ struct place place = PLACE_INIT;
	struct err ignored = ERR_INIT;

	if (!step->change->path ||
	    !workspace_resolve(call->ws, step->change->path, PLACE_FILE, &place, &ignored))
		return;
	if (!step->result->before.path)
		step->result->before.path = mem_strdup(place.path);
	step->result->state.path = mem_strdup(place.path);
}

static void report_failure(struct edit_call *call)
{
	mark_rolled_back(call);
	for (size_t i = 0; i < call->file_count; i++)
		call->files[i].body = edit_body_on_disk(&call->files[i]);
	for (size_t i = call->step_count; i-- > 0;) {
		struct edit_step *step = &call->steps[i];

		buf_release(&step->result->diff);
		step->result->created = false;
		if (!step->file || step->file->unknown) {
			report_unreadable(call, step);
			continue;
		}
		edit_result_state(call, step, step->file);
		if (!step->result->before.path)
			step->result->before.path = mem_strdup(step->result->state.path);
	}
}

static bool apply_once(const struct workspace *ws, const struct change *changes, size_t count,
                       const struct edit_options *options, struct change_result *results,
                       struct err *err)
{
	_cleanup_call_ struct edit_call call = {
		.ws = ws,
		.options = options,
		.steps = mem_alloc(count, sizeof(*call.steps)),
		.step_count = count,
		.files = mem_alloc(2 * count, sizeof(*call.files)), /* a move has two */
	};

	for (size_t i = 0; i < count; i++) {
		call.steps[i].change = &changes[i];
		call.steps[i].result = &results[i];
	}
	if (!plan_all(&call, err)) {
		report_failure(&call);
		return false;
	}
	if (!commit_all(&call, err)) {
		for (size_t i = 0; count == 1 && i < count; i++)
			results[i].err = *err;
		read_again(&call);
		report_failure(&call);
		return false;
	}
	report_success(&call);
	return true;
}

static bool all_baseless(const struct change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (changes[i].kind != CHANGE_UPDATE || changes[i].base || changes[i].expect)
			return false;
	return true;
}

bool edit_apply(const struct workspace *ws, const struct change *changes, size_t count,
                const struct edit_options *options, struct change_result *results,
                struct err *err)
{
	static const struct edit_options defaults = { 0 };
	size_t attempts = all_baseless(changes, count) ? BASELESS_ATTEMPTS : 1;

	memset(results, 0, count * sizeof(*results));
	if (count == 0 || count > LIMIT_CHANGES)
		return err_set(err, ERR_INVALID_ARGUMENT, "A call makes 1 to %d changes, not %zu.",
		               LIMIT_CHANGES, count);
	while (attempts-- > 0) {
		struct err why = ERR_INIT;

		if (apply_once(ws, changes, count, options ? options : &defaults, results, &why))
			return true;
		if (why.code != ERR_STATE_MISMATCH || attempts == 0) {
			*err = why;
			return false;
		}
		for (size_t i = 0; i < count; i++) {
			change_result_release(&results[i]);
			results[i] = (struct change_result){ 0 };
		}
	}
	return false;
}

bool edit_update_text(const struct change *change, struct span text, struct buf *out)
{
	struct change_result result = { 0 };
	struct edit_step step = {
		.change = change,
		.result = &result,
		.before = { .exists = true, .pieces = &text, .count = 1, .size = text.len },
	};
	struct err ignored = ERR_INIT;
	bool made = edit_plan_update(NULL, &step, &ignored);

	for (size_t i = 0; made && i < step.after.count; i++)
		buf_span(out, step.after.pieces[i]);
	edit_step_release(&step);
	change_result_release(&result);
	return made && !out->overflowed;
}
