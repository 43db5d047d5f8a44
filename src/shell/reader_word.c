/* SPDX-License-Identifier: Apache-2.0 */
/* Words: quotes, substitutions, parameters; and the limits of all parts of the reader. */
#include "base/limits.h"
#include "shell/private.h"
#include "shell/reader.h"

/* ---- problems and limits ---------------------------------------------------------- */

void reading_problem(struct shell_reading *reading, enum shell_problem_kind kind, size_t start,
                     size_t end)
{
	if (reading->problem_count >= LIMIT_SHELL_PROBLEMS)
		return;
	SHELL_GROW(reading, problem, problems);
	reading->problems[reading->problem_count++] = (struct read_problem){
		.kind = kind, .at = { (uint32_t)start, (uint32_t)end } };
}

void reader_problem(struct shell_reader *r, enum shell_problem_kind kind, size_t start)
{
	size_t end = r->pos > start ? r->pos : start + (start < r->len);

	reading_problem(r->out, kind, start, end);
}

void reader_stop(struct shell_reader *r)
{
	if (!r->stopped)
		reader_problem(r, SHELL_PROBLEM_LIMIT, r->pos);
	r->stopped = true;
}

bool reader_enter(struct shell_reader *r)
{
	if (r->depth >= LIMIT_SHELL_NESTING)
		reader_stop(r);
	else
		r->depth++;
	return !r->stopped;
}

void reader_leave(struct shell_reader *r)
{
	r->depth--;
}

void reader_value(struct shell_reader *r, struct read_value value)
{
	struct shell_reading *out = r->out;

	if (out->value_count >= LIMIT_SHELL_WORDS)
		return; /* the words are over too */
	SHELL_GROW(out, value, values);
	out->values[out->value_count++] = value;
}

/* ---- words ------------------------------------------------------------------------ */

/* \ and a line end inside a word vanish: what is on either side must not grow together to
 * something else that the readings would not see. */
static void read_backslash(struct shell_reader *r)
{
	size_t start = r->pos;
	int next = reader_at(r, 1);

	r->pos += next < 0 ? 1 : 2;
	if (next == '\n') {
		int after = reader_at(r, 0);

		if (!shell_is_blank(after) && after != '\n' && after >= 0)
			reader_problem(r, SHELL_PROBLEM_CONTINUATION, start);
	} else if (next < 0 && !r->stopped) {
		reader_problem(r, SHELL_PROBLEM_SYNTAX, start);
	}
}

/* Begins a piece at a place; returns its number for end_piece. */
static size_t begin_piece(struct shell_reader *r, size_t start, enum shell_dynamic dynamic)
{
	struct shell_reading *out = r->out;

	SHELL_GROW(out, piece, pieces);
	out->pieces[out->piece_count] = (struct read_piece){
		.at = { (uint32_t)start, (uint32_t)start }, .dynamic = dynamic };
	return out->piece_count++;
}

static void end_piece(struct shell_reader *r, size_t piece)
{
	r->out->pieces[piece].at.end = (uint32_t)(r->pos < r->len ? r->pos : r->len);
}

static void reader_single_quotes(struct shell_reader *r)
{
	size_t start = r->pos++;

	while (reader_at(r, 0) >= 0 && reader_at(r, 0) != '\'')
		r->pos++;
	if (reader_at(r, 0) == '\'')
		r->pos++;
	else if (!r->stopped)
		reader_problem(r, SHELL_PROBLEM_SYNTAX, start);
}

/* $'…', at the $ */
static void read_ansi_quotes(struct shell_reader *r)
{
	size_t start = r->pos;

	r->out->bashisms = true;
	r->pos += 2;
	while (reader_at(r, 0) >= 0 && reader_at(r, 0) != '\'')
		r->pos += reader_at(r, 0) == '\\' ? 2 : 1;
	if (reader_at(r, 0) == '\'')
		r->pos++;
	else
		reader_problem(r, SHELL_PROBLEM_SYNTAX, start);
}

static void skip_quoted_backslash(struct shell_reader *r)
{
	if (reader_at(r, 1) == '\n' && r->pos > 0 && strchr("$`{(", r->text[r->pos - 1]))
		reader_problem(r, SHELL_PROBLEM_CONTINUATION, r->pos);
	r->pos += reader_at(r, 1) < 0 ? 1 : 2;
}

