/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/context/weight.h"

#include <string.h>

#include "data/json.h"

enum { PUNCTUATION = 4 };

static size_t weigh(const json_t *value, unsigned depth)
{
	size_t sum = PUNCTUATION, i;
	const char *name;
	json_t *member;

	if (!value || depth > JSON_DEPTH_MAX)
		return 0;
	if (json_is_string(value))
		return sum + json_string_length(value);
	if (json_is_array(value))
		json_array_foreach((json_t *)value, i, member)
			sum += weigh(member, depth + 1);
	if (json_is_object(value))
		json_object_foreach((json_t *)value, name, member)
			sum += strlen(name) + weigh(member, depth + 1);
	return sum;
}

size_t json_weight(const json_t *value)
{
	return weigh(value, 0);
}
