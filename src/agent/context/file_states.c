/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/context/file_states.h"

#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"
#include "tool/tool.h"

enum {
	LARGE = 8192,  /* bytes; of a smaller file the content may come each time */
	DIFFS_MAX = 8, /* then the content comes once more: a model loses count */
};

bool file_states_have(const struct tool *tool)
{
	return tool && !tool->server &&
	       (tool->plans || !strcmp(tool->name, "read_file") ||
	        !strcmp(tool->name, "read_many_files"));
}

bool file_states_in(const char *tool_name)
{
	return tool_name && file_states_have(tool_find(tool_name));
}

static bool is_state(const json_t *object)
{
	return json_is_string(json_object_get(object, "file_path")) &&
	       json_is_integer(json_object_get(object, "version")) &&
	       json_object_get(object, "sha256") && json_object_get(object, "content");
}

static size_t add(json_t *result, struct file_state_place *found, size_t count, size_t max)
{
	json_t *state = json_object_get(result, "latest_file_state");

	if (is_state(result) && count < max)
		found[count++] = (struct file_state_place){ result, result };
	if (is_state(state) && count < max)
		found[count++] = (struct file_state_place){ state, result };
	return count;
}

size_t file_states_of(json_t *response, struct file_state_place *found, size_t max)
{
	static const char *const lists[] = { "changes", "output" };
	size_t count = add(response, found, 0, max), i;
	json_t *element;

	for (size_t list = 0; list < ARRAY_LEN(lists); list++)
		json_array_foreach(json_object_get(response, lists[list]), i, element)
			count = add(element, found, count, max);
	return count;
}

const json_t *file_states_call(const json_t *message, struct span id)
{
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(message, "parts"), i, part) {
		const json_t *call = part_get_call(part);

		if (call && span_eq(json_span(json_object_get(call, "id")), id))
			return json_object_get(call, "args");
	}
	return NULL;
}

static bool same_text(const json_t *a, const json_t *b)
{
	return json_is_string(a) && json_is_string(b) && span_eq(json_span(a), json_span(b));
}

bool file_states_sent(const json_t *args, const json_t *content)
{
	size_t i;
	json_t *change;

	if (same_text(json_object_get(args, "content"), content))
		return true;
	json_array_foreach(json_object_get(args, "changes"), i, change)
		if (same_text(json_object_get(change, "content"), content))
			return true;
	return false;
}

/* ---- what is known of one file ----------------------------------------------------- */

struct known {
	const char *path;
	const json_t *sum;  /* of the state that is known; NULL: none is */
	size_t whole;       /* bytes of the content */
	size_t diffs, diff_bytes;
};

/* The state that a call of an editor names, by any of its names for it. */
static const json_t *base_of(const json_t *args)
{
	static const char *const names[] = { "base_content_sha256", "base_sha256", "sha256" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (json_string_length(json_object_get(args, names[i])))
			return json_object_get(args, names[i]);
	return NULL;
}

static void learn(struct known *known, const struct file_state_place *place, const json_t *args)
{
	const json_t *sum = json_object_get(place->object, "sha256");
	const json_t *content = json_object_get(place->object, "content");
	const json_t *diff = json_object_get(place->result, "diff");

	if (json_is_string(content) && !json_is_true(json_object_get(place->object, "truncated")) &&
	    !json_object_get(place->object, "masked")) {
		*known = (struct known){ known->path, sum, json_string_length(content), 0, 0 };
	} else if (known->sum && same_text(sum, known->sum)) {
		return; /* as it was */
	} else if (known->sum && json_is_true(json_object_get(place->result, "success")) &&
	           json_is_string(diff) && same_text(base_of(args), known->sum)) {
		known->sum = sum;
		known->diffs++;
		known->diff_bytes += json_string_length(diff);
	} else {
		known->sum = NULL;
	}
}

static void learn_part(struct known *known, const json_t *before, const json_t *part,
                       struct file_state_place *places)
{
	const json_t *answer = part_get_response(part);
	const json_t *args;
	size_t count;

	if (!answer || !file_states_in(json_string_value(json_object_get(answer, "name"))))
		return;
	args = file_states_call(before, json_span(json_object_get(answer, "id")));
	count = file_states_of(json_object_get(answer, "response"), places, FILE_STATES_MAX);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(json_string_value(json_object_get(places[i].object, "file_path")),
		            known->path))
			learn(known, &places[i], args);
}

bool file_states_known(const json_t *history, const char *path, struct span sha256)
{
	_cleanup_free_ struct file_state_place *places = mem_alloc(FILE_STATES_MAX, sizeof(*places));
	struct known known = { .path = path };
	size_t i, k;
	json_t *message, *part;

	json_array_foreach((json_t *)history, i, message)
		json_array_foreach(json_object_get(message, "parts"), k, part)
			learn_part(&known, i ? json_array_get(history, i - 1) : NULL, part, places);
	return known.sum && span_eq(json_span(known.sum), sha256) && known.whole >= LARGE &&
	       known.diffs < DIFFS_MAX && known.diff_bytes * 2 < known.whole;
}
