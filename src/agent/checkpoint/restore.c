/* SPDX-License-Identifier: Apache-2.0 */
/* The way back: plan from notes, ledger and what is there now; keep that; then edit. */
#include <stdlib.h>
#include <string.h>

#include "agent/checkpoint/checkpoint.h"
#include "agent/checkpoint/private.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "diff/diff.h"

enum action { UNCHANGED, RESTORE, CREATE, REMOVE, MERGE, LEFT, FAILED };

static const char *const action_names[] = { "unchanged", "restored", "created", "removed",
	                                    "merged",    "left",     "failed" };

enum {
	SHOWN_BYTES = 64 << 10,     /* of one difference that is shown */
	SHOWN_BYTES_ALL = 1 << 20,
	MERGE_BYTES_MAX = 16 << 20,
	MERGE_PAIRS_MAX = 4 << 20,  /* all edits of one are compared with all of the other */
	MERGE_CONTEXT = 3,          /* lines around a change */
};

struct restore_item {
	const struct note_file *target; /* borrowed from its note */
	enum action action;
	bool exists;                    /* now */
	bool dropped;                   /* another item is the same file */
	struct sha256 now;              /* of what exists */
	struct buf merged;              /* of MERGE: what it is to have */
	struct sha256 sha256;           /* of that */
	json_t *kept;                   /* of MERGE: what of others is in it
	                                 * (restore_difference); owned */
	char *path;                     /* owned; canonical, where it is known */
	char *reason;                   /* owned; of LEFT and FAILED */
};

struct restore {
	struct checkpoints *checkpoints;
	struct note *notes;             /* from the one to go back to on */
	size_t note_count;
	const char *session;
	struct ledger *ledger;
	struct restore_item *items;
	size_t count;
	json_t *index;                  /* path to number of its item */
	bool force;
	size_t room;                    /* for differences that are shown */
};

static void restore_release(struct restore *restore)
{
	for (size_t i = 0; i < restore->count; i++) {
		buf_release(&restore->items[i].merged);
		json_decref(restore->items[i].kept);
		free(restore->items[i].path);
		free(restore->items[i].reason);
	}
	free(restore->items);
	notes_free(restore->notes, restore->note_count);
	checkpoint_ledger_free(restore->ledger);
	json_decref(restore->index);
}

/* ---- merges of three texts, differences of two ---------------------------------- */

/* A text, as far as lines go. */
static bool is_mergeable(struct span bytes)
{
	return !bytes.len || !memchr(bytes.data, '\0', bytes.len);
}

/* Carries what became of a text over: `mine` and `theirs` are both made of `base`; *out gets what
 * has both changes. False: they touch, or one is no text (NUL bytes), or too large; *ret_why says
 * which, static. */
static bool restore_merge(struct span base, struct span mine, struct span theirs, struct buf *out,
                      const char **ret_why)
{
	_cleanup_lines_ struct lines base_lines = { 0 }, mine_lines = { 0 }, their_lines = { 0 };
	_cleanup_script_ struct script my_script = { 0 }, their_script = { 0 }, merged = { 0 };

	*ret_why = "It is no text, so that changes since then cannot be kept in it.";
	if (!is_mergeable(base) || !is_mergeable(mine) || !is_mergeable(theirs))
		return false;
	*ret_why = "It is too large to be merged.";
	if (base.len > MERGE_BYTES_MAX || mine.len > MERGE_BYTES_MAX ||
	    theirs.len > MERGE_BYTES_MAX)
		return false;
	lines_index(&base_lines, base);
	lines_index(&mine_lines, mine);
	lines_index(&their_lines, theirs);
	diff_lines(&base_lines, &mine_lines, &my_script);
	diff_lines(&base_lines, &their_lines, &their_script);
	if (my_script.count * their_script.count > MERGE_PAIRS_MAX)
		return false;
	*ret_why = "Changes that are not of this session's edits touch the lines that would go "
		   "back.";
	if (!script_merge(&base_lines, &my_script, &their_script, &merged))
		return false;
	*ret_why = "It is too large to be merged.";
	return script_apply(&their_lines, &merged, out);
}

/* {"added", "removed", "diff"?}: what makes `after` of `before`, in lines; without a diff where one
 * is no text, or with more than `room` bytes of it. */
