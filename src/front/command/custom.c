/* SPDX-License-Identifier: Apache-2.0 */
/* Custom commands: what is put into their text (catalog/commands.h has which there are).
 *
 *     prompt = "Fix !{git diff --stat} as in @{docs/style.md}: {{args}}"     # Gemini CLI's
 *
 *     Fix !`git diff --stat` as in @docs/style.md: $ARGUMENTS                # Claude Code's
 *
 * A text is taken apart once, as it stands in the file: what a command prints, a file holds or the
 * user typed is put in and not looked at again.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "catalog/commands.h"
#include "data/json.h"
#include "shell/analysis.h"
#include "front/command/private.h"
#include "worker/provider.h"

static void customs_load(const struct command_context *context, custom_taken *taken,
                         struct custom_commands *ret)
{
	commands_find(context->settings, context->local, taken, ret);
}

static char *custom_about(const json_t *file)
{
	const char *about = json_string_value(json_object_get(file, "description"));
	const char *hint = json_string_value(json_object_get(file, "argument-hint"));

	return mem_printf("%s%s%s", about ? about : "Custom command", hint ? "  " : "",
	                  hint ? hint : "");
}

/* Its file, as short as the user knows it; the caller frees. */
static char *custom_from(const struct command_context *context, const struct custom_command *custom)
{
	const struct home *home = settings_home(context->settings);
	const char *user = home_user(home), *project = home_project(home);

	if (custom->extension)
		return mem_printf("extension %s", custom->extension);
	if (path_is_under(custom->path, project))
		return mem_strdup(custom->path + strlen(project) + 1);
	return path_is_under(custom->path, user) ?
	               mem_printf("~%s", custom->path + strlen(user)) : mem_strdup(custom->path);
}

void custom_each(const struct command_context *context, custom_taken *taken, custom_one *one,
                 void *data)
{
	struct custom_commands customs;

	customs_load(context, taken, &customs);
	for (size_t i = 0; i < customs.count; i++) {
		struct err ignored = ERR_INIT;
		json_auto_t *file = commands_read(&customs.at[i], &ignored);
		_cleanup_free_ char *about = custom_about(file);
		_cleanup_free_ char *from = custom_from(context, &customs.at[i]);

		if (file)
			one(data, customs.at[i].name, about, from);
	}
	commands_release(&customs);
}

/* ---- Gemini CLI's text ------------------------------------------------------------------- */

