/* SPDX-License-Identifier: Apache-2.0 */
/* One change: the base is checked, then the new body computed; nothing is written. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/mem.h"
#include "edit/edit.h"
#include "edit/private.h"
#include "patch/patch.h"

static bool plan_patch(struct edit_call *call, struct edit_step *step, struct err *err);
static bool plan_write(struct edit_call *call, struct edit_step *step, struct err *err);
static bool plan_data(struct edit_call *call, struct edit_step *step, struct err *err);
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
	[CHANGE_DATA] = { plan_data, false, true, true, "update" },
};

static bool base_mismatch(struct edit_step *step, const char *what, struct err *err)
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

/* Whether the file is as the change, which is meant for another state of it, would make it. */
static bool was_made(struct edit_step *step)
{
	const struct change *change = step->change;
	_cleanup_other_reading_ struct other_reading repeated = { 0 };
	struct patch_failure failure = { 0 };
	struct patch_plan plan = { 0 };
	struct err ignored = ERR_INIT;
	bool made = false;

	if ((change->kind != CHANGE_PATCH && change->kind != CHANGE_UPDATE &&
	     change->kind != CHANGE_WRITE) || change->bytes ||
	    !edit_step_document(step, &ignored))
		return false;
	if (change->kind == CHANGE_WRITE)
		return span_eq(step->doc.lines.text, utf8_skip_mark(change->text));
	if (change->kind == CHANGE_UPDATE)
		return edit_update_made(step) ||
		       (change->made && other_reading_repeated(&step->doc.lines, change->old_text,
		                                               change->text, &repeated));
	if (patch_make(&step->doc.lines, change->text, NULL, &plan, &failure, &ignored)) {
		made = plan.already;
		patch_plan_release(&plan);
	}
	patch_failure_release(&failure);
	return made;
}

