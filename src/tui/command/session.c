/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about sessions: others, this one's file, and ways back. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/checkpoint/checkpoint.h"
#include "agent/session/sessions.h"
#include "base/buf.h"
#include "base/door.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/command/private.h"

enum {
	TAG_MAX = 64,
	TITLE_BYTES = 200,             /* of a prompt in a list */
	SESSION_BYTES_MAX = 512 << 20, /* as sessions are read */
	EXPORT_BYTES_MAX = 256 << 20,
};

static const char *member_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

char *command_short_text(const char *text)
{
	struct span head = utf8_head(span_trim(span_str(text)), TITLE_BYTES);
	char *line = mem_dup(head.data, head.len);

	for (char *at = line; *at; at++)
		if (*at == '\n' || *at == '\r' || *at == '\t')
			*at = ' ';
	return line;
}

/* ---- tags ------------------------------------------------------------------------ */

/* Copies of sessions under a name, beside the sessions' own folder: TAG.jsonl. The caller frees. */
static char *tags_folder(struct command_call *call, struct err *err)
{
	struct home *home = host_home(call->context->host);

	return home_claim(home, err) ? home_make(home_temp(home), "tags", err) : NULL;
}

/* NULL: it is no tag, or there is no place for one. The caller frees. */
static char *tag_path(struct command_call *call, struct span tag, struct err *err)
{
	_cleanup_free_ char *folder = NULL;

	for (size_t i = 0; i < tag.len; i++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
		            tag.data[i]))
			tag.len = 0;
	if (!tag.len || tag.len > TAG_MAX) {
		err_set(err, ERR_INVALID_ARGUMENT,
		        "A tag is made of at most 64 letters, digits, - and _.");
		return NULL;
	}
	folder = tags_folder(call, err);
	return folder ? mem_printf("%s/%.*s.jsonl", folder, (int)tag.len, tag.data) : NULL;
}

static void each_tag(struct command_call *call,
                     void (*one)(void *data, const char *tag, size_t len), void *data)
{
	struct err ignored = ERR_INIT;
	_cleanup_free_ char *folder = tags_folder(call, &ignored);
	DIR *entries = folder ? opendir(folder) : NULL;
	const struct dirent *entry;

	while (entries && (entry = readdir(entries)))
		if (span_ends(span_str(entry->d_name), SPAN(".jsonl")))
			one(data, entry->d_name, strlen(entry->d_name) - strlen(".jsonl"));
	if (entries)
		closedir(entries);
}

static void chat_save(struct command_call *call, struct span tag)
{
	struct host *host = call->context->host;
	_cleanup_file_text_ struct file_text text = { 0 };
	_cleanup_free_ char *path = NULL;
	struct err err = ERR_INIT;

	path = tag_path(call, tag, &err);
	if (!path || !host_recorded(host, &err) ||
	    !file_read(host_record_file(host), SESSION_BYTES_MAX, &text, &err))
		command_fail(call, "%s", err.message);
	else if (!text.data)
		command_fail(call, "Nothing was said in this session yet.");
	else if (!file_replace(path, file_text_span(&text), 0600, &err))
		command_fail(call, "%s", err.message);
	else
		command_say(call, STYLE(ROLE_TEXT), "Saved as %.*s: /chat resume %.*s goes on from "
		            "here.", (int)tag.len, tag.data, (int)tag.len, tag.data);
}

/* ---- sessions -------------------------------------------------------------------- */

static void put_tag(void *data, const char *tag, size_t len)
{
	struct command_call *call = data;
	_cleanup_free_ char *name = mem_dup(tag, len);

	command_term(call, name, 20, SPAN("saved with /chat save"), STYLE(ROLE_DIM));
	command_choice(call, span_str(name), SPAN("saved"), mem_printf("/chat resume %s", name),
	               false);
}

static void put_session(struct command_call *call, const json_t *row, size_t number)
{
	const char *id = member_text(row, "id");
	const bool own = !strcmp(id, host_session_id(call->context->host));
	_cleanup_free_ char *title = command_short_text(member_text(row, "title"));
	_cleanup_free_ char *name = mem_printf("%zu%s", number, own ? " *" : "");
	const long long messages = json_integer_value(json_object_get(row, "messages"));
	_cleanup_free_ char *note = mem_printf("%.16s, %lld message%s",
	                                       member_text(row, "lastUpdated"), messages,
	                                       messages == 1 ? "" : "s");

	command_term(call, name, 5, span_str(title), STYLE(ROLE_TEXT));
	command_term(call, "", 5, span_str(note), STYLE(ROLE_DIM));
	if (!own)
		command_choice(call, span_str(title), span_str(note),
		               mem_printf("/chat resume %s", id), false);
}

