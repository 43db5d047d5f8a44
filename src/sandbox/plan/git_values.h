/* SPDX-License-Identifier: Apache-2.0 */
/* Which values of git's configuration name a file that git runs or obeys, and which words of them
 * may be its path.  Pure functions of text that allocate nothing: the process that reads strangers'
 * files (read.c) calls them.
 *
 *     const struct git_value *row = git_value_find(&item);
 *     if (row)
 *             git_value_words(row, git_value_text(row, &item), each, data);
 *
 * To add a key: a row in git_values.c, with what git does with it.
 *
 * Words of a command are found without parsing it as a shell would: it is split at blanks and at
 * the shell's operators, once with quotes heeded and once with quotes as separators, so that the
 * text of `sh -c '...'` is found too.  $HOME is "~"; $PWD, $(pwd) and $(git rev-parse
 * --show-toplevel) are "."; what any other expansion yields is not known and reported as
 * GIT_WORD_UNKNOWN.  Too many words are better than too few: one that is no path protects nothing.
 * Without a slash a word counts where an interpreter expects its script, and elsewhere if it has an
 * ending ("clean.sh"): "make test" and "vim build" name nothing.  A task ("npm run clean") and a
 * module (-m) are unknown.
 *
 * Not here: what a word leads to (config.c), what a script calls in turn (docs/attacks.md).
 */
#ifndef HASP_SANDBOX_PLAN_GIT_VALUES_H
#define HASP_SANDBOX_PLAN_GIT_VALUES_H

#include "data/git_config.h"

enum git_use {
	GIT_USE_COMMAND, /* a command line, or the path of a program */
	GIT_USE_ALIAS,   /* a command line if it begins with "!" or with git's own options */
	GIT_USE_UPDATE,  /* a command line if it begins with "!" */
	GIT_USE_URL,     /* a command line behind "ext::" */
	GIT_USE_FILE,    /* the path of a file or folder that git obeys */
	GIT_USE_HOOKS,   /* the path of a folder of hooks */
	GIT_USE_INCLUDE, /* the path of another configuration file */
};

struct git_value {
	const char *section;
	const char *names; /* separated by blanks; "*": any */
	bool named;        /* may stand in [section "name"] */
	enum git_use use;
	const char *why;   /* a phrase for people: the key, and what git does with it */
};

/* How a word is used; the characters are the notation of read.c. */
enum git_word {
	GIT_WORD_RUN = 'x',      /* the path of a program */
	GIT_WORD_SCRIPT = 's',   /* what an interpreter runs: also a name without a slash */
	GIT_WORD_ARGUMENT = 'a', /* another word with a slash or an ending */
	GIT_WORD_FILE = 'f',     /* a path that git opens */
	GIT_WORD_HOOKS = 'h',
	GIT_WORD_INCLUDE = 'i',
	GIT_WORD_UNKNOWN = '?',  /* may be a path, but not known which */
};

/* The row for a variable; NULL: git runs nothing that it names. */
const struct git_value *git_value_find(const struct git_config_item *item);
/* The text of a variable that its row is about: the value, but of url.TEXT.insteadOf TEXT. */
struct span git_value_text(const struct git_value *row, const struct git_config_item *item);
/* Rows by number, for those that hand them from one process to another. */
size_t git_value_number(const struct git_value *row);
const struct git_value *git_value_at(size_t number); /* NULL: there is none */

/* Words are borrowed for the call.  They have no control characters, begin with "/", "~/" or are
 * relative, and are shorter than LIMIT_PATH_BYTES. */
typedef void git_each_word(void *data, enum git_word kind, struct span word);
void git_value_words(const struct git_value *row, struct span value, git_each_word *each,
                     void *data);
/* The same of a command line that is none of git's (a hook's): RUN, SCRIPT, ARGUMENT and UNKNOWN.
 * Left out is what a command only writes, makes, removes or prints: the word behind ">", arguments
 * of `touch`, `tee`, `echo` and the like; and quoted text is a command only if it has blanks or
 * operators. */
void git_value_command_words(struct span command, git_each_word *each, void *data);

#endif