static void reader_double_quotes(struct shell_reader *r)
{
	size_t start = r->pos++;

	if (!reader_enter(r))
		return;
	for (int c; (c = reader_at(r, 0)) != '"';) {
		if (c < 0) {
			if (!r->stopped)
				reader_problem(r, SHELL_PROBLEM_SYNTAX, start);
			break;
		}
		if (c == '\\')
			skip_quoted_backslash(r);
		else if (c == '$')
			reader_dollar(r, WORD_QUOTED);
		else if (c == '`')
			reader_backtick(r, WORD_QUOTED);
		else
			r->pos++;
	}
	r->pos += reader_at(r, 0) == '"';
	reader_leave(r);
}

void reader_backtick(struct shell_reader *r, enum word_place where)
{
	struct shell_reading *out = r->out;
	size_t piece = begin_piece(r, r->pos, SHELL_DYNAMIC_SUBSTITUTION);
	size_t start = r->pos++;
	bool quote = false;

	while (reader_at(r, 0) >= 0 && reader_at(r, 0) != '`') {
		quote |= reader_at(r, 0) == '\\' && reader_at(r, 1) == '"';
		r->pos += reader_at(r, 0) == '\\' && reader_at(r, 1) >= 0 ? 2 : 1;
	}
	/* Whether \" is " in a heredoc's backticks depends on the version of the shell. */
	if (reader_at(r, 0) < 0 || (quote && where == WORD_HEREDOC))
		reader_problem(r, SHELL_PROBLEM_SYNTAX, start);
	SHELL_GROW(out, backtick, backticks);
	out->backticks[out->backtick_count++] = (struct read_backtick){
		.inside = { (uint32_t)start + 1, (uint32_t)(r->pos < r->len ? r->pos : r->len) },
		.quoted = where == WORD_QUOTED,
		.command = r->command,
	};
	r->pos += reader_at(r, 0) == '`';
	end_piece(r, piece);
}

/* At the ( of $( <( >(. */
static void reader_substitution(struct shell_reader *r)
{
	unsigned flags = r->flags;
	unsigned base = r->heredoc_base;

	r->pos++;
	if (!reader_enter(r))
		return;
	r->flags = (flags & SHELL_FLAG_FUNCTION) | SHELL_FLAG_SUBSTITUTION;
	r->heredoc_base = r->heredoc_count;
	r->nesting++;
	r->read_list(r, LIST_END_PAREN);
	r->nesting--;
	if (r->heredoc_count > r->heredoc_base) {
		reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
		r->heredoc_count = r->heredoc_base;
	}
	r->heredoc_base = base;
	r->flags = flags;
	reader_leave(r);
}

/* $"…", at the $: its entry in the catalogue of translations is expanded again. */
static void read_translated(struct shell_reader *r)
{
	size_t start = r->pos++;

	r->out->bashisms = true;
	reader_double_quotes(r);
	reader_problem(r, SHELL_PROBLEM_EXPANSION, start);
}

/* One piece inside ${…}, $[…] or ((…)). */
static void read_inner(struct shell_reader *r, enum word_place where)
{
	int c = reader_at(r, 0);

	if (c == '$' && reader_at(r, 1) == '"') {
		read_translated(r);
	} else if (c == '\\') {
		skip_quoted_backslash(r);
	} else if (c == '"') {
		reader_double_quotes(r);
	} else if (c == '\'') {
		/* Whether this quotes depends on what is around it. */
		if (where != WORD_PLAIN)
			reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
		reader_single_quotes(r);
	} else if (c == '$' && reader_at(r, 1) == '\'' && where == WORD_PLAIN) {
		read_ansi_quotes(r);
	} else if (c == '$') {
		reader_dollar(r, where);
	} else if (c == '`') {
		reader_backtick(r, where);
	} else {
		r->pos++;
	}
}

static void reader_check_parameter(struct shell_reader *r, struct text_place at);

/* ${…}, at the { */
static void read_parameter(struct shell_reader *r, enum word_place where)
{
	size_t start = ++r->pos;
	int c = reader_at(r, 0);

	if (!reader_enter(r))
		return;
	/* ${ command; } and ${| command; } of bash 5.3 */
	if (!shell_is_name(c) && (c < 0 || !strchr("!#@*?$-", c)))
		reader_problem(r, SHELL_PROBLEM_SYNTAX, start);
	while (reader_at(r, 0) >= 0 && reader_at(r, 0) != '}') {
		c = reader_at(r, 0);
		if ((c == '<' || c == '>') && reader_at(r, 1) == '(' && where == WORD_PLAIN) {
			r->pos++;
			reader_substitution(r);
		} else if (c == '$' && r->pos == start) {
			r->pos++; /* ${$} */
		} else {
			read_inner(r, where);
		}
	}
	if (reader_at(r, 0) < 0 && !r->stopped)
		reader_problem(r, SHELL_PROBLEM_SYNTAX, start);
	reader_check_parameter(r, (struct text_place){ (uint32_t)start, (uint32_t)r->pos });
	r->pos += reader_at(r, 0) == '}';
	reader_leave(r);
}

