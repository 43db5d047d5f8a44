/* SPDX-License-Identifier: Apache-2.0 */
/* Which state an edit goes by that names none, or the one that the session keeps (private.h). */
#include <string.h>

#include "tool/builtin/arguments.h"
#include "tool/builtin/private.h"
#include "tool/answer.h"
#include "tool/spelling.h"

/* Stands for base_content_sha256 "seen" until the session's state is known: the hash of nothing,
 * which matches a file to be created and no file with content.  Identified by its address. */
const struct sha256 editor_base_kept = { {
	0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9,
	0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52,
	0xb8, 0x55,
} };

/* The hash in base_content_sha256: NULL when absent or empty.  Validation has refused text that
 * is not a hash (tool/call.c). */
const struct sha256 *editor_base_named(const json_t *arguments, struct sha256 *storage)
{
	struct span text = argument_span(arguments, "base_content_sha256");

	if (!span_trim(text).len)
		return NULL;
	if (span_eq(span_trim(text), SPAN(BASE_SEEN)))
		return &editor_base_kept;
	if (!sha256_parse(text, storage))
		*storage = (struct sha256){ 0 };
	return storage;
}

/* A whole new content may take the place of one that the conversation has whole alone: nothing else
 * in the call says that it knows what is lost. */
bool editor_base_seen(const struct editor_call *editor, const struct change *change,
                      const char *path, struct sha256 *ret)
{
	struct seen_state state;

	if (change->kind != CHANGE_WRITE)
		return seen_met(editor->session, path, ret);
	if (!seen_get(editor->session, path, &state) || !state.whole)
		return false;
	*ret = state.sha256;
	return true;
}

/* ---- bases that the session keeps -------------------------------------------- */

/* A path as states have it, where that is a matter of text alone. */
static const char *plain_path(const struct editor_call *editor, const char *path)
{
	struct provider *provider = editor->session->provider;
	const char *root = provider->ops->root(provider, 0);
	const size_t len = root ? strlen(root) : 0;

	if (len && path && strncmp(path, root, len) == 0 && path[len] == '/')
		path += len + 1;
	while (path && path[0] == '.' && path[1] == '/')
		path += 2;
	return path;
}

/* The state that the session met by the change's own path, which decides nothing: a wrong one is a
 * mismatch. */
void editor_base_guess(const struct editor_call *editor, struct change *change,
                       struct sha256 *storage)
{
	const char *path = plain_path(editor, change->path);

	if (change->base != &editor_base_kept)
		return;
	if (editor->session->one_call)
		change->base = NULL;
	else if (path && editor_base_seen(editor, change, path, storage))
		change->base = storage;
}

/* ---- what the conversation has of what an edit takes away ---- */

/* The conversation has lines of the state that is on disk. */
static bool has_lines_of(const struct editor_call *editor, const struct change_result *result,
                         struct seen_state *ret)
{
	return result->state_known && result->state.exists && result->state.path &&
	       seen_get(editor->session, result->state.path, ret) &&
	       (ret->whole || ret->range_count) && sha256_eq(&ret->sha256, &result->state.sha256);
}

/* The first line, from 1, that the edit `diff` removes or puts lines next to, and of which the
 * conversation has nothing; 0: it has all. */
static size_t first_unseen(const struct seen_state *had, struct span diff)
{
	size_t count;
	_cleanup_free_ struct seen_change *changes = seen_changes(diff, &count);

	for (size_t i = 0; i < count; i++) {
		const size_t at = changes[i].at, last = at + changes[i].removed - 1;

		if (changes[i].removed ? !seen_has_lines(had, at, last) :
		                         !seen_has_lines(had, at, at) &&
		                                 !seen_has_lines(had, at - 1, at - 1))
			return at;
	}
	return 0;
}

/* Whether a change, on the state that the conversation has lines of, takes nothing away but these.
 * One that cannot be made is let through, to be refused for what is wrong with it; of another
 * result->err says which line was not seen. */
