/* SPDX-License-Identifier: Apache-2.0 */
/* The reader: lists, simple commands, redirections; what it finds. */
#include "shell/reading.h"

#include <stdlib.h>

#include "base/limits.h"
#include "shell/reader.h"

enum { MAX_OPEN = LIMIT_SHELL_NESTING };

enum list_state {
	STATE_COMMAND, /* a command may begin */
	STATE_WORDS,   /* in a simple command */
	STATE_DONE,    /* after ) } fi done esac ]] */
};

/* Where the parts of the list began, as numbers of commands. */
struct list_parts {
	size_t item;  /* of a && b | c; & concerns all of it */
	size_t stage; /* of a pipeline */
};

struct command_list {
	enum list_state state;
	enum list_end end;
	size_t current; /* the command that gets words */
	struct list_parts parts;
	struct list_parts open[MAX_OPEN]; /* what { if while … interrupted */
	unsigned open_count;
	unsigned function_open; /* count of open things in which the function's body began, or 0 */
	bool negated;
	bool piped;   /* the next stage reads from a pipe */
	bool returns; /* the list has ended */
	bool esac;
};

static struct read_command *reader_current(struct shell_reader *r, const struct command_list *list)
{
	return &r->out->commands[list->current];
}

/* Adds to chains; the number of the new one, from 1 on, or 0 when a limit was reached. */
static uint32_t reader_add_word(struct shell_reader *r, struct index_chain *chain,
                                struct text_place at)
{
	struct shell_reading *out = r->out;

	if (out->word_count >= LIMIT_SHELL_WORDS) {
		reader_stop(r);
		return 0;
	}
	SHELL_GROW(out, word, words);
	out->words[out->word_count++] = (struct read_word){ .at = at };
	if (chain->last)
		out->words[chain->last - 1].next = (uint32_t)out->word_count;
	else
		chain->first = (uint32_t)out->word_count;
	chain->last = (uint32_t)out->word_count;
	chain->count++;
	return chain->last;
}

static uint32_t reader_add_redirect(struct shell_reader *r, struct index_chain *chain,
                                    struct read_redirect redirect)
{
	struct shell_reading *out = r->out;

	if (out->redirect_count >= LIMIT_SHELL_WORDS) {
		reader_stop(r);
		return 0;
	}
	SHELL_GROW(out, redirect, redirects);
	out->redirects[out->redirect_count++] = redirect;
	if (chain->last)
		out->redirects[chain->last - 1].next = (uint32_t)out->redirect_count;
	else
		chain->first = (uint32_t)out->redirect_count;
	chain->last = (uint32_t)out->redirect_count;
	chain->count++;
	return chain->last;
}

void reading_init(struct shell_reading *reading, struct span text)
{
	*reading = (struct shell_reading){ .text = text };
}

void reading_release(struct shell_reading *reading)
{
	free(reading->commands);
	free(reading->words);
	free(reading->redirects);
	free(reading->functions);
	free(reading->backticks);
	free(reading->pieces);
	free(reading->values);
	free(reading->numbers);
	free(reading->problems);
	*reading = (struct shell_reading){ 0 };
}

/* ---- redirections ----------------------------------------------------------------- */

struct operator {
	char text[4];
	enum shell_redirect_kind kind;
	int fd; /* when none is written */
};

/* Longest first. */
static const struct operator operators[] = {
	{ "&>>", SHELL_REDIRECT_APPEND_BOTH, 1 }, { "&>", SHELL_REDIRECT_WRITE_BOTH, 1 },
	{ "<<<", SHELL_REDIRECT_HERESTRING, 0 },  { "<<", SHELL_REDIRECT_HEREDOC, 0 },
	{ "<&", SHELL_REDIRECT_DUP_IN, 0 },       { "<>", SHELL_REDIRECT_READ_WRITE, 0 },
	{ "<", SHELL_REDIRECT_READ, 0 },          { ">>", SHELL_REDIRECT_APPEND, 1 },
	{ ">&", SHELL_REDIRECT_DUP_OUT, 1 },      { ">|", SHELL_REDIRECT_CLOBBER, 1 },
	{ ">", SHELL_REDIRECT_WRITE, 1 },
};

static const struct operator *operator_at(const struct shell_reader *r, size_t at)
{
	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		size_t len = strlen(operators[i].text);

		if (r->len - at >= len && memcmp(r->text + at, operators[i].text, len) == 0)
			return &operators[i];
	}
	return NULL;
}

