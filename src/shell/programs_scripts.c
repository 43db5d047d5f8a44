/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts that stand in an argument: sed's, awk's, and those of clients.
 *
 * sed (GNU sed 4.9, its manual's "sed scripts"):
 *     script  = { [ address [ "," address ] ] { "!" } command }
 *     address = number | "$" | "/re/" flags | "\cREc" flags | first "~" step | "+" n | "~" n
 * Where GNU sed and others differ about where a part ends, the earlier end counts, so that what
 * follows is read as commands; where that does not help, the script is not known. */
#include "shell/judge.h"

#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "shell/private.h"

/* All pieces of a script, as the program joins them. */
struct judged_script {
	struct buf text;
	size_t word;      /* the first word of it that counts, for what is said */
	bool given;       /* by -e or -f: the first operand is none */
	size_t operand;   /* the first one; 0: none */
};

static void script_text_add(struct judging *j, struct judged_script *script,
                            const struct shell_word *word,
                            size_t index)
{
	if (word->dynamic) {
		judge_note_unknown(j, index, "script");
		return;
	}
	if (script->text.len > 0)
		buf_char(&script->text, '\n');
	buf_span(&script->text, word->value);
	if (!script->word || script->word < j->from)
		script->word = index;
}

/* Reads the options; what they are worth is in the table. */
static void script_read(struct judging *j, struct judged_script *script)
{
	const struct shell_command *command = j->command;
	struct arguments a;
	enum argument_kind kind;

	judge_arguments_begin(&a, j, 1);
	while ((kind = judge_arguments_next(&a)) != ARGUMENT_END) {
		if (kind == ARGUMENT_OPERAND && !script->operand)
			script->operand = a.word;
		if (kind != ARGUMENT_OPTION)
			continue;
		script->given |= a.mark == '=' || a.mark == '%';
		if (a.mark == '=' && a.has_value)
			script_text_add(j, script, &a.value, a.value_word);
	}
	if (!script->given && script->operand)
		script_text_add(j, script, &command->words[script->operand], script->operand);
	if (!script->given && !script->operand)
		j->unsure = true;
	if (command->flags & SHELL_FLAG_APPENDED && !a.ended)
		judge_note_unknown(j, command->word_count, "input");
	if (script->text.overflowed)
		judge_note_unknown(j, script->word, "script");
}

/* ---- sed ---- */

struct sed {
	struct judging *j;
	struct span rest;
	size_t word;
	bool lost; /* it is not known what comes next */
};

static int sed_peek(const struct sed *sed)
{
	return sed->rest.len ? (unsigned char)sed->rest.data[0] : -1;
}

static int sed_next(struct sed *sed)
{
	int c = sed_peek(sed);

	if (c >= 0)
		sed->rest = span_skip(sed->rest, 1);
	return c;
}

static void sed_skip(struct sed *sed, const char *set)
{
	while (sed_peek(sed) > 0 && strchr(set, sed_peek(sed)))
		sed_next(sed);
}

/* Whether each [ of the expression has its ], so that every sed ends it at the same place. */
static bool brackets_close(struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '\\') {
			i++;
			continue;
		}
		if (text.data[i] != '[')
			continue;
		i++;
		i += i < text.len && text.data[i] == '^';
		i += i < text.len && text.data[i] == ']';
		for (; i < text.len && text.data[i] != ']'; i++) {
			const char *end;

			if (text.data[i] == '\\' && i + 1 < text.len && text.data[i + 1] == ']')
				return false;
			if (text.data[i] != '[' || i + 1 >= text.len ||
			    !strchr(":.=", text.data[i + 1]))
				continue;
			end = memmem(text.data + i + 2, text.len - i - 2,
			             (char[]){ text.data[i + 1], ']' }, 2);
			if (!end)
				return false;
			i = (size_t)(end - text.data) + 1;
		}
		if (i >= text.len)
			return false;
	}
	return true;
}

/* Up to the delimiter, which is taken. */
static struct span sed_part(struct sed *sed, int delimiter)
{
	struct span text = sed->rest;
	size_t len = 0;

