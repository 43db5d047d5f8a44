/* SPDX-License-Identifier: Apache-2.0 */
/* The types of JSON Schema. */
#include <math.h>
#include <string.h>

#include "data/json.h"
#include "schema/private.h"

static bool is_integral(const json_t *value)
{
	const double number = json_real_value(value);

	return json_is_integer(value) ||
	       (json_is_real(value) && isfinite(number) && floor(number) == number);
}

static bool fits_name(const char *name, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return !strcmp(name, "object");
	case JSON_ARRAY:
		return !strcmp(name, "array");
	case JSON_STRING:
		return !strcmp(name, "string");
	case JSON_NULL:
		return !strcmp(name, "null");
	case JSON_TRUE:
	case JSON_FALSE:
		return !strcmp(name, "boolean");
	default:
		return !strcmp(name, "number") || (!strcmp(name, "integer") && is_integral(value));
	}
}

bool schema_type_fits(const json_t *type, const json_t *value)
{
	if (json_is_string(type))
		return fits_name(json_string_value(type), value);
	for (size_t i = 0; i < json_array_size(type); i++) {
		const char *name = json_string_value(json_array_get(type, i));

		if (name && fits_name(name, value))
			return true;
	}
	return false;
}

const char *schema_value_phrase(const json_t *value)
{
	return is_integral(value) ? "an integer" : json_type_phrase(value);
}
