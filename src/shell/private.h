/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of an analysis share: names, the store, words, values, options, tables. */
#ifndef HASP_SHELL_PRIVATE_H
#define HASP_SHELL_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "shell/analysis.h"
#include "shell/reading.h"

/* ---- names ------------------------------------------------------------------------ */

/* Characters of variables' names. */
static inline bool is_name_start(int c)
{
	return ascii_is_letter(c) || c == '_';
}

static inline bool shell_is_name(int c)
{
	return is_name_start(c) || ascii_is_digit(c);
}

/* Where the character is, or NULL. */
static inline const char *span_find(struct span text, char c)
{
	return text.len ? memchr(text.data, c, text.len) : NULL;
}

/* Whether the list has the name. An empty name is in no list.
 *
 * A list is one string with blanks between ("PATH LD_* ENV"); a * at the end of a name stands for
 * any rest. Such a list needs no relocation when the program starts, as an array of pointers
 * would. */
static inline bool name_in(struct span name, const char *list)
{
	while (*list) {
		struct span row = span_of(list, strcspn(list, " "));

		list += row.len + (list[row.len] == ' ');
		if (span_ends(row, SPAN("*")) && span_starts(name, span_head(row, row.len - 1)))
			return name.len > 0;
		if (row.len > 0 && span_eq(row, name))
			return true;
	}
	return false;
}

/* Makes room for one more in an array: SHELL_GROW(out, word, words) for the three members
 * word_count, word_cap and words. */
