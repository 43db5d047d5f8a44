/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/hunk_reading.h"

#include <string.h>

#include "base/limits.h"
#include "patch/other_reading.h"

/* Appends the lines of the hunk that are one of `ops`. */
static void append_ops(const struct diff_text *diff, size_t h, const char *ops, struct buf *out)
{
	const struct hunk *hunk = &diff->hunks[h];

	for (size_t i = 0; i < hunk->count; i++) {
		const struct hunk_line *line = &diff->lines[hunk->first + i];

		if (!strchr(ops, line->op))
			continue;
		buf_span(out, line->text);
		buf_char(out, '\n');
	}
}

/* Makes the hunk's lines that are one of `ops` the ends of themselves that the text has. */
static bool shorten_lines(struct diff_text *diff, size_t h, const char *ops, struct span text)
{
	struct hunk *hunk = &diff->hunks[h];
	struct span line;

	for (size_t i = 0; i < hunk->count; i++) {
		struct hunk_line *at = &diff->lines[hunk->first + i];

		if (!strchr(ops, at->op))
			continue;
		if (!line_next(&text, &line) || !span_ends(at->text, line_body(line)))
			return false;
		at->text = span_skip(at->text, at->text.len - line_body(line).len);
	}
	return !text.len;
}

/* The two texts of a hunk as an update would have them. */
struct texts {
	struct buf old_text, text;
};

static void texts_release(struct texts *texts)
{
	buf_release(&texts->old_text);
	buf_release(&texts->text);
}
#define _cleanup_texts_ __attribute__((cleanup(texts_release)))

static void hunk_texts(const struct diff_text *diff, size_t h, const char *new_ops,
                       struct texts *ret)
{
	*ret = (struct texts){ BUF_INIT(LIMIT_DIFF_BYTES), BUF_INIT(LIMIT_DIFF_BYTES) };
	append_ops(diff, h, " -", &ret->old_text);
	append_ops(diff, h, new_ops, &ret->text);
}

bool hunk_reading_unnumbered(struct diff_text *diff, bool space)
{
	for (size_t h = 0; h < diff->hunk_count; h++) {
		_cleanup_texts_ struct texts texts;
		_cleanup_other_reading_ struct other_reading reading = { 0 };

		hunk_texts(diff, h, "+", &texts);
		if (!other_reading_unnumbered(buf_view(&texts.old_text), buf_view(&texts.text),
		                              space, &reading) ||
		    !shorten_lines(diff, h, " -", buf_view(&reading.old_text)) ||
		    !shorten_lines(diff, h, "+", buf_view(&reading.text)))
			return false;
	}
	return diff->hunk_count > 0;
}

size_t hunk_reading_lone_number(const struct diff_text *diff, size_t h)
{
	_cleanup_texts_ struct texts texts;
	_cleanup_other_reading_ struct other_reading reading = { 0 };

	hunk_texts(diff, h, "", &texts);
	other_reading_unnumbered(buf_view(&texts.old_text), span_of("", 0), /* space= */ false,
	                         &reading);
	return reading.line;
}

bool hunk_reading_done(const struct lines *base, const struct diff_text *diff, size_t h,
                       size_t *ret_line)
{
	_cleanup_texts_ struct texts texts;
	_cleanup_other_reading_ struct other_reading reading = { 0 };
	bool done;

	hunk_texts(diff, h, " +", &texts);
	done = other_reading_done(base, buf_view(&texts.old_text), buf_view(&texts.text), &reading);
	*ret_line = reading.line;
	return done;
}
