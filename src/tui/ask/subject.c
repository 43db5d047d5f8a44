/* SPDX-License-Identifier: Apache-2.0 */
/* What a confirmation is about: the diff, the command with all that it runs, and what deserves a
 * second look. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/ask/confirm.h"
#include "tui/ask/parts.h"
#include "tui/markdown/markdown.h"
#include "tui/view/view.h"

enum {
	SUBJECT_WHOLE_ROWS = 200000, /* more than a question of LIMIT_QUESTION_BYTES has */
	BLANKS_SHOWN = 24,         /* of a longer run the number is shown */
	EMPTY_SHOWN = 3,           /* likewise, of lines without anything */
};

struct ask_topic {
	const struct ask *ask;
	struct rows *rows;  /* what may be looked through */
	struct rows *notes; /* what must be seen: warnings, and what a yes allows */
	unsigned width;
	size_t max;         /* rows that are made of a diff; 0: all */
};

static struct span detail(const struct ask_topic *subject, const char *name)
{
	return json_span(json_object_get(ask_details(subject->ask), name));
}

/* ---- parts ------------------------------------------------------------------- */

static void subject_put_line(struct rows *rows, unsigned width, const char *label,
                             struct span text, struct style style)
{
	struct row row = { 0 };
	_cleanup_row_ struct row rest = { 0 };

	if (label) {
		row_printf(&row, STYLE(ROLE_DIM), "%s ", label);
		row_pad(&rest, 2, STYLE(ROLE_TEXT));
	}
	row_text(&row, text, style);
	rows_wrap(rows, &row, width, NULL, &rest);
	row_release(&row);
}

static void subject_line(struct ask_topic *subject, const char *label, struct span text,
                         struct style style)
{
	subject_put_line(subject->rows, subject->width, label, text, style);
}

static void subject_note(struct ask_topic *subject, const char *label, struct span text,
                         struct style style)
{
	subject_put_line(subject->notes, subject->width, label, text, style);
}

static size_t blanks_len(struct span text)
{
	size_t len = 0;

	while (len < text.len && (text.data[len] == ' ' || text.data[len] == '\t'))
		len++;
	return len;
}

/* A line whose long runs of blanks, which push what follows them out of sight, are numbers. */
static void row_foreign(struct row *row, struct span line, struct style style)
{
	size_t from = 0;

	for (size_t i = 0; i < line.len;) {
		const size_t blanks = blanks_len(span_skip(line, i));

		if (blanks > BLANKS_SHOWN) {
			row_text(row, span_head(span_skip(line, from), i - from), style);
			row_printf(row, STYLE(ROLE_WARNING), "[%zu blanks]", blanks);
			from = i + blanks;
		}
		i += blanks ? blanks : 1;
	}
	row_text(row, span_skip(line, from), style);
}

/* The empty lines that a text begins with, and what they are of it. */
static size_t empty_lines(struct span text, size_t *ret_bytes)
{
	size_t count = 0;

	*ret_bytes = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '\n') {
			count++;
			*ret_bytes = i + 1;
		} else if (text.data[i] != ' ' && text.data[i] != '\t') {
			break;
		}
	}
	return count;
}

/* Each line of a text, `indent` columns in.  A CR at its end is shown: a shell sees it. */
static void subject_lines(struct ask_topic *subject, struct span text, unsigned indent,
                          struct style style)
{
	_cleanup_row_ struct row margin = { 0 };
	struct span line;

	if (!subject->ask->plain)
		row_pad(&margin, indent, STYLE(ROLE_TEXT));
	while (text.len) {
		_cleanup_row_ struct row row = { 0 };
		size_t bytes, empty = empty_lines(text, &bytes);

		if (empty > EMPTY_SHOWN) {
			row_printf(&row, STYLE(ROLE_WARNING), "[%zu empty lines]", empty);
			text = span_skip(text, bytes);
		} else {
			line_next(&text, &line);
			line.len -= span_ends(line, SPAN("\n"));
			row_foreign(&row, line, style);
		}
		rows_wrap(subject->rows, &row, subject->width, &margin, &margin);
	}
}