struct prompt_expansion {
	struct command_call *call;
	struct span arguments;
	bool used;            /* {{args}} stood somewhere */
	struct buf out;
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
			buf_span(out, expansion->arguments);
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
	command_fail(expansion->call, "%s: %s", what, message ? message : "it failed.");
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
		command_fail(expansion->call, "What you typed cannot be put into this command as "
		             "words alone, so nothing was run: %.*s",
		             (int)(line->plain.len < 400 ? line->plain.len : 400),
		             line->plain.data ? line->plain.data : "");
		return false;
	}
	result = host_call(expansion->call->context->host,
	                   tool_name(TOOL_RUN_SHELL_COMMAND), arguments);
	code = json_object_get(result, "exit_code");
	if (!json_is_integer(code))
		return fail_with_result(expansion, command, result);
	buf_span(&expansion->out, span_trim(json_span(json_object_get(result, "output"))));
	if (json_integer_value(code))
		buf_printf(&expansion->out, "\n[Shell command '%s' exited with code %lld]", command,
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
			shell_line_word(&line, expansion->arguments);
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
	result = host_call(expansion->call->context->host, tool_name(TOOL_READ_FILE), arguments);
	content = json_object_get(result, "content");
	if (!json_is_string(content))
		return fail_with_result(expansion, json_string_value(json_object_get(arguments,
		                                                                     "file_path")),
		                        result);
	buf_span(&expansion->out, json_span(content));
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

static bool expand(struct prompt_expansion *expansion, struct span text)
{
	const char *mark;

	while ((mark = next_mark(text))) {
		struct span before = span_head(text, (size_t)(mark - text.data));
		struct span inside = span_skip(text, before.len + 2);
		size_t len = braced_length(inside);

		if (len == SIZE_MAX) {
			command_fail(expansion->call, "The braces of \"%.20s\" do not close.",
			             mark);
			return false;
		}
		put_with_arguments(expansion, before, &expansion->out);
		text = span_skip(inside, len + 1);
		inside = span_head(inside, len);
		if (!(*mark == '!' ? put_printed(expansion, inside) :
		                     put_file_content(expansion, inside)))
			return false;
	}
	put_with_arguments(expansion, text, &expansion->out);
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

/* A mark that stands for what was typed. */
struct argument_mark {
	size_t len;        /* of the mark; 0: there is none */
	bool whole;        /* all of it; else one word: */
	size_t number;
};

static size_t number_length(struct span text, size_t *ret)
{
	size_t len = 0;

	for (*ret = 0; len < text.len && len < 4 && isdigit((unsigned char)text.data[len]); len++)
		*ret = *ret * 10 + (size_t)(text.data[len] - '0');
	return len;
}

/* $ARGUMENTS, $ARGUMENTS[N] (from 0) or $N at the beginning of `text`. */
static struct argument_mark argument_mark(const struct command_markdown *markdown, struct span text)
{
	static const struct span name = SPAN("$ARGUMENTS");
	struct argument_mark mark = { 0 };
	size_t digits;

	if (span_starts(text, name)) {
		struct span rest = span_skip(text, name.len);

		mark = (struct argument_mark){ .len = name.len, .whole = true };
		digits = rest.len && rest.data[0] == '[' ?
		         number_length(span_skip(rest, 1), &mark.number) : 0;
		if (digits && digits + 1 < rest.len && rest.data[digits + 1] == ']')
			return (struct argument_mark){ name.len + digits + 2, false, mark.number };
	} else if (text.len > 1 && text.data[0] == '$') {
		digits = number_length(span_skip(text, 1), &mark.number);
		if (digits && mark.number >= markdown->first)
			return (struct argument_mark){ digits + 1, false,
				                       mark.number - markdown->first };
	}
	return mark;
}

/* Whether words count from 0: then a text has a mark for word 0.  Older ones count from 1. */
static size_t first_number(const struct command_markdown *markdown, struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		const struct argument_mark mark = argument_mark(markdown, span_skip(text, i));

		if (mark.len && !mark.whole && mark.number == 0)
			return 0;
	}
	return 1;
}

/* The text of a mark; false: that word was not typed. */
static bool marked_text(const struct command_markdown *markdown, const struct argument_mark *mark,
                        struct span *ret)
{
	*ret = mark->whole ? markdown->expansion->arguments :
	       mark->number < markdown->count ? buf_view(&markdown->words[mark->number]) :
	                                        (struct span){ 0 };
	return mark->whole || mark->number < markdown->count;
}

/* `text` with marks replaced by what they stand for. */
static void put_with_marks(const struct command_markdown *markdown, struct span text,
                           struct buf *out)
{
	while (text.len) {
		const struct argument_mark mark = argument_mark(markdown, text);
		struct span what;

		if (mark.len && marked_text(markdown, &mark, &what)) {
			markdown->expansion->used = true;
			buf_span(out, what);
		} else {
			buf_span(out, span_head(text, mark.len ? mark.len : 1));
		}
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
		markdown->expansion->used = true;
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

/* Looked up without a call, which would be reported as failed. Not inlined: its frame would add to
 * those of functions that hold a file's text. */
static __attribute__((noinline)) bool is_there(const struct host *host, const char *path)
{
	struct provider *provider = host_facts(host).provider;
	struct read_request request = { .path = path, .max_lines = 1 };
	struct read_result read;
	struct err err = ERR_INIT;
	const bool is = provider_read(provider, &request, &read, &err);

	read_result_release(&read);
	return is;
}

/* The file is put behind the text; what is no file was no mark. */
static void put_named_file(struct command_markdown *markdown, struct span path)
{
	_cleanup_buf_ struct buf name = BUF_INIT(LIMIT_PATH_BYTES);
	json_auto_t *arguments = NULL, *result = NULL;
	const char *path_text;
	json_t *content;

	put_with_marks(markdown, path, &name);
	buf_char(&markdown->expansion->out, '@');
	buf_span(&markdown->expansion->out, buf_view(&name));
	arguments = json_pack("{s:o}", "file_path", json_text(buf_view(&name)));
	path_text = json_string_value(json_object_get(arguments, "file_path"));
	if (!path_text || !is_there(markdown->expansion->call->context->host, path_text))
		return;
	result = host_call(markdown->expansion->call->context->host, tool_name(TOOL_READ_FILE),
	                   arguments);
	content = json_object_get(result, "content");
	if (json_is_string(content))
		json_object_set(markdown->files, path_text, content);
}

static bool put_command_mark(struct command_markdown *markdown, struct span inside)
{
	_cleanup_shell_line_ struct shell_line line = SHELL_LINE_INIT(LIMIT_MESSAGE_BYTES);

	put_line_with_marks(markdown, span_trim(inside), &line);
	return put_output(markdown->expansion, &line);
}

static bool expand_marks(struct command_markdown *markdown, struct span text)
{
	struct buf *out = &markdown->expansion->out;
	bool starts = true; /* what comes is at the beginning, or behind white space */

	while (text.len) {
		const size_t command = starts ? command_mark_length(text) : 0;
		const size_t path = starts ? path_mark_length(text) : 0;
		const struct argument_mark mark = argument_mark(markdown, text);
		size_t len = command ? command : path ? path : mark.len ? mark.len : 1;

		if (command) {
			if (!put_command_mark(markdown, span_skip(span_head(text, len - 1), 2)))
				return false;
		} else if (path) {
			put_named_file(markdown, span_skip(span_head(text, len), 1));
		} else {
			put_with_marks(markdown, span_head(text, len), out);
		}
		starts = isspace((unsigned char)text.data[len - 1]) != 0;
		text = span_skip(text, len);
	}
	return true;
}

static bool expand_markdown(struct prompt_expansion *expansion, struct span text)
{
	struct command_markdown markdown = { .expansion = expansion, .files = json_object() };
	const char *path;
	json_t *content;
	bool ok;

	for (size_t i = 0; i < MARKDOWN_WORDS_MAX; i++)
		markdown.words[i] = (struct buf)BUF_INIT(LIMIT_MESSAGE_BYTES);
	markdown_words(&markdown, expansion->arguments);
	markdown.first = first_number(&markdown, text);
	ok = expand_marks(&markdown, span_trim(text));
	if (ok && !expansion->used && expansion->arguments.len) {
		buf_str(&expansion->out, "\n\nARGUMENTS: ");
		buf_span(&expansion->out, expansion->arguments);
	}
	json_object_foreach(markdown.files, path, content) {
		buf_printf(&expansion->out, "\n\n--- Content of @%s ---\n", path);
		buf_span(&expansion->out, json_span(content));
	}
	json_decref(markdown.files);
	for (size_t i = 0; i < MARKDOWN_WORDS_MAX; i++)
		buf_release(&markdown.words[i]);
	return ok;
}

/* ---- running ------------------------------------------------------------------------ */

static bool expand_custom(struct prompt_expansion *expansion, const struct custom_command *custom,
                          struct span prompt, struct span line)
{
	if (commands_is_markdown(custom))
		return expand_markdown(expansion, prompt);
	if (!expand(expansion, prompt))
		return false;
	if (!expansion->used && expansion->arguments.len) {
		buf_str(&expansion->out, "\n\n");
		buf_span(&expansion->out, line);
	}
	return true;
}

static void custom_send(struct command_call *call, const struct custom_command *custom,
                        struct span line)
{
	struct prompt_expansion expansion = { .call = call, .arguments = call->arguments,
		                       .out = BUF_INIT(LIMIT_MESSAGE_BYTES) };
	struct err err = ERR_INIT;
	json_auto_t *file = commands_read(custom, &err);

	if (!file) {
		command_fail(call, "%s", err.message);
	} else if (!expand_custom(&expansion, custom, json_span(json_object_get(file, "prompt")),
	                          line)) {
		/* It has said why. */
	} else if (!span_trim(buf_view(&expansion.out)).len) {
		command_fail(call, "The prompt of %s is empty. Nothing was sent.", custom->path);
	} else {
		call->result->plain = true;
		command_then(call, COMMAND_SEND, buf_steal(&expansion.out));
	}
	buf_release(&expansion.out);
}

bool custom_exists(const struct command_context *context, custom_taken *taken,
                   struct span name)
{
	struct custom_commands customs;
	bool found;

	customs_load(context, taken, &customs);
	found = commands_named(&customs, name) != NULL;
	commands_release(&customs);
	return found;
}

bool custom_run(struct command_call *call, custom_taken *taken, struct span name,
                struct span line)
{
	struct custom_commands customs;
	const struct custom_command *found;

	customs_load(call->context, taken, &customs);
	found = commands_named(&customs, name);
	if (found)
		custom_send(call, found, line);
	commands_release(&customs);
	return found != NULL;
}
