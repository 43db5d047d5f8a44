/* SPDX-License-Identifier: Apache-2.0 */
/* A plan while it is being made: between plan.c, draft.c, plan_names.c, git.c, config.c,
 * view.c and read.c.
 *
 * Rules are noted in any order, several for one path.  draft_settle sorts them and keeps, for each
 * path, the strongest; among equally strong ones the strictest.
 */
#ifndef HASP_SANDBOX_PLAN_PRIVATE_H
#define HASP_SANDBOX_PLAN_PRIVATE_H

#include <sys/types.h>

#include "sandbox/plan/names.h"
#include "sandbox/plan/location.h"
#include "sandbox/plan/plan.h"

struct git_value; /* git_values.h */

/* Whose word a rule is. */
enum draft_strength {
	DRAFT_PIN,    /* a folder that keeps its name, or stays visible, by being a mount */
	DRAFT_TABLE,  /* names.c */
	DRAFT_ROOT,   /* roots, the session's own folders */
	DRAFT_OPTION, /* --write, --read */
	DRAFT_DENY,   /* --deny */
};

struct draft_rule {
	struct sandbox_rule rule; /* owned */
	enum draft_strength strength;
};

/* What git's files say, and the process that reads them if nothing is assumed (read.c); it is
 * not there until it is asked. */
struct plan_reader {
	struct sandbox_pointer *pointers; /* owned; all that was asked, and the answers */
	size_t count, cap;
	bool failed;    /* nothing it said counts: there must be no plan */
	struct err err; /* why */
	pid_t pid;      /* 0: not started */
	int socket;     /* owned, if it is started */
};

/* What describes files (a .git), and the folder with these files. */
struct draft_tree {
	char *git;  /* owned; canonical */
	char *tree; /* owned; canonical */
	char *own;  /* owned; of a linked worktree: its part of the repository; NULL: it is none */
};

struct plan_draft {
	const struct sandbox_options *options;
	const struct sandbox_plan *plan; /* borrowed: its roots, and what is given */
	struct plan_reader reader;
	char *globals;                 /* owned; what git's configuration of the machine and of the
	                                * user names, in the notation of read.c; NULL: nothing */
	char **unjudged;               /* owned */
	size_t unjudged_count, unjudged_cap;
	struct draft_rule *rules;      /* owned */
	size_t rule_count, rule_cap;
	struct sandbox_absent *absent; /* owned */
	size_t absent_count, absent_cap;
	char **writable;               /* owned; the canonical paths that are writable as wholes */
	size_t writable_count, writable_cap;
	char **lifted;                 /* owned; missing paths named by --write */
	size_t lifted_count, lifted_cap;
	struct draft_tree *trees;      /* owned */
	size_t tree_count, tree_cap;
	size_t git_folders;            /* looked into so far */
	size_t named;                  /* words of git's configuration, so far */
	size_t named_by;               /* pointers that were read when the last word was noted */
	bool too_many_named;           /* words, more than LIMIT_SANDBOX_RULES */
	bool too_many;                 /* LIMIT_SANDBOX_RULES was reached */
};

/* ---- the draft (draft.c) ---- */

/* Notes a rule.  Takes over `path`; `why` is borrowed for ever, or NULL. */
void draft_rule(struct plan_draft *draft, char *path, bool folder, enum sandbox_access access,
                enum sandbox_reason reason, enum draft_strength strength, const char *why);
/* Where a folder on the way along `path` may not be searched, and commands could change its mode:
 * notes it as `like`, whose path is not used, because its contents cannot be looked up. */
void draft_closed(struct plan_draft *draft, const char *start, const char *path,
                  const struct sandbox_rule *like, enum draft_strength strength);
/* Notes a name that must not come into being.  Takes over `path`. */
void draft_absent(struct plan_draft *draft, char *path, enum sandbox_reason reason,
                  const char *why);
/* A rule of strength ROOT or OPTION for writing, beneath which protected names are looked for. */
void draft_writable(struct plan_draft *draft, const struct location *place,
                    enum sandbox_reason reason, enum draft_strength strength);
