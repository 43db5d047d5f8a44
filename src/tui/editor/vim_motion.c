/* SPDX-License-Identifier: Apache-2.0 */
/* Where vim's motions go: one table. Names and exceptions are those of vim's motion.txt. */
#include "base/mem.h"
#include "base/text.h"
#include "tui/editor/vim.h"
#include "tui/text/width.h"

/* ---- steps ---- */

static char byte_of(const struct draft *draft, size_t at)
{
	return at < draft->text.len ? draft->text.data[at] : '\n';
}

static bool is_blank_cell(const struct draft *draft, size_t at)
{
	char c = byte_of(draft, at);

	return c == ' ' || c == '\t';
}

static bool is_line_end(const struct draft *draft, size_t at)
{
	return byte_of(draft, at) == '\n';
}

static bool is_line_start(const struct draft *draft, size_t at)
{
	return at == 0 || draft->text.data[at - 1] == '\n';
}

static bool is_empty_line(const struct draft *draft, size_t at)
{
	return is_line_start(draft, at) && is_line_end(draft, at);
}

int vim_step(const struct draft *draft, size_t *at, int direction)
{
	if (direction < 0) {
		bool start = is_line_start(draft, *at);

		if (*at == 0)
			return -1;
		*at = start ? *at - 1 : draft_previous(draft, *at);
		return start;
	}
	if (*at == draft->text.len)
		return -1;
	if (is_line_end(draft, *at)) {
		(*at)++;
		return 1;
	}
	*at = draft_next(draft, *at);
	return is_line_end(draft, *at) ? 2 : 0;
}

int vim_step_over(const struct draft *draft, size_t *at, int direction)
{
	int result = vim_step(draft, at, direction);

	if ((direction > 0 ? result >= 1 : result == 1) && !is_line_start(draft, *at))
		result = vim_step(draft, at, direction);
	return result;
}

int vim_class(const struct draft *draft, size_t at, bool big)
{
	/* As in vim, each script that is written without blanks is a class of words. */
	static const struct {
		uint32_t from, to;
		int class;
	} classes[] = {
		{ 0xa0, 0xa9, 1 }, { 0xab, 0xb4, 1 }, { 0xb6, 0xb9, 1 }, { 0xbb, 0xbf, 1 },
		{ 0xd7, 0xd7, 1 }, { 0xf7, 0xf7, 1 }, { 0x2000, 0x206f, 1 }, { 0x2190, 0x23ff, 1 },
		{ 0x3000, 0x303f, 1 }, { 0x3040, 0x309f, 4 }, { 0x30a0, 0x30ff, 5 },
		{ 0x4e00, 0x9fff, 6 }, { 0xac00, 0xd7a3, 7 }, { 0x1f000, 0x1faff, 3 },
	};
	unsigned char c = (unsigned char)byte_of(draft, at);

	if (c == ' ' || c == '\t' || c == '\n')
		return 0;
	if (big)
		return 1;
	if (c == DRAFT_MARK)
		return 8;
	if (c < 0x80)
		return c == '_' || (c >= '0' && c <= '9') ||
		       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ? 2 : 1;
	uint32_t code = utf8_first(buf_from(&draft->text, at)).code;
	for (size_t i = 0; i < ARRAY_LEN(classes); i++)
		if (code >= classes[i].from && code <= classes[i].to)
			return classes[i].class;
	return 2;
}

size_t vim_first_nonblank(const struct draft *draft, size_t at)
{
	at = draft_line_start(draft, at);
	while (is_blank_cell(draft, at))
		at++;
	return vim_clamp(draft, at);
}

bool vim_in_indent(const struct draft *draft, size_t at, size_t extra)
{
	size_t start = draft_line_start(draft, at), blank = start;

	while (is_blank_cell(draft, blank))
		blank++;
	return blank - start >= at - start + extra;
}

size_t vim_clamp(const struct draft *draft, size_t at)
{
	if (at > draft->text.len)
		at = draft->text.len;
	return is_line_end(draft, at) && !is_line_start(draft, at) ? draft_previous(draft, at) : at;
}

