/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the table of commands that run other commands.
 *
 * To add one: a row in wrappers.c with its options as its manual lists them, a row in
 * option_rows for each that does more than change how the command runs, and a row in
 * test/shell/test_analysis.py.  An option that a row does not list is a problem in the analysis
 * (UNKNOWN_OPTION), since it may take the next word.
 */
#ifndef HASP_SHELL_WRAPPERS_H
#define HASP_SHELL_WRAPPERS_H

#include <stdbool.h>

#include "base/span.h"

/* What follows the options and the skipped operands. */
enum wrapper_rest {
	REST_COMMAND,  /* a command and its arguments */
	REST_JOINED,   /* words that are joined to a script (eval, watch) */
	REST_SHELL,    /* sh: a script with -c, else a file or the input */
	REST_SCRIPT_C, /* a script as the value of -c (script -c; su -c) */
	REST_FLOCK,    /* -c SCRIPT behind the file, or a command */
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
	TRAIT_PERMUTES = 32,    /* options may stand behind operands (su, script) */
	TRAIT_NUMBER = 64,      /* the skipped operand is a number, if it is there */
	TRAIT_PLUS = 128,       /* +o and the like are options too */
	TRAIT_OWN_SHELL = 256,  /* without a command it runs a shell, which reads its input */
	TRAIT_KEYWORD = 1024,   /* a part of bash, with -p alone, unless it is called by its path */
	TRAIT_JOINED_S = 512,   /* with -s or -i the words are joined to a script (sudo) */
	TRAIT_PLACE = 2048,     /* names mean other programs for what it runs (chroot) */
};

struct wrapper {
	char name[24];
	char letters[72];    /* as getopt's: : takes a value, ? may have one attached */
	const char *longs;   /* names with a blank between; : and ? as above */
	enum wrapper_rest rest;
	unsigned skip;       /* operands before the command */
	unsigned traits;     /* enum wrapper_trait */
};

/* By the base name; NULL when it is not in the table. */
const struct wrapper *wrapper_find(struct span base);

/* What an option of a wrapper does beside being read. */
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
const struct option_row *option_row_at(const struct wrapper *wrapper, char letter,
                                       struct span name, size_t i);

/* Modes of a shell (set -o) that change nothing of how it reads commands. */
bool is_harmless_mode(struct span name);

/* An option whose value is run. */
struct running_option {
	char program[8];
	char name[24];   /* "--pre", "-e" */
	char begins[20]; /* what the value must begin with, which is taken off; or "" */
};

/* Row number `i` for the program, counted from 0; NULL when there are no more. The value is a
 * script. */
const struct running_option *running_option_at(struct span base, size_t i);

/* Whether a git configuration key names something that git runs, or a place of such things. */
enum git_key {
	GIT_KEY_HARMLESS,
	GIT_KEY_SCRIPT, /* its value is run */
	GIT_KEY_ALIAS,  /* run when it begins with !, else words for git */
	GIT_KEY_PLACE,  /* says where more configuration or programs are */
};
enum git_key git_key_kind(struct span key);

#endif
