/* SPDX-License-Identifier: Apache-2.0 */
/* Counting over a session's file: never a crash, and no number is below zero. */
#include <stdint.h>
#include <stdlib.h>

#include "agent/session/figures.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const json_t *object)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value) {
		if (json_is_integer(value) && json_integer_value(value) < 0)
			abort();
		look_at(value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct figures_options options = { .since = size % 2 ? "2026" : NULL };
	json_auto_t *figures = figures_of_text(&options, span_of((const char *)data, size));

	look_at(figures);
	return 0;
}
