/* SPDX-License-Identifier: Apache-2.0 */
/* Any schema for every format: what is sent can be printed, is that of an object, and is bounded; its
 * names go out and come back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "data/json.h"
#include "model/tool_fit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEPTH = 40, LARGEST = 16 << 20 };

/* Arguments with a value for each member. */
static void names_must_return(const json_t *schema, const json_t *names)
{
	json_auto_t *arguments = json_object(), *sent = NULL, *back = NULL;
	const char *name;
	json_t *member;

	json_object_foreach(json_object_get(schema, "properties"), name, member)
		json_object_set_new_nocheck(arguments, name, json_true());
	sent = schema_names_apply(names, "sent", schema, arguments);
	back = schema_names_apply(names, "given", schema, sent);
	if (!json_equal(back, arguments))
		abort();
}

static void fit_one(const char *format, const json_t *schema)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LARGEST);
	json_auto_t *names = schema_names(format, schema);
	json_auto_t *fit = schema_fit_arguments(format, schema, names);
	json_auto_t *answer = schema_fit_answer(format, schema);

	if (!json_print(&out, fit, 0) || !json_print(&out, answer, 0) ||
	    !span_eq(json_span(json_object_get(fit, "type")), SPAN("object")) ||
	    json_object_get(fit, "anyOf") || json_object_get(fit, "oneOf") ||
	    json_object_get(fit, "allOf") || json_object_get(fit, "$ref"))
		abort();
	names_must_return(schema, names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = { "openai", "openai-responses", "anthropic",
	                                       "gemini" };
	struct err err = ERR_INIT;
	json_auto_t *schema = NULL;

	if (size > LARGEST ||
	    !json_parse_depth(span_of((const char *)data, size), DEPTH, &schema, &err) ||
	    !json_is_object(schema))
		return 0;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		fit_one(formats[i], schema);
	return 0;
}