/* $[…], at the [ */
static void read_old_arithmetic(struct shell_reader *r)
{
	size_t start = ++r->pos;
	unsigned open = 1;

	r->out->bashisms = true;
	if (!reader_enter(r))
		return;
	while (reader_at(r, 0) >= 0) {
		open += reader_at(r, 0) == '[';
		open -= reader_at(r, 0) == ']';
		if (open == 0)
			break;
		read_inner(r, WORD_QUOTED);
	}
	if (open > 0 && !r->stopped)
		reader_problem(r, SHELL_PROBLEM_SYNTAX, start);
	reader_note_arithmetic(r, (struct text_place){ (uint32_t)start, (uint32_t)r->pos });
	r->pos += open == 0;
	reader_leave(r);
}

void reader_arithmetic(struct shell_reader *r)
{
	size_t start = r->pos;
	unsigned open = 0;
	int c;

	if (!reader_enter(r))
		return;
	while ((c = reader_at(r, 0)) >= 0 && (c != ')' || open > 0)) {
		open += c == '(';
		open -= c == ')';
		if (c == '#' && r->pos > start && shell_is_blank(r->text[r->pos - 1]))
			reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
		read_inner(r, WORD_QUOTED);
	}
	/* $((a); b) is a subshell in a substitution. */
	if (reader_at(r, 1) != ')' && !r->stopped)
		reader_problem(r, SHELL_PROBLEM_SYNTAX, start);
	reader_note_arithmetic(r, (struct text_place){ (uint32_t)start, (uint32_t)r->pos });
	r->pos += r->pos < r->len ? 2 : 0;
	if (r->pos > r->len)
		r->pos = r->len;
	reader_leave(r);
}

/* What a $ begins: nothing, when it stands for itself. */
static unsigned dollar_kind(const struct shell_reader *r)
{
	int next = reader_at(r, 1);

	if (next == '(')
		return reader_at(r, 2) == '(' ? SHELL_DYNAMIC_ARITHMETIC
		                              : SHELL_DYNAMIC_SUBSTITUTION;
	if (next == '[')
		return SHELL_DYNAMIC_ARITHMETIC;
	if (next == '{' || shell_is_name(next) || (next > 0 && strchr("$!?#*@-", next)))
		return SHELL_DYNAMIC_VARIABLE;
	return 0;
}

static void reader_read_variable(struct shell_reader *r)
{
	if (!is_name_start(reader_at(r, 0))) {
		r->pos++;
		return;
	}
	while (shell_is_name(reader_at(r, 0)))
		r->pos++;
}

void reader_dollar(struct shell_reader *r, enum word_place where)
{
	unsigned kind = dollar_kind(r);
	int next = reader_at(r, 1);
	size_t piece;

	if (!kind) {
		r->pos++;
		if (next == '\\' && reader_at(r, 1) == '\n')
			reader_problem(r, SHELL_PROBLEM_CONTINUATION, r->pos);
		return;
	}
	piece = begin_piece(r, r->pos++, kind);
	if (next == '{') {
		read_parameter(r, where);
	} else if (kind == SHELL_DYNAMIC_SUBSTITUTION) {
		reader_substitution(r);
	} else if (next == '(') {
		r->pos += 2;
		reader_arithmetic(r);
	} else if (next == '[') {
		read_old_arithmetic(r);
	} else {
		reader_read_variable(r);
		if (reader_at(r, 0) == '\\' && reader_at(r, 1) == '\n')
			reader_problem(r, SHELL_PROBLEM_CONTINUATION, r->pos);
	}
	end_piece(r, piece);
}

/* {Z..a}: braces are expanded before all else, and between Z and a stand \ and `, which then
 * quote and run. */
static void reader_check_range(struct shell_reader *r)
{
	int from = reader_at(r, 1), to = reader_at(r, 4);

	if (ascii_is_letter(from) && ascii_is_letter(to) && reader_at(r, 2) == '.' &&
	    reader_at(r, 3) == '.' &&
	    (from < 'a') != (to < 'a'))
		reader_problem(r, SHELL_PROBLEM_EXPANSION, r->pos);
}