	while (len < text.len && (unsigned char)text.data[len] != delimiter)
		len += text.data[len] == '\\' && len + 1 < text.len ? 2 : 1;
	if (len >= text.len)
		sed->lost = true;
	sed->rest = span_skip(text, len + 1);
	return span_head(text, len);
}

static void sed_expression(struct sed *sed, int delimiter)
{
	if (delimiter < 0x20 || delimiter >= 0x7f || delimiter == '\\' || delimiter == '[' ||
	    !brackets_close(sed_part(sed, delimiter)))
		sed->lost = true;
}

static void sed_number(struct sed *sed)
{
	while (ascii_is_digit(sed_peek(sed)))
		sed_next(sed);
}

/* False: none. */
static bool sed_address(struct sed *sed)
{
	int c = sed_peek(sed);

	if (c == '$') {
		sed_next(sed);
	} else if (ascii_is_digit(c)) {
		sed_number(sed);
		sed_skip(sed, " \t");
		if (sed_peek(sed) == '~') {
			sed_next(sed);
			sed_number(sed);
		}
	} else if (c == '/' || c == '\\') {
		sed_next(sed);
		sed_expression(sed, c == '/' ? '/' : sed_next(sed));
		while (sed_peek(sed) == 'I' || sed_peek(sed) == 'M')
			sed_next(sed);
	} else {
		return false;
	}
	return true;
}

static void sed_addresses(struct sed *sed)
{
	bool first = sed_address(sed);

	sed_skip(sed, " \t");
	if (first && sed_peek(sed) == ',') {
		sed_next(sed);
		sed_skip(sed, " \t");
		if (sed_peek(sed) == '+' || sed_peek(sed) == '~') {
			sed_next(sed);
			sed_number(sed);
		} else if (!sed_address(sed)) {
			sed->lost = true;
		}
	}
	sed_skip(sed, " \t!");
}

/* Up to the end of the line, without the blanks before it. */
static struct span sed_line(struct sed *sed)
{
	struct span text;
	const char *end;

	sed_skip(sed, " \t");
	text = sed->rest;
	end = span_find(text, '\n');
	if (end)
		text = span_head(text, (size_t)(end - text.data));
	sed->rest = span_skip(sed->rest, text.len);
	return text;
}

static void sed_writes(struct sed *sed, const char *what)
{
	struct shell_word file = { .value = sed_line(sed) };

	if (!name_in(file.value, "/dev/stdout /dev/stderr"))
		judge_note_effect(sed->j, PROGRAM_WRITES, sed->word, what, &file);
}

/* The text of a, i and c goes on after each line end that has a backslash before it. */
static void sed_text(struct sed *sed)
{
	size_t backslashes = 0;

	for (int c = sed_peek(sed); c >= 0 && (c != '\n' || backslashes % 2); c = sed_peek(sed)) {
		backslashes = c == '\\' ? backslashes + 1 : 0;
		sed_next(sed);
	}
}

static void sed_substitute(struct sed *sed)
{
	int delimiter = sed_next(sed);

	sed_expression(sed, delimiter);
	if (!sed->lost)
		sed_part(sed, delimiter);
	while (!sed->lost) {
		int c = sed_peek(sed);

		if (c == 'e')
			judge_note_effect(sed->j, PROGRAM_RUNS, sed->word, "flag e of command s",
			                  NULL);
		if (c == 'w') {
			sed_next(sed);
			sed_writes(sed, "flag w of command s");
			return;
		}
		if (c < 0 || (!strchr("gpiIemM", c) && !ascii_is_digit(c)))
			return;
		sed_next(sed);
	}
}

