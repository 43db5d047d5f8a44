/* SPDX-License-Identifier: Apache-2.0 */
/* The list of checkpoints, what is too old in it; those of a session. */
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
	_cleanup_free_ char *written = mem_printf("%s" WRITTEN_REFERENCE, note->id);

	if (!repository_forget(checkpoints->repository, written, err) ||
	    !repository_forget(checkpoints->repository, note->id, err))
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
	                       &count, &err))
		notices_say(&options->notices, SEVERITY_WARNING, err.message);
}

struct checkpoint_session *checkpoint_session_begin(
	const struct checkpoint_session_options *options)
{
	const char *durability = settings_string(options->settings, "hasp.durability", "full");
	const char *root = options->provider->ops->root(options->provider, 0);
	struct checkpoints_options own = { .provider = options->provider,
		                           .session_id = options->session_id,
		                           .durable = strcmp(durability, "full") == 0,
		                           .notices = options->notices,
		                           .cancel = options->cancel,
		                           .lock_wait_ms =
		                                   settings_lock_wait_ms(options->settings) };
	struct checkpoint_session *session;
	struct err err = ERR_INIT;

	if (!settings_bool(options->settings, "general.checkpointing.enabled",
	                   options->wanted))
		return NULL;
	if (!home_open(root, &own.home, &err)) {
		notices_say(&options->notices, SEVERITY_WARNING, err.message);
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
