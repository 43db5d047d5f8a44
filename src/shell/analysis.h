/* SPDX-License-Identifier: Apache-2.0 */
/* What a shell command line would run, as data, without running it.
 *
 * This decides whether to ASK, never what is safe: a command can do anything that the sandbox
 * lets it do, whatever its name.  The boundary is the kernel (sandbox/).  An analysis is for
 * rules ("git status may run unasked") and for showing a person all that is about to run.
 *
 *     struct shell_analysis analysis;
 *     shell_analyse(command, &analysis);              // always gives one
 *     if (analysis.problem_count > 0) ask;            // something may be missing from the list
 *     for (size_t i = 0; i < analysis.command_count; i++)
 *             if (!shell_command_matches_prefix(&analysis.commands[i], SPAN("git status")))
 *                     ask;
 *     shell_summary(&analysis, &text);                // what a question shows
 *     shell_analysis_release(&analysis);
 *
 * The promise: each command that bash -c would start is in `commands`, or `problems` is not
 * empty.  To keep it, each script is read twice: by hasp's reader (reading.h), which finds words
 * and commands, and by tree-sitter-bash.  Where the two differ about where a command begins or a
 * word ends, that is a problem.  Programs that run what their files or input say
 * (make, python, npm) are commands like any other: what they do is not looked into.
 *
 * What is found: commands of lists, pipes, groups, subshells, functions, loops, conditions, case,
 * substitutions also in strings, heredocs, arithmetic and [[ ]]; commands inside commands (env,
 * sudo, xargs, find -exec, sh -c, eval: wrappers.c has the table).  A wrapper is in the list and
 * so is what it runs, with `parent` naming the wrapper.
 *
 * Cost: at most LIMIT_SHELL_BYTES are read, in time near linear; limits.h has the rest.  Past a
 * limit the analysis says so (SHELL_PROBLEM_LIMIT) and what was found until then remains.
 *
 * Not here: rules (policy/), which programs are harmless (policy/), running (worker/job/).
 */
#ifndef HASP_SHELL_ANALYSIS_H
#define HASP_SHELL_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

/* No index. */
#define SHELL_NONE SIZE_MAX

/* What makes a word's value unknown before it runs: bits. X(symbol, name) */
#define SHELL_DYNAMIC_TABLE(X)             \
	X(VARIABLE, "variable")            \
	X(SUBSTITUTION, "substitution")    \
	X(PROCESS, "process_substitution") \
	X(ARITHMETIC, "arithmetic")        \
	X(GLOB, "glob")                    \
	X(TILDE, "tilde")                  \
	X(BRACES, "braces")                \
	X(LOCALE, "locale")                \
	X(INSERTED, "inserted")

enum shell_dynamic_bit {
#define SHELL_DYNAMIC_ENUM(symbol, name) SHELL_BIT_##symbol,
	SHELL_DYNAMIC_TABLE(SHELL_DYNAMIC_ENUM) /* one a row, in their order */
#undef SHELL_DYNAMIC_ENUM
	SHELL_BIT_COUNT
};

enum shell_dynamic {
#define SHELL_DYNAMIC_ENUM(symbol, name) SHELL_DYNAMIC_##symbol = 1 << SHELL_BIT_##symbol,
	SHELL_DYNAMIC_TABLE(SHELL_DYNAMIC_ENUM) /* one a row, in their order */
#undef SHELL_DYNAMIC_ENUM
};
/* BRACES: {a,b} whose expansion is too large or not clear; LOCALE: $"…" and \u beyond ASCII;
 * INSERTED: another program puts text here (xargs -I, find's {}). */

/* A word as the program gets it. */
struct shell_word {
	struct span raw;   /* as written */
	struct span value; /* exact when dynamic is 0; else the known text before the unknown */
	unsigned dynamic;  /* enum shell_dynamic; 0: the value is known */
	bool splits;       /* may become none or several words ($x unquoted, a glob) */
};

struct shell_assignment {
	struct span name;
	struct shell_word value; /* of an array, a[1]=x and x+=y: dynamic */
};

