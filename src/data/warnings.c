/* SPDX-License-Identifier: Apache-2.0 */
#include "data/warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/unseen.h"
#include "data/json.h"

bool warnings_full(const json_t *list)
{
	return json_array_size(list) >= LIMIT_WARNINGS;
}

/* The number that the sentence after the last warning begins with; 0: none yet. */
static unsigned long counted_warnings(const json_t *list)
{
	const json_t *last = json_array_get(list, LIMIT_WARNINGS);
	const json_t *sentence = json_is_object(last) ? json_object_get(last, "message") : last;

	return sentence ? strtoul(json_string_value(sentence), NULL, 10) : 0;
}

static void count_warning(json_t *list, json_t *warning /* taken */)
{
	const unsigned long number = counted_warnings(list) + 1;
	json_t *sentence = json_sprintf("%lu more %s left out.", number,
	                                number == 1 ? "warning like this is" :
	                                              "warnings like these are");

	if (json_is_object(warning)) {
		json_object_set_new(warning, "message", sentence);
	} else {
		json_decref(warning);
		warning = sentence;
	}
	if (number == 1)
		json_array_append_new(list, warning);
	else
		json_array_set_new(list, LIMIT_WARNINGS, warning);
}

void warnings_add(json_t *list, json_t *warning)
{
	if (warnings_full(list))
		count_warning(list, warning);
	else
		json_array_append_new(list, warning); /* takes it without a list too */
}

void warnings_add_line(json_t *list, const char *format, ...)
{
	_cleanup_free_ char *line = NULL;
	char text[ERR_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	line = unseen_line(span_str(text), sizeof(text) - 1);
	warnings_add(list, json_text(span_str(line)));
}

void warnings_add_first(json_t *list, json_t *warning)
{
	json_t *last = NULL;

	if (warnings_full(list)) {
		last = json_incref(json_array_get(list, LIMIT_WARNINGS - 1));
		json_array_remove(list, LIMIT_WARNINGS - 1);
	}
	json_array_insert_new(list, 0, warning);
	if (last)
		count_warning(list, last);
}