/* Whether a redirection begins here; its descriptor (-2: none is written, -1: {name} or too
 * large), and where its operator is. */
static bool reader_is_at_redirect(const struct shell_reader *r, int *ret_fd, size_t *ret_operator)
{
	size_t i = r->pos;
	int fd = -2;

	if (reader_at(r, 0) == '{' && is_name_start(reader_at(r, 1))) {
		for (i++; i < r->len && shell_is_name((unsigned char)r->text[i]);)
			i++;
		if (i >= r->len || r->text[i] != '}')
			return false;
		i++;
		fd = -1;
	} else if (ascii_is_digit(reader_at(r, 0))) {
		for (fd = 0; i < r->len && ascii_is_digit((unsigned char)r->text[i]); i++)
			fd = fd < 0 || fd > 99999 ? -1 : fd * 10 + (r->text[i] - '0');
	}
	if (i >= r->len || !operator_at(r, i) || (fd != -2 && r->text[i] == '&'))
		return false;
	if (fd == -2 && r->text[i] != '&' && i + 1 < r->len && r->text[i + 1] == '(')
		return false; /* <( and >( are words */
	*ret_fd = fd;
	*ret_operator = i;
	return true;
}

/* The word after an operator.  For bash the - of >&- and <&- is a token: in ">&-x" x is the next
 * word. */
static struct text_place read_target(struct shell_reader *r, enum shell_redirect_kind kind)
{
	struct text_place at;

	reader_blanks(r);
	if ((kind != SHELL_REDIRECT_DUP_OUT && kind != SHELL_REDIRECT_DUP_IN) ||
	    reader_at(r, 0) != '-')
		return reader_word(r);
	at = (struct text_place){ (uint32_t)r->pos, (uint32_t)r->pos + 1 };
	r->pos++;
	r->out->bashisms |= reader_is_at_word(r);
	return at;
}

static void reader_begin_command(struct shell_reader *r, struct command_list *list);

static void reader_redirect(struct shell_reader *r, struct command_list *list, int fd, size_t at)
{
	const struct operator *operator = operator_at(r, at);
	struct read_redirect redirect = { .kind = operator->kind, .whole.start = (uint32_t)r->pos,
		                          .fd = fd == -2 ? operator->fd : fd };
	struct index_chain *chain = &r->out->group_redirects;
	size_t outer = r->command;
	uint32_t number;

	if (list->state != STATE_DONE) {
		reader_begin_command(r, list);
		r->command = list->current;
	}
	r->pos = at + strlen(operator->text);
	if (redirect.kind == SHELL_REDIRECT_HEREDOC && reader_at(r, 0) == '-') {
		redirect.strips_tabs = true;
		r->pos++;
	}
	if (operator->text[0] == '&' || redirect.kind == SHELL_REDIRECT_HERESTRING || fd == -1)
		r->out->bashisms = true;
	redirect.target = read_target(r, redirect.kind);
	redirect.whole.end = redirect.target.end;
	if (redirect.target.start == redirect.target.end)
		reader_problem(r, SHELL_PROBLEM_SYNTAX, at);
	if (list->state != STATE_DONE) {
		chain = &reader_current(r, list)->redirects;
		reader_current(r, list)->at.end = (uint32_t)r->pos;
	}
	number = reader_add_redirect(r, chain, redirect);
	if (number && redirect.kind == SHELL_REDIRECT_HEREDOC)
		reader_expect_heredoc(r, number - 1, redirect.target);
	r->command = outer;
}

/* ---- lists and commands ----------------------------------------------------------- */

/* Begins a command, or a redirection before one, if the list has none open. */
static void reader_begin_command(struct shell_reader *r, struct command_list *list)
{
	struct shell_reading *out = r->out;

	if (list->state == STATE_WORDS)
		return;
	if (list->state == STATE_DONE)
		reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
	if (out->command_count >= LIMIT_SHELL_COMMANDS) {
		reader_stop(r);
		list->current = out->command_count - 1;
		list->state = STATE_WORDS;
		return;
	}
	SHELL_GROW(out, command, commands);
	list->current = out->command_count;
	out->commands[out->command_count++] = (struct read_command){
		.at = { (uint32_t)r->pos, (uint32_t)r->pos },
		.flags = r->flags | (list->negated ? SHELL_FLAG_NEGATED : 0) |
		         (list->piped ? SHELL_FLAG_PIPED_IN : 0),
		.nesting = r->nesting,
	};
	list->negated = list->piped = false;
	list->state = STATE_WORDS;
}

