/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/editor.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tool/builtin/arguments.h"

static enum return_content return_content(const struct session *session, const json_t *arguments)
{
	struct span asked = argument_span(arguments, "return_content");

	if (span_eq(asked, SPAN("full")))
		return RETURN_FULL;
	if (span_eq(asked, SPAN("diff")))
		return RETURN_DIFF;
	if (span_eq(asked, SPAN("none")))
		return RETURN_NONE;
	return session->return_content;
}

void editor_init(struct editor *editor, struct session *session, const json_t *arguments)
{
	*editor = (struct editor){
		.session = session,
		.content = return_content(session, arguments),
		.alone = true,
	};
	editor->options.dry_run = argument_bool(arguments, "dry_run", false);
	editor->options.want_content = editor->content != RETURN_NONE;
	editor->options.want_diff = editor->content == RETURN_DIFF ||
	                            (editor->options.dry_run && editor->content == RETURN_FULL);
	editor->options.no_make_folders = !argument_bool(arguments, "create_dirs", true);
}

const struct sha256 *editor_base(const json_t *arguments, struct sha256 *storage)
{
	struct span text = argument_span(arguments, "base_content_sha256");

	if (!span_trim(text).len)
		return NULL;
	if (!sha256_parse(text, storage))
		*storage = (struct sha256){ 0 };
	return storage;
}

bool editor_take_seen(const struct editor *editor, struct change *change,
                      const struct change_result *result, struct sha256 *storage)
{
	if (result->err.code != ERR_BASE_REQUIRED || change->kind != CHANGE_WRITE ||
	    !result->state_known || !result->state.exists || !result->state.path ||
	    !session_seen(editor->session, result->state.path, storage) ||
	    !sha256_eq(storage, &result->state.sha256))
		return false;
	change->base = storage;
	return true;
}

void editor_note_seen(struct change_result *result)
{
	if (result->done && !result->note[0])
		snprintf(result->note, sizeof(result->note),
		         "The call named no base_content_sha256: the state that this session last read "
		         "or wrote was taken, which was what is on disk.");
}

static void edit_once(const struct editor *editor, const struct change *change,
                      struct change_result *result)
{
	struct provider *provider = editor->session->provider;
	struct err err = ERR_INIT;

	if (!provider->ops->edit(provider, change, 1, &editor->options, result, &err) &&
	    result->err.code == ERR_NONE)
		result->err = err;
}

static json_t *run_change(struct editor *editor, const struct change *change)
{
	struct change_result result = { 0 };
	struct change again = *change;
	struct sha256 seen;
	json_t *json;

	edit_once(editor, change, &result);
	if (editor_take_seen(editor, &again, &result, &seen)) {
		change_result_release(&result);
		result = (struct change_result){ 0 };
		edit_once(editor, &again, &result);
		editor_note_seen(&result);
	}
	json = editor_result(editor, change, &result);
	change_result_release(&result);
	return json;
}

json_t *editor_call(struct session *session, const json_t *arguments, editor_change *make)
{
	struct editor editor;
	struct sha256 hash;
	const struct change change = make(arguments, &hash);

	editor_init(&editor, session, arguments);
	return run_change(&editor, &change);
}

/* ---- in two steps ----------------------------------------------------------- */

struct editor_begun {
	struct editor editor;
	struct change change;
	struct sha256 hash;
	struct change_result result;
	struct edit_begun *edit; /* the provider's */
};

void *editor_begin(struct session *session, const json_t *arguments, editor_change *make)
{
	const struct provider_ops *ops = session->provider->ops;
	struct editor_begun *begun;

	if (!ops->edit_begin)
		return NULL;
	begun = mem_alloc(1, sizeof(*begun));
	begun->change = make(arguments, &begun->hash);
	editor_init(&begun->editor, session, arguments);
	if (ops->edit_begin(session->provider, &begun->change, &begun->editor.options,
	                    &begun->result, session->hooks.ready, session->hooks.data,
	                    &begun->edit))
		return begun;
	free(begun);
	return NULL;
}

json_t *editor_end(struct session *session, const json_t *arguments, void *data)
{
	struct editor_begun *begun = data;
	struct change_result *result = &begun->result;
	struct provider *provider = session->provider;
	struct err err = ERR_INIT;
	json_t *json = NULL;

	begun->editor.session = session;
	if (!provider->ops->edit_end(provider, begun->edit, &err) && result->err.code == ERR_NONE)
		result->err = err;
	if (!editor_take_seen(&begun->editor, &begun->change, result, &begun->hash)) {
		json = editor_result(&begun->editor, &begun->change, result);
	} else if (session->hooks.not_at_once) {
		*session->hooks.not_at_once = true;
		json = tool_failure(&result->err);
	} else {
		change_result_release(result);
		*result = (struct change_result){ 0 };
		edit_once(&begun->editor, &begun->change, result);
		editor_note_seen(result);
		json = editor_result(&begun->editor, &begun->change, result);
	}
	(void)arguments;
	change_result_release(result);
	free(begun);
	return json;
}
