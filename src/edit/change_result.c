/* SPDX-License-Identifier: Apache-2.0 */
/* What the caller gets to see of a change: states, content, diff, notes. */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "diff/diff.h"
#include "edit/private.h"

enum { DIFF_CONTEXT = 3 };

/* Two whole texts larger than this are not compared: no one reads such a diff. */
static const size_t diff_bytes_max = (size_t)64 << 20;

void change_result_release(struct change_result *result)
{
	file_state_release(&result->before);
	file_state_release(&result->state);
	buf_release(&result->content);
	buf_release(&result->diff);
	free(result->hunks);
	result->hunks = NULL;
	result->hunk_count = 0;
	patch_failure_release(&result->failure);
}

static void result_set_state(struct file_state *state, const struct edit_file *file,
                             struct edit_body *body)
{
	file_state_release(state);
	*state = (struct file_state){
		.path = mem_strdup(file->disk.place.path),
		.exists = body->exists,
		.sha256 = body->exists ? *edit_body_sha256(body) : sha256_of(span_of("", 0)),
		.size = body->size,
	};
}

/* What the file was before the step, where that state has a hash because the change names it; else
 * what it, or the file that its content comes from, was before the call. */
static void result_set_before(struct file_state *state, const struct edit_file *file,
                              struct edit_body *body)
{
	struct edit_body disk;

	if (!body->made_by || body->hashed) {
		result_set_state(state, file, body);
		return;
	}
	disk = body->origin ? edit_body_on_disk(body->origin) : (struct edit_body){ 0 };
	result_set_state(state, file, &disk);
}

/* What a person may want to know about how the file was reached; one note is enough. */
static void set_note(struct edit_step *step)
{
	struct change_result *result = step->result;
	const struct snapshot *disk = &step->file->disk;

	if (result->note[0])
		return;
	if (step->opaque)
		snprintf(result->note, sizeof(result->note),
		         "The content before was not text, so no diff of it is shown.");
	else if (disk->place.through_link)
		snprintf(result->note, sizeof(result->note),
		         "The path goes through a symbolic link; the file it leads to was "
		         "changed.");
	else if (disk->exists && disk->stat.st_nlink > 1 && step->change->kind != CHANGE_MOVE)
		snprintf(result->note, sizeof(result->note),
		         "The file had %lu names (hard links); the others keep the old content.",
		         (unsigned long)disk->stat.st_nlink);
}

/* The script from the document before to the new whole text. */
static void whole_script(const struct edit_step *step, struct script *ret)
{
	if (step->after.exists)
		diff_text(&step->doc.lines, step->text, ret);
	else if (step->doc.lines.count)
		script_add(ret, (struct edit){ .remove = step->doc.lines.count });
}

/* The edits of a script without the lines that go and come back: an exact replacement names lines
 * around the change, too. */
static void narrow_script(const struct lines *base, const struct script *script, struct script *ret)
{
	for (size_t i = 0; i < script->count; i++) {
		const struct edit *edit = &script->edits[i];
		_cleanup_lines_ struct lines removed = { 0 }, added = { 0 };
		_cleanup_script_ struct script parts = { 0 };

		if (!edit->remove || !edit->insert.len) {
			script_add(ret, *edit);
			continue;
		}
		lines_index(&removed, lines_range(base, edit->at, edit->at + edit->remove));
		lines_index(&added, edit->insert);
		diff_lines(&removed, &added, &parts);
		for (size_t k = 0; k < parts.count; k++) {
			parts.edits[k].at += edit->at;
			script_add(ret, parts.edits[k]);
		}
	}
}

static void print_diff(const struct edit_call *call, struct edit_step *step,
                       const struct script *script)
{
	struct change_result *result = step->result;
	const char *relative = edit_file_relative(call, step->file);
	_cleanup_free_ char *old_name = mem_printf("a/%s", relative);
	_cleanup_free_ char *new_name = mem_printf("b/%s", relative);
	struct script_print_options options = {
		.old_name = step->before.exists ? old_name : "/dev/null",
		.new_name = step->after.exists ? new_name : "/dev/null",
		.context = DIFF_CONTEXT,
	};

	result->diff.max = LIMIT_RESULT_BYTES;
	if (!script_print(&result->diff, &step->doc.lines, script, &options))
		buf_release(&result->diff);
}