/* Sets a flag on the commands of this list, not of substitutions in it, from a number on. */
static void mark_from(struct shell_reader *r, size_t from, unsigned flag)
{
	for (size_t i = from; i < r->out->command_count; i++)
		if (r->out->commands[i].nesting <= r->nesting || flag == SHELL_FLAG_BACKGROUND)
			r->out->commands[i].flags |= flag;
}

static void end_item(struct shell_reader *r, struct command_list *list)
{
	list->state = STATE_COMMAND;
	list->negated = list->piped = false;
	list->parts.item = list->parts.stage = r->out->command_count;
}

static void end_stage(struct shell_reader *r, struct command_list *list, bool piped)
{
	if (list->state == STATE_COMMAND)
		reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
	if (piped)
		mark_from(r, list->parts.stage, SHELL_FLAG_PIPED_OUT);
	list->state = STATE_COMMAND;
	list->piped = piped;
	list->negated = false;
	list->parts.stage = r->out->command_count;
}

/* { if while for case: what follows is a nested list in the same text. */
static void reader_open_group(struct shell_reader *r, struct command_list *list)
{
	if (list->open_count == MAX_OPEN) {
		reader_stop(r);
		return;
	}
	list->open[list->open_count++] = list->parts;
	end_item(r, list);
}

static void reader_close_group(struct shell_reader *r, struct command_list *list)
{
	if (list->open_count == 0) {
		reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
	} else {
		if (list->function_open == list->open_count) {
			list->function_open = 0;
			r->flags &= ~(unsigned)SHELL_FLAG_FUNCTION;
		}
		list->parts = list->open[--list->open_count];
	}
	list->state = STATE_DONE;
}

static void begin_function(struct shell_reader *r, struct command_list *list,
                           struct text_place name)
{
	SHELL_GROW(r->out, function, functions);
	r->out->functions[r->out->function_count++] = name;
	list->state = STATE_COMMAND;
	if (!(r->flags & SHELL_FLAG_FUNCTION)) {
		list->function_open = list->open_count + 1;
		r->flags |= SHELL_FLAG_FUNCTION;
	}
}

/* function NAME [()] */
static void read_function(struct shell_reader *r, struct command_list *list)
{
	struct text_place name;

	r->out->bashisms = true;
	reader_blanks(r);
	name = reader_word(r);
	reader_blanks(r);
	if (reader_at(r, 0) == '(' && reader_at(r, 1) == ')')
		r->pos += 2;
	if (name.start == name.end)
		reader_problem(r, SHELL_PROBLEM_SYNTAX, name.start);
	begin_function(r, list, name);
}

enum keyword {
	KEYWORD_NONE,
	KEYWORD_NEXT,  /* then do else elif: a new list begins */
	KEYWORD_OPEN,  /* { if while until */
	KEYWORD_CLOSE, /* } fi done */
	KEYWORD_NOT,
	KEYWORD_FOR,
	KEYWORD_CASE,
	KEYWORD_ESAC,
	KEYWORD_FUNCTION,
	KEYWORD_CONDITION,
	KEYWORD_COPROC,
	KEYWORD_TIME,
};

static enum keyword keyword_of(const struct shell_reader *r, struct text_place at)
{
	static const struct {
		char text[12];
		enum keyword keyword;
	} keywords[] = {
		{ "then", KEYWORD_NEXT },     { "do", KEYWORD_NEXT },      { "else", KEYWORD_NEXT },
		{ "elif", KEYWORD_NEXT },     { "{", KEYWORD_OPEN },       { "if", KEYWORD_OPEN },
		{ "while", KEYWORD_OPEN },    { "until", KEYWORD_OPEN },   { "}", KEYWORD_CLOSE },
		{ "fi", KEYWORD_CLOSE },      { "done", KEYWORD_CLOSE },   { "!", KEYWORD_NOT },
		{ "for", KEYWORD_FOR },       { "select", KEYWORD_FOR },   { "case", KEYWORD_CASE },
		{ "esac", KEYWORD_ESAC },     { "function", KEYWORD_FUNCTION },
		{ "[[", KEYWORD_CONDITION },  { "coproc", KEYWORD_COPROC },
		{ "time", KEYWORD_TIME },
	};