/* X(symbol, name): the operator, without its descriptor */
#define SHELL_REDIRECT_TABLE(X)         \
	X(READ, "read")                 \
	X(WRITE, "write")               \
	X(APPEND, "append")             \
	X(CLOBBER, "clobber")           \
	X(READ_WRITE, "read_write")     \
	X(WRITE_BOTH, "write_both")     \
	X(APPEND_BOTH, "append_both")   \
	X(HEREDOC, "heredoc")           \
	X(HERESTRING, "herestring")     \
	X(DUP_IN, "dup_in")             \
	X(DUP_OUT, "dup_out")
/* <  >  >>  >|  <>  &> and >& FILE  &>>  <<  <<<  <&  >& */

enum shell_redirect_kind {
#define SHELL_REDIRECT_ENUM(symbol, name) SHELL_REDIRECT_##symbol,
	SHELL_REDIRECT_TABLE(SHELL_REDIRECT_ENUM) /* one a row, in their order */
#undef SHELL_REDIRECT_ENUM
	SHELL_REDIRECT_COUNT
};

struct shell_redirect {
	enum shell_redirect_kind kind;
	int fd;                   /* the descriptor; -1: {name}>, or a number that is too large */
	struct shell_word target; /* file, descriptor ("1", "-"), herestring; a heredoc's text */
	bool writes_file;         /* creates or changes a file, unless it is a device like
	                           * /dev/null; true also when the target is not known */
};

/* How a command came into the list. X(symbol, name) */
#define SHELL_VIA_TABLE(X)                  \
	X(SCRIPT, "script")                 \
	X(WRAPPER, "wrapper")               \
	X(SHELL_STRING, "shell_string")     \
	X(EVAL, "eval")                     \
	X(BACKTICK, "backtick")             \
	X(FIND, "find")                     \
	X(XARGS, "xargs")                   \
	X(OPTION, "option")                 \
	X(TRAP, "trap")                     \
	X(REMOTE, "remote")
/* SCRIPT: it stands in the text; SHELL_STRING: sh -c and the like; OPTION: an option's value is
 * run (git -c alias.x='!…', rg --pre); REMOTE: ssh runs it on another machine. */

enum shell_via {
#define SHELL_VIA_ENUM(symbol, name) SHELL_VIA_##symbol,
	SHELL_VIA_TABLE(SHELL_VIA_ENUM) /* one a row, in their order */
#undef SHELL_VIA_ENUM
	SHELL_VIA_COUNT
};

/* X(symbol, name, value) */
#define SHELL_FLAG_TABLE(X)                    \
	X(BACKGROUND, "background", 0x01)      \
	X(NEGATED, "negated", 0x02)            \
	X(PIPED_IN, "piped_in", 0x04)          \
	X(PIPED_OUT, "piped_out", 0x08)        \
	X(SUBSTITUTION, "substitution", 0x10)  \
	X(FUNCTION, "function", 0x20)          \
	X(WRAPPER, "wrapper", 0x40)            \
	X(APPENDED, "appended", 0x80)          \
	X(WRITES, "writes", 0x100)             \
	X(DELETES, "deletes", 0x200)           \
	X(REMOTE, "remote", 0x400)             \
	X(TEST, "test", 0x800)
/* SUBSTITUTION: its output becomes part of a word; FUNCTION: in the body of a function; WRAPPER:
 * it runs another command, listed too; APPENDED: gets further arguments when it runs (xargs);
 * WRITES, DELETES: find -fprint, find -delete; TEST: [[ ]], of which nothing is run. */

enum shell_flag {
#define SHELL_FLAG_ENUM(symbol, name, value) SHELL_FLAG_##symbol = value,
	SHELL_FLAG_TABLE(SHELL_FLAG_ENUM) /* one a row, in their order */
#undef SHELL_FLAG_ENUM
};

struct shell_command {
	const struct shell_word *words; /* the name first; none: only assignments or redirections */
	size_t word_count;
	const struct shell_assignment *assignments; /* before the name */
	size_t assignment_count;
	const struct shell_redirect *redirects;
	size_t redirect_count;
	unsigned flags;     /* enum shell_flag */
	enum shell_via via;
	size_t parent;      /* the command that runs it, or SHELL_NONE */
	size_t script;      /* index of the script it stands in */
	size_t offset, length; /* its place there, in bytes */
};

