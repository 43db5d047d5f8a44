/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/params.h"

#include <stdio.h>
#include <string.h>

#include "data/json.h"
#include "net/rpc/rpc.h"

static bool wrong(const struct param *rule, const char *what, struct refusal *refusal)
{
	return refuse(refusal, RPC_INVALID_PARAMS, "params.%s%s%s %s.",
	              rule->parent ? rule->parent : "", rule->parent ? "." : "", rule->name, what);
}

static bool has_type(const json_t *value, enum param_type type)
{
	switch (type) {
	case PARAM_STRING:
		return json_is_string(value);
	case PARAM_OBJECT:
		return json_is_object(value);
	case PARAM_STRING_OR_INTEGER:
		return json_is_string(value) || json_is_integer(value);
	}
	return false;
}

static bool check_one(const json_t *value, const struct param *rule, struct refusal *refusal)
{
	static const char *const wanted[] = {
		[PARAM_STRING] = "a string",
		[PARAM_OBJECT] = "an object",
		[PARAM_STRING_OR_INTEGER] = "a string or an integer",
	};
	struct span text = json_span(value);
	char what[128];

	if (!value)
		return !rule->required || wrong(rule, "is missing", refusal);
	if (!has_type(value, rule->type)) {
		snprintf(what, sizeof(what), "has to be %s, not %s", wanted[rule->type],
		         json_type_phrase(value));
		return wrong(rule, what, refusal);
	}
	if (text.len && memchr(text.data, '\0', text.len))
		return wrong(rule, "contains U+0000", refusal);
	return true;
}

bool params_check(const json_t *params, const struct param *rules, struct refusal *refusal)
{
	for (const struct param *rule = rules; rule->name; rule++) {
		const json_t *object =
			rule->parent ? json_object_get(params, rule->parent) : params;
		const json_t *value = json_object_get(object, rule->name);

		if (rule->nullable && json_is_null(value))
			value = NULL;
		if ((object || !rule->parent) && !check_one(value, rule, refusal))
			return false;
	}
	return true;
}
