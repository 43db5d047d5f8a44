/* SPDX-License-Identifier: Apache-2.0 */
/* Vim's text objects: words, quotes, blocks, paragraphs; one table. */
#include "base/mem.h"
#include "tui/editor/vim.h"

static char char_at(const struct draft *draft, size_t at)
{
	return at < draft->text.len ? draft->text.data[at] : '\n';
}

static bool is_white(const struct draft *draft, size_t at)
{
	return char_at(draft, at) == ' ' || char_at(draft, at) == '\t';
}

/* ---- words ---- */

/* The start of the word or blanks that `at` is in, in its line. */
static size_t object_word_start(const struct draft *draft, size_t at, bool big)
{
	int class = vim_class(draft, at, big);
	size_t start = draft_line_start(draft, at);

	while (at > start) {
		size_t before = draft_previous(draft, at);

		if (vim_class(draft, before, big) != class)
			break;
		at = before;
	}
	return at;
}

/* One left in the line; false: it begins here. */
static bool one_left(const struct draft *draft, size_t *at)
{
	if (*at == draft_line_start(draft, *at))
		return false;
	*at = draft_previous(draft, *at);
	return true;
}

/* To the end of the word, or of the blanks, or of both, that begin at the place. */
static bool end_of_words(struct vim_motion *motion, bool around, bool big)
{
	const struct draft *draft = motion->draft;

	if ((vim_class(draft, motion->at, big) == 0) == around)
		return vim_end_word(draft, &motion->at, 1, big, VIM_END_OBJECT);
	vim_forward_word(draft, &motion->at, 1, big, true);
	return true;
}

static bool select_word(struct vim_motion *motion, bool around, int big)
{
	const struct draft *draft = motion->draft;
	bool blanks_behind = false;

	motion->start = motion->at = object_word_start(draft, motion->at, big);
	motion->kind = VIM_INCLUSIVE;
	if ((vim_class(draft, motion->at, big) == 0) == around) {
		if (!end_of_words(motion, around, big))
			return false;
	} else {
		end_of_words(motion, around, big);
		if (motion->at == draft_line_start(draft, motion->at))
			vim_step_over(draft, &motion->at, -1);
		else
			one_left(draft, &motion->at);
		blanks_behind = around;
	}
	for (unsigned count = motion->count - 1; count > 0; count--) {
		motion->kind = VIM_INCLUSIVE;
		if (vim_step_over(draft, &motion->at, 1) == -1)
			return false;
		bool past = (vim_class(draft, motion->at, big) == 0) != around;
		if (!end_of_words(motion, around, big))
			return false;
		if (past && !one_left(draft, &motion->at))
			motion->kind = VIM_EXCLUSIVE;
	}
	/* Without blanks behind it takes those before, but no indent. */
	bool ends_in_word = vim_class(draft, motion->at, big) != 0;
	bool ends_at_start = motion->at == draft_line_start(draft, motion->at) &&
			     motion->kind == VIM_EXCLUSIVE;
	size_t before = motion->start;
	if (blanks_behind && (ends_in_word || ends_at_start) && one_left(draft, &before)) {
		before = object_word_start(draft, before, big);
		if (vim_class(draft, before, big) == 0 && before > draft_line_start(draft, before))
			motion->start = before;
	}
	return true;
}

/* ---- quotes ---- */

static bool is_escaped(const struct draft *draft, size_t start, size_t at)
{
	size_t count = 0;

	while (at - count > start && draft->text.data[at - 1 - count] == '\\')
		count++;
	return count % 2;
}

/* The next quote in the line from `at` on. */
static bool next_quote(const struct draft *draft, size_t at, char quote, bool escapes, size_t *ret)
{
	size_t start = draft_line_start(draft, at);

	for (; char_at(draft, at) != '\n'; at++) {
		if (char_at(draft, at) != quote || (escapes && is_escaped(draft, start, at)))
			continue;
		*ret = at;
		return true;
	}
	return false;
}

/* The quotes around `at`, which is one, counted in pairs from the line's start. */
static bool quotes_on(const struct draft *draft, size_t at, char quote, size_t *ret_from,
                      size_t *ret_to)
{
	size_t from = draft_line_start(draft, at);

	while (next_quote(draft, from, quote, false, ret_from) && *ret_from <= at &&
	       next_quote(draft, *ret_from + 1, quote, true, ret_to)) {
		if (at <= *ret_to)
			return true;
		from = *ret_to + 1;
	}
	return false;
}

static bool quotes_around(const struct draft *draft, size_t at, char quote, size_t *ret_from,
                          size_t *ret_to)
{
	size_t start = draft_line_start(draft, at), from = at;

	while (from > start) {
		from--;
		if (char_at(draft, from) == quote && !is_escaped(draft, start, from))
			break;
	}
	if (char_at(draft, from) != quote && !next_quote(draft, from, quote, false, &from))
		return false;
	*ret_from = from;
	return next_quote(draft, from + 1, quote, true, ret_to);
}