static int cell_columns(const struct draft *draft, size_t at, size_t next, int column)
{
	const struct pasted *paste = draft_paste_at(draft, at);

	if (byte_of(draft, at) == '\t')
		return TAB_COLUMNS - column % TAB_COLUMNS;
	return (int)width_of(paste ? span_str(paste->label)
	                           : span_of(draft->text.data + at, next - at));
}

/* Columns before `at` in its line, of the cell where the cursor is seen. */
static int vim_column_of(const struct draft *draft, size_t at)
{
	int column = 0;

	for (size_t i = draft_line_start(draft, at), next; i < at; i = next) {
		next = draft_next(draft, i);
		column += cell_columns(draft, i, next, column);
	}
	return byte_of(draft, at) == '\t' ? column + cell_columns(draft, at, at + 1, column) - 1
	                                  : column;
}

/* The place of such a column. */
static size_t vim_at_column(const struct draft *draft, size_t line, int column)
{
	size_t at = line, end = draft_line_end(draft, line);
	int reached = 0;

	while (at < end) {
		size_t next = draft_next(draft, at);

		reached += cell_columns(draft, at, next, reached);
		if (reached > column)
			break;
		at = next;
	}
	return at;
}

size_t vim_line_away(const struct draft *draft, size_t at, long lines)
{
	at = draft_line_start(draft, at);
	for (; lines < 0 && at > 0; lines++)
		at = draft_line_start(draft, at - 1);
	for (; lines > 0; lines--) {
		size_t end = draft_line_end(draft, at);

		if (end == draft->text.len)
			break;
		at = end + 1;
	}
	return at;
}

/* ---- words ---- */

bool vim_forward_word(const struct draft *draft, size_t *at, unsigned count, bool big, bool at_end)
{
	while (count-- > 0) {
		int class = vim_class(draft, *at, big);
		bool last_line = draft_line_end(draft, *at) == draft->text.len;
		int step = vim_step(draft, at, 1);

		if (step == -1 || (step >= 1 && last_line))
			return false;
		if (step >= 1 && at_end && count == 0)
			return true;
		while (class && vim_class(draft, *at, big) == class) {
			step = vim_step(draft, at, 1);
			if (step == -1 || (step >= 1 && at_end && count == 0))
				return true;
		}
		while (vim_class(draft, *at, big) == 0 && !is_empty_line(draft, *at)) {
			step = vim_step(draft, at, 1);
			if (step == -1 || (step >= 1 && (last_line || (at_end && count == 0))))
				return true;
		}
	}
	return true;
}

/* Passes over characters of a class; false: the text ended. */
static bool pass_class(const struct draft *draft, size_t *at, int class, bool big, int direction)
{
	while (vim_class(draft, *at, big) == class)
		if (vim_step(draft, at, direction) == -1)
			return false;
	return true;
}

bool vim_end_word(const struct draft *draft, size_t *at, unsigned count, bool big,
                  enum vim_end_of from)
{
	const bool empty = from == VIM_END_OBJECT;
	bool stop = from != VIM_END_NEXT;

	for (; count > 0; count--, stop = false) {
		int class = vim_class(draft, *at, big);

		if (vim_step(draft, at, 1) == -1)
			return false;
		if (class && vim_class(draft, *at, big) == class) {
			if (!pass_class(draft, at, class, big, 1))
				return false;
		} else if (!stop || class == 0) {
			while (vim_class(draft, *at, big) == 0) {
				if (empty && is_empty_line(draft, *at))
					break;
				if (vim_step(draft, at, 1) == -1)
					return false;
			}
			if (empty && is_empty_line(draft, *at))
				continue;
			if (!pass_class(draft, at, vim_class(draft, *at, big), big, 1))
				return false;
		}
		vim_step(draft, at, -1);
	}
	return true;
}