/* A text that a shell reads: the command line is number 0. */
struct shell_script {
	struct span text;
	size_t parent;      /* the command whose string it is, or SHELL_NONE */
	enum shell_via via;
	unsigned depth;     /* 0 for the command line */
};

/* Why the list may be incomplete, a name may mean something else, or bash itself does more.
 * X(symbol, name, sentence) */
#define SHELL_PROBLEM_TABLE(X)                                                                \
	X(SYNTAX, "syntax", "This is not a command that bash would read, or an unusual one.") \
	X(READINGS_DIFFER, "readings_differ", "This can be read in more than one way.")       \
	X(CONTROL, "control_characters", "There are control characters in it.")               \
	X(ENCODING, "encoding", "It is not valid UTF-8.")                                     \
	X(LIMIT, "limit", "It is too long or too deep to be analysed.")                       \
	X(CONTINUATION, "continuation", "A line is continued inside a word or an operator.")  \
	X(DYNAMIC_COMMAND, "dynamic_command", "Which program runs is known only when it runs.") \
	X(DYNAMIC_SCRIPT, "dynamic_script", "A shell runs text that is known only when it runs.") \
	X(DYNAMIC_OPTION, "dynamic_option",                                                   \
	  "Which command is run by this one is known only when it runs.")                     \
	X(UNKNOWN_OPTION, "unknown_option",                                                   \
	  "An option is not known, so what is run by this command may be something else.")    \
	X(STANDARD_INPUT, "standard_input", "A shell reads commands from its input.")         \
	X(SOURCED, "sourced", "A file is read and run as commands.")                          \
	X(ALIAS, "alias", "An alias can change what later words mean.")                       \
	X(FUNCTION, "function", "A function takes the place of a command.")                   \
	X(ENVIRONMENT, "environment",                                                         \
	  "A variable or an option decides what programs run or how.")                         \
	X(BUILTIN, "builtin",                                                                 \
	  "A command of the shell changes what later commands do, or runs text.")             \
	X(ARITHMETIC, "arithmetic", "Arithmetic on a value that may hold a command.")         \
	X(EXPANSION, "expansion", "A value is expanded again, and may contain a command.")   \
	X(REMOTE, "remote", "A command runs on another machine, where names may mean others.") \
	X(DIALECT, "dialect", "A shell other than bash reads this, by its own rules.")   \
	X(COPROCESS, "coprocess", "A coprocess is started.")                                  \
	X(NETWORK, "network",                                                                 \
	  "A redirection opens a network connection, or may when it runs (/dev/tcp).")

enum shell_problem_kind {
#define SHELL_PROBLEM_ENUM(symbol, name, sentence) SHELL_PROBLEM_##symbol,
	SHELL_PROBLEM_TABLE(SHELL_PROBLEM_ENUM) /* one a row, in their order */
#undef SHELL_PROBLEM_ENUM
	SHELL_PROBLEM_COUNT
};

struct shell_problem {
	enum shell_problem_kind kind;
	size_t script;         /* index of the script it is in */
	size_t offset, length; /* where, in bytes; within the script's text */
};

struct shell_analysis {
	const struct shell_script *scripts;
	size_t script_count;
	const struct shell_command *commands; /* those of script 0 in the order of the text, then
	                                       * what is in them */
	size_t command_count;
	const struct shell_redirect *redirects; /* of groups and loops: { …; } > file */
	size_t redirect_count;
	const struct span *functions; /* names defined, in no order */
	size_t function_count;
	const struct shell_problem *problems;
	size_t problem_count;
	bool background; /* something is started with & */
	struct shell_store *store; /* private: owns all of it */
};

/* Analyses a command line as bash -c would read it. `script` may be anything; it is copied, and
 * every span in the result lives until shell_analysis_release. Never fails: `problems` has
 * what cannot be judged. */
void shell_analyse(struct span script, struct shell_analysis *ret);
void shell_analysis_release(struct shell_analysis *analysis);
#define _cleanup_shell_analysis_ __attribute__((cleanup(shell_analysis_release)))

