/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader found, as JSON and back: from the child, and over the wire. */
#include "read/child.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"

json_t *derive_result_json(const struct derive_result *result)
{
	return json_pack("{s:o, s:o, s:O, s:O?, s:O?, s:b, s:o}",
	                 "kind", json_text(span_str(result->kind)),
	                 "library", json_text(span_str(result->library)),
	                 "facts", result->facts, "outline", result->outline,
	                 "pictures", result->pictures,
	                 "truncated", (int)result->truncated,
	                 "next", json_text(span_str(result->next)));
}

void derive_result_line(char *out, size_t size, const json_t *value)
{
	struct span text = utf8_head(json_span(value), size - 1);

	for (size_t i = 0; i < text.len; i++)
		out[i] = (unsigned char)text.data[i] < ' ' ? ' ' : text.data[i];
	out[text.len] = '\0';
}

/* A value whose names and strings fit into an answer. */
static bool facts_fit(const json_t *facts)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_DERIVE_FACTS);

	return json_print(&text, facts, 0);
}

static bool pictures_fit(const json_t *pictures)
{
	size_t i;
	const json_t *picture;

	json_array_foreach(pictures, i, picture)
		if (!json_is_string(json_object_get(picture, "mime_type")) ||
		    !json_is_string(json_object_get(picture, "data")))
			return false;
	return true;
}

static json_t *result_member(const json_t *object, const char *name, json_type type)
{
	json_t *value = json_object_get(object, name);

	return value && json_typeof(value) == type ? json_incref(value) : NULL;
}

bool derive_result_take(const json_t *object, struct derive_result *ret)
{
	derive_result_line(ret->kind, sizeof(ret->kind), json_object_get(object, "kind"));
	derive_result_line(ret->library, sizeof(ret->library), json_object_get(object, "library"));
	derive_result_line(ret->next, sizeof(ret->next), json_object_get(object, "next"));
	ret->facts = result_member(object, "facts", JSON_OBJECT);
	ret->outline = result_member(object, "outline", JSON_ARRAY);
	ret->pictures = result_member(object, "pictures", JSON_ARRAY);
	ret->truncated = json_is_true(json_object_get(object, "truncated"));
	return ret->facts && facts_fit(ret->facts) && pictures_fit(ret->pictures) &&
	       (!ret->outline || facts_fit(ret->outline));
}

bool derive_result_parse(struct span text, struct derive_result *ret, struct err *err)
{
	json_auto_t *object = NULL;

	*ret = (struct derive_result){ 0 };
	if (!json_parse_foreign(text, DERIVE_JSON_DEPTH, &object, NULL, err))
		return false;
	if (derive_result_take(object, ret))
		return true;
	derive_result_release(ret);
	return err_set(err, ERR_TOOL_FAILED, "What was derived from a file breaks the rules.");
}

void derive_result_release(struct derive_result *result)
{
	json_decref(result->facts);
	json_decref(result->outline);
	json_decref(result->pictures);
	buf_release(&result->text);
	*result = (struct derive_result){ 0 };
}
