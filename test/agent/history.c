/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"

void said(json_t *history, const char *text)
{
	json_array_append_new(history, content_user_text(span_str(text)));
}

void replied(json_t *history, const char *text)
{
	json_t *content = content_new("model");

	content_add(content, part_text(span_str(text)));
	json_array_append_new(history, content);
}

void called(json_t *history, const char *id, const char *name, json_t *args, json_t *response)
{
	json_auto_t *given = args ? args : json_object();
	json_t *call = content_new("model"), *answer = content_new("user");

	content_add(call, part_call(id, name, given));
	content_add(answer, part_response(id, name, response));
	json_array_append_new(history, call);
	json_array_append_new(history, answer);
}

json_t *response_at(const json_t *history, size_t message)
{
	json_t *parts = json_object_get(json_array_get(history, message), "parts");

	return json_object_get(json_object_get(json_array_get(parts, 0), "functionResponse"),
	                       "response");
}

json_t *content_of(const char *mark, size_t bytes)
{
	_cleanup_free_ char *text = mem_alloc(bytes + 1, 1);
	size_t len = strlen(mark);

	for (size_t i = 0; i < bytes; i++)
		text[i] = i < len ? mark[i] : i % 40 == 39 ? '\n' : 'x';
	return json_text(span_of(text, bytes));
}

static json_t *state(const char *path, int version, const char *mark, size_t bytes)
{
	json_t *object = json_object();
	struct sha256 sum = sha256_of(span_str(mark));

	json_object_set_new(object, "file_path", json_string(path));
	json_object_set_new(object, "version", json_integer(version));
	json_object_set_new(object, "sha256", json_sha256(&sum));
	json_object_set_new(object, "content", content_of(mark, bytes));
	return object;
}

json_t *reading_of(const char *path, int version, const char *mark, size_t bytes)
{
	json_t *object = state(path, version, mark, bytes);

	json_object_set_new(object, "truncated", json_false());
	return object;
}

json_t *edit_of(const char *path, int version, const char *mark, size_t bytes)
{
	json_t *object = json_object();

	json_object_set_new(object, "success", json_true());
	json_object_set_new(object, "message", json_string("Patch applied successfully."));
	json_object_set_new(object, "latest_file_state", state(path, version, mark, bytes));
	return object;
}
