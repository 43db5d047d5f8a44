/* SPDX-License-Identifier: Apache-2.0 */
/* The ignore files in force at one place of a tree. Private to search/.
 *
 *     struct chain_base base = { .rules = &rules, .root = fd, .root_path = "/srv/project" };
 *     struct chain *top = chain_enter(&base, NULL, fd, SPAN(""), CHAIN_LOOK);
 *     struct chain *below = chain_enter(&base, top, sub_fd, SPAN("sub/"), names);
 *     if (chain_ignores(&base, below, SPAN("sub/file.o"), false)) ...
 *     chain_unref(below);
 *     chain_unref(top);
 *
 * A chain is immutable and shared: each folder with ignore files adds a link to
 * that of the folder above, and threads pass references on.  All paths are relative to the
 * workspace root.
 *
 * Who decides, first come: .geminiignore of the workspace root; the custom files, later names
 * first, each from the deepest folder up; .gitignore from the deepest folder up to the root of
 * the repository; .git/info/exclude there (found through a .git that is a file, too, where
 * that leads to something beneath the workspace root); git's global excludes. */
#ifndef HASP_SEARCH_RULES_CHAIN_H
#define HASP_SEARCH_RULES_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/span.h"

/* Which ignore files count in a walk or search. */

struct walk_rules {
	bool no_git_ignore;    /* not .gitignore, .git/info/exclude, nor the global file */
	bool no_gemini_ignore; /* not .geminiignore */
	bool hidden_out;       /* leave out names that begin with '.' */
	/* Further names of ignore files (".ignore"), which count in every folder, as .gitignore
	 * does, and decide over git's; later names decide over earlier ones. */
	const char *const *ignore_files;
	size_t ignore_file_count;
};

/* What all links of one walk have in common. */
struct chain_base {
	const struct walk_rules *rules;     /* borrowed */
	int root;                           /* the workspace root; borrowed */
	const char *root_path;              /* its canonical path; borrowed */
	const struct ignore_rules *global;  /* git's global excludes, or NULL; borrowed */
};

struct chain;

/* The ignore files found while reading a folder (no extra system call). */
enum chain_names {
	CHAIN_GITIGNORE = 1,
	CHAIN_GEMINIIGNORE = 2,
	CHAIN_DOT_GIT = 4,
	CHAIN_CUSTOM = 8, /* one of rules->ignore_files */
	CHAIN_LOOK = 15,  /* not known: try all */
};

/* The bit for a name, or 0. */
unsigned chain_name(const struct walk_rules *rules, const char *name);

/* The chain of a folder; `path` is "" for the workspace root and ends with '/' otherwise. A new
 * reference; NULL when there are no ignore files. Files above 4 MiB are not honoured. */
struct chain *chain_enter(const struct chain_base *base, struct chain *above, int folder,
                          struct span path, unsigned names);
/* The chain of the folders above `start` ("" or "a/b/"), without its own files. */
struct chain *chain_approach(const struct chain_base *base, const char *start);
struct chain *chain_ref(struct chain *chain); /* NULL is fine, here and below */
void chain_unref(struct chain *chain);

/* Whether the files say so of the path itself (not of a folder it is in). */
bool chain_ignores(const struct chain_base *base, const struct chain *chain, struct span path,
                   bool is_folder);

/* Opens `path` beneath a folder without following any link; -1 with errno set. */
int chain_open(int folder, const char *path, int flags);

/* ---- where a repository keeps its info/exclude ---- */

/* That is .git/info/exclude, or, where .git is a file ("gitdir: PATH": submodules and linked
 * work trees, gitrepository-layout(5)), beneath the folder it names, or beneath that folder's
 * "commondir".  What is not beneath the workspace root is out of reach and does not count. */

/* The path of info/exclude relative to the workspace root, for the folder `path` whose .git
 * entry has `mode`; NULL when it cannot be reached. The file need not exist. The caller frees. */
char *chain_gitdir_exclude(const struct chain_base *base, int folder, struct span path,
                           mode_t mode);

/* ---- the rules of one file ---- */

/* gitignore rules (gitignore(5)): nested files, negation, folder-only patterns.
 *
 * One object holds the rules of one file; the last one that matches decides.  The
 * caller asks the files from the deepest folder up until one decides, and does not
 * enter ignored folders, so that no rule can include anything beneath them again.
 */

struct ignore_rules;

/* Parses the text of one ignore file; never NULL, the caller frees. Bad patterns match
 * nothing, as in git; patterns with wildcards past LIMIT_IGNORE_WILDCARDS do not count. A
 * byte-order mark, CRLF and a missing last newline are understood. */
struct ignore_rules *ignore_parse(struct span text);
void ignore_free(struct ignore_rules *rules);

enum ignore_verdict { IGNORE_UNDECIDED, IGNORE_YES, IGNORE_NO };

/* `path` is relative to the folder that holds the ignore file. Time is at most the
 * length of the path times that of the ignore file. */
enum ignore_verdict ignore_match(const struct ignore_rules *rules, struct span path,
                                 bool is_folder);

/* ---- git's global excludes ---- */

/* Git's global excludes file: the ignore rules a user has for every repository.
 *
 *     struct global_ignore *global = global_ignore_read();
 *     rules = ignore_parse(global_ignore_text(global));     // below .git/info/exclude
 *     ...
 *     if (!global_ignore_is_current(global))                // in a long-running process
 *             ... free it and read it again ...
 *     global_ignore_free(global);
 *
 * Which file: the last core.excludesFile in the system's and the user's git configuration,
 * read in git's order: $GIT_CONFIG_SYSTEM or /etc/gitconfig (not with $GIT_CONFIG_NOSYSTEM),
 * then $GIT_CONFIG_GLOBAL or, without it, both $XDG_CONFIG_HOME/git/config
 * (~/.config/git/config) and ~/.gitconfig; with the files that [include] names there.  When
 * nothing sets it: $XDG_CONFIG_HOME/git/ignore or ~/.config/git/ignore.  When it is set to the
 * empty text: none.
 *
 * Deviations from git, on purpose: a repository's own .git/config does not count (what it
 * holds may come from a stranger, and would decide what a search shows), nor do
 * [includeIf] (which asks about a repository, and this file is for all of them), a relative
 * core.excludesFile (git takes it from the folder it happens to stand in), another user's home
 * ("~name/") and what $GIT_CONFIG_COUNT sets.  Where git refuses to work because a
 * configuration file is broken, what stands before the mistake counts.
 *
 * Nothing here fails: a file that is missing, unreadable, not regular or too large is as if it
 * were empty.  Bounded: see the limits in global_ignore.c.
 */

struct global_ignore;

/* As the environment and the files are now. Never NULL. */
struct global_ignore *global_ignore_read(void);
void global_ignore_free(struct global_ignore *global); /* NULL is fine */

/* The rules, as in a .gitignore; empty when there are none. Borrowed. */
struct span global_ignore_text(const struct global_ignore *global);
/* The absolute path of the file with the rules; NULL when no such file is named. Borrowed. */
const char *global_ignore_path(const struct global_ignore *global);

/* False when any of the files that were read, or looked for, was changed, created or removed
 * since. A few stat calls. */
bool global_ignore_is_current(const struct global_ignore *global);

#endif