/* The arguments that are not shown elsewhere. */
static void subject_others(struct ask_topic *subject)
{
	struct span others = detail(subject, "otherArguments");

	if (!others.len)
		return;
	subject_line(subject, NULL, SPAN("with"), STYLE(ROLE_DIM));
	subject_lines(subject, others, 2, STYLE(ROLE_TEXT));
}

static void subject_warning(struct ask_topic *subject, struct span text)
{
	const struct view_how how = { .width = subject->width, .plain = subject->ask->plain };

	view_notice(subject->notes, "warning", text, &how);
}

static void subject_warn(struct ask_topic *subject, const char *text)
{
	subject_warning(subject, span_str(text));
}

/* ---- what deceives ----------------------------------------------------------- */

/* Whether row_text shows some of it as escapes. */
static bool is_shown_escaped(struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		_cleanup_row_ struct row row = { 0 };
		_cleanup_buf_ struct buf plain = BUF_INIT(LIMIT_RESULT_BYTES);
		_cleanup_buf_ struct buf source = BUF_INIT(LIMIT_RESULT_BYTES);

		line = line_body(line);
		for (size_t i = 0; i < line.len; i++)
			buf_char(&source, line.data[i] == '\t' ? ' ' : line.data[i]);
		row_text(&row, buf_view(&source), STYLE(ROLE_TEXT));
		row_plain(&row, &plain);
		if (!span_eq(span_trim(buf_view(&plain)), span_trim(buf_view(&source))))
			return true;
	}
	return false;
}

static bool has_high_byte(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] >= 0x80)
			return true;
	return false;
}

/* What is odd about an address's host: the text behind "://"; NULL: nothing. */
static const char *odd_address(struct span text)
{
	size_t end = 0;
	struct span host;

	while (end < text.len && (unsigned char)text.data[end] > ' ' &&
	       !strchr("/?#\"'`<>|;)", text.data[end]))
		end++;
	host = span_head(text, end);
	if (memchr(host.data, '@', host.len))
		return "its host is what stands behind the @";
	if (has_high_byte(host))
		return "its host has letters beyond ASCII, which may look like others";
	for (size_t i = 0; i + 4 <= host.len; i++)
		if (span_starts(span_skip(host, i), SPAN("xn--")) &&
		    (!i || host.data[i - 1] == '.'))
			return "its host is written in Punycode, and is shown elsewhere in other "
			       "letters";
	return NULL;
}

/* Warns of addresses that lead elsewhere than it seems. */
static void warn_of_addresses(struct ask_topic *subject, struct span text)
{
	for (size_t i = 0; i + 3 < text.len; i++) {
		_cleanup_buf_ struct buf sentence = BUF_INIT(4096);
		struct span rest = span_skip(text, i + 3);
		const char *odd;
		size_t from = i, end = 0;

		if (!span_starts(span_skip(text, i), SPAN("://")) || !(odd = odd_address(rest)))
			continue;
		while (from && (text.data[from - 1] | 0x20) >= 'a' &&
		       (text.data[from - 1] | 0x20) <= 'z')
			from--;
		while (end < rest.len && end < 200 && (unsigned char)rest.data[end] > ' ')
			end++;
		buf_str(&sentence, "A deceptive address: ");
		buf_span(&sentence, utf8_head(span_skip(text, from), i + 3 + end - from));
		buf_printf(&sentence, " (%s).", odd);
		subject_warning(subject, buf_view(&sentence));
	}
}

static void warn_of_deception(struct ask_topic *subject, struct span text)
{
	if (is_shown_escaped(text))
		subject_warn(subject, "Some characters in it are invisible, or look like others; "
		                      "they are shown as escapes such as \\u{430}.");
	warn_of_addresses(subject, text);
}

void subject_deception(const struct ask *ask, struct span text, unsigned width, struct rows *rows)
{
	struct ask_topic subject = { .ask = ask, .rows = rows, .notes = rows, .width = width };

	warn_of_deception(&subject, text);
}

/* ---- edits ------------------------------------------------------------------- */

static void warn_of_name(struct ask_topic *subject, struct span path)
{
	if (is_shown_escaped(path))
		subject_warn(subject, "The file's name has characters that are invisible, or look "
		                      "like others; they are shown as escapes.");
}