static void sed_command(struct sed *sed)
{
	int c = sed_next(sed);

	if (c == 'w' || c == 'W') {
		sed_writes(sed, c == 'w' ? "command w" : "command W");
	} else if (c == 'e') {
		struct shell_word text = { .value = sed_line(sed) };

		judge_note_effect(sed->j, PROGRAM_RUNS, sed->word, "command e", &text);
	} else if (c == 's') {
		sed_substitute(sed);
	} else if (c == 'y') {
		int delimiter = sed_next(sed);

		sed_expression(sed, delimiter);
		if (!sed->lost)
			sed_part(sed, delimiter);
	} else if (c == 'a' || c == 'i' || c == 'c') {
		sed_text(sed);
	} else if (c == 'r' || c == 'R' || c == '#') {
		sed_line(sed);
	} else if (c == ':' || c == 'b' || c == 't' || c == 'T') {
		sed_skip(sed, " \t");
		while (sed_peek(sed) >= 0 && !strchr(" \t\n;}", sed_peek(sed)))
			sed_next(sed);
	} else if (c == 'q' || c == 'Q' || c == 'l' || c == 'L') {
		sed_skip(sed, " \t");
		sed_number(sed);
	} else if (c <= 0 || !strchr("{}=dDgGhHnNpPxFz", c)) {
		sed->lost = true;
	}
	if (c == '{' || c == '}')
		return;
	sed_skip(sed, " \t");
	c = sed_peek(sed);
	if (c >= 0 && !strchr(";\n}#", c))
		sed->lost = true;
}

void judge_sed(struct judging *j)
{
	struct judged_script script = { .text = BUF_INIT(LIMIT_SHELL_BYTES) };
	struct sed sed = { .j = j };

	script_read(j, &script);
	sed.rest = buf_from(&script.text, 0);
	sed.word = script.word;
	for (;;) {
		sed_skip(&sed, " \t\r\n;");
		if (sed.rest.len == 0 || sed.lost)
			break;
		sed_addresses(&sed);
		if (!sed.lost)
			sed_command(&sed);
	}
	/* What cannot be parsed may be anything; sed refuses nearly all of it. */
	if (sed.lost)
		judge_note_unknown(j, script.word, "script");
	buf_release(&script.text);
}

/* ---- awk ---- */

struct awk {
	struct judging *j;
	struct span rest;
	size_t word;
	int before;      /* the last character that was no blank; 'a' of a word, '1' of a number,
	                  * 'p' of ++ and getline, 'k' of print and the like; 0 at first */
	bool printing;   /* in a print statement */
	bool getting;    /* after getline, in its statement */
	unsigned depth;  /* of parentheses, since it began */
	bool lost;
};

/* Text up to the end character, which may be escaped; the end is taken. */
static void awk_skip_to(struct awk *awk, char end)
{
	size_t i = 0;

	while (i < awk->rest.len && awk->rest.data[i] != end) {
		if (awk->rest.data[i] == '\n')
			awk->lost = true;
		i += awk->rest.data[i] == '\\' ? 2 : 1;
	}
	if (i >= awk->rest.len)
		awk->lost = true;
	awk->rest = span_skip(awk->rest, i + 1);
}

/* A / begins an expression where no operand stands before it. */
static void awk_slash(struct awk *awk)
{
	size_t i = 0;

	/* if (x) /re/, i++ /2: only awk's grammar knows. */
	if (awk->before == ')' || awk->before == 'p')
		awk->lost = true;
	if (awk->before && strchr("a1]\"", awk->before))
		return;
	/* A bracket expression may hold the end, or not: then it is not known. */
	while (i < awk->rest.len && awk->rest.data[i] != '/')
		i += awk->rest.data[i] == '\\' ? 2 : 1;
	if (!brackets_close(span_head(awk->rest, i)))
		awk->lost = true;
	awk_skip_to(awk, '/');
}

static void awk_name(struct awk *awk)
{
	struct span name = awk->rest;
	size_t len = 0;

	while (len < name.len && shell_is_name((unsigned char)name.data[len]))
		len++;
	name = span_head(name, len);
	awk->rest = span_skip(awk->rest, len);
	if (span_eq(name, SPAN("system")))
		judge_note_effect(awk->j, PROGRAM_RUNS, awk->word, "function system", NULL);
	awk->getting |= span_eq(name, SPAN("getline"));
	if (span_eq(name, SPAN("ARGV")))
		judge_note_unknown(awk->j, awk->word, "list of files");
	if (name_in(name, "print printf")) {
		awk->printing = true;
		awk->depth = 0;
	}
	/* After these words an expression may begin with a slash. */
	awk->before = name_in(name, "print printf return in case else do delete exit") ? 'k' :
	              span_eq(name, SPAN("getline")) ? 'p' : 'a';
}

