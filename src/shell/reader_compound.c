/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between words: blanks and heredocs; case, for, [[ ]], arrays, where words are not
 * commands. */
#include "shell/private.h"
#include "shell/reader.h"

/* A continued line between tokens is harmless unless it splits an operator: && of two lines. */
static void check_continued(struct shell_reader *r)
{
	int before = r->pos > 0 ? (unsigned char)r->text[r->pos - 1] : ' ';
	int after = reader_at(r, 2);

	if (before && strchr("&|<>;(", before) && after > 0 && strchr("&|<>;(\\", after))
		reader_problem(r, SHELL_PROBLEM_CONTINUATION, r->pos);
}

static void reader_skip_blanks(struct shell_reader *r, bool lines)
{
	for (;;) {
		int c = reader_at(r, 0);

		if (shell_is_blank(c) || (lines && c == '\n')) {
			r->pos++;
			if (c == '\n')
				reader_heredocs(r);
		} else if (c == '\\' && reader_at(r, 1) == '\n') {
			check_continued(r);
			r->pos += 2;
		} else if (c == '#') {
			while (reader_at(r, 0) >= 0 && reader_at(r, 0) != '\n')
				r->pos++;
		} else {
			return;
		}
	}
}

void reader_blanks(struct shell_reader *r)
{
	reader_skip_blanks(r, /* lines= */ false);
}

/* Line ends too, and the heredocs after them. */
static void reader_blank_lines(struct shell_reader *r)
{
	reader_skip_blanks(r, /* lines= */ true);
}

/* WORD [WORD…] up to a line end or ; */
static void reader_for_values(struct shell_reader *r, struct text_place name)
{
	for (;;) {
		struct text_place value;

		reader_blanks(r);
		if (!reader_is_at_word(r))
			return;
		value = reader_word(r);
		reader_value(r, (struct read_value){ .name = name, .value = value });
	}
}

/* for NAME [in WORD…]; do …, select the same, for ((…)); the list goes on with do. */
void reader_for(struct shell_reader *r)
{
	struct text_place name, at;

	reader_blanks(r);
	if (reader_at(r, 0) == '(' && reader_at(r, 1) == '(') {
		r->pos += 2;
		r->out->bashisms = true;
		reader_arithmetic(r);
		reader_blanks(r);
		r->pos += reader_at(r, 0) == ';';
		return;
	}
	name = reader_word(r);
	for (size_t i = name.start; i < name.end; i++)
		if (!shell_is_name((unsigned char)r->text[i]))
			reading_problem(r->out, SHELL_PROBLEM_SYNTAX, name.start, name.end);
	if (name.start == name.end)
		reader_problem(r, SHELL_PROBLEM_SYNTAX, name.start);
	reader_blank_lines(r);
	at.start = at.end = (uint32_t)r->pos;
	while (at.end < r->len && !is_meta((unsigned char)r->text[at.end]))
		at.end++;
	if (reader_is(r, at, "in")) {
		r->pos = at.end;
		reader_for_values(r, name);
	} else {
		/* The values are the arguments of the script or function. */
		reader_value(r, (struct read_value){ .name = name });
	}
	reader_blanks(r);
	r->pos += reader_at(r, 0) == ';';
}

/* PATTERN | PATTERN ), after a ( that may stand before. */
static void reader_case_patterns(struct shell_reader *r)
{
	for (;;) {
		size_t start = r->pos;
		int c;

		reader_blanks(r);
		reader_word(r);
		reader_blanks(r);
		c = reader_at(r, 0);
		r->pos += c >= 0;
		if (c == ')')
			return;
		if (c != '|' || r->pos == start) {
			if (!r->stopped)
				reader_problem(r, SHELL_PROBLEM_SYNTAX, start);
			return;
		}
	}
}

