/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the user before an edit or a command, by elicitation.
 *
 * A form has no way to look at what it leaves out, so a question leaves nothing out: it shows the
 * whole command, or the files and the whole diff of the plan (tool.h), and all other arguments; a
 * call that is too long for that is refused.  The arguments that will run are bound to the states
 * the plan was made on.  A stateless client brings its answer
 * with the call made again; the plan is then made again, and must be the one that the user saw.
 */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/unseen.h"
#include "data/json.h"
#include "mcp/offer/offer.h"

enum {
	ANSWER_MS = 0, /* the server's default: people take their time */
};

/* ---- what is shown ---------------------------------------------------------- */

/* What a terminal would obey, or what hides or turns text around, is shown as its number: the
 * user has to see what is written. */
static bool is_misleading(uint32_t c)
{
	return (c < 0x20 && c != '\t') || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 ||
	       unseen_is(c);
}

static void show_text(struct buf *out, struct span text)
{
	struct utf8_char c;

	while (utf8_next(&text, &c)) {
		if (c.bad)
			buf_printf(out, "\\x%02x", (unsigned char)c.bytes.data[0]);
		else if (is_misleading(c.code))
			buf_printf(out, "\\u{%x}", c.code);
		else
			buf_span(out, c.bytes);
	}
}

static void show_all_lines(struct buf *out, const char *indent, struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		buf_str(out, indent);
		show_text(out, span_head(line, line.len - span_ends(line, SPAN("\n"))));
		buf_char(out, '\n');
	}
}

static size_t plan_number(const json_t *plan, const char *name)
{
	return (size_t)json_integer_value(json_object_get(plan, name));
}

/* "src/a.c (+3 -1)", with what will be done if it is not a change of text. */
static void show_planned_file(struct buf *out, const json_t *change, const json_t *plan)
{
	struct span kind = json_span(json_object_get(change, "kind"));
	struct span to = json_span(json_object_get(change, "new_path"));

	if (span_eq(kind, SPAN("delete")) || span_eq(kind, SPAN("move"))) {
		buf_span(out, kind);
		buf_char(out, ' ');
	} else if (json_is_true(json_object_get(plan, "created"))) {
		buf_str(out, "create ");
	}
	show_text(out, json_span(json_object_get(change, "file_path")));
	if (to.len) {
		buf_str(out, " to ");
		show_text(out, to);
	}
	buf_printf(out, " (+%zu -%zu)\n", plan_number(plan, "lines_added"),
	           plan_number(plan, "lines_removed"));
}

static void show_plan(struct buf *out, const struct tool_question *question)
{
	const struct tool_info *info = question->tool->info;
	const size_t count = tool_edit_count(info, question->arguments);

	for (size_t i = 0; i < count; i++)
		show_planned_file(out, tool_edit_at(info, question->arguments, i),
		                  tool_edit_at(info, question->plan, i));
	for (size_t i = 0; i < count; i++)
		show_all_lines(out, "", json_span(json_object_get(
			tool_edit_at(info, question->plan, i), "diff")));
}

static bool question_is_command(const struct tool_question *question)
{
	return tool_kind_of(question->tool) == TOOL_KIND_EXECUTE;
}

/* All arguments but those that are shown otherwise. False: they are too long. */
static bool show_arguments(struct buf *out, const json_t *arguments, const char *heading,
                           const char *const *without)
{
	_cleanup_free_ char *text = tool_arguments_text(arguments, without);

	if (text && *text) {
		buf_str(out, heading);
		show_all_lines(out, "", span_str(text));
	}
	return text;
}

static bool show_question(struct buf *out, const struct tool_question *question)
{
	static const char *const of_command[] = { "command", NULL };
	const json_t *command = tool_command_line(question->tool->info, question->arguments);

	if (json_is_string(command)) {
		show_all_lines(out, "    ", json_span(command));
		return show_arguments(out, question->arguments, "\nwith\n", of_command);
	}
	if (!question->plan)
		return show_arguments(out, question->arguments, "", NULL);
	show_plan(out, question);
	return show_arguments(out, question->arguments, "\nwith\n", tool_arguments_of_edit);
}

