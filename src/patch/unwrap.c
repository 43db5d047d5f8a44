/* SPDX-License-Identifier: Apache-2.0 */
/* Code fences (CommonMark 0.30, section 4.5) and whole-diff indentation. */
#include "patch/unwrap.h"

#include <stdbool.h>

#include "base/text.h"

struct fence {
	char mark;     /* '`' or '~' */
	size_t run;    /* how many */
	size_t indent; /* spaces before */
	bool info;     /* text follows: it can only open */
};

static size_t count_spaces(struct span line)
{
	size_t n = 0;

	while (n < line.len && line.data[n] == ' ')
		n++;
	return n;
}

/* Spaces and tabs. */
static size_t count_blanks(struct span line)
{
	size_t n = 0;

	while (n < line.len && (line.data[n] == ' ' || line.data[n] == '\t'))
		n++;
	return n;
}

static bool parse_fence(struct span line, struct fence *ret)
{
	struct fence fence = { .indent = count_spaces(line) };
	struct span rest = span_skip(line_body(line), fence.indent);

	if (!rest.len || (rest.data[0] != '`' && rest.data[0] != '~'))
		return false;
	fence.mark = rest.data[0];
	while (fence.run < rest.len && rest.data[fence.run] == fence.mark)
		fence.run++;
	if (fence.run < 3)
		return false;
	fence.info = span_trim(span_skip(rest, fence.run)).len > 0;
	*ret = fence;
	return true;
}

static bool closes(const struct fence *open, const struct fence *line)
{
	return line->mark == open->mark && line->run >= open->run && !line->info &&
	       line->indent == open->indent;
}

static bool starts_hunk(struct span line)
{
	return span_starts(line, SPAN("@@"));
}

/* A diff line of a file header, which only counts when a name follows. */
static bool starts_header(struct span line)
{
	return (span_starts(line, SPAN("--- ")) || span_starts(line, SPAN("+++ ")) ||
	        span_starts(line, SPAN("diff --git "))) &&
	       span_trim(line).len > 4;
}

static bool holds_hunk(struct span text)
{
	struct span line;

	while (line_next(&text, &line))
		if (starts_hunk(span_skip(line, count_blanks(line))))
			return true;
	return false;
}

/* Appends the contents of the fenced blocks that hold hunks. A fence after
 * an unfenced hunk is part of a file's text, not a wrapper: then nothing is fenced. */
static bool collect_fenced(struct span text, struct buf *out)
{
	struct span rest = text, line;
	struct fence open, fence;

	while (line_next(&rest, &line)) {
		struct span block;

		if (starts_hunk(span_skip(line, count_blanks(line))) && !out->len)
			return false;
		if (!parse_fence(line, &open))
			continue;
		block = span_of(rest.data, 0);
		while (line_next(&rest, &line)) {
			if (parse_fence(line, &fence) && closes(&open, &fence))
				break;
			block.len = (size_t)(line.data + line.len - block.data);
		}
		if (holds_hunk(block)) {
			buf_span(out, block);
			if (!span_ends(block, SPAN("\n")))
				buf_char(out, '\n');
		}
	}
	return out->len > 0;
}

/* The white space before the first header of a diff whose lines all begin with it;
 * empty when the diff is not indented as a whole. */
static struct span whole_indent(struct span text)
{
	struct span line, indent = span_of(NULL, 0);
	bool inside = false;

	while (line_next(&text, &line)) {
		size_t blanks = count_blanks(line);
		struct span rest = span_skip(line, blanks);

		if (!inside && (starts_hunk(rest) || starts_header(rest))) {
			inside = true;
			indent = span_head(line, blanks);
		}
		if (inside && span_trim(line).len && !span_starts(line, indent))
			return span_of(NULL, 0);
	}
	return indent;
}

struct span diff_unwrap(struct span text, struct buf *storage)
{
	struct span source, line, indent;

	if (span_starts(text, SPAN("\xEF\xBB\xBF")))
		text = span_skip(text, 3);
	source = text;

	if (collect_fenced(text, storage))
		source = buf_view(storage);
	indent = whole_indent(source);
	if (indent.len) {
		struct buf shifted = BUF_INIT(storage->max);

		while (line_next(&source, &line)) {
			size_t blanks = count_blanks(line);

			buf_span(&shifted, span_skip(line, blanks < indent.len ? blanks : indent.len));
		}
		buf_release(storage);
		*storage = shifted;
		source = buf_view(storage);
	}
	return source;
}