/* A move changes no line; git's header says what it does. */
static void print_move(const struct edit_call *call, struct edit_step *step)
{
	const char *from = edit_file_relative(call, step->file);
	const char *to = edit_file_relative(call, step->target);
	_cleanup_free_ char *old_name = mem_printf("a/%s", from);
	_cleanup_free_ char *new_name = mem_printf("b/%s", to);
	const char *const parts[] = { "diff --git ", old_name, " ", new_name,
		                      "\nsimilarity index 100%\nrename from ", from,
		                      "\nrename to ", to };
	struct buf *diff = &step->result->diff;

	diff->max = LIMIT_RESULT_BYTES;
	for (size_t i = 0; i < ARRAY_LEN(parts); i += 2) {
		buf_str(diff, parts[i]);
		script_put_name(diff, parts[i + 1]);
	}
	buf_char(diff, '\n');
}

static void describe_change(const struct edit_call *call, struct edit_step *step)
{
	_cleanup_script_ struct script whole = { 0 };
	const struct script *script = &whole;
	struct err ignored = ERR_INIT;

	/* A file that is deleted or overwritten may be anything; then there is no diff. */
	if (step->change->kind == CHANGE_DELETE)
		edit_step_any_document(step, &ignored);
	if (!step->has_doc || step->opaque)
		return;
	if (!step->edits && step->doc.lines.text.len + step->text.len > diff_bytes_max) {
		snprintf(step->result->note, sizeof(step->result->note),
		         "The contents are too large to be compared, so no diff is shown.");
		return;
	}
	if (!step->edits)
		whole_script(step, &whole);
	else if (step->change->kind == CHANGE_UPDATE && step->doc.lines.text.len <= diff_bytes_max)
		narrow_script(&step->doc.lines, step->edits, &whole);
	else
		script = step->edits;
	script_stat(script, &step->result->lines_added, &step->result->lines_removed);
	if (call->options->want_diff)
		print_diff(call, step, script);
}

void edit_result_planned(struct edit_call *call, struct edit_step *step)
{
	struct change_result *result = step->result;

	/* Until now a note is about the text of the change. */
	result->reread = step->has_plan ? step->plan.reread :
	                 step->change->kind == CHANGE_UPDATE && result->note[0];
	result_set_before(&result->before, step->file, &step->before);
	result->created = !step->before.exists && step->after.exists;
	if (step->target && call->options->want_diff)
		print_move(call, step);
	else if (!step->target)
		describe_change(call, step);
	if (step->before.exists && step->has_doc && !step->opaque)
		edit_form_of_document(&step->doc, &result->before_form);
	set_note(step);
}

/* The text of a body, as a reader would be shown it, and its form. */
static bool body_text(struct edit_body *body, struct buf *out, struct text_form *form)
{
	const struct edit_step *step = body->made_by;
	struct err ignored = ERR_INIT;
	struct document doc;
	bool ok;

	if (!body->exists)
		return true;
	if (body->text) {
		for (size_t i = 0; i < body->count; i++)
			buf_span(out, i || !body->text->doc.bom_bytes ?
			                      body->pieces[i] : utf8_skip_mark(body->pieces[i]));
		return !out->overflowed;
	}
	if (step && step->edits)
		return script_apply(&step->doc.lines, step->edits, out);
	if (step)
		return !step->change->bytes && buf_span(out, step->text);
	if (!document_open(body->pieces[0], NULL, &doc, &ignored))
		return false;
	edit_form_of_document(&doc, form);
	ok = buf_span(out, doc.lines.text);
	document_release(&doc);
	return ok;
}

/* Whether the content that a change made is more than the caller has use for. */
static bool is_content_long(const struct edit_call *call, const struct change_result *result,
                            const struct edit_body *body)
{
	const size_t most = call->options->max_content_bytes;

	return call->options->want_content && result->done && most && body->made_by &&
	       body->size > most;
}

void edit_result_state(struct edit_call *call, struct edit_step *step, struct edit_file *file)
{
	struct change_result *result = step->result;

	result_set_state(&result->state, file, &file->body);
	result->state_known = true;
	result->form = file->shown_in ? file->form : (struct text_form){ 0 };
	buf_clear(&result->content);
	result->content.max = LIMIT_RESULT_BYTES;
	result->content_is_text = false;
	result->content_in = file->shown_in;
	if (file->shown_in)
		return;
	if (file->body.exists && file->body.made_by)
		result->form = file->body.made_by->form;
	result->content_is_long = is_content_long(call, result, &file->body);
	result->content_is_text = call->options->want_content && !result->content_is_long &&
	                          body_text(&file->body, &result->content, &result->form);
	if (!result->content_is_text)
		buf_release(&result->content);
	file->shown_in = (size_t)(step - call->steps) + 1;
	file->form = result->form;
}
