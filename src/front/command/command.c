/* SPDX-License-Identifier: Apache-2.0 */
/* How a line finds its command, is checked, run and completed. */
#include "front/command/command.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/command/private.h"

/* ---- a line ---------------------------------------------------------------------- */

/* The name without its slash; *line is what is behind it. */
static struct span name_of(struct span *line)
{
	struct span name = command_word(line);

	return span_starts(name, SPAN("/")) ? span_skip(name, 1) : name;
}

static bool has_form_of_command(struct span word)
{
	for (size_t i = 1; i < word.len; i++)
		if (!isalnum((unsigned char)word.data[i]) && !strchr("_-.:", word.data[i]))
			return command_word_is(word, "/?");
	return (word.len > 1 && word.data[0] == '/') || command_word_is(word, "?");
}

/* A path that there is ("/tmp") is none, unless a command has that name. */
bool command_is(struct span line)
{
	struct span rest = span_trim(line), word = command_word(&rest);
	_cleanup_free_ char *path = mem_dup(word.data, word.len);

	return has_form_of_command(word) &&
	       (*path != '/' || command_of(line) || access(path, F_OK) != 0);
}

/* What a line asks for: a row, and what stands behind the name.  "/rename x", as other agents have
 * it, is "/chat rename x". */
struct command_line {
	const struct command_row *row;            /* or NULL */
	const struct command_elsewhere *elsewhere; /* which was typed; or NULL */
	struct span name, arguments;
	char *expanded;                           /* owned, or NULL: the arguments are in it */
};

static void command_line_release(struct command_line *line)
{
	free(line->expanded);
}
#define _cleanup_command_line_ __attribute__((cleanup(command_line_release)))

static void command_line_read(struct span text, struct command_line *ret)
{
	struct span line = text, rest, name;

	*ret = (struct command_line){ .name = name_of(&line) };
	ret->arguments = line;
	ret->row = command_row_of(ret->name);
	if (ret->row && command_row_is(ret->row, ret->name))
		return;
	ret->elsewhere = command_elsewhere_of(ret->name);
	if (!ret->elsewhere)
		return;
	ret->row = NULL;
	if (!ret->elsewhere->line)
		return;
	ret->expanded = mem_printf("%s %.*s", ret->elsewhere->line, (int)line.len,
	                           line.len ? line.data : "");
	rest = span_trim(span_str(ret->expanded));
	name = command_word(&rest);
	ret->row = command_row_of(name);
	ret->arguments = rest;
}

const struct command_info *command_of(struct span line)
{
	_cleanup_command_line_ struct command_line read = { 0 };

	command_line_read(line, &read);
	return read.row ? &read.row->is : NULL;
}

/* ---- running --------------------------------------------------------------------- */

bool command_exists(const struct command_context *context, struct span line)
{
	struct span rest = span_trim(line);
	const bool is = has_form_of_command(command_word(&rest));
	const struct span name = name_of(&line);
	const struct command_row *row = command_row_of(name);

	return is && ((row && command_row_is(row, name)) || command_elsewhere_of(name) ||
	              brought_kind_of(context, name) == BROUGHT_FILE);
}

static bool row_works(const struct command_row *row, struct span arguments)
{
	return row->works && row->works(arguments);
}

/* A custom command that is no prompt of a server waits for the thread of prompts, too: it is run
 * where it is typed, which command_run says. */
bool command_is_slow(const struct command_context *context, struct span line)
{
	_cleanup_command_line_ struct command_line read = { 0 };

	command_line_read(line, &read);
	if (brought_kind_of(context, read.name) == BROUGHT_PROMPT)
		return true;
	return read.row && (read.row->is.flags & COMMAND_SLOW ||
	                    row_works(read.row, read.arguments));
}

static bool row_is_idle(const struct command_row *row, struct span arguments)
{
	return row->is.flags & COMMAND_IDLE || row_works(row, arguments);
}

/* What cannot be run as it stands is refused immediately, and does not wait. */
bool command_waits(const struct command_context *context, struct span line)
{
	_cleanup_command_line_ struct command_line read = { 0 };

	if (!context->busy)
		return false;
	command_line_read(line, &read);
	if (brought_kind_of(context, read.name) != BROUGHT_NONE)
		return true;
	return read.row && forms_take(read.row->is.forms, read.arguments) &&
	       row_is_idle(read.row, read.arguments);
}

