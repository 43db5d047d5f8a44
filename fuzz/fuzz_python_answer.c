/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever an interpreter answers, what run_python takes of it fits the tool's result schema: short
 * texts in UTF-8, at most eight pictures of known types in base64; what is no answer leaves nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "data/json.h"
#include "tool/builtin/private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MOST = 128 << 10, PICTURES_MOST = 8 };

static bool is_in(const char *word, const char *const words[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static void check_text(const json_t *value)
{
	const struct span text = json_span(value);

	if (!json_is_string(value) || text.len > TEXT_MOST || !utf8_valid(text))
		abort();
}

static void check_pictures(const json_t *pictures)
{
	static const char *const mimes[] = { "image/png", "image/jpeg" };
	json_t *picture;
	size_t i;

	if (!json_array_size(pictures) || json_array_size(pictures) > PICTURES_MOST)
		abort();
	json_array_foreach(pictures, i, picture) {
		const char *mime = json_string_value(json_object_get(picture, "mime_type"));
		const struct span text = json_span(json_object_get(picture, "data"));

		if (json_object_size(picture) != 2 || !mime || !is_in(mime, mimes, 2) ||
		    !text.len || text.len % 4 || memchr(text.data, '\0', text.len))
			abort();
	}
}

static void check_member(const char *name, const json_t *value)
{
	if (!strcmp(name, "value") || !strcmp(name, "exception"))
		check_text(value);
	else if (!strcmp(name, "pictures"))
		check_pictures(value);
	else if (strcmp(name, "pictures_left_out") != 0 || json_integer_value(value) <= 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const known[] = { "ok", "error", "exit", "interrupted" };
	char name[PYTHON_NAME_SHOWN + 1] = "";
	json_t *result = json_object(), *value;
	const char *status = python_answer_take(span_of((const char *)data, size), result, name);
	const char *member;

	if (status ? !is_in(status, known, 4) : json_object_size(result) != 0)
		abort();
	if (!memchr(name, '\0', sizeof(name)) || !utf8_valid(span_str(name)))
		abort();
	json_object_foreach(result, member, value)
		check_member(member, value);
	json_decref(result);
	return 0;
}
