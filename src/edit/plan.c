/* SPDX-License-Identifier: Apache-2.0 */
/* One change: the base is checked, then the new body computed; nothing is written. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/unseen.h"
#include "edit/internal.h"
#include "edit/placeholder.h"

static bool plan_patch(struct edit_call *call, struct edit_step *step, struct err *err);
static bool plan_write(struct edit_call *call, struct edit_step *step, struct err *err);
static bool plan_delete(struct edit_call *call, struct edit_step *step, struct err *err);
static bool plan_move(struct edit_call *call, struct edit_step *step, struct err *err);

/* What each kind of change asks of the file before it is looked at. */
static const struct kind_rule {
	bool (*plan)(struct edit_call *call, struct edit_step *step, struct err *err);
	bool may_create;  /* a missing file is made */
	bool may_exist;
	bool needs_base;  /* when the file exists */
	const char *verb; /* "… it" for messages */
} rules[] = {
	[CHANGE_PATCH] = { plan_patch, true, true, true, "patch" },
	[CHANGE_WRITE] = { plan_write, true, true, true, "overwrite" },
	[CHANGE_CREATE] = { plan_write, true, false, false, "create" },
	[CHANGE_UPDATE] = { edit_plan_update, true, true, false, "update" },
	[CHANGE_DELETE] = { plan_delete, false, true, true, "delete" },
	[CHANGE_MOVE] = { plan_move, false, true, true, "move" },
};

static bool mismatch(struct edit_step *step, const char *what, struct err *err)
{
	return err_set(err, ERR_STATE_MISMATCH,
	               "State Mismatch: File has changed on disk since it was last read. %s: %s.",
	               step->change->path, what);
}

/* A base may name what is on disk or what the changes before this one made of it. */
static bool base_matches(struct edit_body *body, const struct sha256 *base)
{
	if (body->origin && sha256_eq(&body->origin->disk.sha256, base))
		return true;
	return sha256_eq(edit_body_sha256(body), base);
}

static bool check_existing(struct edit_step *step, const struct kind_rule *rule, struct err *err)
{
	const struct change *change = step->change;
	struct edit_body *body = &step->file->body;
	char have[SHA256_HEX_SIZE], want[SHA256_HEX_SIZE];

	if (!rule->may_exist)
		return err_set(err, ERR_FILE_EXISTS, "%s exists already; it was not created anew.",
		               change->path);
	if (change->base && !base_matches(body, change->base)) {
		sha256_hex(edit_body_sha256(body), have);
		sha256_hex(change->base, want);
		return err_set(err, ERR_STATE_MISMATCH,
		               "State Mismatch: File has changed on disk since it was last read. "
		               "%s now has the SHA-256 %s, not %s.", change->path, have, want);
	}
	if (change->base)
		body->verified = true;
	else if (rule->needs_base && !body->verified)
		return err_set(err, ERR_BASE_REQUIRED,
		               "Base Required: %s exists, and the call does not say which state of "
		               "it was read; to %s it, pass the SHA-256 of its latest content.",
		               change->path, rule->verb);
	return true;
}

static bool check_missing(struct edit_step *step, const struct kind_rule *rule, struct err *err)
{
	const struct change *change = step->change;
	struct sha256 nothing = sha256_of(span_of("", 0));

	if (!rule->may_create || (change->kind == CHANGE_UPDATE && change->old_text.len))
		return err_set(err, ERR_FILE_NOT_FOUND, "File not found: %s does not exist.",
		               change->path);
	if (change->base && !sha256_eq(change->base, &nothing))
		return mismatch(step, "it does not exist any more", err);
	return true;
}

static bool check_folders(const struct edit_call *call, const struct edit_file *file,
                          struct err *err)
{
	if (call->options->no_make_folders && file->disk.place.missing)
		return err_set(err, ERR_FILE_NOT_FOUND,
		               "The folder of %s does not exist (missing: %s), and folders are not "
		               "to be made.", file->disk.place.path, file->disk.place.missing);
	return true;
}

bool edit_step_document(struct edit_step *step, bool opaque_is_fine, struct err *err)
{
	struct err why = ERR_INIT;
	struct span flat;

	if (step->has_doc)
		return true;
	if (!edit_body_flat(&step->before, &step->input, &flat))
		return err_set(err, ERR_TOO_LARGE, "%s is too large to be held in memory.",
		               step->change->path);
	step->has_doc = document_open(flat, NULL, &step->doc, &why);
	if (!step->has_doc && why.code == ERR_NOT_TEXT && opaque_is_fine) {
		step->opaque = true;
		step->has_doc = document_open(span_of("", 0), NULL, &step->doc, &why);
	}
	if (!step->has_doc)
		*err = why;
	return step->has_doc;
}

