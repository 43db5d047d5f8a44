/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are open in the editor and not saved: a provider in front of the workspace's
 * (worker/interpose.h) that asks the editor for each text file that a tool reads or edits.
 *
 *     editor has no such file, or the text that is on disk   the workspace's provider answers
 *     it answers with another error                          that is its no, in its words
 *     it has another text (line endings and a mark aside)    that is read, with its hash; an edit
 *                                                            is computed on it, and goes to the
 *                                                            editor by fs/write_text_file
 *     that, and the file on disk has changed since the       it can be read, not edited
 *     editor's text was met first
 *
 * An edit is computed where edits of files are: the editor's text is put into a folder of hasp's
 * with a separate confined worker, and the result read back.  What the editor has just before it
 * is written to is compared with that text, and what it has afterwards with what was written.
 *
 * What tools of the model search and list, and what commands see, is the disk.
 *
 * Runs on the threads of tools, which wait for the loop's. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acp/private.h"
#include "agent/session/record.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "config/home.h"
#include "data/json.h"
#include "worker/front/open.h"
#include "worker/interpose.h"

enum {
	EDITOR_WAIT_MS = 30000, /* for an answer about a file */
	BUFFERS_MAX = 4096,     /* files that are remembered */
	EDITOR_WORDS_MAX = 200, /* bytes of what it says when it refuses */
};

struct acp_buffers {
	struct interposer front;    /* first */
	struct acp_session *session;
	pthread_mutex_t lock;       /* of all that follows */
	pthread_cond_t answered;    /* some ask is done */
	char *folder;               /* owned; the texts' own; NULL: not made yet */
	struct provider *own;       /* of that folder */
	unsigned last;              /* the number of the last text in it */
	json_t *seen;               /* owned; the hash on disk when a file's other text was met
	                             * first, by path */
	json_t *torn;               /* owned; paths that it has changed for since, for the user */
};

static struct acp_buffers *acp_buffers_of(struct provider *provider)
{
	return (struct acp_buffers *)provider;
}

/* ---- asking the editor ----------------------------------------------------------- */

/* A request for the loop's thread to send; on the stack of a thread that waits for it. */
struct acp_file_ask {
	struct loop_task task;
	struct acp_file_ask *next;  /* in acp_session.file_asks */
	struct acp_buffers *buffers;
	const char *method;
	json_t *params;             /* taken by the request */
	int64_t id;
	struct loop_timer *timer;
	/* Read when `is_done`, under the lock. */
	bool is_done;
	json_t *result, *error;     /* owned; one of them, or neither */
};

/* Wakes the thread, whose `ask` may no longer exist when this returns. */
static void acp_file_ask_end(struct acp_file_ask *ask, const json_t *result, const json_t *error)
{
	struct acp_buffers *buffers = ask->buffers;

	for (struct acp_file_ask **link = &buffers->session->file_asks; *link;
	     link = &(*link)->next)
		if (*link == ask) {
			*link = ask->next;
			break;
		}
	loop_timer_stop(ask->timer);
	pthread_mutex_lock(&buffers->lock);
	ask->result = json_incref((json_t *)result);
	ask->error = json_incref((json_t *)error);
	ask->is_done = true;
	pthread_cond_broadcast(&buffers->answered);
	pthread_mutex_unlock(&buffers->lock);
}

/* As acp_replied. */
static void acp_file_replied(void *data, const json_t *result, const json_t *error)
{
	acp_file_ask_end(data, result, error);
}

static void acp_file_ask_late(void *data)
{
	struct acp_file_ask *ask = data;

	acp_forget(ask->buffers->session->acp, ask->id);
	acp_file_ask_end(ask, NULL, NULL);
}

static void acp_file_ask_send(struct loop_task *task)
{
	struct acp_file_ask *ask =
		(struct acp_file_ask *)((char *)task - offsetof(struct acp_file_ask, task));
	struct acp_session *session = ask->buffers->session;

	if (session->state == ACP_CLOSING || session->is_cancelling || session->acp->is_broken) {
		json_decref(ask->params);
		acp_file_ask_end(ask, NULL, NULL);
		return;
	}
	ask->next = session->file_asks;
	session->file_asks = ask;
	ask->timer = loop_timer_start(session->acp->loop, EDITOR_WAIT_MS, 0, acp_file_ask_late,
	                              ask);
	ask->id = acp_request_client(session->acp, ask->method, ask->params, acp_file_replied, ask);
}