static void chat_list(struct command_call *call, bool choose)
{
	json_auto_t *sessions = sessions_list(host_home(call->context->host));
	size_t count = json_array_size(sessions);

	if (!count)
		command_say(call, STYLE(ROLE_TEXT), "No session is recorded here.");
	for (size_t i = count; i-- > 0;)
		put_session(call, json_array_get(sessions, i), i + 1);
	each_tag(call, put_tag, call);
	call->result->pager = true;
	if (!choose || !(call->context->can & 1u << COMMAND_CHOOSE) || !call->result->choice_count)
		return;
	rows_release(&call->result->rows);
	call->result->then = COMMAND_CHOOSE;
}

/* The file of a tag, else of a session; *ret_tag says which. The caller frees; NULL: *err. */
static char *find_chat(struct command_call *call, struct span which, bool *ret_tag,
                       struct err *err)
{
	struct err ignored = ERR_INIT;
	_cleanup_free_ char *tag = tag_path(call, which, &ignored);
	_cleanup_free_ char *word = mem_dup(which.data, which.len);
	char *path = NULL;

	*ret_tag = tag && access(tag, F_OK) == 0;
	if (*ret_tag)
		return mem_steal(&tag);
	return sessions_find(host_home(call->context->host), word, &path, err) ? path : NULL;
}

static void chat_resume(struct command_call *call, struct span which)
{
	struct host *host = call->context->host;
	_cleanup_free_ char *path = NULL;
	struct err err = ERR_INIT;
	bool tag;

	path = find_chat(call, which, &tag, &err);
	if (path && !strcmp(path, host_record_file(host)))
		command_fail(call, "That is the session that is open.");
	else if (!path || !host_resume(host, path, tag, &err))
		command_fail(call, "%s", err.message);
	else
		command_then(call, COMMAND_ANEW, NULL);
}

static void chat_delete(struct command_call *call, struct span which)
{
	struct host *host = call->context->host;
	_cleanup_free_ char *path = NULL, *word = mem_dup(which.data, which.len);
	struct err err = ERR_INIT;
	bool tag, ok;

	path = find_chat(call, which, &tag, &err);
	ok = path && (tag ? unlink(path) == 0 ||
	                    err_set_errno(&err, errno, "Cannot remove %s", path) :
	                    sessions_delete(host_home(host), word, &err));
	if (ok)
		command_say(call, STYLE(ROLE_TEXT), "Deleted: %s", word);
	else
		command_fail(call, "%s", err.message);
}

/* ---- share ----------------------------------------------------------------------- */

/* What was typed: parts with words, without hasp's notes. */
static void put_typed(const json_t *content, struct buf *out)
{
	size_t i;
	json_t *part;

	if (json_is_string(content)) {
		buf_span(out, json_span(content));
		buf_str(out, "\n\n");
	}
	json_array_foreach((json_t *)content, i, part) {
		struct span text = json_span(json_object_get(part, "text"));

		if (!text.len || span_starts(text, SPAN("<session_context>")) ||
		    span_starts(text, SPAN("<hook_context>")))
			continue;
		buf_span(out, text);
		buf_str(out, "\n\n");
	}
}

static void put_markdown(const json_t *message, struct buf *out)
{
	const char *type = member_text(message, "type");
	const json_t *own = json_object_get(message, "hasp");
	size_t i;
	json_t *call;

	if (!strcmp(member_text(own, "said"), "note"))
		return;
	if (!strcmp(type, "user")) {
		buf_str(out, "## User\n\n");
		put_typed(json_object_get(message, "content"), out);
	} else if (!strcmp(type, "gemini")) {
		buf_printf(out, "## %s\n\n", *member_text(message, "model") ?
		           member_text(message, "model") : "Model");
		put_typed(json_object_get(message, "content"), out);
		json_array_foreach(json_object_get(message, "toolCalls"), i, call) {
			buf_printf(out, "- `%s` (%s): `", member_text(call, "name"),
			           member_text(call, "status"));
			json_print(out, json_object_get(call, "args"), 0);
			buf_str(out, "`\n");
		}
		buf_str(out, json_object_get(message, "toolCalls") ? "\n" : "");
	}
}