static json_t *restore_difference(struct span before, struct span after, const char *path,
                                  size_t room)
{
	_cleanup_lines_ struct lines old_lines = { 0 }, new_lines = { 0 };
	_cleanup_script_ struct script script = { 0 };
	_cleanup_buf_ struct buf diff = BUF_INIT(room + 1);
	const struct script_print_options how = { .old_name = path, .new_name = path,
		                                  .context = MERGE_CONTEXT };
	json_t *object = json_object();
	size_t added, removed;

	if (!is_mergeable(before) || !is_mergeable(after) || before.len > MERGE_BYTES_MAX ||
	    after.len > MERGE_BYTES_MAX)
		return object;
	lines_index(&old_lines, before);
	lines_index(&new_lines, after);
	diff_lines(&old_lines, &new_lines, &script);
	script_stat(&script, &added, &removed);
	json_object_set_new(object, "added", json_size(added));
	json_object_set_new(object, "removed", json_size(removed));
	if (script_print(&diff, &old_lines, &script, &how) && diff.len <= room)
		json_object_set_new(object, "diff", json_text(buf_view(&diff)));
	return object;
}

/* ---- the plan ---------------------------------------------------------------------- */

static bool unknown_checkpoint(const char *id, struct err *err)
{
	return err_set(err, ERR_INVALID_ARGUMENT, "There is no checkpoint \"%s\".", id);
}

static bool find_notes(struct restore *restore, const char *id, struct err *err)
{
	struct checkpoints *checkpoints = restore->checkpoints;
	bool latest = strcmp(id, "latest") == 0;
	struct err why = ERR_INIT;
	bool reached;

	if (!latest && !note_id_valid(id))
		return unknown_checkpoint(id, err);
	pthread_mutex_lock(&checkpoints->lock);
	reached = checkpoints_reach(checkpoints, false, &why);
	pthread_mutex_unlock(&checkpoints->lock);
	if (!reached && why.code == ERR_FILE_NOT_FOUND)
		return unknown_checkpoint(id, err);
	if (!reached) {
		*err = why;
		return false;
	}
	if (!notes_read(checkpoints->notes, latest ? NULL : id, &restore->notes,
	                &restore->note_count, err))
		return false;
	if (!restore->note_count || (!latest && strcmp(restore->notes[0].id, id) != 0))
		return unknown_checkpoint(id, err);
	return true;
}

static size_t first_note(const struct restore *restore, const char *id)
{
	return strcmp(id, "latest") == 0 ? restore->note_count - 1 : 0;
}

/* The first note of a file says what to go back to. */
static void restore_add_file(struct restore *restore, const struct note_file *file)
{
	const json_t *number = json_object_get(restore->index, file->path);

	if (number)
		return;
	json_object_set_new_nocheck(restore->index, file->path,
	                            json_integer((json_int_t)restore->count));
	restore->items[restore->count++] = (struct restore_item){ .target = file,
		                                          .path = mem_strdup(file->path) };
}

static void add_notes(struct restore *restore, size_t first)
{
	size_t most = 0;

	for (size_t i = first; i < restore->note_count; i++)
		most += restore->notes[i].count;
	restore->items = mem_alloc(most + 1, sizeof(*restore->items));
	restore->index = json_object();
	for (size_t i = first; i < restore->note_count; i++) {
		const struct note *note = &restore->notes[i];

		if (strcmp(note->session, restore->session) == 0)
			for (size_t k = 0; k < note->count; k++)
				restore_add_file(restore, &note->files[k]);
	}
}

/* A file that was reached by a link before it was made has two names in the notes: the earlier
 * counts. */
static void drop_later_name(struct restore *restore, size_t i)
{
	const json_t *number = json_object_get(restore->index, restore->items[i].path);
	size_t other = (size_t)json_integer_value(number);

	if (number && other != i)
		restore->items[other > i ? other : i].dropped = true;
}

static void look_at_item(struct restore *restore, size_t i)
{
	struct restore_item *item = &restore->items[i];
	struct read_result read;
	struct err why = ERR_INIT;

	if (checkpoints_read(restore->checkpoints, item->target->path, &read, &why)) {
		item->exists = true;
		item->now = read.state.sha256;
		free(item->path);
		item->path = mem_strdup(read.state.path);
		drop_later_name(restore, i);
	} else if (why.code != ERR_FILE_NOT_FOUND) {
		item->action = FAILED;
		item->reason = mem_strdup(why.message);
	}
	read_result_release(&read);
}