	for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
		if (reader_is(r, at, keywords[i].text))
			return keywords[i].keyword;
	return KEYWORD_NONE;
}

/* [[ is in the list so that a question shows it, and so that both readings can be compared. */
static void read_condition(struct shell_reader *r, struct command_list *list, struct text_place at)
{
	size_t place;

	r->pos = at.start;
	reader_begin_command(r, list);
	place = list->current;
	r->out->commands[place].flags |= SHELL_FLAG_TEST;
	r->pos = at.end;
	r->out->bashisms = true;
	reader_add_word(r, &r->out->commands[place].words, at);
	reader_condition(r);
	r->out->commands[place].at.end = (uint32_t)r->pos;
	list->state = STATE_DONE;
}

/* The plain word at a place: what keywords are looked for in. */
static struct text_place reader_keyword_at(const struct shell_reader *r, size_t start)
{
	struct text_place at = { (uint32_t)start, (uint32_t)start };

	while (at.end < r->len && !is_meta((unsigned char)r->text[at.end]))
		at.end++;
	return at;
}

/* time [-p] [--] before a group, a loop and the like: those stay a command's beginning. Before a
 * program it is a wrapper as others are: false. */
static bool read_time(struct shell_reader *r, struct text_place at)
{
	struct text_place word = at;
	size_t end;

	for (;;) {
		end = word.end;
		while (end < r->len && shell_is_blank((unsigned char)r->text[end]))
			end++;
		word = reader_keyword_at(r, end);
		if (!reader_is(r, word, "-p") && !reader_is(r, word, "--"))
			break;
	}
	if ((end >= r->len || r->text[end] != '(') &&
	    (keyword_of(r, word) == KEYWORD_NONE || keyword_of(r, word) == KEYWORD_TIME))
		return false;
	if (r->out->time_count == READING_TIMES) {
		reader_stop(r);
		return true;
	}
	r->out->bashisms = true;
	r->out->times[r->out->time_count++] = (struct text_place){ at.start, (uint32_t)end };
	r->pos = end;
	return true;
}

static void do_keyword(struct shell_reader *r, struct command_list *list, enum keyword keyword,
                       struct text_place at)
{
	switch (keyword) {
	case KEYWORD_NEXT:
		end_item(r, list);
		break;
	case KEYWORD_OPEN:
		reader_open_group(r, list);
		break;
	case KEYWORD_CLOSE:
		reader_close_group(r, list);
		break;
	case KEYWORD_NOT:
		list->negated = !list->negated;
		break;
	case KEYWORD_FOR:
		reader_open_group(r, list);
		reader_for(r);
		break;
	case KEYWORD_CASE:
		reader_case(r);
		list->state = STATE_DONE;
		break;
	case KEYWORD_ESAC:
		list->returns = list->esac = list->end == LIST_END_CASE;
		if (!list->esac)
			reader_problem(r, SHELL_PROBLEM_SYNTAX, at.start);
		break;
	case KEYWORD_FUNCTION:
		read_function(r, list);
		break;
	case KEYWORD_CONDITION:
		read_condition(r, list, at);
		break;
	case KEYWORD_COPROC:
		reader_problem(r, SHELL_PROBLEM_COPROCESS, at.start);
		break;
	case KEYWORD_TIME:
	case KEYWORD_NONE:
		break;
	}
}

/* The end of the name in "name=", "name+=", "name[…]=" at the start of a word, or 0. */
static size_t assigned_name(struct shell_reader *r, struct text_place at, size_t *ret_value)
{
	size_t i = at.start;
	size_t name_end;

	if (i >= at.end || !is_name_start((unsigned char)r->text[i]))
		return 0;
	while (i < at.end && shell_is_name((unsigned char)r->text[i]))
		i++;
	name_end = i;
	if (i < at.end && r->text[i] == '[') {
		while (i < at.end && r->text[i] != ']')
			i++;
		i += i < at.end;
	}
	if (i < at.end && r->text[i] == '+') {
		r->out->bashisms = true;
		i++;
	}
	if (i >= at.end || r->text[i] != '=')
		return 0;
	*ret_value = i + 1;
	return name_end;
}

/* a[…]= before a name: the subscript is arithmetic, and may hold blanks, which are not read. */
static void reader_check_subscript(struct shell_reader *r, struct text_place at, size_t name_end)
{
	const char *close;

	if (r->text[name_end] != '[')
		return;
	close = memchr(r->text + name_end, ']', at.end - name_end);
	reader_note_arithmetic(r, (struct text_place){ (uint32_t)name_end + 1,
	                                          (uint32_t)(close - r->text) });
}