void acp_buffers_drop(struct acp_session *session)
{
	while (session->file_asks)
		acp_file_ask_late(session->file_asks);
}

/* Waits for the answer; takes `params`.  False: there is none.  Else one of the two is a new
 * reference: *ret, the result, or *ret_error. */
static bool acp_ask_editor(struct acp_buffers *buffers, const char *method, json_t *params,
                           json_t **ret, json_t **ret_error)
{
	struct acp_file_ask ask = { .task.run = acp_file_ask_send, .buffers = buffers,
		                    .method = method, .params = params };

	loop_post(buffers->session->acp->loop, &ask.task);
	pthread_mutex_lock(&buffers->lock);
	while (!ask.is_done)
		pthread_cond_wait(&buffers->answered, &buffers->lock);
	pthread_mutex_unlock(&buffers->lock);
	*ret = ask.result;
	*ret_error = ask.error;
	return ask.result || ask.error;
}

/* The path as the editor has it, which gave the folder's name; the caller frees. */
static char *acp_editor_path(const struct acp_buffers *buffers, const char *path)
{
	const struct acp_session *session = buffers->session;
	const char *folder = session_folder(session->session);
	const size_t len = strlen(folder);

	return strncmp(path, folder, len) || path[len] != '/' ?
	               mem_strdup(path) :
	               path_join(acp_text(session->params, "cwd"), path + len + 1);
}

static json_t *acp_file_params(const struct acp_buffers *buffers, const char *path)
{
	_cleanup_free_ char *shown = acp_editor_path(buffers, path);

	return json_pack("{s:s, s:o}", "sessionId", buffers->session->id, "path",
	                 json_text(span_str(shown)));
}

/* Whether an editor says by it that it has not the file, or reads none; everything else is a no. */
static bool acp_has_no_text(const json_t *error)
{
	const json_int_t code = json_integer_value(json_object_get(error, "code"));

	return code == ACP_NOT_FOUND || code == RPC_METHOD_NOT_FOUND;
}

/* The editor's text of a file; a new reference.  NULL and no error: it has none.  BUSY: it did not
 * answer; PERMISSION_DENIED: it refused. */
static json_t *acp_editor_text(struct acp_buffers *buffers, const char *path, struct err *err)
{
	json_t *params = acp_file_params(buffers, path), *text;
	json_auto_t *result = NULL, *error = NULL;

	if (!acp_ask_editor(buffers, "fs/read_text_file", params, &result, &error)) {
		err_set(err, ERR_BUSY, "The editor did not say whether it has unsaved changes of "
		        "%s.", path);
		return NULL;
	}
	if (error && !acp_has_no_text(error)) {
		const char *said = acp_text(error, "message");

		err_set(err, ERR_PERMISSION_DENIED, "The editor refused to give %s: \"%.*s\".",
		        path, EDITOR_WORDS_MAX, said ? said : "");
		return NULL;
	}
	text = json_object_get(result, "content");
	return json_is_string(text) ? json_incref(text) : NULL;
}

/* ---- what differs ---------------------------------------------------------------- */

/* What editors do to a text that they open: a byte-order mark and CR before LF go. */
static bool acp_same_text(struct span disk, struct span editor)
{
	disk = utf8_skip_mark(disk);
	editor = utf8_skip_mark(editor);
	for (;;) {
		if (span_starts(disk, SPAN("\r\n")))
			disk = span_skip(disk, 1);
		if (span_starts(editor, SPAN("\r\n")))
			editor = span_skip(editor, 1);
		if (!disk.len || !editor.len)
			return disk.len == editor.len;
		if (disk.data[0] != editor.data[0])
			return false;
		disk = span_skip(disk, 1);
		editor = span_skip(editor, 1);
	}
}