static void leave_item(struct restore_item *item, const char *reason)
{
	item->action = LEFT;
	item->reason = mem_strdup(reason);
}

static bool read_kept_content(struct restore *restore, const struct note_file *file,
                              struct buf *out, struct err *err)
{
	struct checkpoints *checkpoints = restore->checkpoints;
	struct sha256 sum;
	bool ok;

	pthread_mutex_lock(&checkpoints->lock);
	ok = repository_read(checkpoints->repository, file->blob, out, err);
	pthread_mutex_unlock(&checkpoints->lock);
	if (!ok)
		return false;
	sum = sha256_of(buf_view(out));
	return sha256_eq(&sum, &file->sha256) ||
	       err_set(err, ERR_IO_ERROR, "What was kept of %s is damaged.", file->path);
}

/* ---- undoing edits, the last one first ----------------------------------------- */

/* A state of a file on the way back. */
struct way {
	struct restore *restore;
	const char *path;
	bool exists;
	struct sha256 sha256;
	struct buf text;       /* of what exists, once it is `known` */
	bool known;
	const char *blob;      /* where that is kept; NULL: it is what is there now */
	const char *why;       /* static: why it cannot go on; NULL: it can */
};

static bool way_is(const struct way *way, bool exists, const struct sha256 *sha256)
{
	return way->exists == exists && (!exists || sha256_eq(&way->sha256, sha256));
}

/* The text of a state that is kept. */
static bool way_read(struct way *way, const struct sha256 *sha256, const char *blob,
                     struct buf *out)
{
	const struct note_file file = { .path = (char *)way->path, .sha256 = *sha256 };
	struct note_file from = file;
	struct err ignored = ERR_INIT;

	memcpy(from.blob, blob, OBJECT_ID_SIZE);
	if (blob[0] && read_kept_content(way->restore, &from, out, &ignored))
		return true;
	way->why = "The content after this session's edits was not kept, so later changes cannot "
		   "be distinguished from them. Restoring with force replaces the file anyway.";
	return false;
}

static bool way_know(struct way *way)
{
	struct read_result read;
	struct err ignored = ERR_INIT;

	if (way->known)
		return true;
	buf_clear(&way->text);
	if (way->blob) {
		way->known = way_read(way, &way->sha256, way->blob, &way->text);
		return way->known;
	}
	way->known = checkpoints_read(way->restore->checkpoints, way->path, &read, &ignored) &&
	             sha256_eq(&read.state.sha256, &way->sha256) &&
	             buf_append(&way->text, read.content.data, read.content.len);
	read_result_release(&read);
	if (!way->known)
		way->why = "It was changed while it was looked at.";
	return way->known;
}

/* Takes one edit back, which made `after` of `before`. */
static void way_back(struct way *way, const struct note_file *before, const struct written *after)
{
	_cleanup_buf_ struct buf old = BUF_INIT(LIMIT_CHECKPOINT_FILE_BYTES),
	                         made = BUF_INIT(LIMIT_CHECKPOINT_FILE_BYTES),
	                         merged = BUF_INIT(LIMIT_CHECKPOINT_FILE_BYTES);
	const bool undone = way_is(way, after->exists, &after->sha256);

	if (way_is(way, before->existed, &before->sha256))
		return;
	if (undone && !before->existed) {
		way->exists = way->known = false;
		return;
	}
	if (!undone && (!before->existed || !after->exists || !way->exists)) {
		way->why = before->existed ?
			"It was removed and created again by something else." :
			"It was not there, but what it has now is not what an edit of this session "
			"made; it is not removed.";
		return;
	}
	if (undone) {
		way->exists = true;
		way->known = false;
		way->sha256 = before->sha256;
		way->blob = before->blob;
		return;
	}
	if (!way_read(way, &before->sha256, before->blob, &old) ||
	    !way_read(way, &after->sha256, after->blob, &made) || !way_know(way) ||
	    !restore_merge(buf_view(&made), buf_view(&way->text), buf_view(&old), &merged,
	                      &way->why))
		return;
	way->why = NULL;
	buf_clear(&way->text);
	buf_span(&way->text, buf_view(&merged));
	way->sha256 = sha256_of(buf_view(&way->text));
}

