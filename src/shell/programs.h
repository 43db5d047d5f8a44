/* SPDX-License-Identifier: Apache-2.0 */
/* What a program's own options and scripts do: sed's w writes a file, find's -delete deletes, git's
 * --ext-diff runs a program.
 *
 *     if (program_reads(&command)) ...                 // it can do nothing but read and print
 *     struct program_excess excess;
 *     if (program_exceeds(&command, 1, &excess)) ...   // more than the program is there for
 *
 * The two questions are different.  program_reads is for what may run unasked: it is true when the
 * table has the program, every option of the call, and none of them writes or runs anything; a word
 * that is known only when it runs counts as an option wherever one could stand.  program_exceeds
 * is for calls that a user has allowed by their first words ("sed"): allowing a program allows its
 * purpose (make runs things, cp writes), but not what an option makes of it.
 *
 * The options are read as the program reads them: getopt_long(3) with clusters and abbreviations,
 * git's --no-, find's expression; the scripts of sed and awk are parsed.
 *
 * To add a program: a row in programs_table.c with its options as its manual lists them, calls of
 * it in test/policy/test_programs.c, and its name in test/policy/program_calls.py.
 *
 * Not here: programs that run the command after their options (wrappers.c), variables
 * before the name, redirections.
 */
#ifndef HASP_SHELL_PROGRAMS_H
#define HASP_SHELL_PROGRAMS_H

#include "shell/analysis.h"

enum program_effect {
	PROGRAM_WRITES = 1, /* creates or changes a file that the call names */
	PROGRAM_DELETES,
	PROGRAM_RUNS,       /* runs a program, or takes commands from a file */
	PROGRAM_CONNECTS,   /* opens a network connection */
	PROGRAM_UNKNOWN,    /* a word that is known only when it runs may be such an option */
};

struct program_excess {
	enum program_effect effect;
	size_t word;        /* its index; of what xargs appends, word_count */
	char sentence[192]; /* "sed's command w writes M." Printable ASCII alone */
};

/* Whether the call only reads and prints, whatever its operands are.  Looks at the name without its
 * folder, and at nothing but the words. */
bool program_reads(const struct shell_command *command);

/* Whether the call does more than its program's purpose.  Words before `from` are those
 * that the user has allowed: they do not count.  Fills in the strongest (RUNS,
 * CONNECTS, DELETES, UNKNOWN, then WRITES), of equals the first. */
bool program_exceeds(const struct shell_command *command, size_t from, struct program_excess *ret);

/* git's -C, of which there may be several: calls `judge` with each folder until it returns false;
 * false then.  Also false when --git-dir or --work-tree name another repository. */
bool program_git_folders(const struct shell_command *command,
                         bool (*judge)(void *data, const struct shell_word *folder), void *data);

#endif