/* A file of the workspace as both have it. */
struct acp_buffer {
	char *path;          /* owned; canonical */
	json_t *text;        /* owned; the editor's, where it differs; NULL: the disk counts */
	bool is_torn;        /* the disk has changed since it was met first */
};

static void acp_buffer_release(struct acp_buffer *buffer)
{
	free(buffer->path);
	json_decref(buffer->text);
}

/* The user has to choose between two texts. */
static void acp_say_torn(const struct acp_buffers *buffers, const char *path)
{
	_cleanup_free_ char *text = mem_printf(
		"%s has unsaved changes in the editor and was changed on disk, too. It can be read "
		"as it is in the editor, and not edited, until you save or reload it there.", path);
	json_auto_t *notice = json_pack("{s:s, s:o}", "severity", "warning", "message",
	                                json_text(span_str(text)));

	bus_publish(host_bus(session_host(buffers->session->session)), BUS_NOTICE, notice);
}

/* Remembers what the disk had when the editor's other text was met first. */
static bool acp_disk_changed(struct acp_buffers *buffers, const char *path,
                             const struct sha256 *disk)
{
	char hex[SHA256_HEX_SIZE];
	const char *seen;
	bool changed, is_new;

	sha256_hex(disk, hex);
	pthread_mutex_lock(&buffers->lock);
	seen = acp_text(buffers->seen, path);
	if (!seen && json_object_size(buffers->seen) < BUFFERS_MAX)
		json_object_set_new_nocheck(buffers->seen, path, json_string(hex));
	changed = seen && strcmp(seen, hex) != 0;
	is_new = changed && !json_object_get(buffers->torn, path);
	if (is_new)
		json_object_set_new_nocheck(buffers->torn, path, json_true());
	pthread_mutex_unlock(&buffers->lock);
	if (is_new)
		acp_say_torn(buffers, path);
	return changed;
}

static void acp_disk_counts(struct acp_buffers *buffers, const char *path)
{
	pthread_mutex_lock(&buffers->lock);
	json_object_del(buffers->seen, path);
	json_object_del(buffers->torn, path);
	pthread_mutex_unlock(&buffers->lock);
}

/* Whether the editor is asked about it: not before the session is there, and not about git's own
 * files. */
static bool acp_is_asked(const struct acp_buffers *buffers, const char *path)
{
	return atomic_load(&buffers->session->asks_files) && !strstr(path, "/.git/");
}

/* Compares the editor's text (taken) with the file's, whose whole content is read for that. */
static void acp_buffer_compare(struct acp_buffers *buffers, const char *path, json_t *text,
                               struct acp_buffer *ret)
{
	const struct read_request request = { .path = path, .whole = true };
	struct read_result disk = { 0 };
	struct err ignored = ERR_INIT;

	ret->path = mem_strdup(path);
	if (!provider_read(buffers->front.base, &request, &disk, &ignored) ||
	    disk.kind != READ_TEXT ||
	    acp_same_text(buf_view(&disk.content), json_span(text))) {
		acp_disk_counts(buffers, path);
	} else {
		ret->text = json_incref(text);
		ret->is_torn = acp_disk_changed(buffers, path, &disk.state.sha256);
	}
	json_decref(text);
	read_result_release(&disk);
}

/* What the editor has of a text file whose state on the disk is known. False: *err. */
static bool acp_buffer_look(struct acp_buffers *buffers, const struct file_state *disk,
                            struct acp_buffer *ret, struct err *err)
{
	struct err asked = ERR_INIT;
	struct sha256 hash;
	json_t *text;

	*ret = (struct acp_buffer){ 0 };
	if (!acp_is_asked(buffers, disk->path))
		return true;
	text = acp_editor_text(buffers, disk->path, &asked);
	if (!text) {
		if (asked.code != ERR_NONE)
			*err = asked;
		return asked.code == ERR_NONE;
	}
	hash = sha256_of(json_span(text));
	if (!sha256_eq(&hash, &disk->sha256)) {
		acp_buffer_compare(buffers, disk->path, text, ret);
		return true;
	}
	acp_disk_counts(buffers, disk->path);
	json_decref(text);
	return true;
}

