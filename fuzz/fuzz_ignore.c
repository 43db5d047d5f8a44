/* SPDX-License-Identifier: Apache-2.0 */
/* An ignore file up to the first NUL, one path after it: never a crash or a slow
 * match, and a rule for all paths decides every one. */
#include <stdint.h>
#include <stdlib.h>

#include "search/rules/chain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *nul = size > 0 ? memchr(text, '\0', size) : NULL;
	struct span rules_text = span_of(text, nul ? (size_t)(nul - text) : size);
	struct span path = span_skip(span_of(text, size), rules_text.len + 1);
	struct ignore_rules *rules = ignore_parse(rules_text);
	enum ignore_verdict as_file = ignore_match(rules, path, /* is_folder= */ false);

	ignore_match(rules, path, /* is_folder= */ true);
	if (as_file == IGNORE_UNDECIDED && span_starts(rules_text, SPAN("/**\n")) && path.len > 0)
		abort();
	ignore_free(rules);
	return 0;
}
