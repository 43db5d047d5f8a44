/* SPDX-License-Identifier: Apache-2.0 */
/* How many skills and agents the model is offered: what does not fit in a budget is found by its
 * words. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "catalog/names.h"

enum {
	BYTES_A_TOKEN = 4,
	LINE_WHOLE = LIMIT_SKILL_DESCRIPTION,
	MATCHES_MAX = 6,      /* with what follows, the size of an error */
	MATCH_LINE = 110,     /* bytes of a description among matches */
	MATCH_WORDS_MAX = 32,
};

static void put_catalog_line(const struct catalog_line *line, size_t longest, bool note,
                             struct buf *out)
{
	const struct span text = span_str(line->description);
	const struct span head = utf8_head(text, longest);

	buf_printf(out, "- %s", line->name);
	if (head.len)
		buf_printf(out, ": %.*s%s", (int)head.len, head.data,
		           head.len < text.len ? "..." : "");
	if (note && line->note)
		buf_str(out, line->note);
	buf_char(out, '\n');
}

size_t catalog_lines_put(const struct catalog_line *lines, size_t count, size_t budget,
                         struct buf *out)
{
	/* From whole lines to names alone. */
	static const size_t lengths[] = { LINE_WHOLE, LINE_WHOLE, 400, 250, 150, 80, 40, 0 };
	_cleanup_buf_ struct buf list = BUF_INIT(LIMIT_MESSAGE_BYTES);
	const size_t most = budget * BYTES_A_TOKEN;
	size_t fit = 0;

	for (size_t k = 0; k < ARRAY_LEN(lengths); k++) {
		buf_clear(&list);
		for (size_t i = 0; i < count && list.len <= most; i++)
			put_catalog_line(&lines[i], lengths[k], k == 0, &list);
		if (list.len <= most) {
			buf_span(out, buf_view(&list));
			return 0;
		}
	}
	for (size_t before = out->len; fit < count; fit++) {
		buf_clear(&list);
		put_catalog_line(&lines[fit], 0, false, &list);
		if (out->len + list.len - before > most)
			break;
		buf_span(out, buf_view(&list));
	}
	return count - fit;
}

/* ---- by words -------------------------------------------------------------------- */

struct line_match {
	size_t at;
	unsigned score;
};

static int compare_matches(const void *a, const void *b)
{
	const struct line_match *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static bool is_query_word_byte(char c)
{
	return ascii_is_alnum(c) || (unsigned char)c >= 0x80;
}

/* A word in the name counts for more. */
static unsigned line_score(const struct catalog_line *line, struct span words)
{
	unsigned score = 0;

	for (size_t n = 0; words.len && n < MATCH_WORDS_MAX; n++) {
		_cleanup_free_ char *word = NULL;
		size_t len = 0;

		while (words.len && !is_query_word_byte(words.data[0]))
			words = span_skip(words, 1);
		while (len < words.len && is_query_word_byte(words.data[len]))
			len++;
		word = len ? mem_dup(words.data, len) : NULL;
		words = span_skip(words, len);
		if (word && strcasestr(line->name, word))
			score += 3;
		if (word && len > 2 && strcasestr(line->description, word))
			score++;
	}
	return score;
}

bool catalog_lines_match(const struct catalog_line *lines, size_t count, struct span words,
                         struct buf *out)
{
	_cleanup_free_ struct line_match *matches = mem_alloc(count + 1, sizeof(*matches));
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		const unsigned score = line_score(&lines[i], words);

		if (score)
			matches[found++] = (struct line_match){ i, score };
	}
	qsort(matches, found, sizeof(*matches), compare_matches);
	for (size_t i = 0; i < found && i < MATCHES_MAX; i++)
		put_catalog_line(&lines[matches[i].at], MATCH_LINE, false, out);
	return found;
}
