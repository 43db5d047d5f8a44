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
#include "data/json.h"

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
	if (!session_read(record_path(host->chat.record), &read, err))
		return NULL;
	prompts = session_prompts(&read);
	session_read_release(&read);
	return prompts;
}

json_t *host_messages(struct host *host, struct err *err)
{
	struct session_read read;
	json_t *messages;

	if (!record_whole(host->chat.record, err))
		return NULL;
	if (access(record_path(host->chat.record), F_OK) != 0)
		return json_array();
	if (!session_read(record_path(host->chat.record), &read, err))
		return NULL;
	messages = json_incref(read.messages);
	session_read_release(&read);
	return messages;
}

/* The conversation is what the file has now. */
static bool return_to_file(struct host *host, struct err *err)
{
	struct session_read read;

	if (!session_read(record_path(host->chat.record), &read, err))
		return false;
	record_know(host->chat.record, read.messages);
	agent_return(host->chat.agent, read.contents, read.sent);
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

/* The oldest checkpoint of these calls of this session; NULL: there is none. The caller frees. */
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

/* Files as they were before these calls. */
static bool rewind_files(struct host *host, const json_t *calls, json_t **ret, struct err *err)
{
	struct err why = ERR_INIT;
	_cleanup_free_ char *checkpoint = NULL;

	if (!host->chat.checkpoints)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Files cannot go back: no checkpoints are kept "
		               "(general.checkpointing.enabled).");
	checkpoint = first_checkpoint(host, calls, &why);
	if (!checkpoint && why.code) {
		*err = why;
		return false;
	}
	return !checkpoint || checkpoints_restore(checkpoint_session_of(host->chat.checkpoints),
	                                          checkpoint, false, ret, err);
}

bool host_rewind(struct host *host, const char *id, bool files, struct host_rewound *ret,
                 struct err *err)
{
	struct rewound *undo = &host->chat.rewound;
	json_auto_t *calls = json_object();
	struct host_rewound done = { 0 };
	const bool again = undo->can && !agent_has_moved(host->chat.agent);
	struct session_read read;
	size_t mark;
	bool ok;

	if (!record_whole(host->chat.record, err) ||
	    !session_read(record_path(host->chat.record), &read, err))
		return false;
	done.text = look_up_prompt(&read, id, calls);
	session_read_release(&read);
	ok = done.text || err_set(err, ERR_INVALID_ARGUMENT, "There is no such prompt.");
	ok = ok && (!files || rewind_files(host, calls, &done.files, err));
	ok = ok && record_rewind(host->chat.record, id, &mark, err) && return_to_file(host, err);
	if (!ok) {
		host_rewound_release(&done);
		return false;
	}
	/* Of several in a row, the first is where an undo leads to. */
	undo->mark = again ? undo->mark : mark;
	undo->can = true;
	free(undo->checkpoint);
	undo->checkpoint = mem_strdup(json_string_value(json_object_get(done.files, "undo")));
	*ret = done;
	return true;
}

bool host_rewind_undo(struct host *host, struct host_rewound *ret, struct err *err)
{
	struct rewound *undo = &host->chat.rewound;
	json_t *files = NULL;

	if (!undo->can || agent_has_moved(host->chat.agent))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               undo->can ? "Something was sent since; it cannot be undone." :
		               "There is nothing to undo.");
	if (undo->checkpoint &&
	    !checkpoints_restore(checkpoint_session_of(host->chat.checkpoints), undo->checkpoint,
	                         false, &files, err))
		return false;
	if (!record_undo_rewind(host->chat.record, undo->mark, err) || !return_to_file(host, err)) {
		json_decref(files);
		return false;
	}
	free(undo->checkpoint);
	*undo = (struct rewound){ 0 };
	*ret = (struct host_rewound){ .files = files };
	return true;
}
