/* SPDX-License-Identifier: Apache-2.0 */
/* Redirections. */
#include "base/mem.h"
#include "shell/reader_private.h"

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

static const struct operator *operator_at(const struct reader *r, size_t at)
{
	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		size_t len = strlen(operators[i].text);

		if (r->len - at >= len && memcmp(r->text + at, operators[i].text, len) == 0)
			return &operators[i];
	}
	return NULL;
}

bool reader_redirect_begins(const struct reader *r, int *ret_fd, size_t *ret_operator)
{
	size_t i = r->pos;
	int fd = -2;

	if (reader_at(r, 0) == '{' && is_name_start(reader_at(r, 1))) {
		for (i++; i < r->len && is_name((unsigned char)r->text[i]);)
			i++;
		if (i >= r->len || r->text[i] != '}')
			return false;
		i++;
		fd = -1;
	} else if (is_digit(reader_at(r, 0))) {
		for (fd = 0; i < r->len && is_digit((unsigned char)r->text[i]); i++)
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

void reader_redirect(struct reader *r, struct list *list, int fd, size_t at)
{
	const struct operator *operator = operator_at(r, at);
	struct read_redirect redirect = { .kind = operator->kind, .whole.start = (uint32_t)r->pos,
		                          .fd = fd == -2 ? operator->fd : fd };
	struct chain *chain = &r->out->group_redirects;
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
	reader_blanks(r, false);
	redirect.target = reader_word(r);
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
