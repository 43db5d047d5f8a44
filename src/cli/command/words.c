/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"

static const char blanks[] = " \t\n\r";

void words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

static bool from_array(const json_t *array, char ***ret, struct err *err)
{
	size_t count = json_array_size(array);
	char **words = mem_alloc(count + 1, sizeof(*words));

	for (size_t i = 0; i < count; i++) {
		const json_t *word = json_array_get(array, i);

		if (!json_is_string(word) || strlen(json_string_value(word)) !=
		                                     json_string_length(word)) {
			words_free(words);
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "Element %zu of the array is no text that can be a word.",
			               i + 1);
		}
		words[i] = mem_strdup(json_string_value(word));
	}
	*ret = words;
	return true;
}

/* Whether a backslash at `at` takes the meaning of what follows away. */
static bool is_escape(const char *at, char quote)
{
	return at[0] == '\\' && at[1] && quote != '\'' &&
	       (!quote || at[1] == '"' || at[1] == '\\');
}

/* One word from *at, which moves behind it. */
static bool take_word(const char **at, char **ret, struct err *err)
{
	struct buf word = BUF_INIT(LIMIT_PATH_BYTES * 4);
	const char *c = *at;
	char quote = 0;

	for (; *c && (quote || !strchr(blanks, *c)); c++) {
		if (is_escape(c, quote))
			buf_char(&word, *++c);
		else if (quote ? *c == quote : *c == '\'' || *c == '"')
			quote = quote ? 0 : *c;
		else
			buf_char(&word, *c);
	}
	*at = c;
	if (quote || word.overflowed) {
		buf_release(&word);
		return quote ? err_set(err, ERR_INVALID_ARGUMENT, "A quote (%c) is not closed.",
		                       quote)
		             : err_set(err, ERR_INVALID_ARGUMENT, "A word is too long.");
	}
	*ret = word.data ? buf_steal(&word) : mem_strdup("");
	return true;
}

static bool from_line(const char *text, char ***ret, struct err *err)
{
	size_t room = 0, count = 0;
	char **words = NULL;

	for (;;) {
		text += strspn(text, blanks);
		words = mem_grow(words, &room, count + 1, sizeof(*words));
		words[count] = NULL;
		if (!*text)
			break;
		if (!take_word(&text, &words[count], err)) {
			words_free(words);
			return false;
		}
		count++;
	}
	*ret = words;
	return true;
}

bool words_split(const char *text, char ***ret, struct err *err)
{
	const char *start = text + strspn(text, blanks);
	json_auto_t *array = NULL;
	char **words = NULL;

	if (*start == '[') {
		if (!json_parse(span_str(start), &array, err))
			return false;
		if (!from_array(array, &words, err))
			return false;
	} else if (!from_line(start, &words, err)) {
		return false;
	}
	if (!words[0] || !*words[0]) {
		words_free(words);
		return err_set(err, ERR_INVALID_ARGUMENT, "No program is named.");
	}
	*ret = words;
	return true;
}