static bool back_word(const struct draft *draft, size_t *at, unsigned count, bool big)
{
	for (; count > 0; count--) {
		if (vim_step(draft, at, -1) == -1)
			return false;
		while (vim_class(draft, *at, big) == 0) {
			if (is_empty_line(draft, *at))
				break;
			if (vim_step(draft, at, -1) == -1)
				return true;
		}
		if (is_empty_line(draft, *at))
			continue;
		if (!pass_class(draft, at, vim_class(draft, *at, big), big, -1))
			return true;
		vim_step(draft, at, 1);
	}
	return true;
}

static bool back_to_end(const struct draft *draft, size_t *at, unsigned count, bool big)
{
	for (; count > 0; count--) {
		int class = vim_class(draft, *at, big);

		if (vim_step(draft, at, -1) == -1)
			return false;
		if (class && !pass_class(draft, at, class, big, -1))
			return true;
		while (vim_class(draft, *at, big) == 0 && !is_empty_line(draft, *at))
			if (vim_step(draft, at, -1) == -1)
				return true;
	}
	return true;
}

/* A motion with an operator that ends behind a line includes its last character instead. */
static void leave_line_end(struct vim_motion *motion)
{
	if (motion->visual || !is_line_end(motion->draft, motion->at) ||
	    is_line_start(motion->draft, motion->at))
		return;
	motion->at = draft_previous(motion->draft, motion->at);
	motion->kind = VIM_INCLUSIVE;
}

static bool go_word(struct vim_motion *motion, int big)
{
	const struct draft *draft = motion->draft;
	size_t start = motion->at;
	bool done;

	/* "cw" on a word is "ce", but stays in a word of one character. */
	if (motion->operator == 'c' && !is_blank_cell(draft, start) && !is_line_end(draft, start)) {
		motion->kind = VIM_INCLUSIVE;
		done = vim_end_word(draft, &motion->at, motion->count, big, VIM_END_HERE);
	} else {
		done = vim_forward_word(draft, &motion->at, motion->count, big, motion->operator);
	}
	if (motion->at > start)
		leave_line_end(motion);
	return done || motion->operator;
}

static bool go_end(struct vim_motion *motion, int big)
{
	size_t start = motion->at;
	bool done = vim_end_word(motion->draft, &motion->at, motion->count, big,
	                         VIM_END_NEXT);

	if (motion->at > start)
		leave_line_end(motion);
	return done || motion->operator;
}

static bool go_back(struct vim_motion *motion, int big)
{
	return back_word(motion->draft, &motion->at, motion->count, big);
}

static bool go_back_end(struct vim_motion *motion, int big)
{
	return back_to_end(motion->draft, &motion->at, motion->count, big);
}

/* ---- characters and lines ---- */

static bool go_left(struct vim_motion *motion, int how)
{
	size_t start = motion->at;

	(void)how;
	for (unsigned i = 0; i < motion->count && !is_line_start(motion->draft, motion->at); i++)
		motion->at = draft_previous(motion->draft, motion->at);
	return motion->at != start || motion->operator;
}

static bool go_right(struct vim_motion *motion, int into_next)
{
	size_t start = motion->at;

	for (unsigned i = 0; i < motion->count && !is_line_end(motion->draft, motion->at); i++)
		motion->at = draft_next(motion->draft, motion->at);
	if (!motion->operator && !motion->visual)
		motion->at = vim_clamp(motion->draft, motion->at);
	if (into_next && !motion->operator && motion->at == start)
		vim_step_over(motion->draft, &motion->at, 1);
	return motion->at != start || motion->operator;
}

static bool go_lines(struct vim_motion *motion, int direction)
{
	const struct draft *draft = motion->draft;
	size_t line = vim_line_away(draft, motion->at, direction * (long)motion->count);

	if (line == draft_line_start(draft, motion->at))
		return false;
	if (motion->goal == NO_COLUMN)
		motion->goal = vim_column_of(draft, motion->at);
	motion->keeps_goal = true;
	motion->at = vim_at_column(draft, line, motion->goal);
	if (!motion->visual)
		motion->at = vim_clamp(draft, motion->at);
	return true;
}

static bool go_line_start(struct vim_motion *motion, int how)
{
	(void)how;
	motion->at = draft_line_start(motion->draft, motion->at);
	return true;
}