/* A path that leads to another file than when it was judged; "": it led nowhere. */
static struct edit_file *judged_file(struct edit_call *call, const char *path,
                                     const char *resolved, struct err *err)
{
	struct edit_file *file = edit_file_get(call, path, err);

	if (!file || !resolved || strcmp(file->disk.place.path, resolved) == 0)
		return file;
	err_set(err, ERR_STATE_MISMATCH,
	        "A link on the path of %s changed after the call was approved. Nothing was written. "
	        "Call again.", path);
	return NULL;
}

/* Whether two bodies have the same bytes.  Pieces that are borrowed from the same place, as
 * all untouched lines are, are not looked at. */
static bool same_bytes(const struct edit_body *a, const struct edit_body *b)
{
	struct span left = { 0 }, right = { 0 };
	size_t i = 0, j = 0;

	if (a->exists != b->exists || a->size != b->size)
		return false;
	for (;;) {
		size_t n;

		while (left.len == 0 && i < a->count)
			left = a->pieces[i++];
		while (right.len == 0 && j < b->count)
			right = b->pieces[j++];
		n = left.len < right.len ? left.len : right.len;
		if (n == 0)
			return left.len == right.len;
		if (left.data != right.data && memcmp(left.data, right.data, n) != 0)
			return false;
		left = span_skip(left, n);
		right = span_skip(right, n);
	}
}

/* Makes step->pieces the body after the step. */
static bool take_pieces(struct edit_step *step, struct err *err)
{
	struct edit_body *after = &step->after;

	*after = (struct edit_body){
		.exists = true,
		.pieces = step->pieces.spans,
		.count = step->pieces.count,
		.origin = step->before.origin,
		.made_by = step,
		.verified = step->before.verified,
	};
	for (size_t i = 0; i < after->count; i++) {
		if (step->pieces.spans[i].len > LIMIT_FILE_BYTES - after->size)
			return err_set(err, ERR_TOO_LARGE,
			               "%s would become larger than %zu bytes.", step->change->path,
			               LIMIT_FILE_BYTES);
		after->size += step->pieces.spans[i].len;
	}
	/* A body that is what it was stays the one on disk: there is nothing to write. */
	if (same_bytes(&step->before, after))
		*after = step->before;
	return true;
}

bool edit_to_crlf(struct buf *out, struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		struct span ending = line_ending(line);

		buf_span(out, line_body(line));
		if (ending.len)
			buf_str(out, "\r\n");
	}
	return !out->overflowed;
}

/* Whether LF in the new text stands for CRLF: the file has nothing else, the text none. */
static bool wants_crlf(const struct edit_step *step, struct span text)
{
	return step->doc.crlf_lines && !step->doc.lf_lines && !step->change->exact_line_endings &&
	       text.len && memchr(text.data, '\n', text.len) &&
	       !memmem(text.data, text.len, "\r\n", 2);
}

bool edit_plan_text(struct edit_step *step, struct span text, struct err *err)
{
	if (!utf8_valid(text))
		return err_set(err, ERR_INVALID_ARGUMENT, "The new content of %s is not UTF-8.",
		               step->change->path);
	if (!edit_step_document(step, /* opaque_is_fine= */ true, err) ||
	    !placeholder_check(text, step->doc.lines.text, "content", err))
		return false;
	if (step->doc.bom_bytes && span_starts(text, SPAN("\xEF\xBB\xBF")))
		text = span_skip(text, 3); /* the file's own mark is kept */
	if (wants_crlf(step, text)) {
		step->text_owned.max = LIMIT_FILE_BYTES;
		if (!edit_to_crlf(&step->text_owned, text))
			return err_set(err, ERR_TOO_LARGE, "The new content of %s is too large.",
			               step->change->path);
		text = buf_view(&step->text_owned);
	}
	step->text = text;
	return edit_encode_text(step, text, err) && take_pieces(step, err);
}

bool edit_plan_script(struct edit_step *step, const struct script *edits, bool keep_bom,
                      struct err *err)
{
	step->edits = edits;
	return document_encode(&step->doc, edits, keep_bom, &step->pieces, err) &&
	       take_pieces(step, err);
}

/* The engine's own words, except that it knows nothing of files that do not exist. */
static void patch_message(struct edit_step *step, const struct err *why, struct err *err)
{
	*err = *why;
	if (why->code == ERR_NO_MATCH && !step->before.exists)
		err_set(err, ERR_FILE_NOT_FOUND,
		        "File not found: %s does not exist, and the diff needs lines that it would "
		        "have to have.", step->change->path);
}

/* The second look: what does not fit as it is may have invisible characters as the escapes that the
 * model was shown (base/unseen.h). Its added lines get the characters too. */
static bool make_unseen(struct edit_step *step, const struct patch_options *options)
{
	struct patch_failure failure = { 0 };
	struct err why = ERR_INIT;
	bool made;

	step->text_owned.max = LIMIT_FILE_BYTES;
	made = unseen_read(&step->text_owned, step->change->text) && !step->text_owned.overflowed &&
	       patch_make(&step->doc.lines, buf_view(&step->text_owned), options, &step->plan,
	                  &failure, &why);
	patch_failure_release(&failure);
	if (made)
		patch_failure_release(&step->result->failure);
	return made;
}

