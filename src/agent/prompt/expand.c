/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prompt/expand.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/json.h"
#include "data/tools.h"
#include "shell/analysis.h"

/* ---- Gemini CLI's text ------------------------------------------------------------------- */

struct prompt_expansion {
	const struct expand_text *from;
	bool used;            /* what was typed has a place in the text */
	struct buf *out;
	char *problem;        /* owned; why it failed; or NULL */
};

/* What stands before the next {{args}} of `text`, or all of it; *text goes on behind it.  Whether
 * there was one. */
static bool take_to_arguments(struct prompt_expansion *expansion, struct span *text,
                              struct span *ret_before)
{
	static const struct span mark = { "{{args}}", 8 };
	const char *at = text->len ? memmem(text->data, text->len, mark.data, mark.len) : NULL;

	*ret_before = at ? span_head(*text, (size_t)(at - text->data)) : *text;
	*text = span_skip(*text, ret_before->len + (at ? mark.len : 0));
	expansion->used = expansion->used || at;
	return at != NULL;
}

/* `text` with {{args}} replaced. */
static void put_with_arguments(struct prompt_expansion *expansion, struct span text,
                               struct buf *out)
{
	struct span before;
	bool more;

	do {
		more = take_to_arguments(expansion, &text, &before);
		buf_span(out, before);
		if (more)
			buf_span(out, expansion->from->arguments);
	} while (more);
}

/* The length of what stands in braces that `text` begins behind; SIZE_MAX: they do not close. */
static size_t braced_length(struct span text)
{
	size_t depth = 1;

	for (size_t i = 0; i < text.len; i++) {
		depth += text.data[i] == '{';
		depth -= text.data[i] == '}';
		if (!depth)
			return i;
	}
	return SIZE_MAX;
}

static bool fail_with_result(struct prompt_expansion *expansion, const char *what,
                             const json_t *result)
{
	const json_t *error = json_object_get(result, "error");
	const char *message = json_string_value(json_object_get(error, "message"));

	if (!message)
		message = json_string_value(json_object_get(result, "message"));
	expansion->problem = mem_printf("%s: %s", what, message ? message : "it failed.");
	return false;
}

/* What a command line prints: it is run as the model's are, with the policy's say. */
static bool put_output(struct prompt_expansion *expansion, const struct shell_line *line)
{
	json_auto_t *arguments = json_pack("{s:o}", "command", json_text(buf_view(&line->line)));
	json_auto_t *result = NULL;
	const char *command = json_string_value(json_object_get(arguments, "command"));
	const json_t *code;

	if (!shell_line_holds(line)) {
		expansion->problem = mem_printf(
			"What you typed cannot be put into this command as words alone, so nothing "
			"was run: %.*s", (int)(line->plain.len < 400 ? line->plain.len : 400),
			line->plain.data ? line->plain.data : "");
		return false;
	}
	result = expansion->from->call(expansion->from->data, tool_name(TOOL_RUN_SHELL_COMMAND),
	                               arguments);
	code = json_object_get(result, "exit_code");
	if (!json_is_integer(code))
		return fail_with_result(expansion, command, result);
	buf_span(expansion->out, span_trim(json_span(json_object_get(result, "output"))));
	if (json_integer_value(code))
		buf_printf(expansion->out, "\n[Shell command '%s' exited with code %lld]", command,
		           (long long)json_integer_value(code));
	return true;
}

/* !{command} */
static bool put_printed(struct prompt_expansion *expansion, struct span inside)
{
	_cleanup_shell_line_ struct shell_line line = SHELL_LINE_INIT(LIMIT_MESSAGE_BYTES);
	struct span text = span_trim(inside), before;
	bool more;

	do {
		more = take_to_arguments(expansion, &text, &before);
		shell_line_text(&line, before);
		if (more)
			shell_line_word(&line, expansion->from->arguments);
	} while (more);
	return put_output(expansion, &line);
}

/* @{path}: what a file holds, by the rules for reading. */
static bool put_file_content(struct prompt_expansion *expansion, struct span inside)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_PATH_BYTES);
	json_auto_t *arguments = NULL, *result = NULL;
	const json_t *content;

	put_with_arguments(expansion, span_trim(inside), &path);
	arguments = json_pack("{s:o}", "file_path", json_text(buf_view(&path)));
	result = expansion->from->call(expansion->from->data, tool_name(TOOL_READ_FILE), arguments);
	content = json_object_get(result, "content");
	if (!json_is_string(content))
		return fail_with_result(expansion, json_string_value(json_object_get(arguments,
		                                                                     "file_path")),
		                        result);
	buf_span(expansion->out, json_span(content));
	return true;
}