/* Whether something could be made there, were nothing protected. */
bool draft_in_writable(const struct plan_draft *draft, const char *path);
/* Sorts the rules by path and keeps one for each: the strongest, then the strictest. */
void draft_settle(struct plan_draft *draft);
/* After draft_settle: the rule that decides about `path`; NULL if none. */
const struct draft_rule *draft_decide(const struct plan_draft *draft, const char *path);
/* Adds what keeps the folders above protected paths in their places, and settles.
 * A folder above a protected path could be renamed, and another put in its place; a folder that is
 * a mount cannot. */
void draft_pin(struct plan_draft *draft);
/* Takes out rules that say what the rule above them says, and absent names that could not come
 * into being. */
void draft_prune(struct plan_draft *draft);
void draft_release(struct plan_draft *draft); /* frees what it holds, not the draft itself */

/* ---- what is noted in it ---- */

/* plan_names.c: notes the rows of a table that are there, or must not come to be there. */
void plan_names(struct plan_draft *draft, const char *base, struct sandbox_names names);
/* The credential stores of a canonical home folder, of the machine, and where variables of the
 * environment say that they are (`home` may be NULL). */
void plan_home(struct plan_draft *draft, const char *home);
void plan_system(struct plan_draft *draft);
void plan_variables(struct plan_draft *draft, const char *home);

/* homes.c: the same of other home folders in the canonical folder `root`, and of what could be one:
 * it and those above it. `home`: the user's own; may be NULL. */
void plan_other_homes(struct plan_draft *draft, const char *root, const char *home);

/* homes.c: protects hidden entries of writable home folders (names_is_hidden_entry) by noting
 * "HOME/.*" among the absent names. */
void plan_writable_homes(struct plan_draft *draft);
/* plan_keep.c: rules for options->keep, ->ask and ->voted. */
void plan_keep(struct plan_draft *draft);
/* Whether options->keep has the path, or one above it, or ->voted unless it was permitted for this
 * command: --write does not lift that. */
bool plan_keeps(const struct plan_draft *draft, const char *given, bool permitted);

/* plan_names.c: after draft_settle, hides what is hidden wherever else it is mounted. */
void plan_twins(struct plan_draft *draft);

/* read.c: the first line of a small regular file (no symlink), without its end; core.worktree
 * of a configuration; what a configuration and all it includes names, a line each:
 *
 *     line = kind number " " word    enum git_word, git_value_number, a word: absolute or relative
 *          | "?" number " " text     what is not known
 *          | "!"                     the file cannot be read, or not to its end
 *
 * Absolute words are left out that do not lead into the roots; those of hooks are not, because the
 * folder may hold links.  NULL: there is none, it is longer than a path, or reader.failed.  The
 * caller frees. */
char *plan_read(struct plan_draft *draft, enum sandbox_pointer_kind kind, const char *path);
/* The same notation for the text of one value that is no stranger's; NULL: nothing. */
char *plan_read_value(struct plan_draft *draft, const struct git_value *row, struct span text);
/* $HOME, or what the options say; NULL: there is none. */
const char *plan_home_text(const struct plan_draft *draft);
void plan_reader_release(struct plan_reader *reader);

/* config.c: notes what git's configuration names.  First of all what counts everywhere: the
 * configuration of the machine, of the user and of the environment. */
void plan_config_globals(struct plan_draft *draft);
/* What counts in `top`, a folder where git is or may be used: the above, and if `git_folder` is not
 * NULL its config, config.worktree and links among its hooks. */
void plan_config(struct plan_draft *draft, const char *git_folder, const char *top);

/* git.c: what is there of git in and around a writable folder. `root`: it is a workspace root,
 * whose worktree may write to its repository elsewhere. */
void plan_git(struct plan_draft *draft, const char *folder, bool root);

/* ---- what commands see (view.c) ---- */

/* Notes that `git` describes the files in `tree` (NULL: nothing is noted); `own` as in draft_tree,
 * or NULL. */
void plan_describes(struct plan_draft *draft, const char *git, const char *tree, const char *own);
/* Where commands of this plan see another folder than the machine's: that which the canonical
 * `path` is in, a static text; NULL: in none. */
const char *plan_cover(const struct plan_draft *draft, const char *path);
/* After draft_settle: whether commands see at `path` what the machine has there; what is hidden
 * deeper down does not matter. */
bool plan_is_seen(const struct plan_draft *draft, const char *path);
/* After draft_settle, and without undoing it: shows the files of writable repositories, or makes
 * those repositories read-only. */
void plan_views(struct plan_draft *draft);

#endif