/* A file that is not there yet, and nothing through a link that leads out of the workspace. */
static bool write_new_file(struct command_call *call, const char *path, struct span text,
                           struct err *err)
{
	struct provider *provider = host_provider(call->context->host);
	const char *const roots[] = { provider->ops->root(provider, 0), NULL };
	_cleanup_door_ struct door door = DOOR_INIT;
	bool made;

	if (!door_open(path, roots, &door, err) || !door_create(&door, text, &made, err))
		return false;
	return made || err_set(err, ERR_INVALID_ARGUMENT, "There is a file %s already.", path);
}

static void chat_share(struct command_call *call, struct span name)
{
	struct host *host = call->context->host;
	_cleanup_buf_ struct buf out = BUF_INIT(EXPORT_BYTES_MAX);
	_cleanup_free_ char *given = NULL, *path = NULL;
	struct err err = ERR_INIT;
	json_auto_t *messages = host_messages(host, &err);
	size_t i;
	json_t *message;

	if (!call->context->local || !messages) {
		command_fail(call, "%s", messages ? "The workspace is on another machine." :
		             err.message);
		return;
	}
	given = name.len ? mem_dup(name.data, name.len) :
	                   mem_printf("conversation-%.8s.md", host_session_id(host));
	path = path_join(host_provider(host)->ops->root(host_provider(host), 0), given);
	if (span_ends(span_str(path), SPAN(".json"))) {
		json_print(&out, messages, 2);
		buf_char(&out, '\n');
	} else if (span_ends(span_str(path), SPAN(".md"))) {
		json_array_foreach(messages, i, message)
			put_markdown(message, &out);
	} else {
		command_fail(call, "The name of the file ends with .md or .json.");
		return;
	}
	if (out.overflowed || !write_new_file(call, path, buf_view(&out), &err))
		command_fail(call, "%s", out.overflowed ? "It is too long." : err.message);
	else
		command_say(call, STYLE(ROLE_TEXT), "Written to %s", path);
}

void command_chat(struct command_call *call)
{
	struct span rest = call->arguments, word = command_word(&rest);

	if (!word.len || command_word_is(word, "list"))
		chat_list(call, !word.len);
	else if (command_word_is(word, "share"))
		chat_share(call, rest);
	else if (!rest.len && !command_word_is(word, "save") && !command_word_is(word, "delete"))
		chat_resume(call, word); /* "/resume 3" */
	else if (!rest.len)
		command_usage(call);
	else if (command_word_is(word, "save"))
		chat_save(call, rest);
	else if (command_word_is(word, "resume") || command_word_is(word, "load"))
		chat_resume(call, rest);
	else if (command_word_is(word, "delete"))
		chat_delete(call, rest);
	else
		command_usage(call);
}

static void offer_tag(void *data, const char *tag, size_t len)
{
	struct command_completion *completion = data;
	_cleanup_free_ char *name = mem_dup(tag, len);

	completion->add(completion, name, "saved");
}

void command_complete_chat(struct command_completion *completion)
{
	static const char *const words[] = { "list", "save", "resume", "delete", "share" };
	struct span before = completion->before, word = command_word(&before);
	struct command_call call = { .context = completion->context };
	json_auto_t *sessions = NULL;
	size_t i;
	json_t *row;

	for (i = 0; !word.len && i < ARRAY_LEN(words); i++)
		completion->add(completion, words[i], NULL);
	if (!command_word_is(word, "resume") && !command_word_is(word, "delete"))
		return;
	each_tag(&call, offer_tag, completion);
	sessions = sessions_list(host_home(completion->context->host));
	json_array_foreach(sessions, i, row)
		completion->add(completion, member_text(row, "id"), member_text(row, "title"));
}

/* ---- clear ----------------------------------------------------------------------- */

void command_clear(struct command_call *call)
{
	struct err err = ERR_INIT;

	if (!host_clear(call->context->host, &err)) {
		command_fail(call, "%s", err.message);
		return;
	}
	command_say(call, STYLE(ROLE_TEXT), "A new session has begun.");
	if (call->context->can & 1u << COMMAND_ANEW)
		command_then(call, COMMAND_ANEW, NULL);
}