static bool select_quoted(struct vim_motion *motion, bool around, int quote)
{
	const struct draft *draft = motion->draft;
	size_t from, to;

	if (!(char_at(draft, motion->at) == quote ?
	      quotes_on(draft, motion->at, (char)quote, &from, &to) :
	      quotes_around(draft, motion->at, (char)quote, &from, &to)))
		return false;
	if (around && is_white(draft, to + 1)) {
		while (is_white(draft, to + 1))
			to++;
	} else if (around) {
		while (from > draft_line_start(draft, from) && is_white(draft, from - 1))
			from--;
	}
	bool whole = around || motion->count > 1;
	motion->start = whole ? from : from + 1;
	motion->at = to;
	motion->kind = whole ? VIM_INCLUSIVE : VIM_EXCLUSIVE;
	return true;
}

/* ---- blocks ---- */

static char closing_of(char open)
{
	return open == '(' ? ')' : (char)(open + 2);
}

/* Without its brackets; of braces without the line ends and indents next to them. */
static void exclude_brackets(struct vim_motion *motion, char open)
{
	const struct draft *draft = motion->draft;
	bool line_start = motion->at == draft_line_start(draft, motion->at);

	vim_step_over(draft, &motion->start, 1);
	vim_step_over(draft, &motion->at, -1);
	while (open == '{' && vim_in_indent(draft, motion->at, 1)) {
		line_start = true;
		if (vim_step_over(draft, &motion->at, -1) != 0)
			break;
	}
	motion->kind = VIM_EXCLUSIVE;
	if (line_start)
		vim_step_over(draft, &motion->at, 1);
	else if (motion->start <= motion->at || motion->visual)
		motion->kind = VIM_INCLUSIVE; /* a selection has at least the brackets */
	else
		motion->at = motion->start;
}

static bool select_block(struct vim_motion *motion, bool around, int open)
{
	const struct draft *draft = motion->draft;
	size_t at = motion->at;
	char close = closing_of((char)open);

	while (open == '{' && vim_in_indent(draft, at, 1))
		if (vim_step(draft, &at, 1) != 0)
			break;
	if (char_at(draft, at) == open)
		at++;
	/* Around the caret, or else the next one. */
	size_t around_it;
	bool inside = vim_match_bracket(draft, at, (char)open, close, false, &around_it);
	for (unsigned count = motion->count; count > 0; count--)
		if (!(inside ? vim_match_bracket(draft, at, (char)open, close, false, &at) :
		      vim_match_bracket(draft, at, close, (char)open, true, &at)))
			return false;
	motion->start = at;
	if (!vim_match_bracket(draft, at, (char)open, close, true, &motion->at))
		return false;
	motion->kind = VIM_INCLUSIVE;
	if (!around)
		exclude_brackets(motion, (char)open);
	return true;
}

/* ---- paragraphs ---- */

static bool is_white_line(const struct draft *draft, size_t line)
{
	while (is_white(draft, line))
		line++;
	return char_at(draft, line) == '\n';
}

static bool is_last_line(const struct draft *draft, size_t line)
{
	return draft_line_end(draft, line) == draft->text.len;
}

/* The last line of those from `line` on that are all white, or all not. */
static size_t run_end(const struct draft *draft, size_t line, bool white)
{
	while (!is_last_line(draft, line)) {
		size_t next = vim_line_away(draft, line, 1);

		if (is_white_line(draft, next) != white)
			break;
		line = next;
	}
	return line;
}

static size_t run_start(const struct draft *draft, size_t line, bool white)
{
	while (line > 0 && is_white_line(draft, vim_line_away(draft, line, -1)) == white)
		line = vim_line_away(draft, line, -1);
	return line;
}

static bool select_paragraph(struct vim_motion *motion, bool around, int how)
{
	const struct draft *draft = motion->draft;
	size_t start = draft_line_start(draft, motion->at), end;
	bool white = is_white_line(draft, start);
	unsigned runs = motion->count;

	(void)how;
	start = run_start(draft, start, white);
	end = run_end(draft, start, white);
	/* Around is a paragraph and the white lines behind it, or the other way round. */
	for (unsigned i = around ? 0 : 1; i < (around ? 2 * runs - 1 : runs); i++) {
		if (is_last_line(draft, end)) {
			/* A paragraph may lack white lines behind it. */
			if (!around || white || i % 2 || i + 1 < 2 * runs - 1)
				return false;
			break;
		}
		size_t next = vim_line_away(draft, end, 1);
		end = run_end(draft, next, is_white_line(draft, next));
	}
	if (around && !white && !is_white_line(draft, end) && start > 0)
		start = run_start(draft, vim_line_away(draft, start, -1), true);
	motion->start = start;
	motion->at = end;
	motion->kind = VIM_LINES;
	return true;
}

/* ---- the table ---- */

static const struct {
	char keys[4]; /* any of them */
	bool (*select)(struct vim_motion *motion, bool around, int how);
	int how;
} object_rows[] = {
	{ "w", select_word, false },   { "W", select_word, true },
	{ "\"", select_quoted, '"' },  { "'", select_quoted, '\'' },
	{ "`", select_quoted, '`' },   { "()b", select_block, '(' },
	{ "[]", select_block, '[' },   { "{}B", select_block, '{' },
	{ "<>", select_block, '<' },   { "p", select_paragraph, 0 },
};

bool vim_object(struct vim_motion *motion, struct span keys)
{
	if (keys.len != 2)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(object_rows); i++)
		if (strchr(object_rows[i].keys, keys.data[1]))
			return object_rows[i].select(motion, keys.data[0] == 'a',
			                             object_rows[i].how);
	return false;
}