/* The same of a file that a change names; one that is missing, or no text, is the disk's. */
static bool acp_buffer_find(struct acp_buffers *buffers, const char *path,
                            struct acp_buffer *ret, struct err *err)
{
	const struct read_request request = { .path = path, .max_lines = 1 };
	struct read_result disk = { 0 };
	struct err ignored = ERR_INIT;
	bool ok = true;

	*ret = (struct acp_buffer){ 0 };
	if (provider_read(buffers->front.base, &request, &disk, &ignored) &&
	    disk.kind == READ_TEXT)
		ok = acp_buffer_look(buffers, &disk.state, ret, err);
	read_result_release(&disk);
	return ok;
}

/* ---- the texts' own folder -------------------------------------------------------- */

/* Under the lock. */
static bool acp_folder_open(struct acp_buffers *buffers, struct err *err)
{
	const struct settings *settings = session_settings(buffers->session->session);
	_cleanup_free_ char *id = record_new_id();
	_cleanup_free_ char *name = mem_printf("hasp-buffers-%s", id);
	const struct provider_info *info = buffers->front.base->ops->info(buffers->front.base);
	const char *roots[1];
	struct worker_options options = { .roots = roots, .root_count = 1,
		                          .durability = DURABILITY_RENAME,
		                          .program = buffers->session->request.program };

	if (buffers->own)
		return true;
	if (!buffers->folder)
		buffers->folder = home_make(home_gemini(settings_home(settings)), name, err);
	if (!buffers->folder)
		return false;
	roots[0] = buffers->folder;
	return info->level == SANDBOX_PATHS ? local_provider_none(&options, &buffers->own, err) :
	                                      local_provider(&options, &buffers->own, err);
}

/* Puts the text there, under the file's own name; *ret_path, the caller's, is where. */
static bool acp_text_put(struct acp_buffers *buffers, const struct acp_buffer *buffer,
                         char **ret_path, struct err *err)
{
	struct change change = { .kind = CHANGE_CREATE, .bytes = true,
		                 .text = json_span(buffer->text) };
	const struct edit_options options = { .no_make_folders = true };
	const char *name = strrchr(buffer->path, '/');
	struct change_result result = { 0 };
	bool ok;

	pthread_mutex_lock(&buffers->lock);
	ok = acp_folder_open(buffers, err);
	if (ok)
		*ret_path = mem_printf("%s/%u-%s", buffers->folder, ++buffers->last,
		                       name ? name + 1 : buffer->path);
	pthread_mutex_unlock(&buffers->lock);
	if (!ok)
		return false;
	change.path = *ret_path;
	ok = provider_edit(buffers->own, &change, 1, &options, &result, err);
	change_result_release(&result);
	return ok;
}

/* Removes the text that is there now. */
static void acp_text_remove(struct acp_buffers *buffers, const char *path)
{
	const struct read_request request = { .path = path, .bytes = true };
	const struct edit_options options = { 0 };
	struct change change = { .kind = CHANGE_DELETE, .path = path };
	struct change_result result = { 0 };
	struct read_result now = { 0 };
	struct err ignored = ERR_INIT;

	if (!path)
		return;
	if (provider_read(buffers->own, &request, &now, &ignored)) {
		change.base = &now.state.sha256;
		provider_edit(buffers->own, &change, 1, &options, &result, &ignored);
		change_result_release(&result);
	}
	read_result_release(&now);
}

/* ---- reading ---------------------------------------------------------------------- */

static void acp_state_name(struct file_state *state, const char *path)
{
	free(state->path);
	state->path = mem_strdup(path);
}

/* A sentence about the text's own place is one about the file. */
static void acp_err_name(struct err *err, const char *own, const char *path)
{
	char *at = strstr(err->message, own);
	_cleanup_free_ char *text =
		at ? mem_printf("%.*s%s%s", (int)(at - err->message), err->message, path,
	                        at + strlen(own)) : NULL;

	if (text)
		err_set(err, err->code, "%s", text);
}

static bool acp_read_buffer(struct acp_buffers *buffers, const struct acp_buffer *buffer,
                            const struct read_request *request, struct read_result *ret,
                            struct err *err)
{
	_cleanup_free_ char *own = NULL;
	struct read_request there = *request;
	bool ok;

