/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/edit.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

enum {
	LINE_MAX_BYTES = 120, /* a longer line says more than "the rest" */
	WORDS_MAX = 8,
	/* A file that has so many of its own is about placeholders: stop looking them up, each
	 * look-up costs a pass over the old text. */
	OWN_MAX = 64,
};

static const char *const markers[] = {
	"{/*", "<!--", "/**", "/*", "//", "--", "\"\"\"", "'''",
	"#", ";", "%", "*", "(", "[", "<", "REM ",
};
static const char *const closers[] = {
	"*/}", "*/", "-->", "\"\"\"", "'''", ")", "]", ">",
};

/* One sentence: its words in order; "?" before a word makes it optional, NOUN stands for a
 * word of `nouns`. */
#define NOUN "@"
static const char *const phrases[][WORDS_MAX] = {
	{ "?the", "rest", "of", "?the", "?your", "?this", NOUN },
	{ "?the", "rest", "of", "?the", "?existing", "?original", NOUN },
	{ "?the", "rest", "of", "?the", NOUN, "?remains", "?is", "unchanged" },
	{ "?the", "rest", "of", "?the", NOUN, "remains", "the", "same" },
	{ "?the", "rest", "?remains", "?is", "unchanged" },
	{ "?the", "rest", "of", "?it" },
	{ "?the", "existing", NOUN, "?here", "?remains", "?unchanged" },
	{ "?the", "remaining", NOUN, "?here", "?remains", "?unchanged" },
	{ "?the", "unchanged", NOUN, "?here" },
	{ "?the", "other", NOUN, "?remain", "unchanged" },
	{ "?the", NOUN, "?is", "?are", "?remains", "?remain", "unchanged" },
};

static const char *const nouns[] = {
	"code", "method", "methods", "function", "functions", "file", "class", "content",
	"contents", "implementation", "lines", "module", "body", "logic", "imports", "script",
	"document", "component", "tests",
};

static bool placeholder_is_word(struct span word, const char *str)
{
	return word.len == strlen(str) && strncasecmp(word.data, str, word.len) == 0;
}

static bool is_noun(struct span word)
{
	for (size_t i = 0; i < ARRAY_LEN(nouns); i++)
		if (placeholder_is_word(word, nouns[i]))
			return true;
	return false;
}

static bool phrase_fits(const char *const *phrase, const struct span *words, size_t count)
{
	size_t at = 0;

	for (size_t i = 0; i < WORDS_MAX && phrase[i]; i++) {
		bool optional = phrase[i][0] == '?';
		bool same = at < count && (strcmp(phrase[i], NOUN) == 0 ?
		                           is_noun(words[at]) :
		                           placeholder_is_word(words[at], phrase[i] + optional));

		if (same)
			at++;
		else if (!optional)
			return false;
	}
	return at == count;
}

/* Comment marks nest ("# (rest of methods...)"), but not deeply. */
enum { MARKS_MAX = 3 };

static struct span strip_marker(struct span line)
{
	for (size_t i = 0, found = 0; i < ARRAY_LEN(markers) && found < MARKS_MAX; i++) {
		struct span marker = span_str(markers[i]);

		if (span_starts(line, marker)) {
			line = span_trim(span_skip(line, marker.len));
			i = SIZE_MAX; /* from the first again */
			found++;
		}
	}
	for (size_t i = 0, found = 0; i < ARRAY_LEN(closers) && found < MARKS_MAX; i++) {
		struct span closer = span_str(closers[i]);

		if (span_ends(line, closer)) {
			line = span_trim(span_head(line, line.len - closer.len));
			i = SIZE_MAX;
			found++;
		}
	}
	return line;
}

/* Takes dots and ellipses off both ends; false when there were none worth the name. */
static bool strip_dots(struct span *line)
{
	static const struct span dots[] = { { "...", 3 }, { "\xE2\x80\xA6", 3 } };
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(dots); i++) {
		while (span_starts(*line, dots[i])) {
			*line = span_trim(span_skip(*line, dots[i].len));
			found = true;
		}
		while (span_ends(*line, dots[i])) {
			line->len -= dots[i].len;
			*line = span_trim(*line);
			found = true;
		}
	}
	return found;
}

static bool is_placeholder(struct span line)
{
	struct span words[WORDS_MAX + 1];
	size_t count = 0;

	line = strip_marker(line);
	if (!strip_dots(&line))
		return false;
	while (line.len) {
		size_t n = 0;

		while (n < line.len && line.data[n] != ' ' && line.data[n] != '\t')
			n++;
		if (count == ARRAY_LEN(words))
			return false;
		words[count++] = span_head(line, n);
		line = span_trim(span_skip(line, n));
	}
	for (size_t i = 0; count && i < ARRAY_LEN(phrases); i++)
		if (phrase_fits(phrases[i], words, count))
			return true;
	return false;
}

static bool has_dots(struct span text)
{
	return text.len && (memmem(text.data, text.len, "...", 3) ||
	                    memmem(text.data, text.len, "\xE2\x80\xA6", 3));
}

bool placeholder_check(struct span text, struct span old_text, const char *what,
                       struct err *err)
{
	struct span line;
	size_t number = 0, own = 0;

	if (!has_dots(text))
		return true;
	while (line_next(&text, &line)) {
		struct span body = span_trim(line_body(line));

		number++;
		if (body.len > LINE_MAX_BYTES || !has_dots(body) || !is_placeholder(body))
			continue;
		if (old_text.len && memmem(old_text.data, old_text.len, body.data, body.len)) {
			if (++own == OWN_MAX)
				return true;
			continue;
		}
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Line %zu of the new %s, \"%.*s\", stands for text that was left "
		               "out. Nothing was written; send the %s in full, or change only the "
		               "lines that differ.", number, what, (int)body.len, body.data, what);
	}
	return true;
}
