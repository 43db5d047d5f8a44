/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that go back: to an earlier prompt, to the files before an edit. */
#include <stdlib.h>
#include <string.h>

#include "agent/checkpoint/checkpoint.h"
#include "agent/session/sessions.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "front/command/private.h"

enum { FILES_NAMED = 3 /* in a line of a list */ };

static const char *member_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static bool is_action(const json_t *file, const char *action)
{
	return !strcmp(member_of(file, "action"), action);
}

/* As one knows it: beneath the project without that. */
static const char *short_path(struct command_call *call, const json_t *file)
{
	const struct provider *provider = host_facts(call->context->host).provider;
	const char *path = member_of(file, "path");
	const char *root = provider->ops->root((struct provider *)provider, 0);

	return path_is_under(path, root) && strcmp(path, root) ? path + strlen(root) + 1 : path;
}

/* ---- what becomes of files ------------------------------------------------------- */

/* " +3 -1", where that is known. */
static void put_counts(struct buf *out, const json_t *difference)
{
	const json_t *added = json_object_get(difference, "added");
	const json_t *removed = json_object_get(difference, "removed");

	if (json_is_integer(added))
		buf_printf(out, " +%lld -%lld", (long long)json_integer_value(added),
		           (long long)json_integer_value(removed));
}

/* What became of the files. What was kept of the user's is shown. */
static void put_restored(struct command_call *call, const json_t *result)
{
	json_t *changes = json_array(), *file;
	size_t i;

	json_array_foreach(json_object_get(result, "files"), i, file) {
		const json_t *kept = json_object_get(file, "kept");
		const char *reason = member_of(file, "reason");
		const bool bad = is_action(file, "left") || is_action(file, "failed");
		_cleanup_buf_ struct buf counts = BUF_INIT(LIMIT_MESSAGE_BYTES);

		command_term(call, member_of(file, "action"), 10,
		             span_str(short_path(call, file)),
		             STYLE(bad ? ROLE_WARNING : ROLE_TEXT));
		if (*reason)
			command_term(call, "", 10, span_str(reason), STYLE(ROLE_DIM));
		if (!kept)
			continue;
		buf_str(&counts, "Your changes in it are kept:");
		put_counts(&counts, kept);
		command_term(call, "", 10, buf_view(&counts), STYLE(ROLE_DIM));
		json_array_append_new(changes, json_pack("{s:O, s:s, s:O?}", "path",
		                                         json_object_get(file, "path"), "action",
		                                         "kept", "diff",
		                                         json_object_get(kept, "diff")));
	}
	json_decref(call->result->changes);
	call->result->changes = changes;
}

/* "src/a.c +3 -1, b removed, 2 left", or "none"; the caller frees. */
static char *files_summary(struct command_call *call, const json_t *files)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	size_t i, named = 0, left = 0, more = 0;
	json_t *file;

	json_array_foreach((json_t *)files, i, file) {
		if (is_action(file, "unchanged"))
			continue;
		if (is_action(file, "left") || is_action(file, "failed")) {
			left++;
		} else if (named >= FILES_NAMED) {
			more++;
		} else {
			buf_printf(&out, "%s%s %s", named++ ? ", " : "", short_path(call, file),
			           member_of(file, "action"));
			put_counts(&out, file);
		}
	}
	if (more)
		buf_printf(&out, " and %zu more", more);
	if (left)
		buf_printf(&out, "%s%zu left as %s", named ? ", " : "", left,
		           left == 1 ? "it is" : "they are");
	return out.len ? buf_steal(&out) : mem_strdup("none");
}

static bool files_change(const json_t *files)
{
	size_t i;
	json_t *file;

	json_array_foreach((json_t *)files, i, file)
		if (!is_action(file, "unchanged"))
			return true;
	return false;
}

/* ---- rewind ---------------------------------------------------------------------- */

/* The newest is number 1. */
static void rewind_offer(struct command_call *call, const json_t *prompts)
{
	for (size_t i = json_array_size(prompts); i-- > 0;) {
		const json_t *prompt = json_array_get(prompts, i);
		_cleanup_free_ char *text = command_short_text(member_of(prompt, "text"));
		_cleanup_free_ char *number = mem_printf("%zu", json_array_size(prompts) - i);
		char time[COMMAND_TIME_BYTES];

		session_local_time(member_of(prompt, "time"), time, sizeof(time));

		command_choice(call, span_str(text), span_str(time),
		               mem_printf("/rewind %s", member_of(prompt, "id")), false);
		if (!(call->context->can & 1u << COMMAND_CHOOSE))
			command_term(call, number, 4, span_str(text), STYLE(ROLE_TEXT));
	}
	if (!json_array_size(prompts))
		command_fail(call, "There is no prompt to go back to.");
	else if (call->context->can & 1u << COMMAND_CHOOSE)
		call->result->then = COMMAND_CHOOSE;
	call->result->question = "Back to which?";
}

