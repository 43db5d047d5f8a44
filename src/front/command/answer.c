/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers of commands take words from, and answer with. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/session/sessions.h"
#include "base/mem.h"
#include "front/command/private.h"

/* ---- words ---------------------------------------------------------------------------- */

struct span command_word(struct span *text)
{
	struct span word;
	size_t len = 0;

	*text = span_trim(*text);
	while (len < text->len && !isspace((unsigned char)text->data[len]))
		len++;
	word = span_head(*text, len);
	*text = span_trim(span_skip(*text, len));
	return word;
}

bool command_word_is(struct span word, const char *name)
{
	return word.len == strlen(name) && strncasecmp(word.data, name, word.len) == 0;
}

bool command_has(struct span text, struct span part)
{
	for (size_t i = 0; i + part.len <= text.len; i++)
		if (strncasecmp(text.data + i, part.data, part.len) == 0)
			return true;
	return false;
}

/* ---- answers --------------------------------------------------------------------------- */

void command_result_release(struct command_result *result)
{
	rows_release(&result->rows);
	free(result->text);
	free(result->shown);
	for (size_t i = 0; i < result->choice_count; i++) {
		free(result->choices[i].label);
		free(result->choices[i].note);
		free(result->choices[i].line);
		free(result->choices[i].other);
	}
	free(result->choices);
	json_decref(result->changes);
	*result = (struct command_result){ 0 };
}

void command_row(struct command_call *call, struct row *row)
{
	if (!call->context->width) {
		rows_take(&call->result->rows, row);
		return;
	}
	rows_wrap(&call->result->rows, row, call->context->width, NULL, NULL);
	row_release(row);
}

__attribute__((format(printf, 3, 0)))
static void say_printed(struct command_call *call, struct style style, const char *format,
                        va_list arguments)
{
	_cleanup_free_ char *text = NULL;

	if (vasprintf(&text, format, arguments) >= 0)
		command_text(call, style, span_str(text));
}

void command_say(struct command_call *call, struct style style, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say_printed(call, style, format, arguments);
	va_end(arguments);
}

void command_text(struct command_call *call, struct style style, struct span text)
{
	do {
		const char *end = text.len ? memchr(text.data, '\n', text.len) : NULL;
		size_t len = end ? (size_t)(end - text.data) : text.len;
		struct row row = { 0 };

		row_text(&row, span_head(text, len), style);
		command_row(call, &row);
		text = span_skip(text, len + (end ? 1 : 0));
	} while (text.len);
}

void command_heading(struct command_call *call, const char *text)
{
	if (call->result->rows.count)
		command_text(call, STYLE(ROLE_TEXT), SPAN(""));
	command_text(call, STYLE_BOLD(ROLE_HEADING), span_str(text));
}

void command_term(struct command_call *call, const char *name, unsigned width, struct span text,
                  struct style style)
{
	struct row row = { 0 }, rest = { 0 };

	row_text(&row, SPAN("  "), STYLE(ROLE_TEXT));
	row_text(&row, span_str(name), STYLE(ROLE_ACCENT));
	row_text(&row, SPAN("  "), STYLE(ROLE_TEXT));
	row_pad(&row, width + 4, STYLE(ROLE_TEXT));
	row_text(&row, text, style);
	if (!call->context->width) {
		rows_take(&call->result->rows, &row);
		return;
	}
	row_pad(&rest, call->context->width > 2 * width + 8 ? width + 4 : 4, STYLE(ROLE_TEXT));
	rows_wrap(&call->result->rows, &row, call->context->width, NULL, &rest);
	row_release(&row);
	row_release(&rest);
}

void command_fail(struct command_call *call, const char *format, ...)
{
	va_list arguments;

	call->result->ok = false;
	va_start(arguments, format);
	say_printed(call, STYLE(ROLE_ERROR), format, arguments);
	va_end(arguments);
}

bool command_then(struct command_call *call, enum command_then then, char *text)
{
	if (!(call->context->can & 1u << then)) {
		free(text);
		command_fail(call, "/%s is for a terminal: it cannot be done here.",
		             call->command->name);
		return false;
	}
	call->result->then = then;
	free(call->result->text);
	call->result->text = text;
	return true;
}

void command_ask(struct command_call *call, char *text, char *line)
{
	char *both = mem_printf(SESSION_SLASH_BEGIN "%s" SESSION_SLASH_END "%s", line, text);

	free(text);
	if (command_then(call, COMMAND_SEND, both))
		call->result->shown = line;
	else
		free(line);
}

void command_choice(struct command_call *call, struct span label, struct span note, char *line,
                    bool chosen)
{
	struct command_result *result = call->result;

	result->choices = mem_grow(result->choices, &result->choice_cap, result->choice_count + 1,
	                           sizeof(*result->choices));
	result->choices[result->choice_count++] = (struct command_choice){
		.label = mem_dup(label.data, label.len), .note = mem_dup(note.data, note.len),
		.line = line, .chosen = chosen,
	};
}