	*ret = (struct read_result){ 0 };
	if (!acp_text_put(buffers, buffer, &own, err))
		return false;
	there.path = own;
	there.gemini_ignore = false;
	there.ignore_file_count = 0;
	ok = provider_read(buffers->own, &there, ret, err);
	acp_state_name(&ret->state, buffer->path);
	if (!ok)
		acp_err_name(err, own, buffer->path);
	acp_text_remove(buffers, own);
	return ok;
}

/* As interposed_files.read. */
static bool acp_buffers_read(struct provider *provider, const struct read_request *request,
                             struct read_result *ret, struct err *err)
{
	struct acp_buffers *buffers = acp_buffers_of(provider);
	struct acp_buffer buffer = { 0 };
	bool ok = provider_read(buffers->front.base, request, ret, err);

	if (!ok || ret->kind != READ_TEXT || request->resolve || request->bytes || request->raw)
		return ok;
	ok = acp_buffer_look(buffers, &ret->state, &buffer, err);
	if (!ok || buffer.text) {
		read_result_release(ret);
		*ret = (struct read_result){ 0 };
	}
	if (ok && buffer.text)
		ok = acp_read_buffer(buffers, &buffer, request, ret, err);
	acp_buffer_release(&buffer);
	return ok;
}

/* ---- editing ---------------------------------------------------------------------- */

/* The editor still has the text that the edit was computed on, takes what it makes, and has that
 * then. */
static bool acp_buffer_write(struct acp_buffers *buffers, const struct acp_buffer *buffer,
                             struct span made, struct err *err)
{
	json_auto_t *before = acp_editor_text(buffers, buffer->path, err), *after = NULL;
	json_auto_t *result = NULL, *error = NULL;
	json_t *params;

	if (err->code != ERR_NONE)
		return false;
	if (!json_equal(before, buffer->text))
		return err_set(err, ERR_STATE_MISMATCH, "State Mismatch: File has changed on disk "
		               "since it was last read. It was changed in the editor just now.");
	params = acp_file_params(buffers, buffer->path);
	json_object_set_new(params, "content", json_text(made));
	if (!acp_ask_editor(buffers, "fs/write_text_file", params, &result, &error) ||
	    error)
		return err_set(err, ERR_BUSY, "%s has unsaved changes in the editor, and the "
		               "editor did not take the edit.", buffer->path);
	after = acp_editor_text(buffers, buffer->path, err);
	if (err->code != ERR_NONE)
		return false;
	return (after && acp_same_text(made, json_span(after))) ||
	       err_set(err, ERR_STATE_MISMATCH, "State Mismatch: File has changed on disk since "
	               "it was last read. The editor took the edit and has another text of %s "
	               "now.", buffer->path);
}

/* Why a file with unsaved changes cannot be edited so; NULL: it can. */
static const char *acp_buffer_fault(const struct acp_buffers *buffers,
                                    const struct acp_buffer *buffer,
                                    const struct change *change, size_t count)
{
	if (buffer->is_torn)
		return "has unsaved changes in the editor and was changed on disk, too. Have the "
		       "user save it or load it again in the editor";
	if (!buffers->session->acp->client.writes_files)
		return "has unsaved changes in the editor, which takes no edits. Have the user "
		       "save it";
	if (change->kind == CHANGE_DELETE || change->kind == CHANGE_MOVE)
		return "has unsaved changes in the editor. Have the user save it before it is "
		       "moved or deleted";
	return count > 1 ? "has unsaved changes in the editor, which cannot be made together with "
	                   "changes of other files. Edit it alone" : NULL;
}

static bool acp_results_fail(struct change_result *results, size_t count, const struct err *err)
{
	for (size_t i = 0; i < count; i++)
		results[i] = (struct change_result){ .err = *err };
	return false;
}

/* What was done with the text's own copy is the result for the file. */
static void acp_result_name(struct change_result *result, const char *own, const char *path,
                            bool with_content)
{
	acp_state_name(&result->before, path);
	acp_state_name(&result->state, path);
	acp_err_name(&result->err, own, path);
	if (!with_content)
		buf_clear(&result->content);
	if (!result->done && result->err.code == ERR_STATE_MISMATCH && !result->note[0])
		snprintf(result->note, sizeof(result->note), "The file has unsaved changes in the "
		         "editor; this is its text there.");
}