/* The next "!{" or "@{"; NULL: there is none. */
static const char *next_mark(struct span text)
{
	for (size_t i = 0; i + 1 < text.len; i++)
		if ((text.data[i] == '!' || text.data[i] == '@') && text.data[i + 1] == '{')
			return text.data + i;
	return NULL;
}

static bool expand_braces(struct prompt_expansion *expansion, struct span text)
{
	const char *mark;

	while ((mark = next_mark(text))) {
		struct span before = span_head(text, (size_t)(mark - text.data));
		struct span inside = span_skip(text, before.len + 2);
		size_t len = braced_length(inside);

		if (len == SIZE_MAX) {
			expansion->problem = mem_printf("The braces of \"%.20s\" do not close.",
			                                mark);
			return false;
		}
		put_with_arguments(expansion, before, expansion->out);
		text = span_skip(inside, len + 1);
		inside = span_head(inside, len);
		if (!(*mark == '!' ? put_printed(expansion, inside) :
		                     put_file_content(expansion, inside)))
			return false;
	}
	put_with_arguments(expansion, text, expansion->out);
	return true;
}

/* ---- Claude Code's text ------------------------------------------------------------ */

enum { MARKDOWN_WORDS_MAX = 256 };

/* What the user typed behind the name, and as words. */
struct command_markdown {
	struct prompt_expansion *expansion;
	struct buf words[MARKDOWN_WORDS_MAX];
	size_t count;
	size_t first;      /* the number of the first word: $0, or $1 */
	json_t *files;     /* {path: content}, of those that the text names */
};

/* As a shell takes words apart: quotes and backslashes join, and are not part of them. */
static void markdown_words(struct command_markdown *markdown, struct span text)
{
	char quote = 0;
	bool within = false;

	for (size_t i = 0; i < text.len; i++) {
		const char c = text.data[i];

		if (!quote && isspace((unsigned char)c)) {
			markdown->count += within;
			within = false;
			continue;
		}
		if (!within && markdown->count == MARKDOWN_WORDS_MAX)
			return;
		within = true;
		if (c == quote)
			quote = 0;
		else if (!quote && (c == '"' || c == '\''))
			quote = c;
		else if (c == '\\' && quote != '\'' && i + 1 < text.len)
			buf_char(&markdown->words[markdown->count], text.data[++i]);
		else
			buf_char(&markdown->words[markdown->count], c);
	}
	markdown->count += within;
}

/* A mark that stands for what was typed, or for a fact of the session. */
struct argument_mark {
	size_t len;        /* of the mark; 0: there is none */
	bool whole;        /* all of it; else one word: */
	size_t number;
	const char *fact;  /* what it stands for, which was not typed; or NULL */
};

static size_t number_length(struct span text, size_t *ret)
{
	size_t len = 0;

	for (*ret = 0; len < text.len && len < 4 && isdigit((unsigned char)text.data[len]); len++)
		*ret = *ret * 10 + (size_t)(text.data[len] - '0');
	return len;
}

/* ${CLAUDE_SKILL_DIR}, ${CLAUDE_SESSION_ID} at the beginning of `text`. */
static struct argument_mark fact_mark(const struct command_markdown *markdown, struct span text)
{
	const struct {
		struct span mark;
		const char *fact;
	} facts[] = {
		{ SPAN("${CLAUDE_SKILL_DIR}"), markdown->expansion->from->folder },
		{ SPAN("${CLAUDE_SESSION_ID}"), markdown->expansion->from->session_id },
	};

	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		if (facts[i].fact && span_starts(text, facts[i].mark))
			return (struct argument_mark){ .len = facts[i].mark.len,
				                       .fact = facts[i].fact };
	return (struct argument_mark){ 0 };
}

static bool is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* $NAME, where the file names its arguments. */
static struct argument_mark named_mark(const struct command_markdown *markdown, struct span text)
{
	const struct span rest = span_skip(text, 1);
	const json_t *one;
	size_t i;

	json_array_foreach((json_t *)markdown->expansion->from->names, i, one) {
		const struct span name = json_span(one);

		if (name.len && span_starts(rest, name) &&
		    (rest.len == name.len || !is_name_byte(rest.data[name.len])))
			return (struct argument_mark){ .len = name.len + 1, .number = i };
	}
	return (struct argument_mark){ 0 };
}

/* $ARGUMENTS[N] (from 0) or $ARGUMENTS, whose mark `text` begins with. */
static struct argument_mark whole_mark(struct span text, size_t len)
{
	const struct span rest = span_skip(text, len);
	struct argument_mark mark = { .len = len, .whole = true };
	const size_t digits = rest.len && rest.data[0] == '[' ?
	                      number_length(span_skip(rest, 1), &mark.number) : 0;