static void warn_of_names(struct ask_topic *subject, const json_t *files)
{
	size_t i;
	json_t *file;

	json_array_foreach((json_t *)files, i, file) {
		warn_of_name(subject, json_span(json_object_get(file, "filePath")));
		warn_of_name(subject, json_span(json_object_get(file, "newPath")));
	}
}

/* Whether the rows of the diff name this file already: with its path in the workspace. */
static bool diff_names_file(struct span diff, struct span path)
{
	struct span line;

	while (line_next(&diff, &line)) {
		struct span name = span_skip(line_body(line), 4);

		if (!span_starts(line, SPAN("+++ ")))
			continue;
		name = span_starts(name, SPAN("b/")) ? span_skip(name, 2) : name;
		return name.len && span_ends(path, name) &&
		       (path.len == name.len || path.data[path.len - name.len - 1] == '/');
	}
	return false;
}

static void subject_edit(struct ask_topic *subject)
{
	const struct view_how how = { .width = subject->width, .plain = subject->ask->plain,
		                      .max = subject->max };
	const json_t *files = json_object_get(ask_details(subject->ask), "files");
	struct span path = detail(subject, "filePath"), diff = detail(subject, "fileDiff");

	if (json_array_size(files) > 1) {
		warn_of_names(subject, files);
	} else {
		if (path.len && !diff_names_file(diff, path))
			subject_line(subject, "Edit", path, STYLE_BOLD(ROLE_TEXT));
		warn_of_name(subject, path);
	}
	view_diff(subject->rows, diff, &how);
	subject_others(subject);
}

/* ---- commands ---------------------------------------------------------------- */

static void subject_paths(struct ask_topic *subject, const json_t *files, const char *member,
                          const char *label)
{
	size_t i;
	json_t *path;

	json_array_foreach(json_object_get(files, member), i, path) {
		_cleanup_buf_ struct buf sentence = BUF_INIT(8 * LIMIT_PATH_BYTES);

		buf_str(&sentence, label);
		buf_span(&sentence, json_span(path));
		subject_warning(subject, buf_view(&sentence));
	}
}

/* What it asks for beyond the sandbox. */
static void subject_permissions(struct ask_topic *subject, const json_t *arguments)
{
	const json_t *more = tool_command_permissions(ask_tool(subject->ask), arguments);
	const json_t *files = json_object_get(more, "fileSystem");

	if (json_is_true(json_object_get(more, "network")))
		subject_warn(subject, "It asks for the network, which the sandbox does not give "
		                      "it; for this one command.");
	subject_paths(subject, files, "read",
	              "It asks to read what the sandbox hides, for this one command: ");
	subject_paths(subject, files, "write",
	              "It asks to write where the sandbox forbids it, for this one command: ");
}

/* Without the rule and the flag, which a report of the denial names: "write /x: outside". */
static struct span denial_in_short(struct span message)
{
	const char *rule = message.len ? memmem(message.data, message.len, " (rule: ", 8) : NULL;

	return rule ? span_head(message, (size_t)(rule - message.data)) : message;
}

/* What the sandbox would deny it, as far as its words tell. */
static void subject_foreseen(struct ask_topic *subject)
{
	size_t i;
	json_t *denial;

	json_array_foreach(json_object_get(ask_details(subject->ask), "denials"), i, denial)
		subject_note(subject, "The sandbox will block this:",
		             denial_in_short(json_span(json_object_get(denial, "message"))),
		             STYLE(ROLE_WARNING));
}

static void subject_command(struct ask_topic *subject)
{
	const json_t *arguments = json_object_get(subject->ask->message, "arguments");
	struct span command = detail(subject, "command"), summary = detail(subject, "summary");
	struct span about = json_span(json_object_get(arguments, "description"));
	struct span folder = json_span(tool_command_folder(ask_tool(subject->ask), arguments));
	size_t i;
	json_t *problem;

	if (about.len)
		subject_lines(subject, about, 0, STYLE(ROLE_DIM));
	subject_lines(subject, command, 2, STYLE(ROLE_CODE));
	if (folder.len)
		subject_line(subject, "in", folder, STYLE(ROLE_TEXT));
	if (json_is_true(json_object_get(arguments, "is_background")))
		subject_line(subject, NULL, SPAN("in the background"), STYLE(ROLE_TEXT));
	subject_others(subject);
	if (summary.len && !span_eq(span_trim(summary), span_trim(command))) {
		subject_line(subject, NULL, SPAN("It runs:"), STYLE(ROLE_DIM));
		subject_lines(subject, span_trim(summary), 2, STYLE(ROLE_TEXT));
	}
	json_array_foreach(json_object_get(ask_details(subject->ask), "problems"), i, problem)
		subject_warning(subject, json_span(problem));
	warn_of_deception(subject, command);
	subject_foreseen(subject);
	subject_permissions(subject, arguments);
}

