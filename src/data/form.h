/* SPDX-License-Identifier: Apache-2.0 */
/* Flat forms: what an MCP server asks a user to fill in (elicitation, mode "form").
 *
 *     json_t *fields;
 *     if (!form_read(requested_schema, &fields, &err)) ...   // not such a form
 *     ok = form_parse(json_array_get(fields, 0), SPAN("5"), &value, &err);
 *     content = form_check(fields, answers, &err);           // what may be sent; NULL: it may not
 *
 * A field is an object: {"name", "title"?, "description"?, "type", "required" (bool), "default"?,
 * "options"? [{"value", "label"}], "format"?, "minLength"?, "maxLength"?, "minimum"?, "maximum"?,
 * "minItems"?, "maxItems"?}.  "type": "string", "integer", "number", "boolean", "choice" (one of
 * the options) or "choices" (an array of them).  Titles, descriptions and labels are bounded, with
 * invisible characters escaped (base/unseen.h); names and values of options contain none.  All of
 * it is foreign text.
 *
 * Source: requestedSchema of elicitation/create, MCP 2025-11-25, with enumNames of 2025-06-18.
 * Other keywords are ignored; a property of any other shape makes the form invalid.
 */
#ifndef HASP_DATA_FORM_H
#define HASP_DATA_FORM_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/span.h"

enum {
	FORM_FIELDS_MAX = 32,
	FORM_OPTIONS_MAX = 100, /* of one field */
	FORM_NAME_BYTES = 256,  /* of a name or value, and of a title or label */
	FORM_TEXT_BYTES = 2048, /* of a description */
	FORM_VALUE_BYTES = 64 << 10, /* of what is typed into one */
};

/* The fields of a requestedSchema, in its order, a new array.  A default that the field itself does
 * not allow, or that cannot be shown whole, is left out.  INVALID_ARGUMENT: it is no flat form;
 * TOO_LARGE. */
bool form_read(const json_t *schema, json_t **ret_fields, struct err *err);

/* Whether a field may have this value; NULL: it is left out.  INVALID_ARGUMENT: why not, in a
 * sentence for the user. */
bool form_check_value(const json_t *field, const json_t *value, struct err *err);
/* The values of `content` that belong to fields, a new object. NULL, INVALID_ARGUMENT: some value
 * is missing or wrong. */
json_t *form_check(const json_t *fields, const json_t *content, struct err *err);
/* What was typed into a string, integer or number: *ret, a new reference; NULL for nothing, which
 * leaves out a field that is not required.  Errors as of form_check_value. */
bool form_parse(const json_t *field, struct span typed, json_t **ret, struct err *err);
/* Whether its name or title says that a password, a key or a token is wanted. */
bool form_requires_secret(const json_t *field);

#endif
