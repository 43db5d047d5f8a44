/* SPDX-License-Identifier: Apache-2.0 */
/* What skills and commands of Claude Code have in their front matter. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unseen.h"
#include "catalog/private.h"
#include "data/json.h"

enum {
	FIELD_LINE_MAX = 200,  /* bytes of a line that is shown */
	FIELD_WORDS_MAX = 500,
};

char *catalog_first_line(struct span text)
{
	struct span line = { 0 };

	while (!line.len && line_next(&text, &line))
		line = span_trim(line);
	line = utf8_head(line, FIELD_LINE_MAX);
	return line.len ? mem_dup(line.data, line.len) : NULL;
}

char *catalog_argument_hint(const json_t *fields)
{
	const json_t *hint = json_object_get(fields, "argument-hint"), *word;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
	size_t i;

	buf_span(&out, json_span(hint));
	json_array_foreach((json_t *)hint, i, word) {
		buf_str(&out, i ? ", " : "[");
		buf_span(&out, json_span(word));
	}
	buf_str(&out, json_array_size(hint) ? "]" : "");
	return out.len ? unseen_line(buf_view(&out), FIELD_LINE_MAX) : NULL;
}

char *catalog_model_words(const char *word)
{
	static const char *const sessions[] = { "inherit", "default", "sonnet", "opus", "haiku" };

	if (!word || !*word || strlen(word) > FIELD_LINE_MAX)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(sessions); i++)
		if (strcasecmp(word, sessions[i]) == 0)
			return NULL;
	return strncmp(word, "claude-", 7) == 0 ? mem_printf("anthropic/%s", word) :
	                                          mem_strdup(word);
}

/* Adds the words of a text; what stands in parentheses is part of a word. */
static void add_field_words(json_t *words, struct span text)
{
	while (text.len && json_array_size(words) < FIELD_WORDS_MAX) {
		int depth = 0;
		size_t len = 0;

		for (; len < text.len; len++) {
			const char c = text.data[len];

			depth += (c == '(') - (c == ')');
			if (depth <= 0 && (c == ',' || isspace((unsigned char)c)))
				break;
		}
		if (len)
			json_array_append_new(words, json_text(span_head(text, len)));
		text = span_skip(text, len < text.len ? len + 1 : len);
	}
}

json_t *catalog_words(const json_t *value)
{
	json_t *words = json_array(), *one;
	size_t i;

	add_field_words(words, json_span(value));
	json_array_foreach((json_t *)value, i, one)
		add_field_words(words, json_span(one));
	if (json_array_size(words))
		return words;
	json_decref(words);
	return NULL;
}