#define SHELL_GROW(owner, name, names)                                                         \
	do {                                                                                   \
		if ((owner)->name##_count == (owner)->name##_cap)                              \
			(owner)->names = mem_grow((owner)->names, &(owner)->name##_cap,        \
			                          (owner)->name##_count + 1,                   \
			                          sizeof(*(owner)->names));                    \
	} while (0)

/* ---- the store -------------------------------------------------------------------- */

/* An analysis while it is made, and its memory. */
/* A variable that gets a value, or that arithmetic reads, somewhere in the analysis. */
struct stored_name {
	struct span name;
	bool safe;  /* a number for certain */
	bool array; /* of values: all of an array, or an element */
	size_t script, offset;
};

struct stored_names {
	struct stored_name *items;
	size_t count, cap;
};

/* Of scripts, in addition to enum shell_flag: the shell that reads it may be dash. */
#define STORE_POSIX_SCRIPT 0x40000000u

struct shell_chunk;

struct shell_store {
	struct shell_chunk *chunks; /* memory that is freed together */
	struct shell_script *scripts;
	struct shell_command *commands;
	struct shell_redirect *redirects;
	struct span *functions;
	struct shell_problem *problems;
	size_t script_count, command_count, redirect_count, function_count, problem_count;
	size_t script_cap, command_cap, redirect_cap, function_cap, problem_cap;
	unsigned *script_flags;      /* of scripts: what their commands inherit */
	size_t script_flags_cap;
	struct stored_names values, numbers;
	struct stored_names scalars; /* declare x=$y: no harm unless x is an array */
	struct tree_parser *parser;
	uint64_t parse_budget_us;
	size_t all_bytes;            /* of scripts */
	size_t word_count;           /* of commands, after brace expansion */
	size_t work;                 /* bytes of all commands as they stand and of their words */
	bool background;
};

/* Memory that lives as long as the store; zeroed. */
void *store_alloc(struct shell_store *store, size_t count, size_t size);
struct span store_copy(struct shell_store *store, struct span text);

/* In a script, at a part of its text. */
void store_problem(struct shell_store *store, enum shell_problem_kind kind, size_t script,
                   size_t offset, size_t length);
/* At a command. */
void store_command_problem(struct shell_store *store, enum shell_problem_kind kind,
                           size_t command);

/* Adds a script that `parent` runs; the text is copied. Its commands inherit `flags`. */
void store_script(struct shell_store *store, struct span text, size_t parent,
                  enum shell_via via, unsigned flags);
/* Adds a command that `parent` runs: some of its words, which are borrowed. */
void store_child(struct shell_store *store, const struct shell_word *words, size_t count,
                 size_t parent, enum shell_via via, unsigned flags);
/* Counts a command's text and words; false, and a problem, when the analysis has done enough. */
bool store_spend(struct shell_store *store, const struct shell_command *command);

/* Adds one; its name is borrowed. */
void store_name(struct stored_names *names, struct stored_name name);

/* Finds what a command runs, and adds it. */
void unwrap_command(struct shell_store *store, size_t command);

/* One command whose parts are looked at. */
struct unwrapping {
	struct shell_store *store;
	size_t command;
	const struct shell_word *words; /* its own; the array of commands moves, this does not */
	size_t count;
	bool appended;                  /* xargs puts more after them */
	const struct shell_wrapper *wrapper;
};

/* The word without its first `count` bytes. */
struct shell_word unwrapping_word_behind(const struct shell_word *word, size_t count);
/* Whether word `i` is there, says this, and is not dynamic. */
bool unwrapping_word_is(const struct unwrapping *u, size_t i, const char *text);
/* Adds a problem of the whole command. */
void unwrapping_problem(struct unwrapping *u, enum shell_problem_kind kind);
/* Words [from, to) are a command. */
void unwrapping_child(struct unwrapping *u, size_t from, size_t to, enum shell_via via);
/* The word is a script; a dynamic one is a problem. */
void unwrapping_script(struct unwrapping *u, const struct shell_word *word, enum shell_via via,
                   unsigned flags);
/* Words [from, to) with blanks between are a script. */
void unwrapping_joined(struct unwrapping *u, size_t from, size_t to, enum shell_via via,
                   unsigned flags);
/* Whether a word may turn out to be an option, or to have one in it. */
bool unwrapping_may_be_option(const struct shell_word *word);
/* What git runs by its own ways (unwrap_git.c). */
void unwrap_git(struct unwrapping *u);

/* Adds the problems of a command that is part of the shell, and of variables that it sets. */
void hazard_check(struct shell_store *store, size_t command);
/* Notes that a command gives the variable a value; a problem when that decides which programs run.
 * `value` NULL: one that is not known. `certain`: it is a number. */
void hazard_value(struct shell_store *store, size_t command, struct span name,
                  const struct shell_word *value, bool certain);
/* What can be judged when all is read: arithmetic, functions in the place of commands. */
void hazard_finish(struct shell_store *store);

/* ---- the second reading, tree-sitter-bash's ---- */

/* Its grammar follows bash less closely than reading.h's rules in many small things ([ a || b ],
 * <<EOF;b, a \ b), and more closely in how constructs nest; nothing is taken from it but where
 * commands begin and words end, to compare.
 */

struct tree_parser; /* loaded tables and a parser */

/* NULL when the library does not take the grammar's tables. */
struct tree_parser *tree_parser_new(void);
void tree_parser_free(struct tree_parser *parser);

/* Parses reading->text and adds to its problems: SYNTAX where the grammar does not fit,
 * READINGS_DIFFER where a command begins or a word ends in one of the two only, LIMIT when
 * *budget_us, from which the time is taken, is used up, or when the text is longer than the
 * library can bear: versions up to 0.22 write past memory when a node has 65,536 children.
 * Heredocs in which nothing is expanded are cut out of texts that are too long, or have lines
 * that are. */
void tree_compare(struct tree_parser *parser, struct shell_reading *reading, uint64_t *budget_us);

/* ---- words ------------------------------------------------------------------------ */

/* The values of words, after brace expansion and quote removal (bash
 * manual 3.5.1 and 3.5.9, quoting 3.1.2). */

struct word_reading {
	struct buf text; /* quotes taken away, what is unknown left as written */
	size_t known;    /* of its bytes, those before the first unknown: the value */
	unsigned dynamic;
	bool splits;
	bool quoted;     /* a part of it is quoted */
	bool ansi;       /* has $'…' or $"…" */
};

/* Reads one word, without brace expansion. In `assignment`s a ~ counts after each : too. */
void word_read(const struct shell_reading *reading, struct text_place at, bool assignment,
               struct word_reading *ret);
void word_release(struct word_reading *word);

/* A word of raw text in which there is no $ that means anything (one that word_expand_braces
 * made). */
void word_read_plain(struct span raw, struct word_reading *ret);

/* Whether there is anything unknown in [at]. */
bool word_has_pieces(const struct shell_reading *reading, struct text_place at);

/* What a braced word becomes. */
enum braces_outcome {
	BRACES_NONE,    /* it stays as it is */
	BRACES_WORDS,   /* the words, in *ret_words: raw, each followed by a NUL */
	BRACES_UNCLEAR, /* too many, or a case that shells see differently */
};

/* `raw` holds no substitutions and no NUL. */
enum braces_outcome word_expand_braces(struct span raw, struct buf *ret_words, size_t *ret_count);

/* ---- numbers ---------------------------------------------------------------------- */

/* Which text of a script is a number for certain when it runs.
 *
 * Arithmetic evaluates the value of a variable, and the values of variables in it, so a value of
 * a[$(touch M)] runs touch.  What is not known to be a number here is a problem there. */

/* The length of the expansion that `text` begins with, from its $ on, if its result is nothing
 * but digits, blanks and a sign; else 0. Knows $#, $?, $$, $!, ${#x}, $((…)), and substitutions of
 * commands that print numbers alone: $(date +%s), $(nproc), $(… | wc -l). */
size_t shell_number_expansion(struct span text);

/* Whether a value, as it is written, is a number or empty. */
bool shell_number_is_certain(struct span raw);

/* The same of a word after "for NAME in", which may also be a range: {1..9}. */
bool shell_number_is_certain_item(struct span raw);

/* ---- variables -------------------------------------------------------------------- */

/* The table of variables that mean something to bash or to programs.
 *
 * To add one: a row in values.c, and, if bash itself reads or sets it, a line in
 * test/shell/hostile.py, which a test runs in a real bash.
 */

enum variable_trait {
	VARIABLE_RUNS = 1,      /* decides which programs run, or what they run */
	VARIABLE_EVALUATES = 2, /* what is assigned to it is evaluated as arithmetic */
	VARIABLE_NUMBER = 4,    /* a number for certain, unless it is assigned to */
	VARIABLE_SHELL = 8,     /* the shell sets it: no assignment says what it holds */
	VARIABLE_PATH = 16,     /* an absolute path for certain, unless it is assigned to */
};

/* The traits (enum variable_trait) of a name; 0 when it is in no row. */
unsigned shell_variable_traits(struct span name);

/* Whether setting the variable to the value decides which programs run or what they do. `value`
 * NULL: a value that is not known. */
bool shell_variable_decides(struct span name, const struct shell_word *value);

/* ---- options ---------------------------------------------------------------------- */

/* Reads a wrapper's options as getopt_long(3) would.
 *
 *     struct options options;
 *     wrapper_options_begin(&options, words, count, wrapper);
 *     while (wrapper_options_next(&options)) ...
 *     // options.at is the first operand
 */

struct options {
	const struct shell_word *words;
	size_t count;
	const struct shell_wrapper *wrapper;
	size_t at;            /* the word that is read next */
	size_t in_word;       /* in it, the letter of a cluster, or 0 */
	unsigned pending;     /* values that the cluster's letters take from the next words */
	/* the option that was found: */
	char letter;          /* or 0 for a long one */
	struct span name;     /* of a long one, in full */
	bool has_value;
	struct shell_word value;
	/* what was met on the way: */
	bool unknown;         /* an option that the table does not have */
	bool dynamic;         /* a word that may be an option, or several words */
	bool ended;           /* -- was met */
};

/* The words and the wrapper are borrowed; word 0 is the command's name. */
void wrapper_options_begin(struct options *options, const struct shell_word *words, size_t count,
                           const struct shell_wrapper *wrapper);
/* False at the first operand or the end. */
bool wrapper_options_next(struct options *options);

/* Whether the option that was found is this one. */
static inline bool option_is(const struct options *options, char letter, const char *name)
{
	return (letter && options->letter == letter) ||
	       (name && options->name.len > 0 && span_eq(options->name, span_str(name)));
}

/* ---- wrappers --------------------------------------------------------------------- */

/* The table of commands that run other commands.
 *
 * To add one: a row in wrappers.c with its options as its manual lists them, a row in
 * option_rows for each that does more than change how the command runs, and a row in
 * test/shell/test_analysis.py.  An option that a row does not list is a problem in the analysis
 * (UNKNOWN_OPTION), since it may take the next word.
 */

/* What follows the options and the skipped operands. */
enum wrapper_rest {
	REST_COMMAND,  /* a command and its arguments */
	REST_JOINED,   /* words that are joined to a script (eval, watch) */
	REST_SHELL,    /* sh: a script with -c, else a file or the input */
	REST_SCRIPT_C, /* a script as the value of -c (script -c; su -c) */
	REST_FLOCK,    /* -c SCRIPT after the file, or a command */
	REST_REMOTE,   /* joined to a script for another machine */
	REST_TRAP,     /* a script, then signals */
	REST_FIND,
	REST_XARGS,
	REST_PARALLEL, /* a command up to ::: */
	REST_COUNT
};

/* What is special in the options. */
enum wrapper_trait {
	TRAIT_ASSIGNMENTS = 1,  /* NAME=VALUE before the command */
	TRAIT_DIGITS = 2,       /* -5 is an option */
	TRAIT_SPLIT = 4,        /* -S: a text that is split into words (env) */
	TRAIT_NO_RUN = 8,       /* with -v or -V, nothing is run (command) */
	TRAIT_EXEC = 16,        /* a script for sh; with -x, a command instead (watch) */
	TRAIT_PERMUTES = 32,    /* options may stand after operands (su, script) */
	TRAIT_NUMBER = 64,      /* the skipped operand is a number, if it is there */
	TRAIT_PLUS = 128,       /* +o and the like are options too */
	TRAIT_OWN_SHELL = 256,  /* without a command it runs a shell, which reads its input */
	TRAIT_KEYWORD = 1024,   /* a part of bash, with -p alone, unless it is called by its path */
	TRAIT_JOINED_S = 512,   /* with -s or -i the words are joined to a script (sudo) */
	TRAIT_PLACE = 2048,     /* names mean other programs for what it runs (chroot) */
};

struct shell_wrapper {
	char name[24];
	char letters[72];    /* as getopt's: : takes a value, ? may have one attached */
	const char *longs;   /* names with a blank between; : and ? as above */
	enum wrapper_rest rest;
	unsigned skip;       /* operands before the command */
	unsigned traits;     /* enum wrapper_trait */
};

/* By the base name; NULL when it is not in the table. */
const struct shell_wrapper *wrapper_find(struct span base);

/* What an option of a wrapper does in addition to being read. */
enum option_effect {
	EFFECT_SOURCED,  /* files are read as commands (bash -l) */
	EFFECT_READING,  /* the shell reads commands otherwise (bash -k, +B) */
	EFFECT_MODE,     /* the value of bash -o: harmless, or as above */
	EFFECT_PLACE,    /* names mean other programs (sudo --chroot) */
	EFFECT_VARIABLE, /* its value is NAME or NAME=VALUE, which is set (strace -E) */
	EFFECT_PROGRAM,  /* its value is a script (su -s) */
	EFFECT_PIPED,    /* the same, if it begins with | or ! (strace -o) */
};

struct option_row {
	char wrapper[20]; /* "sh" stands for all shells */
	char letter;      /* or 0 */
	char name[20];    /* or "" */
	enum option_effect effect;
};

/* Row number `i` for the option, counted from 0; NULL when there are no more. `name` may be
 * empty, `letter` 0. */
const struct option_row *wrapper_option_at(const struct shell_wrapper *wrapper, char letter,
                                           struct span name, size_t i);

/* Modes of a shell (set -o) that change nothing of how it reads commands. */
bool wrapper_is_harmless_mode(struct span name);

/* An option whose value is run. */
struct running_option {
	char program[8];
	char name[24];   /* "--pre", "-e" */
	char prefix[20]; /* what the value must begin with, which is taken off; or "" */
};

/* Row number `i` for the program, counted from 0; NULL when there are no more. The value is a
 * script. */
const struct running_option *wrapper_running_option_at(struct span base, size_t i);

/* Whether a git configuration key names something that git runs, or a place of such things. */
enum git_key {
	GIT_KEY_HARMLESS,
	GIT_KEY_SCRIPT, /* its value is run */
	GIT_KEY_ALIAS,  /* run when it begins with !, else words for git */
	GIT_KEY_PLACE,  /* says where more configuration or programs are */
};
/* What setting the key does. */
enum git_key wrapper_git_key_kind(struct span key);

#endif