static bool plan_patch(struct edit_call *call, struct edit_step *step, struct err *err)
{
	struct change_result *result = step->result;
	struct patch_options options = { 0 };
	struct err why = ERR_INIT;

	if (!edit_step_document(step, /* opaque_is_fine= */ false, err))
		return false;
	options.base_has_bom = step->doc.bom_bytes != 0;
	options.path = edit_file_relative(call, step->file);
	options.called = step->change->path;
	options.exists = step->before.exists && step->before.size;
	options.executable = step->before.exists && (step->file->disk.stat.st_mode & S_IXUSR);
	patch_failure_release(&result->failure);
	step->has_plan = patch_make(&step->doc.lines, step->change->text, &options, &step->plan,
	                            &result->failure, &why) ||
	                 make_unseen(step, &options);
	if (!step->has_plan) {
		patch_message(step, &why, err);
		return false;
	}
	result->hunks = mem_steal(&step->plan.hunks);
	result->hunk_count = step->plan.hunk_count;
	snprintf(result->note, sizeof(result->note), "%s", step->plan.note);
	step->plan.hunk_count = 0;
	if (!edit_plan_script(step, &step->plan.script, !step->plan.drops_bom, err))
		return false;
	result->already = step->plan.already;
	if (step->after.made_by != step && step->before.exists && !result->already)
		return err_set(err, ERR_NO_CHANGE,
		               "The diff leaves %s as it is; nothing was written.",
		               step->change->path);
	return true;
}

/* The file's bytes themselves: what is neither read nor shown as text. */
static bool plan_bytes(struct edit_step *step, struct err *err)
{
	struct pieces *pieces = &step->pieces;

	step->text = step->change->text;
	if (step->text.len) {
		pieces->spans = mem_grow(pieces->spans, &pieces->cap, 1, sizeof(*pieces->spans));
		pieces->spans[pieces->count++] = step->text;
	}
	return take_pieces(step, err);
}

static bool plan_write(struct edit_call *call, struct edit_step *step, struct err *err)
{
	const struct change *change = step->change;

	(void)call;
	if (!(change->bytes ? plan_bytes(step, err) : edit_plan_text(step, change->text, err)))
		return false;
	if (step->after.made_by != step && step->before.exists)
		snprintf(step->result->note, sizeof(step->result->note),
		         "The file had this content already; nothing was written.");
	return true;
}

static bool plan_delete(struct edit_call *call, struct edit_step *step, struct err *err)
{
	(void)call;
	(void)err;
	step->after = (struct edit_body){ .hashed = true, .sha256 = sha256_of(span_of("", 0)),
	                                  .verified = true };
	return true;
}

static bool plan_move(struct edit_call *call, struct edit_step *step, struct err *err)
{
	const struct change *change = step->change;

	if (!change->new_path)
		return err_set(err, ERR_INVALID_ARGUMENT, "Moving %s needs a new path.",
		               change->path);
	step->target = judged_file(call, change->new_path, change->new_resolved, err);
	if (!step->target)
		return false;
	if (step->target == step->file)
		return err_set(err, ERR_NO_CHANGE, "%s already has that name; nothing was moved.",
		               change->path);
	if (step->target->body.exists)
		return err_set(err, ERR_FILE_EXISTS, "%s exists already; %s was not moved there.",
		               change->new_path, change->path);
	if (!check_folders(call, step->target, err))
		return false;
	step->after = step->before;
	return true;
}

static bool check_expected(struct edit_step *step, struct err *err)
{
	if (!step->change->expect ||
	    sha256_eq(edit_body_sha256(&step->after), step->change->expect))
		return true;
	return mismatch(step, "the change would not give the content that was expected", err);
}

bool edit_plan_step(struct edit_call *call, struct edit_step *step, struct err *err)
{
	const struct kind_rule *rule;
	struct edit_body gone = { .hashed = true, .sha256 = sha256_of(span_of("", 0)),
	                          .verified = true };
	bool ok;

	if ((size_t)step->change->kind >= ARRAY_LEN(rules) || !step->change->path)
		return err_set(err, ERR_INVALID_ARGUMENT, "A change needs a known kind and a path.");
	rule = &rules[step->change->kind];
	step->file = judged_file(call, step->change->path, step->change->resolved, err);
	if (!step->file)
		return false;
	step->before = step->file->body;
	ok = step->before.exists ? check_existing(step, rule, err) : check_missing(step, rule, err);
	if (!ok || (rule->may_create && !check_folders(call, step->file, err)))
		return false;
	step->before = step->file->body; /* hashed and verified by the check */
	if (!rule->plan(call, step, err) || !check_expected(step, err))
		return false;
	if (step->target)
		step->target->body = step->after;
	step->file->body = step->target ? gone : step->after;
	return true;
}