/* > "/dev/stderr" and nothing after it. */
static bool awk_prints_to_device(const struct awk *awk)
{
	static const char *const devices[] = { "\"/dev/stderr\"", "\"/dev/stdout\"" };
	struct span rest = awk->rest;

	while (rest.len > 0 && strchr("> \t", rest.data[0]) && rest.data[0])
		rest = span_skip(rest, 1);
	for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
		struct span device = span_str(devices[i]);

		if (!span_starts(rest, device))
			continue;
		rest = span_skip(rest, device.len);
		while (rest.len > 0 && (rest.data[0] == ' ' || rest.data[0] == '\t'))
			rest = span_skip(rest, 1);
		return rest.len == 0 || rest.data[0] == ';' || rest.data[0] == '}' ||
		       rest.data[0] == '\n';
	}
	return false;
}

/* getline < FILE: gawk connects where the name begins so, whatever the name is made of. */
static void awk_reads_from(struct awk *awk)
{
	struct span rest = awk->rest, name, start = SPAN("/inet");
	const char *end;

	while (rest.len > 0 && (rest.data[0] == ' ' || rest.data[0] == '\t'))
		rest = span_skip(rest, 1);
	end = span_starts(rest, SPAN("\"")) ? span_find(span_skip(rest, 1), '"') : NULL;
	name = end ? span_of(rest.data + 1, (size_t)(end - rest.data) - 1) : span_of("", 0);
	name = span_head(name, start.len);
	if (!end || span_find(name, '\\') || (name.len < start.len && span_starts(start, name)))
		judge_note_unknown(awk->j, awk->word, "file behind getline <");
	else if (span_eq(name, start))
		judge_note_effect(awk->j, PROGRAM_CONNECTS, awk->word, "getline <", NULL);
}

/* A statement ends at a newline, but not after a comma, an operator or in parentheses; what stands
 * before the newline then stands before what follows, too. */
static void awk_newline(struct awk *awk)
{
	awk->rest = span_skip(awk->rest, 1);
	if (awk->printing &&
	    (awk->depth || (awk->before && !strchr("a1]\")pk", awk->before))))
		return;
	awk->printing = awk->getting = false;
	awk->before = '\n';
}

/* Up to the newline, which is not taken. */
static void awk_comment(struct awk *awk)
{
	const char *end = span_find(awk->rest, '\n');

	awk->rest = span_skip(awk->rest, end ? (size_t)(end - awk->rest.data) : awk->rest.len);
}

/* A backslash joins lines; gawk lets blanks and a comment stand between it and the newline. */
static void awk_joint(struct awk *awk)
{
	awk->rest = span_skip(awk->rest, 1);
	while (awk->rest.len > 0 && strchr(" \t\r", awk->rest.data[0]) && awk->rest.data[0])
		awk->rest = span_skip(awk->rest, 1);
	if (span_starts(awk->rest, SPAN("#")))
		awk_comment(awk);
	if (!span_starts(awk->rest, SPAN("\n")))
		awk->lost = true;
	awk->rest = span_skip(awk->rest, 1);
}

static void awk_sign(struct awk *awk)
{
	char c = awk->rest.data[0];
	bool twice = awk->rest.len > 1 && awk->rest.data[1] == c;

	awk->rest = span_skip(awk->rest, 1);
	if (c == '(')
		awk->depth++;
	else if (c == ')' && awk->depth)
		awk->depth--;
	else if (c && strchr(";{}", c))
		awk->printing = awk->getting = false;
	else if (c == '<' && awk->getting)
		awk_reads_from(awk);
	if ((c == '|' || c == '+' || c == '-') && twice)
		awk->rest = span_skip(awk->rest, 1);
	else if (c == '|')
		judge_note_effect(awk->j, PROGRAM_RUNS, awk->word, "pipe", NULL);
	else if (c == '>' && awk->printing && awk->depth == 0 && !awk_prints_to_device(awk))
		judge_note_effect(awk->j, PROGRAM_WRITES, awk->word, "print >", NULL);
	else if (c == '@')
		judge_note_effect(awk->j, PROGRAM_RUNS, awk->word, "@", NULL);
	awk->before = (c == '+' || c == '-') && twice ? 'p' : (unsigned char)c;
}

