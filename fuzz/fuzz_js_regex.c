/* SPDX-License-Identifier: Apache-2.0 */
/* Any expression on any text: it is refused, or what is translated compiles or is told, and it
 * ends. The input is the expression, a line end, the text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "search/match/js_regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span all = span_of((const char *)data, size);
	const char *end = size ? memchr(data, '\n', size) : NULL;
	struct span pattern = span_head(all, end ? (size_t)(end - all.data) : size);
	struct err err = ERR_INIT;
	struct js_regex *eager, *lazy;

	if (size > 16384)
		return 0;
	if (js_regex_compile_with(pattern, JS_REGEX_LAZY, &lazy, &err)) {
		bool compiles = js_regex_compile(pattern, &eager, &err);
		enum js_regex_result outcome = js_regex_test(lazy, span_skip(all, pattern.len + 1));

		/* Lazily compiled, one that cannot be compiled says nothing. */
		if (!compiles && outcome != JS_REGEX_UNKNOWN)
			abort();
		if (compiles && outcome != js_regex_test(eager, span_skip(all, pattern.len + 1)) &&
		    outcome != JS_REGEX_UNKNOWN)
			abort();
		if (compiles)
			js_regex_free(eager);
		js_regex_free(lazy);
	}
	if (err.code != ERR_NONE && !err.message[0])
		abort();
	return 0;
}
