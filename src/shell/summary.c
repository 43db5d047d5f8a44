/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a question: one command per line, nothing hidden. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "shell/analysis.h"

/* Characters that a terminal does not show, or that turn what follows around (Unicode 15:
 * general categories Cc, Cf, Zl, Zp, Zs but the blank; fillers; tags; variation selectors). */
static bool is_deceptive_character(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} ranges[] = {
		{ 0x00, 0x1f },       { 0x7f, 0xa0 },       { 0xad, 0xad },
		{ 0x34f, 0x34f },     { 0x600, 0x605 },     { 0x61c, 0x61c },
		{ 0x6dd, 0x6dd },     { 0x70f, 0x70f },     { 0x890, 0x891 },
		{ 0x8e2, 0x8e2 },     { 0x115f, 0x1160 },   { 0x1680, 0x1680 },
		{ 0x17b4, 0x17b5 },   { 0x180b, 0x180f },   { 0x2000, 0x200f },
		{ 0x2028, 0x202f },   { 0x205f, 0x206f },   { 0x2800, 0x2800 },
		{ 0x3000, 0x3000 },   { 0x3164, 0x3164 },   { 0xe000, 0xf8ff },
		{ 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },
		{ 0xfff0, 0xffff },   { 0x110bd, 0x110cd }, { 0x13430, 0x1343f },
		{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0x10ffff },
	};

	for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	return false;
}

/* One character, or one byte that is none; returns its length. `escape` for those that the
 * caller quotes with a backslash. */
static size_t summary_put_character(struct buf *out, struct span text, const char *escape)
{
	const struct utf8_char first = utf8_first(text);
	const uint32_t c = first.code;

	if (first.bad)
		buf_printf(out, "\\x%02x", (unsigned char)text.data[0]);
	else if (c == '\n' || c == '\t')
		buf_str(out, c == '\n' ? "\\n" : "\\t");
	else if (is_deceptive_character(c) && c < 0x80)
		buf_printf(out, "\\x%02x", (unsigned)c);
	else if (is_deceptive_character(c))
		buf_printf(out, "\\u{%x}", (unsigned)c);
	else if (c < 0x80 && strchr(escape, (int)c))
		buf_printf(out, "\\%c", (char)c);
	else
		buf_span(out, first.bytes);
	return first.bytes.len;
}

static void summary_put_text(struct buf *out, struct span text, const char *escape)
{
	while (text.len > 0)
		text = span_skip(text, summary_put_character(out, text, escape));
}

static bool needs_escape(struct span text)
{
	struct utf8_char c;

	while (utf8_next(&text, &c))
		if (c.bad || is_deceptive_character(c.code))
			return true;
	return false;
}

static bool summary_is_plain(struct span text)
{
	static const char marks[] = "%+,-./:=@_^";

	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (!(ascii_is_alnum(c) || (c && strchr(marks, c)) || (unsigned char)c >= 0x80))
			return false;
	}
	return text.len > 0;
}

/* A known value: as it is, 'quoted', or $'with escapes'. */
static void summary_put_value(struct buf *out, struct span value)
{
	if (needs_escape(value) || memchr(value.data ? value.data : "", '\'', value.len)) {
		buf_str(out, "$'");
		summary_put_text(out, value, "\\'");
		buf_char(out, '\'');
	} else if (summary_is_plain(value)) {
		buf_span(out, value);
	} else {
		buf_char(out, '\'');
		buf_span(out, value);
		buf_char(out, '\'');
	}
}

static void summary_put_word(struct buf *out, const struct shell_word *word)
{
	if (word->dynamic)
		summary_put_text(out, word->raw, "");
	else
		summary_put_value(out, word->value);
}

static void put_redirect(struct buf *out, const struct shell_redirect *redirect)
{
	static const char signs[SHELL_REDIRECT_COUNT][4] = {
		[SHELL_REDIRECT_READ] = "<",         [SHELL_REDIRECT_WRITE] = ">",
		[SHELL_REDIRECT_APPEND] = ">>",      [SHELL_REDIRECT_CLOBBER] = ">|",
		[SHELL_REDIRECT_READ_WRITE] = "<>",  [SHELL_REDIRECT_WRITE_BOTH] = "&>",
		[SHELL_REDIRECT_APPEND_BOTH] = "&>>", [SHELL_REDIRECT_HEREDOC] = "<<",
		[SHELL_REDIRECT_HERESTRING] = "<<<", [SHELL_REDIRECT_DUP_IN] = "<&",
		[SHELL_REDIRECT_DUP_OUT] = ">&",
	};
	bool input = redirect->kind == SHELL_REDIRECT_READ ||
	             redirect->kind == SHELL_REDIRECT_READ_WRITE ||
	             redirect->kind == SHELL_REDIRECT_HEREDOC ||
	             redirect->kind == SHELL_REDIRECT_HERESTRING ||
	             redirect->kind == SHELL_REDIRECT_DUP_IN;

	buf_char(out, ' ');
	if (redirect->fd >= 0 && redirect->fd != (input ? 0 : 1))
		buf_printf(out, "%d", redirect->fd);
	else if (redirect->fd < 0)
		buf_str(out, "{…}");
	buf_str(out, signs[redirect->kind]);
	if (redirect->kind != SHELL_REDIRECT_DUP_IN && redirect->kind != SHELL_REDIRECT_DUP_OUT)
		buf_char(out, ' ');
	if (redirect->kind == SHELL_REDIRECT_HEREDOC)
		buf_printf(out, "(%zu bytes of text)", redirect->target.raw.len);
	else
		summary_put_word(out, &redirect->target);
}