static bool takes_seen_lines(const struct editor_call *editor, const struct change *change,
                             const struct seen_state *had, struct change_result *result)
{
	const struct edit_options options = { .dry_run = true, .want_diff = true };
	struct provider *provider = editor->session->provider;
	struct change trial = *change;
	struct change_result planned = { 0 };
	struct err err = ERR_INIT;
	size_t unseen = 0;

	/* What of the bytes changes is not in the diff. */
	if (change->exact_line_endings || change->encoding)
		return false;
	trial.base = &had->sha256;
	if (provider_edit(provider, &trial, 1, &options, &planned, &err) && !planned.already)
		unseen = planned.diff.len ? first_unseen(had, buf_view(&planned.diff)) : 1;
	change_result_release(&planned);
	if (!unseen)
		return true;
	err_set(&result->err, ERR_BASE_REQUIRED,
	        "Base Required: The call changes line %zu of %s, which this conversation has not "
	        "seen.", unseen, change->path);
	result->failure.found_line = unseen;
	return false;
}

/* Whether a change that names no hash may go by the state that the conversation has, as private.h
 * has it. `only`: it is the only one of the file. */
static bool goes_by_seen(const struct editor_call *editor, const struct change *change, bool only,
                         struct change_result *result, struct sha256 *storage)
{
	const bool kept = change->base == &editor_base_kept, writes = change->kind == CHANGE_WRITE;
	struct seen_state had;
	bool serves;

	if ((!writes && (change->kind != CHANGE_PATCH || kept)) ||
	    !has_lines_of(editor, result, &had))
		return false;
	if (had.whole)
		serves = had.may_write || (had.read && only && !writes);
	else
		serves = (kept || had.read) && only &&
		         takes_seen_lines(editor, change, &had, result);
	*storage = had.sha256;
	return serves;
}

/* Of a change on the state that the session keeps, where nothing of that serves. */
static void set_base_required(const struct editor_call *editor, const struct change *change,
                              struct change_result *result)
{
	struct sha256 met;

	result->already = false;
	if (result->err.code == ERR_BASE_REQUIRED)
		return;
	err_set(&result->err, ERR_BASE_REQUIRED,
	        seen_met(editor->session, result->state.path, &met) ?
	                "Base Required: The call replaces all of %s, of which this conversation "
	                "has seen only a part." :
	                "Base Required: Nothing of %s was read in this conversation. Its state "
	                "is in latest_file_state.", change->path);
}

/* The base of a change that names none, or the one that the session keeps, by where its path led;
 * false: the conversation has not seen enough of the file. */
bool editor_base_find(const struct editor_call *editor, struct change *change, bool only,
                      struct change_result *result, struct sha256 *storage)
{
	const bool kept = change->base == &editor_base_kept;

	if (result->err.code != (kept ? ERR_STATE_MISMATCH : ERR_BASE_REQUIRED) ||
	    !result->state_known || !result->state.exists || !result->state.path)
		return false;
	if ((kept && editor_base_seen(editor, change, result->state.path, storage)) ||
	    goes_by_seen(editor, change, only, result, storage)) {
		change->base = storage;
		return true;
	}
	if (kept)
		set_base_required(editor, change, result);
	return false;
}

/* What a refusal shows of a file is what the next call is about, which cannot name it. */
void editor_base_meet(const struct editor_call *editor, const struct change_result *result)
{
	if (!result->done && editor->content != RETURN_NONE && result->state_known &&
	    result->state.exists && result->state.path)
		seen_meet(editor->session, result->state.path, &result->state.sha256);
}

/* Whether to find a base takes more requests. */
bool editor_base_may_serve(const struct editor_call *editor, const struct change_result *result)
{
	struct seen_state had;

	return result->err.code == ERR_BASE_REQUIRED && has_lines_of(editor, result, &had);
}
