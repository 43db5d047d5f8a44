/* SPDX-License-Identifier: Apache-2.0 */
/* A conversation as Gemini takes it.  Most parts are as they are kept; those that are not are made
 * anew, and the kept ones stay untouched. */
#include "data/json.h"
#include "model/gemini/gemini.h"

/* What the validator of signatures takes for a call that never had one: from a conversation with
 * another model, or a call that was made up. */
#define NO_SIGNATURE "skip_thought_signature_validator"

static const char *const members[] = {
	"text", "thought", "thoughtSignature", "functionCall", "functionResponse", "inlineData",
	"fileData", "executableCode", "codeExecutionResult",
};
static const char *const call_members[] = { "id", "name", "args" };

static json_t *pick(const json_t *object, const char *const *names, size_t count)
{
	json_t *picked = json_object();

	for (size_t i = 0; i < count; i++) {
		json_t *value = json_object_get(object, names[i]);

		if (value)
			json_object_set(picked, names[i], value);
	}
	return picked;
}

/* Whether a part says anything to Gemini. */
static bool speaks(const json_t *part)
{
	const json_t *signature = json_object_get(part, "thoughtSignature");

	if (part_is_thought(part) && !signature)
		return false;
	if (json_object_get(part, "text"))
		return signature || json_span(json_object_get(part, "text")).len;
	for (size_t i = 3; i < sizeof(members) / sizeof(members[0]); i++)
		if (json_object_get(part, members[i]))
			return true;
	return false;
}

/* A response, with media inside where the family takes them so; what it does not is added after. */
static void add_response(json_t *parts, const json_t *response, enum gemini_family family)
{
	json_t *copy = json_copy((json_t *)response);
	json_t *media = json_object_get(copy, "parts"), *part;
	size_t i;

	if (!json_is_object(json_object_get(copy, "response")))
		json_object_set_new(copy, "response",
		                    json_pack("{s:O}", "output", json_object_get(copy, "response") ?
		                              json_object_get(copy, "response") : json_null()));
	json_incref(media);
	if (!gemini_signs(family))
		json_object_del(copy, "parts");
	json_array_append_new(parts, json_pack("{s:o}", "functionResponse", copy));
	if (!gemini_signs(family))
		json_array_foreach(media, i, part)
			json_array_append(parts, part);
	json_decref(media);
}

static void add_part(json_t *parts, const json_t *part, enum gemini_family family, bool sign)
{
	const json_t *call = part_get_call(part);
	json_t *copy;

	if (!speaks(part))
		return;
	if (part_get_response(part)) {
		add_response(parts, part_get_response(part), family);
		return;
	}
	copy = pick(part, members, sizeof(members) / sizeof(members[0]));
	if (call)
		json_object_set_new(copy, "functionCall", pick(call, call_members, 3));
	if (sign)
		json_object_set_new(copy, "thoughtSignature", json_string(NO_SIGNATURE));
	json_array_append_new(parts, copy);
}

/* Where the last turn begins: its first message is the last of the user's that is not responses alone.
 * Signatures of earlier turns are not asked for. */
static size_t last_turn(const json_t *contents)
{
	size_t i, j, begin = 0;
	const json_t *content, *part;

	json_array_foreach(contents, i, content) {
		if (!content_is_user(content))
			continue;
		bool responses = false;
		json_array_foreach(json_object_get(content, "parts"), j, part)
			responses |= part_get_response(part) != NULL;
		if (!responses)
			begin = i;
	}
	return begin;
}

json_t *gemini_contents(const json_t *contents, enum gemini_family family)
{
	size_t begin = last_turn(contents), i, j;
	json_t *out = json_array();
	const json_t *content, *part;

	json_array_foreach(contents, i, content) {
		bool first_call = i >= begin && gemini_signs(family);
		json_t *parts = json_array();

		json_array_foreach(json_object_get(content, "parts"), j, part) {
			bool sign = part_get_call(part) && first_call &&
			            !json_object_get(part, "thoughtSignature");

			if (part_get_call(part))
				first_call = false;
			add_part(parts, part, family, sign);
		}
		if (!json_array_size(parts))
			json_array_append_new(parts, part_text(SPAN("(nothing)")));
		json_array_append_new(out, json_pack("{s:s, s:o}", "role",
		                      content_is_user(content) ? "user" : "model", "parts", parts));
	}
	return out;
}