/* ---- denials ----------------------------------------------------------------- */

/* "write /srv/notes" or "the network (192.0.2.1:443/tcp)", and a word on it. */
static void put_denied(struct buf *out, const json_t *item, const char *before, const char *word,
                       const char *after)
{
	struct span kind = json_span(json_object_get(item, "kind"));
	bool network = span_eq(kind, SPAN("network"));

	if (network)
		buf_str(out, "the network (");
	else
		buf_span(out, kind);
	buf_str(out, network ? "" : " ");
	buf_span(out, json_span(json_object_get(item, "what")));
	if (json_object_get(item, "to")) {
		buf_str(out, " to ");
		buf_span(out, json_span(json_object_get(item, "to")));
	}
	buf_str(out, network ? ")" : "");
	buf_str(out, before);
	buf_span(out, json_span(json_object_get(item, word)));
	buf_str(out, after);
}

/* A file tool's: no command has run. */
static bool is_of_files(const struct ask_topic *subject)
{
	return !json_object_get(ask_details(subject->ask), "command");
}

static void subject_denied(struct ask_topic *subject)
{
	const json_t *details = ask_details(subject->ask);
	json_int_t left = json_integer_value(json_object_get(details, "leftOut"));
	size_t i;
	json_t *item;

	subject_line(subject, NULL, is_of_files(subject) ?
	             SPAN("This is outside the workspace") :
	             SPAN("The sandbox blocked part of this command"), STYLE_BOLD(ROLE_TEXT));
	if (!is_of_files(subject))
		subject_lines(subject, detail(subject, "command"), 2, STYLE(ROLE_CODE));
	json_array_foreach(json_object_get(details, "stillDenied"), i, item) {
		_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

		put_denied(&text, item, " (", "why", ")");
		subject_line(subject, "Still blocked:", buf_view(&text), STYLE(ROLE_DIM));
	}
	if (left > 0) {
		_cleanup_buf_ struct buf text = BUF_INIT(64);

		buf_printf(&text, "%lld more", (long long)left);
		subject_line(subject, "Still blocked:", buf_view(&text), STYLE(ROLE_DIM));
	}
}

/* How the call names the path to allow, if a link or ".." leads there. */
static void subject_named(struct ask_topic *subject, struct span named)
{
	if (!named.len)
		return;
	subject_note(subject, "The call names it", named, STYLE(ROLE_DIM));
}

/* What a yes allows, each thing by itself; never folded. */
static void subject_expansion(struct ask_topic *subject)
{
	const json_t *details = ask_details(subject->ask);
	json_int_t runs = json_integer_value(json_object_get(details, "runs"));
	_cleanup_buf_ struct buf again = BUF_INIT(256);
	size_t i;
	json_t *item;

	subject_note(subject, NULL, SPAN("This would be allowed, and nothing else:"),
	             STYLE(ROLE_TEXT));
	json_array_foreach(json_object_get(details, "allowed"), i, item) {
		_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
		struct span what = json_span(json_object_get(item, "what"));

		put_denied(&text, item, ": ", "allows", ".");
		subject_warning(subject, buf_view(&text));
		subject_named(subject, json_span(json_object_get(item, "named")));
		if (is_shown_escaped(what) ||
		    is_shown_escaped(json_span(json_object_get(item, "to"))))
			subject_warn(subject, "Some characters in it are invisible, or look like "
			                      "others; they are shown as escapes.");
	}
	if (json_is_false(json_object_get(details, "canRewind")))
		subject_note(subject, NULL, SPAN("No checkpoint covers it: /rewind and /restore "
		                                 "do not undo changes there."),
		             STYLE(ROLE_TEXT));
	if (is_of_files(subject))
		return;
	buf_printf(&again, "The command has already run%s; it starts again from the beginning and "
	                   "repeats what it did before it was blocked.", runs > 1 ? " twice" : "");
	subject_note(subject, NULL, buf_view(&again), STYLE(ROLE_TEXT));
}