/* One piece of an unquoted word. */
static void reader_read_piece(struct shell_reader *r)
{
	int c = reader_at(r, 0);
	int next = reader_at(r, 1);

	if (c == '\\') {
		read_backslash(r);
	} else if (c == '\'') {
		reader_single_quotes(r);
	} else if (c == '"') {
		reader_double_quotes(r);
	} else if (c == '`') {
		reader_backtick(r, WORD_PLAIN);
	} else if (c == '$' && next == '\'') {
		read_ansi_quotes(r);
	} else if (c == '$' && next == '"') {
		read_translated(r);
	} else if (c == '$') {
		reader_dollar(r, WORD_PLAIN);
	} else if (c == '<' || c == '>') {
		size_t piece = begin_piece(r, r->pos++, SHELL_DYNAMIC_PROCESS);

		r->out->bashisms = true;
		reader_substitution(r);
		end_piece(r, piece);
	} else {
		r->out->bashisms |= c == '{' && next != '}' && !is_meta(next);
		if (c == '{')
			reader_check_range(r);
		r->pos++;
	}
}

/* {a[x]}> FILE: the subscript is evaluated, and the descriptor's number assigned. */
static bool is_descriptor_element(const struct shell_reader *r, struct text_place at)
{
	struct span word = span_of(r->text + at.start, at.end - at.start);

	return (reader_at(r, 0) == '<' || reader_at(r, 0) == '>') && span_starts(word, SPAN("{")) &&
	       span_ends(word, SPAN("]}"));
}

struct text_place reader_word(struct shell_reader *r)
{
	struct text_place at = { (uint32_t)r->pos, (uint32_t)r->pos };
	bool braces = false, lone_dollar = false;

	while (reader_is_at_word(r)) {
		int next = reader_at(r, 1);

		braces |= reader_at(r, 0) == '{';
		lone_dollar |= reader_at(r, 0) == '$' && next != '\'' && next != '"' &&
		               !dollar_kind(r);
		reader_read_piece(r);
	}
	if (r->pos > r->len)
		r->pos = r->len;
	at.end = (uint32_t)r->pos;
	/* {$,}{x@P}: braces put a $ before what it did not stand before. */
	if (braces && lone_dollar)
		reader_problem(r, SHELL_PROBLEM_EXPANSION, at.start);
	if (is_descriptor_element(r, at))
		reader_problem(r, SHELL_PROBLEM_ARITHMETIC, at.start);
	return at;
}

static void note_number(struct shell_reader *r, size_t start, size_t end)
{
	struct shell_reading *out = r->out;

	if (out->number_count >= LIMIT_SHELL_NAMES) {
		reading_problem(out, SHELL_PROBLEM_LIMIT, start, end);
		return;
	}
	SHELL_GROW(out, number, numbers);
	out->numbers[out->number_count++] = (struct text_place){ (uint32_t)start, (uint32_t)end };
}

/* Whether a single = follows: the variable only gets a value there, a number. */
static bool is_set_there(struct shell_reader *r, size_t at, size_t end)
{
	while (at < end && shell_is_blank(r->text[at]))
		at++;
	return at < end && r->text[at] == '=' && (at + 1 >= end || r->text[at + 1] != '=');
}

/* A $ in arithmetic; returns where to go on. Numbers of the shell's own are harmless. */
static size_t note_expansion(struct shell_reader *r, size_t i, size_t end)
{
	size_t name = i + 1;
	size_t number = shell_number_expansion(span_of(r->text + i, end - i));

	name += name < end && r->text[name] == '{';
	if (number && !(name + 1 < end && r->text[name] == '(' && r->text[name + 1] == '(')) {
		return i + number;
	} else if (name < end && is_name_start((unsigned char)r->text[name])) {
		return name; /* the name is noted like one without $ */
	} else if (name + 1 < end && r->text[name] == '(' && r->text[name + 1] == '(') {
		return name; /* arithmetic: noted by itself, and its result is a number */
	}
	reading_problem(r->out, SHELL_PROBLEM_ARITHMETIC, i, end);
	return end;
}

void reader_note_arithmetic(struct shell_reader *r, struct text_place at)
{
	size_t i = at.start;

	while (i < at.end) {
		unsigned char c = (unsigned char)r->text[i];
		size_t start = i;

		if (c == '`') {
			reading_problem(r->out, SHELL_PROBLEM_ARITHMETIC, at.start, at.end);
			return;
		}
		if (c == '$') {
			i = note_expansion(r, i, at.end);
		} else if (ascii_is_digit(c)) {
			while (i < at.end &&
			       (shell_is_name((unsigned char)r->text[i]) || r->text[i] == '#'))
				i++;
		} else if (is_name_start(c)) {
			while (i < at.end && shell_is_name((unsigned char)r->text[i]))
				i++;
			if (is_set_there(r, i, at.end))
				reader_value(r, (struct read_value){
					.name = { (uint32_t)start, (uint32_t)i }, .safe = true });
			else
				note_number(r, start, i);
		} else {
			i++;
		}
	}
}

