/* SPDX-License-Identifier: Apache-2.0 */
/* What there is, and taking away what is old. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/checkpoint/private.h"
#include "base/mem.h"
#include "data/json.h"

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
static bool read_all(struct checkpoints *checkpoints, struct note **ret, size_t *ret_count,
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

	if (!read_all(checkpoints, &notes, &count, err))
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
	if (!read_all(checkpoints, &notes, &count, err))
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
