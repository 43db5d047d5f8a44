/* SPDX-License-Identifier: Apache-2.0 */
/* Whether words that were typed stay words of a command line. */
#include "shell/analysis.h"

#include <ctype.h>
#include <string.h>

/* Stands for what was typed. */
static const struct span mark = SPAN("HaspTypedWord");

void shell_line_release(struct shell_line *line)
{
	buf_release(&line->line);
	buf_release(&line->plain);
}

void shell_line_text(struct shell_line *line, struct span text)
{
	buf_span(&line->line, text);
	buf_span(&line->plain, text);
	for (size_t i = 0; i < text.len; i++) {
		const char c = text.data[i];

		if (line->escaped)
			line->escaped = false;
		else if (c == '\\' && line->quote != '\'')
			line->escaped = true;
		else if (c == line->quote)
			line->quote = 0;
		else if (!line->quote && (c == '"' || c == '\''))
			line->quote = c;
	}
}

/* Any shell takes them as they are, quoted or not. */
static bool is_shell_plain(struct span word)
{
	for (size_t i = 0; i < word.len; i++) {
		const unsigned char c = (unsigned char)word.data[i];

		if (c < 0x80 && !isalnum(c) && !(c && strchr("_./:@%+=, -", c)))
			return false;
	}
	return true;
}

static void put_typed(struct buf *out, char quote, struct span word)
{
	if (quote)
		buf_char(out, quote);
	buf_shell_quoted(out, word);
	if (quote)
		buf_char(out, quote);
}

void shell_line_word(struct shell_line *line, struct span word)
{
	put_typed(&line->line, line->quote, word);
	put_typed(&line->plain, line->quote, mark);
	line->special = line->special || line->escaped || !is_shell_plain(word);
}

/* ---- both analyses ----------------------------------------------------------- */

static bool is_same_word(const struct shell_word *word, const struct shell_word *plain)
{
	if (!plain->raw.len || !memmem(plain->raw.data, plain->raw.len, mark.data, mark.len))
		return span_eq(word->raw, plain->raw);
	return word->dynamic == plain->dynamic && word->splits == plain->splits;
}

static bool same_redirects(const struct shell_redirect *redirects, size_t count,
                           const struct shell_redirect *plain, size_t plain_count)
{
	bool same = count == plain_count;

	for (size_t i = 0; same && i < count; i++)
		same = redirects[i].kind == plain[i].kind && redirects[i].fd == plain[i].fd &&
		       is_same_word(&redirects[i].target, &plain[i].target);
	return same;
}

static bool same_command(const struct shell_command *command, const struct shell_command *plain)
{
	bool same = command->word_count == plain->word_count && command->via == plain->via &&
	            command->assignment_count == plain->assignment_count &&
	            command->flags == plain->flags && command->parent == plain->parent &&
	            same_redirects(command->redirects, command->redirect_count, plain->redirects,
	                           plain->redirect_count);

	for (size_t i = 0; same && i < command->word_count; i++)
		same = is_same_word(&command->words[i], &plain->words[i]);
	for (size_t i = 0; same && i < command->assignment_count; i++)
		same = span_eq(command->assignments[i].name, plain->assignments[i].name) &&
		       is_same_word(&command->assignments[i].value,
		                       &plain->assignments[i].value);
	return same;
}

bool shell_line_holds(const struct shell_line *line)
{
	_cleanup_shell_analysis_ struct shell_analysis is = { 0 }, plain = { 0 };
	bool same;

	if (line->line.overflowed || line->plain.overflowed)
		return false;
	if (!line->special)
		return true;
	shell_analyse(buf_view(&line->line), &is);
	shell_analyse(buf_view(&line->plain), &plain);
	same = !is.problem_count && !plain.problem_count &&
	       is.command_count == plain.command_count && is.script_count == plain.script_count &&
	       is.function_count == plain.function_count &&
	       same_redirects(is.redirects, is.redirect_count, plain.redirects,
	                      plain.redirect_count);
	for (size_t i = 0; same && i < is.command_count; i++)
		same = same_command(&is.commands[i], &plain.commands[i]);
	return same;
}