static void awk_step(struct awk *awk)
{
	char c = awk->rest.data[0];

	if (c == ' ' || c == '\t' || c == '\r') {
		awk->rest = span_skip(awk->rest, 1);
	} else if (c == '#') {
		awk_comment(awk);
	} else if (c == '\n') {
		awk_newline(awk);
	} else if (c == '"') {
		awk->rest = span_skip(awk->rest, 1);
		awk_skip_to(awk, '"');
		awk->before = '"';
	} else if (c == '/') {
		awk->rest = span_skip(awk->rest, 1);
		awk_slash(awk);
		awk->before = awk->before && strchr("a1]\"", awk->before) ? '/' : '"';
	} else if (ascii_is_digit(c) || c == '.') {
		awk->rest = span_skip(awk->rest, 1);
		awk->before = '1';
	} else if (is_name_start((unsigned char)c)) {
		awk_name(awk);
	} else if (c == '\\') {
		awk_joint(awk);
	} else {
		awk_sign(awk);
	}
}

/* What none of these stands in, can do nothing. */
static bool awk_is_plain(struct span text)
{
	return !span_find(text, '|') && !span_find(text, '>') && !span_find(text, '@') &&
	       !(text.len && (memmem(text.data, text.len, "system", 6) ||
	                      memmem(text.data, text.len, "getline", 7) ||
	                      memmem(text.data, text.len, "ARGV", 4)));
}

/* gawk's names of connections as files that are read: the operands after the script.  find gives
 * names of files that are there. */
static void awk_operands(struct judging *j, const struct judged_script *script)
{
	const struct shell_command *command = j->command;
	const bool found = command->via == SHELL_VIA_FIND;
	size_t at = script->operand ? script->operand + !script->given : command->word_count;

	for (; at < command->word_count; at++) {
		const struct shell_word *word = &command->words[at];

		if ((found && word->dynamic == SHELL_DYNAMIC_INSERTED) ||
		    !shell_word_may_begin(word, "/inet"))
			continue;
		if (word->dynamic && word->value.len < strlen("/inet"))
			judge_note_unknown(j, at, "file");
		else
			judge_note_effect(j, PROGRAM_CONNECTS, at, "operand", word);
	}
	if (command->flags & SHELL_FLAG_APPENDED && !found)
		judge_note_unknown(j, command->word_count, "input");
}

void judge_awk(struct judging *j)
{
	struct judged_script script = { .text = BUF_INIT(LIMIT_SHELL_BYTES) };
	struct awk awk = { .j = j };

	script_read(j, &script);
	awk.rest = buf_from(&script.text, 0);
	awk.word = script.word;
	if (awk.rest.len && memmem(awk.rest.data, awk.rest.len, "/inet", 5))
		j->unsure = true; /* wherever it is used */
	awk_operands(j, &script);
	if (!awk_is_plain(awk.rest))
		while (awk.rest.len > 0 && !awk.lost)
			awk_step(&awk);
	if (awk.lost)
		judge_note_unknown(j, script.word, "script");
	buf_release(&script.text);
}

/* ---- clients ---- */

/* Whether the text has the word as a whole name, in upper or lower case. */
static bool sql_has_word(struct span text, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= text.len; i++)
		if (strncasecmp(text.data + i, word, len) == 0 &&
		    (i == 0 || !shell_is_name((unsigned char)text.data[i - 1])) &&
		    (i + len == text.len || !shell_is_name((unsigned char)text.data[i + len])))
			return true;
	return false;
}

/* Whether it is one of the names, or the beginning of one. */
static bool abbreviates(struct span given, const char *names)
{
	while (*names) {
		struct span name = span_of(names, strcspn(names, " "));

		if (given.len > 1 && span_starts(name, given))
			return true;
		names += name.len + (names[name.len] == ' ');
	}
	return false;
}

static struct span sql_first_word(struct span text)
{
	size_t len = 0;

	text = span_trim(text);
	while (len < text.len && !(text.data[len] && strchr(" \t\n", text.data[len])))
		len++;
	return span_head(text, len);
}