static bool check_existing(struct edit_step *step, const struct kind_rule *rule, struct err *err)
{
	const struct change *change = step->change;
	struct edit_body *body = &step->file->body;
	char have[SHA256_HEX_SIZE], want[SHA256_HEX_SIZE];

	if (!rule->may_exist)
		return err_set(err, ERR_FILE_EXISTS, "%s already exists; it was not created.",
		               change->path);
	if (change->base && !base_matches(body, change->base)) {
		sha256_hex(edit_body_sha256(body), have);
		sha256_hex(change->base, want);
		step->result->already = was_made(step);
		return err_set(err, ERR_STATE_MISMATCH,
		               "State Mismatch: File has changed on disk since it was last read. "
		               "%s now has the SHA-256 %s, not %s.%s", change->path, have, want,
		               step->result->already ? " It has this edit already." : "");
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

static bool plan_check_missing(struct edit_step *step, const struct kind_rule *rule,
                               struct err *err)
{
	const struct change *change = step->change;
	struct sha256 nothing = sha256_of(span_of("", 0));

	if (!rule->may_create || (change->kind == CHANGE_UPDATE && change->old_text.len))
		return err_set(err, ERR_FILE_NOT_FOUND, "File not found: %s does not exist.",
		               change->path);
	if (change->base && !sha256_eq(change->base, &nothing))
		return err_set(err, ERR_STATE_MISMATCH,
		               "State Mismatch: The file does not exist: %s was deleted or moved, "
		               "or it never was there.", change->path);
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

/* A path that leads to another file than when it was judged; "": it led nowhere. */
static struct edit_file *judged_file(struct edit_call *call, const char *path,
                                     const char *resolved, struct err *err)
{
	struct edit_file *file = edit_file_get(call, path, err);

	if (!file || !resolved || strcmp(file->disk.place.path, resolved) == 0)
		return file;
	err_set(err, ERR_STATE_MISMATCH,
	        "A link on the path of %s changed after the call was approved. Nothing was "
	        "written. Call again.", path);
	return NULL;
}

/* Whether the files may be changed where they are. */
static bool check_writable(const struct edit_call *call, const struct edit_step *step,
                           struct err *err)
{
	const struct edit_file *files[] = { step->file, step->target };

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		const struct place *place = files[i] ? &files[i]->disk.place : NULL;
		const char *folder;

		if (!place || !workspace_is_read_only(call->ws, place->root))
			continue;
		folder = workspace_root_path(call->ws, place->root);
		return err_set(err, ERR_DENIED_BY_SANDBOX,
		               "%s is in %s, which can only be read (--read, "
		               "hasp.sandbox.readPaths). Nothing was written. To change files "
		               "there, the user has to make it a folder of the workspace "
		               "(--include-directories %s).", place->path, folder, folder);
	}
	return true;
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

/* Whether the change names the state that the changes before it made; where it names the one on
 * disk, that takes no hash. */
static bool names_made_state(struct edit_step *step)
{
	const struct sha256 *base = step->change->base;
	struct edit_file *origin = step->before.origin;
	struct edit_body disk;

	if (!origin || !sha256_eq(&origin->disk.sha256, base))
		return sha256_eq(edit_body_sha256(&step->before), base);
	disk = edit_body_on_disk(origin);
	return edit_body_same(&step->before, &disk);
}

/* What this call has changed, from first to last, since the state on disk that the change names as
 * its base; NULL, and 0, if it is of the state before it.  *ret_unknown: what changed is not known
 * by lines. */
static const struct script **changes_since(const struct edit_call *call, struct edit_step *step,
                                           size_t *ret_count, bool *ret_unknown)
{
	const struct script **since = NULL;
	const struct edit_step *made = step->before.made_by;
	size_t count = 0;

	*ret_count = 0;
	if (!made || !step->change->base || names_made_state(step))
		return NULL;
	since = mem_alloc(call->step_count, sizeof(*since));
	for (; made && made->edits && count < call->step_count; made = made->before.made_by)
		since[count++] = made->edits;
	*ret_unknown = made != NULL;
	for (size_t i = 0; i < count / 2; i++) {
		const struct script *one = since[i];

		since[i] = since[count - 1 - i];
		since[count - 1 - i] = one;
	}
	*ret_count = count;
	return since;
}

static bool plan_patch(struct edit_call *call, struct edit_step *step, struct err *err)
{
	struct change_result *result = step->result;
	struct patch_options options = { 0 };
	_cleanup_free_ const struct script **since = NULL;
	struct err why = ERR_INIT;

	if (!edit_step_document(step, err))
		return false;
	options.base_has_bom = step->doc.bom_bytes != 0;
	options.path = edit_file_relative(call, step->file);
	options.called = step->change->path;
	options.exists = step->before.exists && step->before.size;
	options.executable = step->before.exists && (step->file->disk.stat.st_mode & S_IXUSR);
	since = changes_since(call, step, &options.since_count, &options.numbers_are_lost);
	options.since = since;
	patch_failure_release(&result->failure);
	step->has_plan = patch_make(&step->doc.lines, step->change->text, &options, &step->plan,
	                            &result->failure, &why);
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
	return edit_take_pieces(step, err);
}

static bool plan_write(struct edit_call *call, struct edit_step *step, struct err *err)
{
	const struct change *change = step->change;

	(void)call;
	if (!(change->bytes ? plan_bytes(step, err) : edit_plan_text(step, change->text, err)))
		return false;
	if (step->after.made_by != step && step->before.exists) {
		step->result->already = true;
		snprintf(step->result->note, sizeof(step->result->note),
		         "The file had this content already.");
	}
	return true;
}

static bool plan_data(struct edit_call *call, struct edit_step *step, struct err *err)
{
	const struct edit_options *options = call->options;
	struct err why = ERR_INIT;

	if (!options->change_data)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Values of structured text cannot be changed here.");
	if (!edit_step_document(step, err))
		return false;
	step->text_owned.max = LIMIT_STRUCTURED_BYTES;
	if (!options->change_data(options->change_data_data, step->file->disk.place.path,
	                          step->doc.lines.text, step->change->text, &step->text_owned,
	                          step->result->note, &why))
		return err_set(err, why.code, "%s: %s", step->change->path, why.message);
	diff_text(&step->doc.lines, buf_view(&step->text_owned), &step->script);
	return edit_plan_script(step, &step->script, /* keep_bom= */ true, err);
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
	if (!step->target || !check_writable(call, step, err))
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

/* What the step adds is plainly meant so, or the caller says that it is. */
static bool check_content(const struct edit_step *step, struct err *err)
{
	const struct change *change = step->change;
	struct edit whole = { .remove = step->doc.lines.count, .insert = step->text };
	bool scripted = step->edits != NULL;

	if (change->literal || change->bytes || change->kind == CHANGE_DATA || !step->has_doc ||
	    step->after.made_by != step)
		return true;
	return content_check(change->path, &step->doc.lines,
	                     scripted ? step->edits->edits : &whole,
	                     scripted ? step->edits->count : 1, err);
}

static bool check_expected(struct edit_step *step, struct err *err)
{
	if (!step->change->expect ||
	    sha256_eq(edit_body_sha256(&step->after), step->change->expect))
		return true;
	return base_mismatch(step, "the change would not give the content that was expected", err);
}

/* A change that cannot be made, of a file that is as this very change left it: sent again. */
static bool plan_made(struct edit_step *step, struct err *err)
{
	const struct change *change = step->change;
	const bool of_text = err->code == ERR_NO_MATCH || err->code == ERR_AMBIGUOUS_DIFF ||
	                     err->code == ERR_WRONG_MATCH_COUNT || err->code == ERR_NO_CHANGE;

	if (!of_text || !change->made || !step->has_doc ||
	    !sha256_eq(edit_body_sha256(&step->before), change->made) || !edit_plan_nothing(step))
		return false;
	*err = (struct err)ERR_INIT;
	return true;
}

bool edit_plan_step(struct edit_call *call, struct edit_step *step, struct err *err)
{
	const struct kind_rule *rule;
	struct edit_body absent = { .hashed = true, .sha256 = sha256_of(span_of("", 0)),
	                          .verified = true };
	bool ok;

	if ((size_t)step->change->kind >= ARRAY_LEN(rules) || !step->change->path)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A change needs a known kind and a path.");
	rule = &rules[step->change->kind];
	step->file = judged_file(call, step->change->path, step->change->resolved, err);
	if (!step->file || !check_writable(call, step, err))
		return false;
	step->before = step->file->body;
	ok = step->before.exists ? check_existing(step, rule, err) :
	     plan_check_missing(step, rule, err);
	if (!ok || (rule->may_create && !check_folders(call, step->file, err)))
		return false;
	step->before = step->file->body; /* hashed and verified by the check */
	if ((!rule->plan(call, step, err) && !plan_made(step, err)) || !check_content(step, err) ||
	    !check_expected(step, err))
		return false;
	if (step->after.made_by == step)
		edit_form_of_step(step, &step->form);
	if (step->shares_doc && step->after.made_by == step && step->edits && !step->drops_bom) {
		step->after.text = step->before.text;
		step->after.text->pending = step->edits;
	}
	if (step->target)
		step->target->body = step->after;
	step->file->body = step->target ? absent : step->after;
	return true;
}
