/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files that begin with "programs": the table, and reading a call by it. */
#ifndef HASP_SHELL_JUDGE_H
#define HASP_SHELL_JUDGE_H

#include "shell/programs.h"

/* Marks after an option, after ":" (takes a value) or "?" (may have one attached):
 * >  writes a file;  !  runs a program;  #  deletes;  %  takes commands from a file;
 * @  does something else that is more than reading;  =  the value is the program's script. */
#define PROGRAM_MARKS ">!#%@="

enum program_trait {
	PROGRAM_READER = 1,   /* all that it does without marked options is to read and print */
	PROGRAM_ANY = 2,      /* no option and no operand does more */
	PROGRAM_ORDERED = 4,  /* options end at the first operand */
	PROGRAM_DIGITS = 8,   /* -5 is an option */
	PROGRAM_NO = 16,      /* --no-NAME takes NAME back */
	PROGRAM_ONE_DASH = 32, /* -name is a long option */
	PROGRAM_APART = 64,   /* values are their own words, also of letters in a cluster (tree) */
	PROGRAM_LONE = 128,   /* letters do not form clusters (xxd) */
	PROGRAM_OUTPUT = 256, /* the operand after those that it reads is written (uniq) */
	PROGRAM_PLUS = 512,   /* +COMMAND is run as the program's own command (vim) */
};

struct judging;

struct judged_program {
	char name[20];
	char verb[16];        /* git's: the command; else "" */
	const char *letters;  /* "bf:i?>": as getopt's, with marks */
	const char *longs;    /* "reverse key: output:>": without dashes, with marks */
	unsigned traits;      /* enum program_trait */
	unsigned operands;    /* only reads with at most so many */
	void (*judge)(struct judging *j); /* instead of the common reading; or NULL */
	const char *source;   /* where the options are described */
};
#define PROGRAM_MANY 255

/* One call. */
struct judging {
	const struct shell_command *command;
	const struct judged_program *row;
	size_t from;        /* words before it do not count */
	bool unsure;        /* something that the table does not have, or that is not known */
	bool found;
	struct program_excess *excess;
};

/* ---- what is found --------------------------------------------------------------------- */

/* `what`: "option -o", "command w"; `value`: the file or program, or NULL. */
void judge_note_effect(struct judging *j, enum program_effect effect, size_t word, const char *what,
                       const struct shell_word *value);
/* A word that is known only when it runs may be an option, or a script. */
void judge_note_unknown(struct judging *j, size_t word, const char *what);

/* ---- the words of a call -------------------------------------------------------------- */

enum argument_kind { ARGUMENT_END, ARGUMENT_OPTION, ARGUMENT_OPERAND };

struct arguments {
	struct judging *j;
	size_t at;          /* the word that is read next */
	size_t in_word;     /* in it, the letter of a cluster; or 0 */
	bool ended;         /* -- was met */
	/* what was found: */
	size_t word;        /* its index */
	char letter;        /* of a short option; or 0 */
	char name[40];      /* of a long one, in full; or "" */
	char mark;          /* one of PROGRAM_MARKS, or 0 */
	bool has_value;
	struct shell_word value;
	size_t value_word;
};

/* Begins at word `at` of the command. */
void judge_arguments_begin(struct arguments *arguments, struct judging *j, size_t at);
/* Reports marked options by itself, but those marked "=". */
enum argument_kind judge_arguments_next(struct arguments *arguments);

/* The common reading: every option and operand by the row, without a special judge. */
void judge_common(struct judging *j);

/* Whether the word can be no option: known, or known to begin with something else than a dash. */
bool judge_is_operand(const struct shell_command *command, const struct shell_word *word);

/* ---- programs with a special judge ------------------------------------------------------ */

/* What the table's rows judge with: scripts, operands and options of one program each. */
void judge_sed(struct judging *j);
void judge_awk(struct judging *j);
void judge_find(struct judging *j);
void judge_date(struct judging *j);
void judge_sqlite(struct judging *j);
void judge_psql(struct judging *j);
void judge_curl(struct judging *j);
void judge_tar(struct judging *j);
void judge_command(struct judging *j);
void judge_env(struct judging *j);
void judge_read(struct judging *j);
void judge_set(struct judging *j);
void judge_test(struct judging *j);

#endif