/* What a problem is, as a sentence; never NULL. */
const char *shell_problem_sentence(enum shell_problem_kind kind);

/* All commands, one a line, those inside others indented, then what could not be analysed.
 * Nothing of the command line gets out unescaped: control characters, line ends, and characters
 * that turn or hide text are written as \xHH or \u{H}; runs of blanks between words are one. A
 * known word is quoted again where it needs it, so that two different ones never look the same;
 * one that is not known stands as it was written. */
void shell_summary(const struct shell_analysis *analysis, struct buf *out);

/* Whether the command begins with the words of `prefix`, which is read as a shell reads words
 * ("git 'status'" is git status). Words are compared by value, whole: "git stat" is not a prefix
 * of git status, /tmp/git is not git. False when one of these words of the command is dynamic,
 * when the prefix is empty or dynamic, when assignments stand before the name. */
bool shell_command_matches_prefix(const struct shell_command *command, struct span prefix);

/* Whether the command may get the option: `name` with its dashes ("--output"), `letter` its
 * short form or 0. Counts --name, --name=value and any abbreviation of these ("--outp"), -name for
 * a name of one dash, the letter in a cluster (-xo). True also when a dynamic word may be it or
 * when arguments are appended. Words after "--" do not count. */
bool shell_command_has_option(const struct shell_command *command, const char *name, char letter);

/* Whether the word begins with `name`, an absolute path ("/dev/tcp/"), or may when it runs. */
bool shell_word_may_begin(const struct shell_word *word, const char *name);

/* The name without folders ("/usr/bin/git": "git"); empty when there is none or it is dynamic. */
struct span shell_command_base(const struct shell_command *command);

/* The distinct names of the commands, as written after quote removal ("git", "npm", "./x"), in
 * the order of the list; wrappers and what they run alike, [[ ]] not. Of a dynamic name, its raw
 * text.
 * Returns how many; fills at most `max`. */
size_t shell_roots(const struct shell_analysis *analysis, struct span *names, size_t max);

/* ---- typed words --------------------------------------------------------------------- */

/* A command line of a custom command, with words put in that the user typed: built piece by piece,
 * and run only if the typed words are still words.
 *
 *     struct shell_line line = SHELL_LINE_INIT(LIMIT_MESSAGE_BYTES);
 *
 *     shell_line_text(&line, SPAN("grep -r \""));
 *     shell_line_word(&line, typed);            // $(touch x)
 *     shell_line_text(&line, SPAN("\" src"));
 *     if (shell_line_holds(&line))              // grep -r "$(touch x)" src, as one word
 *             run(buf_view(&line.line));
 *     shell_line_release(&line);
 *
 * A word is put in single quotes; quotes that are open around it are closed before it and reopened
 * after it.  That is right wherever a shell reads words, and wrong in a here-document, in backticks
 * or $(...) within quotes, in a comment, and in text that another shell reads (bash -c, eval, ssh).
 * So the line is analysed twice: as it is, and with a harmless word in place of each typed one.
 * Both must have the same commands with the same words, except those.  If the analysis has a
 * problem, only typed words without special characters are accepted.
 */
struct shell_line {
	struct buf line;  /* to run */
	struct buf plain; /* with a harmless word for each that was typed */
	char quote;       /* that is open at the end of what was written; 0: none */
	bool escaped;     /* a backslash is the last of it */
	bool special;     /* a typed word has characters that mean something to a shell */
};

#define SHELL_LINE_INIT(limit) { .line = BUF_INIT(limit), .plain = BUF_INIT(limit) }

/* Frees both texts. */
void shell_line_release(struct shell_line *line);
#define _cleanup_shell_line_ __attribute__((cleanup(shell_line_release)))

/* Appends what the command's author wrote. */
void shell_line_text(struct shell_line *line, struct span text);
/* Appends one word that was typed, which may be empty. */
void shell_line_word(struct shell_line *line, struct span word);
/* Whether bash reads each typed word as a word or a part of one, and as nothing else. False
 * also if the line is too long for the limit. */
bool shell_line_holds(const struct shell_line *line);

#endif
