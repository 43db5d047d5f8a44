/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a plan treats specially, each with its reason.
 *
 * To add one: a row in the table that fits (names.c what others obey in a workspace,
 * names_home.c what a home folder has, names.c git's and the machine's), with the document that
 * shows which program obeys it.  Plan, denials, explanations, the macOS profile and the tests
 * follow.
 *
 * What is protected and what is not.  Protected is what acts without being asked: what git, an
 * editor or an agent runs or obeys because a folder is opened.  Not protected (NAME_OPEN) is what a
 * project consists of, which runs when the user builds or tests it, and which a reviewer sees in a
 * diff.  In between (NAME_ASK) is what the user's own hooks run at the next commit, what models are
 * instructed with, and variables that hasp reads: commands may write it, because every checkout
 * does; an edit by a tool is asked about in every mode that asks (agent/setup/policy_load.c).
 */
#ifndef HASP_SANDBOX_PLAN_NAMES_H
#define HASP_SANDBOX_PLAN_NAMES_H

#include "base/span.h"
#include "sandbox/plan/plan.h"

enum {
	/* Where it is missing, and could be made, it is listed among the absent names. */
	NAME_ABSENT = 1 << 0,
	/* Only where a writable path holds the home folder, or where a link in it leads into
	 * one. */
	NAME_IN_WRITABLE_HOME = 1 << 1,
	/* Only while the network is off. */
	NAME_NETWORK_OFF = 1 << 2,
	/* Obeyed in any folder beneath a writable one, not only in that itself. */
	NAME_DEEP = 1 << 3,
	/* Not protected: an edit by a tool is asked about. */
	NAME_ASK = 1 << 4,
	/* Not protected, for the reason given in `why`. */
	NAME_OPEN = 1 << 5,
};

struct sandbox_name {
	/* Relative to what the table is about, without a leading slash. One '*' in a component
	 * stands for any run of characters but a leading dot. */
	const char *path;
	enum sandbox_access access;
	enum sandbox_reason reason;
	unsigned flags;
	const char *why;    /* a phrase for people */
	const char *kind;   /* "agent", "editor", "shell", "credentials" ... */
	const char *source; /* the document that shows which program obeys it */
};

struct sandbox_names {
	const struct sandbox_name *rows;
	size_t count;
};

/* Relative to a writable folder: what editors, agents, shells, debuggers and version control but
 * git's obey; with the rows that are not protected. */
struct sandbox_names names_workspace(void);
/* Whether `rel` is a DEEP name, or is beneath one; letters count in either case. */
const struct sandbox_name *names_obeyed_at(const char *rel);
/* The first DEEP name on the way along `rel`, a path beneath a writable folder, and where it begins
 * and ends; NULL if there is none, or what is above it are packages or git's own files. */
const struct sandbox_name *names_obeyed_beneath(const char *rel, size_t *ret_at, size_t *ret_end);
/* Whether the folder `rel` is beneath a DEEP name, or on the way to one of several components. */
bool names_leads_to_obeyed(const char *rel);
/* Sets those of 256 flags that are first bytes of DEEP names. */
void names_obeyed_first(bool ret[static 256]);
/* A folder that package managers fill (node_modules): what is in it is not looked at. */
bool names_is_packages(struct span name);
/* Whether the path, relative to any folder, is called like one that holds a secret: a credential
 * store of a home folder (names_home) that lies in it (".npmrc", "backup/.aws/credentials"), or a
 * private key by its name ("id_rsa", "server.pem"). Letters count in either case. */
bool names_hold_secret(const char *rel);
/* Relative to a git folder (.git, .git/modules/x, a bare repository). */
struct sandbox_names names_git(void);
/* Relative to a linked worktree's own folder (.git/worktrees/x). */
struct sandbox_names names_git_worktree(void);
/* Relative to the home folder. */
struct sandbox_names names_home(void);
/* What stands for every hidden entry of a home folder that is writable, and whether the path `rel`
 * in it (".config/x") is one: programs obey most of them, also those that no table knows.  Not so
 * are caches, and what a project consists of. */
extern const struct sandbox_name names_hidden_entry;
bool names_is_hidden_entry(const char *rel);
/* Entry `i` of those that are not, relative to the home folder; each stands for all beneath it.
 * NULL past the last. */
const char *names_open_entry(size_t i);
/* Relative to the home folder, and to $GEMINI_CLI_HOME: hasp's and Gemini CLI's own. */
struct sandbox_names names_own(void);
/* Relative to "/". */
struct sandbox_names names_system(void);
/* Relative to "/": device nodes that commands write to; those for workers of use FILES first. */
struct sandbox_names names_devices(void);
enum { NAMES_DEVICES_OF_FILES = 1 };
/* Relative to the home folder on macOS, for seatbelt.c. */
struct sandbox_names names_macos(void);

/* Variables of the environment that name a credential store. */
struct sandbox_variable {
	const char *variable;
	char separator; /* of several paths; 0: one path */
	const char *source;
};
/* All of them, *ret_count rows in static memory. */
const struct sandbox_variable *names_variables(size_t *ret_count);

/* Variables that name a folder in place of one in the home folder. */
struct sandbox_mover {
	const char *variable;
	const char *folder; /* relative to the home folder; "" for that itself */
	const char *source;
};
/* All of them, *ret_count rows in static memory. */
const struct sandbox_mover *names_movers(size_t *ret_count);

#endif
