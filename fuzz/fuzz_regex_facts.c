/* SPDX-License-Identifier: Apache-2.0 */
/* A pattern that PCRE2 takes: what is read off it has the form that it should have, and what
 * is written anew is a pattern too. */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/text.h"
#include "search/match/engine.h"
#include "search/match/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_pattern(struct span text, bool ignore_case)
{
	struct engine_options options = { .pattern = text, .ignore_case = ignore_case,
		                          .no_jit = true };
	struct engine *engine = NULL;
	struct err err = ERR_INIT;
	bool good = engine_compile(&options, &engine, &err);

	engine_free(engine);
	return good;
}

static void check_literal(struct span literal, bool ignore_case)
{
	if (literal.len == 0)
		abort();
	for (size_t i = 0; ignore_case && i < literal.len; i++) {
		char c = literal.data[i];

		if ((c >= 'A' && c <= 'Z') || c == 'k' || c == 's' || (c & 0x80))
			abort();
	}
}

static void check_facts(struct span pattern, bool ignore_case)
{
	struct regex_facts facts;
	struct span line_text;

	regex_facts_read(pattern, ignore_case, &facts);
	for (size_t i = 0; i < facts.needs.count; i++) {
		const struct matcher_alternative *alternative = &facts.needs.alternatives[i];

		if (alternative->count == 0)
			abort();
		for (size_t k = 0; k < alternative->count; k++)
			check_literal(alternative->literals[k], ignore_case);
	}
	line_text = buf_view(&facts.line_text);
	/* A large one may have become too large. */
	if (line_text.len > 0 && pattern.len < 256 && !is_pattern(line_text, ignore_case))
		abort();
	regex_facts_release(&facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span pattern = span_of((const char *)data, size);

	if (size == 0 || size > LIMIT_PATTERN_BYTES || !utf8_valid(pattern) ||
	    memchr(data, '\0', size))
		return 0;
	(void)regex_is_lower(pattern);
	(void)regex_names_cr(pattern);
	(void)regex_asks_for_line_end(pattern);
	if (regex_has_settings(pattern) || !is_pattern(pattern, false))
		return 0;
	check_facts(pattern, false);
	check_facts(pattern, true);
	return 0;
}