/* What the edit of this note made of its file. An edit that failed left what was there. */
static bool made_of(const struct restore *restore, const struct note *note,
                    const struct note_file *file, const struct way *way, struct written *ret)
{
	if (checkpoint_ledger_made(restore->ledger, note->id, way->path, ret) ||
	    checkpoint_ledger_made(restore->ledger, note->id, file->path, ret))
		return true;
	*ret = (struct written){ .path = way->path, .exists = way->exists,
		                 .sha256 = way->sha256 };
	if (way_is(way, file->existed, &file->sha256))
		return true;
	/* Of earlier versions' ledgers: the hash alone. */
	return way->exists && checkpoint_ledger_has(restore->ledger, way->path, &way->sha256);
}

/* Consecutive edits of one file, with no change by others in between, count as one. */
struct span_of_edits {
	const struct note_file *before;
	struct written after;
};

/* The file's edits, oldest first; false: the result of one is unknown. */
static bool edits_of(struct restore *restore, const struct restore_item *item,
                     const struct way *now, struct span_of_edits *ret, size_t *ret_count)
{
	struct way next = *now;
	size_t count = 0;

	for (size_t i = restore->note_count; i-- > 0;) {
		const struct note *note = &restore->notes[i];

		if (strcmp(note->session, restore->session) != 0)
			continue;
		for (size_t k = 0; k < note->count; k++) {
			const struct note_file *file = &note->files[k];
			struct written after;

			if (strcmp(file->path, item->target->path) != 0 &&
			    strcmp(file->path, item->path) != 0)
				continue;
			if (file->not_kept || !made_of(restore, note, file, &next, &after))
				return false;
			if (count && way_is(&next, after.exists, &after.sha256))
				ret[count - 1].before = file;
			else
				ret[count++] = (struct span_of_edits){ file, after };
			next.exists = file->existed;
			next.sha256 = file->sha256;
		}
	}
	*ret_count = count;
	return true;
}

/* Whether all the session's edits of a file since then can be undone while changes by others stay.
 * Fills `way`; the caller releases its text. */
static bool take_edits_back(struct restore *restore, const struct restore_item *item,
                            struct way *way)
{
	_cleanup_free_ struct span_of_edits *edits = NULL;
	size_t most = 0, count = 0;

	for (size_t i = 0; i < restore->note_count; i++)
		most += restore->notes[i].count;
	edits = mem_alloc(most + 1, sizeof(*edits));
	*way = (struct way){ .restore = restore, .path = item->path, .exists = item->exists,
		             .sha256 = item->now, .text = BUF_INIT(LIMIT_CHECKPOINT_FILE_BYTES) };
	if (!edits_of(restore, item, way, edits, &count)) {
		way->why = "It has changes made outside this session, which would be lost. "
			   "Restoring with force replaces the file anyway.";
		return false;
	}
	for (size_t i = 0; i < count && !way->why; i++)
		way_back(way, edits[i].before, &edits[i].after);
	return !way->why;
}

/* ---- planning -------------------------------------------------------------------- */

/* What others have changed stays. */
static void decide_merge(struct restore *restore, struct restore_item *item)
{
	const struct note_file *target = item->target;
	_cleanup_buf_ struct buf old = BUF_INIT(LIMIT_CHECKPOINT_FILE_BYTES);
	struct way way;

	if (!take_edits_back(restore, item, &way)) {
		if (restore->force && target->existed)
			item->action = RESTORE;
		else
			leave_item(item, way.why);
	} else if (way_is(&way, item->exists, &item->now)) {
		item->action = UNCHANGED;
	} else if (way_is(&way, target->existed, &target->sha256)) {
		item->action = target->existed ? RESTORE : REMOVE;
	} else if (!target->existed || !way_know(&way) ||
	           !way_read(&way, &target->sha256, target->blob, &old)) {
		leave_item(item, "It did not exist, and something else has created it since.");
	} else {
		item->action = MERGE;
		item->merged = way.text;
		item->sha256 = way.sha256;
		way.text = (struct buf)BUF_INIT(1);
		item->kept = restore_difference(buf_view(&old), buf_view(&item->merged),
		                                   item->path, SHOWN_BYTES);
	}
	buf_release(&way.text);
}