static bool go_first_nonblank(struct vim_motion *motion, int how)
{
	(void)how;
	motion->at = vim_first_nonblank(motion->draft, motion->at);
	return true;
}

static bool go_line_end(struct vim_motion *motion, int how)
{
	const struct draft *draft = motion->draft;
	size_t line = vim_line_away(draft, motion->at, (long)motion->count - 1);

	(void)how;
	motion->goal = VIM_GOAL_END;
	motion->keeps_goal = true;
	if (motion->count > 1 && line == draft_line_start(draft, motion->at))
		return false;
	motion->at = draft_line_end(draft, line);
	if (!motion->visual)
		motion->at = vim_clamp(draft, motion->at);
	return true;
}

static bool go_to_line(struct vim_motion *motion, int last)
{
	size_t line = draft_line_start(motion->draft, motion->draft->text.len);

	if (motion->counted || !last)
		line = vim_line_away(motion->draft, 0,
		                     motion->counted ? (long)motion->count - 1 : 0);
	motion->at = vim_first_nonblank(motion->draft, line);
	return true;
}

static bool go_paragraph(struct vim_motion *motion, int direction)
{
	const struct draft *draft = motion->draft;
	size_t line = draft_line_start(draft, motion->at);

	for (unsigned count = motion->count; count-- > 0;) {
		bool text = false;

		for (bool first = true;; first = false) {
			text |= !is_empty_line(draft, line);
			if (!first && text && is_empty_line(draft, line))
				break;
			size_t next = vim_line_away(draft, line, direction);
			if (next == line) {
				if (count)
					return false;
				break;
			}
			line = next;
		}
	}
	motion->at = line;
	if (direction > 0 && draft_line_end(draft, line) == draft->text.len &&
	    !is_empty_line(draft, line)) {
		motion->at = vim_clamp(draft, draft->text.len);
		motion->kind = VIM_INCLUSIVE;
	}
	return true;
}

/* ---- finding ---- */

static bool is_found_at(const struct vim_motion *motion, size_t at)
{
	return span_starts(buf_from(&motion->draft->text, at),
	                   span_of(motion->find->text, motion->find->len));
}

/* One more of what is looked for in the line. With `skip` the first step finds nothing. */
static bool find_cluster_in_line(const struct vim_motion *motion, size_t *at, bool backward,
                                 bool skip)
{
	for (;;) {
		if (backward ? is_line_start(motion->draft, *at) : is_line_end(motion->draft, *at))
			return false;
		*at = backward ? draft_previous(motion->draft, *at)
		               : draft_next(motion->draft, *at);
		if (is_line_end(motion->draft, *at))
			return false;
		if (!skip && is_found_at(motion, *at))
			return true;
		skip = false;
	}
}

static bool find_again(struct vim_motion *motion, bool backward, bool again)
{
	size_t at = motion->at;
	bool until = motion->find->until, skip = again && until && motion->count == 1;

	if (!motion->find->len)
		return false;
	motion->kind = backward ? VIM_EXCLUSIVE : VIM_INCLUSIVE;
	for (unsigned i = 0; i < motion->count; i++, skip = false)
		if (!find_cluster_in_line(motion, &at, backward, skip))
			return false;
	if (until)
		at = backward ? draft_next(motion->draft, at) : draft_previous(motion->draft, at);
	motion->at = at;
	return true;
}

enum { FIND_BACKWARD = 1, FIND_UNTIL = 2 };

static bool go_find(struct vim_motion *motion, int how)
{
	struct vim_find *find = motion->find;

	if (motion->argument.len == 0 || motion->argument.len > sizeof(find->text))
		return false;
	memcpy(find->text, motion->argument.data, motion->argument.len);
	find->len = motion->argument.len;
	find->backward = how & FIND_BACKWARD;
	find->until = how & FIND_UNTIL;
	return find_again(motion, find->backward, false);
}

static bool go_find_again(struct vim_motion *motion, int other_way)
{
	return find_again(motion, motion->find->backward != (bool)other_way, true);
}

