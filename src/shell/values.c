/* SPDX-License-Identifier: Apache-2.0 */
/* What is a number for certain, and which variables decide what runs. */
#include "shell/private.h"

#include <string.h>

#include "base/mem.h"

/* Commands whose output is a number, as they are written. (date +%N has leading zeros: an error
 * in arithmetic, but no command.) */
static const char commands[][28] = {
	"date +%s", "date '+%s'", "date \"+%s\"", "date -u +%s", "date +%s%N", "date +%s%3N",
	"date +%N", "date +%Y", "date +%m", "date +%d", "date +%H", "date +%M", "date +%S",
	"nproc", "getconf _NPROCESSORS_ONLN", "getconf PAGE_SIZE", "id -u", "id -g",
};

/* Last commands of a pipe: they count what they read. */
static const char counters[][8] = { "wc -l", "wc -c", "wc -w", "wc -m" };

static bool is_row(struct span text, const char *rows, size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (span_eq(text, span_str(rows + i * size)))
			return true;
	return false;
}

/* Whether a pipe can be read without a look at its commands: nothing in it prints past the pipe or
 * runs after it. */
static bool is_plain_pipe(struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (!shell_is_name((unsigned char)c) && !strchr(" -_./*|\"'$+%:=,@^", c))
			return false;
		if (c == '|' && i + 1 < text.len && text.data[i + 1] == '|')
			return false;
	}
	return true;
}

/* wc -l < FILE */
static bool is_redirected_counter(struct span text)
{
	const char *sign = span_find(text, '<');
	struct span file;

	if (!sign)
		return false;
	file = span_trim(span_skip(text, (size_t)(sign - text.data) + 1));
	text = span_trim(span_head(text, (size_t)(sign - text.data)));
	if (!is_row(text, counters[0], ARRAY_LEN(counters), sizeof(counters[0])) || !file.len)
		return false;
	for (size_t i = 0; i < file.len; i++)
		if (!shell_is_name((unsigned char)file.data[i]) && !strchr("-_./\"$", file.data[i]))
			return false;
	return true;
}

static bool prints_number(struct span text)
{
	const char *last;

	text = span_trim(text);
	if (is_row(text, commands[0], ARRAY_LEN(commands), sizeof(commands[0])) ||
	    is_redirected_counter(text))
		return true;
	last = text.len ? memrchr(text.data, '|', text.len) : NULL;
	if (!last || last == text.data || !is_plain_pipe(text))
		return false;
	text = span_trim(span_skip(text, (size_t)(last - text.data) + 1));
	return is_row(text, counters[0], ARRAY_LEN(counters), sizeof(counters[0]));
}

/* After the ) that closes the ( at `open`; 0 when there is none, or when quotes and the like
 * make it unclear which it is. */
static size_t close_paren(struct span text, size_t open)
{
	size_t depth = 0;

	for (size_t i = open; i < text.len; i++) {
		if (strchr("'\"`\\#", text.data[i]))
			return 0;
		depth += text.data[i] == '(';
		if (text.data[i] == ')' && --depth == 0)
			return i + 1;
	}
	return 0;
}

/* ${#x}, ${#x[@]}, ${#}; `at` is at the # */
static size_t length_expansion(struct span text, size_t at)
{
	for (at++; at < text.len && shell_is_name((unsigned char)text.data[at]);)
		at++;
	if (span_starts(span_skip(text, at), SPAN("[@]")) ||
	    span_starts(span_skip(text, at), SPAN("[*]")))
		at += 3;
	return at < text.len && text.data[at] == '}' ? at + 1 : 0;
}

size_t shell_number_expansion(struct span text)
{
	size_t end;

	if (text.len < 2 || text.data[0] != '$')
		return 0;
	if (strchr("#?$!", text.data[1]))
		return 2;
	if (span_starts(text, SPAN("${#")))
		return length_expansion(text, 2);
	if (span_starts(text, SPAN("$(("))) {
		end = close_paren(text, 1);
		/* What is in it is looked at where it is read. */
		return end && end > 4 && text.data[end - 2] == ')' ? end : 0;
	}
	if (!span_starts(text, SPAN("$(")))
		return 0;
	for (end = 2; end < text.len && text.data[end] != ')'; end++)
		if (text.data[end] == '(' || text.data[end] == '`' || text.data[end] == '\\')
			return 0;
	return end < text.len && prints_number(span_head(span_skip(text, 2), end - 2)) ? end + 1
	                                                                               : 0;
}

static size_t count_digits(struct span text)
{
	size_t i = text.len && text.data[0] == '-' ? 1 : 0;
	size_t first = i;

	while (i < text.len && ascii_is_digit((unsigned char)text.data[i]))
		i++;
	return i > first ? i : 0;
}

bool shell_number_is_certain(struct span raw)
{
	size_t len = raw.len;

	if (len >= 2 && (raw.data[0] == '"' || raw.data[0] == '\'') &&
	    raw.data[len - 1] == raw.data[0]) {
		bool single = raw.data[0] == '\'';

		raw = span_head(span_skip(raw, 1), len - 2);
		if (single)
			return raw.len == 0 || count_digits(raw) == raw.len;
	}
	return raw.len == 0 || count_digits(raw) == raw.len ||
	       shell_number_expansion(raw) == raw.len;
}