static void decide_action(struct restore *restore, struct restore_item *item)
{
	const struct note_file *target = item->target;

	if (item->action == FAILED)
		return;
	if (target->not_kept)
		leave_item(item, target->not_kept);
	else if (item->exists == target->existed &&
	         (!item->exists || sha256_eq(&item->now, &target->sha256)))
		item->action = UNCHANGED;
	else if (!item->exists)
		item->action = CREATE;
	else
		decide_merge(restore, item);
}

static bool plan_restore(struct restore *restore, const char *id, struct err *err)
{
	size_t first;

	if (!find_notes(restore, id, err))
		return false;
	first = first_note(restore, id);
	restore->session = restore->notes[first].session;
	if (!checkpoints_ledger(restore->checkpoints, restore->session, &restore->ledger, err))
		return false;
	add_notes(restore, first);
	for (size_t i = 0; i < restore->count; i++)
		look_at_item(restore, i);
	for (size_t i = 0; i < restore->count; i++)
		decide_action(restore, &restore->items[i]);
	return true;
}

/* ---- carrying it out --------------------------------------------------------------- */

static bool does_something(const struct restore_item *item)
{
	return !item->dropped && item->action >= RESTORE && item->action <= MERGE;
}

/* Save what will be replaced, as before an edit. */
static bool keep_present(struct restore *restore, char **ret_undo, struct err *err)
{
	json_auto_t *paths = json_array();
	struct keeping keeping = { .session = restore->session, .call_id = "", .tool = "restore",
		                   .paths = paths };

	for (size_t i = 0; i < restore->count; i++)
		if (does_something(&restore->items[i]))
			json_array_append_new(paths, json_path_bytes(restore->items[i].path));
	*ret_undo = NULL;
	return !json_array_size(paths) ||
	       checkpoints_keep(restore->checkpoints, &keeping, NULL, ret_undo, err);
}

/* The hash of its content after the restore. */
static const struct sha256 *item_sha256(const struct restore_item *item)
{
	return item->action == MERGE ? &item->sha256 : &item->target->sha256;
}

static bool item_content(struct restore *restore, const struct restore_item *item, struct buf *out,
                         struct err *err)
{
	if (item->action != MERGE)
		return read_kept_content(restore, item->target, out, err);
	return buf_span(out, buf_view(&item->merged)) ||
	       err_set(err, ERR_TOO_LARGE, "%s would be too large.", item->path);
}

static bool apply_item(struct restore *restore, const struct restore_item *item, struct err *err)
{
	static const enum change_kind kinds[] =
		{ [RESTORE] = CHANGE_WRITE, [CREATE] = CHANGE_CREATE,
		  [REMOVE] = CHANGE_DELETE, [MERGE] = CHANGE_WRITE };
	struct provider *provider = restore->checkpoints->options.provider;
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_CHECKPOINT_FILE_BYTES);
	struct edit_options options = { 0 };
	struct change_result result = { 0 };
	struct change change = { .kind = kinds[item->action], .path = item->path,
		                 .base = item->exists ? &item->now : NULL,
		                 .bytes = item->action != REMOVE };
	bool ok;

	if (item->action != REMOVE) {
		if (!item_content(restore, item, &text, err))
			return false;
		change.text = buf_view(&text);
		change.expect = item_sha256(item);
	}
	ok = provider_edit(provider, &change, 1, &options, &result, err);
	change_result_release(&result);
	return ok;
}

static void carry_out(struct restore *restore, struct restore_item *item, const char *undo,
                      struct written *ret)
{
	struct err err = ERR_INIT;

	if (!apply_item(restore, item, &err)) {
		item->action =
			err.code == ERR_STATE_MISMATCH || err.code == ERR_FILE_EXISTS ? LEFT :
		                                                                        FAILED;
		item->reason = mem_strdup(err.message);
		return;
	}
	*ret = (struct written){ .path = item->path, .note = undo,
		                 .exists = item->action != REMOVE };
	if (item->action == MERGE)
		checkpoints_add(restore->checkpoints, buf_view(&item->merged), ret->blob, &err);
	else
		memcpy(ret->blob, item->target->blob, OBJECT_ID_SIZE);
	ret->sha256 = *item_sha256(item);
}

/* Later restores are to know what this one made. */
static bool carry_all_out(struct restore *restore, const char *undo, struct err *err)
{
	_cleanup_free_ struct written *written = mem_alloc(restore->count + 1, sizeof(*written));
	size_t count = 0;

	for (size_t i = 0; i < restore->count; i++) {
		struct restore_item *item = &restore->items[i];

		if (!does_something(item))
			continue;
		carry_out(restore, item, undo, &written[count]);
		count += item->action != LEFT && item->action != FAILED;
	}
	return checkpoints_wrote(restore->checkpoints, restore->session, written, count, err);
}

