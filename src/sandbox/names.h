/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a plan treats specially, each with its reason.
 *
 * To add one: a row in the table of names.c that fits; plan, denials, explanations and the macOS
 * profile follow.
 *
 * What is protected and what is not.  Protected is what acts without being asked: what git, an
 * editor or an agent runs or obeys because a folder is opened.  Not protected is what a project
 * consists of, which runs when somebody builds or tests it, and which a reviewer sees in a diff:
 * Makefile, package.json, .github/workflows, .pre-commit-config.yaml; instructions to agents
 * (AGENTS.md, GEMINI.md); .gitattributes, which can only name a driver whose command is in git's
 * configuration; .gitmodules, whose "update = !command" git has ignored since 2.20.1; a
 * virtual environment's bin/activate, which hasp never runs by itself.
 */
#ifndef HASP_SANDBOX_NAMES_H
#define HASP_SANDBOX_NAMES_H

#include "sandbox/plan.h"

enum {
	/* Where it is missing, and could be made, it is listed among the absent names. */
	NAME_ABSENT = 1 << 0,
	/* Only where a writable path holds the home folder. */
	NAME_IN_WRITABLE_HOME = 1 << 1,
	/* Only while the network is off. */
	NAME_NETWORK_OFF = 1 << 2,
};

struct sandbox_name {
	/* Relative to what the table is about, without a leading slash. One '*' in a component
	 * stands for any run of characters but a leading dot. */
	const char *path;
	enum sandbox_access access;
	enum sandbox_reason reason;
	unsigned flags;
	const char *why; /* a phrase for people */
};

struct sandbox_names {
	const struct sandbox_name *rows;
	size_t count;
};

/* Relative to a writable folder: settings of editors and agents, version control but git's. */
struct sandbox_names names_workspace(void);
/* Relative to a git folder (.git, .git/modules/x, a bare repository). */
struct sandbox_names names_git(void);
/* Relative to a linked worktree's own folder (.git/worktrees/x). */
struct sandbox_names names_git_worktree(void);
/* Relative to the home folder. */
struct sandbox_names names_home(void);
/* Relative to the home folder, and to $GEMINI_CLI_HOME: hasp's and Gemini CLI's own. */
struct sandbox_names names_own(void);
/* Relative to "/". */
struct sandbox_names names_system(void);
/* Relative to "/": device nodes that commands write to; those for workers of use FILES first. */
struct sandbox_names names_devices(void);
enum { NAMES_DEVICES_OF_FILES = 1 };
/* Relative to the home folder on macOS, for seatbelt.h. */
struct sandbox_names names_macos(void);

/* Variables of the environment that say where a credential store is. */
struct sandbox_variable {
	const char *variable;
	const char *rest; /* what is hidden beneath its value; "" the value itself */
	char separator;   /* of several paths; 0: one path */
};
const struct sandbox_variable *names_variables(size_t *ret_count);

#endif