bool shell_number_is_certain_item(struct span raw)
{
	unsigned parts = 0;

	if (shell_number_is_certain(raw))
		return true;
	if (!span_starts(raw, SPAN("{")) || !span_ends(raw, SPAN("}")))
		return false;
	raw = span_head(span_skip(raw, 1), raw.len - 2);
	while (parts < 3) {
		size_t digits = count_digits(raw);

		if (!digits)
			return false;
		raw = span_skip(raw, digits);
		if (++parts >= 2 && raw.len == 0)
			return true;
		if (!span_starts(raw, SPAN("..")))
			return false;
		raw = span_skip(raw, 2);
	}
	return false;
}

/* ---- variables -------------------------------------------------------------------- */

/* Sources: bash manual 5.1 and 5.2 ("Shell Variables"); which of them evaluate what they are
 * given, and which can hold text, was tried with bash 5.2, and test/shell/test_recorder.py tries
 * it again.  The programs' variables are from their own manuals. */

/* Lists of names (name_in); the first list that has a name decides. */
static const struct {
	unsigned traits;
	const char *names;
} rows[] = {
	/* They have the integer attribute, or an assignment to them is evaluated.  Read again
	 * they are numbers, also when they come from the environment. */
	{ VARIABLE_EVALUATES | VARIABLE_NUMBER,
	  "RANDOM SRANDOM SECONDS OPTIND HISTCMD BASHPID LINENO EPOCHSECONDS BASH_SUBSHELL "
	  "BASH_MONOSECONDS" },
	/* Read-only, or what is assigned to them is ignored. */
	{ VARIABLE_NUMBER, "PPID UID EUID EPOCHREALTIME" },
	/* cd and bash's start set them to absolute paths. */
	{ VARIABLE_RUNS | VARIABLE_PATH, "HOME" },
	{ VARIABLE_RUNS | VARIABLE_SHELL | VARIABLE_PATH, "PWD OLDPWD" },
	/* bash runs, reads or expands what they hold, or finds and parses commands by them. */
	{ VARIABLE_RUNS | VARIABLE_SHELL,
	  "PATH SHELLOPTS BASHOPTS BASH_CMDS BASH_ALIASES BASH_COMPAT POSIXLY_CORRECT" },
	{ VARIABLE_RUNS,
	  "BASH_ENV ENV PS0 PS1 PS4 PROMPT_COMMAND BASH_FUNC_* BASH_LOADABLES_PATH FCEDIT CDPATH "
	  "EXECIGNORE SHELL TEXTDOMAIN TEXTDOMAINDIR MAILPATH INPUTRC histchars LOCPATH NLSPATH "
	  "LANG LANGUAGE LC_*" },
	/* bash gives them what it is given, names of files, or what a command said. */
	{ VARIABLE_SHELL,
	  "_ BASH BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_COMMAND BASH_EXECUTION_STRING BASH_LINENO "
	  "BASH_REMATCH BASH_SOURCE BASH_TRAPSIG BASH_VERSINFO BASH_VERSION BASH_XTRACEFD COLUMNS "
	  "COMPREPLY COMP_* COPROC COPROC_PID DIRSTACK FUNCNAME GROUPS HOSTNAME HOSTTYPE LINES "
	  "MACHTYPE MAPFILE OPTARG OPTERR OSTYPE PIPESTATUS READLINE_* REPLY SHLVL" },
	/* Programs run or load what they name. */
	{ VARIABLE_RUNS,
	  "ZDOTDIR XDG_CONFIG_HOME LD_* DYLD_* GCONV_PATH GIT_* SSH_ASKPASS SUDO_ASKPASS PAGER "
	  "MANPAGER MANOPT LESS LESSOPEN LESSCLOSE LESSEDIT EDITOR VISUAL BROWSER PYTHONPATH "
	  "PYTHONHOME PYTHONSTARTUP PYTHONBREAKPOINT PERL5OPT PERL5LIB PERL5DB PERLLIB RUBYOPT "
	  "RUBYLIB NODE_OPTIONS NODE_PATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS "
	  "MAKEFLAGS GNUMAKEFLAGS RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC RSYNC_RSH "
	  "CVS_RSH TAR_OPTIONS RIPGREP_CONFIG_PATH npm_config_* OPENSSL_CONF" },
};

/* Set in good faith all the time: names with any value, values of programs'
 * variables. */
static const char harmless_names[] =
	"GIT_AUTHOR_* GIT_COMMITTER_* GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS "
	"GIT_LFS_SKIP_SMUDGE GIT_MERGE_AUTOEDIT";
static const char harmless_values[] = "cat true false : 0 1";
/* Locales in whose encodings ASCII is what it is in UTF-8; of others a byte of \ or ` may be part
 * of a character. */
static const char harmless_locales[] = "C POSIX C.UTF-8 C.utf8 en_US.UTF-8 en_US.utf8";

unsigned shell_variable_traits(struct span name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (name_in(name, rows[i].names))
			return rows[i].traits;
	return 0;
}

bool shell_variable_decides(struct span name, const struct shell_word *value)
{
	if (!(shell_variable_traits(name) & VARIABLE_RUNS) || name_in(name, harmless_names))
		return false;
	/* No value of the shell's own is harmless. */
	if (!value || value->dynamic || shell_variable_traits(name) & VARIABLE_SHELL)
		return true;
	if (name_in(name, "LANG LANGUAGE LC_*"))
		return value->value.len > 0 && !name_in(value->value, harmless_locales);
	return value->value.len > 0 && !name_in(value->value, harmless_values);
}