static json_t *item_json(const struct restore_item *item)
{
	json_t *object = json_object();
	bool acts = item->action >= RESTORE && item->action <= MERGE;

	json_object_set_new(object, "path", json_name(item->path));
	json_object_set_new(object, "action", json_string(action_names[item->action]));
	if (acts && item->action != REMOVE)
		json_object_set_new(object, "sha256", json_sha256(item_sha256(item)));
	else if (item->exists && item->action != REMOVE)
		json_object_set_new(object, "sha256", json_sha256(&item->now));
	if (item->exists && acts)
		json_object_set_new(object, "replaced_sha256", json_sha256(&item->now));
	if (item->kept && item->action == MERGE)
		json_object_set(object, "kept", item->kept);
	if (item->reason)
		json_object_set_new(object, "reason", json_text(span_str(item->reason)));
	return object;
}

static json_t *result_json(const struct restore *restore, const char *id, const char *undo)
{
	json_t *result = json_object(), *files = json_array();
	bool success = true;

	for (size_t i = 0; i < restore->count; i++) {
		const struct restore_item *item = &restore->items[i];

		if (item->dropped)
			continue;
		success = success && item->action != LEFT && item->action != FAILED;
		json_array_append_new(files, item_json(item));
	}
	json_object_set_new(result, "success", json_boolean(success));
	json_object_set_new(result, "checkpoint", json_cstr(id));
	json_object_set_new(result, "undo", json_cstr(undo));
	json_object_set_new(result, "files", files);
	return result;
}

bool checkpoints_restore(struct checkpoints *checkpoints, const char *id, bool force, json_t **ret,
                         struct err *err)
{
	__attribute__((cleanup(restore_release))) struct restore restore = {
		.checkpoints = checkpoints, .force = force };
	_cleanup_free_ char *undo = NULL;
	struct err why = ERR_INIT;

	if (!plan_restore(&restore, id, err) || !keep_present(&restore, &undo, err))
		return false;
	if (!carry_all_out(&restore, undo, &why))
		notices_say(&checkpoints->options.notices, SEVERITY_WARNING, why.message);
	*ret = result_json(&restore, restore.notes[first_note(&restore, id)].id, undo);
	return true;
}

/* ---- before it is done ------------------------------------------------------- */

/* {"added", "removed", "diff"?} of what would be done with a file. */
static json_t *item_difference(struct restore *restore, const struct restore_item *item)
{
	_cleanup_buf_ struct buf after = BUF_INIT(LIMIT_CHECKPOINT_FILE_BYTES);
	const bool ends = item->action == REMOVE;
	struct read_result read;
	struct err ignored = ERR_INIT;
	json_t *difference = NULL;
	bool ok;

	ok = checkpoints_read(restore->checkpoints, item->path, &read, &ignored) ||
	     ignored.code == ERR_FILE_NOT_FOUND;
	if (ok && (ends || item_content(restore, item, &after, &ignored)))
		difference = restore_difference(buf_view(&read.content), buf_view(&after),
		                                   item->path, restore->room < SHOWN_BYTES ?
		                                   restore->room : SHOWN_BYTES);
	read_result_release(&read);
	restore->room -= json_string_length(json_object_get(difference, "diff"));
	return difference;
}

bool checkpoints_preview(struct checkpoints *checkpoints, const char *id, json_t **ret,
                         struct err *err)
{
	__attribute__((cleanup(restore_release))) struct restore restore = {
		.checkpoints = checkpoints, .room = SHOWN_BYTES_ALL };
	size_t next = 0;

	if (!plan_restore(&restore, id, err))
		return false;
	*ret = result_json(&restore, restore.notes[first_note(&restore, id)].id, NULL);
	for (size_t i = 0; i < restore.count; i++) {
		json_auto_t *difference = NULL;

		if (restore.items[i].dropped)
			continue;
		if (does_something(&restore.items[i]))
			difference = item_difference(&restore, &restore.items[i]);
		if (difference)
			json_object_update(json_array_get(json_object_get(*ret, "files"), next),
			                   difference);
		next++;
	}
	return true;
}