	if (digits && digits + 1 < rest.len && rest.data[digits + 1] == ']')
		return (struct argument_mark){ .len = len + digits + 2, .number = mark.number };
	return mark;
}

/* $ARGUMENTS, $ARGUMENTS[N] (from 0), $N, $NAME or a fact's mark at the beginning of `text`. */
static struct argument_mark argument_mark(const struct command_markdown *markdown, struct span text)
{
	static const struct span name = SPAN("$ARGUMENTS");
	struct argument_mark mark = { 0 };
	size_t digits;

	if (text.len < 2 || text.data[0] != '$')
		return mark;
	if (span_starts(text, name))
		return whole_mark(text, name.len);
	digits = number_length(span_skip(text, 1), &mark.number);
	if (digits && mark.number >= markdown->first)
		return (struct argument_mark){ .len = digits + 1,
			                       .number = mark.number - markdown->first };
	mark = fact_mark(markdown, text);
	return digits || mark.len ? mark : named_mark(markdown, text);
}

/* Whether words count from 0: then a text has a mark for word 0.  Older ones count from 1. */
static size_t first_number(const struct command_markdown *markdown, struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		const struct argument_mark mark = argument_mark(markdown, span_skip(text, i));

		if (mark.len && !mark.whole && !mark.fact && mark.number == 0)
			return 0;
	}
	return 1;
}

/* The text of a mark; false: that word was not typed. */
static bool marked_text(const struct command_markdown *markdown, const struct argument_mark *mark,
                        struct span *ret)
{
	const bool typed = mark->whole || mark->number < markdown->count;

	if (mark->fact) {
		*ret = span_str(mark->fact);
		return true;
	}
	*ret = mark->whole ? markdown->expansion->from->arguments :
	       typed       ? buf_view(&markdown->words[mark->number]) : (struct span){ 0 };
	markdown->expansion->used = markdown->expansion->used || typed;
	return typed;
}

/* `text` with marks replaced by what they stand for. */
static void put_with_marks(const struct command_markdown *markdown, struct span text,
                           struct buf *out)
{
	while (text.len) {
		const struct argument_mark mark = argument_mark(markdown, text);
		struct span what;

		if (mark.len && marked_text(markdown, &mark, &what))
			buf_span(out, what);
		else
			buf_span(out, span_head(text, mark.len ? mark.len : 1));
		text = span_skip(text, mark.len ? mark.len : 1);
	}
}

static void put_line_with_marks(const struct command_markdown *markdown, struct span line,
                                struct shell_line *out)
{
	while (line.len) {
		const struct argument_mark mark = out->escaped ? (struct argument_mark){ 0 } :
		                                                 argument_mark(markdown, line);
		struct span what;

		if (!mark.len || !marked_text(markdown, &mark, &what)) {
			shell_line_text(out, span_head(line, 1));
			line = span_skip(line, 1);
			continue;
		}
		line = span_skip(line, mark.len);
		if (!mark.whole || out->quote) {
			shell_line_word(out, what);
			continue;
		}
		for (size_t i = 0; i < markdown->count; i++) {
			if (i)
				shell_line_text(out, SPAN(" "));
			shell_line_word(out, buf_view(&markdown->words[i]));
		}
	}
}

/* The length of !`...` at the beginning of `text`; 0: there is none. */
static size_t command_mark_length(struct span text)
{
	const char *end;

	if (!span_starts(text, SPAN("!`")))
		return 0;
	end = memchr(text.data + 2, '`', text.len - 2);
	return end && end > text.data + 2 ? (size_t)(end + 1 - text.data) : 0;
}

/* The length of @path at the beginning of `text`; 0: there is none. */
static size_t path_mark_length(struct span text)
{
	size_t len = 1;

	if (!text.len || text.data[0] != '@')
		return 0;
	while (len < text.len && !isspace((unsigned char)text.data[len]) &&
	       !strchr("`'\"()<>,;", text.data[len]))
		len++;
	while (len > 1 && strchr(".:!?", text.data[len - 1]))
		len--;
	return len > 1 ? len : 0;
}

/* The file is put behind the text; what is no file was no mark.  A path that is none in the
 * workspace may be one in the skill's folder. */