/* case WORD in [(] PATTERN ) LIST ;; … esac */
void reader_case(struct shell_reader *r)
{
	struct text_place in;

	if (!reader_enter(r))
		return;
	reader_blanks(r);
	reader_word(r);
	reader_blank_lines(r);
	in = reader_word(r);
	if (!reader_is(r, in, "in"))
		reader_problem(r, SHELL_PROBLEM_SYNTAX, in.start);
	for (;;) {
		struct text_place at;

		reader_blank_lines(r);
		at.start = at.end = (uint32_t)r->pos;
		while (at.end < r->len && !is_meta((unsigned char)r->text[at.end]))
			at.end++;
		if (reader_at(r, 0) < 0) {
			if (!r->stopped)
				reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
			break;
		}
		if (reader_is(r, at, "esac")) {
			r->pos = at.end;
			break;
		}
		r->pos += reader_at(r, 0) == '(';
		reader_case_patterns(r);
		if (r->read_list(r, LIST_END_CASE))
			break;
	}
	reader_leave(r);
}

/* An operand of -eq and the like is evaluated as arithmetic. */
static void reader_check_operand(struct shell_reader *r, struct text_place at)
{
	struct span word = span_of(r->text + at.start, at.end - at.start);
	bool negative = word.len > 1 && word.data[0] == '-';

	for (size_t i = negative; i < word.len; i++)
		if (!shell_is_name((unsigned char)word.data[i]) &&
		    !strchr("'\"()$#{}?", word.data[i])) {
			reading_problem(r->out, SHELL_PROBLEM_ARITHMETIC, at.start, at.end);
			return;
		}
	reader_note_arithmetic(r, at);
}

static void check_condition(struct shell_reader *r, struct text_place before,
                            struct text_place operator,
                            struct text_place after)
{
	struct span word = span_of(r->text + operator.start, operator.end - operator.start);

	if (name_in(word, "-eq -ne -lt -le -gt -ge")) {
		reader_check_operand(r, before);
		reader_check_operand(r, after);
	} else if (span_eq(word, SPAN("-v")) || span_eq(word, SPAN("-R"))) {
		for (size_t i = after.start; i < after.end; i++)
			if (!shell_is_name((unsigned char)r->text[i]))
				reading_problem(r->out, SHELL_PROBLEM_ARITHMETIC, after.start,
				                after.end);
	}
}

/* One piece of a word of [[ ]]: what ends words elsewhere is an operator or part of a regular
 * expression here. */
static void read_condition_piece(struct shell_reader *r)
{
	if (!reader_is_at_word(r)) {
		if (reader_at(r, 0) == ';')
			reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
		r->pos++;
	} else {
		reader_word(r);
	}
}

static void read_condition_word(struct shell_reader *r)
{
	while (reader_at(r, 0) >= 0 && reader_at(r, 0) != '\n' && !shell_is_blank(reader_at(r, 0)))
		read_condition_piece(r);
}

void reader_condition(struct shell_reader *r)
{
	struct text_place last[3] = { 0 };

	if (!reader_enter(r))
		return;
	for (;;) {
		struct text_place word;

		reader_blank_lines(r);
		word.start = (uint32_t)r->pos;
		if (reader_at(r, 0) == ']' && reader_at(r, 1) == ']' && is_meta(reader_at(r, 2)))
			r->pos += 2;
		else
			read_condition_word(r);
		word.end = (uint32_t)r->pos;
		last[0] = last[1];
		last[1] = last[2];
		last[2] = word;
		if (reader_is(r, word, "]]"))
			break;
		if (word.start == word.end) {
			if (!r->stopped)
				reader_problem(r, SHELL_PROBLEM_SYNTAX, word.start);
			break;
		}
		/* ]] that a quote or operator hides from the other reading, or the reverse */
		if (word.end - word.start > 2 && memcmp(r->text + word.end - 2, "]]", 2) == 0 &&
		    r->text[word.end - 3] != ':')
			reader_problem(r, SHELL_PROBLEM_SYNTAX, word.start);
		check_condition(r, last[0], last[1], last[2]);
	}
	reader_leave(r);
}

void reader_array(struct shell_reader *r)
{
	size_t start = r->pos++;

	if (!reader_enter(r))
		return;
	for (;;) {
		reader_blank_lines(r);
		if (reader_at(r, 0) == ')') {
			r->pos++;
			break;
		}
		if (!reader_is_at_word(r)) {
			if (!r->stopped)
				reader_problem(r, SHELL_PROBLEM_SYNTAX, start);
			break;
		}
		/* [subscript]=value: arithmetic, or any text for a map */
		if (reader_at(r, 0) == '[')
			reader_problem(r, SHELL_PROBLEM_ARITHMETIC, r->pos);
		reader_word(r);
	}
	reader_leave(r);
}