bool vim_match_bracket(const struct draft *draft, size_t at, char open, char close, bool forward,
                       size_t *ret)
{
	char deeper = forward ? open : close, back = forward ? close : open;
	unsigned depth = 0;

	for (;;) {
		if (forward ? at + 1 >= draft->text.len : at == 0)
			return false;
		at = forward ? at + 1 : at - 1;
		if (draft->text.data[at] == deeper) {
			depth++;
		} else if (draft->text.data[at] == back && depth-- == 0) {
			*ret = at;
			return true;
		}
	}
}

static bool go_match(struct vim_motion *motion, int how)
{
	static const char brackets[] = "()[]{}";
	const struct draft *draft = motion->draft;
	size_t at = motion->at;
	const char *found = NULL;

	(void)how;
	if (motion->counted) {
		size_t lines = 1;

		for (size_t i = 0; i < draft->text.len; i++)
			lines += draft->text.data[i] == '\n';
		if (motion->count > 100)
			return false;
		motion->kind = VIM_LINES;
		motion->at = vim_first_nonblank(draft, vim_line_away(draft, 0,
		                                (long)(motion->count * lines + 99) / 100 - 1));
		return true;
	}
	while (!is_line_end(draft, at) && !(found = strchr(brackets, byte_of(draft, at))))
		at++;
	if (!found)
		return false;
	size_t pair = (size_t)(found - brackets) & ~(size_t)1;
	return vim_match_bracket(draft, at, brackets[pair], brackets[pair + 1],
	                         found == brackets + pair, &motion->at);
}

/* ---- the table ---- */

static const struct vim_motion_row motion_rows[] = {
	{ "h", VIM_EXCLUSIVE, false, go_left, 0 },
	{ "l", VIM_EXCLUSIVE, false, go_right, false },
	{ " ", VIM_EXCLUSIVE, false, go_right, true },
	{ "j", VIM_LINES, false, go_lines, 1 },
	{ "k", VIM_LINES, false, go_lines, -1 },
	{ "w", VIM_EXCLUSIVE, false, go_word, false },
	{ "W", VIM_EXCLUSIVE, false, go_word, true },
	{ "b", VIM_EXCLUSIVE, false, go_back, false },
	{ "B", VIM_EXCLUSIVE, false, go_back, true },
	{ "e", VIM_INCLUSIVE, false, go_end, false },
	{ "E", VIM_INCLUSIVE, false, go_end, true },
	{ "ge", VIM_INCLUSIVE, false, go_back_end, false },
	{ "gE", VIM_INCLUSIVE, false, go_back_end, true },
	{ "0", VIM_EXCLUSIVE, false, go_line_start, 0 },
	{ "^", VIM_EXCLUSIVE, false, go_first_nonblank, 0 },
	{ "$", VIM_INCLUSIVE, false, go_line_end, 0 },
	{ "gg", VIM_LINES, false, go_to_line, false },
	{ "G", VIM_LINES, false, go_to_line, true },
	{ "f", VIM_INCLUSIVE, true, go_find, 0 },
	{ "F", VIM_EXCLUSIVE, true, go_find, FIND_BACKWARD },
	{ "t", VIM_INCLUSIVE, true, go_find, FIND_UNTIL },
	{ "T", VIM_EXCLUSIVE, true, go_find, FIND_BACKWARD | FIND_UNTIL },
	{ ";", VIM_INCLUSIVE, false, go_find_again, false },
	{ ",", VIM_INCLUSIVE, false, go_find_again, true },
	{ "%", VIM_INCLUSIVE, false, go_match, 0 },
	{ "{", VIM_EXCLUSIVE, false, go_paragraph, -1 },
	{ "}", VIM_EXCLUSIVE, false, go_paragraph, 1 },
};

const struct vim_motion_row *vim_motion_row(struct span keys)
{
	for (size_t i = 0; i < ARRAY_LEN(motion_rows); i++)
		if (span_eq(keys, span_str(motion_rows[i].keys)))
			return &motion_rows[i];
	return NULL;
}
