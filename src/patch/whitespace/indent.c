/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/whitespace/indent.h"

#include "base/mem.h"

/* Indentations longer than this are not source code. */
enum { INDENT_MAX = 4096 };

/* Pairs that an indentation is looked up among: bounds the work on hostile diffs. */
enum { PAIRS_LOOKED_AT = 4096 };

static const size_t widths[] = { 8, 4, 2, 3 };

struct span indent_of_line(struct span text)
{
	size_t n = 0;

	while (n < text.len && (text.data[n] == ' ' || text.data[n] == '\t'))
		n++;
	return span_head(text, n);
}

static bool has_tab(struct span indent)
{
	return indent.len && memchr(indent.data, '\t', indent.len);
}

/* Columns that an indentation covers with tab stops every `width`. */
static size_t columns_of(struct span indent, size_t width)
{
	size_t columns = 0;

	for (size_t i = 0; i < indent.len; i++)
		columns = indent.data[i] == '\t' ? (columns / width + 1) * width : columns + 1;
	return columns;
}

static bool all_same(const struct indent_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!span_eq(pairs[i].diff, pairs[i].file))
			return false;
	return true;
}

/* Whether one side of every pair is the other with the same prefix. */
static bool infer_prefix(const struct indent_pair *pairs, size_t count, bool in_diff,
                         struct span *ret)
{
	struct span prefix = span_of(NULL, 0);

	for (size_t i = 0; i < count; i++) {
		struct span longer = in_diff ? pairs[i].diff : pairs[i].file;
		struct span shorter = in_diff ? pairs[i].file : pairs[i].diff;
		struct span front;

		if (longer.len <= shorter.len || !span_ends(longer, shorter))
			return false;
		front = span_head(longer, longer.len - shorter.len);
		if (i && !span_eq(front, prefix))
			return false;
		prefix = front;
	}
	*ret = prefix;
	return count > 0;
}

/* Whether the diff's indentation is all spaces and the file's the same columns
 * with tabs, or the other way round. */
static bool infer_tabs(const struct indent_pair *pairs, size_t count, bool file_has_tabs,
                       size_t width)
{
	bool seen = false;

	for (size_t i = 0; i < count; i++) {
		struct span tabbed = file_has_tabs ? pairs[i].file : pairs[i].diff;
		struct span spaced = file_has_tabs ? pairs[i].diff : pairs[i].file;

		if (has_tab(spaced) || columns_of(tabbed, width) != spaced.len)
			return false;
		seen |= has_tab(tabbed);
	}
	return seen;
}

static bool infer_scale(const struct indent_pair *pairs, size_t count, size_t *ret_file,
                        size_t *ret_diff)
{
	size_t file = 0, diff = 0;

	for (size_t i = 0; i < count; i++) {
		if (has_tab(pairs[i].diff) || has_tab(pairs[i].file))
			return false;
		if (!pairs[i].diff.len && !pairs[i].file.len)
			continue;
		if (!pairs[i].diff.len || !pairs[i].file.len)
			return false;
		if (diff && pairs[i].file.len * diff != file * pairs[i].diff.len)
			return false;
		if (!diff || pairs[i].diff.len < diff) {
			diff = pairs[i].diff.len;
			file = pairs[i].file.len;
		}
	}
	*ret_file = file;
	*ret_diff = diff;
	return diff > 0;
}

/* Whether equal indentations of the diff always stand for equal ones of the file. */
static bool is_map(const struct indent_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i && j < 64; j++)
			if (span_eq(pairs[i].diff, pairs[j].diff) &&
			    !span_eq(pairs[i].file, pairs[j].file))
				return false;
	return true;
}

struct indent_rule indent_infer(const struct indent_pair *pairs, size_t count)
{
	struct indent_rule rule = { .kind = INDENT_SAME, .pairs = pairs, .count = count };

	if (all_same(pairs, count))
		return rule;
	rule.kind = INDENT_STRIP;
	if (infer_prefix(pairs, count, true, &rule.prefix))
		return rule;
	for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
		rule.width = widths[i];
		rule.kind = INDENT_TABS;
		if (infer_tabs(pairs, count, true, rule.width))
			return rule;
		rule.kind = INDENT_SPACES;
		if (infer_tabs(pairs, count, false, rule.width))
			return rule;
	}
	rule.kind = INDENT_ADD;
	if (infer_prefix(pairs, count, false, &rule.prefix))
		return rule;
	rule.kind = INDENT_SCALE;
	if (infer_scale(pairs, count, &rule.width, &rule.from))
		return rule;
	rule.kind = is_map(pairs, count) ? INDENT_MAP : INDENT_UNKNOWN;
	return rule;
}

static bool put(struct buf *out, char c, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_char(out, c);
	return true;
}

enum map_answer { MAP_NONE, MAP_ONE, MAP_CONFLICT };

/* What the file has where the diff has this very indentation. */
static enum map_answer ask_map(const struct indent_rule *rule, struct span indent,
                               struct span *ret)
{
	enum map_answer answer = MAP_NONE;

	for (size_t i = 0; i < rule->count && i < PAIRS_LOOKED_AT; i++) {
		if (!span_eq(rule->pairs[i].diff, indent))
			continue;
		if (answer == MAP_ONE && !span_eq(*ret, rule->pairs[i].file))
			return MAP_CONFLICT;
		*ret = rule->pairs[i].file;
		answer = MAP_ONE;
	}
	return answer;
}

static bool undo_by_map(const struct indent_rule *rule, struct span indent, struct buf *out)
{
	struct span file;

	return ask_map(rule, indent, &file) == MAP_ONE && buf_span(out, file);
}

static bool undo_tabs(const struct indent_rule *rule, struct span indent, struct buf *out)
{
	struct span file;

	if (has_tab(indent))
		return buf_span(out, indent);
	/* What the file has for this very indentation is better than arithmetic. */
	switch (ask_map(rule, indent, &file)) {
	case MAP_ONE:
		return buf_span(out, file);
	case MAP_CONFLICT:
		return false;
	case MAP_NONE:
		break;
	}
	if (indent.len % rule->width)
		return false; /* alignment: with tabs, or not? */
	return put(out, '\t', indent.len / rule->width);
}

bool indent_undo(const struct indent_rule *rule, struct span indent, struct buf *out)
{
	if (indent.len > INDENT_MAX)
		return false;
	switch (rule->kind) {
	case INDENT_SAME:
		return buf_span(out, indent);
	case INDENT_STRIP:
		if (!span_starts(indent, rule->prefix))
			return false;
		return buf_span(out, span_skip(indent, rule->prefix.len));
	case INDENT_ADD:
		buf_span(out, rule->prefix);
		return buf_span(out, indent);
	case INDENT_TABS:
		return undo_tabs(rule, indent, out);
	case INDENT_SPACES:
		return put(out, ' ', columns_of(indent, rule->width));
	case INDENT_SCALE:
		if (has_tab(indent) || indent.len * rule->width % rule->from)
			return false;
		return put(out, ' ', indent.len * rule->width / rule->from);
	case INDENT_MAP:
		return undo_by_map(rule, indent, out);
	case INDENT_UNKNOWN:
		break;
	}
	return false;
}
