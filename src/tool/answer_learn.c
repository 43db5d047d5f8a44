/* SPDX-License-Identifier: Apache-2.0 */
/* What a conversation has of files, learnt from the results that stand in it (answer.h): after a
 * compaction, and when a session is resumed. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
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

/* What a history shows is judged by itself: a text is a whole file if it has the file's hash, and
 * lines are those of a range if they are as many.  What cannot be judged (texts that were cut,
 * other encodings, characters that are shown as escapes) counts as not seen. */
static bool is_whole_text(const json_t *content, const struct sha256 *sum)
{
	const struct sha256 have = sha256_of(json_span(content));

	return json_is_string(content) && sha256_eq(&have, sum);
}

/* What read_file gave, or an element of read_many_files. */
static void learn_read(struct session *session, const json_t *file)
{
	json_t *content = json_object_get(file, "content");
	const struct seen_range range = {
		(size_t)json_integer_value(json_object_get(file, "start_line")),
		(size_t)json_integer_value(json_object_get(file, "end_line")),
	};
	struct sha256 sum;
	uint64_t version;
	const char *path;

	if (!learn_state(file, &path, &sum, &version) || !json_is_string(content) ||
	    json_object_get(file, "masked") || json_object_get(file, "mime_type"))
		return;
	if (json_object_get(file, "derived")) {
		seen_derive(session, path, &sum, version);
		return;
	}
	if (is_whole_text(content, &sum)) {
		seen_read(session, path, &sum, version, NULL, NULL);
		rebase_keep(session, &sum, content);
	} else if (!json_object_get(file, "cut_line") && !json_object_get(file, "start_column") &&
	           range.first && range.last >= range.first &&
	           lines_count(json_span(content)) == range.last - range.first + 1) {
		seen_read(session, path, &sum, version, &range, content);
	} else {
		seen_meet(session, path, &sum); /* parts of lines */
	}
}

/* Whether a refusal shows all that changed since the state that it names. */
static bool shows_all_changes(const json_t *state)
{
	static const char cut[] = " left out ...]";
	const struct span changed = json_span(json_object_get(state, "changed"));

	return changed.len && !memmem(changed.data, changed.len, cut, sizeof(cut) - 1) &&
	       span_starts(json_span(json_object_get(state, "content_omitted")),
	                   SPAN("as version "));
}

/* Of an edit whose answer does not show the file's content by itself: it builds on an earlier
 * answer, which must be present, too. */
static void learn_on_other(struct session *session, const json_t *state, const char *path,
                           const struct sha256 *sum, bool made)
{
	const uint64_t version = (uint64_t)json_integer_value(json_object_get(state, "version"));
	const uint64_t named = version_named(json_span(json_object_get(state, "content_omitted")));
	struct seen_state had;
	const bool known = seen_get(session, path, &had);
	const bool same = known && sha256_eq(&had.sha256, sum);

	if (!known || !named || had.version != named || !had.whole) {
		if (!same)
			seen_forget(session, path);
		seen_meet(session, path, sum);
	} else if (made) {
		seen_edited(session, path, &had.sha256, sum, version, SPAN(""), had.may_write);
	} else if (same || shows_all_changes(state)) {
		seen_refused(session, path, sum, version);
	} else {
		seen_meet(session, path, sum);
	}
}

/* latest_file_state of an edit that was made, or refused. */
static void learn_edit(struct session *session, const json_t *result, bool made)
{
	const json_t *state = json_object_get(result, "latest_file_state");
	json_t *content = json_object_get(state, "content");
	struct sha256 sum;
	uint64_t version;
	const char *path;
	bool whole;

	if (!learn_state(state, &path, &sum, &version) ||
	    json_is_true(json_object_get(result, "dry_run")))
		return;
	whole = is_whole_text(content, &sum);
	if (whole)
		rebase_keep(session, &sum, content);
	if (made && (whole || span_starts(json_span(json_object_get(state, "content_omitted")),
	                                  SPAN("as sent"))))
		seen_edited(session, path, &sum, &sum, version, SPAN(""), true);
	else if (whole)
		seen_refused(session, path, &sum, version);
	else
		learn_on_other(session, state, path, &sum, made);
}

/* `all_made`: it is one of several changes, which do not say so each (answer_brief). */
static void learn_one(struct session *session, const struct tool *tool, const json_t *result,
                      bool all_made)
{
	const json_t *success = json_object_get(result, "success");

	if (json_object_get(result, "latest_file_state"))
		learn_edit(session, result, success ? json_is_true(success) : all_made);
	else if (tool_kind_of(tool) == TOOL_KIND_READ)
		learn_read(session, result);
}

void answer_learn(struct session *session, const struct tool *tool, const json_t *result)
{
	const json_t *const changes = json_object_get(result, "changes");
	const json_t *const lists[] = { changes, json_object_get(result, "output"), result };
	const bool all_made = json_is_true(json_object_get(result, "success"));
	size_t i;
	json_t *element;

	if (!tool || tool->server || json_object_get(result, "masked"))
		return;
	learn_one(session, tool, result, false);
	for (size_t list = 0; list < ARRAY_LEN(lists); list++)
		json_array_foreach(lists[list], i, element)
			learn_one(session, tool, element, lists[list] == changes && all_made);
}