/* Says what each way would change. */
static void rewind_offer_ways(struct command_call *call, const char *id, const json_t *preview)
{
	const long long prompts = json_integer_value(json_object_get(preview, "prompts"));
	json_t *files = json_object_get(preview, "files");
	_cleanup_free_ char *summary = files_summary(call, files);
	_cleanup_free_ char *talk = mem_printf("%lld prompt%s with what came of %s", prompts,
	                                       prompts == 1 ? "" : "s",
	                                       prompts == 1 ? "it" : "them");
	_cleanup_free_ char *both = mem_printf("%s; %s", talk, summary);

	command_choice(call, SPAN("Conversation and files"), span_str(both),
	               mem_printf("/rewind %s both", id), false);
	command_choice(call, SPAN("Conversation"), span_str(talk),
	               mem_printf("/rewind %s conversation", id), false);
	command_choice(call, SPAN("Files"), span_str(summary), mem_printf("/rewind %s files", id),
	               false);
	json_decref(call->result->changes);
	call->result->changes = json_incref(files);
	call->result->question = "What goes back?";
	call->result->then = COMMAND_CHOOSE;
}

static void rewind_undo(struct command_call *call)
{
	struct host_rewound rewound;
	struct err err = ERR_INIT;

	if (!host_rewind_undo(call->context->host, &rewound, &err)) {
		command_fail(call, "%s", err.message);
		return;
	}
	put_restored(call, rewound.files);
	host_rewound_release(&rewound);
	command_say(call, STYLE(ROLE_DIM), "The last rewind is undone.");
	if (call->context->can & 1u << COMMAND_REFRESH)
		command_then(call, COMMAND_REFRESH, NULL);
}

/* By its id or its number. */
static const char *rewind_target(const json_t *prompts, struct span word)
{
	_cleanup_free_ char *text = mem_dup(word.data, word.len);
	const size_t count = json_array_size(prompts);
	char *end;
	unsigned long number = strtoul(text, &end, 10);
	size_t i;
	json_t *prompt;

	json_array_foreach((json_t *)prompts, i, prompt)
		if (!strcmp(member_of(prompt, "id"), text))
			return member_of(prompt, "id");
	if (!*text || *end || !number || number > count)
		return NULL;
	return json_string_value(json_object_get(json_array_get(prompts, count - number), "id"));
}

static void rewind_go(struct command_call *call, const char *id, unsigned what)
{
	struct host_rewound rewound;
	struct err err = ERR_INIT;

	if (!host_rewind(call->context->host, id, what, &rewound, &err)) {
		command_fail(call, "%s", err.message);
		return;
	}
	put_restored(call, rewound.files);
	if (what == REWIND_FILES && !rewound.files)
		command_say(call, STYLE(ROLE_TEXT), "No file was edited since.");
	if (rewound.text && !(call->context->can & 1u << COMMAND_REFRESH))
		command_say(call, STYLE(ROLE_TEXT), "Back to before: %s", rewound.text);
	if (call->context->can & 1u << COMMAND_REFRESH)
		command_say(call, STYLE(ROLE_DIM),
		            "/rewind undo takes it back, until something is sent.");
	if (what & REWIND_CONVERSATION && call->context->can & 1u << COMMAND_REFRESH)
		command_then(call, COMMAND_REFRESH, mem_steal(&rewound.text));
	host_rewound_release(&rewound);
}

/* A front that can have one chosen asks what is to go back, where that makes a difference. */
static void rewind_ask(struct command_call *call, const char *id)
{
	struct err err = ERR_INIT;
	json_auto_t *preview = host_rewind_preview(call->context->host, id, &err);

	if (!preview)
		command_fail(call, "%s", err.message);
	else if (call->context->can & 1u << COMMAND_CHOOSE &&
	         files_change(json_object_get(preview, "files")))
		rewind_offer_ways(call, id, preview);
	else
		rewind_go(call, id, REWIND_CONVERSATION);
}