/* Whether text at the position begins name[ with a subscript that is not one word. */
static bool has_wide_subscript(struct shell_reader *r)
{
	size_t i = r->pos;

	if (!is_name_start(reader_at(r, 0)))
		return false;
	while (i < r->len && shell_is_name((unsigned char)r->text[i]))
		i++;
	if (i >= r->len || r->text[i] != '[')
		return false;
	for (; i < r->len && r->text[i] != ']'; i++)
		if (is_meta((unsigned char)r->text[i]) || strchr("'\"\\`", r->text[i]))
			return true;
	return false;
}

static void add_assignment(struct shell_reader *r, struct command_list *list, struct text_place at,
                           size_t name_end,
                           size_t value)
{
	struct text_place name = { at.start, (uint32_t)name_end };

	if (reader_at(r, 0) == '(' && r->pos == value) {
		reader_array(r);
		at.end = (uint32_t)r->pos;
		r->out->bashisms = true;
	}
	reader_check_subscript(r, at, name_end);
	reader_add_word(r, &reader_current(r, list)->assignments, at);
	reader_value(r, (struct read_value){ .name = name, .value = { (uint32_t)value, at.end },
	                                     .assignment = true });
}

/* Those that take assignments as arguments, so that a=( is an array there. */
static bool is_declaration(struct shell_reader *r, const struct read_command *command)
{
	return command->words.first &&
	       name_in(reading_span(r->out, r->out->words[command->words.first - 1].at),
	               "declare typeset export local readonly alias eval let");
}

static void reader_add_argument(struct shell_reader *r, struct command_list *list,
                                struct text_place at)
{
	size_t value;
	size_t name_end = assigned_name(r, at, &value);
	struct read_command *command = reader_current(r, list);

	if (name_end && reader_at(r, 0) == '(' && r->pos == value && is_declaration(r, command)) {
		reader_array(r);
		at.end = (uint32_t)r->pos;
	}
	if (name_end && is_declaration(r, reader_current(r, list)))
		reader_value(r, (struct read_value){ .name = { at.start, (uint32_t)name_end },
		                                     .value = { (uint32_t)value, at.end },
		                                     .assignment = true });
	reader_add_word(r, &reader_current(r, list)->words, at);
}

static void read_plain_word(struct shell_reader *r, struct command_list *list)
{
	bool first = list->state != STATE_WORDS;
	struct text_place at = { (uint32_t)r->pos, (uint32_t)r->pos };
	size_t outer = r->command;
	enum keyword keyword;
	size_t name_end, value;

	if (first) {
		at = reader_keyword_at(r, r->pos);
		keyword = keyword_of(r, at);
		if (keyword == KEYWORD_TIME && read_time(r, at))
			return;
		if (keyword != KEYWORD_NONE && keyword != KEYWORD_TIME) {
			r->pos = at.end;
			do_keyword(r, list, keyword, at);
			return;
		}
	}
	reader_begin_command(r, list);
	if (reader_current(r, list)->words.count == 0 && has_wide_subscript(r))
		reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
	r->command = list->current;
	at = reader_word(r);
	name_end = reader_current(r, list)->words.count == 0 ? assigned_name(r, at, &value) : 0;
	if (name_end)
		add_assignment(r, list, at, name_end, value);
	else
		reader_add_argument(r, list, at);
	r->command = outer;
	reader_current(r, list)->at.end = (uint32_t)r->pos;
}

/* NAME ( ): the word before was no command but names a function. */
static bool read_function_parens(struct shell_reader *r, struct command_list *list)
{
	const struct read_command *command = reader_current(r, list);
	size_t start = r->pos++;

	reader_blanks(r);
	if (command->words.count != 1 || command->assignments.count > 0 ||
	    command->redirects.count > 0 || reader_at(r, 0) != ')' ||
	    list->current + 1 != r->out->command_count) {
		r->pos = start;
		return false;
	}
	r->pos++;
	r->out->command_count--;
	begin_function(r, list, r->out->words[command->words.first - 1].at);
	return true;
}

