/* SPDX-License-Identifier: Apache-2.0 */
/* Back to an earlier prompt, and back again. */
#include "agent/host/host.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/checkpoint/checkpoint.h"
#include "agent/host/private.h"
#include "agent/session/sessions.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

enum { TITLE_BYTES = 100 };

void host_rewound_release(struct host_rewound *rewound)
{
	free(rewound->text);
	json_decref(rewound->files);
	*rewound = (struct host_rewound){ 0 };
}

json_t *host_prompts(struct host *host, struct err *err)
{
	struct session_read read;
	json_t *prompts;

	if (!record_whole(host->chat.record, err))
		return NULL;
	if (access(record_path(host->chat.record), F_OK) != 0)
		return json_array(); /* nothing was said yet */
	if (!session_read_file(record_path(host->chat.record), &read, err))
		return NULL;
	prompts = session_prompts(&read);
	session_read_release(&read);
	return prompts;
}

bool host_rename(struct host *host, struct span title, struct err *err)
{
	title = utf8_head(span_trim(title), TITLE_BYTES);
	if (!title.len || access(record_path(host->chat.record), F_OK) != 0)
		return err_set(err, ERR_INVALID_ARGUMENT, title.len ?
		               "Nothing was said in this session yet." :
		               "A title has something in it.");
	record_title(host->chat.record, title);
	return record_whole(host->chat.record, err);
}

json_t *host_messages(struct host *host, struct err *err)
{
	struct session_read read;
	json_t *messages;

	if (!record_whole(host->chat.record, err))
		return NULL;
	if (access(record_path(host->chat.record), F_OK) != 0)
		return json_array();
	if (!session_read_file(record_path(host->chat.record), &read, err))
		return NULL;
	messages = json_incref(read.messages);
	session_read_release(&read);
	return messages;
}

/* The conversation is what the file has now. */
static bool return_to_file(struct host *host, struct err *err)
{
	struct session_read read;

	if (!session_read_file(record_path(host->chat.record), &read, err))
		return false;
	record_know(host->chat.record, read.messages);
	agent_return(host->chat.agent, read.contents, read.sent);
	host_recall_todos(host);
	session_read_release(&read);
	return true;
}

/* The text of the prompt with this id, and in *ret_calls the ids of all calls after it. NULL: there
 * is none. */
static char *look_up_prompt(const struct session_read *read, const char *id, json_t *ret_calls)
{
	json_auto_t *prompts = session_prompts(read);
	json_t *one, *message, *call;
	char *text = NULL;
	bool after = false;
	size_t i, k;

	json_array_foreach(prompts, i, one)
		if (!strcmp(json_string_value(json_object_get(one, "id")), id))
			text = mem_strdup(json_string_value(json_object_get(one, "text")));
	json_array_foreach(read->messages, i, message) {
		const char *own = json_string_value(json_object_get(message, "id"));

		after = after || (own && !strcmp(own, id));
		json_array_foreach(json_object_get(message, "toolCalls"), k, call)
			if (after && json_is_string(json_object_get(call, "id")))
				json_object_set_new(ret_calls, json_string_value(
					json_object_get(call, "id")), json_true());
	}
	return text;
}

/* The oldest checkpoint of these calls of this session; NULL: none. The caller frees. */
static char *first_checkpoint(struct host *host, const json_t *calls, struct err *err)
{
	json_auto_t *notes = checkpoints_list(checkpoint_session_of(host->chat.checkpoints), err);
	size_t i;
	json_t *note;

	json_array_foreach(notes, i, note) {
		const char *session = json_string_value(json_object_get(note, "session"));
		const char *call = json_string_value(json_object_get(note, "callId"));

		if (session && call && !strcmp(session, record_session_id(host->chat.record)) &&
		    json_object_get(calls, call))
			return mem_strdup(json_string_value(json_object_get(note, "id")));
	}
	return NULL;
}

/* The checkpoint to go back to, for the caller, when it returns true; NULL: no file was edited by
 * these calls. */
static bool rewind_checkpoint(struct host *host, const json_t *calls, char **ret, struct err *err)
{
	struct err why = ERR_INIT;

	if (!host->chat.checkpoints)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Files cannot go back: no checkpoints are kept "
		               "(general.checkpointing.enabled).");
	*ret = first_checkpoint(host, calls, &why);
	if (!*ret && why.code) {
		*err = why;
		return false;
	}
	return true;
}

/* Files as they were before these calls. */
static bool rewind_files(struct host *host, const json_t *calls, json_t **ret, struct err *err)
{
	_cleanup_free_ char *checkpoint = NULL;

	return rewind_checkpoint(host, calls, &checkpoint, err) &&
	       (!checkpoint || checkpoints_restore(checkpoint_session_of(host->chat.checkpoints),
	                                           checkpoint, false, ret, err));
}

