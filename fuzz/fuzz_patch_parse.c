/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of diffs: whatever the text, each of its lines is assigned once, and no change
 * is taken for prose (test/patch/record_check.h). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../test/patch/record_check.h"
#include "patch/parse.h"

#define CHECK(condition)             \
	do {                         \
		if (!(condition))    \
			abort();     \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	struct diff_text diff = { 0 };
	struct err err = ERR_INIT;
	size_t line = 0;

	if (parse_diff(text, &diff, &line, &err)) {
		const char *why = record_complain(text, &diff, &line);

		if (why)
			fprintf(stderr, "line %zu: %s\n", line, why);
		CHECK(!why && diff.hunk_count > 0);
		parse_diff_release(&diff);
	} else {
		CHECK(err.code != ERR_NONE && err.code != ERR_INTERNAL && err.message[0]);
	}
	return 0;
}
