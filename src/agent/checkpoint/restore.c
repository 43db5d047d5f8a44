/* SPDX-License-Identifier: Apache-2.0 */
/* The list of checkpoints, what is too old in it, the way back; those of a session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/checkpoint/checkpoint.h"
#include "agent/checkpoint/private.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"

/* ---- the list ---------------------------------------------------------------- */

/* What there is, and taking away what is old. */

static json_t *list_file(const struct note_file *file)
{
	json_t *object = json_object();

	json_object_set_new(object, "path", json_name(file->path));
	if (file->not_kept) {
		json_object_set_new(object, "notKept", json_text(span_str(file->not_kept)));
		return object;
	}
	json_object_set_new(object, "existed", json_boolean(file->existed));
	if (!file->existed)
		return object;
	json_object_set_new(object, "size", json_size(file->size));
	json_object_set_new(object, "sha256", json_sha256(&file->sha256));
	return object;
}

static json_t *list_note(const struct note *note)
{
	json_t *object = json_object(), *files = json_array();

	json_object_set_new(object, "id", json_cstr(note->id));
	json_object_set_new(object, "time", json_integer(note->time_ms));
	json_object_set_new(object, "session", json_cstr(note->session));
	json_object_set_new(object, "callId", json_cstr(note->call_id));
	json_object_set_new(object, "tool", json_cstr(note->tool));
	json_object_set_new(object, "commit", json_string(note->commit));
	for (size_t i = 0; i < note->count; i++)
		json_array_append_new(files, list_file(&note->files[i]));
	json_object_set_new(object, "files", files);
	return object;
}

/* A project that never had any has an empty list. */
static bool read_all_notes(struct checkpoints *checkpoints, struct note **ret, size_t *ret_count,
                           struct err *err)
{
	struct err why = ERR_INIT;
	bool there;

	*ret = NULL;
	*ret_count = 0;
	pthread_mutex_lock(&checkpoints->lock);
	there = checkpoints_find(checkpoints, false, &why);
	pthread_mutex_unlock(&checkpoints->lock);
	return !there || notes_read(checkpoints->notes, NULL, ret, ret_count, err);
}

json_t *checkpoints_list(struct checkpoints *checkpoints, struct err *err)
{
	struct note *notes;
	size_t count;
	json_t *list;

	if (!read_all_notes(checkpoints, &notes, &count, err))
		return NULL;
	list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, list_note(&notes[i]));
	notes_free(notes, count);
	return list;
}

static bool prune_note(struct checkpoints *checkpoints, const struct note *note, struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/%s.json", checkpoints->notes, note->id);

	if (!repository_forget(checkpoints->repository, note->id, err))
		return false;
	return unlink(path) == 0 || errno == ENOENT ||
	       err_set_errno(err, errno, "Cannot remove %s", path);
}

bool checkpoints_prune(struct checkpoints *checkpoints, int64_t before_ms, size_t *ret_count,
                       struct err *err)
{
	struct note *notes;
	size_t count;
	bool ok;

	*ret_count = 0;
	if (!read_all_notes(checkpoints, &notes, &count, err))
		return false;
	pthread_mutex_lock(&checkpoints->lock);
	ok = !count || checkpoints_reach(checkpoints, false, err);
	for (size_t i = 0; ok && i < count; i++) {
		if (notes[i].time_ms >= before_ms)
			continue;
		ok = prune_note(checkpoints, &notes[i], err);
		*ret_count += ok;
	}
	pthread_mutex_unlock(&checkpoints->lock);
	notes_free(notes, count);
	return ok;
}

/* ---- the way back ------------------------------------------------------------ */

/* The way back: plan from notes, ledger and what is there now; keep that; then edit. */

enum action { UNCHANGED, RESTORE, CREATE, REMOVE, LEFT, FAILED };

static const char *const action_names[] = { "unchanged", "restored", "created",
	                                    "removed",   "left",     "failed" };

struct item {
	const struct note_file *target; /* borrowed from its note */
	enum action action;
	bool exists;                    /* now */
	bool foreign;                   /* somebody else's state was there in between */
	bool dropped;                   /* another item is the same file */
	struct sha256 now;              /* of what exists */
	char *path;                     /* owned; canonical, where it is known */
	char *reason;                   /* owned; of LEFT and FAILED */
};

