/* SPDX-License-Identifier: Apache-2.0 */
/* What a conversation has of files, learnt from the results that stand in it (answer.h): after a
 * compaction, and when a session is resumed. */
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "data/json.h"
#include "tool/answer.h"
#include "tool/rebase.h"

/* The version that a sentence of answer_state names; 0: none. */
static uint64_t version_named(struct span text)
{
	static const char word[] = "version ";
	const char *at = text.len ? memmem(text.data, text.len, word, sizeof(word) - 1) : NULL;

	/* A JSON string ends with a NUL: strtoull stops there at the latest. */
	return at ? strtoull(at + sizeof(word) - 1, NULL, 10) : 0;
}

static bool learn_state(const json_t *object, const char **ret_path, struct sha256 *ret_sum,
                        uint64_t *ret_version)
{
	const json_t *path = json_object_get(object, "file_path");

	*ret_path = json_string_value(path);
	*ret_version = (uint64_t)json_integer_value(json_object_get(object, "version"));
	return json_string_length(path) &&
	       sha256_parse(json_span(json_object_get(object, "sha256")), ret_sum);
}

/* What read_file gave, or an element of read_many_files. */
static void learn_read(struct session *session, const json_t *file)
{
	json_t *content = json_object_get(file, "content");
	struct seen_range range = {
		(size_t)json_integer_value(json_object_get(file, "start_line")),
		(size_t)json_integer_value(json_object_get(file, "end_line")),
	};
	struct sha256 sum;
	uint64_t version;
	const char *path;

	if (!learn_state(file, &path, &sum, &version) || !json_is_string(content) ||
	    json_object_get(file, "masked") || json_object_get(file, "mime_type") ||
	    json_object_get(file, ANSWER_LEFT_OUT))
		return;
	if (!json_is_true(json_object_get(file, "truncated")) && range.first <= 1) {
		seen_read(session, path, &sum, version, NULL, NULL);
		rebase_keep(session, &sum, content);
	} else if (!json_object_get(file, "cut_line") && range.first && range.last) {
		seen_read(session, path, &sum, version, &range, content);
	} else {
		seen_meet(session, path, &sum); /* parts of lines */
	}
}

/* latest_file_state of an edit that was made, or refused. */
static void learn_edit(struct session *session, const json_t *result)
{
	const json_t *state = json_object_get(result, "latest_file_state");
	json_t *content = json_object_get(state, "content");
	const struct span why = json_span(json_object_get(state, "content_omitted"));
	const bool made = json_is_true(json_object_get(result, "success"));
	const uint64_t named = version_named(why);
	const struct span diff = json_span(json_object_get(result, "diff"));
	struct seen_state had;
	struct sha256 sum;
	uint64_t version;
	const char *path;

	if (!learn_state(state, &path, &sum, &version) ||
	    json_is_true(json_object_get(result, "dry_run")))
		return;
	if (json_is_string(content)) {
		rebase_keep(session, &sum, content);
		if (made)
			seen_edited(session, path, &sum, &sum, version, diff, true);
		else
			seen_refused(session, path, &sum, version);
		return;
	}
	if (made && span_starts(why, SPAN("as sent"))) {
		seen_edited(session, path, &sum, &sum, version, diff, true);
		return;
	}
	/* It stands on another answer, which must be there, too. */
	if (!seen_get(session, path, &had) || !named || had.version != named || !had.whole) {
		if (!seen_get(session, path, &had) || !sha256_eq(&had.sha256, &sum))
			seen_forget(session, path);
		return;
	}
	if (made)
		seen_edited(session, path, &had.sha256, &sum, version, diff, true);
	else if (json_object_get(state, "changed") || sha256_eq(&had.sha256, &sum))
		seen_refused(session, path, &sum, version);
}

void answer_learn(struct session *session, const struct tool *tool, const json_t *result)
{
	const json_t *const lists[] = { json_object_get(result, "changes"),
		                        json_object_get(result, "output"), result };
	size_t i;
	json_t *element;

	if (!tool || tool->server || json_object_get(result, "masked"))
		return;
	if (json_object_get(result, "latest_file_state"))
		learn_edit(session, result);
	else if (tool_kind_of(tool) == TOOL_KIND_READ)
		learn_read(session, result);
	for (size_t list = 0; list < sizeof(lists) / sizeof(*lists); list++)
		json_array_foreach(lists[list], i, element) {
			if (json_object_get(element, "latest_file_state"))
				learn_edit(session, element);
			else if (tool_kind_of(tool) == TOOL_KIND_READ)
				learn_read(session, element);
		}
}