/* Runs a row's handler, once the arguments have one of its forms. */
static void run_row(struct command_call *call, const struct command_row *row)
{
	json_auto_t *message;

	call->command = &row->is;
	if (!command_is_for(call->context, &row->is))
		command_fail(call, "/%s works in hasp's own terminal only.", row->is.name);
	else if (call->arguments.len && !row->is.forms)
		command_fail(call, "/%s takes no arguments.", row->is.name);
	else if (!forms_take(row->is.forms, call->arguments))
		command_usage(call);
	else if (call->context->busy && row_is_idle(row, call->arguments))
		command_fail(call, "/%s has to wait until hasp is done.", row->is.name);
	else if (!call->context->host && !(row->is.flags & COMMAND_ALONE))
		command_fail(call, "/%s needs a session, and none is open.", row->is.name);
	else
		row->run(call);
	/* Its own name, never what stands behind it. */
	message = NULL;
	if (!call->context->host)
		return;
	message = json_pack("{s:s, s:s}", "command", row->is.name, "status",
	                    call->result->ok ? "success" : "error");
	bus_publish(host_bus(call->context->host), BUS_SLASH_COMMAND, message);
}

void command_run(const struct command_context *context, struct span line,
                 struct command_result *result)
{
	static const struct command_info custom = {
		.name = "custom", .aliases = "", .help = "", .flags = COMMAND_IDLE | COMMAND_SLOW,
	};
	struct command_call call = { .context = context, .result = result, .command = &custom };
	const struct span whole = span_trim(line);
	_cleanup_command_line_ struct command_line read = { 0 };
	struct span rest = line;

	*result = (struct command_result){ .ok = true };
	command_line_read(line, &read);
	name_of(&rest);
	call.arguments = rest;
	if (!context->busy && context->host && brought_run(&call, read.name, whole))
		return;
	call.arguments = read.arguments;
	if (context->busy && brought_kind_of(context, read.name) != BROUGHT_NONE)
		command_fail(&call, "/%.*s has to wait until hasp is done.", (int)read.name.len,
		             read.name.data);
	else if (read.row)
		run_row(&call, read.row);
	else if (read.elsewhere)
		help_elsewhere(&call, read.elsewhere);
	else
		help_unknown(&call, read.name);
}

/* ---- completion ------------------------------------------------------------------ */

struct completing {
	struct command_completion of; /* first: handlers see only that */
	size_t from, to, count;
	command_offer *offer;
	void *data;
	bool within; /* second pass: the word stands within the candidate */
};

static void offer_candidate(struct completing *at, const char *text, const char *label,
                            const char *note)
{
	const struct span word = at->of.word;
	bool starts = word.len <= strlen(label) && strncasecmp(label, word.data, word.len) == 0;

	if (at->count >= COMMAND_CANDIDATES_MAX || starts == at->within ||
	    (at->within && !command_has(span_str(label), word)))
		return;
	at->count++;
	at->offer(at->data, at->from, at->to, span_str(text), span_str(label),
	          span_str(note ? note : ""));
}

static void add_candidate(struct command_completion *completion, const char *text, const char *note)
{
	offer_candidate((struct completing *)completion, text, text, note);
}

static void add_named_candidate(struct command_completion *completion, const char *text,
                                const char *name, const char *note)
{
	offer_candidate((struct completing *)completion, text, name, note);
}

static void offer_custom(void *data, const char *name, const char *description, const char *from)
{
	_cleanup_free_ char *text = mem_printf("/%s", name);

	(void)from;
	offer_candidate(data, text, name, description);
}