/* ---- servers' tools and others ----------------------------------------------- */

/* What a server changed of a tool that was allowed before. */
static void subject_changed(struct ask_topic *subject)
{
	struct span changed = detail(subject, "changed");

	if (!changed.len)
		return;
	subject_warn(subject, "This tool has changed since it was last allowed.");
	subject_line(subject, NULL, SPAN("What changed:"), STYLE(ROLE_DIM));
	subject_lines(subject, changed, 2, STYLE(ROLE_TEXT));
	warn_of_deception(subject, changed);
}

static void subject_server(struct ask_topic *subject)
{
	const json_t *arguments = json_object_get(subject->ask->message, "arguments");
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	subject_line(subject, "Tool", detail(subject, "toolDisplayName"), STYLE_BOLD(ROLE_TEXT));
	subject_line(subject, "from the MCP server", detail(subject, "serverName"),
	             STYLE_BOLD(ROLE_TEXT));
	subject_changed(subject);
	json_print(&text, arguments, 2);
	subject_lines(subject, buf_view(&text), 2, STYLE(ROLE_CODE));
	warn_of_deception(subject, buf_view(&text));
}

static bool subject_is_plan(const struct ask *ask)
{
	const struct tool_info *info = ask_tool(ask);

	return info && info->plan;
}

static void subject_other(struct ask_topic *subject)
{
	struct span prompt = detail(subject, "prompt");
	size_t i;
	json_t *url;

	if (subject_is_plan(subject->ask)) {
		markdown_rows(prompt, subject->width, subject->rows);
		warn_of_deception(subject, prompt);
		return;
	}
	subject_line(subject, NULL, detail(subject, "title"), STYLE_BOLD(ROLE_TEXT));
	subject_lines(subject, prompt, 2, STYLE(ROLE_TEXT));
	json_array_foreach(json_object_get(ask_details(subject->ask), "urls"), i, url)
		if (!span_eq(json_span(url), prompt))
			subject_line(subject, "Address:", json_span(url), STYLE(ROLE_TEXT));
	warn_of_deception(subject, prompt);
}

/* ---- the question ------------------------------------------------------------ */

/* Whether it is about more than one file, command or call. */
static bool is_about_several(const struct ask *ask)
{
	const char *list = ask_is(ask, "edit") ? "files" : "rootCommands";

	return json_array_size(ask->joined) ||
	       json_array_size(json_object_get(ask_details(ask), list)) > 1;
}

const char *subject_question(const struct ask *ask)
{
	static const struct {
		const char *type, *one, *several;
	} rows[] = {
		{ "edit", "Apply this change?", "Apply these changes?" },
		{ "exec", "Run this command?", "Run these commands?" },
		{ "mcp", "Run this tool?", "Run this tool?" },
	};
	const bool several = is_about_several(ask);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (ask_is(ask, rows[i].type))
			return several ? rows[i].several : rows[i].one;
	if (ask_is(ask, "sandbox_expansion") && json_object_get(ask_details(ask), "command"))
		return "Allow this and run the command again?";
	return subject_is_plan(ask) ? "Carry out this plan?" : "Allow this?";
}

static void subject_all(struct ask_topic *subject)
{
	if (ask_is(subject->ask, "edit"))
		subject_edit(subject);
	else if (ask_is(subject->ask, "exec"))
		subject_command(subject);
	else if (ask_is(subject->ask, "sandbox_expansion"))
		subject_denied(subject);
	else if (ask_is(subject->ask, "mcp"))
		subject_server(subject);
	else
		subject_other(subject);
}

static void subject_make(struct ask_topic *subject)
{
	struct span reason = json_span(json_object_get(subject->ask->message, "reason"));
	struct span agent = json_span(json_object_get(subject->ask->message, "agentName"));

	if (agent.len)
		subject_line(subject, "Agent", agent, STYLE_BOLD(ROLE_ACCENT));
	subject_all(subject);
	if (ask_is(subject->ask, "sandbox_expansion"))
		subject_expansion(subject);
	if (reason.len)
		subject_note(subject, "Reason:", reason, STYLE(ROLE_WARNING));
}

