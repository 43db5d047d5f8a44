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
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/json.h"
#include "front/command/private.h"

enum {
	TAG_MAX = 64,
	TITLE_BYTES = 200,             /* of a prompt in a list */
	SESSION_BYTES_MAX = 512 << 20, /* as sessions are read */
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

/* Copies of sessions under a name, next to the sessions' folder: TAG.jsonl. The caller frees. */
static char *tags_folder(struct command_call *call, struct err *err)
{
	struct home *home = host_facts(call->context->host).home;

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

/* One that is there already is only replaced when that was agreed to. */
static bool chat_may_save(struct command_call *call, struct span tag, const char *path,
                          bool replaces)
{
	if (replaces || access(path, F_OK) != 0)
		return true;
	if (!(call->context->can & 1u << COMMAND_CHOOSE)) {
		command_fail(call, "%.*s is there already: /chat save %.*s replace", (int)tag.len,
		             tag.data, (int)tag.len, tag.data);
		return false;
	}
	command_choice(call, SPAN("Leave it"), SPAN(""), mem_strdup(""), false);
	command_choice(call, SPAN("Replace it"), SPAN(""),
	               mem_printf("/chat save %.*s replace", (int)tag.len, tag.data), false);
	call->result->question = "It is there already";
	call->result->then = COMMAND_CHOOSE;
	return false;
}

static void chat_save(struct command_call *call, struct span rest)
{
	const struct span tag = command_word(&rest);
	struct host *host = call->context->host;
	_cleanup_file_text_ struct file_text text = { 0 };
	_cleanup_free_ char *path = NULL;
	struct err err = ERR_INIT;

	path = tag_path(call, tag, &err);
	if (path && !chat_may_save(call, tag, path, rest.len > 0))
		return;
	if (!path || !host_recorded(host, &err) ||
	    !file_read(host_facts(host).record_file, SESSION_BYTES_MAX, &text, &err))
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
	const bool own = !strcmp(id, host_facts(call->context->host).session_id);
	_cleanup_free_ char *title = command_short_text(member_text(row, "title"));
	_cleanup_free_ char *name = mem_printf("%zu%s", number, own ? " *" : "");
	const long long messages = json_integer_value(json_object_get(row, "messages"));
	char when[COMMAND_TIME_BYTES];
	_cleanup_free_ char *note = NULL;

	session_local_time(member_text(row, "lastUpdated"), when, sizeof(when));
	note = mem_printf("%s, %lld message%s, %.8s", when, messages, messages == 1 ? "" : "s", id);

	command_term(call, name, 5, span_str(title), STYLE(ROLE_TEXT));
	command_term(call, "", 5, span_str(note), STYLE(ROLE_DIM));
	if (!own)
		command_choice(call, span_str(title), span_str(note),
		               mem_printf("/chat resume %s", id), false);
}

static void chat_list(struct command_call *call, bool choose)
{
	json_auto_t *sessions = sessions_list(host_facts(call->context->host).home);
	size_t count = json_array_size(sessions);

	if (!count)
		command_say(call, STYLE(ROLE_TEXT), "No session is recorded here.");
	for (size_t i = count; i-- > 0;)
		put_session(call, json_array_get(sessions, i), i + 1);
	each_tag(call, put_tag, call);
	call->result->pager = true;
	if (!choose || !call->result->choice_count ||
	    !(call->context->can & (1u << COMMAND_CHOOSE | 1u << COMMAND_BROWSE)))
		return;
	rows_release(&call->result->rows);
	call->result->then = call->context->can & 1u << COMMAND_BROWSE ? COMMAND_BROWSE :
	                                                                 COMMAND_CHOOSE;
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
	return sessions_find(host_facts(call->context->host).home, word, &path, err) ? path : NULL;
}

static void chat_resume(struct command_call *call, struct span which)
{
	struct host *host = call->context->host;
	_cleanup_free_ char *path = NULL;
	struct err err = ERR_INIT;
	bool tag;

	if (call->context->embedded) {
		command_fail(call, "Open it in the program that shows this session.");
		return;
	}
	path = find_chat(call, which, &tag, &err);
	if (path && !strcmp(path, host_facts(host).record_file))
		command_fail(call, "That is the session that is open.");
	else if (!path || !host_resume(host, path, tag, &err))
		command_fail(call, "%s", err.message);
	else
		call->result->other = command_then(call, COMMAND_REFRESH, NULL);
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
	                    sessions_delete(host_facts(host).home, word, &err));
	if (ok)
		command_say(call, STYLE(ROLE_TEXT), "Deleted: %s", word);
	else
		command_fail(call, "%s", err.message);
}

/* ---- the name ---------------------------------------------------------------- */

/* Of another: "WHICH TITLE". */
static void chat_title(struct command_call *call, struct span rest)
{
	const struct span which = command_word(&rest);
	_cleanup_free_ char *path = NULL;
	struct err err = ERR_INIT;
	bool tag;

	path = find_chat(call, which, &tag, &err);
	if (!path) {
		command_fail(call, "%s", err.message);
		return;
	}
	if (!strcmp(path, host_facts(call->context->host).record_file) ?
	    host_rename(call->context->host, rest, &err) : session_rename(path, rest, &err))
		command_say(call, STYLE(ROLE_TEXT), "It is called: %.*s", (int)rest.len, rest.data);
	else
		command_fail(call, "%s", err.message);
}

/* Of this session, in lists. */
static void chat_rename(struct command_call *call, struct span title)
{
	struct err err = ERR_INIT;

	if (host_rename(call->context->host, title, &err))
		command_say(call, STYLE(ROLE_TEXT), "This session is called: %.*s", (int)title.len,
		            title.data);
	else
		command_fail(call, "%s", err.message);
}

void command_chat(struct command_call *call)
{
	struct span rest = call->arguments, word = command_word(&rest);

	if (!word.len || command_word_is(word, "list"))
		chat_list(call, !word.len);
	else if (command_word_is(word, "share"))
		command_export(&(struct command_call){ call->context, call->command, rest,
		                                       call->result });
	else if (!rest.len)
		chat_resume(call, word); /* "/resume 3" */
	else if (command_word_is(word, "rename"))
		chat_rename(call, rest);
	else if (command_word_is(word, "title"))
		chat_title(call, rest);
	else if (command_word_is(word, "save"))
		chat_save(call, rest);
	else if (command_word_is(word, "resume") || command_word_is(word, "load"))
		chat_resume(call, rest);
	else
		chat_delete(call, rest);
}

static void offer_tag(void *data, const char *tag, size_t len)
{
	struct command_completion *completion = data;
	_cleanup_free_ char *name = mem_dup(tag, len);

	completion->add(completion, name, "saved");
}

void command_complete_chat(struct command_completion *completion)
{
	struct command_call call = { .context = completion->context };
	json_auto_t *sessions = NULL;
	size_t i;
	json_t *row;

	if (command_word_is(completion->before, "save") ||
	    command_word_is(completion->before, "rename") ||
	    command_word_is(completion->before, "share"))
		return;
	each_tag(&call, offer_tag, completion);
	sessions = sessions_list(host_facts(completion->context->host).home);
	for (i = json_array_size(sessions); i-- > 0;) {
		_cleanup_free_ char *id = NULL, *title = NULL;
		char when[COMMAND_TIME_BYTES];

		row = json_array_get(sessions, i);
		id = mem_printf("%.8s", member_text(row, "id"));
		title = command_short_text(member_text(row, "title"));
		session_local_time(member_text(row, "lastUpdated"), when, sizeof(when));
		completion->add_named(completion, id, title, when);
	}
}

/* ---- clear ----------------------------------------------------------------------- */

void command_clear(struct command_call *call)
{
	struct err err = ERR_INIT;

	if (!host_clear(call->context->host, &err)) {
		command_fail(call, "%s", err.message);
		return;
	}
	command_say(call, STYLE(ROLE_TEXT), "New session. The last one is kept: /resume lists it.");
	if (call->context->can & 1u << COMMAND_REFRESH)
		call->result->other = call->result->clears =
			command_then(call, COMMAND_REFRESH, NULL);
}

/* ---- fork ------------------------------------------------------------------------ */

void command_fork(struct command_call *call)
{
	struct host *host = call->context->host;
	_cleanup_free_ char *id = mem_strdup(host_facts(host).session_id);
	_cleanup_free_ char *file = mem_strdup(host_facts(host).record_file);
	struct err err = ERR_INIT;

	if (!json_array_size(agent_history(host_facts(host).agent)))
		command_fail(call, "There is nothing to copy yet: this session is empty.");
	else if (!host_recorded(host, &err) || !host_resume(host, file, /* copy= */ true, &err))
		command_fail(call, "%s", err.message);
	else
		command_say(call, STYLE(ROLE_TEXT), "You are in a copy now. /resume %.8s goes back "
		            "to the original.", id);
	if (call->result->ok && call->context->can & 1u << COMMAND_REFRESH)
		call->result->other = command_then(call, COMMAND_REFRESH, NULL);
}