/* [subscript] at `i`; returns after it. */
static size_t arithmetic_check_subscript(struct shell_reader *r, size_t i, size_t end)
{
	size_t open = i;
	unsigned depth = 0;

	for (; i < end; i++) {
		depth += r->text[i] == '[';
		depth -= r->text[i] == ']';
		if (depth == 0)
			break;
	}
	if (i - open != 2 || !strchr("@*", r->text[open + 1]))
		reader_note_arithmetic(r, (struct text_place){ (uint32_t)open + 1, (uint32_t)i });
	return i < end ? i + 1 : end;
}

/* ${x@P} and the like, by letter. (bash manual 3.5.3) */
static const struct {
	char letter;
	bool evaluates; /* the value is expanded again */
} transformations[] = {
	{ 'U', false }, { 'u', false }, { 'L', false }, { 'Q', false }, { 'E', false },
	{ 'A', false }, { 'K', false }, { 'k', false }, { 'a', false }, { 'P', true },
};

/* ${x@L}, at the letter */
static void check_transformation(struct shell_reader *r, struct text_place name, size_t i,
                                 size_t end)
{
	for (size_t k = 0; k < ARRAY_LEN(transformations); k++) {
		if (i + 1 != end || r->text[i] != transformations[k].letter)
			continue;
		if (transformations[k].evaluates)
			reading_problem(r->out, SHELL_PROBLEM_EXPANSION, name.start, end);
		return;
	}
	reading_problem(r->out, SHELL_PROBLEM_SYNTAX, name.start, end);
}

/* What follows the name: the operators that evaluate something a second time. */
static void check_operator(struct shell_reader *r, struct text_place name, size_t i, size_t end)
{
	int c = i < end ? (unsigned char)r->text[i] : -1;
	int next = i + 1 < end ? (unsigned char)r->text[i + 1] : -1;

	if (c >= 0 && !strchr(":-=?+#%/^,@~", c))
		reading_problem(r->out, SHELL_PROBLEM_SYNTAX, name.start, end);
	if (c == '@')
		check_transformation(r, name, i + 1, end);
	if (c == '=' || (c == ':' && next == '='))
		reader_value(r, (struct read_value){ .name = name });
	if (c == ':' && (next < 0 || !strchr("-=?+", next)))
		reader_note_arithmetic(r, (struct text_place){ (uint32_t)i + 1, (uint32_t)end });
}

/* ${!…: what is after the ! gives the name of what is expanded, but in ${!} and its operators,
 * ${!prefix*}, ${!prefix@}, ${!array[@]} and ${!array[*]}. */
static bool is_indirect(const struct shell_reader *r, size_t i, size_t end)
{
	size_t name = i;

	while (name < end && shell_is_name((unsigned char)r->text[name]))
		name++;
	if (name == i) /* ${!@} is, ${!:-x} is $! */
		return i < end && strchr("@*#?!$-", r->text[i]);
	if (end - name == 1 && strchr("*@", r->text[name]))
		return ascii_is_digit((unsigned char)r->text[i]);
	return !(end - name == 3 && r->text[name] == '[' && strchr("*@", r->text[name + 1]));
}

/* What stands between ${ and }. */
static void reader_check_parameter(struct shell_reader *r, struct text_place at)
{
	size_t i = at.start;
	size_t end = at.end < r->len ? at.end : r->len;
	bool indirect = i < end && r->text[i] == '!' && is_indirect(r, i + 1, end);
	bool prefix = i + 1 < end && strchr("!#", r->text[i]) &&
	              (shell_is_name((unsigned char)r->text[i + 1]) ||
	               strchr("@*", r->text[i + 1]));
	struct text_place name;

	if (indirect)
		reading_problem(r->out, SHELL_PROBLEM_EXPANSION, at.start, end);
	i += prefix;
	name.start = (uint32_t)i;
	while (i < end && shell_is_name((unsigned char)r->text[i]))
		i++;
	name.end = (uint32_t)i;
	if (i == name.start)
		i += i < end;
	if (prefix && r->text[at.start] == '!' && end - i == 1 && strchr("*@", r->text[i]))
		return; /* names */
	if (i < end && r->text[i] == '[')
		i = arithmetic_check_subscript(r, i, end);
	if (!indirect)
		check_operator(r, name, i, end);
}