void reader_expect_heredoc(struct shell_reader *r, uint32_t redirect, struct text_place delimiter)
{
	if (r->heredoc_count == MAX_HEREDOCS) {
		reader_stop(r);
		return;
	}
	r->heredocs[r->heredoc_count] = redirect;
	r->delimiters[r->heredoc_count++] = delimiter;
}

/* The substitutions in a heredoc's text. */
static void read_heredoc_text(struct shell_reader *r, struct text_place text)
{
	size_t pos = r->pos, len = r->len;

	if (!reader_enter(r))
		return;
	r->pos = text.start;
	r->len = text.end;
	for (int c; (c = reader_at(r, 0)) >= 0;) {
		if (c == '\\')
			r->pos += 2;
		else if (c == '$')
			reader_dollar(r, WORD_HEREDOC);
		else if (c == '`')
			reader_backtick(r, WORD_HEREDOC);
		else
			r->pos++;
	}
	r->pos = pos;
	r->len = len;
	reader_leave(r);
}

/* In a heredoc with expansions a backslash at the end joins two lines. */
static bool is_continued(struct span line)
{
	size_t count = 0;

	while (count < line.len && line.data[line.len - 1 - count] == '\\')
		count++;
	return count % 2 == 1;
}

static size_t heredoc_line_end(const struct shell_reader *r, size_t at)
{
	const char *end = memchr(r->text + at, '\n', r->len - at);

	return end ? (size_t)(end - r->text) : r->len;
}

/* Finds the line that is the delimiter; returns the text before it, and goes after it. */
static struct text_place find_heredoc_end(struct shell_reader *r,
                                          const struct read_redirect *redirect,
                                     struct span delimiter)
{
	struct text_place text = { (uint32_t)r->pos, (uint32_t)r->pos };
	bool joined = false;

	while (r->pos < r->len) {
		size_t start = r->pos;
		size_t end = heredoc_line_end(r, start);
		struct span line;

		while (redirect->strips_tabs && !joined && start < end && r->text[start] == '\t')
			start++;
		line = span_of(r->text + start, end - start);
		text.end = (uint32_t)r->pos;
		r->pos = end < r->len ? end + 1 : end;
		if (!joined && span_eq(line, delimiter))
			return text;
		joined = !redirect->raw && is_continued(line);
		/* Two lines that make the delimiter together. */
		if (joined && span_starts(delimiter, span_head(line, line.len - 1)))
			reader_problem(r, SHELL_PROBLEM_CONTINUATION, start);
	}
	reader_problem(r, SHELL_PROBLEM_SYNTAX, text.start);
	text.end = (uint32_t)r->len;
	return text;
}

static void read_heredoc(struct shell_reader *r, uint32_t number, struct text_place at)
{
	struct read_redirect *redirect = &r->out->redirects[number];
	struct word_reading word;

	word_read(r->out, at, false, &word);
	redirect->raw = word.quoted;
	if (word.dynamic & ~(unsigned)(SHELL_DYNAMIC_GLOB | SHELL_DYNAMIC_TILDE) || word.ansi ||
	    memchr(r->text + at.start, '\n', at.end - at.start))
		reader_problem(r, SHELL_PROBLEM_SYNTAX, at.start);
	redirect->target = find_heredoc_end(r, redirect, buf_from(&word.text, 0));
	word_release(&word);
	if (!r->out->redirects[number].raw)
		read_heredoc_text(r, r->out->redirects[number].target);
}

void reader_heredocs(struct shell_reader *r)
{
	unsigned count = r->heredoc_count;

	if (count == 0 || r->stopped)
		return;
	/* The line end stands in a substitution, the heredoc outside. */
	if (r->heredoc_base > 0)
		reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
	r->heredoc_count = r->heredoc_base;
	for (unsigned i = r->heredoc_base; i < count; i++)
		read_heredoc(r, r->heredocs[i], r->delimiters[i]);
}