/* What begins with the word, and is no name of a row: "compact" for /compress. */
static void offer_other_names(struct completing *at)
{
	const struct command_elsewhere *one;
	const struct command_info *command;

	for (size_t i = 0; at->of.word.len && (command = command_at(i)); i++) {
		struct span rest = span_str(command->aliases), alias;

		while ((alias = command_word(&rest)).len) {
			_cleanup_free_ char *label = mem_dup(alias.data, alias.len);
			_cleanup_free_ char *text = mem_printf("/%s", label);

			offer_candidate(at, text, label, command->help);
		}
	}
	for (size_t i = 0; at->of.word.len && (one = command_elsewhere_at(i)); i++) {
		_cleanup_free_ char *text = mem_printf("/%s", one->name);
		_cleanup_free_ char *note = one->line ? mem_printf("The same as /%s", one->line) :
		                                        mem_strdup(one->says);

		offer_candidate(at, text, one->name, note);
	}
}

static void complete_names(struct completing *at)
{
	const struct command_info *command;

	for (size_t i = 0; (command = command_at(i)); i++) {
		_cleanup_free_ char *text = mem_printf("/%s", command->name);

		if (command_is_for(at->of.context, command))
			offer_candidate(at, text, command->name, command->help);
	}
	brought_each(at->of.context, offer_custom, at);
	offer_other_names(at);
}

/* What may stand behind a name, in two passes. */
static void complete_arguments(struct completing *at, const struct command_row *row)
{
	const bool can = at->of.context->host || row->is.flags & COMMAND_ALONE;

	for (int pass = 0; pass < 2; pass++) {
		const bool named = forms_complete(row->is.forms, &at->of);

		if (named && can && row->complete)
			row->complete(&at->of);
		at->within = true;
	}
}

void command_complete(const struct command_context *context, struct span line, size_t caret,
                      command_offer *offer, void *data)
{
	struct completing at = { .of = { .context = context, .add = add_candidate,
		                         .add_named = add_named_candidate },
		                 .to = caret, .offer = offer, .data = data };
	struct span head = span_head(line, caret < line.len ? caret : line.len);
	_cleanup_command_line_ struct command_line read = { 0 };

	at.to = head.len;
	for (at.from = head.len; at.from && !isspace((unsigned char)head.data[at.from - 1]);)
		at.from--;
	at.of.word = span_skip(head, at.from);
	at.of.before = span_head(head, at.from);
	if (!head.len || head.data[0] != '/')
		return;
	if (!at.from) {
		at.of.word = span_skip(at.of.word, 1);
		complete_names(&at);
		at.within = true;
		complete_names(&at);
		return;
	}
	command_line_read(at.of.before, &read);
	at.of.before = span_trim(read.arguments);
	if (read.row) {
		complete_arguments(&at, read.row);
	} else {
		json_auto_t *prompt = brought_prompt(context, read.name);

		prompts_complete(&at.of, prompt);
	}
}

/* As command_offer. */
static void command_list_add(void *data, size_t from, size_t to, struct span text,
                             struct span label, struct span note)
{
	const struct command_info *command = command_of(text);
	_cleanup_buf_ struct buf hint = BUF_INIT(LIMIT_MESSAGE_BYTES);
	json_t *row;

	(void)from;
	(void)to;
	if (command && !span_eq(label, span_str(command->name)))
		command = NULL;
	row = json_pack("{s:o, s:o}", "name", json_text(label), "description", json_text(note));
	if (command)
		command_print_forms(command, &hint);
	else
		buf_str(&hint, "arguments");
	if (hint.len)
		json_object_set_new(row, "hint", json_string(hint.data));
	json_array_append_new(data, row);
}

json_t *command_list(const struct command_context *context)
{
	json_t *list = json_array();

	command_complete(context, SPAN("/"), 1, command_list_add, list);
	return list;
}

json_t *command_asks_server(const struct command_context *context, struct span line, size_t caret,
                            size_t *ret_from)
{
	const struct span head = span_head(line, caret < line.len ? caret : line.len);
	struct span rest = head;
	const struct span name = name_of(&rest);
	const size_t at = name.len + 1;

	json_auto_t *prompt = NULL;

	if (!span_starts(head, SPAN("/")) || at >= head.len || command_row_of(name))
		return NULL;
	prompt = brought_prompt(context, name);
	return prompts_asks(prompt, head, at, ret_from);
}

void command_put_value(struct buf *out, struct span value)
{
	prompts_put_value(out, value);
}