static void read_subshell(struct shell_reader *r, struct command_list *list)
{
	unsigned flags = r->flags;

	r->pos++;
	if (!reader_enter(r))
		return;
	if (list->piped)
		r->flags |= SHELL_FLAG_PIPED_IN;
	if (list->negated)
		r->flags |= SHELL_FLAG_NEGATED;
	r->read_list(r, LIST_END_PAREN);
	r->flags = flags;
	reader_leave(r);
	if (list->function_open == list->open_count + 1) {
		list->function_open = 0;
		r->flags &= ~(unsigned)SHELL_FLAG_FUNCTION;
	}
}

/* A function, ((…)) at the start of a command, or a subshell. */
static void read_paren(struct shell_reader *r, struct command_list *list)
{
	if (list->state == STATE_WORDS && read_function_parens(r, list))
		return;
	if (list->state != STATE_COMMAND) {
		reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
	} else if (reader_at(r, 1) == '(') {
		r->pos += 2;
		r->out->bashisms = true;
		reader_arithmetic(r);
		list->state = STATE_DONE;
		return;
	}
	read_subshell(r, list);
	list->state = STATE_DONE;
}

static void read_semicolon(struct shell_reader *r, struct command_list *list)
{
	int next = reader_at(r, 1);

	if (next != ';' && next != '&') {
		if (list->state == STATE_COMMAND && list->parts.item == r->out->command_count &&
		    list->open_count == 0)
			reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
		r->pos++;
		end_item(r, list);
		return;
	}
	if (list->end == LIST_END_CASE && list->open_count == 0)
		list->returns = true;
	else
		reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
	r->pos += 2 + (next == ';' && reader_at(r, 2) == '&');
	end_item(r, list);
}

static void read_ampersand(struct shell_reader *r, struct command_list *list)
{
	if (reader_at(r, 1) == '&') {
		end_stage(r, list, false);
		r->pos += 2;
		return;
	}
	mark_from(r, list->parts.item, SHELL_FLAG_BACKGROUND);
	r->out->background = true;
	r->pos++;
	end_item(r, list);
}

static void read_pipe(struct shell_reader *r, struct command_list *list)
{
	int next = reader_at(r, 1);

	if (next == '&')
		r->out->bashisms = true;
	end_stage(r, list, next != '|');
	r->pos += next == '|' || next == '&' ? 2 : 1;
}

static void read_newline(struct shell_reader *r, struct command_list *list)
{
	r->pos++;
	/* After && and | the list goes on in the next line. */
	if (list->state != STATE_COMMAND)
		end_item(r, list);
	reader_heredocs(r);
}

static void reader_read_token(struct shell_reader *r, struct command_list *list)
{
	int c = reader_at(r, 0);
	size_t operator;
	int fd;

	if (reader_is_at_redirect(r, &fd, &operator)) {
		reader_redirect(r, list, fd, operator);
	} else if (c == '\n') {
		read_newline(r, list);
	} else if (c == ';') {
		read_semicolon(r, list);
	} else if (c == '&') {
		read_ampersand(r, list);
	} else if (c == '|') {
		read_pipe(r, list);
	} else if (c == '(') {
		read_paren(r, list);
	} else if (c == ')') {
		r->pos++;
		if (list->end == LIST_END_PAREN)
			list->returns = true;
		else
			reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos - 1);
	} else {
		read_plain_word(r, list);
	}
}

static bool reader_list(struct shell_reader *r, enum list_end end)
{
	struct command_list list = { .end = end };
	unsigned function = r->flags & SHELL_FLAG_FUNCTION;
	size_t outer = r->command;

	r->command = SHELL_NONE;
	end_item(r, &list);
	while (!list.returns) {
		reader_blanks(r);
		if (reader_at(r, 0) < 0)
			break;
		reader_read_token(r, &list);
	}
	if (!r->stopped && ((!list.returns && end != LIST_END_TEXT) || list.open_count > 0))
		reader_problem(r, SHELL_PROBLEM_SYNTAX, r->pos);
	r->command = outer;
	r->flags = (r->flags & ~(unsigned)SHELL_FLAG_FUNCTION) | function;
	return list.esac;
}

void reading_make(struct shell_reading *reading)
{
	struct shell_reader r = { .out = reading, .text = reading->text.data, .len =
				 reading->text.len,
		            .command = SHELL_NONE, .read_list = reader_list };

	reader_list(&r, LIST_END_TEXT);
	if (r.heredoc_count > 0)
		reader_problem(&r, SHELL_PROBLEM_SYNTAX, r.pos);
}