/* The first rows, and a word about the others. */
static void take_folded(struct rows *all, size_t max, struct rows *rows)
{
	if (all->count <= max) {
		rows_move(rows, all);
		return;
	}
	rows_copy(rows, all, 0, max - 1);
	row_printf(rows_add(rows), STYLE(ROLE_DIM), "\xe2\x80\xa6 %zu rows more (Ctrl+O)",
	           all->count - (max - 1));
}

void subject_rows(const struct ask *ask, json_t *message, unsigned width, size_t max,
                  struct rows *rows, struct rows *notes)
{
	const struct ask of = { .topic = ask->topic, .message = message, .plain = ask->plain };
	_cleanup_rows_ struct rows all = { 0 };
	struct ask_topic subject = { .ask = &of, .rows = &all, .notes = notes, .width = width,
		                     .max = max };

	subject_make(&subject);
	take_folded(&all, max ? max : SUBJECT_WHOLE_ROWS, rows);
}

/* ---- why, and what it could do ----------------------------------------------- */

static void explain_rule(struct ask_topic *subject)
{
	struct span rule = json_span(json_object_get(subject->ask->message, "rule"));
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	if (!rule.len || span_eq(rule, SPAN("default decision"))) {
		buf_str(&text, "No rule allows it.");
	} else {
		buf_str(&text, span_starts(rule, SPAN("default:")) ?
		               "One of hasp's own rules asks (" : "A rule asks (");
		buf_span(&text, rule);
		buf_str(&text, ").");
	}
	subject_line(subject, "Why this is asked:", buf_view(&text), STYLE(ROLE_TEXT));
}

/* Each command of the line with what decides on it. */
static void explain_commands(struct ask_topic *subject)
{
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(ask_details(subject->ask), "commands"), i, row) {
		struct span decision = json_span(json_object_get(row, "decision"));
		struct span why = json_span(json_object_get(row, "reason"));
		_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

		buf_str(&text, "  ");
		buf_span(&text, json_span(json_object_get(row, "command")));
		buf_str(&text, span_eq(decision, SPAN("allow")) ? ": allowed, " :
		                                                  ": asked about, ");
		buf_span(&text, why.len ? why : json_span(json_object_get(row, "rule")));
		subject_line(subject, NULL, buf_view(&text), STYLE(ROLE_TEXT));
	}
}

static void explain_confinement(struct ask_topic *subject)
{
	const json_t *confinement = json_object_get(ask_details(subject->ask), "confinement");
	struct span level = json_span(json_object_get(confinement, "level"));
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	size_t i;
	json_t *folder;

	if (!confinement || span_eq(level, SPAN("paths"))) {
		subject_line(subject, "What it could do:",
		             confinement ? SPAN("anything you can: this machine has no sandbox for "
		                                "commands.") :
		                           SPAN("that is not known here."), STYLE(ROLE_WARNING));
		return;
	}
	buf_str(&text, "write in ");
	json_array_foreach(json_object_get(confinement, "writes"), i, folder) {
		buf_str(&text, i ? ", " : "");
		buf_span(&text, json_span(folder));
	}
	buf_str(&text, " and its temporary folder; read all but hidden files; ");
	buf_str(&text, json_is_true(json_object_get(confinement, "network")) ?
	                       "use the network" : "no network");
	buf_str(&text, " (sandbox: ");
	buf_span(&text, level);
	buf_str(&text, ").");
	subject_line(subject, "What it could do:", buf_view(&text), STYLE(ROLE_TEXT));
}

void subject_explain(const struct ask *ask, unsigned width, struct rows *rows)
{
	struct ask_topic subject = { .ask = ask, .rows = rows, .notes = rows, .width = width };

	explain_rule(&subject);
	if (ask_is(ask, "exec")) {
		explain_commands(&subject);
		explain_confinement(&subject);
	} else if (ask_is(ask, "edit")) {
		subject_line(&subject, "What it would do:",
		             SPAN("write what the diff shows, if the file is still as it was."),
		             STYLE(ROLE_TEXT));
	} else if (ask_is(ask, "mcp")) {
		subject_line(&subject, "What it could do:",
		             SPAN("whatever its server does with these arguments; hasp does not "
		                  "see that."), STYLE(ROLE_TEXT));
	}
}