static bool acp_edit_buffer(struct acp_buffers *buffers, const struct acp_buffer *buffer,
                            const struct change *change, const struct edit_options *options,
                            struct change_result *result, struct err *err)
{
	_cleanup_free_ char *own = NULL;
	struct edit_options there = *options;
	struct change moved = *change;
	bool ok;

	if (change->resolved && strcmp(change->resolved, buffer->path) != 0)
		err_set(err, ERR_STATE_MISMATCH, "%s leads to another file by now.", change->path);
	if (err->code != ERR_NONE || !acp_text_put(buffers, buffer, &own, err))
		return acp_results_fail(result, 1, err);
	moved.path = own;
	moved.resolved = NULL;
	there.want_content = true;
	there.max_content_bytes = 0;
	ok = provider_edit(buffers->own, &moved, 1, &there, result, err);
	if (ok && !options->dry_run && !result->already) {
		ok = acp_buffer_write(buffers, buffer, buf_view(&result->content), err);
		if (!ok) {
			result->done = false;
			result->err = *err;
			result->state_known = false;
		}
	}
	acp_result_name(result, own, buffer->path, options->want_content);
	if (!ok)
		acp_err_name(err, own, buffer->path);
	acp_text_remove(buffers, own);
	return ok;
}

/* As interposed_files.edit. */
static bool acp_buffers_edit(struct provider *provider, const struct change *changes,
                             size_t count, const struct edit_options *options,
                             struct change_result *results, struct err *err)
{
	struct acp_buffers *buffers = acp_buffers_of(provider);
	struct acp_buffer buffer = { 0 };
	bool ok = true;

	for (size_t i = 0; i < count && ok && !buffer.text; i++) {
		const struct change *change = &changes[i];
		const char *fault;

		acp_buffer_release(&buffer);
		ok = acp_buffer_find(buffers, change->path, &buffer, err);
		fault = ok && buffer.text ?
		                acp_buffer_fault(buffers, &buffer, change, count) : NULL;
		if (fault)
			ok = err_set(err, ERR_BUSY, "%s %s.", change->path, fault);
	}
	if (!ok)
		acp_results_fail(results, count, err);
	else if (buffer.text)
		ok = acp_edit_buffer(buffers, &buffer, changes, options, results, err);
	else
		ok = provider_edit(buffers->front.base, changes, count, options, results, err);
	acp_buffer_release(&buffer);
	return ok;
}

/* ---- the provider ------------------------------------------------------------------ */

static bool acp_buffers_outside(struct provider *provider, const struct outside_request *request,
                                struct provider **ret, struct err *err)
{
	struct provider *base = acp_buffers_of(provider)->front.base;

	return base->ops->outside(base, request, ret, err);
}

static void acp_buffers_free(struct provider *provider)
{
	struct acp_buffers *buffers = acp_buffers_of(provider);

	provider_free(buffers->own);
	if (buffers->folder)
		rmdir(buffers->folder);
	pthread_mutex_destroy(&buffers->lock);
	pthread_cond_destroy(&buffers->answered);
	json_decref(buffers->seen);
	json_decref(buffers->torn);
	free(buffers->folder);
	free(buffers);
}

struct provider *acp_buffers_new(void *data, struct provider *base)
{
	struct acp_buffers *buffers = mem_alloc(1, sizeof(*buffers));
	const struct interposed_files files = { acp_buffers_read, acp_buffers_edit };
	const struct provider_ops own = {
		.free = acp_buffers_free,
		.outside = base->ops->outside ? acp_buffers_outside : NULL,
	};

	interpose_init(&buffers->front, base, &files, &own);
	buffers->session = data;
	buffers->seen = json_object();
	buffers->torn = json_object();
	pthread_mutex_init(&buffers->lock, NULL);
	pthread_cond_init(&buffers->answered, NULL);
	return &buffers->front.provider;
}