static void put_named_file(struct command_markdown *markdown, struct span path)
{
	const struct expand_text *from = markdown->expansion->from;
	_cleanup_buf_ struct buf name = BUF_INIT(LIMIT_PATH_BYTES);
	json_auto_t *arguments = NULL, *result = NULL;
	_cleanup_free_ char *file = NULL;
	json_t *content;

	put_with_marks(markdown, path, &name);
	buf_char(markdown->expansion->out, '@');
	buf_span(markdown->expansion->out, buf_view(&name));
	file = name.data ? mem_dup(name.data, name.len) : NULL;
	if (file && !from->is_file(from->data, file) && from->folder) {
		char *inside = path_join(from->folder, file);

		free(file);
		file = inside;
	}
	if (!file || !utf8_valid(span_str(file)) || !from->is_file(from->data, file))
		return;
	arguments = json_pack("{s:o}", "file_path", json_text(span_str(file)));
	result = from->call(from->data, tool_name(TOOL_READ_FILE), arguments);
	content = json_object_get(result, "content");
	if (json_is_string(content))
		json_object_set(markdown->files, file, content);
}

static bool put_command_mark(struct command_markdown *markdown, struct span inside)
{
	_cleanup_shell_line_ struct shell_line line = SHELL_LINE_INIT(LIMIT_MESSAGE_BYTES);

	put_line_with_marks(markdown, span_trim(inside), &line);
	return put_output(markdown->expansion, &line);
}

/* The length of a block of commands at the beginning of a line, "```!" to the line of "```"; 0:
 * there is none.  *ret: the commands. */
static size_t command_block_length(struct span text, struct span *ret)
{
	const struct span whole = text;
	struct span line;

	if (!span_starts(text, SPAN("```!")) || !line_next(&text, &line))
		return 0;
	*ret = span_head(text, 0);
	while (line_next(&text, &line)) {
		if (span_eq(span_trim(line), SPAN("```")))
			return whole.len - text.len;
		ret->len = (size_t)(line.data + line.len - ret->data);
	}
	return 0;
}

/* A mark of a command or of a file at the beginning of `text`, behind white space (`starts`) or at
 * the beginning of a line. */
struct template_mark {
	size_t len;           /* 0: there is none */
	struct span command;  /* what is run; or */
	struct span path;     /* what is read */
};

static struct template_mark template_mark(struct span text, bool starts, bool line)
{
	struct template_mark mark = { 0 };

	if (line)
		mark.len = command_block_length(text, &mark.command);
	if (mark.len || !starts)
		return mark;
	mark.len = command_mark_length(text);
	if (mark.len) {
		mark.command = span_skip(span_head(text, mark.len - 1), 2);
		return mark;
	}
	mark.len = path_mark_length(text);
	mark.path = span_skip(span_head(text, mark.len), mark.len ? 1 : 0);
	return mark;
}

static bool expand_marks(struct command_markdown *markdown, struct span text)
{
	struct buf *out = markdown->expansion->out;
	bool starts = true; /* what comes is behind white space; */
	bool line = true;   /* at the beginning of a line */

	while (text.len) {
		const struct template_mark mark = template_mark(text, starts, line);
		const struct argument_mark argument = argument_mark(markdown, text);
		const size_t len = mark.len ? mark.len : argument.len ? argument.len : 1;
		const char last = text.data[len - 1];

		if (mark.command.len) {
			if (!put_command_mark(markdown, mark.command))
				return false;
			buf_str(out, last == '\n' ? "\n" : "");
		} else if (mark.len) {
			put_named_file(markdown, mark.path);
		} else {
			put_with_marks(markdown, span_head(text, len), out);
		}
		line = last == '\n';
		starts = isspace((unsigned char)last) != 0;
		text = span_skip(text, len);
	}
	return true;
}

static bool expand_markdown(struct prompt_expansion *expansion)
{
	struct command_markdown markdown = { .expansion = expansion, .files = json_object() };
	const struct span text = expansion->from->text;
	const char *path;
	json_t *content;
	bool ok;

	for (size_t i = 0; i < MARKDOWN_WORDS_MAX; i++)
		markdown.words[i] = (struct buf)BUF_INIT(LIMIT_MESSAGE_BYTES);
	markdown_words(&markdown, expansion->from->arguments);
	markdown.first = first_number(&markdown, text);
	ok = expand_marks(&markdown, span_trim(text));
	json_object_foreach(markdown.files, path, content) {
		buf_printf(expansion->out, "\n\n--- Content of @%s ---\n", path);
		buf_span(expansion->out, json_span(content));
	}
	json_decref(markdown.files);
	for (size_t i = 0; i < MARKDOWN_WORDS_MAX; i++)
		buf_release(&markdown.words[i]);
	return ok;
}

bool expand_template(const struct expand_text *from, struct buf *out, bool *ret_used,
                     char **ret_problem)
{
	struct prompt_expansion expansion = { .from = from, .out = out };
	const bool ok = from->format == EXPAND_CLAUDE ? expand_markdown(&expansion) :
	                                                expand_braces(&expansion, from->text);

	*ret_used = expansion.used;
	if (!ok)
		*ret_problem = expansion.problem;
	return ok;
}