void command_rewind(struct command_call *call)
{
	struct span rest = call->arguments, word = command_word(&rest);
	struct err err = ERR_INIT;
	json_auto_t *prompts = NULL;
	const char *id;

	if (command_word_is(word, "undo") && !rest.len) {
		rewind_undo(call);
		return;
	}
	prompts = host_prompts(call->context->host, &err);
	if (!prompts) {
		command_fail(call, "%s", err.message);
		return;
	}
	if (!word.len) {
		rewind_offer(call, prompts);
		return;
	}
	id = rewind_target(prompts, word);
	if (id && !rest.len)
		rewind_ask(call, id);
	else if (id && command_word_is(rest, "both"))
		rewind_go(call, id, REWIND_CONVERSATION | REWIND_FILES);
	else if (id && command_word_is(rest, "conversation"))
		rewind_go(call, id, REWIND_CONVERSATION);
	else if (id && command_word_is(rest, "files"))
		rewind_go(call, id, REWIND_FILES);
	else
		command_usage(call);
}

void command_complete_rewind(struct command_completion *completion)
{
	struct err ignored = ERR_INIT;
	json_auto_t *prompts = NULL;
	size_t count;

	prompts = host_prompts(completion->context->host, &ignored);
	count = json_array_size(prompts);
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *number = mem_printf("%zu", i + 1);
		_cleanup_free_ char *text = command_short_text(
			member_of(json_array_get(prompts, count - 1 - i), "text"));

		completion->add(completion, number, text);
	}
}

/* ---- restore --------------------------------------------------------------------- */

/* The files of a checkpoint, as one line; the caller frees. */
static char *checkpoint_files(struct command_call *call, const json_t *note)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	size_t i;
	json_t *file;

	json_array_foreach(json_object_get(note, "files"), i, file)
		buf_printf(&out, "%s%s", i ? ", " : "", short_path(call, file));
	return out.len ? buf_steal(&out) : mem_strdup("");
}

static void restore_offer(struct command_call *call, const json_t *notes)
{
	for (size_t i = json_array_size(notes); i-- > 0;) {
		const json_t *note = json_array_get(notes, i);
		const char *id = member_of(note, "id");
		_cleanup_free_ char *files = checkpoint_files(call, note);

		command_term(call, id, 24, span_str(files), STYLE(ROLE_TEXT));
		command_choice(call, span_str(files), span_str(id), mem_printf("/restore %s", id),
		               false);
	}
	if (!json_array_size(notes)) {
		command_say(call, STYLE(ROLE_TEXT), "There are no checkpoints.");
	} else if (call->context->can & 1u << COMMAND_CHOOSE) {
		rows_release(&call->result->rows);
		call->result->then = COMMAND_CHOOSE;
	}
}

static void restore_go(struct command_call *call, struct checkpoints *checkpoints, const char *id,
                       bool force)
{
	json_auto_t *result = NULL;
	struct err err = ERR_INIT;
	const char *undo;

	if (!checkpoints_restore(checkpoints, id, force, &result, &err)) {
		command_fail(call, "%s", err.message);
		return;
	}
	put_restored(call, result);
	undo = json_string_value(json_object_get(result, "undo"));
	if (undo)
		command_say(call, STYLE(ROLE_DIM), "To take it back: /restore %s", undo);
	else
		command_say(call, STYLE(ROLE_DIM), "No file was changed.");
}

void command_restore(struct command_call *call)
{
	struct checkpoints *checkpoints = host_facts(call->context->host).checkpoints;
	struct span rest = call->arguments, word = command_word(&rest);
	_cleanup_free_ char *id = mem_dup(word.data, word.len);
	json_auto_t *notes = NULL;
	struct err err = ERR_INIT;

	if (!checkpoints) {
		command_fail(call, "No checkpoints are kept; \"/settings "
		             "general.checkpointing.enabled true\" has them kept from the next "
		             "session on.");
		return;
	}
	if (*id && (!rest.len || command_word_is(rest, "force"))) {
		restore_go(call, checkpoints, id, rest.len > 0);
		return;
	}
	notes = *id ? NULL : checkpoints_list(checkpoints, &err);
	if (notes)
		restore_offer(call, notes);
	else if (*id)
		command_usage(call);
	else
		command_fail(call, "%s", err.message);
}

void command_complete_restore(struct command_completion *completion)
{
	struct checkpoints *checkpoints = host_facts(completion->context->host).checkpoints;
	struct command_call call = { .context = completion->context };
	struct err ignored = ERR_INIT;
	json_auto_t *notes = NULL;

	notes = checkpoints ? checkpoints_list(checkpoints, &ignored) : NULL;
	for (size_t i = json_array_size(notes); i-- > 0;) {
		const json_t *note = json_array_get(notes, i);
		_cleanup_free_ char *files = checkpoint_files(&call, note);

		completion->add(completion, member_of(note, "id"), files);
	}
}
