/* SPDX-License-Identifier: Apache-2.0 */
/* What the interpreter of run_python answers, into the tool's result.
 *
 * It is not trusted: the model's code may have written it.  What is taken fits result_schema of
 * run_python.c, whatever came.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/builtin/private.h"

enum {
	ANSWER_DEPTH = 4,
	PICTURES_MAX = 8,
	TEXT_MAX = 128 << 10,  /* bytes of a value or a traceback: 20,000 characters and escapes */
};

/* Base64 of a picture of this type, as far as its first bytes show. */
static bool is_python_picture(struct span mime, struct span data)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	static const struct {
		const char *mime, *prefix;
	} kinds[] = { { "image/png", "iVBORw0KGgo" }, { "image/jpeg", "/9j/" } };
	size_t digits_len = strspn(data.len ? data.data : "", digits);
	bool known = false;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		known = known || (span_eq(mime, span_str(kinds[i].mime)) &&
		                  span_starts(data, span_str(kinds[i].prefix)));
	while (digits_len < data.len && digits_len + 2 >= data.len && data.data[digits_len] == '=')
		digits_len++;
	return known && digits_len == data.len && data.len % 4 == 0;
}

static void take_pictures(json_t *result, const json_t *answer)
{
	json_t *pictures = json_array(), *picture;
	json_int_t left_out = json_integer_value(json_object_get(answer, "pictures_left_out"));
	size_t i;

	json_array_foreach(json_object_get(answer, "pictures"), i, picture) {
		json_t *mime = json_object_get(picture, "mime_type");
		json_t *data = json_object_get(picture, "data");

		if (i < PICTURES_MAX && is_python_picture(json_span(mime), json_span(data)))
			json_array_append_new(pictures, json_pack("{s:O, s:O}", "mime_type", mime,
			                                          "data", data));
		else if (left_out < INT32_MAX)
			left_out++;
	}
	if (json_array_size(pictures))
		json_object_set(result, "pictures", pictures);
	if (left_out > 0)
		json_object_set_new(result, "pictures_left_out", json_integer(left_out));
	json_decref(pictures);
}

static void take_python_text(json_t *result, const json_t *answer, const char *name)
{
	const json_t *text = json_object_get(answer, name);

	if (json_is_string(text))
		json_object_set_new(result, name,
		                    json_text(utf8_head(json_span(text), TEXT_MAX)));
}

const char *python_answer_take(struct span body, json_t *result,
                               char ret_name[PYTHON_NAME_SHOWN + 1])
{
	static const char *const known[] = { "ok", "error", "exit", "interrupted" };
	json_auto_t *answer = NULL;
	struct err ignored = ERR_INIT;
	const char *found = NULL;
	struct span status, name;

	if (!json_parse_foreign(body, ANSWER_DEPTH, &answer, NULL, &ignored))
		return NULL;
	status = json_span(json_object_get(answer, "status"));
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (span_eq(status, span_str(known[i])))
			found = known[i];
	if (!found)
		return NULL;
	take_python_text(result, answer, "value");
	take_python_text(result, answer, "exception");
	take_pictures(result, answer);
	name = utf8_head(json_span(json_object_get(answer, "exception_name")), PYTHON_NAME_SHOWN);
	snprintf(ret_name, PYTHON_NAME_SHOWN + 1, "%.*s", (int)name.len, name.len ? name.data : "");
	return found;
}