struct restore {
	struct checkpoints *checkpoints;
	struct note *notes;             /* from the one to go back to on */
	size_t note_count;
	const char *session;
	struct ledger *ledger;
	struct item *items;
	size_t count;
	json_t *index;                  /* path to number of its item */
	bool force;
};

static void restore_release(struct restore *restore)
{
	for (size_t i = 0; i < restore->count; i++) {
		free(restore->items[i].path);
		free(restore->items[i].reason);
	}
	free(restore->items);
	notes_free(restore->notes, restore->note_count);
	checkpoint_ledger_free(restore->ledger);
	json_decref(restore->index);
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

/* The first note of a file says what to go back to; later ones, who was at it since. */
static void restore_add_file(struct restore *restore, const struct note_file *file)
{
	const json_t *number = json_object_get(restore->index, file->path);
	struct item *item;

	if (!number) {
		json_object_set_new_nocheck(restore->index, file->path,
		                            json_integer((json_int_t)restore->count));
		restore->items[restore->count++] = (struct item){ .target = file,
			                                          .path = mem_strdup(file->path) };
		return;
	}
	item = &restore->items[json_integer_value(number)];
	if (file->existed &&
	    !(item->target->existed && sha256_eq(&file->sha256, &item->target->sha256)) &&
	    !checkpoint_ledger_has(restore->ledger, file->path, &file->sha256))
		item->foreign = true;
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
	struct item *item = &restore->items[i];
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

static void leave_item(struct item *item, const char *reason)
{
	item->action = LEFT;
	item->reason = mem_strdup(reason);
}

static void decide_action(const struct restore *restore, struct item *item)
{
	const struct note_file *target = item->target;
	bool ours = item->exists && !item->foreign &&
	            checkpoint_ledger_has(restore->ledger, item->path, &item->now);

	if (item->action == FAILED)
		return;
	if (target->not_kept)
		leave_item(item, target->not_kept);
	else if (item->exists == target->existed &&
	         (!item->exists || sha256_eq(&item->now, &target->sha256)))
		item->action = UNCHANGED;
	else if (!item->exists)
		item->action = CREATE;
	else if (target->existed && (ours || restore->force))
		item->action = RESTORE;
	else if (target->existed)
		leave_item(item,
		           "It has changes that are not of this session's edits; they would be "
		            "lost. Restoring with force replaces it all the same.");
	else if (ours)
		item->action = REMOVE;
	else
		leave_item(item,
		           "It was not there, but what it has now is not what an edit of this "
		            "session made; it is not removed.");
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

static bool does_something(const struct item *item)
{
	return !item->dropped &&
	       (item->action == RESTORE || item->action == CREATE || item->action == REMOVE);
}

/* What is replaced is kept as an edit's would be. */
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
	       checkpoints_keep(restore->checkpoints, &keeping, ret_undo, err);
}

static bool read_kept_content(struct restore *restore, const struct note_file *file,
                              struct buf *out,
                              struct err *err)
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

static bool apply_item(struct restore *restore, const struct item *item, struct err *err)
{
	static const enum change_kind kinds[] =
		{ [RESTORE] = CHANGE_WRITE, [CREATE] = CHANGE_CREATE,
		                                  [REMOVE] = CHANGE_DELETE };
	struct provider *provider = restore->checkpoints->options.provider;
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_CHECKPOINT_FILE_BYTES);
	struct edit_options options = { 0 };
	struct change_result result = { 0 };
	struct change change = { .kind = kinds[item->action], .path = item->path,
		                 .base = item->exists ? &item->now : NULL,
		                 .bytes = item->action != REMOVE };
	bool ok;

	if (item->action != REMOVE) {
		if (!read_kept_content(restore, item->target, &text, err))
			return false;
		change.text = buf_view(&text);
		change.expect = &item->target->sha256;
	}
	ok = provider->ops->edit(provider, &change, 1, &options, &result, err);
	change_result_release(&result);
	return ok;
}

static void carry_out(struct restore *restore, struct item *item)
{
	struct err err = ERR_INIT;

	if (!apply_item(restore, item, &err)) {
		item->action =
			err.code == ERR_STATE_MISMATCH || err.code == ERR_FILE_EXISTS ? LEFT :
		                                                                        FAILED;
		item->reason = mem_strdup(err.message);
		return;
	}
	if (item->action != REMOVE &&
	    !checkpoints_wrote(restore->checkpoints, restore->session, item->path,
	                       &item->target->sha256, &err))
		item->reason = mem_strdup(err.message);
}

static json_t *item_json(const struct item *item)
{
	json_t *object = json_object();
	bool done = item->action == RESTORE || item->action == CREATE;

	json_object_set_new(object, "path", json_name(item->path));
	json_object_set_new(object, "action", json_string(action_names[item->action]));
	if (done)
		json_object_set_new(object, "sha256", json_sha256(&item->target->sha256));
	else if (item->exists && item->action != REMOVE)
		json_object_set_new(object, "sha256", json_sha256(&item->now));
	if (item->exists && (item->action == RESTORE || item->action == REMOVE))
		json_object_set_new(object, "replaced_sha256", json_sha256(&item->now));
	if (item->reason)
		json_object_set_new(object, "reason", json_text(span_str(item->reason)));
	return object;
}

static json_t *result_json(const struct restore *restore, const char *id, const char *undo)
{
	json_t *result = json_object(), *files = json_array();
	bool success = true;

	for (size_t i = 0; i < restore->count; i++) {
		const struct item *item = &restore->items[i];

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

	if (!plan_restore(&restore, id, err) || !keep_present(&restore, &undo, err))
		return false;
	for (size_t i = 0; i < restore.count; i++)
		if (does_something(&restore.items[i]))
			carry_out(&restore, &restore.items[i]);
	*ret = result_json(&restore, restore.notes[first_note(&restore, id)].id, undo);
	return true;
}

/* ---- of a session ------------------------------------------------------------ */

enum { DAY_MS = 24 * 60 * 60 * 1000 };

struct checkpoint_session {
	struct home *home; /* its own: calls come on several threads */
	struct checkpoints *checkpoints;
	struct bus *bus;
	unsigned subscription;
};

static void take_result(void *data, enum bus_topic topic, const json_t *message)
{
	struct checkpoint_session *session = data;

	(void)topic;
	checkpoints_after_edit(session->checkpoints,
	                       json_string_value(json_object_get(message, "callId")),
	                       json_object_get(message, "result"));
}

static void prune_old_checkpoints(const struct checkpoint_session *session,
                                  const struct checkpoint_session_options *options)
{
	int64_t days = settings_integer(options->settings, "hasp.checkpoints.keepDays", 0);
	struct err err = ERR_INIT;
	size_t count;

	if (days <= 0 || days > INT32_MAX)
		return;
	if (!checkpoints_prune(session->checkpoints, (int64_t)time(NULL) * 1000 - days * DAY_MS,
	                       &count, &err) && options->notice)
		options->notice(options->data, "warning", err.message);
}

struct checkpoint_session *checkpoint_session_begin(
	const struct checkpoint_session_options *options)
{
	const char *durability = settings_string(options->settings, "hasp.durability", "full");
	const char *root = options->provider->ops->root(options->provider, 0);
	struct checkpoints_options own = { .provider = options->provider,
		                           .session_id = options->session_id,
		                           .durable = strcmp(durability, "full") == 0,
		                           .notice = options->notice, .data = options->data,
		                           .cancel = options->cancel,
		                           .lock_wait_ms =
		                                   settings_lock_wait_ms(options->settings) };
	struct checkpoint_session *session;
	struct err err = ERR_INIT;

	if (!settings_bool(options->settings, "general.checkpointing.enabled", false))
		return NULL;
	if (!home_open(root, &own.home, &err)) {
		if (options->notice)
			options->notice(options->data, "warning", err.message);
		return NULL;
	}
	session = mem_alloc(1, sizeof(*session));
	session->home = own.home;
	session->checkpoints = checkpoints_open(&own);
	session->bus = options->bus;
	session->subscription = bus_subscribe(options->bus, BUS_TOOL_RESULT, take_result, session);
	prune_old_checkpoints(session, options);
	return session;
}

struct checkpoints *checkpoint_session_of(const struct checkpoint_session *session)
{
	return session ? session->checkpoints : NULL;
}

void checkpoint_session_end(struct checkpoint_session *session)
{
	if (!session)
		return;
	bus_unsubscribe(session->bus, session->subscription);
	checkpoints_close(session->checkpoints);
	home_free(session->home);
	free(session);
}