static void put_notes(struct buf *out, const struct shell_command *command)
{
	static const struct {
		unsigned flag;
		char note[32];
	} notes[] = {
		{ SHELL_FLAG_BACKGROUND, "in the background" },
		{ SHELL_FLAG_APPENDED, "with arguments from its input" },
		{ SHELL_FLAG_DELETES, "deletes files" },
		{ SHELL_FLAG_WRITES, "writes files" },
		{ SHELL_FLAG_REMOTE, "on another machine" },
	};
	bool first = true;

	for (size_t i = 0; i < ARRAY_LEN(notes); i++) {
		if (!(command->flags & notes[i].flag))
			continue;
		buf_printf(out, "%s%s", first ? "   (" : ", ", notes[i].note);
		first = false;
	}
	if (!first)
		buf_char(out, ')');
}

static void summary_put_command(struct buf *out, const struct shell_command *command,
                                unsigned depth)
{
	const char *gap = "";

	buf_printf(out, "%*s", (int)(2 * depth), "");
	for (size_t i = 0; i < command->assignment_count; i++, gap = " ") {
		buf_str(out, gap);
		summary_put_text(out, command->assignments[i].name, "");
		buf_char(out, '=');
		summary_put_word(out, &command->assignments[i].value);
	}
	for (size_t i = 0; i < command->word_count; i++, gap = " ") {
		buf_str(out, gap);
		summary_put_word(out, &command->words[i]);
	}
	for (size_t i = 0; i < command->redirect_count; i++)
		put_redirect(out, &command->redirects[i]);
	put_notes(out, command);
	buf_char(out, '\n');
}

/* Children of each command, in order: the first one, and the next one of the same parent. */
struct summary_tree {
	size_t *first, *last, *next;
};

static struct summary_tree summary_make_tree(const struct shell_analysis *analysis)
{
	size_t count = analysis->command_count;
	struct summary_tree tree = { .first = mem_alloc(count + 1, sizeof(size_t)),
		             .last = mem_alloc(count + 1, sizeof(size_t)),
		             .next = mem_alloc(count + 1, sizeof(size_t)) };

	for (size_t i = 0; i <= count; i++)
		tree.first[i] = tree.last[i] = tree.next[i] = SHELL_NONE;
	for (size_t i = 0; i < count; i++) {
		size_t parent = analysis->commands[i].parent;
		size_t slot = parent == SHELL_NONE ? count : parent;

		if (tree.first[slot] == SHELL_NONE)
			tree.first[slot] = i;
		else
			tree.next[tree.last[slot]] = i;
		tree.last[slot] = i;
	}
	return tree;
}

static void put_commands(struct buf *out, const struct shell_analysis *analysis)
{
	struct summary_tree tree = summary_make_tree(analysis);
	size_t at = tree.first[analysis->command_count];
	unsigned depth = 0;

	while (at != SHELL_NONE && !out->overflowed) {
		summary_put_command(out, &analysis->commands[at], depth);
		if (tree.first[at] != SHELL_NONE) {
			at = tree.first[at];
			depth++;
			continue;
		}
		while (at != SHELL_NONE && tree.next[at] == SHELL_NONE) {
			at = analysis->commands[at].parent;
			depth -= depth > 0;
		}
		at = at == SHELL_NONE ? SHELL_NONE : tree.next[at];
	}
	free(tree.first);
	free(tree.last);
	free(tree.next);
}

/* Each kind once, with the first place. */
static void put_problems(struct buf *out, const struct shell_analysis *analysis)
{
	bool seen[SHELL_PROBLEM_COUNT] = { false };

	for (size_t i = 0; i < analysis->problem_count; i++) {
		const struct shell_problem *problem = &analysis->problems[i];
		struct span text = analysis->scripts[problem->script].text;

		if (seen[problem->kind])
			continue;
		seen[problem->kind] = true;
		text = span_head(span_skip(text, problem->offset), problem->length);
		buf_printf(out, "! %s", shell_problem_sentence(problem->kind));
		if (text.len > 0) {
			buf_str(out, " At: ");
			summary_put_text(out, utf8_head(text, 60), "");
			buf_str(out, text.len > 60 ? "…" : "");
		}
		buf_char(out, '\n');
	}
}

void shell_summary(const struct shell_analysis *analysis, struct buf *out)
{
	put_commands(out, analysis);
	for (size_t i = 0; i < analysis->redirect_count; i++) {
		buf_str(out, "(group)");
		put_redirect(out, &analysis->redirects[i]);
		buf_char(out, '\n');
	}
	put_problems(out, analysis);
}