/* Dot commands that run, write or load something (sqlite3 3.40's .help). */
static const char sqlite_acts[] =
	".shell .system .output .once .excel .import .load .open .save .backup .clone .restore "
	".read .log .archive .ar .cd .dbconfig .session .www .trace .iotrace .testcase";

/* sqlite3: words that begin with a dot are commands of its shell, which may be abbreviated; its
 * shell has functions that run and write, too. */
void judge_sqlite(struct judging *j)
{
	struct arguments arguments;
	enum argument_kind kind;

	j->unsure = true;
	judge_arguments_begin(&arguments, j, 1);
	while ((kind = judge_arguments_next(&arguments)) != ARGUMENT_END) {
		const struct shell_word *word = kind == ARGUMENT_OPERAND ?
			&j->command->words[arguments.word] : &arguments.value;
		size_t at = kind == ARGUMENT_OPERAND ? arguments.word : arguments.value_word;
		struct span name = sql_first_word(word->value);

		if (kind == ARGUMENT_OPTION && !arguments.has_value)
			continue;
		if (abbreviates(name, sqlite_acts))
			judge_note_effect(j, PROGRAM_RUNS, at, "dot command", word);
		else if (sql_has_word(word->value, "edit") ||
		         sql_has_word(word->value, "load_extension"))
			judge_note_effect(j, PROGRAM_RUNS, at, "function", NULL);
		else if (sql_has_word(word->value, "writefile"))
			judge_note_effect(j, PROGRAM_WRITES, at, "function writefile", NULL);
		else if (word->dynamic && (word->value.len == 0 || span_eq(name, SPAN("."))))
			judge_note_unknown(j, at, "argument");
	}
}

/* psql -c: psql's commands begin with a backslash; those that list things do no more,
 * without a backquote.  COPY … PROGRAM runs one where the server is. */
static void psql_text(struct judging *j, const struct arguments *a)
{
	struct span text = span_trim(a->value.value);
	struct span name = sql_first_word(text);
	bool shows = name_in(name, "\\d* \\l \\l+ \\z \\conninfo \\x \\timing \\sf \\sv \\?") &&
	             !span_find(text, '`') && !span_find(span_skip(text, 1), '\\');

	if (sql_has_word(text, "program") ||
	    (span_starts(text, SPAN("\\")) && !shows && !a->value.dynamic))
		judge_note_effect(j, PROGRAM_RUNS, a->value_word, "option -c", &a->value);
	else if (a->value.dynamic && (text.len == 0 || span_starts(text, SPAN("\\"))))
		judge_note_unknown(j, a->value_word, "command");
}

static void judge_option_values(struct judging *j,
                                void (*judge)(struct judging *j, const struct arguments *a))
{
	struct arguments a;
	enum argument_kind kind;

	judge_arguments_begin(&a, j, 1);
	while ((kind = judge_arguments_next(&a)) != ARGUMENT_END)
		if (kind == ARGUMENT_OPTION && a.has_value)
			judge(j, &a);
	if (j->command->flags & SHELL_FLAG_APPENDED && !a.ended)
		judge_note_unknown(j, j->command->word_count, "input");
}

static void psql_value(struct judging *j, const struct arguments *a)
{
	if (a->letter == 'c' || name_in(span_str(a->name), "command"))
		psql_text(j, a);
	if ((a->letter == 'o' || name_in(span_str(a->name), "output")) &&
	    span_starts(a->value.value, SPAN("|")))
		judge_note_effect(j, PROGRAM_RUNS, a->value_word, "output", &a->value);
}

void judge_psql(struct judging *j)
{
	judge_option_values(j, psql_value);
}

/* curl -w '%output{FILE}…'; @FILE has such a format. */
static void curl_value(struct judging *j, const struct arguments *a)
{
	struct span text = a->value.value;

	if (a->letter != 'w' && !name_in(span_str(a->name), "write-out"))
		return;
	if (text.len > 0 && memmem(text.data, text.len, "%output{", 8))
		judge_note_effect(j, PROGRAM_WRITES, a->value_word, "%output of option -w", NULL);
	else if (span_starts(text, SPAN("@")) || (a->value.dynamic && text.len == 0))
		judge_note_unknown(j, a->value_word, "format");
}

void judge_curl(struct judging *j)
{
	judge_option_values(j, curl_value);
}
