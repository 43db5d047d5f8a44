/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/editor.h"

#include <stdio.h>

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

json_t *editor_run(struct editor *editor, const struct change *change)
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