static json_t *question_text(const struct offered_names *names,
                             const struct tool_question *question)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_QUESTION_BYTES);
	size_t lines = 0;

	buf_printf(&text, "Allow %s to %s?\n\n", names_offered(names, question->tool->name),
	           question_is_command(question) ? "run this" : "make this change");
	if (!show_question(&text, question) || text.overflowed)
		return NULL;
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	return lines > LIMIT_QUESTION_LINES ? NULL : json_text(buf_view(&text));
}

/* A form with one switch that is on: who accepts it as it is has said yes.  NULL: a person can be
 * shown only so much, and nothing may run that was not shown. */
static json_t *question_form(const struct offered_names *names,
                             const struct tool_question *question)
{
	bool command = question_is_command(question);
	json_t *text = question_text(names, question);

	return !text ? NULL : json_pack("{s:o, s:{s:s, s:{s:{s:s, s:s, s:s, s:b}}, s:[s]}}",
	                 "message", text, "requestedSchema",
	                 "type", "object", "properties", "allow", "type", "boolean", "title",
	                 command ? "Allow this command" : "Allow this change", "description",
	                 command ? "Runs exactly this, or nothing."
	                         : "Writes exactly this, or nothing.", "default", 1,
	                 "required", "allow");
}

/* ---- what is answered ------------------------------------------------------- */

static bool allowed(const json_t *answer)
{
	const json_t *content = json_object_get(answer, "content");

	return span_eq(json_span(json_object_get(answer, "action")), SPAN("accept")) &&
	       json_is_true(json_object_get(content, "allow"));
}

static bool deny_question(const struct tool_question *question, const char *why, struct err *err)
{
	return err_set(err, ERR_DENIED_BY_USER, "Denied By User: %s Nothing was %s.", why,
	               question_is_command(question) ? "run" : "written");
}

/* What names a plan: its arguments hold the change and the states it was made on. */
static void plan_id(const struct tool_question *question, char hex[static SHA256_HEX_SIZE])
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	struct sha256 sum;

	json_print(&text, question->arguments, 0);
	sum = sha256_of(buf_view(&text));
	sha256_hex(&sum, hex);
}

/* The plan of a call that was made again is the one that the user was shown. */
static bool same_plan(const struct mcp_call *call, const char *id, struct err *err)
{
	const char *shown = mcp_call_state(call);

	if (!*shown || span_eq(span_str(shown), span_str(id)))
		return true;
	return err_set(err, ERR_STATE_MISMATCH,
	               "State Mismatch: File has changed on disk since it was last read. The user "
	               "was shown a change of its earlier state.");
}

bool confirm_ask(struct mcp_call *call, const struct offered_names *names,
                 const struct tool_question *question, bool *pending, struct err *err)
{
	char id[SHA256_HEX_SIZE];
	json_auto_t *form = question_form(names, question), *answer = NULL;

	if (!form)
		return deny_question(question, "The call is too long to be shown to the user.",
		                     err);
	plan_id(question, id);
	if (!same_plan(call, id, err))
		return false;
	mcp_call_set_state(call, id);
	switch (mcp_call_ask(call, "confirm", "elicitation/create", json_incref(form), ANSWER_MS,
	                     &answer)) {
	case MCP_ASK_ANSWERED:
		return allowed(answer) ||
		       deny_question(question, question_is_command(question) ?
		                     "The user declined the command."
		                                           : "The user declined the change.",
		                     err);
	case MCP_ASK_PENDING:
		*pending = true;
		return err_set(err, ERR_CANCELLED, "The user is being asked.");
	case MCP_ASK_UNSUPPORTED:
		return deny_question(question,
		                     "The server asks the user first, and this client cannot ask "
		                      "(it lacks the capability elicitation).", err);
	case MCP_ASK_REFUSED:
		return deny_question(question, "The client did not ask the user.", err);
	case MCP_ASK_LOST:
		break;
	}
	return deny_question(question, "The question was not answered.", err);
}
