/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/lists.h"

#include <string.h>

#include "data/json.h"

static void add(const char *from, const char *to, json_t *out)
{
	while (from < to && strchr(" \t\n", *from))
		from++;
	while (from < to && strchr(" \t\n", to[-1]))
		to--;
	if (from < to)
		json_array_append_new(out, json_text(span_of(from, (size_t)(to - from))));
}

void list_split(const char *text, json_t *out)
{
	const char *from = text;
	unsigned depth = 0;

	for (; *text; text++) {
		if (*text == '(')
			depth++;
		else if (*text == ')' && depth)
			depth--;
		if (*text != ',' || depth)
			continue;
		add(from, text, out);
		from = text + 1;
	}
	add(from, text, out);
}