/* What the file has of the prompt; the text is the caller's, or NULL with *err. */
static char *read_prompt(struct host *host, const char *id, json_t *ret_calls, struct err *err)
{
	struct session_read read;
	char *text;

	if (!record_whole(host->chat.record, err) ||
	    !session_read_file(record_path(host->chat.record), &read, err))
		return NULL;
	text = look_up_prompt(&read, id, ret_calls);
	session_read_release(&read);
	if (!text)
		err_set(err, ERR_INVALID_ARGUMENT, "No such prompt.");
	return text;
}

static size_t count_prompts_from(struct host *host, const char *id)
{
	struct err ignored = ERR_INIT;
	json_auto_t *prompts = host_prompts(host, &ignored);
	size_t i;
	json_t *prompt;

	json_array_foreach(prompts, i, prompt)
		if (!strcmp(json_string_value(json_object_get(prompt, "id")), id))
			return json_array_size(prompts) - i;
	return 0;
}

json_t *host_rewind_preview(struct host *host, const char *id, struct err *err)
{
	json_auto_t *calls = json_object(), *shown = NULL;
	_cleanup_free_ char *text = read_prompt(host, id, calls, err), *checkpoint = NULL;
	struct err why = ERR_INIT;
	json_t *files, *preview;
	bool ok;

	if (!text)
		return NULL;
	ok = rewind_checkpoint(host, calls, &checkpoint, &why) &&
	     (!checkpoint || checkpoints_preview(checkpoint_session_of(host->chat.checkpoints),
	                                         checkpoint, &shown, &why));
	files = json_object_get(shown, "files");
	preview = json_pack("{s:o, s:I, s:O?}", "text", json_cstr(text), "prompts",
	                    (json_int_t)count_prompts_from(host, id), "files", files);
	if (ok && !files)
		json_object_set_new(preview, "files", json_array());
	else if (!ok)
		json_object_set_new(preview, "noFiles", json_cstr(why.message));
	return preview;
}

/* ---- there and back ---------------------------------------------------------------- */

void host_forget_rewinds(struct chat *chat)
{
	while (chat->rewound_count)
		free(chat->rewound[--chat->rewound_count].checkpoint);
}

/* Undoes the files of a rewind that failed later. `done` is the result of the restore, or NULL. */
static void put_files_back(struct host *host, const json_t *done)
{
	const char *undo = json_string_value(json_object_get(done, "undo"));
	json_auto_t *result = NULL;
	struct err ignored = ERR_INIT;

	if (undo)
		checkpoints_restore(checkpoint_session_of(host->chat.checkpoints), undo, false,
		                    &result, &ignored);
}

static void publish_rewind(const struct host *host, unsigned what)
{
	const char *word = what == REWIND_CONVERSATION ? "conversation" :
	                   what == REWIND_FILES ? "files" : "both";
	json_auto_t *message = json_pack("{s:s}", "what", word);

	bus_publish(host->bus, BUS_REWOUND, message);
}

bool host_rewind(struct host *host, const char *id, unsigned what, struct host_rewound *ret,
                 struct err *err)
{
	const bool conversation = what & REWIND_CONVERSATION;
	json_auto_t *calls = json_object();
	struct host_rewound done = { 0 };
	struct rewound way = { .conversation = conversation };
	const bool moved = agent_has_moved(host->chat.agent);
	const char *undo;
	bool ok;

	done.text = read_prompt(host, id, calls, err);
	ok = done.text && (!(what & REWIND_FILES) || rewind_files(host, calls, &done.files, err));
	ok = ok && (!conversation || record_rewind(host->chat.record, id, &way.mark, err));
	/* Of files alone, too: from here on it shows whether something is sent. */
	ok = ok && return_to_file(host, err);
	if (!ok) {
		put_files_back(host, done.files);
		host_rewound_release(&done);
		return false;
	}
	if (moved)
		host_forget_rewinds(&host->chat);
	if (!conversation) {
		free(done.text);
		done.text = NULL;
	}
	undo = json_string_value(json_object_get(done.files, "undo"));
	way.checkpoint = undo ? mem_strdup(undo) : NULL;
	host->chat.rewound = mem_grow(host->chat.rewound, &host->chat.rewound_cap,
	                              host->chat.rewound_count + 1, sizeof(*host->chat.rewound));
	host->chat.rewound[host->chat.rewound_count++] = way;
	publish_rewind(host, what);
	*ret = done;
	return true;
}

bool host_rewind_undo(struct host *host, struct host_rewound *ret, struct err *err)
{
	struct chat *chat = &host->chat;
	struct rewound *last = chat->rewound_count ? &chat->rewound[chat->rewound_count - 1] : NULL;
	json_t *files = NULL;

	if (!last || agent_has_moved(chat->agent))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               last ? "Something was sent since; it cannot be undone." :
		               "Nothing to undo.");
	if (last->checkpoint &&
	    !checkpoints_restore(checkpoint_session_of(chat->checkpoints), last->checkpoint, false,
	                         &files, err))
		return false;
	if ((last->conversation && !record_undo_rewind(chat->record, last->mark, err)) ||
	    !return_to_file(host, err)) {
		put_files_back(host, files);
		json_decref(files);
		return false;
	}
	free(last->checkpoint);
	chat->rewound_count--;
	*ret = (struct host_rewound){ .files = files };
	return true;
}
